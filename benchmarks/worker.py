"""Trains with another version of ialspp, in the interpreter where that version is installed.

    PYTHON worker.py FOLDER

FOLDER/task.npz holds the data and the settings (`write_task`). Each line of standard input is a command,
answered by a line of standard output once it is done:

    start      make the initial factors; seconds by the task's clock (`CLOCKS`)
    epoch      run an epoch; seconds
    last       run an epoch that no other will follow; seconds
    factors    write FOLDER/users.npy and FOLDER/items.npy; "done"

This file must run with every version of ialspp that may be compared, so it uses only what all of them have.
"""

from __future__ import annotations

import inspect
import sys
import time
from collections.abc import Callable
from pathlib import Path

import numpy as np

from ialspp import ImplicitMF, Interactions, Objective
from ialspp.solvers import Problem

# Seconds that passed, or on a machine with other work, the CPU seconds of this process for each thread: what
# would have passed if all threads had always had a CPU of their own. Waiting for each other is not in them.
CLOCKS: dict[str, Callable[[int], float]] = {
    "wall": lambda _: time.perf_counter(),
    "cpu": lambda threads: time.process_time() / threads,
}


class Training:
    """The default solver of this version from its default start, an epoch at a time."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        with np.load(folder / "task.npz") as task:
            self.data = data_of(task)
            self.objective = Objective(
                unobserved_weight=float(task["unobserved_weight"]),
                regularization=float(task["regularization"]),
                exponent=float(task["exponent"]),
            )
            self.threads = int(task["threads"])
            self.clock = CLOCKS[str(task["clock"])]
            self.model = ImplicitMF(int(task["dim"]), objective=self.objective, threads=self.threads)
        _ = self.data.by_item  # made when first used, and no part of the start
        warm_up(self.threads)
        self.records: list[object] = []

    def start(self) -> float:
        begin = self.clock(self.threads)
        self.sides = self.model.initial_factors(self.data)
        spent = self.clock(self.threads) - begin
        self.problem = Problem.of(self.data, self.objective, *self.sides, self.threads)
        return spent

    def epoch(self, last: bool = False) -> float:
        # Versions before the relaxation knew neither `past` nor `last`.
        knows_past = "past" in inspect.signature(self.model.run_epoch).parameters
        options = {"past": list(self.records), "last": last} if knows_past else {}
        begin = self.clock(self.threads)
        self.records.append(self.model.run_epoch(self.problem, **options))
        return self.clock(self.threads) - begin

    def factors(self) -> str:
        for name, side in zip(("users", "items"), self.sides, strict=True):
            np.save(self.folder / f"{name}.npy", side)
        return "done"


def warm_up(threads: int) -> None:
    """Fit a tiny model, so that modules and threads are there before anything is timed."""
    data = Interactions.from_arrays(user=[0, 0, 1], item=[0, 1, 1])
    ImplicitMF(2, epochs=1, threads=threads).fit(data, progress=False)


def write_task(
    folder: Path, data: Interactions, objective: Objective, dim: int, threads: int, clock: str = "wall"
) -> None:
    """Write what `Training` reads: called by the process that started this one."""
    rows = data.by_user
    values = {"labels": rows.labels, "weights": rows.weights}
    np.savez(
        folder / "task.npz",
        offsets=rows.offsets,
        columns=rows.columns,
        n_items=data.n_items,
        unobserved_weight=objective.unobserved_weight,
        regularization=objective.regularization,
        exponent=objective.exponent,
        dim=dim,
        threads=threads,
        clock=clock,
        **{name: array for name, array in values.items() if array is not None},
    )


def data_of(task: np.lib.npyio.NpzFile) -> Interactions:
    n_users = len(task["offsets"]) - 1
    return Interactions.from_arrays(
        user=np.repeat(np.arange(n_users), np.diff(task["offsets"])),
        item=task["columns"],
        users=np.arange(n_users),
        items=np.arange(int(task["n_items"])),
        label=task.get("labels"),
        weight=task.get("weights"),
    )


def main() -> None:
    training = Training(Path(sys.argv[1]))
    commands = {
        "start": training.start,
        "epoch": training.epoch,
        "last": lambda: training.epoch(last=True),
        "factors": training.factors,
    }
    for line in sys.stdin:
        print(commands[line.strip()](), flush=True)


if __name__ == "__main__":
    main()
