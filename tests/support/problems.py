"""Problems for the solvers: generated data, the library's side of it, and the reference's."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from hypothesis import strategies as st

from ialspp import Interactions, Objective, _core
from ialspp.solvers import IALS, ICD, IALSpp, Problem, SpectralCG
from ialspp.solvers.spectral import eigenbasis
from ialspp.system.machine import resolve_threads
from support.reference import Reference, blocks


@dataclass
class Case:
    """Data, objective and initial factors, from which library and reference start alike."""

    data: Interactions
    objective: Objective
    W: np.ndarray
    H: np.ndarray

    def problem(self, threads=None):
        return Problem.of(self.data, self.objective, self.W.copy(), self.H.copy(), resolve_threads(threads))

    def reference(self):
        return Reference(self.data, self.objective, self.W, self.H)


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


def half_sweep(solver, problem, side, other):
    """One side once, all coordinates, the other side held fixed."""
    common = (side.rows, side.factors, side.regularization, other.factors)
    dim, alpha0, threads = problem.dim, problem.unobserved_weight, problem.threads
    if isinstance(solver, SpectralCG):
        _, basis = eigenbasis(problem.gramian(other))
        solver.improve(problem, side, other)
        for turned in (side, other):
            turned.factors[:] = turned.factors @ basis.T
        return
    if isinstance(solver, IALS):
        _, failed = _core.solve_rows(*common, problem.gramian(other), alpha0, False, threads)
        assert failed == -1
        return
    if isinstance(solver, IALSpp) and solver.sweep == "side":
        size = solver.block_size_for(dim)
        _, failed = _core.update_side(*common, problem.gramian(other), alpha0, size, threads)
        assert failed == -1
        return
    residuals = problem.residuals()
    size = 1 if isinstance(solver, ICD) else solver.block_size_for(dim)
    for begin in range(0, dim, size):
        gramian = problem.gramian_columns(other, begin, min(begin + size, dim))
        if isinstance(solver, ICD):
            column = gramian[:, 0].astype(np.float32)
            failed = _core.update_coordinate(*common, column, alpha0, begin, residuals, threads)
        else:
            failed = _core.update_block(*common, gramian, alpha0, begin, residuals, threads)
        assert failed == -1


def library_basis(H):
    """The library's own, so that eigenvectors of nearly equal eigenvalues are the same ones."""
    return eigenbasis(_core.gramian(H.astype(np.float32), 0, H.shape[1], 1))[1]


def reference_half_sweep(solver, reference, side):
    if isinstance(solver, SpectralCG) and solver.steps is not None:
        reference.improve(side, solver.steps, library_basis)
        return
    block = 1 if isinstance(solver, ICD) else reference.dim
    if isinstance(solver, IALSpp):
        block = solver.block_size_for(reference.dim)
    reference.update(side, blocks(reference.dim, block))


def reference_epoch(solver, reference):
    if isinstance(solver, ICD) or (isinstance(solver, IALSpp) and solver.sweep == "block"):
        reference.epoch_by_block(1 if isinstance(solver, ICD) else solver.block_size_for(reference.dim))
        return
    for side in ("users", "items"):
        reference_half_sweep(solver, reference, side)


def error(got, wanted, start):
    """Relative, in the Frobenius norm, to the larger of result and start.

    A Newton step that ends near zero takes two nearly equal numbers from each other; what single
    precision can promise then is relative to those.
    """
    return np.linalg.norm(got - wanted) / max(np.linalg.norm(wanted), np.linalg.norm(start))
