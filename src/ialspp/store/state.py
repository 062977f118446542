"""A model as named arrays and a description, and back."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import asdict, fields
from typing import Any

import numpy as np
from numpy.typing import NDArray

from .. import solvers
from ..csr import Csr
from ..fitted import Embedding, Fitted
from ..ids import IdMap
from ..interactions import Interactions
from ..model import EpochRecord, ImplicitMF
from ..objective import Objective
from ..solvers import Solver
from ..utf8 import Utf8
from .container import StoreError

Arrays = Mapping[str, NDArray[Any]]
SOLVERS: dict[str, Any] = {
    solver.__name__: solver for solver in (solvers.SpectralCG, solvers.IALSpp, solvers.IALS, solvers.ICD)
}


def described(model: ImplicitMF, state: Fitted) -> dict[str, Any]:
    """Everything but the arrays, as plain values."""
    settings = model.get_params(deep=False)
    del settings["threads"]  # of the machine, not of the model
    return {
        "settings": {
            **settings,
            "solver": _solver_as_dict(model.solver),
            "objective": asdict(model.objective),
        },
        "fitted_solver": None if model.fitted_solver is None else _solver_as_dict(model.fitted_solver),
        "history": [asdict(record) for record in model.history],
        "statistics": state.statistics(),
        "ids": {"user": _kind(state.users.ids), "item": _kind(state.items.ids)},
        "weighted": state.data is not None and state.data.weighted,
    }


def arrays_of(state: Fitted, *, interactions: bool) -> dict[str, NDArray[Any]]:
    """The vectors, the ids, and if wanted the interactions by user."""
    arrays: dict[str, NDArray[Any]] = {
        "user_factors": state.users.vectors,
        "item_factors": state.items.vectors,
        **_id_arrays(state.users.ids),
        **_id_arrays(state.items.ids),
    }
    if interactions:
        rows = state.histories("saving with interactions=True").by_user
        arrays |= {"interactions.offsets": rows.offsets, "interactions.items": rows.columns}
        for name, numbers in (("labels", rows.labels), ("weights", rows.weights)):
            if numbers is not None:
                arrays[f"interactions.{name}"] = numbers
    return arrays


def restored(arrays: Arrays, description: dict[str, Any], threads: int | None) -> ImplicitMF:
    """The model; its arrays are those given, not copies."""
    settings = dict(description["settings"])
    settings["solver"] = _solver_of(settings["solver"])
    settings["objective"] = Objective(**settings["objective"])
    model = ImplicitMF(**settings, threads=threads)
    users, items = (
        Embedding(_ids_of(arrays, name, description["ids"][name]), arrays[f"{name}_factors"])
        for name in ("user", "item")
    )
    for side in (users, items):
        if side.vectors.shape != (len(side.ids), items.vectors.shape[1]):
            raise StoreError(f"{len(side.ids)} {side.ids.name}s do not fit factors of {side.vectors.shape}")
    model._state = Fitted(
        users, items, _interactions_of(arrays, users.ids, items.ids, description), description["statistics"]
    )
    model.history = [EpochRecord(**record) for record in description["history"]]
    used = description["fitted_solver"]
    model.fitted_solver = None if used is None else _solver_of(used)
    return model


def _interactions_of(
    arrays: Arrays, users: IdMap, items: IdMap, description: dict[str, Any]
) -> Interactions | None:
    if "interactions.offsets" not in arrays:
        return None
    offsets, columns = arrays["interactions.offsets"], arrays["interactions.items"]
    if len(offsets) != len(users) + 1 or offsets[0] != 0 or offsets[-1] != len(columns):
        raise StoreError(f"the interactions do not fit {len(users)} users")
    labels, weights = arrays.get("interactions.labels"), arrays.get("interactions.weights")
    rows = Csr(offsets, columns, len(items), labels, weights)
    return Interactions.of_rows(users, items, rows, weighted=description["weighted"])


# Ids: 64-bit integers as they are, strings as UTF-8, integers beyond 64 bits as their digits.


def _kind(ids: IdMap) -> str:
    if ids.is_text:
        return "string"
    return "digits" if ids.ids.dtype == object else str(ids.ids.dtype)


def _id_arrays(ids: IdMap) -> dict[str, NDArray[Any]]:
    name, kind = f"{ids.name}_ids", _kind(ids)
    if kind in ("int64", "uint64"):
        return {name: ids.ids}
    strings = Utf8.of(str(value) for value in ids.ids.tolist())
    arrays: dict[str, NDArray[Any]] = {f"{name}.offsets": strings.offsets, f"{name}.utf8": strings.data}
    if kind == "string" and (np.diff(ids.order) < 0).any():
        arrays[f"{name}.order"] = ids.order
    return arrays


def _ids_of(arrays: Arrays, name: str, kind: str) -> IdMap:
    if kind in ("int64", "uint64"):
        return IdMap.stored(arrays[f"{name}_ids"], name=name)
    strings = Utf8(arrays[f"{name}_ids.offsets"], arrays[f"{name}_ids.utf8"])
    if kind == "digits":
        return IdMap([int(digits) for digits in strings.all()], name=name)
    return IdMap.stored(strings, arrays.get(f"{name}_ids.order"), name=name)


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
