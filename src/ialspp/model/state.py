"""A model as named arrays and a description, and back."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import asdict, dataclass, fields
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ..data.csr import Csr
from ..data.ids import IdMap
from ..data.interactions import Interactions
from ..data.stored_ids import arrays_of_ids, ids_of, kind_of
from ..errors import InvalidValueError
from ..files.arrays import Arrays, part_named
from ..files.container import StoreError
from ..objective import Objective
from ..solvers import SOLVERS, Solver
from .fitted import Embedding, Fitted
from .history import EpochRecord

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
    """Name the arrays of a file: vectors, ids, and if wanted the interactions by user."""
    arrays: dict[str, NDArray[Any]] = {
        "user_factors": state.users.vectors,
        "item_factors": state.items.vectors,
        **arrays_of_ids("user", state.users.ids),
        **arrays_of_ids("item", state.items.ids),
    }
    if interactions:
        rows = state.histories("saving with interactions=True").by_user
        arrays |= {"interactions.offsets": rows.offsets, "interactions.items": rows.columns}
        for name, numbers in (("labels", rows.labels), ("weights", rows.weights)):
            if numbers is not None:
                arrays[f"interactions.{name}"] = numbers
    return arrays


def restored(arrays: Arrays, description: dict[str, Any], *, whole: bool) -> Trained:
    """Put a model together again. Its arrays are those given, not copies.

    whole: also check every number that says where something is.
    """
    settings = settings_of(description["settings"])
    users, items = (
        Embedding(
            ids_of(arrays, name, description["ids"][name], whole=whole),
            arrays.get(f"{name}_factors", np.float32, dimensions=2),
        )
        for name in ("user", "item")
    )
    for side in (users, items):
        if side.vectors.shape != (len(side.ids), items.vectors.shape[1]):
            raise StoreError(f"{len(side.ids)} {side.ids.name}s do not fit factors of {side.vectors.shape}")
    interactions = _interactions_of(arrays, users.ids, items.ids, description, whole=whole)
    history = [EpochRecord(**record) for record in description["history"]]
    used = description["fitted_solver"]
    return Trained(
        settings,
        Fitted(users, items, interactions, description["statistics"]),
        history,
        None if used is None else _solver_of(used),
    )


def _interactions_of(
    arrays: Arrays, users: IdMap, items: IdMap, description: dict[str, Any], *, whole: bool
) -> Interactions | None:
    if "interactions.offsets" not in arrays:
        return None
    offsets = arrays.get("interactions.offsets", np.int64)
    columns = arrays.get("interactions.items", np.int32)
    if len(offsets) != len(users) + 1 or offsets[0] != 0 or offsets[-1] != len(columns):
        raise StoreError(f"the interactions do not fit {len(users)} users")
    labels, weights = (
        arrays.maybe(f"interactions.{name}", np.float32, len(columns)) for name in ("labels", "weights")
    )
    rows = Csr(offsets, columns, len(items), labels, weights)
    if whole:
        with part_named("the interactions"):
            rows.native()  # which looks at every offset and column
    return Interactions.of_rows(users, items, rows, weighted=description["weighted"])


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
