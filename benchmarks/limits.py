"""The machine's limits, measured, and the least work each of our solvers can do."""

from __future__ import annotations

import time
from concurrent.futures import ThreadPoolExecutor

import numpy as np
from threadpoolctl import threadpool_limits

from ialspp import IALS, IALSpp, Interactions, SpectralCG
from ialspp.solvers import Solver


def best_of(times: int, work) -> float:
    best = np.inf
    for _ in range(times):
        start = time.perf_counter()
        work()
        best = min(best, time.perf_counter() - start)
    return best


def sgemm_gflops(threads: int, size: int = 2048) -> float:
    a, b = np.random.default_rng(0).random((2, size, size), np.float32)
    out = np.empty_like(a)
    with threadpool_limits(threads, "blas"):
        return 2 * size**3 / best_of(5, lambda: np.matmul(a, b, out=out)) / 1e9


def copy_gigabytes(threads: int, floats: int = 2**25) -> float:
    """Read and written per second, each thread copying an array of its own."""
    pairs = [(np.zeros(floats, np.float32), np.ones(floats, np.float32)) for _ in range(threads)]
    with ThreadPoolExecutor(threads) as pool:
        seconds = best_of(5, lambda: list(pool.map(lambda pair: np.copyto(*pair), pairs)))
    return 2 * 4 * floats * threads / seconds / 1e9


def work_of(solver: Solver, data: Interactions, dim: int, block: int) -> tuple[float, float]:
    """(floating-point operations, bytes gathered) of one epoch, counted from the algorithm.

    An interaction's vector is gathered once a side, and counted as if it came from memory, though caches
    serve many of them: an estimate. Products with symmetric results are counted once.
    """
    n, rows = len(data), data.n_users + data.n_items
    gathered = 2 * n * dim * 4
    gramians = rows * dim**2 / 2
    if isinstance(solver, IALS):
        fmas = 2 * n * (dim * (dim + 1) / 2 + dim) + rows * (dim**3 / 6 + dim**2) + gramians
    elif isinstance(solver, IALSpp):
        per_block = block * (block + 1) / 2 + 3 * block  # Hessian; prediction, gradient, advance
        fmas = 2 * n * dim / block * per_block
        fmas += rows * (dim**2 + dim / block * (block**3 / 6 + block**2)) + gramians
    elif isinstance(solver, SpectralCG):
        few, many = sorted((data.n_users, data.n_items))
        products = rows + 2 * few if 2 * few <= many else 2 * rows  # where few stay in their coordinates
        # 3 for the gradient and the squares, 2 a step, but 1 for the last
        fmas = 2 * n * dim * (2 + 2 * (solver.steps or 2)) + products * dim**2 + gramians
    else:  # iCD
        fmas = 2 * n * 3 * dim + n * dim + 2 * rows * dim**2
    return 2 * fmas, gathered
