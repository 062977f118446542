"""What the page holds of a model: everything that its answers are computed from, as one JSON document."""

from __future__ import annotations

import base64
import json
from importlib.metadata import version
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ..data.csr import Csr, Floats
from ..data.ids import IdMap
from ..errors import InvalidValueError
from ..files.arrays import is_finite
from ..model.model import ImplicitMF
from ..solvers import gramian
from ..system.machine import resolve_threads
from .items import RowNumbers, Shown, best_known
from .places import places_of

MOST_ITEMS = 50_000  # that a browser searches while someone types
MOST_BYTES = 64 * 10**6  # of the numbers on a page, as text
MAPPED = 4000  # items on the map: with more, points cover each other and the layout takes a minute
LARGEST = 2**15 - 1  # of the whole numbers that vectors are rounded to
SAMPLED = 2**14  # pairs, of which the median weight is taken


def content_of(model: ImplicitMF, title: str, top: int | None, histories: int) -> dict[str, Any]:
    """Collect the content as plain values. Items are in row order, so that ties are broken as in Python."""
    famous = best_known(model, top)
    _check_size(len(famous.rows), model.dim, len(model.items))
    rows = np.sort(famous.rows)
    vectors = model.item_factors
    if not is_finite(vectors):
        raise InvalidValueError("the vectors of items must be finite, and are not")
    numbers, scales = rounded(vectors[rows])
    objective = model.objective
    whole = gramian(vectors, resolve_threads(model.threads))
    return {
        "title": title,
        "written_by": f"ialspp {version('ialspp')}",
        "counts": _counts(model),
        "dim": vectors.shape[1],
        "alpha0": objective.unobserved_weight,
        "lambda": objective.regularization,
        "nu": objective.exponent,
        "ids": [str(value) for value in model.items.named(rows)],
        "names": _names(model.items, rows),
        "users": None if famous.users is None else _in_order(famous, famous.users),
        "vectors": _base64(numbers.astype("<i2")),
        "scales": _base64(scales.astype("<f4")),
        "gramian": _base64(whole[np.tril_indices(len(whole))].astype("<f8")),
        "map": _map(model, famous),
        **_histories(model, rows, histories),
    }


def as_json(content: dict[str, Any]) -> str:
    """Write JSON that may stand inside of a script element: ASCII, without any `<`."""
    return json.dumps(content, allow_nan=False, separators=(",", ":")).replace("<", "\\u003c")


def _check_size(items: int, dim: int, of: int) -> None:
    size = (2 * items * dim + 4 * dim * dim) * 4 // 3
    if items <= MOST_ITEMS and size <= MOST_BYTES:
        return
    fits = min(MOST_ITEMS, (MOST_BYTES * 3 // 4 - 4 * dim * dim) // (2 * dim))
    if fits < 1:
        raise InvalidValueError(
            f"vectors of a page must be shorter: those of this model have {dim:,} numbers"
        )
    raise InvalidValueError(
        f"top must be at most {fits:,} for vectors of {dim} numbers: a page of {items:,} of the {of:,} items "
        f"would have {max(size // 10**6, 1):,} MB or be slow; the most popular ones are kept"
    )


def _counts(model: ImplicitMF) -> dict[str, int | None]:
    data = model.trained_on if model.keeps_interactions else None
    pairs = None if data is None else len(data)
    return {"users": len(model.users), "items": len(model.items), "interactions": pairs}


def _names(ids: IdMap, rows: RowNumbers) -> list[str] | None:
    return None if ids.names is None else ids.names.take(rows)


def _in_order(shown: Shown, values: NDArray[Any]) -> list[Any]:
    """List what belongs to items in the order of their rows."""
    return list(values[np.argsort(shown.rows)].tolist())


def rounded(vectors: Floats) -> tuple[NDArray[np.int16], Floats]:
    """Round each vector to whole multiples of its scale, which makes its largest number 32,767."""
    scales = (np.abs(vectors).max(axis=1, initial=0) / LARGEST).astype(np.float32)
    steps = np.where(scales > 0, scales, 1).astype(np.float64)[:, None]
    return np.clip(np.rint(vectors / steps), -LARGEST, LARGEST).astype(np.int16), scales


def _map(model: ImplicitMF, famous: Shown) -> dict[str, Any]:
    first = Shown(famous.rows[:MAPPED], None if famous.users is None else famous.users[:MAPPED])
    placed = places_of(model, first)
    on_page = np.searchsorted(np.sort(famous.rows), placed.rows)
    return {"items": on_page.tolist(), "x": placed.x.tolist(), "y": placed.y.tolist()}


def _histories(model: ImplicitMF, rows: RowNumbers, wanted: int) -> dict[str, Any]:
    """Collect the histories of some users, evenly spread from the most to the least active."""
    data = model.trained_on if model.keeps_interactions else None
    if data is None:
        return {"people": [], "weight": 1}
    by_user = data.by_user
    active = np.argsort(-by_user.counts, kind="stable")[: np.count_nonzero(by_user.counts)]
    places = np.linspace(0, len(active) - 1, min(wanted, len(active))).round().astype(np.int64)
    chosen = np.sort(active[places])
    place = np.full(len(model.items), -1)
    place[rows] = np.arange(len(rows))
    people = [
        {"id": str(key), "name": label, **_history(by_user.take(np.array([row])), place)}
        for key, label, row in zip(model.users.named(chosen), model.users.labels(chosen), chosen, strict=True)
    ]
    return {"people": people, "weight": typical_weight(by_user)}


def _history(row: Csr, place: NDArray[np.int64]) -> dict[str, Any]:
    """Describe a user's items that are on the page, and count the others."""
    there = place[row.columns] >= 0
    parts = {
        name: values[there].tolist()
        for name, values in (("weights", row.weights), ("labels", row.labels))
        if values is not None
    }
    return {"items": place[row.columns][there].tolist(), "elsewhere": int((~there).sum()), **parts}


def typical_weight(rows: Csr) -> float:
    """Return the median weight with two digits, of some of the pairs where there are many."""
    if rows.weights is None or len(rows.weights) == 0:
        return 1.0
    some = rows.weights[:: len(rows.weights) // SAMPLED + 1]
    return float(f"{np.median(some):.2g}") or 1.0


def _base64(array: NDArray[Any]) -> str:
    return base64.b64encode(np.ascontiguousarray(array).tobytes()).decode("ascii")
