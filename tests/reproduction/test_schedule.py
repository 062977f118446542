"""How long a measurement will take, and the way through a grid within a budget of time."""

import json
import re
from dataclasses import replace
from itertools import groupby
from math import inf

import numpy as np
import pytest
from support.made_up_runs import MACHINE, ML20M, SETTINGS, made_up

from ialspp import Interactions
from reproduction.benchmark import strong_benchmark
from reproduction.complexity import work_on
from reproduction.estimates import Estimates
from reproduction.grid import DIMS, Configuration, Grid, TimingTask, TrainingTask
from reproduction.journal import FILE, Journal
from reproduction.measure import Workbench
from reproduction.run import Timing, Training
from reproduction.schedule import LONG, Schedule, outstanding

EPOCHS = 2
NOTHING = made_up(None, None)


def tasks_in(file):
    """Those that were measured, in the order of the file."""
    tasks = []
    for line in map(json.loads, file.read_text(encoding="utf-8").splitlines()):
        if line["kind"] in ("timing", "training"):
            own = Configuration(line["dim"], line["block"])
            is_timing = line["kind"] == "timing"
            tasks.append(
                TimingTask(own, line["share"], line["round"])
                if is_timing
                else TrainingTask(own, line["seed"])
            )
    return tasks


# How long it will take


@pytest.fixture(scope="module")
def estimates():
    return lambda *measured: learned(Estimates(ML20M, 16), measured)


def learned(estimates, measured):
    for each in measured:
        estimates.learn(each)
    return estimates


def test_before_anything_is_measured_more_work_is_expected_to_take_longer(estimates):
    nothing, grid = estimates(), Grid.of(DIMS, (), 1, 1)
    seconds = {task: nothing.seconds(task) for task in [*grid.timings(), *grid.trainings()]}
    assert all(0 < each < inf for each in seconds.values())
    for block in (1, 32, None, "d"):
        own = [TrainingTask(Configuration(dim, dim if block == "d" else block), 0) for dim in DIMS]
        assert sorted(own, key=seconds.__getitem__) == own
    for own in grid.all:
        assert seconds[TrainingTask(own, 0)] > 16 * seconds[TimingTask(own, 1.0, 0)]


@pytest.mark.parametrize("block", [1, 32, 128, None])
def test_a_measured_time_is_expected_again_and_other_work_in_proportion(block, estimates):
    own = Configuration(128, block)
    known = estimates(Timing(TimingTask(own, 1.0, 0), 7.0))
    assert known.seconds(TimingTask(own, 1.0, 1)) == pytest.approx(7)
    larger = Configuration(256, 256 if block == 128 else block)
    wanted = 7 * work_on(ML20M, larger) / work_on(ML20M, own)
    assert known.seconds(TimingTask(larger, 1.0, 0)) == pytest.approx(wanted)
    wanted = 7 * work_on(ML20M, own, 0.5) / work_on(ML20M, own)
    assert known.seconds(TimingTask(own, 0.5, 0)) == pytest.approx(wanted)


def test_the_nearest_configuration_of_the_same_solver_counts(estimates):
    slow, fast = Configuration(128, 64), Configuration(128, 8)
    known = estimates(Timing(TimingTask(slow, 1.0, 0), 900.0), Timing(TimingTask(fast, 1.0, 0), 1.0))
    near = Configuration(256, 64)
    wanted = 900 * work_on(ML20M, near) / work_on(ML20M, slow)
    assert known.seconds(TimingTask(near, 1.0, 0)) == pytest.approx(wanted)
    others = [Configuration(128, 1), Configuration(128, 128), Configuration(128, None)]
    for task in (TimingTask(other, 1.0, 0) for other in others):
        assert known.seconds(task) == estimates().seconds(task)


def test_a_training_takes_its_epochs_and_its_evaluations(estimates):
    task = TrainingTask(Configuration(128, 128), 0)
    done = Training(task, (2.0,) * 16, (1.0,) * 16, {"ndcg@100": (0.1,) * 16}, evaluating=48.0)
    assert estimates(done).seconds(replace(task, seed=1)) == pytest.approx(16 * (2 + 3))


# The way through the grid


@pytest.fixture(scope="module")
def benchmark():
    """60 users with 10 of 30 items each."""
    rng = np.random.default_rng(0)
    items = np.concatenate([rng.choice(30, 10, replace=False) for _ in range(60)])
    return strong_benchmark("mine", Interactions.from_arrays(user=np.repeat(range(60), 10), item=items), 1.0)


@pytest.fixture
def going_on(benchmark, tmp_path):
    """Carry a grid out, after some measurements that are there already."""
    settings = replace(SETTINGS, epochs=EPOCHS)

    def carry_out(grid, *before, budget=None, progress=False):
        journal = Journal(tmp_path, benchmark.data(), settings, MACHINE, "2026-01-02")
        journal.plan(grid, "make reproduce")
        for measured in before:
            journal.add(measured)
        Schedule(journal, Workbench(benchmark.split, settings, 1), grid, budget).carry_out(progress)
        return journal.run()

    return carry_out


def test_all_is_measured_in_four_phases_each_the_cheapest_first(going_on, tmp_path):
    grid = Grid.of((4, 8), (), seeds=2, rounds=2)
    run = going_on(grid)
    measured = {each.task: each for each in run.measurements}
    known, order = Estimates(run.data, EPOCHS), iter(tasks_in(tmp_path / FILE))
    for phase in outstanding(NOTHING, grid):
        todo = set(phase)
        while todo:
            task = next(order)
            assert known.seconds(task) == min(map(known.seconds, todo))
            todo.remove(task)
            known.learn(measured[task])
    assert list(order) == []
    assert run.left_out() == []


def test_phases_are_times_trainings_and_both_again():
    grid = Grid.of((4,), (), seeds=3, rounds=3)
    first, second, third, fourth = outstanding(NOTHING, grid)
    assert {(type(task), task.round > 0) for task in first} == {(TimingTask, False)}
    assert {(type(task), task.seed > 0) for task in second} == {(TrainingTask, False)}
    assert {(type(task), task.round > 0) for task in third} == {(TimingTask, True)}
    assert {(type(task), task.seed > 0) for task in fourth} == {(TrainingTask, True)}
    assert {*first, *second, *third, *fourth} == {*grid.timings(), *grid.trainings()}


def test_what_is_measured_is_not_measured_again(going_on, tmp_path):
    narrow, wide = Grid.of((4,), (), seeds=1, rounds=1), Grid.of((4, 8), (1, 0), seeds=2, rounds=1)
    going_on(narrow)
    before = (tmp_path / FILE).read_bytes()
    run = going_on(wide)
    after = (tmp_path / FILE).read_bytes()
    assert after.startswith(before)
    assert run.left_out() == []
    order = tasks_in(tmp_path / FILE)
    assert len(order) == len(set(order))
    assert set(order) == {*narrow.timings(), *narrow.trainings(), *wide.timings(), *wide.trainings()}
    assert going_on(wide) == run
    assert (tmp_path / FILE).read_bytes() == after


def test_what_is_expected_to_take_longer_than_is_left_is_left_out(going_on):
    """The iCD epoch of 100,000 s was never one; but nobody knows when time is planned."""
    slow = TimingTask(Configuration(8, 1), 1.0, 0)
    run = going_on(Grid.of((8, 16), (), seeds=2, rounds=1), Timing(slow, 1e5), budget=1000)
    assert {task.configuration for task in run.left_out()} == {Configuration(8, 1), Configuration(16, 1)}
    assert {task for task in run.left_out() if isinstance(task, TimingTask)} == {
        TimingTask(Configuration(16, 1), share, 0) for share in (1.0, 0.5, 0.25)
    }
    assert len([task for task in run.left_out() if isinstance(task, TrainingTask)]) == 4
    assert len(run.timed()) == 10
    assert len(run.trained()) == 9


def test_nothing_is_started_that_cannot_end_in_time(going_on):
    grid = Grid.of((4, 8), (), seeds=1, rounds=1)
    run = going_on(grid, budget=1e-9)
    assert run.measurements == ()
    assert set(run.left_out()) == {*grid.timings(), *grid.trainings()}
    assert going_on(grid).left_out() == []


def test_what_fits_in_the_end_is_not_left_out(going_on, benchmark):
    """An epoch is expected to take 600 s of 1000, of which nothing else needs much."""
    grid = Grid.of((4, 8), (0,), seeds=1, rounds=1)
    small, large = Configuration(4, 4), Configuration(8, 8)
    ratio = work_on(benchmark.data(), large) / work_on(benchmark.data(), small)
    before = [Timing(TimingTask(large, share, 0), 600 * ratio) for share in (0.25, 0.5, 1.0)]
    run = going_on(grid, *before, budget=1000)
    assert TimingTask(small, 1.0, 0) not in run.left_out()


def test_a_long_epoch_is_timed_once(going_on):
    own = Configuration(4, 1)
    long = [Timing(TimingTask(own, share, 0), 9 * LONG) for share in (0.25, 0.5, 1.0)]
    run = going_on(Grid.of((4,), (), seeds=0, rounds=3), *long)
    rounds = {c: {t.task.round for t in run.timings if t.task.configuration == c} for c in run.timed()}
    assert rounds.pop(own) == {0}
    assert list(rounds.values()) == [{0, 1, 2}] * 3
    assert run.left_out() == []


def test_what_everything_would_take_is_the_sum_of_all_that_is_missing(benchmark, tmp_path):
    grid, settings = Grid.of((4, 8), (), seeds=1, rounds=1), replace(SETTINGS, epochs=EPOCHS)
    journal = Journal(tmp_path, benchmark.data(), settings, MACHINE, "2026-01-02")
    done = Timing(TimingTask(Configuration(8, 8), 1.0, 0), 5.0)
    journal.add(done)
    known = learned(Estimates(benchmark.data(), EPOCHS), [done])
    missing = [task for task in [*grid.timings(), *grid.trainings()] if task != done.task]
    schedule = Schedule(journal, Workbench(benchmark.split, settings, 1), grid, None)
    assert schedule.expected() == pytest.approx(sum(map(known.seconds, missing)))


def test_rounds_are_the_same_epoch_of_all_the_pairs_or_a_share(going_on):
    run = going_on(Grid.of((4, 8), (), seeds=0, rounds=2))
    assert all(t.seconds > 0 for t in run.timings)
    by_share = groupby(sorted(run.timings, key=lambda t: t.task.share), lambda t: t.task.share)
    counts = {share: len({t.task.configuration for t in own}) for share, own in by_share}
    assert counts == {0.25: 4, 0.5: 4, 1.0: 4 + 5}


def test_progress_says_what_is_done_what_begins_and_the_time_left(going_on):
    grid, events = Grid.of((4,), (0,), seeds=1, rounds=1), []
    going_on(grid, progress=events.append)
    tasks = [*grid.timings(), *grid.trainings()]
    assert [(event.task, event.done) for event in events] == [("measuring", i) for i in range(len(tasks))]
    assert {event.total for event in events} == {len(tasks)}
    notes = [event.note.partition("; about 0:00:0") for event in events]
    assert sorted(note[0] for note in notes) == sorted(map(str, tasks))
    assert all(re.fullmatch(r"\d left", note[2]) for note in notes)


class Forgetful(Workbench):
    """One on which iALS does not fit into memory."""

    def carry_out(self, task):
        if task.configuration.solver == "iALS":
            raise MemoryError
        return super().carry_out(task)


def test_a_task_that_runs_out_of_memory_does_not_stop_the_others(benchmark, tmp_path):
    grid, settings = Grid.of((4, 8), (), seeds=1, rounds=1), replace(SETTINGS, epochs=EPOCHS)
    journal = Journal(tmp_path, benchmark.data(), settings, MACHINE, "2026-01-02")
    journal.plan(grid, "make reproduce")
    failed = Schedule(journal, Forgetful(benchmark.split, settings, 1), grid, None).carry_out(progress=False)
    wanted = {t for t in [*grid.timings(), *grid.trainings()] if t.configuration.solver == "iALS"}
    assert {task for task, _ in failed} == wanted == set(journal.run().left_out())
    assert {type(error) for _, error in failed} == {MemoryError}
