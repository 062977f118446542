"""EarlyStopping: a fit stops once its ranking no longer gets better, and keeps the best epoch."""

import copy

import numpy as np
import pytest
from support.checkpoints import check_equal
from support.models import each_solver, fitted, make_data, make_model, same_bits
from support.stopping import DATA, PARTS, Listed, stopping

from ialspp import (
    EarlyStopping,
    Features,
    ImplicitMF,
    Interactions,
    Objective,
    SpectralCG,
    evaluate,
    split,
)
from ialspp.errors import InvalidStateError
from ialspp.files.container import Container

PEAK_AT_3 = (0.1, 0.2, 0.5, 0.4, 0.5, 0.4, 0.9)


def fit(*callbacks, data=PARTS.train, until=None, **settings):
    return make_model(**{"epochs": 7, **settings}).fit(data, until=until, callbacks=callbacks, progress=False)


class Snapshots:
    """A callback that copies the model after each epoch."""

    def __init__(self):
        self.models = []

    def __call__(self, model, _record):
        self.models.append(copy.copy(model))


def test_an_epoch_does_not_read_the_whole_file_of_the_data(tmp_path, monkeypatch):
    PARTS.train.save(tmp_path / "train.ialsdata")
    data = Interactions.open(tmp_path / "train.ialsdata")
    verified = []
    monkeypatch.setattr(Container, "verify", lambda file: verified.append(file))
    epochs = Snapshots()
    fit(stopping(patience=7), epochs, data=data)
    assert len(epochs.models) > 1
    assert verified == []
    epochs.models[0].save(tmp_path / "model.ialspp")
    assert verified


# Which epoch


@each_solver
def test_the_model_is_that_of_the_best_epoch(solver):
    judge = Listed(*PEAK_AT_3)
    model = fit(judge, data=DATA, solver=solver)
    assert (judge.scores, judge.best_epoch, judge.best_score) == (list(PEAK_AT_3[:5]), 3, 0.5)
    check = fitted(DATA, solver=solver, epochs=3)
    assert same_bits(model, check)
    assert [record.loss for record in model.history] == [record.loss for record in check.history]
    assert model.fitted_solver == check.fitted_solver
    assert model.epochs == 7


@pytest.mark.parametrize(
    ("scores", "patience", "judged", "best"),
    [
        (PEAK_AT_3, 1, 4, 3),
        (PEAK_AT_3, 3, 6, 3),
        (PEAK_AT_3, 4, 7, 7),
        ((1, 2, 3, 4, 5, 6, 7), 1, 7, 7),
        ((7, 6, 5, 4, 3, 2, 1), 3, 4, 1),
        ((0, 0, 0, 0, 0, 0, 0), 2, 3, 1),
        ((1, 2, 1, 3, 1, 1, 1), 9, 7, 4),
    ],
)
def test_it_stops_after_so_many_epochs_that_are_no_better(scores, patience, judged, best):
    judge = Listed(*scores, patience=patience)
    model = fit(judge, data=DATA)
    assert (len(judge.scores), judge.best_epoch, len(model.history)) == (judged, best, best)
    assert same_bits(model, fitted(DATA, epochs=best))


def test_another_reason_to_stop_keeps_the_best_epoch_too():
    for options in ({"until": 0.9}, {"epochs": 2}):
        judge = Listed(5, 4, 3, 2, patience=9)
        assert len(fit(judge, data=DATA, **options).history) == 1
        assert len(judge.scores) == 2
    judge = Listed(5, 4, 3, 2, patience=9)
    assert len(fit(lambda _, record: record.epoch == 3, judge, data=DATA).history) == 1
    assert len(judge.scores) == 3


@pytest.mark.usefixtures("half_isa")
def test_an_epoch_of_half_precision_is_kept_as_it_was_judged():
    judge, seen = Listed(*PEAK_AT_3), Snapshots()
    model = fit(seen, judge, data=DATA, solver=SpectralCG(precision="mixed"))
    assert model.history[-1].precision == "mixed"
    check_equal(model, seen.models[2])


def test_other_callbacks_see_the_score_of_the_epoch():
    judge, seen = Listed(*PEAK_AT_3), []
    fit(lambda _, record: seen.append((record.epoch, judge.scores[-1])), judge, data=DATA)
    assert seen == list(enumerate(PEAK_AT_3[:5], 1))


def test_a_copy_made_in_a_callback_keeps_its_history():
    seen = Snapshots()
    fit(seen, epochs=3)
    assert [len(model.history) for model in seen.models] == [1, 2, 3]


def test_a_warm_start_counts_all_epochs():
    model = fitted(DATA, epochs=2)
    judge = Listed(0, 0, 0.1, 0.5, 0.3, 0.2)
    model.set_params(epochs=4).fit(DATA, warm_start=True, callbacks=[judge], progress=False)
    assert (judge.scores, judge.best_epoch) == ([0.1, 0.5, 0.3, 0.2], 4)
    assert [record.epoch for record in model.history] == [1, 2, 3, 4]
    check = fitted(DATA, epochs=2)
    check.fit(DATA, warm_start=True, progress=False)
    assert same_bits(model, check)


def test_a_fit_goes_on_from_the_best_epoch():
    model = fit(Listed(*PEAK_AT_3), data=DATA, solver=SpectralCG())
    model.set_params(epochs=2).fit(DATA, warm_start=True, progress=False)
    whole = fitted(DATA, solver=SpectralCG(), epochs=3).set_params(epochs=2)
    whole.fit(DATA, warm_start=True, progress=False)
    check_equal(model, whole)


def test_one_object_serves_several_fits():
    judge = Listed(*PEAK_AT_3)
    first, second = fit(judge, data=DATA), fit(judge, data=DATA)
    check_equal(first, second)
    assert len(judge.scores) == 5


def test_no_epochs_have_no_best():
    judge = Listed(1)
    model = fit(judge, data=DATA, epochs=0)
    assert (model.history, judge.scores, judge.best_epoch) == ([], [], 0)
    with pytest.raises(InvalidStateError, match="no epoch has ended"):
        _ = judge.best_score


# Scores of the ranking


def test_scores_are_those_of_evaluate():
    judge, seen = stopping(patience=7), Snapshots()
    model = fit(judge, seen)
    expected = [evaluate(each, PARTS, metrics=["ndcg@10"], on="validation") for each in seen.models]
    assert judge.scores == [result["ndcg@10"].mean for result in expected]
    assert judge.users == expected[0].users
    assert judge.best_score == max(judge.scores)
    assert same_bits(model, seen.models[judge.best_epoch - 1])
    found = evaluate(model, PARTS, metrics=["ndcg@10"], on="validation")["ndcg@10"].mean
    assert found == judge.best_score


@pytest.mark.parametrize("metric", ["recall@5", "auc", "map@3", "mrr@10"])
def test_any_metric_of_places(metric):
    judge = stopping(metric=metric)
    model = fit(judge)
    found = evaluate(model, PARTS, metrics=[metric], on="validation")[metric].mean
    assert found == judge.best_score


def test_a_sample_of_users_is_always_the_same():
    judges = [stopping(users=5), stopping(users=5)]
    for judge in judges:
        fit(judge)
    assert judges[0].scores == judges[1].scores
    assert judges[0].users == 5
    whole = stopping(users=10_000)
    fit(whole)
    assert whole.users > 5
    assert whole.scores != judges[0].scores
    seen = Snapshots()
    fit(seen)
    result = evaluate(seen.models[0], PARTS, metrics=["ndcg@10"], on="validation")
    picked = np.random.default_rng(0).choice(result.users, 5, replace=False)
    assert judges[0].scores[0] == pytest.approx(result.per_user["ndcg@10"][picked].mean(), rel=1e-12)


@pytest.mark.parametrize("make", [split.random, lambda data: split.leave_one_out(data, pick="random")])
def test_known_users_can_be_evaluated(make):
    parts = make(DATA)
    judge = stopping(validation=parts.test)
    model = fit(judge, data=parts.train)
    assert judge.best_score == evaluate(model, parts, metrics=["ndcg@10"])["ndcg@10"].mean


def test_the_model_answers_updates_and_saves_as_that_of_the_best_epoch(tmp_path):
    model, check = fit(Listed(*PEAK_AT_3), data=DATA), fitted(DATA, epochs=3)
    user, item = model.users[0], model.items[0]
    assert model.recommend(user) == check.recommend(user)
    assert model.explain(user, item).score == check.explain(user, item).score
    model.save(tmp_path / "m")
    loaded = ImplicitMF.load(tmp_path / "m")
    assert same_bits(loaded, check)
    assert loaded.history == model.history
    for each in (model, check):
        each.update(make_data(seed=1, n=30))
    assert same_bits(model, check)


# What is refused


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ({"validation": None}, "validation must be a HeldOut.*got None"),
        ({"validation": PARTS}, "validation must be a HeldOut.*got Split"),
        ({"metric": "ndcg"}, "a metric must be one of .*got 'ndcg'$"),
        ({"metric": "ndgc@10"}, "got 'ndgc@10'; did you mean ndcg"),
        ({"metric": "coverage@10"}, "how well test items are ranked.*got 'coverage@10'"),
        ({"metric": "novelty@10"}, "how well test items are ranked.*got 'novelty@10'"),
        ({"patience": 0}, "patience must be at least 1, got 0"),
        ({"patience": 1.5}, "patience must be an integer, got 1.5"),
        ({"users": 0}, "users must be at least 1, got 0"),
        ({"users": "all"}, "users must be an integer, got 'all'"),
    ],
)
def test_settings_that_cannot_be_right(arguments, message):
    with pytest.raises((TypeError, ValueError), match=message):
        stopping(**arguments)


def test_other_data_is_refused_before_training():
    with pytest.raises(ValueError, match="validation users must not be in the training data, but user"):
        fit(stopping(), data=PARTS.validation.given)
    with pytest.raises(ValueError, match="must have the items of the training data"):
        fit(stopping(), data=DATA)
    with pytest.raises(ValueError, match="must have the items of the training data"):
        fit(stopping(), data=make_data(items=[f"other {i}" for i in range(30)]))
    weak = split.random(DATA)
    with pytest.raises(ValueError, match=r"belongs to the training data .* may hold the answers"):
        fit(stopping(validation=weak.test), data=split.random(DATA, seed=1).train)
    with pytest.raises(ValueError, match=r"may have one EarlyStopping, .* got 2"):
        fit(stopping(), stopping())


def test_a_score_that_is_no_number_is_an_error():
    with pytest.raises(ValueError, match="the score after epoch 2 must be a number, got nan"):
        fit(Listed(1, float("nan")), data=DATA)


def test_it_cannot_be_hidden_in_another_callback():
    judge = stopping()
    with pytest.raises(InvalidStateError, match="EarlyStopping must be in the list of callbacks"):
        fit(lambda model, record: judge(model, record))
    with pytest.raises(InvalidStateError, match="must be in the list of callbacks of a fit"):
        _ = stopping().scores


def test_it_says_what_it_is():
    assert repr(stopping(users=5)).startswith("EarlyStopping(HeldOut(8 held-out users, ")
    assert repr(stopping(users=5)).endswith("'ndcg@10', patience=2, users=5)")
    default = EarlyStopping(PARTS.validation)
    assert (str(default.metric), default.patience, default.users) == ("ndcg@100", 2, 8)


def test_validation_users_are_folded_in_with_their_features():
    data = make_data(users=60, n=900)
    parts, rng = split.strong(data, held_out=15), np.random.default_rng(0)
    features = Features.from_matrix(rng.normal(size=(60, 4)), ids=list(data.users))
    judges = [EarlyStopping(parts.validation, "ndcg@5", user_features=given) for given in (features, None)]
    snapshots = Snapshots()
    for judge in judges:
        model = make_model(epochs=2, objective=Objective(regularization=0.5))
        known = features.known_to(parts.train.users)
        model.fit(parts.train, user_features=known, callbacks=[judge, snapshots], progress=False)
    for judge, after_first, given in zip(judges, snapshots.models[::2], (features, None), strict=True):
        wanted = evaluate(after_first, parts, metrics=["ndcg@5"], on="validation", user_features=given)
        assert judge.scores[0] == wanted["ndcg@5"].mean
    assert judges[0].scores != judges[1].scores
    assert judges[0].described() != judges[1].described()


def test_features_that_no_model_can_use_are_refused_before_the_first_epoch():
    with pytest.raises(TypeError, match=r"user_features must be Features, whose ids say .*, got ndarray"):
        EarlyStopping(PARTS.validation, user_features=np.zeros((3, 2)))
    features = Features.from_matrix(np.ones((len(DATA.users), 1)), ids=list(DATA.users))
    seen = []
    with pytest.raises(ValueError, match="user_features of EarlyStopping need a fit with user_features, too"):
        fit(EarlyStopping(PARTS.validation, user_features=features), lambda *_: seen.append(1))
    assert seen == []
