"""The solvers: one algorithm a module, each a frozen value with one method that does an epoch."""

from .base import Problem, Side, Solver, no_finite_solution, pinned
from .ials import IALS
from .ialspp import IALSpp
from .icd import ICD
from .spectral import SpectralCG

__all__ = ["IALS", "ICD", "IALSpp", "Problem", "Side", "Solver", "SpectralCG", "no_finite_solution", "pinned"]
