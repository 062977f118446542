"""Features for tests: drawn ones, and ones that are hard."""

import numpy as np
from hypothesis import strategies as st

from ialspp import Features
from support.problems import cases


def drawn_features(rows, kind, seed, regularization=1.0):
    """Features of the rows 0, 1, 2, ... of one kind."""
    rng = np.random.default_rng(seed)
    numbers = rng.normal(0, 1, (rows, 3))
    kinds = {
        "numbers": numbers,
        "categories": np.eye(4)[rng.integers(0, 4, rows)],
        "few": (rng.random((rows, 5)) < 0.2) * rng.normal(0, 2, (rows, 5)),  # rows without any
        "constant": np.ones((rows, 1)),
        "twice the same": np.hstack([numbers, numbers, np.zeros((rows, 1))]),
        "more than rows": rng.normal(0, 1, (rows, rows + 4)),
        "of very different size": numbers * [1e-3, 1, 2000],
        "none": np.zeros((rows, 0)),
        "all zero": np.zeros((rows, 2)),
    }
    return Features.from_matrix(kinds[kind], regularization=regularization)


KINDS = (
    "numbers",
    "categories",
    "few",
    "constant",
    "twice the same",
    "more than rows",
    "of very different size",
    "none",
    "all zero",
)


@st.composite
def cases_with_features(draw, dim, of=cases):
    """A problem with features of items, or of users, or of both."""
    case = draw(of(dim))
    seed, rho = draw(st.integers(0, 2**32 - 1)), draw(st.sampled_from([0.1, 1.0, 10.0]))
    sides = draw(st.sampled_from(["items", "users", "both"]))
    if sides != "items":
        case.user_features = drawn_features(len(case.W), draw(st.sampled_from(KINDS)), seed, rho)
    if sides != "users":
        case.item_features = drawn_features(len(case.H), draw(st.sampled_from(KINDS)), seed + 1, rho)
    return case
