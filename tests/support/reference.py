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

    def sides(self, side):
        """(rows, factors, the other side's factors, lambda)"""
        if side == "users":
            return self.by_user, self.W, self.H, self.user_lambda
        return self.by_item, self.H, self.W, self.item_lambda

    def update(self, side, over):
        """Newton steps over one set of coordinates after the other."""
        rows, X, H, lam = self.sides(side)
        half_sweep(rows, X, H, self.alpha0, lam, over)

    def improve(self, side, steps, basis):
        """Conjugate gradients in every row, preconditioned in some basis: basis(H) is orthogonal."""
        rows, X, H, lam = self.sides(side)
        Q = basis(H)
        G = Q.T @ H.T @ H @ Q
        for u, (columns, y, a) in enumerate(rows):
            S = np.sqrt(a)[:, None] * H[columns] @ Q
            A = self.alpha0 * G + lam[u] * np.eye(len(Q)) + S.T @ S
            X[u] = Q @ conjugate_gradients(A, S.T @ (np.sqrt(a) * y), Q.T @ X[u], steps)

    def epoch_by_block(self, block):
        """iALS++, and iCD where block = 1."""
        for one in blocks(self.dim, block):
            self.update("users", [one])
            self.update("items", [one])

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


def conjugate_gradients(A, b, x, steps):
    """Textbook: A x = b from x, preconditioned by the diagonal of A."""
    r, p, rho = b - A @ x, np.zeros_like(x), np.inf
    for _ in range(steps):
        z = np.divide(r, np.diag(A), out=np.zeros_like(r), where=np.diag(A) > 0)
        rho, before = r @ z, rho
        if rho == 0:
            break
        p = z + rho / before * p
        alpha = rho / (p @ A @ p)
        x, r = x + alpha * p, r - alpha * A @ p
    return x
