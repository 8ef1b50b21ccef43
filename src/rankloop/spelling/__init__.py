"""One spelling of a policy: an object, a text and JSON, each turned into the others."""

from rankloop.spelling.catalogue import Catalogue, catalogue, lookup, own_class
from rankloop.spelling.paper import PAPER, PaperSettings, find_paper
from rankloop.spelling.parts import PARTS
from rankloop.spelling.specs import Spec, build, describe
from rankloop.spelling.text import make, parse, settings_of, spell, split

__all__ = [
    "PAPER",
    "PARTS",
    "Catalogue",
    "PaperSettings",
    "Spec",
    "build",
    "catalogue",
    "describe",
    "find_paper",
    "lookup",
    "make",
    "own_class",
    "parse",
    "settings_of",
    "spell",
    "split",
]
