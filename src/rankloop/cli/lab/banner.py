"""Banner of a quick look, kept beside its results: whatever is made of them later says so, too."""

from __future__ import annotations

import json
from pathlib import Path

from rankloop.lab.sweeps.files import write_json
from rankloop.lab.sweeps.study import sweep_id
from rankloop.lab.sweeps.sweep import Sweep

NAME = "banner.json"


def keep_banner(folder: Path, sweep: Sweep, banner: str) -> None:
    """Write the banner of this sweep into its folder."""
    write_json(folder / NAME, {"sweep": sweep_id(sweep), "banner": banner})


def kept_banner(folder: Path, sweep: Sweep) -> str:
    """The banner that was kept, if it is of this sweep; a longer one in the same folder has none."""
    try:
        kept = json.loads((folder / NAME).read_text("utf-8"))
    except (FileNotFoundError, json.JSONDecodeError):
        return ""
    return str(kept["banner"]) if kept.get("sweep") == sweep_id(sweep) else ""
