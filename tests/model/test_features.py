"""A model with features: what it learns, newcomers, updates, files and checkpoints."""

import copy
import itertools
from pathlib import Path

import numpy as np
import pytest
from support.models import (
    ITEMS,
    N_USERS,
    each_solver,
    factors,
    fitted,
    losses,
    make_data,
    make_model,
    same_bits,
)
from support.stores import again

from ialspp import (
    EarlyStopping,
    Features,
    ImplicitMF,
    Interactions,
    MostPopular,
    Objective,
    SpectralCG,
    evaluate,
    split,
    store,
)
from ialspp.errors import InvalidTypeError, InvalidValueError, NotFittedError
from ialspp.model.checkpoint import Checkpoint
from ialspp.store import StoreError

GOLDEN = Path(__file__).parents[1] / "golden"
NEW = ["new-2", "new-1"]
RNG = np.random.default_rng(3)
NUMBERS = RNG.normal(0, 1, (len(ITEMS) + 2, 3)).astype(np.float32)
USER_NUMBERS = RNG.normal(0, 1, (N_USERS + 1, 2)).astype(np.float32)
KNOWN = Features.from_matrix(NUMBERS[:-2], ids=ITEMS, names=["a", "b", "c"])
CATALOGUE = Features.from_matrix(NUMBERS, ids=[*ITEMS, *NEW], names=["a", "b", "c"])
PEOPLE = Features.from_matrix(USER_NUMBERS, ids=range(N_USERS + 1), names=["young", "old"])


def trained(data=None, *, item_features=CATALOGUE, user_features=PEOPLE, **settings):
    model = make_model(**settings)
    data = make_data() if data is None else data
    return model.fit(data, item_features=item_features, user_features=user_features, progress=False)


def made_of(features, numbers):
    return numbers @ features.weights


# Training


@each_solver
def test_the_loss_never_rises_and_is_that_of_the_objective(solver):
    data, model = make_data(), trained(solver=solver, epochs=5)
    assert all(after <= before * (1 + 1e-6) for before, after in itertools.pairwise(losses(model)))
    users, items = model.user_factors[:N_USERS], model.item_factors[: len(ITEMS)]
    loss = model.objective.loss(data, users, items, user_features=PEOPLE, item_features=KNOWN)
    assert loss.total == pytest.approx(losses(model)[-1], rel=1e-5)


@each_solver
def test_a_fit_has_the_same_bits_on_any_number_of_threads(solver):
    models = [trained(solver=solver, threads=threads) for threads in (1, 3)]
    assert same_bits(*models)
    assert models[0].item_features.weights.tobytes() == models[1].item_features.weights.tobytes()


def test_a_matrix_in_the_order_of_the_data_is_the_same_as_features_by_id():
    by_id, by_row = trained(item_features=KNOWN), trained(item_features=NUMBERS[:-2])
    assert same_bits(by_id, by_row)
    assert by_row.item_features.names == ("0", "1", "2")


def test_features_change_what_is_learned():
    assert not same_bits(trained(item_features=KNOWN, user_features=None), fitted())
    assert trained(user_features=None).user_features is None
    assert fitted().item_features is None


def test_a_fit_goes_on_from_the_last_one():
    model = trained(solver=SpectralCG(relaxation=1.2), epochs=2, init="random")
    model.fit(make_data(), user_features=PEOPLE, item_features=CATALOGUE, warm_start=True, progress=False)
    assert len(model.history) == 4
    assert losses(model) == sorted(losses(model), reverse=True)
    assert model.items.ids.tolist()[-2:] == sorted(NEW)


# Newcomers


def test_items_that_only_features_know_get_their_vector_from_the_map():
    model = trained()
    assert model.items.ids.tolist() == [*ITEMS, "new-1", "new-2"]
    wanted = made_of(model.item_features, NUMBERS[[-1, -2]])
    np.testing.assert_allclose(model.item_factors[-2:], wanted, rtol=1e-5, atol=1e-7)
    assert model.users.ids.tolist() == [*range(N_USERS + 1)]
    assert {"new-1", "new-2"} <= set(model.recommend(0, k=40))
    assert len(model.similar_items("new-1", k=5)) == 5
    assert model.item_counts.tolist()[-2:] == [0, 0]
    assert model.trained_on.n_items == len(ITEMS) + 2
    assert len(model.trained_on) == len(make_data())


def test_a_user_that_only_features_know_is_not_sent_to_the_most_popular_items():
    model = trained()
    ranking = model.recommend(N_USERS, k=5)
    assert not ranking.fallback
    scores = model.item_factors @ model.user_factors[-1]
    assert ranking.scores == pytest.approx(np.sort(scores)[::-1][:5].tolist(), rel=1e-5)
    assert model.answer([model.query(N_USERS, k=5)])[0] == ranking
    assert trained(user_features=None).recommend(N_USERS - 1, k=5).fallback  # it has no interactions


def test_new_items_are_added_after_training():
    model = trained(item_features=KNOWN)
    model.add_items(CATALOGUE.unknown_to(model.items))
    assert same_bits(model, trained())
    with pytest.raises(InvalidValueError, match="item 'new-2' is known to the model; update takes in"):
        model.add_items(CATALOGUE.unknown_to(KNOWN.ids))
    with pytest.raises(InvalidTypeError, match=r"item_features must be Features, .* got ndarray"):
        model.add_items(NUMBERS)
    model.add_users(Features.from_matrix(np.ones((1, 1)), ids=[99], names=["old"]))
    np.testing.assert_allclose(model.user_factors[-1], model.user_features.weights[1], rtol=1e-6)


def test_features_are_looked_up_by_name_and_unknown_ones_count_nothing():
    model = trained()
    swapped = Features.from_matrix(NUMBERS[-1:, [2, 0, 1, 1]], ids=["x"], names=["c", "a", "b", "?"])
    folded = model.fold_in_items(features=swapped)
    np.testing.assert_allclose(folded, model.item_factors[model.items.rows(["new-1"])], rtol=1e-5)
    assert (folded == model.fold_in_items(features=NUMBERS[-1:])).all()
    with pytest.raises(InvalidValueError, match="none of the 1 features is known to the model: '\\?' is not"):
        model.fold_in_items(features=Features.from_matrix(np.ones((1, 1)), names=["?"]))
    with pytest.raises(InvalidValueError, match="the 3 columns that the model was trained with, got 2"):
        model.fold_in_items(features=np.ones((1, 2)))
    with pytest.raises(InvalidValueError, match="features must be finite"):
        model.fold_in_items(features=np.full((1, 3), np.nan))


def test_folding_in_minimises_the_loss_around_the_centre():
    model = trained()
    history, given = ["item-1", "item-4", "item-9"], USER_NUMBERS[:1]
    near = model.item_factors[model.items.rows(history)].astype(float)
    H = model.item_factors.astype(float)
    alpha0 = model.objective.unobserved_weight
    lam = float(model.objective.row_regularization(np.array([3]), len(H))[0])
    centre = made_of(model.user_features, given[0])
    system = near.T @ near + alpha0 * H.T @ H + lam * np.eye(model.dim)
    wanted = np.linalg.solve(system, near.sum(axis=0) + lam * centre)
    np.testing.assert_allclose(model.fold_in([history], features=given)[0], wanted, rtol=1e-4, atol=1e-6)
    assert not np.allclose(model.fold_in([history])[0], wanted)
    np.testing.assert_allclose(model.fold_in(features=given)[0], centre, rtol=1e-5)


def test_recommending_to_unseen_users_by_their_features():
    model = trained()
    ranking = model.recommend_for(features=USER_NUMBERS[:1], k=3)[0]
    assert not ranking.fallback
    best = np.argsort(-(model.item_factors @ made_of(model.user_features, USER_NUMBERS[0])))[:3]
    assert list(ranking) == model.items.named(best)
    both = model.recommend_for([["item-1"], []], features=USER_NUMBERS[:2], k=3)
    assert "item-1" not in both[0]
    assert model.recommend_for([[]], k=3)[0].fallback


def test_asking_without_histories_and_features_is_an_error():
    model = trained()
    with pytest.raises(InvalidTypeError, match=r"histories must be a sequence of .*, got None"):
        model.fold_in()
    with pytest.raises(InvalidValueError, match="weights and labels belong to histories"):
        model.fold_in(features=USER_NUMBERS[:1], weights=[[1]])
    with pytest.raises(InvalidValueError, match="for each of 1 histories, got 2"):
        model.fold_in([["item-1"]], features=USER_NUMBERS[:2])
    plain = fitted()
    for ask in (
        plain.fold_in_items,
        plain.add_items,
        lambda features: plain.update(make_data(), item_features=features),
    ):
        with pytest.raises(InvalidValueError, match="the model was trained without item features"):
            ask(features=CATALOGUE.unknown_to(plain.items))
    with pytest.raises(NotFittedError):
        make_model().add_items(CATALOGUE)


# Updates


def test_an_update_solves_rows_around_their_centres():
    model, before = trained(), trained()
    more = Interactions.from_arrays(user=[1, 2, 77], item=["new-1", "item-3", "fresh"])
    fresh = Features.from_matrix(NUMBERS[:1], ids=["fresh"], names=["a", "b", "c"])
    report = model.update(more, item_features=fresh)
    assert (report.new_items, report.new_users, report.items) == (1, 1, 3)
    assert model.items.ids.tolist()[-1] == "fresh"
    assert model.item_features.weights.tobytes() == before.item_features.weights.tobytes()
    data = model.trained_on
    row = model.items.rows(["new-1"])
    users = data.users.named(data.by_item.columns_of(int(row[0])))
    assert users == [1]
    user = model.users.rows([1])
    history = data.items.named(data.by_user.columns_of(int(user[0])))
    numbers = data.by_user.take(user)
    folded = model.fold_in(
        [history], features=USER_NUMBERS[1:2], weights=[numbers.weights], labels=[numbers.labels]
    )
    np.testing.assert_allclose(model.user_factors[user], folded, rtol=1e-5)


def test_an_update_takes_other_features_of_known_items():
    model = trained()
    other = Features.from_matrix(5 * NUMBERS[-1:], ids=["new-1"], names=["a", "b", "c"])
    model.update(Interactions.from_arrays(user=[1], item=["new-1"]), item_features=other)
    again = trained()
    again.update(Interactions.from_arrays(user=[1], item=["new-1"]))
    assert not same_bits(model, again)
    row = model.items.rows(["new-1"])
    assert model.item_features.rows.take(row).labels.tolist() == (5 * NUMBERS[-1]).tolist()


# Files


def test_the_file_keeps_the_map_and_the_features(tmp_path):
    model = trained()
    loaded = again(model, tmp_path / "model")
    info = store.info(tmp_path / "model")
    assert (info["format_version"], info["features"]) == (3, {"user": True, "item": True})
    assert same_bits(model, loaded)
    for side in ("item_features", "user_features"):
        old, new = getattr(model, side), getattr(loaded, side)
        assert (old.names, old.weights.tobytes()) == (new.names, new.weights.tobytes())
        assert old.rows.labels.tobytes() == new.rows.labels.tobytes()
    more = Interactions.from_arrays(user=[1], item=["new-1"])
    for each in (model, loaded):
        each.update(more)
    assert same_bits(model, loaded)
    assert same_bits(model, copy.deepcopy(model))


def test_a_file_without_interactions_has_newcomers_too(tmp_path):
    loaded = again(trained(item_features=KNOWN), tmp_path / "model", interactions=False)
    loaded.add_items(CATALOGUE.unknown_to(loaded.items))
    assert same_bits(loaded, trained())
    assert loaded.item_counts.tolist()[-2:] == [0, 0]
    assert "new-1" in loaded.recommend(1, k=40, exclude_seen=False)


def test_a_file_without_features_has_the_old_format(tmp_path):
    fitted().save(tmp_path / "model")
    assert store.info(tmp_path / "model")["format_version"] == 1


@pytest.mark.parametrize(
    ("array", "change", "message"),
    [
        ("item_features.map", lambda array: array[:, :-1], "does not fit 8 dimensions"),
        ("item_features.map", lambda array: array * np.nan, "the map of item features must be finite"),
        ("item_features.offsets", lambda array: array[:-1], "must have 33 entries, got 32"),
        ("item_features.offsets", lambda array: array + 1, "the item features do not fit 32 items"),
        ("item_features.columns", lambda array: array + 3, "columns must be from 0 to 2"),
        ("item_features.columns", lambda array: array * 0, "must strictly ascend"),
        ("item_features.values", lambda array: array[:-1], "must have 96 entries, got 95"),
        ("item_features.values", lambda array: array * np.inf, "must be finite"),
        ("item_features.names.offsets", lambda array: array[:-1], "must have 4 entries, got 3"),
        ("item_features.names.utf8", lambda array: array * 0 + 97, "'a' is named more than once"),
        ("item_features.names.utf8", None, "'item_features.names.utf8' is missing"),
    ],
)
def test_forged_features_are_refused(tmp_path, array, change, message):
    from ialspp.files import container
    from ialspp.files.container import Container

    path = tmp_path / "model"
    trained().save(path)
    opened = Container.open(path, mapped=False)
    arrays = dict(opened.arrays)
    with np.errstate(all="ignore"):
        forged = None if change is None else np.ascontiguousarray(change(arrays[array]))
    arrays = {
        name: forged if name == array else old for name, old in arrays.items() if name != array or change
    }
    told = {name: text for name, text in opened.metadata.items() if "checksum" not in name}
    container.write(path, arrays, told)
    with pytest.raises(StoreError, match=message):
        ImplicitMF.load(path, verify=True)


# Checkpoints


@each_solver
def test_a_resumed_fit_has_the_same_bits(tmp_path, solver):
    whole = trained(solver=solver, epochs=4)

    def stop(_, record):
        if record.epoch == 2:
            raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        make_model(solver=solver, epochs=4).fit(
            make_data(),
            user_features=PEOPLE,
            item_features=CATALOGUE,
            checkpoint=tmp_path / "c",
            callbacks=[stop],
            progress=False,
        )
    assert Checkpoint.read(tmp_path / "c").info()["format_version"] == 3
    resumed = ImplicitMF.resume(
        tmp_path / "c", make_data(), user_features=PEOPLE, item_features=CATALOGUE, progress=False, threads=2
    )
    assert same_bits(resumed, whole)
    assert losses(resumed) == losses(whole)


def test_a_fit_goes_on_with_the_features_it_was_begun_with(tmp_path):
    path = tmp_path / "c"
    model = make_model(epochs=2)
    model.fit(make_data(), item_features=CATALOGUE, checkpoint=path, progress=False)
    with pytest.raises(InvalidValueError, match="with item_features, but with others; give the same ones"):
        ImplicitMF.resume(path, make_data(), item_features=KNOWN)
    with pytest.raises(InvalidValueError, match="with item_features; give the same ones to resume"):
        ImplicitMF.resume(path, make_data())
    with pytest.raises(InvalidValueError, match="without user_features; leave them out"):
        ImplicitMF.resume(path, make_data(), item_features=CATALOGUE, user_features=PEOPLE)
    again = ImplicitMF.resume(path, make_data(), item_features=CATALOGUE)
    assert same_bits(again, model)
    assert again.items.ids.tolist()[-2:] == sorted(NEW)


def test_the_best_epoch_has_the_map_of_its_vectors():
    parts = split.random(make_data(), test_share=0.2)
    model = make_model(epochs=6, init="random")
    stopping = EarlyStopping(parts.test, patience=2)
    model.fit(parts.train, item_features=CATALOGUE, callbacks=[stopping], progress=False)
    best = make_model(epochs=len(model.history), init="random")
    best.fit(parts.train, item_features=CATALOGUE, progress=False)
    assert same_bits(model, best)
    assert model.item_features.weights.tobytes() == best.item_features.weights.tobytes()


# The golden files of this format


def test_files_of_this_format_are_read_for_ever():
    model = ImplicitMF.load(GOLDEN / "model-v3.ialspp")
    assert store.info(GOLDEN / "model-v3.ialspp")["format_version"] == 3
    assert model.item_features.names == ("genre=comedy", "genre=drama", "year")
    assert model.items.ids.tolist() == [3, 40, 500, 2**40, 12]
    assert model.user_features is None
    wanted = made_of(model.item_features, np.float32([0, 1, 0.5]))
    np.testing.assert_allclose(model.item_factors[-1], wanted, rtol=1e-6)
    found = Checkpoint.read(GOLDEN / "checkpoint-v3")
    assert (found.info()["format_version"], list(found.job.features)) == (3, ["item"])


def test_factors_are_as_many_as_ids():
    users, items = factors(trained())
    assert (len(users), len(items)) == (N_USERS + 1, len(ITEMS) + 2)


# Evaluation


def test_an_evaluation_folds_in_unseen_users_with_their_features():
    parts = split.strong(make_data(), held_out=5)
    model = make_model(objective=Objective(regularization=1.0)).fit(  # so that features say much
        parts.train,
        user_features=PEOPLE.known_to(parts.train.users),
        item_features=KNOWN.known_to(parts.train.items),
        progress=False,
    )
    found = evaluate(model, parts, user_features=PEOPLE)
    users = parts.test.given.users.ids
    rows = parts.test.given.by_user
    right = model.fold_in_rows(rows, PEOPLE.of(parts.test.given.users, np.arange(len(users))))
    by_hand = np.stack(
        [
            model.fold_in(
                [parts.test.given.items.named(rows.columns_of(row))],
                features=USER_NUMBERS[[user]],
                weights=None if rows.weights is None else [rows.take(np.array([row])).weights],
                labels=None if rows.labels is None else [rows.take(np.array([row])).labels],
            )[0]
            for row, user in enumerate(users)
        ]
    )
    np.testing.assert_allclose(right, by_hand, rtol=1e-5, atol=1e-7)
    assert found.per_user["ndcg@100"].tolist() != evaluate(model, parts).per_user["ndcg@100"].tolist()


def test_an_evaluation_refuses_what_it_cannot_use():
    parts = split.strong(make_data(), held_out=5)
    with pytest.raises(InvalidValueError, match=r"only the users and items .* features.known_to\("):
        evaluate(make_model().fit(parts.train, item_features=CATALOGUE, progress=False), parts)
    plain = make_model().fit(parts.train, progress=False)
    for model in plain, MostPopular():
        with pytest.raises(InvalidValueError, match="user_features need a model that was fitted with"):
            evaluate(model, parts, user_features=PEOPLE)
    with pytest.raises(InvalidTypeError, match=r"user_features must be Features, .* got ndarray"):
        evaluate(plain, parts, user_features=USER_NUMBERS)
    with pytest.raises(InvalidValueError, match="none of the 1 ids that have features"):
        Features.from_matrix(np.ones((1, 1)), ids=[10**6]).known_to(parts.train.users)


# Single queries


def test_queries_with_features_are_answered_like_the_others():
    model = trained()
    queries = [
        model.query(features=USER_NUMBERS[:1], k=4),
        model.query(history=["item-1"], features=USER_NUMBERS[1:2], k=5),
        model.query(history=["item-1"], k=5),
        model.query(3, k=5),
        model.query(features=np.zeros((1, 2)), k=2),
    ]
    right = [
        model.recommend_for(features=USER_NUMBERS[:1], k=4)[0],
        model.recommend_for([["item-1"]], features=USER_NUMBERS[1:2], k=5)[0],
        model.recommend_for([["item-1"]], k=5)[0],
        model.recommend(3, k=5),
        model.recommend_for([[]], k=2)[0],
    ]
    for found, wanted in zip(model.answer(queries), right, strict=True):
        assert list(found) == list(wanted)
        assert found.scores == pytest.approx(wanted.scores, rel=1e-5)
        assert found.fallback == wanted.fallback
    with pytest.raises(InvalidValueError, match="features are of an unseen user, got them for user 3"):
        model.query(3, features=USER_NUMBERS[:1])
    with pytest.raises(InvalidValueError, match="features of one user are required, got 2 rows"):
        model.query(features=USER_NUMBERS[:2])
    with pytest.raises(InvalidValueError, match="features of one user are required, got 2 rows"):
        model.explain_for(None, "item-1", features=USER_NUMBERS[:2])


def test_explanations_count_features_among_the_rest():
    model = trained()
    history, given = ["item-1", "item-4"], USER_NUMBERS[:1]
    found = model.explain_for(history, "item-9", features=given)
    vector, item = (
        model.fold_in([history], features=given)[0],
        model.item_factors[model.items.rows(["item-9"])],
    )
    assert found.score == pytest.approx(float((item @ vector)[0]), rel=1e-5)
    assert found.score == pytest.approx(sum(found.contributions) + found.rest, rel=1e-5)
    plain = model.explain_for(history, "item-9")
    assert found.contributions == pytest.approx(plain.contributions)
    assert abs(found.rest) > 100 * abs(plain.rest)
    alone = model.explain_for(None, "item-9", features=given)
    assert (list(alone), alone.rest) == ([], alone.score)


@pytest.mark.parametrize("metric", ["cosine", "dot"])
def test_items_similar_to_one_that_only_features_describe(metric):
    model = trained()
    [found] = model.similar_items_for(features=NUMBERS[-1:], k=4, metric=metric)
    assert found[0] == "new-1" or metric == "dot"
    right = model.similar_items("new-1", k=30, metric=metric)
    others = [item for item in found if item != "new-1"]
    assert others == right[: len(others)]
    by_users = model.similar_items_for([[1, 2], []], k=3, metric=metric)
    assert [len(each) for each in by_users] == [3, 0]
    with pytest.raises(InvalidValueError, match="metric must be"):
        model.similar_items_for(features=NUMBERS[-1:], metric="euclid")
