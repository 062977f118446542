"""The solvers, one algorithm a module. A solver is a frozen value with one method that runs an epoch."""

from .base import Problem, Side, Solver, gramian, no_finite_solution, pinned
from .ials import IALS, solve_exactly
from .ialspp import IALSpp
from .icd import ICD
from .spectral import SpectralCG

__all__ = [
    "IALS",
    "ICD",
    "IALSpp",
    "Problem",
    "Side",
    "Solver",
    "SpectralCG",
    "gramian",
    "no_finite_solution",
    "pinned",
    "solve_exactly",
]
