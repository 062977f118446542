"""Checkpoints of fits that choose their best epoch: a resumed fit has the same bits and the same scores."""

import json
import runpy
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest
from support.checkpoints import Interrupted, check_equal, epochs_in, interrupted, interrupting, resumed
from support.models import each_solver, fitted, make_model, same_bits
from support.stopping import DATA, PARTS, Listed, stopping

from ialspp import ImplicitMF, SpectralCG, split, store
from ialspp.files import container
from ialspp.files.container import Container
from ialspp.model.checkpoint import Checkpoint

SCORES = (0.1, 0.2, 0.5, 0.4, 0.5, 0.4, 0.9)  # best after 3, over after 5


def whole_fit(judge, data=DATA, **settings):
    return make_model(epochs=7, **settings).fit(data, callbacks=[judge], progress=False)


@each_solver
def test_a_resumed_fit_keeps_the_same_epoch(tmp_path, solver):
    judge = Listed(*SCORES)
    whole = whole_fit(judge, solver=solver)
    for at in range(1, 6):
        path, again = tmp_path / f"{at}", Listed(*SCORES)
        interrupted(path, DATA, at=at, epochs=7, solver=solver, callbacks=[Listed(*SCORES)])
        assert (epochs_in(path), Checkpoint.read(path).scores) == (at, SCORES[:at])
        check_equal(resumed(path, DATA, callbacks=[again]), whole)
        assert (again.scores, again.best_epoch) == (judge.scores, 3)
        assert Checkpoint.read(path).is_finished
        check_equal(resumed(path, DATA), whole)


@pytest.mark.parametrize("metric", ["ndcg@10", "recall@5"])
def test_with_scores_of_the_ranking(tmp_path, metric):
    judge = stopping(metric=metric, users=6)
    whole = whole_fit(judge, PARTS.train, solver=SpectralCG())
    for at in range(1, len(judge.scores) + 1):
        path, again = tmp_path / f"{at}", stopping(metric=metric, users=6)
        first = stopping(metric=metric, users=6)
        interrupted(path, PARTS.train, at=at, epochs=7, solver=SpectralCG(), callbacks=[first])
        check_equal(resumed(path, PARTS.train, callbacks=[again], threads=1), whole)
        assert again.scores == judge.scores


@pytest.mark.parametrize("every", [2, 3])
def test_interrupted_again_and_again(tmp_path, every):
    path, whole = tmp_path / "c", whole_fit(Listed(*SCORES))
    interrupted(path, DATA, at=1, every=every, epochs=7, callbacks=[Listed(*SCORES)])
    for at in (2, 4, 5):
        with pytest.raises(Interrupted):
            resumed(path, DATA, callbacks=[Listed(*SCORES), interrupting(at)])
        assert epochs_in(path) == at
    check_equal(resumed(path, DATA, callbacks=[Listed(*SCORES)]), whole)


def test_an_interrupt_while_an_epoch_is_judged_keeps_the_epoch_before(tmp_path):
    class Failing(Listed):
        def score(self, model):
            if len(model.history) == 4:
                raise Interrupted
            return super().score(model)

    path = tmp_path / "c"
    with pytest.raises(Interrupted):
        make_model(epochs=7).fit(DATA, checkpoint=path, callbacks=[Failing(*SCORES)], progress=False)
    assert (epochs_in(path), Checkpoint.read(path).scores) == (3, SCORES[:3])
    check_equal(resumed(path, DATA, callbacks=[Listed(*SCORES)]), whole_fit(Listed(*SCORES)))


def test_a_warm_start_goes_on(tmp_path):
    scores = (0, 0, 0.1, 0.5, 0.3, 0.2)

    def begun():
        return fitted(DATA, epochs=2).set_params(epochs=4)

    whole = begun().fit(DATA, warm_start=True, callbacks=[Listed(*scores)], progress=False)
    for at in (3, 4, 5, 6):
        path = tmp_path / f"{at}"
        with pytest.raises(Interrupted):
            begun().fit(
                DATA,
                warm_start=True,
                checkpoint=path,
                callbacks=[Listed(*scores), interrupting(at)],
                progress=False,
            )
        check_equal(resumed(path, DATA, callbacks=[Listed(*scores)]), whole)


def test_a_finished_fit_gives_its_scores_too(tmp_path):
    path, judge = tmp_path / "c", Listed(*SCORES)
    whole = make_model(epochs=7).fit(DATA, checkpoint=path, callbacks=[judge], progress=False)
    again = Listed(*SCORES)
    check_equal(resumed(path, DATA, callbacks=[again]), whole)
    assert (again.scores, again.best_epoch) == (judge.scores, 3)
    assert Checkpoint.read(path).progress == "epoch 3 of 7, the last"


def test_the_best_vectors_are_only_kept_where_they_are_others(tmp_path):
    for at, names in ((3, set()), (4, {"best_user_factors", "best_item_factors"})):
        interrupted(tmp_path / f"{at}", DATA, at=at, epochs=7, callbacks=[Listed(*SCORES)])
        found = Container.open(tmp_path / f"{at}").arrays.keys()
        assert found == {"user_factors", "item_factors"} | names


def test_only_fits_that_choose_need_the_new_format(tmp_path):
    interrupted(tmp_path / "old", DATA, at=2)
    interrupted(tmp_path / "new", DATA, at=2, callbacks=[Listed(*SCORES)])
    versions = [Container.open(tmp_path / name).metadata["format_version"] for name in ("old", "new")]
    assert versions == ["1", "2"]
    facts = Checkpoint.read(tmp_path / "new").info()
    assert (facts["format_version"], facts["scores"]) == (2, [0.1, 0.2])
    assert facts["stopping"] == {"listed": list(SCORES), "patience": 2}
    assert "scores" not in Checkpoint.read(tmp_path / "old").info()


# What is refused


@pytest.fixture(name="path")
def checkpoint_of_four_epochs(tmp_path):
    path = tmp_path / "c"
    interrupted(path, PARTS.train, at=4, epochs=7, callbacks=[stopping(patience=9)])
    return path


OTHER_VALIDATION = split.strong(DATA, held_out=8, min_user=1, test_share=0.4)


@pytest.mark.parametrize(
    ("callbacks", "message"),
    [
        ([], "c belongs to a fit with early stopping; give the same to resume"),
        ([stopping(patience=8)], "c belongs to a fit with other early stopping: patience was 9, got 8"),
        ([stopping(patience=9, metric="auc")], "metric was 'ndcg@10', got 'auc'"),
        ([stopping(patience=9, users=3)], "users was 8, got 3"),
        (
            [stopping(patience=9, validation=OTHER_VALIDATION.validation)],
            "validation was '[0-9a-f]{64}', got",
        ),
    ],
)
def test_another_choice_is_refused(path, callbacks, message):
    before = path.read_bytes()
    with pytest.raises(ValueError, match=message):
        resumed(path, PARTS.train, callbacks=callbacks)
    assert path.read_bytes() == before


@pytest.mark.parametrize("before", [None, "one"])
def test_features_that_only_one_of_two_choices_has_are_named(path, before):
    state = Checkpoint.read(path)
    described = dict(state.job.stopping)
    with_features = {**described, "user_features": "other"}
    if before is not None:
        state = replace(state, job=replace(state.job, stopping={**described, "user_features": before}))
    for other in (with_features, described)[: 1 if before is None else 2]:
        with pytest.raises(
            ValueError, match=f"user_features was {before!r}, got {other.get('user_features')!r}"
        ):
            state.require_stopping(other)


def test_a_choice_that_comes_later_is_refused(tmp_path):
    interrupted(tmp_path / "c", PARTS.train, at=1)
    with pytest.raises(ValueError, match="c belongs to a fit without early stopping; leave it out"):
        resumed(tmp_path / "c", PARTS.train, callbacks=[stopping()])


def test_candidates_are_told_apart(tmp_path):
    parts = [split.leave_one_out(DATA, pick="random", negatives=n) for n in (5, 6)]
    interrupted(tmp_path / "c", parts[0].train, at=1, callbacks=[stopping(validation=parts[0].test)])
    with pytest.raises(ValueError, match="other early stopping: validation was"):
        resumed(tmp_path / "c", parts[0].train, callbacks=[stopping(validation=parts[1].test)])


def forged(path, *, arrays=(), **changes):
    """Write the checkpoint again with right checksums, other contents, and without some of its arrays."""
    opened = Container.open(path, mapped=False)
    description = {**json.loads(opened.metadata["description"]), **changes}
    told = {
        name: text for name, text in opened.metadata.items() if name not in ("checksums", "header_checksum")
    }
    kept = {name: array for name, array in opened.arrays.items() if name not in arrays}
    container.write(path, kept, {**told, "description": json.dumps(description)})


@pytest.mark.parametrize(
    "scores",
    [None, {}, [0.1], [0.1] * 5, [0.1, 0.2, "0.3", 0.4], [0.1, 0.2, None, 0.4], [0.1, 0.2, 3, 0.4], "best"],
)
def test_scores_that_cannot_be_right_are_refused(path, scores):
    forged(path, scores=scores)
    with pytest.raises(store.StoreError, match="c does not hold a whole checkpoint"):
        resumed(path, PARTS.train, callbacks=[stopping(patience=9)])


def test_missing_vectors_of_the_best_epoch_are_noticed(path):
    forged(path, scores=[0.1, 0.9, 0.2, 0.3], arrays=("best_item_factors",))
    with pytest.raises(store.StoreError, match=r"best_(user|item)_factors' is missing"):
        resumed(path, PARTS.train, callbacks=[stopping(patience=9)])


def test_every_epoch_is_whole_after_a_fit_with_checkpoints(tmp_path):
    """What is written beside the training is not changed by it."""
    plain = whole_fit(Listed(*SCORES))
    model = ImplicitMF(**{**plain.get_params(deep=False), "epochs": 7})
    model.fit(DATA, checkpoint=tmp_path / "c", callbacks=[Listed(*SCORES)], progress=False)
    assert same_bits(model, plain)
    kept = Checkpoint.open(tmp_path / "c")[1]
    assert np.array_equal(kept.factors[0], plain.user_factors)


# The file of format 2, which golden/make_stopping.py made once; whatever changes, it can be read

GOLDEN = Path(__file__).parents[1] / "golden"


def test_format_2_goes_on(tmp_path, monkeypatch):
    monkeypatch.syspath_prepend(GOLDEN)
    made = runpy.run_path(GOLDEN / "make_stopping.py")
    data, judge, path = made["parts"]().train, made["stopping"](), tmp_path / "c"
    path.write_bytes((GOLDEN / "checkpoint-v2").read_bytes())
    kept = Checkpoint.open(path)[1]
    model = resumed(path, data, callbacks=[judge])
    assert (len(judge.scores), judge.scores[:4]) == (6, list(kept.judged.scores))
    assert (judge.best_epoch, len(model.history)) == (2, 2)
    assert model.user_factors.tobytes() == kept.judged.vectors[0].tobytes()
    assert model.item_factors.tobytes() == kept.judged.vectors[1].tobytes()
