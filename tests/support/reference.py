"""The judge: the loss and every step of every solver in plain float64 numpy, slow and obvious."""

from __future__ import annotations

from itertools import pairwise

import numpy as np

from ialspp import Interactions, Objective


class Reference:
    """One problem and its factors. Features are dense matrices, each with its own regularization rho."""

    def __init__(
        self, data: Interactions, objective: Objective, W, H, user_features=None, item_features=None
    ):
        self.alpha0 = objective.unobserved_weight
        self.W, self.H = W.astype(float), H.astype(float)
        self.by_user, self.by_item = rows_of(data.by_user), rows_of(data.by_item)
        self.user_lambda = lambdas(objective, self.by_user, len(H))
        self.item_lambda = lambdas(objective, self.by_item, len(W))
        self.user_map = Regression(user_features, self.user_lambda)
        self.item_map = Regression(item_features, self.item_lambda)

    @property
    def dim(self):
        return self.W.shape[1]

    def factors(self, side):
        return self.W if side == "users" else self.H

    def systems(self, side, B):
        """The system of each row of a side over the coordinates B."""
        rows, X, H, lam, regression = self.by_user, self.W, self.H, self.user_lambda, self.user_map
        if side == "items":
            rows, X, H, lam, regression = self.by_item, self.H, self.W, self.item_lambda, self.item_map
        gramian = H.T @ H
        centres, terms = regression.centres(X)
        return [
            System(rows[u], x, H, gramian, self.alpha0, lam[u], B, centres[u], terms[u])
            for u, x in enumerate(X)
        ]

    def parts(self):
        """(observed, unobserved, regularization)"""
        scores = self.W @ self.H.T
        observed = sum(
            np.sum(a * (scores[u, items] - y) ** 2) for u, (items, y, a) in enumerate(self.by_user)
        )
        penalties = self.user_map.penalty(self.W) + self.item_map.penalty(self.H)
        return observed, self.alpha0 * np.sum(scores**2), penalties

    def residuals_slack(self, updates):
        """How far off single precision may find the root of the observed part: by a share of what cancels."""
        terms = np.abs(self.W) @ np.abs(self.H).T
        squares = [np.sum(a * (terms[u, i] + np.abs(y)) ** 2) for u, (i, y, a) in enumerate(self.by_user)]
        return rounding(updates) * np.sqrt(sum(squares))

    def loss(self):
        return sum(self.parts())


class Regression:
    """The best linear map from the features of a side to its vectors: none without features."""

    def __init__(self, features, lam):
        F, rho = (np.zeros((len(lam), 0)), 1.0) if features is None else features
        self.F, self.lam, self.mu = F.astype(float), lam, rho * lam.mean()

    def weights(self, X):
        system = (self.F.T * self.lam) @ self.F + self.mu * np.eye(self.F.shape[1])
        return (
            np.linalg.solve(system, (self.F.T * self.lam) @ X) if len(system) else np.zeros((0, X.shape[1]))
        )

    def centres(self, X):
        """The centre of every row, and the sizes of the terms that add up to it."""
        A = self.weights(X)
        return self.F @ A, np.abs(self.F) @ np.abs(A)

    def penalty(self, X):
        """The penalty as the loss states it, at the best map."""
        A = self.weights(X)
        return self.lam @ np.sum((X - self.F @ A) ** 2, 1) + self.mu * np.sum(A**2)


def rounding(updates=0, summed=0):
    """The share by which single precision may miss a sum of so many numbers that were updated so many times.

    Roundings have either sign, so what they add up to grows like a root. Kernels sum in many parts side by
    side, hence 256. The factor 4 is three times the most that thousands of small systems needed.
    """
    return 4 * np.finfo(np.float32).eps * np.sqrt(1 + updates + summed / 256)


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


class System:
    """What decides a step of one row from x over the coordinates B: the A and g of native/step.h."""

    def __init__(self, row, x, H, gramian, alpha0, lam, B, centre, terms_of_centre):
        columns, y, a = row
        near = H[columns]
        self.x, self.count = x[B], len(columns)
        self.scaled = np.sqrt(a)[:, None] * near[:, B]
        self.A = (near[:, B].T * a) @ near[:, B] + alpha0 * gramian[B, B] + lam * np.eye(len(self.x))
        self.g = near[:, B].T @ (a * (near @ x - y)) + alpha0 * gramian[B] @ x + lam * (x - centre)[B]
        self.coupling = alpha0 * (gramian - np.diag(np.diag(gramian)))[B, B]
        near, x, y, gramian = (np.abs(array) for array in (near, x, y, gramian))
        self.terms_of_residuals = near[:, B].T @ (a * (near @ x + y))
        self.other_terms = alpha0 * gramian[B] @ x + lam * (x + terms_of_centre)[B]

    def minimum(self):
        """Where the Newton step ends."""
        return self.x - np.linalg.solve(self.A, self.g)

    def after_conjugate_gradients(self, steps, Q):
        """Where so many steps end in the orthogonal basis Q, preconditioned by nearly the diagonal of A."""
        S = self.scaled @ Q
        A = Q.T @ self.A @ Q
        M = np.diag(A) - np.sum(S**2, 0) + estimated_squares(S)
        return self.x - Q @ conjugate_gradients(A, Q.T @ self.g, steps, M)

    def after_uncoupled_steps(self, steps):
        """Where so many steps end that leave out the coupling, and then go on or back to the minimum."""
        A = self.A - self.coupling
        M = np.diag(A) - np.sum(self.scaled**2, 0) + estimated_squares(self.scaled)
        way = conjugate_gradients(A, self.g, steps, M)
        own, whole = way @ A @ way, way @ self.A @ way
        return self.x - (own / max(whole, own / 8) if own > 0 else 1.0) * way

    def relaxed(self, end, relaxation):
        """Where a row is that goes so many times as far as to `end`."""
        return self.x + relaxation * (end - self.x)

    def slack(self, end, updates, tolerance=0.0, relaxation=1.0):
        """How far from the relaxed `end` single precision may be, its residuals updated so many times.

        A is off by a share of itself, g by a share of the terms that cancel in it; the step that they give is
        off by both over the smallest eigenvalue of A, and is itself rounded. Iterations that stop once a step
        is shorter than `tolerance` times x may leave that much of every eigenvector.
        """
        eigenvalues, norm = np.linalg.eigvalsh(self.A), np.linalg.norm
        of_g = norm(rounding(updates, self.count) * self.terms_of_residuals + rounding() * self.other_terms)
        of_A = eigenvalues[-1] * (rounding(0, self.count) * norm(end - self.x) + tolerance * norm(end))
        largest = max(norm(end), norm(self.relaxed(end, relaxation)))
        return relaxation * (of_g + of_A) / eigenvalues[0] + rounding() * largest


def estimated_squares(S):
    """The sums of squares of the columns of S: of a long one, those of 16 rows in 64, which count for all."""
    n = len(S)
    if n < 128:
        return np.sum(S**2, 0)
    cuts = [n * part // 16 for part in range(17)] if n >= 32768 else [0, n]
    total = np.zeros(S.shape[1])
    for begin, end in pairwise(cuts):
        for first in range(begin, end, 64):
            sample = S[first : min(first + 16, end)]
            total += min(64, end - first) / len(sample) * np.sum(sample**2, 0)
    return total


def conjugate_gradients(A, b, steps, M):
    """Textbook: A x = b from zero, preconditioned by the diagonal matrix of M."""
    x, r, p, rho = np.zeros_like(b), b, np.zeros_like(b), np.inf
    for _ in range(steps):
        z = np.divide(r, M, out=np.zeros_like(r), where=M > 0)
        rho, before = r @ z, rho
        if rho == 0:
            break
        p = z + rho / before * p
        alpha = rho / (p @ A @ p)
        x, r = x + alpha * p, r - alpha * A @ p
    return x
