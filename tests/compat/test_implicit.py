"""The door from implicit by itself: its constructor, its errors, its files."""

import io

import numpy as np
import pytest
import scipy.sparse as sp
from numpy.testing import assert_allclose, assert_array_equal

from ialspp import NotFittedError
from ialspp.compat.implicit import AlternatingLeastSquares


def matrix(kind=sp.csr_matrix):
    rng = np.random.default_rng(0)
    return kind(rng.poisson(0.4, (30, 20)).astype(np.float32))


def model(**settings):
    made = AlternatingLeastSquares(**{"factors": 4, "iterations": 3} | settings)
    made.fit(matrix(), show_progress=False)
    return made


@pytest.mark.parametrize(
    ("settings", "message"),
    [
        ({"use_gpu": True}, "use_gpu must be False"),
        ({"use_native": False}, "use_native must be True"),
        ({"dtype": np.float64}, "dtype must be float32.*float64"),
        ({"iterations": -1}, "iterations must be at least 0, got -1"),
        ({"factors": 0}, "dim must be at least 1"),
        ({"num_threads": -1}, "num_threads must be at least 0"),
        ({"random_state": "now"}, "random_state must be an integer.*'now'"),
        ({"alpha": np.nan}, "alpha must be finite"),
    ],
)
def test_settings_that_mean_nothing_here_are_refused(settings, message):
    with pytest.raises((ValueError, TypeError), match=message):
        model(**settings)


@pytest.mark.parametrize("kind", [sp.csr_matrix, sp.csr_array, sp.coo_matrix, sp.csc_array])
def test_any_sparse_matrix_can_be_fitted(kind):
    other = AlternatingLeastSquares(factors=4, iterations=3)
    other.fit(matrix(kind), show_progress=False)
    assert_array_equal(other.user_factors, model().user_factors)


def test_csr_arrays_are_recommended_for_like_matrices():
    made = model()
    for one, other in zip(
        made.recommend([1, 2], matrix()[[1, 2]]),
        made.recommend([1, 2], matrix(sp.csr_array)[[1, 2]]),
        strict=True,
    ):
        assert_array_equal(one, other)


def test_the_callers_matrix_stays_as_it_is():
    mine = sp.csr_matrix((np.ones(3), np.array([2, 1, 2]), [0, 3]), (1, 4))  # repeated and out of order
    made = AlternatingLeastSquares(factors=2, iterations=1)
    made.fit(mine, show_progress=False)
    assert mine.indices.tolist() == [2, 1, 2]
    assert mine.indices.flags.writeable
    assert mine.indptr.flags.writeable


def test_results_do_not_depend_on_threads():
    assert_array_equal(model(num_threads=1).item_factors, model(num_threads=2).item_factors)


@pytest.mark.parametrize(
    "make", [lambda: 7, lambda: np.random.RandomState(7), lambda: np.random.default_rng(7)]
)
def test_a_random_state_can_be_repeated(make):
    assert_array_equal(model(random_state=make()).item_factors, model(random_state=make()).item_factors)


def test_a_second_fit_goes_on_from_the_first():
    losses = []
    made = AlternatingLeastSquares(factors=4, iterations=2, calculate_training_loss=True, use_cg=False)
    for _ in range(2):
        made.fit(matrix(), show_progress=False, callback=lambda _, __, loss: losses.append(loss))
    at_once = []
    longer = AlternatingLeastSquares(factors=4, iterations=4, calculate_training_loss=True, use_cg=False)
    longer.fit(matrix(), show_progress=False, callback=lambda _, __, loss: at_once.append(loss))
    assert_allclose(losses, at_once, rtol=1e-6)


def test_factors_of_another_shape_are_not_trained_further():
    made = model()
    with pytest.raises(RuntimeError, match=r"user_factors of shape \(30, 4\).*\(29, 4\)"):
        made.fit(matrix()[:29], show_progress=False)


def test_a_callback_sees_the_factors_of_its_epoch():
    seen = []
    made = AlternatingLeastSquares(factors=4, iterations=3)
    made.fit(matrix(), False, lambda *_: seen.append(made.item_factors.copy()))
    assert_array_equal(seen[-1], made.item_factors)
    assert not np.array_equal(seen[0], seen[1])


def test_factors_cannot_be_changed_behind_the_models_back():
    made = model()
    with pytest.raises(ValueError, match="read-only"):
        made.item_factors[0] = 0
    changed = made.item_factors.copy()
    changed[0] = 0
    made.item_factors = changed
    changed[1] = 99  # the model has its own copy
    assert (made.item_factors[0] == 0).all()
    assert (made.item_factors[1] != 99).all()


@pytest.mark.parametrize("form", ["csr_array", "coo", "csc", "lil", "dok"])
def test_rows_may_have_any_format(form):
    users = sp.csr_array(matrix()) if form == "csr_array" else matrix()
    row = users[3] if form == "csr_array" else users[3].asformat(form)  # of a csr_array, with one dimension
    made, other = model(), model()
    assert len(row.shape) == (1 if form == "csr_array" else 2)
    for found, wanted in (
        (made.recommend(3, row, N=5), made.recommend(3, matrix()[3], N=5)),
        (made.recalculate_user(3, row), made.recalculate_user(3, matrix()[3])),
    ):
        np.testing.assert_array_equal(found, wanted)
    made.partial_fit_users([3], row)
    other.partial_fit_users([3], matrix()[3])
    np.testing.assert_array_equal(made.user_factors, other.user_factors)


@pytest.mark.parametrize(
    ("call", "error", "message"),
    [
        (lambda m, d: m.recommend(30, d[0]), IndexError, "userid must be from 0 to 29, got 30"),
        (lambda m, d: m.recommend(-1, d[0]), IndexError, "got -1"),
        (lambda m, d: m.recommend(1.5, d[0]), TypeError, "userid must be an integer"),
        (lambda m, d: m.recommend(0, d), ValueError, "1 row for every user in userid: 1, got 30"),
        (
            lambda m, d: m.recommend(0, d[0].toarray()),
            TypeError,
            "user_items must be a scipy.sparse.*ndarray",
        ),
        (lambda m, d: m.recommend(0, d[0], N=0), ValueError, "N must be at least 1, got 0"),
        (lambda m, d: m.recommend(0, d[0], items=[20]), IndexError, "items must be from 0 to 19, got 20"),
        (lambda m, d: m.recommend(0, d[0], items=[]), ValueError, "items must name at least one row"),
        (lambda m, d: m.recommend(0, d[0], items=[1], filter_items=[2]), ValueError, "cannot both be given"),
        (lambda m, d: m.recommend(0, sp.hstack([d[0]] * 2).tocsr()), IndexError, "the model has 20 items"),
        (lambda m, _: m.similar_items(20), IndexError, "itemid must be from 0 to 19, got 20"),
        (lambda m, d: m.recalculate_user([0, 1], d), ValueError, "one row for every user, 2, got 30"),
        (lambda m, d: m.recalculate_user(0, sp.hstack([d[0]] * 2).tocsr()), ValueError, "at most 20 columns"),
        (lambda m, d: m.partial_fit_users([-1], d[:1]), ValueError, "userids must not be negative"),
        (lambda m, d: m.explain(30, d, 0), IndexError, "userid must be from 0 to 29, got 30"),
        (lambda m, d: m.explain(0, d, 20), IndexError, "itemid must be from 0 to 19, got 20"),
        (lambda m, d: m.fit(d * np.nan), ValueError, "finite"),
        (lambda m, d: m.fit(d.toarray()), TypeError, "scipy.sparse matrix.*ndarray"),
    ],
)
def test_errors_say_what_was_required_and_what_came(call, error, message):
    made = model()
    with pytest.raises(error, match=message):
        call(made, matrix())


def test_queries_before_fit_say_so():
    with pytest.raises(NotFittedError, match="call fit"):
        AlternatingLeastSquares().recommend(0, matrix()[0])
    assert AlternatingLeastSquares().user_factors is None


def test_partial_fits_store_what_recalculations_return():
    made, data = model(), matrix()
    expected = made.recalculate_user([40, 2], data[[5, 6]])
    made.partial_fit_users([40, 2], data[[5, 6]])
    assert_array_equal(made.user_factors[[40, 2]], expected)
    assert made.user_factors.shape == (41, 4)
    assert not made.user_factors[30:40].any()
    before = made.similar_items(20 - 1)[0]
    made.partial_fit_items([19], data.T.tocsr()[[0]])
    assert not np.array_equal(made.similar_items(19)[0], before)


def test_a_file_keeps_everything_and_is_opened_from_anywhere(tmp_path):
    made = model(regularization=0.5, alpha=3.0, random_state=9)
    made.save(tmp_path / "model")
    memory = io.BytesIO()
    made.save(memory)
    memory.seek(0)
    for source in (tmp_path / "model", str(tmp_path / "model.npz"), memory):
        loaded = AlternatingLeastSquares.load(source)
        assert_array_equal(loaded.item_factors, made.item_factors)
        assert (loaded.regularization, loaded.alpha, loaded.random_state) == (0.5, 3.0, 9)


def test_files_that_are_no_models_are_refused(tmp_path):
    (tmp_path / "text.npz").write_text("not an archive")
    np.savez(tmp_path / "pickled.npz", user_factors=np.array([{}], dtype=object))
    np.savez(tmp_path / "flat.npz", user_factors=np.zeros(3))
    for name in ("text", "pickled", "flat"):
        with pytest.raises(ValueError, match=r"not a model|must be a matrix"):
            AlternatingLeastSquares.load(tmp_path / name)
