"""Matrix factorisation for implicit feedback: iALS, iCD, iALS++ and SpectralCG.

>>> from ialspp import ImplicitMF, Interactions
>>> data = Interactions.from_arrays(user=["ann", "ann", "bob"], item=["tea", "milk", "tea"])
>>> ImplicitMF(dim=2, epochs=4).fit(data, progress=False).recommend("bob", k=1)
['milk']
"""

from importlib.metadata import version as _version

from . import datasets, metrics, split, store
from .baselines import MostPopular, Random
from .errors import NotFittedError, SolveError, UnknownIdError
from .evaluation import Evaluation, evaluate
from .explanation import Explanation
from .ids import IdMap
from .interactions import Interactions
from .isa import apply_environment as _apply_environment
from .model import EpochRecord, ImplicitMF
from .objective import Loss, Objective
from .ranking import Ranking, Rankings
from .solvers import IALS, ICD, IALSpp, SpectralCG
from .updating import Update

__version__ = _version("ialspp")
_apply_environment()

__all__ = [
    "IALS",
    "ICD",
    "EpochRecord",
    "Evaluation",
    "Explanation",
    "IALSpp",
    "IdMap",
    "ImplicitMF",
    "Interactions",
    "Loss",
    "MostPopular",
    "NotFittedError",
    "Objective",
    "Random",
    "Ranking",
    "Rankings",
    "SolveError",
    "SpectralCG",
    "UnknownIdError",
    "Update",
    "datasets",
    "evaluate",
    "metrics",
    "split",
    "store",
]
