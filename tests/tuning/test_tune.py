"""tune: real trainings, chosen on the validation part, tested once."""

from dataclasses import replace

import numpy as np
import pytest
from support.models import make_data

from ialspp import EarlyStopping, ImplicitMF, Interactions, Objective, evaluate, split, tune
from ialspp.errors import InvalidTypeError, InvalidValueError
from ialspp.split import HeldOut
from ialspp.split.weighting import weighted_split
from ialspp.tuning.parts import parts_of
from ialspp.tuning.settings import Settings
from ialspp.tuning.training import Trainer, objective_of

QUICK = {"trials": 5, "dim": 4, "max_dim": 8, "epochs": 3, "progress": False}
PLAIN = make_data(numbers=())
WEIGHTED = make_data(numbers=("weight",))
STRONG = split.strong(PLAIN, held_out=8, min_user=1)
WEAK = split.random(PLAIN, seed=3)
ONE = split.leave_one_out(PLAIN, pick="random", negatives=9)


def found(tuned):
    return [(trial.settings, trial.seed, trial.outcome.scores) for trial in tuned.trials]


# What is chosen, and what is tested


@pytest.mark.parametrize("parts", [STRONG, WEAK, ONE], ids=["strong", "random", "leave-one-out"])
def test_the_chosen_model_is_tested_once_on_the_split_as_it_was_given(parts):
    tuned = tune(parts, **QUICK)
    assert len(tuned.answers) == 1
    check = evaluate(tuned.model, parts, progress=False)
    assert tuned.test == {name: score.mean for name, score in check.scores.items()}
    assert "The test part was used once" in tuned.remarks()[0]


def test_the_validation_score_is_that_of_the_validation_users():
    tuned = tune(STRONG, **QUICK)
    trial = tuned.choice.chosen.trial
    judge = EarlyStopping(STRONG.validation, "ndcg@100", users=None)
    objective = objective_of(trial.settings, STRONG.train)
    ImplicitMF(trial.settings.dim, objective=objective, epochs=3).fit(
        STRONG.train, callbacks=[judge], progress=False
    )
    assert tuple(judge.scores) == trial.outcome.scores
    assert tuned.model.epochs == judge.best_epoch


def test_test_users_of_a_strong_split_change_nothing_that_is_chosen():
    other = split.strong(PLAIN, held_out=8, min_user=1)
    items = other.test.given.items
    users = other.test.given.users
    pairs = np.argwhere(np.ones((len(users), 6), dtype=bool))
    given, wanted = (
        Interactions.from_arrays(
            user=[users[u] for u, i in pairs if i % 2 == odd],
            item=[items[(u + 3 * i) % len(items)] for u, i in pairs if i % 2 == odd],
            users=list(users),
            items=list(items),
        )
        for odd in (0, 1)
    )
    changed = replace(STRONG, test=HeldOut(given, wanted, unseen=True))
    before, after = tune(STRONG, **QUICK), tune(changed, **QUICK)
    assert found(before) == found(after)
    assert before.options() == after.options()
    assert before.test != after.test


def test_test_pairs_of_known_users_change_nothing_that_is_chosen():
    train, rows = WEAK.train, WEAK.train.by_user
    rng = np.random.default_rng(0)
    unseen = [
        (u, i) for u in range(train.n_users) for i in set(range(train.n_items)) - set(rows.columns_of(u))
    ]
    tests = []
    for _ in range(2):
        chosen = [unseen[n] for n in rng.choice(len(unseen), 60, replace=False)]
        user, item = [train.users[u] for u, _ in chosen], [train.items[i] for _, i in chosen]
        tests.append(Interactions.from_arrays(user=user, item=item))
    before, after = (tune(split.given(train, test), **QUICK) for test in tests)
    assert found(before) == found(after)
    assert before.options() == after.options()
    assert before.test != after.test


def test_data_that_is_not_split_gets_a_test_part():
    tuned = tune(PLAIN, **QUICK)
    assert tuned.protocol == "random"
    assert tuned.retrained
    assert set(tuned.test) == {"recall@20", "ndcg@20"}


# The validation part


def test_a_validation_part_is_taken_in_the_way_of_the_protocol():
    times = np.random.default_rng(0).permutation(400.0 * np.arange(400))
    user, item = PLAIN.by_user.row_numbers, PLAIN.by_user.columns
    timed = Interactions.from_arrays(user=user, item=item, time=times)
    for outer in (
        split.last_item(timed),
        split.last_days(timed, 0.2),
        split.leave_one_out(timed, negatives=5),
    ):
        parts = parts_of(outer)
        assert parts.retrained
        assert len(parts.train) + len(parts.validation.wanted) <= len(outer.train)
        assert parts.validation.wanted.times.min() > parts.train.times.min()
    assert parts.validation.candidates.counts.max() == 6
    newest = parts_of(split.last_days(timed, 0.2))
    assert newest.validation.wanted.times.min() > newest.train.times.max()


def test_in_a_published_split_every_user_has_validation_pairs():
    outer = split.random(PLAIN, per_user=True)
    parts = parts_of(split.given(outer.train, outer.test.wanted))
    assert parts.described.endswith("a random tenth of each user's")
    several = {
        user for user, count in zip(outer.train.users, outer.train.by_user.counts, strict=True) if count > 1
    }
    validated = {
        user
        for user, count in zip(parts.train.users, parts.validation.wanted.by_user.counts, strict=True)
        if count
    }
    assert len(several) > 20
    assert len(several - validated) <= 2  # whose only validation item nobody else has in training


def test_in_a_published_split_with_times_the_latest_pairs_are_validated():
    times = np.random.default_rng(0).permutation(np.arange(400.0))
    user, item = PLAIN.by_user.row_numbers, PLAIN.by_user.columns
    outer = split.last_share(Interactions.from_arrays(user=user, item=item, time=times))
    for named in (outer, split.given(outer.train, outer.test.wanted)):
        parts = parts_of(named)
        assert parts.described.endswith("the latest tenth of each user's")
        latest = dict.fromkeys(range(parts.train.n_users), -1.0)
        for user, time in zip(parts.train.by_user.row_numbers, parts.train.times, strict=True):
            latest[user] = max(latest[user], time)
        held_out = parts.validation.wanted
        assert len(set(held_out.by_user.row_numbers)) > 20
        for user, time in zip(held_out.by_user.row_numbers, held_out.times, strict=True):
            assert time > latest[user]


def test_a_strong_split_keeps_its_validation_users():
    parts = parts_of(STRONG)
    assert (parts.train, parts.validation, parts.retrained) == (STRONG.train, STRONG.validation, False)


# Trainings


def test_trials_that_share_a_start_train_as_if_they_had_made_it():
    trainer = Trainer(parts_of(STRONG), "ndcg@10", ImplicitMF(), epochs=3)
    settings = [Settings(dim=4, unobserved_weight=a, regularization=0.01) for a in (0.1, 0.3, 0.1)]
    scores = [trainer(one, 0, lambda _scores: None).scores for one in settings]
    alone = [
        Trainer(parts_of(STRONG), "ndcg@10", ImplicitMF(), epochs=3)(one, 0, lambda _scores: None).scores
        for one in settings
    ]
    assert scores == alone
    assert scores[0] == scores[2] != scores[1]


def test_a_training_stops_when_it_is_told_to():
    trainer = Trainer(parts_of(STRONG), "ndcg@10", ImplicitMF(), epochs=9, patience=9)
    settings = Settings(dim=4, unobserved_weight=0.1, regularization=0.01)
    outcome = trainer(settings, 0, lambda scores: "pruned" if len(scores) == 2 else None)
    assert (len(outcome.scores), outcome.ending) == (2, "pruned")
    assert trainer(settings, 0, lambda _scores: None).ending == "all epochs"


def test_a_training_that_overflows_has_no_score():
    user, item = PLAIN.by_user.row_numbers, PLAIN.by_user.columns
    huge = Interactions.from_arrays(user=user, item=item, label=np.full(len(user), 1e30))
    trainer = Trainer(parts_of(huge), "ndcg@10", ImplicitMF(), epochs=3)
    outcome = trainer(Settings(dim=4, unobserved_weight=0.1, regularization=0), 0, lambda _scores: None)
    assert outcome.ending == "failed"
    assert "raise regularization" in outcome.error


@pytest.mark.parametrize("exponent", [0.0, 0.5, 1.0])
def test_the_penalties_of_an_exponent_sum_up_to_those_of_exponent_1(exponent):
    settings = Settings(dim=4, unobserved_weight=0.3, regularization=0.02, exponent=exponent)
    totals = [
        sum(
            float(objective.row_regularization(rows.counts, rows.n_columns).sum())
            for rows in (PLAIN.by_user, PLAIN.by_item)
        )
        for objective in (
            objective_of(settings, PLAIN),
            Objective(unobserved_weight=0.3, regularization=0.02),
        )
    ]
    assert totals[0] == pytest.approx(totals[1], rel=1e-5)


@pytest.mark.parametrize("exponent", [0.0, 0.5, 1.0])
def test_the_objective_of_a_model_is_tried_first(exponent):
    mine = Objective(unobserved_weight=0.2, regularization=0.05, exponent=exponent)
    tuned = tune(STRONG, model=ImplicitMF(objective=mine), **QUICK)
    tried = objective_of(tuned.trials[0].settings, STRONG.train)
    assert (tried.unobserved_weight, tried.exponent) == (0.2, exponent)
    assert tried.regularization == pytest.approx(0.05)


@pytest.mark.parametrize("part", ["unobserved_weight", "regularization"])
def test_an_objective_without_a_part_is_nothing_to_begin_with(part):
    with pytest.raises(InvalidValueError, match=r"must be > 0, got Objective\("):
        tune(STRONG, model=ImplicitMF(objective=Objective(**{part: 0.0})), **QUICK)


def test_a_start_of_ones_own_is_among_the_options_and_in_the_question(tmp_path):
    mine = ImplicitMF(init="random", init_stddev=0.2)
    options = tune(STRONG, model=mine, journal=tmp_path / "j", **QUICK).options()
    assert (options["init"], options["init_stddev"]) == ("random", 0.2)
    other = ImplicitMF(init="random", init_stddev=0.3)
    with pytest.raises(InvalidValueError, match=r"init_stddev must be 0\.2, got 0\.3"):
        tune(STRONG, model=other, journal=tmp_path / "j", resume=True, **QUICK)


def test_repeats_do_not_count_as_trials_in_the_progress():
    events = []
    tune(STRONG, **{**QUICK, "progress": events.append})
    assert max(event.done for event in events) == QUICK["trials"]


# Weights


def test_weights_are_searched_where_there_are_some():
    tuned = tune(split.random(WEIGHTED), **{**QUICK, "trials": 12})
    kinds = {trial.settings.weights for trial in tuned.trials}
    assert kinds == {"log", "sqrt", "clip", "linear", "none"}
    assert any(trial.settings.item_power for trial in tuned.trials)
    check = evaluate(tuned.model, weighted_split(split.random(WEIGHTED), tuned.weighting), progress=False)
    assert tuned.test == {name: score.mean for name, score in check.scores.items()}
    assert tuned.weighted(WEIGHTED).by_user.weights is not WEIGHTED.by_user.weights
    assert {trial.settings.weights for trial in tune(PLAIN, **QUICK).trials} == {"given"}


# The same again


def test_the_same_seed_gives_the_same_trials_and_scores_on_any_number_of_threads():
    first, again = (tune(STRONG, **QUICK, model=ImplicitMF(threads=threads)) for threads in (1, 2))
    assert found(first) == found(again)
    assert first.test == again.test


def test_a_study_that_is_finished_does_not_ask_the_test_part_again(tmp_path):
    journal = tmp_path / "a.journal"
    first = tune(STRONG, **QUICK, journal=journal)
    again = tune(STRONG, **QUICK, journal=journal, resume=True)
    assert found(first) == found(again)
    assert again.answers == first.answers
    with pytest.raises(InvalidValueError, match="is the study of another question: metric must be"):
        tune(STRONG, **QUICK, journal=journal, resume=True, metric="ndcg@10")
    with pytest.raises(InvalidValueError, match="is the study of another question: data must be"):
        tune(WEAK, **QUICK, journal=journal, resume=True, metric="ndcg@100")


# Mistakes


def test_mistakes_are_named():
    with pytest.raises(InvalidTypeError, match="Interactions or a Split are required, got list"):
        tune([])
    with pytest.raises(InvalidValueError, match="either budget or trials is required"):
        tune(PLAIN, budget="1m", trials=3)
    with pytest.raises(InvalidValueError, match="budget must be a number of seconds"):
        tune(PLAIN, budget="soon")
    with pytest.raises(InvalidValueError, match="max_dim must be at least 1"):
        tune(PLAIN, max_dim=0)
    with pytest.raises(InvalidValueError, match="resume=True needs the journal"):
        tune(PLAIN, resume=True)
    with pytest.raises(InvalidValueError, match="coverage"):
        tune(PLAIN, metric="coverage@10")
