"""Problems for the solvers: generated data, the library's side of it, and the reference's."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from hypothesis import strategies as st

from ialspp import Features, Interactions, Objective
from ialspp.solvers import IALS, ICD, IALSpp, Problem, SpectralCG
from ialspp.system.machine import resolve_threads
from support.reference import Reference


@dataclass
class Case:
    """Data, objective and initial factors, from which library and reference start alike."""

    data: Interactions
    objective: Objective
    W: np.ndarray
    H: np.ndarray
    user_features: Features | None = None
    item_features: Features | None = None

    @property
    def dim(self):
        return self.W.shape[1]

    def problem(self, threads=None):
        return Problem.of(
            self.data,
            self.objective,
            self.W.copy(),
            self.H.copy(),
            resolve_threads(threads),
            user_features=self.user_features,
            item_features=self.item_features,
        )

    def reference(self):
        features = self.user_features, self.item_features
        return Reference(self.data, self.objective, self.W, self.H, *map(dense, features))


def dense(features):
    """Features as the reference has them: a matrix, and its regularization."""
    if features is None:
        return None
    rows, matrix = features.rows, np.zeros((len(features), len(features.names)))
    matrix[rows.row_numbers, rows.columns] = 1 if rows.labels is None else rows.labels
    return matrix, features.regularization


def make_case(*, users, items, dim, density=0.3, labels=False, weights=False, objective=None, seed=0):
    rng = np.random.default_rng(seed)
    activity = density * rng.uniform(0.5, 1.5, users) * (rng.random(users) > 0.1)  # some rows empty
    pairs = [np.flatnonzero(rng.random(items) < share) for share in activity]
    user, item = np.repeat(np.arange(users), [len(row) for row in pairs]), np.concatenate(pairs)
    n = len(user)
    data = Interactions.from_arrays(
        user=user,
        item=item,
        users=range(users),
        items=range(items),
        label=rng.normal(1, 0.5, n) if labels else None,
        weight=rng.exponential(1, n) if weights else None,
    )
    W, H = (rng.normal(0, 0.3 / np.sqrt(dim), (rows, dim)).astype(np.float32) for rows in (users, items))
    return Case(data, objective or Objective(unobserved_weight=0.1, regularization=0.05), W, H)


@st.composite
def cases(draw, dim):
    exponent = draw(st.sampled_from([0.0, 0.5, 1.0]))
    objective = Objective(
        # without it an empty row has no regularisation but that of exponent 0: a test of its own
        unobserved_weight=draw(st.sampled_from([0.02, 0.5] + [0.0] * (exponent == 0))),
        regularization=draw(st.sampled_from([0.05, 0.3])),
        exponent=exponent,
    )
    return make_case(
        users=draw(st.integers(1, 50)),
        items=draw(st.integers(1, 40)),
        dim=dim,
        density=draw(st.floats(0.05, 0.9)),
        labels=draw(st.booleans()),
        weights=draw(st.booleans()),
        objective=objective,
        seed=draw(st.integers(0, 2**32 - 1)),
    )


def solvers_for(dim):
    """Every algorithm, with blocks that divide dim and blocks that don't."""
    sizes = sorted({size for size in (1, 5, 24, 64, dim) if size <= dim})
    by_block = [IALSpp(block_size=size, sweep=sweep) for size in sizes for sweep in ("block", "side")]
    return [IALS(), ICD(), SpectralCG(tolerance=1e-6), SpectralCG(steps=1), SpectralCG(steps=3), *by_block]
