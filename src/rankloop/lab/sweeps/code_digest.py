"""Digest of the code, and description of the arithmetic, that a result depends on."""

from __future__ import annotations

import hashlib
import inspect
import marshal
import platform
from collections.abc import Callable, Iterable
from dataclasses import fields, is_dataclass
from functools import cache, partial
from pathlib import Path
from types import FunctionType
from typing import Any

import numpy as np
import scipy
from threadpoolctl import threadpool_info

import rankloop

APART = {"service", "client", "connect", "charts", "demo", "cli"}  # floors that no run passes through
WHEELS = {"numpy", "numpy.libs", "scipy", "scipy.libs"}  # folders of the BLAS that we call


@cache
def digest_code(package: Path = Path(rankloop.__file__).parent) -> str:
    """Digest the code that can change a run: the core and the lab, without what only serves or shows."""
    paths = (path.relative_to(package) for path in package.rglob("*.py"))
    return _digest_files(package / path for path in sorted(paths) if path.parts[0] not in APART)


@cache
def describe_arithmetic() -> str:
    """Say what the last bits depend on: versions, the processor's instructions, and the BLAS kernels."""
    simd: Any = np.show_config(mode="dicts")
    features = ["none", *simd["SIMD Extensions"].get("found", [])]
    blas = [each for each in threadpool_info() if each["user_api"] == "blas"]
    ours = [each for each in blas if WHEELS & set(Path(each["filepath"]).parts)]  # others bring one, too
    kernels = {
        f"{each['internal_api']} {each['version']} {each.get('architecture')}" for each in ours or blas
    }
    libc = "-".join(platform.libc_ver()) or platform.system()
    machine = f"{platform.system()} {platform.machine()} {features[-1]}"
    versions = f"numpy {np.__version__}", f"scipy {scipy.__version__}"
    return "; ".join([*versions, machine, libc, *sorted(kernels)])


@cache
def digest_source(kind: Callable[..., object]) -> str:
    """Digest the file that defines a class or function: results of changed code are never reused."""
    try:
        file = inspect.getsourcefile(kind)
    except TypeError:  # defined at a prompt: there is no file
        file = None
    return _digest_files((Path(file),)) if file and Path(file).exists() else ""


def digest_functions(value: object) -> list[str]:
    """Digest what the functions and classes among a value's settings do: its repr only names them."""
    if is_dataclass(value) and not isinstance(value, type):
        return [code for each in fields(value) for code in digest_functions(getattr(value, each.name))]
    if isinstance(value, partial):
        return [repr((value.args, value.keywords)), *digest_functions(value.func)]
    if isinstance(value, FunctionType):
        around = [cell.cell_contents for cell in value.__closure__ or ()]
        given = repr((value.__defaults__, value.__kwdefaults__, around))
        code = hashlib.sha256(marshal.dumps(value.__code__, 2)).hexdigest()  # two may be in one file
        return [digest_source(value), code, given]
    return [digest_source(value)] if isinstance(value, type) else []


def _digest_files(paths: Iterable[Path]) -> str:
    return hashlib.sha256(b"\0".join(path.read_bytes() for path in paths)).hexdigest()
