"""What is compared: our solvers and the peers', each doing one epoch at a time on the same data.

Objectives. irspack's "IALSPP" loss is ours with labels and weights of 1: the same alpha0, lambda and nu.
implicit minimises, over all pairs, c (<w,h> - p)^2 with p = 1 and c > 1 where something was observed, p = 0
and c = 1 elsewhere, plus reg (|W|^2 + |H|^2). Times alpha0, with c = (1 + alpha0) / alpha0, that is our loss
for nu = 0, lambda = alpha0 reg and labels of 1 + alpha0: whoever is compared with implicit minimises that.
"""

from __future__ import annotations

import time
from collections.abc import Callable
from dataclasses import dataclass

import numpy as np
import scipy.sparse as sp

from ialspp import IALS, ICD, IALSpp, ImplicitMF, Interactions, Objective, SpectralCG
from ialspp.solvers import Problem, Solver

OBJECTIVE = Objective()  # the paper's settings for MovieLens 20M
IMPLICIT_REGULARIZATION = 100.0
IMPLICIT_OBJECTIVE = Objective(
    unobserved_weight=OBJECTIVE.unobserved_weight,
    regularization=OBJECTIVE.unobserved_weight * IMPLICIT_REGULARIZATION,
    exponent=0.0,
)


@dataclass
class System:
    """One contender while it trains."""

    name: str
    epoch: Callable[[], float]  # does one; seconds
    factors: Callable[[], tuple[np.ndarray, np.ndarray]]


def ours(
    name: str, solver: Solver, data: Interactions, objective: Objective, dim: int, threads: int
) -> System:
    """Our epochs, the exact loss included."""
    model = ImplicitMF(dim=dim, solver=solver, objective=objective, threads=threads)
    users, items = model.initial_factors(data)
    problem = Problem.of(data, objective, users, items, threads)
    return System(name, lambda: model.run_epoch(problem).seconds, lambda: (users, items))


def irspack(name: str, data: Interactions, dim: int, threads: int, **solver: str | int) -> System:
    """irspack's epochs, without its loss."""
    from irspack.recommenders import IALSRecommender

    recommender = IALSRecommender(
        matrix_of(data, 1.0),
        n_components=dim,
        alpha0=OBJECTIVE.unobserved_weight,
        reg=OBJECTIVE.regularization,
        nu=OBJECTIVE.exponent,
        n_threads=threads,
        **solver,
    )
    trainer = recommender._create_trainer()
    core = trainer.core_trainer
    return System(
        name, lambda: seconds(trainer.run_epoch), lambda: (np.array(core.user), np.array(core.item))
    )


def implicit(name: str, data: Interactions, dim: int, threads: int, use_cg: bool) -> System:
    """implicit's epochs: what its fit does in each iteration, its one-time transposition left out."""
    from implicit.cpu.als import AlternatingLeastSquares
    from threadpoolctl import threadpool_limits

    alpha0 = OBJECTIVE.unobserved_weight
    by_user = matrix_of(data, (1 + alpha0) / alpha0).copy()  # it wants to be able to write
    by_item = by_user.T.tocsr()
    with threadpool_limits(1, "blas"):  # as it asks for
        als = AlternatingLeastSquares(
            factors=dim,
            regularization=IMPLICIT_REGULARIZATION,
            use_cg=use_cg,
            iterations=0,
            num_threads=threads,
            random_state=0,
        )
        als.fit(by_user, show_progress=False)  # its initial factors

    def one_epoch() -> None:
        with threadpool_limits(1, "blas"):
            for rows, side, other in (
                (by_user, als.user_factors, als.item_factors),
                (by_item, als.item_factors, als.user_factors),
            ):
                als.solver(rows, side, other, als.regularization, num_threads=threads)

    return System(name, lambda: seconds(one_epoch), lambda: (als.user_factors, als.item_factors))


def seconds(work: Callable[[], object]) -> float:
    start = time.perf_counter()
    work()
    return time.perf_counter() - start


def matrix_of(data: Interactions, value: float) -> sp.csr_matrix:
    rows = data.by_user
    values = np.full(len(data), value, np.float32)
    return sp.csr_matrix((values, rows.columns, rows.offsets), (data.n_users, data.n_items))


def with_labels(data: Interactions, label: float) -> Interactions:
    rows = data.by_user
    labels = np.full(len(data), label, np.float32)
    users, items = data.users, data.items
    return Interactions(users, items, rows.row_numbers, rows.columns, labels, None)


def our_solver(name: str) -> Solver:
    """ "ials", "icd", "ials++", "ials++:64", "ials++block:64", "spectral", "spectral:3"."""
    kind, _, number = name.partition(":")
    size = int(number) if number else None
    if kind == "spectral":
        return SpectralCG(steps=size)
    if kind in ("ials++", "ials++block"):
        return IALSpp(block_size=size or "auto", sweep="block" if kind == "ials++block" else "side")
    return {"ials": IALS, "icd": ICD}[kind]()


def make(name: str, data: Interactions, dim: int, threads: int) -> System:
    """By the name given on the command line; a peer that is not installed raises ImportError."""
    library, _, variant = name.partition("/")
    if library == "ours":
        return ours(name, our_solver(variant), data, OBJECTIVE, dim, threads)
    if library == "ours@implicit":
        labelled = with_labels(data, 1 + OBJECTIVE.unobserved_weight)
        return ours(name, our_solver(variant), labelled, IMPLICIT_OBJECTIVE, dim, threads)
    if library == "implicit":
        return implicit(name, data, dim, threads, use_cg=variant == "cg")
    kind, _, block = variant.partition(":")
    options: dict[str, str | int] = {
        "solver_type": {"ials++": "IALSPP", "cg": "CG", "cholesky": "CHOLESKY"}[kind]
    }
    if block:
        options["ialspp_subspace_dimension"] = int(block)
    return irspack(name, data, dim, threads, **options)


def objective_of(name: str) -> tuple[Objective, float]:
    """What a system minimises: the objective, and the label of every interaction."""
    if "implicit" in name.partition("/")[0]:
        return IMPLICIT_OBJECTIVE, 1 + OBJECTIVE.unobserved_weight
    return OBJECTIVE, 1.0
