"""The door beside implicit itself: a script runs on both, and both minimise the same loss."""

from pathlib import Path

import numpy as np
import pytest
import scipy.sparse as sp
import support
from hypothesis import given
from hypothesis import strategies as st
from numpy.testing import assert_allclose, assert_array_equal
from support.drawing import drawn

from ialspp.compat.implicit import AlternatingLeastSquares

pytest.importorskip("implicit", reason="needs implicit 0.7.3, which has no wheel for this machine")
from implicit.cpu import _als
from implicit.cpu.als import AlternatingLeastSquares as Implicit

pytestmark = pytest.mark.filterwarnings("ignore:OpenBLAS is configured:RuntimeWarning")  # implicit's advice

SCRIPT = (Path(support.__path__[0]) / "implicit_script.py").read_text()
VALUES = {
    "ones": lambda _, n: np.ones(n),
    "counts": lambda rng, n: 1 + rng.poisson(2, n),
    "below and above one": lambda rng, n: rng.gamma(1, 1, n),
    "dislikes and zeros": lambda rng, n: rng.integers(-3, 5, n),
}


def matrix(values=VALUES["counts"], seed=0, users=60, items=40):
    """Two groups of users and items; a stored entry may be zero."""
    rng = np.random.default_rng(seed)
    group = rng.integers(2, size=users)[:, None] == rng.integers(2, size=items)
    rows, columns = np.nonzero(rng.random((users, items)) < np.where(group, 0.4, 0.05))
    return sp.csr_matrix((values(rng, len(rows)).astype(np.float32), (rows, columns)), (users, items))


def trained(cls, user_items, **settings):
    defaults = {"factors": 2, "regularization": 3.0, "iterations": 40, "random_state": 0, "num_threads": 1}
    model = cls(**defaults | settings)
    model.fit(user_items, show_progress=False)
    return model


def with_factors(cls, source):
    """A model with the factors and the settings of another."""
    model = cls(factors=source.factors, regularization=source.regularization, alpha=source.alpha)
    model.user_factors, model.item_factors = np.array(source.user_factors), np.array(source.item_factors)
    return model


def run_script(module, folder, monkeypatch):
    monkeypatch.setattr("sys.argv", ["script", str(folder)])
    names = {}
    exec(SCRIPT.replace("from implicit.als import", f"from {module} import"), names)
    return names


def test_a_script_runs_with_its_import_changed(tmp_path, monkeypatch):
    theirs = run_script("implicit.als", tmp_path, monkeypatch)
    ours = run_script("ialspp.compat.implicit", tmp_path, monkeypatch)
    arrays = [name for name, value in theirs.items() if isinstance(value, np.ndarray)]
    assert len(arrays) > 10
    for name in arrays:
        assert (ours[name].shape, ours[name].dtype) == (theirs[name].shape, theirs[name].dtype), name
    assert ours["epochs"] == theirs["epochs"]
    for name in ("ids", "batch_ids", "chosen_ids", "fresh_ids", "loaded_ids"):  # one minimum, found by both
        assert np.isin(ours[name], theirs[name]).mean() > 0.9, name
    for name in ("scores", "total", "again"):
        assert_allclose(ours[name], theirs[name], rtol=0.02)
    assert [item for item, _ in ours["contributions"]] == [item for item, _ in theirs["contributions"]]
    assert ours["model"].user_factors.shape == theirs["model"].user_factors.shape == (121, 2)
    assert ours["model"].item_factors.shape == theirs["model"].item_factors.shape == (61, 2)


@pytest.mark.parametrize("values", VALUES.values(), ids=VALUES.keys())
@pytest.mark.parametrize("use_cg", [True, False])
def test_both_minimise_one_loss_and_recommend_the_same(values, use_cg):
    user_items = matrix(values)
    models = [
        trained(cls, user_items, alpha=1.5, use_cg=use_cg) for cls in (Implicit, AlternatingLeastSquares)
    ]
    confidences = (1.5 * user_items).astype(np.float32)
    theirs, ours = (
        _als.calculate_loss(confidences, np.array(m.user_factors), np.array(m.item_factors), 3.0)
        for m in models
    )
    assert_allclose(ours, theirs, rtol=0.01)  # there may be more than one minimum
    everyone = np.arange(user_items.shape[0])
    first, second = (m.recommend(everyone, user_items, N=5)[0] for m in models)
    shared = [len(set(a) & set(b)) / 5 for a, b in zip(first, second, strict=True)]
    assert np.mean(shared) > 0.85


@pytest.mark.parametrize("values", VALUES.values(), ids=VALUES.keys())
def test_both_go_on_from_implicits_factors_to_one_minimum(values):
    """With 16 dimensions there are many minima. Both keep to the one that implicit has found."""
    user_items = matrix(values, users=100, items=60)
    settings = {"factors": 16, "alpha": 1.5}
    start = trained(Implicit, user_items, **settings, iterations=120)
    models = [with_factors(cls, start) for cls in (Implicit, AlternatingLeastSquares)]
    confidences = (1.5 * user_items).astype(np.float32)
    for model in models:
        model.iterations, model.num_threads = 30, 1
        model.fit(user_items, show_progress=False)
    before, theirs, ours = (
        _als.calculate_loss(confidences, np.array(m.user_factors), np.array(m.item_factors), 3.0)
        for m in (start, *models)
    )
    assert_allclose(ours, theirs, rtol=1e-4)
    assert ours <= before * (1 + 1e-6)
    everyone = np.arange(user_items.shape[0])
    first, second = (m.recommend(everyone, user_items, N=10)[0] for m in models)
    shared = [len(set(a) & set(b)) / 10 for a, b in zip(first, second, strict=True)]
    assert np.mean(shared) > 0.9


@pytest.mark.parametrize("values", VALUES.values(), ids=VALUES.keys())
def test_the_loss_that_is_reported_is_implicits_and_never_rises(values):
    user_items, losses = matrix(values), []
    model = AlternatingLeastSquares(factors=3, alpha=0.7, iterations=12, calculate_training_loss=True)
    model.fit(user_items, show_progress=False, callback=lambda _, __, loss: losses.append(loss))
    confidences = (np.float32(0.7) * user_items).astype(np.float32)
    factors = np.array(model.user_factors), np.array(model.item_factors)
    assert_allclose(losses[-1], _als.calculate_loss(confidences, *factors, 0.01), rtol=1e-5)
    assert (np.diff(losses) <= 1e-6 * losses[0]).all()


@drawn(30)
@given(
    st.integers(0, 5),
    st.integers(1, 45),
    st.booleans(),
    st.none() | st.lists(st.integers(0, 39), min_size=1, unique=True),
    st.none() | st.lists(st.integers(0, 39), min_size=1),
    st.booleans(),
)
def test_recommendations_have_implicits_places_and_fillers(user, n, liked, items, filtered, many):
    model, user_items = source()
    options = {"N": n, "filter_already_liked_items": liked}
    options |= {"items": items} if items is not None else {"filter_items": filtered}
    who = [user, user + 1] if many else user
    asked = who, user_items[who], options
    ids, scores = with_factors(AlternatingLeastSquares, model).recommend(*asked[:2], **options)
    expected_ids, expected_scores = model.recommend(*asked[:2], **options)
    assert (ids.dtype, scores.dtype) == (expected_ids.dtype, expected_scores.dtype)
    assert_array_equal(ids, expected_ids)
    assert_allclose(scores, expected_scores, rtol=1e-5, atol=1e-6)


@drawn(30)
@given(
    st.sampled_from(["similar_items", "similar_users"]),
    st.integers(0, 38),
    st.integers(1, 70),
    st.none() | st.lists(st.integers(0, 39), min_size=1, unique=True),
    st.booleans(),
)
def test_neighbours_have_implicits_places_and_fillers(method, row, n, chosen, many):
    model, _ = source()
    key = method.removeprefix("similar_")
    options = {"N": n} if chosen is None else {"N": n, key: chosen}
    who = [row, row + 1] if many else row
    ids, scores = getattr(with_factors(AlternatingLeastSquares, model), method)(who, **options)
    expected_ids, expected_scores = getattr(model, method)(who, **options)
    assert (ids.dtype, scores.dtype) == (expected_ids.dtype, expected_scores.dtype)
    assert_array_equal(ids, expected_ids)
    assert_allclose(scores, expected_scores, rtol=1e-5, atol=1e-6)


SOURCE = []


def source():
    """One trained model of implicit's, made once."""
    if not SOURCE:
        user_items = matrix()
        SOURCE.append((trained(Implicit, user_items, iterations=5), user_items))
    return SOURCE[0]


@pytest.mark.parametrize("values", VALUES.values(), ids=VALUES.keys())
@pytest.mark.parametrize("one", [True, False])
def test_recalculated_vectors_and_explanations_are_implicits(values, one):
    user_items = matrix(values)
    theirs = trained(Implicit, user_items, alpha=0.8, iterations=5)
    ours = with_factors(AlternatingLeastSquares, theirs)
    rows = 3 if one else [3, 4, 0]
    for method, data in (("recalculate_user", user_items), ("recalculate_item", user_items.T.tocsr())):
        vectors = getattr(ours, method)(rows, data[rows])
        expected = getattr(theirs, method)(rows, data[rows])
        assert vectors.dtype == expected.dtype
        assert_allclose(vectors, expected, rtol=1e-4, atol=1e-5)
    total, contributions, weights = ours.explain(3, user_items, 7, N=4)
    expected_total, expected, expected_weights = theirs.explain(3, user_items, 7, N=4)
    assert_allclose(total, expected_total, rtol=1e-4, atol=1e-6)
    assert_allclose(contributions, expected, rtol=1e-4, atol=1e-6)
    assert_allclose(
        ours.explain(3, user_items, 8, user_weights=weights)[0],
        theirs.explain(3, user_items, 8, user_weights=expected_weights)[0],
        rtol=1e-4,
        atol=1e-6,
    )


def test_each_reads_the_others_files(tmp_path):
    model, user_items = source()
    ours = with_factors(AlternatingLeastSquares, model)
    ours.save(tmp_path / "ours")
    model.save(str(tmp_path / "theirs.npz"))
    for loaded in (Implicit.load(str(tmp_path / "ours")), AlternatingLeastSquares.load(tmp_path / "theirs")):
        assert_array_equal(loaded.user_factors, model.user_factors)
        assert_array_equal(loaded.recommend(0, user_items[0])[0], model.recommend(0, user_items[0])[0])
        assert loaded.regularization == model.regularization
