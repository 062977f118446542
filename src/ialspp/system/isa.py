"""The instruction set of the kernels: the machine's best, or what IALSPP_ISA names."""

from __future__ import annotations

import os

from .. import _core


def apply_environment() -> None:
    """Switch to the instruction set in IALSPP_ISA, if it is set."""
    name = os.environ.get("IALSPP_ISA")
    if not name:
        return
    available = _core.available_isas()
    if name in available:
        _core.select_isa(name)
    elif name in _core.known_isas():
        raise RuntimeError(f"IALSPP_ISA={name}: this machine does not have it; it has {', '.join(available)}")
    else:
        raise RuntimeError(
            f"IALSPP_ISA={name!r} is not an instruction set; choose one of {', '.join(_core.known_isas())}"
        )
