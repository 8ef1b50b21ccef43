"""`python -m benchmarks.attacks slow`: attack a server that is started for it, and say what came of it."""

from __future__ import annotations

import argparse
import os
from collections.abc import Callable

from benchmarks.attacks import flood, fraud, overload, slow

ATTACKS: dict[str, Callable[[], None]] = {
    "slow": slow.run,
    "overload": overload.run,
    "flood": flood.run,
    "fraud": fraud.run,
}


def main() -> None:
    """Run what was chosen."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("attacks", nargs="+", choices=sorted(ATTACKS))
    parser.add_argument("--source", help="the src folder of another checkout, whose server is attacked")
    chosen = parser.parse_args()
    if chosen.source:
        os.environ["PYTHONPATH"] = chosen.source  # of the servers; this process has its own already
    for name in chosen.attacks:
        ATTACKS[name]()


if __name__ == "__main__":
    main()
