"""One spelling of a policy: an object, a text and JSON, each turned into the others."""

from rankloop.spelling.catalogue import Catalogue, catalogue, lookup, own_class
from rankloop.spelling.parts import PARTS
from rankloop.spelling.specs import Spec, build, describe
from rankloop.spelling.text import make, parse, settings_of, spell, split

__all__ = [
    "PARTS",
    "Catalogue",
    "Spec",
    "build",
    "catalogue",
    "describe",
    "lookup",
    "make",
    "own_class",
    "parse",
    "settings_of",
    "spell",
    "split",
]
