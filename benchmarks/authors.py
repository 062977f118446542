"""The authors' own program for iALS++, one epoch at a time.

The program is not part of this repository. Build `ialspp_main` from the folder ials/vae_benchmarks of
https://github.com/google-research/google-research as its Makefile does, and give its path to bench.py as
--authors.

The program trains without a pause and prints a line after each epoch. So that it does not run beside the
other systems, it is stopped at that line (SIGSTOP) and goes on (SIGCONT) when its next epoch is due. It
prints its loss after every half of a block, and how long that took, which its seconds here do not include.
The first epoch includes drawing the initial factors. The program draws them with another seed in every run,
and its loss is a sum in single precision.
"""

from __future__ import annotations

import os
import re
import signal
import subprocess
import tempfile
import time
from pathlib import Path

import numpy as np
from cases import Task

READ = re.compile(r"max_user=.*num_tuples=(\d+)")
LOSS = re.compile(r"Loss=([0-9.]+),.* Time=(\d+)")


class Program:
    """The running program, which stands still between epochs."""

    def __init__(self, path: Path, task: Task, dim: int, threads: int, block: int) -> None:
        if threads != len(os.sched_getaffinity(0)):
            raise ValueError(f"the authors' program uses every CPU; leave out --threads {threads}")
        if task.data.by_user.weights is not None:
            raise NotImplementedError("it knows no weights")
        self.path, self.loss = path, float("nan")
        self.folder = tempfile.TemporaryDirectory(prefix="ialspp-authors-")
        self.process = subprocess.Popen(
            [path, *self.flags(task, dim, block)], stdout=subprocess.PIPE, text=True
        )
        try:
            self.start(len(task.data))
        except BaseException:
            self.close()
            raise

    def start(self, n_required: int) -> None:
        """Wait until it has read its data."""
        n_pairs, *_ = (int(self.match(READ, self.line())[1]) for _ in range(3))  # training data, evaluation
        if n_pairs != n_required:
            raise RuntimeError(f"{self.path} read {n_pairs} of {n_required} pairs")
        self.process.send_signal(signal.SIGSTOP)

    def flags(self, task: Task, dim: int, block: int) -> list[str]:
        rows, folder = task.data.by_user, Path(self.folder.name)
        pairs = np.column_stack([rows.row_numbers, rows.columns])
        values = {
            "embedding_dim": dim,
            "block_size": block,
            "epochs": 1_000_000,  # until `close`
            "unobserved_weight": task.objective.unobserved_weight,
            "regularization": task.objective.regularization,
            "regularization_exp": task.objective.exponent,
            "stddev": 0.1,
            "print_train_stats": 1,
            "eval_during_training": 0,
        }
        for name, part in {
            "train_data": pairs,
            "test_train_data": pairs[:1],
            "test_test_data": pairs[1:2],
        }.items():
            values[name] = folder / f"{name}.csv"
            np.savetxt(values[name], part, fmt="%d", delimiter=",", header="user,item", comments="")
        return [word for name, value in values.items() for word in (f"--{name}", str(value))]

    def epoch(self) -> float:
        """Let it do an epoch, and return the seconds without those of its losses."""
        begin, losses = time.perf_counter(), 0.0
        self.process.send_signal(signal.SIGCONT)
        while not (line := self.line()).startswith("Timer:"):
            loss, milliseconds = self.match(LOSS, line).groups()
            self.loss, losses = float(loss), losses + int(milliseconds) / 1000
        self.process.send_signal(signal.SIGSTOP)
        return time.perf_counter() - begin - losses

    def line(self) -> str:
        line = self.process.stdout.readline()
        if not line:
            raise RuntimeError(f"{self.path} ended with status {self.process.wait()}")
        return line

    def match(self, pattern: re.Pattern[str], line: str) -> re.Match[str]:
        found = pattern.match(line)
        if found is None:
            raise RuntimeError(f"{self.path} printed {line!r}, which does not match {pattern.pattern!r}")
        return found

    def close(self) -> None:
        self.process.kill()
        self.process.communicate()
        self.folder.cleanup()
