"""The judge: the loss and every solver in plain float64 numpy, slow and obvious."""

from __future__ import annotations

import numpy as np

from ialspp import Interactions, Objective


class Reference:
    """One problem and its factors, updated the way the paper's pseudo-code reads."""

    def __init__(self, data: Interactions, objective: Objective, W, H):
        self.alpha0 = objective.unobserved_weight
        self.W, self.H = W.astype(float), H.astype(float)
        self.by_user, self.by_item = rows_of(data.by_user), rows_of(data.by_item)
        self.user_lambda = lambdas(objective, self.by_user, len(H))
        self.item_lambda = lambdas(objective, self.by_item, len(W))

    @property
    def dim(self):
        return self.W.shape[1]

    def update_users(self, block):
        half_sweep(self.by_user, self.W, self.H, self.alpha0, self.user_lambda, block)

    def update_items(self, block):
        half_sweep(self.by_item, self.H, self.W, self.alpha0, self.item_lambda, block)

    def epoch_by_side(self, block):
        """iALS where block = d."""
        self.update_users(blocks(self.dim, block))
        self.update_items(blocks(self.dim, block))

    def epoch_by_block(self, block):
        """iALS++, and iCD where block = 1."""
        for one in blocks(self.dim, block):
            self.update_users([one])
            self.update_items([one])

    def parts(self):
        """(observed, unobserved, regularization)"""
        scores = self.W @ self.H.T
        observed = sum(
            np.sum(a * (scores[u, items] - y) ** 2) for u, (items, y, a) in enumerate(self.by_user)
        )
        norms = self.user_lambda @ np.sum(self.W**2, 1) + self.item_lambda @ np.sum(self.H**2, 1)
        return observed, self.alpha0 * np.sum(scores**2), norms

    def loss(self):
        return sum(self.parts())


def blocks(dim, size):
    return [slice(begin, min(begin + size, dim)) for begin in range(0, dim, size)]


def rows_of(csr):
    """For each row: (columns, labels, weights)."""
    ones = np.ones(len(csr.columns))
    labels = ones if csr.labels is None else csr.labels.astype(float)
    weights = ones if csr.weights is None else csr.weights.astype(float)
    cuts = csr.offsets[1:-1]
    parts = (np.split(array, cuts) for array in (csr.columns, labels, weights))
    return list(zip(*parts, strict=True))


def lambdas(objective, rows, n_other):
    counts = np.array([len(columns) for columns, _, _ in rows])
    mass = counts + objective.unobserved_weight * n_other
    return objective.regularization * mass**objective.exponent


def half_sweep(rows, X, H, alpha0, lam, over):
    """Update every row of X given H, over one block of coordinates after the other."""
    G = H.T @ H
    for u, x in enumerate(X):
        columns, y, a = rows[u]
        Hj = H[columns]
        for B in over:
            g = Hj[:, B].T @ (a * (Hj @ x - y)) + alpha0 * G[B] @ x + lam[u] * x[B]
            A = (Hj[:, B].T * a) @ Hj[:, B] + alpha0 * G[B, B] + lam[u] * np.eye(len(g))
            x[B] -= np.linalg.solve(A, g)
