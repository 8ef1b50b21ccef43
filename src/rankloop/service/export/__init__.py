"""Portable models: what a ranker has learned, as files of search engines and of ONNX, re-scored."""

from rankloop.service.export.check import Check, check_files
from rankloop.service.export.export_formats import FORMATS, Format
from rankloop.service.export.portable_model import NotPortable, PortableModel, ScoredList

__all__ = ["FORMATS", "Check", "Format", "NotPortable", "PortableModel", "ScoredList", "check_files"]
