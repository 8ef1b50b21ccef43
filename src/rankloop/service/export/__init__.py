"""Portable models: what a ranker has learned, as files of search engines and of ONNX, re-scored."""

from rankloop.portable.check import Check, check_files
from rankloop.portable.formats import FORMATS, Format
from rankloop.portable.model import NotPortable, PortableModel, ScoredList

__all__ = ["FORMATS", "Check", "Format", "NotPortable", "PortableModel", "ScoredList", "check_files"]
