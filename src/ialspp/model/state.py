"""A model as named arrays and a description, and back."""

from __future__ import annotations

from dataclasses import asdict, fields
from typing import Any

import numpy as np
from numpy.typing import NDArray

from .. import solvers
from ..data.csr import Csr
from ..data.ids import IdMap
from ..data.interactions import Interactions
from ..data.stored_ids import arrays_of_ids, ids_of, kind_of
from ..files.arrays import Arrays, part_named
from ..files.container import StoreError
from ..objective import Objective
from ..solvers import Solver
from .fitted import Embedding, Fitted
from .history import EpochRecord
from .model import ImplicitMF

SOLVERS: dict[str, Any] = {
    solver.__name__: solver for solver in (solvers.SpectralCG, solvers.IALSpp, solvers.IALS, solvers.ICD)
}


def described(model: ImplicitMF, state: Fitted, *, interactions: bool) -> dict[str, Any]:
    """Everything but the arrays, as plain values."""
    settings = model.get_params(deep=False)
    del settings["threads"]  # of the machine, not of the model
    return {
        "settings": {
            **settings,
            "solver": _solver_as_dict(model.solver),
            "objective": asdict(model.objective),
        },
        "fitted_solver": _fitted_solver_as_dict(model.fitted_solver),
        "history": [asdict(record) for record in model.history],
        "statistics": state.statistics(),
        "ids": {"user": kind_of(state.users.ids), "item": kind_of(state.items.ids)},
        "weighted": interactions and state.data is not None and state.data.weighted,
    }


def arrays_of(state: Fitted, *, interactions: bool) -> dict[str, NDArray[Any]]:
    """The vectors, the ids, and if wanted the interactions by user."""
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


def restored(arrays: Arrays, description: dict[str, Any], threads: int | None, *, whole: bool) -> ImplicitMF:
    """The model; its arrays are those given, not copies.

    whole: also look at every number that says where something is.
    """
    settings = dict(description["settings"])
    settings["solver"] = _solver_of(settings["solver"])
    settings["objective"] = Objective(**settings["objective"])
    model = ImplicitMF(**settings, threads=threads)
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
    model._state = Fitted(
        users,
        items,
        _interactions_of(arrays, users.ids, items.ids, description, whole=whole),
        description["statistics"],
    )
    model.history = [EpochRecord(**record) for record in description["history"]]
    used = description["fitted_solver"]
    model.fitted_solver = None if used is None else _solver_of(used)
    return model


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
    """None for one of your own: it is a remark on how the factors came about."""
    return None if solver is None or type(solver) not in SOLVERS.values() else _solver_as_dict(solver)


def _solver_as_dict(solver: Solver) -> dict[str, Any]:
    name = type(solver).__name__
    if SOLVERS.get(name) is not type(solver):
        raise ValueError(
            f"a model file can name the solvers {', '.join(SOLVERS)}, not {solver!r}; set another with "
            "model.set_params(solver=...) before saving: it does not change the factors"
        )
    return {"name": name, **{field.name: getattr(solver, field.name) for field in fields(SOLVERS[name])}}


def _solver_of(settings: dict[str, Any]) -> Solver:
    options = dict(settings)
    name = options.pop("name")
    if name not in SOLVERS:
        raise StoreError(f"the solver {name!r} is not known to this version, which has {', '.join(SOLVERS)}")
    solver: Solver = SOLVERS[name](**options)
    return solver
