"""Which items a page or a map shows: the best-known ones."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from ..model.model import ImplicitMF
from ..system.checks import checked_integer

RowNumbers = NDArray[np.int64]


class Shown(NamedTuple):
    """Rows of items, best known first, and how many users each has; None where that is not known."""

    rows: RowNumbers
    users: RowNumbers | None


def best_known(model: ImplicitMF, top: int | None = None) -> Shown:
    """Choose the items with the most users; all of them where `top` is None.

    An old file without interactions does not know them. The length of an item's vector grows with the number
    of its users, so the longest vectors come first there.
    """
    wanted = len(model.items) if top is None else checked_integer("top", top, 1)
    counts = model.item_counts
    if counts is None:
        lengths = np.einsum("id,id->i", model.item_factors, model.item_factors)
        return Shown(np.argsort(-lengths, kind="stable")[:wanted], None)
    rows = np.argsort(-counts, kind="stable")[:wanted]
    return Shown(rows, counts[rows].astype(np.int64))
