"""Searches that train several trials at a time: what is planned, what a lost worker costs, the budget."""

import pytest
from support.tuning import Planted, PlantedWorkers, make_plan, run, run_on

from ialspp.tuning.parallel import MOST_DEATHS
from ialspp.tuning.planning import final_seconds

PLAN = {"max_dim": 128, "trials": 14}


def found(trials):
    return [(trial.settings, trial.seed, trial.kind, trial.outcome.scores) for trial in trials]


@pytest.mark.parametrize("options", [PLAN, {"max_dim": 128, "budget": 400.0}], ids=["trials", "budget"])
def test_one_worker_trains_the_trials_of_one_process(options):
    alone = run(make_plan(**options), Planted())
    assert found(run_on(PlantedWorkers(Planted(), 1), make_plan(**options))) == found(alone)


@pytest.mark.parametrize("workers", [2, 5, 20])
def test_several_workers_train_as_many_trials_and_then_repeat_the_finalists(workers):
    planted = PlantedWorkers(Planted(noise=0.001), workers)
    trials = run_on(planted, make_plan(**PLAN))
    searched = [trial for trial in trials if trial.kind != "repeat"]
    assert min(workers, 8) <= planted.most <= workers
    assert len(searched) == 14
    assert len({trial.settings for trial in searched}) == 14
    best = sorted(searched, key=lambda trial: -trial.score)[:3]
    repeated = [trial for trial in trials if trial.kind == "repeat"]
    assert len(repeated) == 6
    assert {trial.settings for trial in repeated} == {trial.settings for trial in best}


@pytest.mark.parametrize("workers", [1, 3, 8])
def test_a_budget_holds_on_several_workers(workers):
    plan, planted = make_plan(max_dim=128, budget=300.0), PlantedWorkers(Planted(), workers)
    trials = run_on(planted, plan)
    assert planted.now + final_seconds(trials) <= 300 + 2  # an epoch at d = 128 may be under way
    alone = len(run(plan, Planted()))
    assert len(trials) >= alone if workers == 1 else len(trials) > 1.3 * alone


def test_a_lost_worker_costs_only_its_trial():
    planted = PlantedWorkers(Planted(), 1, kills={3, 9})
    assert found(run_on(planted, make_plan(**PLAN))) == found(run(make_plan(**PLAN), Planted()))
    assert planted.calls == 14 + 6 + 2


def test_settings_that_kill_their_workers_count_as_failed():
    kills = set(range(2, 2 + MOST_DEATHS))
    trials = run_on(PlantedWorkers(Planted(), 1, kills=kills), make_plan(**PLAN))
    (failed,) = (trial for trial in trials if trial.outcome.ending == "failed")
    assert "3 workers died while they trained it" in failed.outcome.error
    assert len([trial for trial in trials if trial.kind != "repeat"]) == 14
