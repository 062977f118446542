"""What is compared: our solvers and the peers', each doing one epoch at a time on the same data.

irspack's "IALSPP" loss and the authors' loss are ours, with the same alpha0, lambda and nu. implicit and
LensKit minimise another loss (`cases.py`). RecTools trains with implicit.
Reading and transposing the data is not timed, because every system needs it. Making the initial factors is.

cmfrec 3.5.1 is not among the peers. Its Cholesky solver minimises implicit's loss, but its conjugate
gradients do not: their first residual has x + 1 where the normal equations have x, and x where they have
x + 1 (c = x + 1 is an observed pair's weight). So they converge to the minimum of another loss, 4.6 % above
L* on 2 % of ML20M's shape at d = 16. Spark's ALS is not among them either: it multiplies lambda by a row's
number of interactions, and neither our loss nor implicit's can do that while alpha0 is not zero.
"""

from __future__ import annotations

import os
import subprocess
import tempfile
from collections.abc import Callable
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
import scipy.sparse as sp
import worker
from authors import Program
from cases import IMPLICITS, OURS, Case, Task, weights_of

from ialspp import IALS, ICD, IALSpp, ImplicitMF, Interactions, SpectralCG
from ialspp.model.history import EpochRecord
from ialspp.solvers import Problem, Solver

clock_name = "wall"  # of worker.CLOCKS: how all systems are timed

WITH_IMPLICITS_LOSS = ("implicit", "lenskit", "ours@implicit", "before@implicit")


@dataclass
class System:
    """One contender while it trains."""

    name: str
    start_seconds: float  # of making the initial factors
    epoch: Callable[[bool], float]  # does one, told whether it is the last; seconds
    factors: Callable[[], tuple[np.ndarray, np.ndarray]] | None = None
    close: Callable[[], None] = lambda: None
    own_loss: Callable[[], float] | None = None  # of a program whose factors cannot be read


def ours(name: str, solver: Solver, task: Task, dim: int, threads: int) -> System:
    """Our epochs, the exact loss included."""
    model = ImplicitMF(dim=dim, solver=solver, objective=task.objective, threads=threads)
    _ = task.data.by_item  # the transposition
    worker.warm_up(threads)
    (users, items), start_seconds = timed(lambda: model.initial_factors(task.data), threads)
    problem = Problem.of(task.data, task.objective, users, items, threads)
    records: list[EpochRecord] = []

    def epoch(last: bool) -> float:
        record, seconds = timed(lambda: model.run_epoch(problem, past=list(records), last=last), threads)
        records.append(record)
        return seconds

    return System(name, start_seconds, epoch, lambda: (users, items))


class Worker:
    """The process of an earlier version of ours; it waits while others train."""

    def __init__(self, python: Path, task: Task, dim: int, threads: int) -> None:
        self.python = python
        self.folder = tempfile.TemporaryDirectory(prefix="ialspp-before-")
        self.path = Path(self.folder.name)
        worker.write_task(self.path, task.data, task.objective, dim, threads, clock_name)
        command = [python, Path(worker.__file__), self.path]
        self.process = subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True)

    def answer(self, command: str) -> str:
        with suppress(BrokenPipeError):  # the process is gone; no answer tells the same
            print(command, file=self.process.stdin, flush=True)
        line = self.process.stdout.readline()
        if not line:
            raise RuntimeError(f"{self.python} failed in worker.py; its own message is above")
        return line

    def factors(self) -> tuple[np.ndarray, np.ndarray]:
        self.answer("factors")
        return np.load(self.path / "users.npy"), np.load(self.path / "items.npy")

    def close(self) -> None:
        self.process.communicate()  # the end of its input ends it
        self.folder.cleanup()


def before(name: str, python: Path, task: Task, dim: int, threads: int) -> System:
    """Epochs of an earlier version of ours, with its default solver and start."""
    process = Worker(python, task, dim, threads)
    return System(
        name,
        float(process.answer("start")),
        lambda last: float(process.answer("last" if last else "epoch")),
        process.factors,
        process.close,
    )


def authors(name: str, path: Path, task: Task, dim: int, threads: int, block: int) -> System:
    """Epochs of the paper's authors' program, without its losses."""
    program = Program(path, task, dim, threads, block)
    return System(name, 0.0, lambda _: program.epoch(), close=program.close, own_loss=lambda: program.loss)


def irspack(name: str, task: Task, dim: int, threads: int, **solver: str | int) -> System:
    """irspack's epochs, without its loss."""
    from irspack.recommenders import IALSRecommender

    matrix = matrix_of(task.data, weights_of(task.data))

    def trainer_of(dim: int) -> Any:
        recommender = IALSRecommender(
            matrix,
            n_components=dim,
            alpha0=task.objective.unobserved_weight,
            reg=task.objective.regularization,
            nu=task.objective.exponent,
            n_threads=threads,
            **solver,
        )
        return recommender._create_trainer()

    trainer, start_seconds = drawn(trainer_of, dim, threads)
    core = trainer.core_trainer
    return System(
        name,
        start_seconds,
        lambda _: timed(trainer.run_epoch, threads)[1],
        lambda: (np.array(core.user), np.array(core.item)),
    )


def implicit(name: str, task: Task, dim: int, threads: int, use_cg: bool) -> System:
    """implicit's epochs: what its fit does in each iteration."""
    from implicit.cpu.als import AlternatingLeastSquares
    from threadpoolctl import threadpool_limits

    alpha0 = task.objective.unobserved_weight
    by_user = matrix_of(task.data, 1 + weights_of(task.data) / alpha0).copy()  # it wants to be able to write
    by_item = by_user.T.tocsr()

    def untrained(dim: int) -> AlternatingLeastSquares:
        als = AlternatingLeastSquares(
            factors=dim,
            regularization=task.objective.regularization / alpha0,
            use_cg=use_cg,
            iterations=0,
            num_threads=threads,
            random_state=0,
        )
        with threadpool_limits(1, "blas"):  # as it asks for
            als.fit(by_user, show_progress=False)  # its initial factors
        return als

    als, start_seconds = drawn(untrained, dim, threads)

    def one_epoch() -> None:
        with threadpool_limits(1, "blas"):
            for rows, side, other in (
                (by_user, als.user_factors, als.item_factors),
                (by_item, als.item_factors, als.user_factors),
            ):
                als.solver(rows, side, other, als.regularization, num_threads=threads)

    return System(
        name,
        start_seconds,
        lambda _: timed(one_epoch, threads)[1],
        lambda: (als.user_factors, als.item_factors),
    )


def lenskit(name: str, task: Task, dim: int, threads: int) -> System:
    """LensKit's epochs: what the training of its `ImplicitMFScorer` repeats."""
    import pandas as pd
    from lenskit.als import ImplicitMFScorer
    from lenskit.data import from_interactions_df
    from lenskit.training import TrainingOptions

    if task.data.by_user.weights is not None:
        raise NotImplementedError("its weight is one number for all pairs")
    os.environ["LK_NUM_THREADS"] = str(threads)  # read when the first trainer is made
    alpha0, rows = task.objective.unobserved_weight, task.data.by_user
    data = from_interactions_df(pd.DataFrame({"user_id": rows.row_numbers, "item_id": rows.columns}))

    def trainer_of(dim: int) -> Any:
        scorer = ImplicitMFScorer(
            embedding_size=dim, weight=1 / alpha0, regularization=task.objective.regularization / alpha0
        )
        return scorer.create_trainer(data, TrainingOptions(rng=0))

    trainer, start_seconds = drawn(trainer_of, dim, threads)
    users, items = (np.asarray(each.ids()) for each in (data.users, data.items))

    def factors() -> tuple[np.ndarray, np.ndarray]:
        """Put the rows of LensKit, which has none for an id without interactions, in the order of ours."""
        sides = np.zeros((task.data.n_users, dim), np.float32), np.zeros((task.data.n_items, dim), np.float32)
        sides[0][users], sides[1][items] = trainer.scorer.user_embeddings, trainer.scorer.item_embeddings
        return sides

    return System(name, start_seconds, lambda _: timed(trainer.train_epoch, threads)[1], factors)


def drawn(make: Callable[[int], Any], dim: int, threads: int) -> tuple[Any, float]:
    """Make a peer's untrained model; the seconds are those of drawing its factors.

    Peers transpose the data in the same call. A model of one dimension does the same without much to draw,
    so its seconds are subtracted.
    """
    _, without = timed(lambda: make(1), threads)
    made, seconds = timed(lambda: make(dim), threads)
    return made, max(0.0, seconds - without)


def timed(work: Callable[[], Any], threads: int) -> tuple[Any, float]:
    """Return what `work` returns, and its seconds."""
    clock = worker.CLOCKS[clock_name]
    start = clock(threads)
    result = work()
    return result, clock(threads) - start


def matrix_of(data: Interactions, values: np.ndarray | float) -> sp.csr_matrix:
    rows = data.by_user
    each = np.broadcast_to(np.float32(values), len(data)).copy()
    return sp.csr_matrix((each, rows.columns, rows.offsets), (data.n_users, data.n_items))


def our_solver(name: str) -> Solver:
    """ "ials", "icd", "ials++", "ials++:64", "ials++block:64", "spectral", "spectral:3"."""
    kind, _, number = name.partition(":")
    size = int(number) if number else None
    if kind == "spectral":
        return SpectralCG(steps=size)
    if kind in ("ials++", "ials++block"):
        return IALSpp(block_size=size or "auto", sweep="block" if kind == "ials++block" else "side")
    return {"ials": IALS, "icd": ICD}[kind]()


def make(
    name: str,
    case: Case,
    dim: int,
    threads: int,
    python_before: Path | None = None,
    authors_program: Path | None = None,
) -> System:
    """By the name given on the command line; a peer that is not installed raises ImportError."""
    library, _, variant = name.partition("/")
    task = case.tasks[loss_of(name)]
    if library.startswith("ours"):
        return ours(name, our_solver(variant), task, dim, threads)
    if library.startswith("before"):
        if python_before is None or variant != "spectral":
            raise ValueError(f"{name}: an earlier version needs --before, and has its default solver only")
        return before(name, python_before, task, dim, threads)
    if library == "implicit":
        return implicit(name, task, dim, threads, use_cg=variant == "cg")
    if library == "lenskit":
        return lenskit(name, task, dim, threads)
    kind, _, block = variant.partition(":")
    if library == "authors":
        if authors_program is None or kind != "ials++":
            raise ValueError(f"{name}: the authors' program needs --authors, and has iALS++ only")
        return authors(name, authors_program, task, dim, threads, int(block))
    options: dict[str, str | int] = {
        "solver_type": {"ials++": "IALSPP", "cg": "CG", "cholesky": "CHOLESKY"}[kind]
    }
    if block:
        options["ialspp_subspace_dimension"] = int(block)
    return irspack(name, task, dim, threads, **options)


def loss_of(name: str) -> str:
    """Which of the two losses a system minimises."""
    return IMPLICITS if name.partition("/")[0] in WITH_IMPLICITS_LOSS else OURS
