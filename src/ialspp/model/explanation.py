"""Explanations: how much each item of a user's history adds to a score."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Any, SupportsIndex, overload

import numpy as np
from numpy.typing import NDArray

from ..data.csr import Csr, RowNumbers
from ..data.ids import IdMap
from ..errors import SolveError
from ..objective import Objective
from ..system import html
from ..system.locks import one_blas_thread
from .fitted import Embedding
from .ranking import named_columns, shown_with_name


class Explanation(list[tuple[Any, float]]):
    """Pairs (item of the history, its contribution to a score), largest first. A slice is one too.

    Attributes
    ----------
    score
        `<w, h>`, the score that `recommend` ranks the item by.
    rest
        The score less the contributions of the whole history. It is zero, up to rounding, where the user's
        vector is the exact solution for their history, as after `update`. After `fit` it is the error of
        stopping before convergence. With features of users, it also has what these add to the score.
    names
        The name of each item, or None where it has none.
    """

    def __init__(
        self,
        pairs: Iterable[tuple[Any, float]],
        score: float,
        rest: float,
        *,
        names: Sequence[str | None] | None = None,
    ) -> None:
        super().__init__(pairs)
        self.score = score
        self.rest = rest
        self.names = [None] * len(self) if names is None else list(names)

    @property
    def contributions(self) -> list[float]:
        """The contributions alone, in the same order."""
        return [contribution for _, contribution in self]

    @overload
    def __getitem__(self, index: SupportsIndex, /) -> tuple[Any, float]: ...

    @overload
    def __getitem__(self, index: slice, /) -> Explanation: ...

    def __getitem__(self, index: SupportsIndex | slice, /) -> Any:
        if isinstance(index, slice):
            part = super().__getitem__(index)
            return Explanation(part, self.score, self.rest, names=self.names[index])
        return super().__getitem__(index)

    def __repr__(self) -> str:
        pairs = zip(self, self.names, strict=True)
        shown = (f"({shown_with_name(item, name)}, {part!r})" for (item, part), name in pairs)
        return f"[{', '.join(shown)}]"

    def _repr_html_(self) -> str:
        """Draw the contributions as a table, for notebooks."""
        parts = html.bars(self.contributions)
        items = [item for item, _ in self]
        columns = named_columns("item of the history", items, self.names, "contribution", parts)
        title = f"Score {self.score:.4f}, of which the history does not explain {self.rest:.4f}"
        return html.table(title, *columns)


def explain_each(
    history: Csr,
    vector: NDArray[Any],
    targets: NDArray[np.int64],
    items: Embedding,
    objective: Objective,
    threads: int,
    k: int | None = None,
) -> list[Explanation]:
    """Explain the scores of some items for a user with this one row of history and this vector.

    An explanation has the k largest contributions, or all.

    The loss is least at w = A^-1 sum_j a_j y_j h_j, with A as in `native/step.h`. The score <w, h_i> is then
    a sum over the history, to which item j adds a_j y_j <h_j, A^-1 h_i>. A is the same for all items i.
    """
    wanted = items.vectors[targets].astype(np.float64)
    scores = wanted @ vector.astype(np.float64)
    if len(history.columns) == 0:
        return [Explanation([], score, score) for score in scores.tolist()]
    history.native()  # raises if a damaged file names an item that does not exist
    neighbours = items.vectors[history.columns].astype(np.float64)
    weight = np.ones(len(neighbours)) if history.weights is None else history.weights.astype(np.float64)
    label = 1.0 if history.labels is None else history.labels.astype(np.float64)
    regularization = objective.row_regularization(history.counts, len(items.ids))[0]
    gramian = objective.unobserved_weight * items.gramian(threads)
    with one_blas_thread():
        hessian = (neighbours.T * weight) @ neighbours + gramian + regularization * np.eye(len(vector))
        _check_solvable(hessian, float(regularization))
        contributions = (neighbours @ _solved(hessian, wanted.T)).T * (weight * label)
    return [
        _largest_first(each, history.columns, items.ids, score, k)
        for each, score in zip(contributions, scores.tolist(), strict=True)
    ]


def _largest_first(
    contributions: NDArray[np.float64], history: RowNumbers, items: IdMap, score: float, k: int | None
) -> Explanation:
    largest = np.argsort(-contributions, kind="stable")[:k]
    rows = history[largest]
    pairs = zip(items.named(rows), contributions[largest].tolist(), strict=True)
    return Explanation(pairs, score, score - float(contributions.sum()), names=items.names_of(rows))


def _check_solvable(hessian: NDArray[np.float64], regularization: float) -> None:
    """Raise an error where there are many solutions, and contributions would mean nothing."""
    if not np.isfinite(hessian).all():
        raise SolveError("the vectors of the items in the user's past must be finite, and are not")
    enough = regularization > np.finfo(np.float64).eps * hessian.trace()
    if not enough and np.linalg.matrix_rank(hessian, hermitian=True) < len(hessian):
        raise _no_unique_solution()


def _solved(hessian: NDArray[np.float64], targets: NDArray[np.float64]) -> NDArray[np.float64]:
    try:
        return np.asarray(np.linalg.solve(hessian, targets), dtype=np.float64)
    except np.linalg.LinAlgError as error:  # numbers of very different sizes, whose rank is hard to tell
        raise _no_unique_solution() from error


def _no_unique_solution() -> SolveError:
    return SolveError("the user's system has no unique solution; explain needs regularization > 0")
