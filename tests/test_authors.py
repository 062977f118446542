"""How the benchmark drives the paper's authors' program, shown on a program that prints the same lines."""

import os
import sys
import time
from pathlib import Path

import numpy as np
import pytest

sys.path.insert(0, str(Path(__file__).parent.parent / "benchmarks"))  # its modules import each other by name
from authors import Program
from cases import Task, load, with_values

SCRIPT = """#!{python}
import pathlib, sys
flags = dict(zip(sys.argv[1::2], sys.argv[2::2]))
for name in ("--train_data", "--test_train_data", "--test_test_data"):
    pairs = pathlib.Path(flags[name]).read_text().splitlines()[1:]
    print(f"max_user=1\\tmax_item=1\\tdistinct user=1\\tnum_tuples={{len(pairs) - {missing}}}", flush=True)
for epoch in range(int(flags["--epochs"])):
    for half in range(2):
        loss = 1000.5 - 10 * epoch - half
        print(f"Loss={{loss}}, Loss_observed=1.0 Loss_reg=1.0 Time={milliseconds}", flush=True)
    print("Timer: Train=1\\tEval=0", flush=True)
"""
THREADS = len(os.sched_getaffinity(0))


@pytest.fixture(name="task")
def small_task():
    return load("ml20m", 0.02, Path()).tasks["ours"]


@pytest.fixture(name="program_of")
def a_program(tmp_path):
    """Write the script, and start it as bench.py does."""
    started = []

    def start(task, milliseconds=0, missing=0):
        path = tmp_path / "program"
        path.write_text(SCRIPT.format(python=sys.executable, milliseconds=milliseconds, missing=missing))
        path.chmod(0o755)
        started.append(Program(path, task, 8, THREADS, 4))
        return started[-1]

    yield start
    for program in started:
        program.close()


def test_the_loss_is_that_after_the_last_block_of_each_epoch(task, program_of):
    program = program_of(task)
    assert [(program.epoch() > 0, program.loss) for _ in range(3)] == [
        (True, 999.5),
        (True, 989.5),
        (True, 979.5),
    ]


def test_the_program_stands_still_between_epochs(task, program_of):
    program = program_of(task)
    program.epoch()
    while " T " not in Path(f"/proc/{program.process.pid}/stat").read_text():
        time.sleep(0.01)  # the signal is on its way


def test_the_seconds_of_computing_losses_are_taken_off(task, program_of):
    program = program_of(task, milliseconds=50000)
    assert program.epoch() < -50  # two losses that are said to have taken 50 seconds each


def test_pairs_that_were_not_read_are_an_error(task, program_of):
    with pytest.raises(RuntimeError, match=f"read {len(task.data) - 1} of {len(task.data)} pairs"):
        program_of(task, missing=1)


def test_other_numbers_of_threads_are_refused(task):
    with pytest.raises(ValueError, match="every CPU"):
        Program(Path("program"), task, 8, THREADS + 1, 4)


def test_weights_are_refused_so_that_the_race_goes_on_without_it(task):
    weighted = with_values(task.data, None, np.full(len(task.data), 2.0))
    with pytest.raises(NotImplementedError, match="weights"):
        Program(Path("program"), Task(task.loss_name, weighted, task.objective), 8, THREADS, 4)
