"""The parts of a split."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from ..data.csr import Csr
from ..data.interactions import Interactions
from ..data.offsets import ranges_within
from ..errors import InvalidValueError

Mask = NDArray[np.bool_]
AT_A_TIME = 2**22  # pairs that are compared

STRONG_METRICS = ("capped_recall@20", "capped_recall@50", "ndcg@100")  # Liang et al. 2018
WEAK_METRICS = ("recall@20", "ndcg@20")  # He et al. 2020, LightGCN
ONE_ITEM_METRICS = ("hit_rate@10", "ndcg@10")  # He et al. 2017, NCF


@dataclass(frozen=True, slots=True, eq=False, repr=False)
class HeldOut:
    """Users to evaluate a model on: the pairs it is given of each, and the pairs it has to predict.

    Attributes
    ----------
    given
        The pairs that are folded in (unseen users) or were trained on (known users). They are never
        recommended again. For known users this is the training data itself.
    wanted
        The pairs to predict, with the same users and items, in the same rows, as `given`. Users without any
        are not evaluated.
    unseen
        Whether the users are not in the training data, so that their vectors are folded in.
    candidates
        The only items to rank for each user, in the rows of `given`, those of `wanted` included. None: all
        items.
    """

    given: Interactions
    wanted: Interactions
    unseen: bool
    candidates: Csr | None = None

    def __post_init__(self) -> None:
        for axis in ("users", "items"):
            given, wanted = getattr(self.given, axis), getattr(self.wanted, axis)
            if given is not wanted and given != wanted:
                raise InvalidValueError(
                    f"given and wanted must have the same {axis}, got {given!r} and {wanted!r}"
                )
        if len(self.wanted) == 0:
            raise InvalidValueError("at least one pair must be wanted, got none; there is nothing to test")
        given, wanted = self.given.by_user, self.wanted.by_user
        self._refuse(_first(wanted, given, had=True), "is both given and wanted (in train and in test)")
        if self.candidates is None:
            return
        if (len(self.candidates), self.candidates.n_columns) != (len(given), given.n_columns):
            raise InvalidValueError(
                f"candidates must have the {len(given)} users and {given.n_columns} items of the data, "
                f"got {len(self.candidates)} and {self.candidates.n_columns}"
            )
        if not (np.diff(self.candidates.keys) > 0).all():
            raise InvalidValueError("the candidates of a user must be listed in ascending order, each once")
        self._refuse(_first(wanted, self.candidates, had=False), "is wanted, but not among the candidates")
        self._refuse(_first(self.candidates, given, had=True), "is a candidate, but was trained on")

    def _refuse(self, pair: tuple[int, int] | None, why: str) -> None:
        """Raise an error that names the pair, if there is one."""
        if pair is not None:
            user, item = pair
            raise InvalidValueError(
                f"user {self.given.users[user]!r} with item {self.given.items[item]!r} {why}"
            )

    def __repr__(self) -> str:
        users = np.count_nonzero(self.wanted.by_user.counts)
        kind = "held-out users" if self.unseen else "users"
        return f"HeldOut({users:,} {kind}, {len(self.wanted):,} test pairs)"


@dataclass(frozen=True, slots=True, eq=False, repr=False)
class Split:
    """Training data, users for the test, and perhaps other users for choosing settings (validation).

    Attributes
    ----------
    protocol
        The name that results show.
    train
        The data to train on. Its items are those of the held-out parts.
    test, validation
        The users to evaluate; `validation` may be None.
    metrics
        The names of the metrics that are usual for this protocol.
    left_out
        The number of held-out pairs whose user or item is not in training: no model can predict them, so they
        are dropped.
    """

    protocol: str
    train: Interactions
    test: HeldOut
    validation: HeldOut | None
    metrics: tuple[str, ...]
    left_out: int = 0

    def __repr__(self) -> str:
        parts = f"train={self.train!r}, test={self.test!r}, validation={self.validation!r}"
        return f"Split({self.protocol!r}, {parts}, left_out={self.left_out})"


def _first(rows: Csr, others: Csr, *, had: bool) -> tuple[int, int] | None:
    """Return row and column of the first entry that others have, or have not."""
    for begin, end in ranges_within(rows.offsets + others.offsets, AT_A_TIME):
        keys = rows.between(begin, end).keys
        found = keys[others.between(begin, end).has(keys) == had]
        if len(found):
            row, column = divmod(int(found[0]), rows.n_columns)
            return begin + row, column
    return None


def mask_of(places: NDArray[np.int64], length: int) -> Mask:
    """Make a mask that is True at these places."""
    mask = np.zeros(length, dtype=bool)
    mask[places] = True
    return mask
