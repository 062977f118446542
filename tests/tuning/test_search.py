"""The search on made-up trainings whose best settings are known."""

from types import SimpleNamespace

import pytest
from support.tuning import Moving, Planted, make_plan, run

from ialspp.tuning.choosing import Choice, Finalist, choose
from ialspp.tuning.result import _remark_on_ties
from ialspp.tuning.settings import best, done


def best_of(trials):
    return best(done(trials, "search", "polish")).settings


def within(factor, found, wanted):
    return 1 / factor <= found / wanted <= factor


@pytest.mark.parametrize("seed", range(2))
@pytest.mark.parametrize(("alpha", "lam"), [(0.05, 0.004), (0.3, 0.02), (0.01, 0.001)])
def test_a_planted_optimum_is_found(alpha, lam, seed):
    planted = Planted(alpha, lam)
    found = best_of(run(make_plan(trials=40, seed=seed), planted))
    assert planted.score(found) > 0.4 - 0.04 - 0.004
    assert within(2.5, found.unobserved_weight, alpha)
    assert within(2.5, found.regularization, lam)


@pytest.mark.parametrize(("alpha", "lam"), [(8.0, 0.004), (0.0004, 0.004), (0.05, 1.0), (0.05, 0.00003)])
def test_ranges_are_widened_where_the_best_lies_on_an_edge(alpha, lam):
    found = best_of(run(make_plan(trials=60), Planted(alpha, lam)))
    assert within(4, found.unobserved_weight, alpha)
    assert within(4, found.regularization, lam)


def test_noise_does_not_lead_it_astray():
    planted = Planted(noise=0.002)
    found = best_of(run(make_plan(trials=48), planted))
    assert Planted().score(found) > 0.36 - 0.01


def test_the_dimension_is_doubled_while_it_pays():
    trials = run(make_plan(max_dim=2048, trials=80), Planted(enough=256))
    assert {trial.settings.dim for trial in trials if trial.kind == "polish"} == {256}  # the last that paid
    assert {trial.settings.dim for trial in trials} == {64, 128, 256, 512}  # not 1024: 512 brought nothing


@pytest.mark.parametrize("seed", range(3))
def test_settings_that_a_larger_dimension_needs_are_found_far_from_the_best_of_a_smaller_one(seed):
    small, large = (
        best_of(run(make_plan(max_dim=max_dim, budget=3000, seed=seed), Moving())) for max_dim in (64, 512)
    )
    assert within(4, small.regularization, 0.0004)
    assert large.dim == 512
    assert within(4, large.regularization, 0.01)


def test_the_largest_dimension_need_not_be_a_doubled_one():
    trials = run(make_plan(max_dim=192, trials=40), Planted(enough=4096))
    assert sorted({trial.settings.dim for trial in trials}) == [64, 128, 192]
    assert {trial.settings.dim for trial in run(make_plan(max_dim=32, trials=9), Planted())} == {32}


def test_a_larger_dimension_starts_from_the_best_settings_and_stays_near():
    trials = [trial for trial in run(make_plan(max_dim=128, trials=40), Planted()) if trial.kind == "search"]
    small = best([trial for trial in trials if trial.settings.dim == 64]).settings
    large = [trial.settings for trial in trials if trial.settings.dim == 128]
    assert (large[0].unobserved_weight, large[0].regularization) == (
        small.unobserved_weight,
        small.regularization,
    )
    assert all(within(10, one.unobserved_weight, small.unobserved_weight) for one in large)


def test_a_choice_of_weights_is_found():
    kinds = ("linear", "none", "log", "sqrt", "clip")
    trials = run(make_plan(trials=50, weights=kinds), Planted(weights="sqrt"))
    assert best_of(trials).weights == "sqrt"
    assert {trial.settings.weights for trial in trials} >= set(kinds)


def test_the_exponent_is_searched_where_asked():
    assert all(trial.settings.exponent == 1 for trial in run(make_plan(trials=12), Planted()))
    found = best_of(run(make_plan(trials=60, exponent=True), Planted(exponent=0.5)))
    assert abs(found.exponent - 0.5) < 0.25


def test_the_same_seed_gives_the_same_trials_and_another_others():
    plan = make_plan(max_dim=256, trials=30)
    settings = [trial.settings for trial in run(plan, Planted())]
    assert settings == [trial.settings for trial in run(plan, Planted())]
    assert settings != [trial.settings for trial in run(make_plan(max_dim=256, trials=30, seed=1), Planted())]


def test_no_settings_are_tried_twice():
    settings = [trial.settings for trial in run(make_plan(trials=60, repeats=0), Planted())]
    assert len(set(settings)) == len(settings)


def test_the_number_of_trials_is_kept():
    for number in (1, 2, 7, 33):
        trials = run(make_plan(max_dim=512, trials=number), Planted(enough=4096))
        assert len([trial for trial in trials if trial.kind != "repeat"]) == number


# Pruning


def test_hopeless_trials_are_pruned_but_never_the_first():
    trials = run(make_plan(trials=40), Planted())
    pruned = [trial for trial in trials if trial.outcome.ending == "pruned"]
    assert pruned
    assert all(place not in range(6) for place, trial in enumerate(trials) if trial in pruned)
    best_score = best(done(trials, "search", "polish")).score
    assert all(trial.score < 0.95 * best_score for trial in pruned)
    assert all(len(trial.outcome.scores) >= 3 for trial in pruned)


# Seeds


def test_finalists_are_repeated_with_other_seeds():
    plan = make_plan(trials=20)
    trials = run(plan, Planted(noise=0.001))
    repeats = [trial for trial in trials if trial.kind == "repeat"]
    assert sorted(trial.seed for trial in repeats) == [1, 1, 1, 2, 2, 2]
    assert len({trial.settings for trial in repeats}) == 3
    choice = choose(plan, trials)
    assert [len(finalist.scores) for finalist in choice.finalists] == [3, 3, 3]
    assert 0.0002 < choice.noise < 0.003


def test_of_tied_settings_the_smallest_dimension_is_chosen():
    plan = make_plan(max_dim=128, trials=40, finalists=30, least_gain=0)
    planted = Planted(enough=64, noise=0.01)  # 128 is no better, but by chance
    choice = choose(plan, run(plan, planted))
    assert choice.chosen.settings.dim == 64
    assert choice.chosen in choice.ties


def test_without_noise_the_best_is_chosen():
    plan = make_plan(max_dim=128, trials=30)
    choice = choose(plan, run(plan, Planted()))
    assert choice.noise == pytest.approx(0, abs=1e-12)
    assert choice.chosen.settings == choice.finalists[0].settings
    assert len(choice.ties) == 1


def remark(*scores):
    """What is said of the noise of finalists with these scores, the best one first."""
    found = [Finalist(None, each, tied=number == 0) for number, each in enumerate(scores)]
    return _remark_on_ties(SimpleNamespace(choice=Choice(found, 0.001, found[0])))[0]


def test_what_was_not_repeated_is_not_said_to_be_worse():
    assert "better than the others that were repeated" in remark((0.5, 0.5), (0.4, 0.4))
    unknown = remark((0.5, 0.5), (0.4999,))
    assert "better" not in unknown
    assert unknown.endswith("There was no time to repeat 1 of the other finalists.")
    both = remark((0.5, 0.5), (0.4, 0.4), (0.4999,))
    assert "better than the others that were repeated" in both
    assert "repeat 1 of" in both
    assert remark((0.5, 0.5)) == "The noise of seeds is 0.00100."


def test_without_trials_there_is_no_choice():
    assert choose(make_plan(trials=3), []) is None


# Time


@pytest.mark.parametrize("budget", [30, 100, 1500])
@pytest.mark.parametrize("max_dim", [64, 1024])
def test_the_budget_is_held(budget, max_dim):
    planted = Planted(enough=4096)
    trials = run(make_plan(max_dim=max_dim, budget=budget), planted)
    last = best_of(trials)
    assert planted.now + 3 * planted.second * last.dim / 64 <= 1.1 * budget  # three more epochs, and the test
    assert done(trials, "search")


def test_more_time_gives_better_settings():
    scores = [
        Planted(enough=1024).score(best_of(run(make_plan(max_dim=1024, budget=budget), Planted(enough=1024))))
        for budget in (50, 500, 5000)
    ]
    assert scores == sorted(scores)
    assert scores[-1] > 0.395


def test_a_dimension_that_takes_too_long_is_not_begun():
    trials = run(make_plan(max_dim=1024, budget=300), Planted(enough=4096))
    dims = {trial.settings.dim for trial in trials}
    assert 1024 not in dims
    assert not any(trial.outcome.ending == "out of time" for trial in trials)


def test_other_settings_come_before_other_seeds_where_time_is_short():
    trials = run(make_plan(budget=5 * 5 + 1), Planted())  # five trainings, of which the last one and a half
    assert [trial.kind for trial in trials][:3] == ["search"] * 3  # are for the chosen model


def test_a_training_that_would_pass_the_end_is_stopped():
    planted = Planted(second=100)
    trials = run(make_plan(budget=150), planted)
    assert [trial.outcome.ending for trial in trials] == ["out of time"]
    assert planted.now <= 200


class Dip(Planted):
    """A training that is unlucky at d = 128."""

    def score(self, settings, seed=0):
        return super().score(settings, seed) - 0.05 * (settings.dim == 128)


def test_time_that_is_left_goes_to_the_next_larger_dimension():
    trials = run(make_plan(max_dim=512, budget=3000), Dip(enough=512))
    assert best_of(trials).dim == 512
    trials = run(make_plan(max_dim=512, trials=60), Dip(enough=512))  # no time is left of a number of trials
    assert {trial.settings.dim for trial in trials} == {64, 128}
