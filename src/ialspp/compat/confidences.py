"""implicit's loss, expressed as ours.

A stored value v means a confidence c = |alpha v| and a preference p, which is 1 where v > 0 and 0 elsewhere.
Pairs without a value have c = 1 and p = 0. With the score s = <w, h>, implicit minimises

    sum over all pairs of c (p - s)^2  +  lambda (|W|^2 + |H|^2)

Since c (p - s)^2 = s^2 + (c - 1) s^2 - 2 c p s + c p, this is, up to a constant, our loss with alpha0 = 1 and
nu = 0, in which a stored pair has the weight a = c - 1, and a label y with a y = c p.

A confidence of 1, as in a matrix of ones, would have no weight, and one below 1 a negative weight. There a is
FLOOR, and what that adds too much, (a + 1 - c) s^2, is taken away again along its tangent at the score s0 of
the current factors: a y = c p + (a + 1 - c) s0. The result equals implicit's loss at the current factors, up
to a constant, and is nowhere below it. So an epoch that lowers one lowers the other. With new tangents before
every epoch, the factors approach a minimum of implicit's loss.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ..data.csr import Csr, Floats
from ..errors import InvalidTypeError, InvalidValueError
from ..files.arrays import is_finite
from ..model.ranking import score_pairs
from ..objective import Objective
from ..solvers import gramian, no_finite_solution, solve_exactly

FLOOR = 1 / 16  # a power of 2; labels grow as it shrinks, and tangents need more rounds as it grows
MOST_ROUNDS = 200  # of tangents, for a row that is solved exactly; ones take about six
SETTLED = 1e-6  # the largest change of a score in the last round, relative to the largest score


@dataclass(frozen=True, slots=True, eq=False)
class Confidences:
    """The stored pairs of a matrix by row: how sure it is, and whether the pair is liked."""

    pairs: Csr
    confidence: Floats
    liked: NDArray[np.bool_]

    @classmethod
    def of(cls, name: str, matrix: Any, alpha: float) -> Confidences:
        """Take the values of a scipy.sparse matrix or array; repeated entries add up."""
        rows = csr_of(name, matrix)
        values = np.asarray(rows.data, dtype=np.float32) * np.float32(alpha)
        if not is_finite(values):
            raise InvalidValueError(f"{name} must hold finite numbers, times alpha too, but does not")
        return cls(pairs_of(rows), np.abs(values), values > 0)

    @property
    def needs_tangents(self) -> bool:
        """Whether a confidence is so small that labels depend on the current scores."""
        return bool((self.confidence < 1 + FLOOR).any())

    def weighted(self, scores: Floats | None = None) -> Csr:
        """Return the rows with weights and labels; scores: those of the current factors, None for zeros."""
        weight: Floats = np.maximum(self.confidence - 1, np.float32(FLOOR))
        target: Floats = self.confidence * self.liked
        if scores is not None:
            target += (weight + 1 - self.confidence) * scores
        rows, label = self.pairs, np.divide(target, weight, dtype=np.float32)
        return Csr(rows.offsets, rows.columns, rows.n_columns, label, weight).without_ones()

    def scores(self, rows: Floats, columns: Floats, threads: int) -> Floats:
        """Return the score of each pair."""
        return score_pairs(rows, self.pairs, columns, threads)

    def loss(self, scores: Floats, squared_scores: float, penalty: float) -> float:
        """Return implicit's loss per confidence, as `calculate_training_loss` there.

        squared_scores: the sum over all pairs. penalty: lambda (|W|^2 + |H|^2).
        """
        c, s = self.confidence.astype(np.float64), scores.astype(np.float64)
        stored = float(np.sum((c - 1) * s * s - 2 * c * self.liked * s + c))
        n_pairs = len(self.pairs) * self.pairs.n_columns
        return (stored + squared_scores + penalty) / (float(c.sum()) + n_pairs - len(c))

    def solved(self, name: str, other: Floats, objective: Objective, threads: int) -> Floats:
        """Return the exact vector of each row, given the vectors of the other side."""
        products = gramian(other, threads)
        scores: Floats | None = None
        for _ in range(MOST_ROUNDS):
            vectors, failed = solve_exactly(self.weighted(scores), other, products, objective, threads)
            if failed >= 0:
                raise no_finite_solution(name, failed, failed)
            if not self.needs_tangents:
                break
            before, scores = scores, self.scores(vectors, other, threads)
            if before is not None and _is_settled(before, scores):
                break
        return vectors


def _is_settled(before: Floats, scores: Floats) -> bool:
    change = np.abs(scores - before).max(initial=0)
    return bool(change <= SETTLED * np.abs(scores).max(initial=0))


def csr_of(name: str, matrix: Any) -> Any:
    """Return a sparse matrix or array by row, its columns ascending and distinct; the original stays.

    One row of a `csr_array` has one dimension. It is taken as a matrix of one row.
    """
    if not hasattr(matrix, "tocsr") or len(matrix.shape) not in (1, 2):
        raise InvalidTypeError(f"{name} must be a scipy.sparse matrix or array, got {type(matrix).__name__}")
    rows = (matrix.reshape(1, -1) if len(matrix.shape) == 1 else matrix).tocsr()
    if not rows.has_canonical_format:
        rows = rows.copy()
        rows.sum_duplicates()
    return rows


def pairs_of(rows: Any) -> Csr:
    """Return which pairs are stored. The arrays are views: those of the caller stay writable."""
    offsets = rows.indptr.astype(np.int64, copy=False).view()
    return Csr(offsets, rows.indices.astype(np.int32, copy=False).view(), rows.shape[1])
