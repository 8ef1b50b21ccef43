"""Colours, dashes and short names of policies: one hue for the variants of a policy."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from string import ascii_lowercase

from rankloop.charts.theme import PALETTE
from rankloop.naming import split_names

DASHES = ((1, 0), (6, 3), (2, 2), (8, 3, 2, 3))
SHADES = (0.0, 0.4, -0.35, 0.62, -0.6)  # of a hue, towards white or (below 0) towards black
LONGEST = 26  # letters of a short name: what a legend in a column has room for


@dataclass(frozen=True, slots=True)
class LineStyle:
    """How the line of a policy is drawn."""

    colour: str
    dash: tuple[int, ...]


def find_family(name: str) -> str:
    """Find what a policy is a variant of: its name without settings, in small letters.

    >>> [find_family(name) for name in ("pairrank@paper(prior=0.1)", "MGD()", "my_rankers.Rocchio(rate=0.1)")]
    ['pairrank', 'mgd', 'my_rankers.rocchio']
    """
    return _stem(name).casefold()


def assign_line_styles(names: Iterable[str]) -> dict[str, LineStyle]:
    """Assign a style to every policy by its place in the alphabet: a hue per family, a shade per variant.

    >>> styles = assign_line_styles(["random", "PDGD", "PDGD(decay=1.0)"])
    >>> {name: style.colour for name, style in styles.items()}
    {'PDGD': '#0072B2', 'PDGD(decay=1.0)': '#66AAD1', 'random': '#D55E00'}
    """
    styles: dict[str, LineStyle] = {}
    for index, members in enumerate(_group_families(names).values()):
        hue, turn = PALETTE[index % len(PALETTE)], index // len(PALETTE)
        for variant, name in enumerate(members):
            dash = DASHES[(turn + variant) % len(DASHES)]
            styles[name] = LineStyle(_shade(hue, SHADES[variant % len(SHADES)]), dash)
    return styles


def shorten_names(names: Iterable[str]) -> dict[str, str]:
    """Shorten names to the family and the values of their settings or, where these are long, a letter.

    A class of one's own goes without its file, unless another has its name.

    >>> list(shorten_names(["MGD(step=0.1)", "PDGD", "PDGD(decay=1.0)", "PDGD(decay=2, step=0.1)"]).values())
    ['MGD', 'PDGD', 'PDGD 1.0', 'PDGD 2 0.1']
    >>> list(shorten_names(["my_rankers.Rocchio", "my_rankers.Rocchio(rate=0.5)"]).values())
    ['Rocchio', 'Rocchio 0.5']
    """
    short: dict[str, str] = {}
    families = _group_families(names)
    classes = [whole.rpartition(".")[2] for whole in families]
    for whole, members in families.items():
        base = whole.rpartition(".")[2]
        base = base if classes.count(base) == 1 else whole
        if len(members) == 1:
            short[members[0]] = base
            continue
        values = {name: base + _list_values(name) for name in members}
        letters = iter(f"{base}-{letter}" for letter in _letters(len(members)))
        for name, text in values.items():
            fits = len(text) <= LONGEST and list(values.values()).count(text) == 1
            short[name] = text if fits else next(letters)
    return short


def find_abbreviations(short: Mapping[str, str]) -> dict[str, str]:
    """Find the short names that are not the whole name, and what they stand for."""
    return {brief: name for name, brief in short.items() if brief != name}


def _group_families(names: Iterable[str]) -> dict[str, Sequence[str]]:
    """Group the variants by family, whatever its capitals; the first of them says how it is written."""
    grouped: dict[str, list[str]] = {}
    for name in sorted(set(names), key=lambda name: (find_family(name), name.casefold(), name)):
        grouped.setdefault(find_family(name), []).append(name)
    return {_stem(members[0]): tuple(members) for members in grouped.values()}


def _stem(name: str) -> str:
    return name.partition("(")[0].partition("@")[0].strip()


def _list_values(name: str) -> str:
    """List what follows the name of its family: a preset, and the values of the settings.

    >>> _list_values("olranknet@paper(scorer=MLP((16, 16)), learning_rate=0.1)")
    '@paper MLP((16, 16)) 0.1'
    """
    whole, _, settings = name.partition("(")
    given = (part.partition("=")[2] or part for part in split_names(settings.removesuffix(")")))
    return " ".join([whole.strip().removeprefix(_stem(name)), *given])


def _letters(count: int) -> list[str]:
    single = list(ascii_lowercase)
    return single if count <= len(single) else [first + second for first in single for second in single]


def _shade(colour: str, towards: float) -> str:
    target = 255 if towards > 0 else 0
    parts = (int(colour[start : start + 2], 16) for start in (1, 3, 5))
    return "#" + "".join(f"{round(part + (target - part) * abs(towards)):02X}" for part in parts)
