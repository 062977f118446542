"""Where measurements were made."""

from __future__ import annotations

import platform
from importlib.metadata import version
from pathlib import Path

from .. import _core
from ..system.machine import resolve_threads
from .run import Machine


def this_machine(threads: int | None) -> Machine:
    """The processor, what of it is used, and the version of the code."""
    return Machine(_processor(), resolve_threads(threads), _core.isa(), version("ialspp"))


def _processor() -> str:
    """Its name in words, where the system says."""
    try:
        lines = Path("/proc/cpuinfo").read_text(encoding="utf-8", errors="replace").splitlines()
    except OSError:
        lines = []
    names = [line.partition(":")[2].strip() for line in lines if line.startswith("model name")]
    return next(iter(names), "") or platform.processor() or platform.machine()
