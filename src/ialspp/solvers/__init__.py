"""The solvers, one algorithm a module. A solver is a frozen value with one method that runs an epoch."""

from typing import Any

from .base import Problem, Solver, by_halves, for_epoch, gramian, half_epoch_of, pinned
from .ials import IALS, solve_exactly
from .ialspp import IALSpp
from .icd import ICD
from .sides import LocalSide, Place, Side, ThisMachine, no_finite_solution
from .spectral import SpectralCG

# Every solver, by its name on the command line, which takes a solver's options from its fields and their help
# from the fields' metadata. Model files have the name of the class instead: it may not change.
SOLVERS: dict[str, type[Any]] = {"spectral": SpectralCG, "ials++": IALSpp, "ials": IALS, "icd": ICD}

__all__ = [
    "IALS",
    "ICD",
    "SOLVERS",
    "IALSpp",
    "LocalSide",
    "Place",
    "Problem",
    "Side",
    "Solver",
    "SpectralCG",
    "ThisMachine",
    "by_halves",
    "for_epoch",
    "gramian",
    "half_epoch_of",
    "no_finite_solution",
    "pinned",
    "solve_exactly",
]
