"""Matrix factorisation for implicit feedback: iALS, iCD, iALS++ and SpectralCG.

>>> from ialspp import ImplicitMF, Interactions
>>> data = Interactions.from_arrays(user=["ann", "ann", "bob"], item=["tea", "milk", "tea"])
>>> ImplicitMF(dim=2, epochs=4).fit(data, progress=False).recommend("bob", k=1)
['milk']
"""

from typing import TYPE_CHECKING as _TYPE_CHECKING
from typing import Any as _Any

from . import metrics, split
from .baselines import MostPopular, Random
from .data.features import Features
from .data.ids import IdMap
from .data.interactions import Interactions
from .errors import IalsppError, NotFittedError, SolveError, UnknownIdError, WeightWarning
from .evaluation import Evaluation, evaluate, evaluate_lists
from .model.explanation import Explanation
from .model.history import EpochRecord
from .model.model import ImplicitMF
from .model.ranking import Ranking, Rankings
from .model.updating import Update
from .objective import Loss, Objective
from .solvers import IALS, ICD, IALSpp, SpectralCG
from .stopping import EarlyStopping
from .system.machine import select_isa_of_environment as _select_isa_of_environment
from .system.progress import ProgressEvent

if _TYPE_CHECKING:
    from . import datasets, explorer, export, reporting, store
    from .data.reading.features import read_features
    from .data.reading.names import read_names
    from .tuning import tune

    __version__: str

_select_isa_of_environment()


def __getattr__(name: str) -> _Any:
    """Load the modules, the functions and the version that most programs never use."""
    if name == "__version__":
        from importlib.metadata import version

        return version("ialspp")
    if name == "read_features":
        from .data.reading.features import read_features

        return read_features
    if name == "read_names":
        from .data.reading.names import read_names

        return read_names
    if name == "tune":
        from .tuning import tune

        return tune
    if name in ("datasets", "explorer", "export", "reporting", "store"):
        from importlib import import_module

        return import_module(f"{__name__}.{name}")
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")


def __dir__() -> list[str]:
    """List what is loaded only when it is used, too."""
    return sorted({*globals(), *__all__})


__all__ = [
    "IALS",
    "ICD",
    "EarlyStopping",
    "EpochRecord",
    "Evaluation",
    "Explanation",
    "Features",
    "IALSpp",
    "IalsppError",
    "IdMap",
    "ImplicitMF",
    "Interactions",
    "Loss",
    "MostPopular",
    "NotFittedError",
    "Objective",
    "ProgressEvent",
    "Random",
    "Ranking",
    "Rankings",
    "SolveError",
    "SpectralCG",
    "UnknownIdError",
    "Update",
    "WeightWarning",
    "datasets",
    "evaluate",
    "evaluate_lists",
    "explorer",
    "export",
    "metrics",
    "read_features",
    "read_names",
    "reporting",
    "split",
    "store",
    "tune",
]
