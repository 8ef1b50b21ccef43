"""How publishers lay out their folders: which files make up the parts of which split.

| files | splits |
|---|---|
| `Fold1/train.txt, vali.txt, test.txt` ... | `fold1` ... |
| `S1.txt` ... `S5.txt` | `fold1` = train S1+S2+S3, vali S4, test S5; `fold2` = S2+S3+S4, S5, S1; and so on |
| `set1.train.txt, set1.valid.txt, set1.test.txt` ... | `set1` ... |
| `train.txt, vali.txt, test.txt` | the only one, without a name |

Every file may end in `.gz` or `.xz`, or lack the `.txt`; `vali` may be called `valid` and may be
missing; LETOR 3 calls the parts `trainingset`, `validationset` and `testset`.
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from pathlib import Path

SUFFIXES = tuple(text + packed for text in (".txt", "") for packed in ("", ".gz", ".xz"))
TRAIN, TEST = ("train", "trainingset"), ("test", "testset")
VALIDATION = ("vali", "valid", "validation", "validationset")


@dataclass(frozen=True, slots=True)
class SplitFiles:
    """The files of a split; a part made of several files is their concatenation."""

    train: tuple[Path, ...]
    test: tuple[Path, ...]
    vali: tuple[Path, ...] = ()


def find_splits(folder: Path) -> dict[str, SplitFiles]:
    """Find the splits in a folder by name; the name is empty where a folder holds only one.

    >>> import tempfile
    >>> folder = Path(tempfile.mkdtemp())
    >>> for part in range(1, 6):
    ...     (folder / f"S{part}.txt").touch()
    >>> splits = find_splits(folder)
    >>> list(splits), [path.name for path in splits["fold2"].train]
    (['fold1', 'fold2', 'fold3', 'fold4', 'fold5'], ['S2.txt', 'S3.txt', 'S4.txt'])
    """
    return _folds(folder) or _rotating(folder) or _sets(folder) or _flat(folder)


def _folds(folder: Path) -> dict[str, SplitFiles]:
    matches = {
        child.name.lower(): child for child in folder.iterdir() if re.fullmatch(r"(?i)fold\d+", child.name)
    }
    found = {name: _named(matches[name], "") for name in sorted(matches, key=lambda name: int(name[4:]))}
    return {name: split for name, split in found.items() if split}


def _rotating(folder: Path) -> dict[str, SplitFiles]:
    parts = [_file(folder, f"S{number}") for number in range(1, 6)]
    present = [part for part in parts if part]
    if len(present) < len(parts):
        return {}
    turned = (present[turn:] + present[:turn] for turn in range(5))
    return {
        f"fold{number}": SplitFiles(tuple(turn[:3]), (turn[4],), (turn[3],))
        for number, turn in enumerate(turned, 1)
    }


def _sets(folder: Path) -> dict[str, SplitFiles]:
    names = sorted(
        {match[1] for child in folder.iterdir() if (match := re.match(r"(set\d+)\.train", child.name))}
    )
    found = {name: _named(folder, f"{name}.") for name in names}
    return {name: split for name, split in found.items() if split}


def _flat(folder: Path) -> dict[str, SplitFiles]:
    split = _named(folder, "")
    return {"": split} if split else {}


def _named(folder: Path, prefix: str) -> SplitFiles | None:
    train, test, vali = (_first(folder, prefix, names) for names in (TRAIN, TEST, VALIDATION))
    return SplitFiles((train,), (test,), (vali,) if vali else ()) if train and test else None


def _first(folder: Path, prefix: str, names: tuple[str, ...]) -> Path | None:
    return next((path for name in names if (path := _file(folder, prefix + name))), None)


def _file(folder: Path, stem: str) -> Path | None:
    return next((path for suffix in SUFFIXES if (path := folder / (stem + suffix)).is_file()), None)
