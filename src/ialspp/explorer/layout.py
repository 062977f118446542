"""Places in the plane for things of which only the nearest neighbours are known.

This is t-SNE with equal weights for the neighbours of each point, and with a mass m for each point: the more
mass, the more room. With p_ij = 1/2nk for each pair of a point and one of its k neighbours, and q_ij
proportional to m_i m_j (1 + |y_i - y_j|^2)^-1, the places y follow the gradient

    sum_j  (p_ij - q_ij) (y_i - y_j) / (1 + |y_i - y_j|^2)

downhill. The part with p has n k terms. The part with q has n^2: it is a convolution, which is computed on a
grid by the fast Fourier transform. Nothing is random, so the same neighbours always give the same places.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

Places = NDArray[np.float64]  # n x 2

# How much neighbours attract each other, and for how many steps: first they gather, at last they part a
# little, so that dots do not cover each other.
PULLS = ((12.0, 120), (1.0, 180), (0.8, 100))
SMALLEST_GRID, LARGEST_GRID = 32, 256  # cells a side
CELL = 0.5  # the kernel is 1 wide, and a cell should be narrower
FEW = 256  # up to so many points, all pairs are summed
GRAVITY = 1e-4  # holds points together that are nobody's neighbours: within a distance of about 100
LEAST_MEETINGS = 1e-3  # of a point: a floor for the sum that q is divided by, which rounding could make zero
START = 1e-2  # the width of the start, which must be small beside the kernel
LEAST_GAIN = 0.01
FAR = 0.002  # the share of points on each side that may end up at the edge


class Pairs(NamedTuple):
    """Each pair of a point and one of its neighbours, once, and the weight with which they attract."""

    first: NDArray[np.int64]
    second: NDArray[np.int64]
    weight: Places


def laid_out(neighbours: NDArray[np.int32], start: Places, mass: Places) -> Places:
    """Find places, between -1 and 1 on the longer side, in which neighbours are close to each other.

    Parameters
    ----------
    neighbours
        The row numbers of each point's neighbours; -1 where there are fewer.
    start
        The directions in which the points begin to move apart: the first two principal components, say.
    mass
        How much room each point needs, on average 1.
    """
    n = len(neighbours)
    if n < 3:
        return np.column_stack([np.arange(n) * 2.0 - (n == 2), np.zeros(n)])
    pairs = _pairs_of(neighbours)
    places = START * _spread(start)
    velocity, gain = np.zeros_like(places), np.ones_like(places)
    rate = max(n / PULLS[0][0], 20.0)
    for pull, steps in PULLS:
        momentum = 0.5 if pull > 1 else 0.8
        for _ in range(steps):
            slope = 4 * (pull * _attraction(pairs, places) - repulsion(places, mass)) + GRAVITY / n * places
            gain = np.maximum(np.where(slope * velocity > 0, gain * 0.8, gain + 0.2), LEAST_GAIN)
            velocity = momentum * velocity - rate * gain * slope
            places = places + velocity
            places -= places.mean(axis=0)
    return _framed(places)


def _spread(start: Places) -> Places:
    """Scale the start to a deviation of 1, and part points that begin at the same place."""
    turns = np.arange(len(start)) * 2.399963  # the golden angle: no two points in the same direction
    nudge = np.column_stack([np.cos(turns), np.sin(turns)])
    deviation = start.std(axis=0)
    return np.asarray((start - start.mean(axis=0)) / np.where(deviation > 0, deviation, 1) + 0.01 * nudge)


def _framed(places: Places) -> Places:
    """Scale to a square. The few points far from all others go to its edge, so that there is room inside."""
    low, high = np.quantile(places, [FAR, 1 - FAR], axis=0)
    inside = np.clip(places, low - (high - low) / 20, high + (high - low) / 20)
    low, high = inside.min(axis=0), inside.max(axis=0)
    return np.asarray((inside - (low + high) / 2) / max(float((high - low).max()) / 2, 1e-12))


def _pairs_of(neighbours: NDArray[np.int32]) -> Pairs:
    n, k = neighbours.shape
    near: NDArray[np.int64] = neighbours.ravel().astype(np.int64)
    point = np.repeat(np.arange(n), k)[near >= 0]
    near = near[near >= 0]
    keys, mutual = np.unique(np.minimum(point, near) * n + np.maximum(point, near), return_counts=True)
    return Pairs(keys // n, keys % n, mutual / (2 * max(len(near), 1)))


def _attraction(pairs: Pairs, places: Places) -> Places:
    apart = places[pairs.first] - places[pairs.second]
    force = apart * (pairs.weight / (1 + np.einsum("pa,pa->p", apart, apart)))[:, None]
    n = len(places)
    return np.column_stack(
        [
            np.bincount(pairs.first, force[:, axis], n) - np.bincount(pairs.second, force[:, axis], n)
            for axis in (0, 1)
        ]
    )


def repulsion(places: Places, mass: Places) -> Places:
    """Return sum_j q_ij (y_i - y_j) / (1 + |y_i - y_j|^2) of each point i."""
    summed = _Grid.around(places).convolved if len(places) > FEW else _summed
    near, near_x, near_y, wide = summed(places, mass)
    meetings = float(mass @ wide - mass @ mass)  # every point also meets itself, at distance 0
    total = max(meetings, LEAST_MEETINGS * len(places))
    return (places * near[:, None] - np.column_stack([near_x, near_y])) * (mass / total)[:, None]


def _summed(places: Places, mass: Places) -> list[Places]:
    """Compute what `_Grid.convolved` does, pair by pair."""
    apart = places[:, None] - places[None]
    kernel = mass / (1 + np.einsum("ija,ija->ij", apart, apart))
    sharp = kernel * kernel / mass
    return [sharp.sum(axis=1), sharp @ places[:, 0], sharp @ places[:, 1], kernel.sum(axis=1)]


Corners = list[tuple[NDArray[np.int64], Places]]  # numbers of cells, and the share of each point in them


class _Grid(NamedTuple):
    """Cells over all points, and for each point the cell below it on both axes and how far it is past it."""

    side: int
    width: float
    cell: NDArray[np.int64]
    past: Places

    @classmethod
    def around(cls, places: Places) -> _Grid:
        low = places.min(axis=0)
        extent = max(float((places.max(axis=0) - low).max()), 1e-9)
        side = SMALLEST_GRID
        while side < LARGEST_GRID and extent / (side - 2) > CELL:
            side += SMALLEST_GRID
        width = extent / (side - 2)
        at = (places - low) / width
        cell = np.minimum(at.astype(np.int64), side - 2)
        return cls(side, width, cell, at - cell)

    def corners(self) -> Corners:
        """Return the four corners of each point's cell, numbered, and the share of the point in each."""
        (i, j), (x, y) = self.cell.T, self.past.T
        shares = ((0, 0, (1 - x) * (1 - y)), (1, 0, x * (1 - y)), (0, 1, (1 - x) * y), (1, 1, x * y))
        return [((i + right) * self.side + j + up, share) for right, up, share in shares]

    def convolved(self, places: Places, mass: Places) -> list[Places]:
        """Sum m_j K(y_i - y_j)^2 times (1, x_j, y_j), and m_j K(y_i - y_j), over j; K(z) = (1 + |z|^2)^-1."""
        corners = self.corners()
        ones, xs, ys = (self._deposited(corners, mass * value) for value in (1, *places.T))
        steps = np.minimum(np.arange(2 * self.side), np.arange(2 * self.side, 0, -1)) * self.width
        kernel = 1 / (1 + steps[:, None] ** 2 + steps[None, :] ** 2)
        sharp, wide = np.fft.rfft2(kernel**2), np.fft.rfft2(kernel)
        products = (ones * sharp, xs * sharp, ys * sharp, ones * wide)
        return [self._read(corners, np.fft.irfft2(product)) for product in products]

    def _deposited(self, corners: Corners, mass: Places) -> NDArray[np.complex128]:
        cells = sum(np.bincount(at, share * mass, self.side**2) for at, share in corners)
        doubled = (2 * self.side, 2 * self.side)  # so that the transform's period does not wrap around
        return np.fft.rfft2(np.asarray(cells).reshape(self.side, self.side), doubled)

    def _read(self, corners: Corners, field: Places) -> Places:
        inside = field[: self.side, : self.side].ravel()
        return np.asarray(sum(inside[at] * share for at, share in corners))
