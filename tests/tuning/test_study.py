"""Studies in journals: interrupted, killed, shared, damaged."""

import os
import signal
import socket
from pathlib import Path

import pytest
from support.processes import child, finish, wait_until
from support.tuning import Planted, make_plan, run

from ialspp.errors import InvalidValueError
from ialspp.tuning import processes
from ialspp.tuning.choosing import choose
from ialspp.tuning.heartbeat import SILENCE, Heartbeat
from ialspp.tuning.result import spent_seconds
from ialspp.tuning.settings import Outcome, Settings, Trial
from ialspp.tuning.study import Study

PLAN = {"max_dim": 128, "trials": 14}
CHILD = """
    import sys, time
    from pathlib import Path
    sys.path.insert(0, sys.argv[1])
    from support.tuning import Planted, make_plan, run

    class Hanging(Planted):
        def __call__(self, settings, seed, watch):
            if len(self.calls) == int(sys.argv[3]):
                print("hangs", flush=True)
                time.sleep(1000)
            return super().__call__(settings, seed, watch)

    run(make_plan(max_dim=128, trials=14), Hanging(), Path(sys.argv[2]), resume=True)
"""


def begin_child(path, hangs_at=-1):
    from pathlib import Path

    return child(CHILD, Path(__file__).resolve().parents[1], path, hangs_at)


def found(trials):
    return [(trial.settings, trial.seed, trial.kind, trial.outcome.scores) for trial in trials]


@pytest.fixture
def journal(tmp_path):
    return tmp_path / "study.journal"


class Interrupted(Planted):
    def __call__(self, settings, seed, watch):
        if len(self.calls) == 5:
            raise KeyboardInterrupt
        return super().__call__(settings, seed, watch)


def test_a_search_that_was_interrupted_goes_on_as_if_it_had_not_been(journal):
    with pytest.raises(KeyboardInterrupt):
        run(make_plan(**PLAN), Interrupted(), journal)
    resumed = run(make_plan(**PLAN), Planted(), journal, resume=True)
    assert found(resumed) == found(run(make_plan(**PLAN), Planted()))


def test_a_kill_loses_only_the_running_trial(journal):
    process = begin_child(journal, hangs_at=4)
    assert process.stdout.readline() == "hangs\n"
    process.send_signal(signal.SIGKILL)
    finish(process)
    planted = Planted()
    resumed = run(make_plan(**PLAN), planted, journal, resume=True)
    whole = found(run(make_plan(**PLAN), Planted()))
    assert found(resumed) == whole
    assert len(planted.calls) == len(whole) - 4


def test_a_line_that_was_cut_off_is_skipped(journal):
    with pytest.raises(KeyboardInterrupt):
        run(make_plan(**PLAN), Interrupted(), journal)
    with journal.open("ab") as file:
        file.write(b'{"op_code":4,"worker')
    resumed = run(make_plan(**PLAN), Planted(), journal, resume=True)
    assert found(resumed) == found(run(make_plan(**PLAN), Planted()))


def test_processes_share_a_study(journal):
    Study(journal, {"seed": 0})
    processes = [begin_child(journal) for _ in range(2)]
    errors = [finish(process)[1] for process in processes]
    assert errors == ["", ""]
    trials = Study(journal, {"seed": 0}, resume=True).trials()
    assert len({trial.number for trial in trials}) == len(trials)
    assert 14 <= len([trial for trial in trials if trial.kind != "repeat"]) <= 15  # both may begin the last
    assert all(trial.outcome is not None for trial in trials)


def test_a_process_sees_what_another_trains_now(journal):
    process = begin_child(journal, hangs_at=3)
    try:
        assert process.stdout.readline() == "hangs\n"
        study = Study(journal, {"seed": 0}, resume=True)
        assert study.running_elsewhere() == 1
        assert len(study.trials()) == 4
    finally:
        process.kill()
        finish(process)
    wait_until(lambda: process.poll() is not None)
    assert Study(journal, {"seed": 0}, resume=True).running_elsewhere() == 0


def begun_elsewhere(journal, monkeypatch):
    """Begin a trial as a process of another machine, at second 1000."""
    study = Study(journal, {"seed": 0}, heartbeat=Heartbeat(now=lambda: 1000.0))
    plan = make_plan()
    with monkeypatch.context() as patch:
        patch.setattr(socket, "gethostname", lambda: "elsewhere")
        return study, study.begin(plan.start, 0, "search", plan.space)


def test_a_silent_process_of_another_machine_is_given_up(journal, monkeypatch):
    frozen, trial = begun_elsewhere(journal, monkeypatch)
    for second, running in ((1000.0 + SILENCE, 1), (1001.0 + SILENCE, 0)):
        study = Study(journal, {"seed": 0}, resume=True, heartbeat=Heartbeat(now=lambda now=second: now))
        assert study.running_elsewhere() == running
    frozen.end(trial, Outcome((0.5,), 1.0, "all epochs"))  # it was frozen, and goes on
    assert frozen.trials() == study.trials() == []


@pytest.fixture
def begun_by_parent(journal, monkeypatch):
    """Begin a trial at second 1000 as this process's parent, which lives; give a look at a later second."""
    plan, study = make_plan(), Study(journal, {"seed": 0}, heartbeat=Heartbeat(now=lambda: 1000.0))
    with monkeypatch.context() as patch:
        patch.setattr(os, "getpid", os.getppid)
        study.begin(plan.start, 0, "search", plan.space)

    def running_at(second):
        later = Heartbeat(now=lambda: second)
        return Study(journal, {"seed": 0}, resume=True, heartbeat=later).running_elsewhere()

    return running_at


# A system that does not say when a process began is one on which nothing is known about its number.
knows_beginnings = pytest.mark.skipif(not Path("/proc/self/stat").exists(), reason="needs /proc")


@knows_beginnings
def test_a_living_process_of_this_machine_may_be_silent(begun_by_parent):
    assert begun_by_parent(1001.0 + SILENCE) == 1


@knows_beginnings
def test_a_number_that_another_process_has_by_now_is_no_sign_of_life(begun_by_parent, monkeypatch):
    monkeypatch.setattr(processes, "_began", lambda _pid: -1)
    assert begun_by_parent(1000.0) == 0


def test_silence_counts_where_nobody_knows_when_a_process_began(monkeypatch, request):
    monkeypatch.setattr(processes, "_began", lambda _pid: None)
    running_at = request.getfixturevalue("begun_by_parent")
    assert [running_at(1000.0 + SILENCE), running_at(1001.0 + SILENCE)] == [1, 0]


@knows_beginnings
def test_a_process_whose_parent_does_not_look_has_ended():
    ended = child("")
    stat = Path(f"/proc/{ended.pid}/stat")
    wait_until(lambda: ") Z " in stat.read_text())
    described = {**processes.this_process(), "pid": ended.pid, "began": 5}
    assert processes.has_ended(described)
    finish(ended)
    assert processes.has_ended(described)


def test_a_running_trial_gives_signs_of_life(journal):
    seconds = iter(range(1000, 10**9))
    study = Study(journal, {"seed": 0}, heartbeat=Heartbeat(0.001, lambda: next(seconds)))
    plan = make_plan()
    trial = study.begin(plan.start, 0, "search", plan.space)
    wait_until(lambda: journal.read_text().count('"beat"') > 3)
    study.end(trial, Outcome((0.5,), 1.0, "all epochs"))
    assert [trial.score for trial in study.trials()] == [0.5]


def test_a_journal_is_not_begun_anew_by_mistake(journal):
    run(make_plan(trials=2), Planted(), journal)
    with pytest.raises(InvalidValueError, match="has a study already"):
        run(make_plan(trials=2), Planted(), journal)


def test_a_journal_has_one_question(journal):
    Study(journal, {"metric": "ndcg@10"})
    with pytest.raises(InvalidValueError, match="metric must be 'ndcg@10', got 'auc'"):
        Study(journal, {"metric": "auc"}, resume=True)


def test_a_finished_study_has_nothing_left_to_do(journal):
    trials = run(make_plan(**PLAN), Planted(), journal)
    planted = Planted()
    assert found(run(make_plan(**PLAN), planted, journal, resume=True)) == found(trials)
    assert planted.calls == []


def test_trainings_that_fail_are_recorded_and_never_chosen():
    class Failing(Planted):
        def __call__(self, settings, seed, watch):
            if settings.unobserved_weight > 0.1:
                return Outcome((), 0.0, "failed", error="overflow")
            return super().__call__(settings, seed, watch)

    plan = make_plan(trials=20)
    trials = run(plan, Failing(alpha=1.0))
    assert {trial.outcome.error for trial in trials if trial.outcome.ending == "failed"} == {"overflow"}
    assert choose(plan, trials).chosen.settings.unobserved_weight <= 0.1


def test_time_that_several_processes_spend_together_counts_once():
    settings = Settings(dim=4, unobserved_weight=1, regularization=1)
    spans = [(0, 10), (5, 12), (20, 21), (20.5, 20.75)]
    trials = [Trial(n, settings, 0, "search", Outcome((), 0, "failed"), span) for n, span in enumerate(spans)]
    assert spent_seconds(trials) == 13
    assert spent_seconds([]) == 0


def test_a_budget_goes_on_where_it_was():
    planted = Planted()
    trials = run(make_plan(budget=100), planted, spent=80.0)
    assert planted.now <= 20
    assert trials
