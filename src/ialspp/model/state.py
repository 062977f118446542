"""A model as named arrays and a description, and back."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import asdict, dataclass, fields
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ..data.csr import Csr, Floats
from ..data.ids import MAX_ROWS, IdMap
from ..data.interactions import Interactions
from ..data.offsets import is_framed
from ..data.statistics import checked_statistics
from ..data.stored_ids import arrays_of_ids, arrays_of_names, ids_of, kind_of
from ..errors import InvalidValueError
from ..files.arrays import Arrays
from ..files.container import StoreError
from ..files.parsing import part
from ..objective import Objective
from ..solvers import SOLVERS, Solver
from .description import checked_history, checked_settings, checked_solver
from .fitted import Embedding, Fitted
from .history import EpochRecord
from .stored_features import arrays_of_features, features_of

MAX_DIM = 2**16  # the Gramian alone takes 32 GB there
SMALL_GRAMIAN = 2**30  # bytes that no file is too small for
LARGEST_GROWTH = 256  # a larger Gramian takes at most so many times the bytes of the vectors
BY_CLASS_NAME = {kind.__name__: kind for kind in SOLVERS.values()}


@dataclass(frozen=True, slots=True, eq=False)
class Trained:
    """A model as its file has it."""

    settings: dict[str, Any]  # the constructor's arguments, but for `threads`, which belongs to the machine
    fitted: Fitted
    history: list[EpochRecord]
    fitted_solver: Solver | None


def described(trained: Trained, *, interactions: bool) -> dict[str, Any]:
    """Describe everything but the arrays, as plain values."""
    state = trained.fitted
    return {
        "settings": settings_as_dict(trained.settings),
        "fitted_solver": _fitted_solver_as_dict(trained.fitted_solver),
        "history": [asdict(record) for record in trained.history],
        "statistics": state.statistics(),
        "ids": {"user": kind_of(state.users.ids), "item": kind_of(state.items.ids)},
        "weighted": interactions and state.data is not None and state.data.weighted,
    }


def settings_as_dict(settings: Mapping[str, Any]) -> dict[str, Any]:
    """Describe the constructor's arguments as plain values."""
    return {
        **settings,
        "solver": _solver_as_dict(settings["solver"]),
        "objective": asdict(settings["objective"]),
    }


def settings_of(described: dict[str, Any]) -> dict[str, Any]:
    """Restore the constructor's arguments."""
    settings = {"init": "random", **described}  # the only one before files had a word for it
    settings["solver"] = _solver_of(settings["solver"])
    settings["objective"] = Objective(**settings["objective"])
    return settings


def arrays_of(state: Fitted, *, interactions: bool) -> dict[str, NDArray[Any]]:
    """Name the arrays of a file: vectors, ids, names, the interactions by user or only counts of them."""
    arrays: dict[str, NDArray[Any]] = {
        "user_factors": state.users.vectors,
        "item_factors": state.items.vectors,
        **arrays_of_ids("user", state.users.ids),
        **arrays_of_ids("item", state.items.ids),
        **arrays_of_names("user", state.users.ids),
        **arrays_of_names("item", state.items.ids),
        **arrays_of_features("user", state.users.features),
        **arrays_of_features("item", state.items.features),
    }
    if interactions:
        rows = state.histories("saving with interactions=True").by_user
        arrays |= {"interactions.offsets": rows.offsets, "interactions.items": rows.columns}
        for name, numbers in (("labels", rows.labels), ("weights", rows.weights)):
            if numbers is not None:
                arrays[f"interactions.{name}"] = numbers
    elif (counts := state.item_counts()) is not None:  # for users about whom nothing is known
        arrays["item_counts"] = counts.astype(np.int32)
    return arrays


def restored(arrays: Arrays, description: dict[str, Any]) -> Trained:
    """Put a model together again. Its arrays are those given, not copies, and their numbers are not read."""
    kinds = part(description, "ids", dict)
    users, items = (
        Embedding(
            ids_of(arrays, name, part(kinds, name, str)),
            arrays.get(f"{name}_factors", np.float32, dimensions=2),
        )
        for name in ("user", "item")
    )
    for side in (users, items):
        if side.vectors.shape != (len(side.ids), items.vectors.shape[1]):
            raise StoreError(f"{len(side.ids)} {side.ids.name}s do not fit factors of {side.vectors.shape}")
        side.features = features_of(arrays, side.ids.name, *side.vectors.shape)
    require_plausible(users.vectors, items.vectors)
    interactions = _interactions_of(arrays, users.ids, items.ids, description)
    counts = None if interactions is not None else arrays.maybe("item_counts", np.int32, len(items.ids))
    used = checked_solver(description)
    return Trained(
        settings_of(checked_settings(description)),
        Fitted(users, items, interactions, checked_statistics(description), counts),
        checked_history(description),
        None if used is None else _solver_of(used),
    )


def require_plausible(users: Floats, items: Floats) -> None:
    """Raise if answers would take far more memory than the file has bytes, or row numbers do not fit.

    The Gramian has d^2 numbers. Vectors of 50,000 numbers for one user are a small file, but a Gramian of
    20 GB.
    """
    dim = items.shape[1]
    if not 1 <= dim <= MAX_DIM:
        raise StoreError(f"vectors must have 1 to {MAX_DIM} numbers, got {dim}")
    if max(len(users), len(items)) > MAX_ROWS:
        raise StoreError(f"at most {MAX_ROWS} users and as many items fit, got {len(users)} and {len(items)}")
    if 8 * dim**2 > max(SMALL_GRAMIAN, LARGEST_GROWTH * (users.nbytes + items.nbytes)):
        rows = len(users) + len(items)
        raise StoreError(f"vectors of {dim} numbers are too long for no more than {rows} users and items")


def _interactions_of(
    arrays: Arrays, users: IdMap, items: IdMap, description: dict[str, Any]
) -> Interactions | None:
    weighted = part(description, "weighted", bool)
    if "interactions.offsets" not in arrays:
        return None
    offsets = arrays.get("interactions.offsets", np.int64)
    columns = arrays.get("interactions.items", np.int32)
    if len(offsets) != len(users) + 1 or not is_framed(offsets, len(columns)):
        raise StoreError(f"the interactions do not fit {len(users)} users")
    labels, weights = (
        arrays.maybe(f"interactions.{name}", np.float32, len(columns)) for name in ("labels", "weights")
    )
    rows = Csr(offsets, columns, len(items), labels, weights)
    return Interactions.of_rows(users, items, rows, weighted=weighted)


def _fitted_solver_as_dict(solver: Solver | None) -> dict[str, Any] | None:
    """Describe the solver that was used; a solver of your own is left out, since it is only a remark."""
    return None if solver is None or type(solver) not in SOLVERS.values() else _solver_as_dict(solver)


def _solver_as_dict(solver: Solver) -> dict[str, Any]:
    name = type(solver).__name__
    if BY_CLASS_NAME.get(name) is not type(solver):
        raise InvalidValueError(
            f"a model file can name the solvers {', '.join(BY_CLASS_NAME)}, not {solver!r}; set another with "
            "model.set_params(solver=...) before saving: it does not change the factors"
        )
    return {
        "name": name,
        **{field.name: getattr(solver, field.name) for field in fields(BY_CLASS_NAME[name])},
    }


def _solver_of(settings: dict[str, Any]) -> Solver:
    options = dict(settings)
    name = options.pop("name")
    if name not in BY_CLASS_NAME:
        raise StoreError(
            f"the solver {name!r} is not known to this version, which has {', '.join(BY_CLASS_NAME)}"
        )
    solver: Solver = BY_CLASS_NAME[name](**options)
    return solver
