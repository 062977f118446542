"""The extension attacked directly: wrong shapes, types and indices are exceptions, never crashes."""

import re
from itertools import pairwise

import numpy as np
import polars as pl
import pytest
from hypothesis import given
from hypothesis import strategies as st

from ialspp import _core


def rows(offsets=(0, 2, 3), columns=(0, 2, 1), n_columns=3, labels=None, weights=None):
    return _core.Rows(
        np.array(offsets, np.int64),
        np.array(columns, np.int32),
        n_columns,
        None if labels is None else np.array(labels, np.float32),
        None if weights is None else np.array(weights, np.float32),
    )


def floats(*shape):
    return np.ones(shape, dtype=np.float32)


@pytest.mark.parametrize(
    ("wrong", "message"),
    [
        ({"offsets": ()}, "offsets must not be empty"),
        ({"offsets": (1, 2, 3)}, "offsets must run from 0"),
        ({"offsets": (0, 2, 4)}, "offsets must run from 0"),
        ({"offsets": (0, 5, 3)}, "offsets must not decrease, at position 1"),
        ({"columns": (0, 3, 1)}, "columns must be from 0 to 2, at position 1"),
        ({"columns": (0, 2, -1)}, "columns must be from 0 to 2, at position 2"),
        ({"labels": (1, 2)}, "length of labels must be 3, got 2"),
        ({"weights": (1, 2, 3, 4)}, "length of weights must be 3, got 4"),
    ],
)
def test_rows_check_themselves(wrong, message):
    with pytest.raises(ValueError, match=message):
        rows(**wrong)


@pytest.mark.parametrize(
    ("starts", "ranks", "message"),
    [
        ((0, 1, 3), (0, 0, 0), "length of starts must be 4, got 3"),
        ((0, 1, 2, 3), (0, 0), "length of ranks must be 3, got 2"),
        ((0, 1, 2, 4), (0, 0, 0), "starts must run from 0"),
        ((0, 2, 1, 3), (0, 0, 0), "starts must not decrease, at position 1"),
        ((0, 1, 2, 3), (0, 1, 0), "ranks must stay inside their column's list, at position 1"),
    ],
)
def test_cache_order_is_checked(starts, ranks, message):
    with pytest.raises(ValueError, match=message):
        rows().set_cache_order(np.array(starts, np.int64), np.array(ranks, np.uint32))


GRAM = np.eye(2)
GOOD = {
    "solve_rows": (rows(), floats(2, 2), floats(2), floats(3, 2), GRAM, 0.1, True, 1.5, 2),
    "update_side": (rows(), floats(2, 2), floats(2), floats(3, 2), GRAM, 0.1, 1, 1.5, 2),
    "update_block": (
        *(rows(), floats(2, 2), floats(2), floats(3, 2)),
        *(GRAM[:, :1].copy(), 0.1, 1, floats(3), 1.5, 2),
    ),
    "improve_rows": (rows(), floats(2, 2), floats(2), floats(3, 2), floats(2), GRAM, 2, 0.0, 1.5, 2),
    "update_coordinate": (rows(), floats(2, 2), floats(2), floats(3, 2), floats(2), 0.1, 1, floats(3), 2),
}


@pytest.mark.parametrize("name", GOOD)
def test_good_arguments_work(name):
    getattr(_core, name)(*GOOD[name])


@pytest.mark.parametrize("name", GOOD)
@pytest.mark.parametrize(
    ("place", "wrong"),
    [
        (1, floats(3, 2)),
        (1, floats(2, 3)),
        (1, floats(2, 0)),
        (1, floats(2)),
        (1, np.ones((2, 2))),
        (1, floats(2, 4)[:, ::2]),
        (2, floats(3)),
        (3, floats(2, 2)),
        (3, floats(3, 3)),
        (4, np.eye(5)),
        (4, None),
        (7, floats(2)),
    ],
)
def test_wrong_arguments_are_exceptions(name, place, wrong):
    arguments = list(GOOD[name])
    arguments[place] = wrong
    with pytest.raises((TypeError, ValueError)):
        getattr(_core, name)(*arguments)


@pytest.mark.parametrize("wrong", [np.eye(3), np.ones((2, 3)), np.ones((3, 2)), np.ones(4)])
def test_a_coupling_that_does_not_fit_is_an_exception(wrong):
    arguments = list(GOOD["improve_rows"])
    arguments[5] = wrong
    with pytest.raises((TypeError, ValueError)):
        _core.improve_rows(*arguments)


@pytest.mark.parametrize("name", GOOD)
def test_centres_must_fit_the_factors(name):
    getattr(_core, name)(*GOOD[name], floats(2, 2))
    for wrong in (floats(3, 2), floats(2, 1)):
        with pytest.raises(ValueError, match="centres"):
            getattr(_core, name)(*GOOD[name], wrong)
    for wrong in (floats(2), "centres"):
        with pytest.raises(TypeError):
            getattr(_core, name)(*GOOD[name], wrong)


def test_sums_over_features_check_their_arguments():
    features, by_feature = rows(), _core.Rows(np.arange(4), np.array([0, 1, 1], np.int32), 2)
    assert _core.feature_products(features, floats(2), floats(2, 2), 1).shape == (3, 2)
    assert _core.feature_gramian(features, by_feature, floats(2), 1).shape == (3, 3)
    for wrong in ((floats(3), floats(2, 2)), (floats(2), floats(3, 2)), (floats(2), floats(2, 0))):
        with pytest.raises(ValueError, match=r"length of|at least one column"):
            _core.feature_products(features, *wrong, 1)
    for wrong in ((features, floats(2)), (by_feature, floats(3))):
        with pytest.raises(ValueError, match="length of"):
            _core.feature_gramian(features, *wrong, 1)


def test_a_matrix_without_rows_may_have_any_number_of_columns():
    nobody = _core.Rows(np.zeros(1, np.int64), np.zeros(0, np.int32), 0)
    assert _core.feature_products(nobody, floats(0), floats(0, 2**40), 2).shape == (0, 2**40)


@pytest.mark.parametrize("name", GOOD)
@pytest.mark.parametrize("threads", [-3, 0, 999])
def test_any_number_of_threads_is_survived(name, threads):
    getattr(_core, name)(*GOOD[name][:-1], threads)


@pytest.mark.parametrize("begin", [-1, 2, 100, 2**63 - 2])
def test_blocks_outside_the_factors_are_exceptions(begin):
    for name in ("update_block", "update_coordinate"):
        arguments = list(GOOD[name])
        arguments[6] = begin
        with pytest.raises(ValueError, match="outside the factors"):
            getattr(_core, name)(*arguments)
    with pytest.raises(ValueError, match="outside the factors"):
        _core.gramian(floats(5, 2), begin, begin + 1, 1)


def test_factors_without_columns_are_exceptions():
    with pytest.raises(ValueError, match="at least one column"):
        _core.residuals(rows(), floats(2, 0), floats(3, 0), 2)


def test_a_block_size_of_zero_is_an_exception():
    arguments = list(GOOD["update_side"])
    arguments[6] = 0
    with pytest.raises(ValueError, match="block_size"):
        _core.update_side(*arguments)


def test_sorting_pairs_checks_its_arguments():
    two, three = np.zeros(2, np.int32), np.zeros(3, np.int32)
    with pytest.raises(ValueError, match="rows must be from 0 to 1, at position 2"):
        _core.sort_pairs(np.array([0, 1, 2], np.int32), three, 2, 1)
    with pytest.raises(ValueError, match="columns must be from 0 to 1, at position 1"):
        _core.sort_pairs(two, np.array([0, -1], np.int32), 1, 2)
    with pytest.raises(ValueError, match="n_rows must be from 0 to 2147483632, got -1"):
        _core.sort_pairs(np.array([], np.int32), np.array([], np.int32), -1, 0)
    with pytest.raises(ValueError, match="length of columns must be 2, got 3"):
        _core.sort_pairs(two, three, 2, 2)


@given(st.lists(st.tuples(st.integers(0, 5), st.integers(0, 6)), max_size=40))
def test_sorted_pairs_are_pythons_sorted_pairs(pairs):
    rows, columns = (np.array([pair[side] for pair in pairs], dtype=np.int32) for side in (0, 1))
    places = np.arange(len(pairs), dtype=np.float64)
    offsets, found, _, _, order = _core.sort_pairs(rows, columns, 6, 7, None, None, places, threads=2)
    assert list(zip(np.repeat(np.arange(6), np.diff(offsets)), found, strict=True)) == sorted(pairs)
    assert order.tolist() == sorted(range(len(pairs)), key=lambda i: pairs[i])
    first, left = _core.mark_first(_core.Rows(offsets, found, 7))
    assert np.count_nonzero(first) == left[-1] == len(set(pairs))
    assert list(zip(np.repeat(np.arange(6), np.diff(left)), found[first], strict=True)) == sorted(set(pairs))


@given(st.data(), st.integers(1, 3))
def test_rows_are_sorted_range_by_range_as_all_at_once(data, threads):
    rng = np.random.default_rng(data.draw(st.integers(0, 99)))
    n = data.draw(st.sampled_from([0, 1, 50, 70_000]))  # shared by threads from 65,536 on
    rows, columns = (rng.integers(0, end, n).astype(np.int32) for end in (6, 7))
    labels, weights = rng.random((2, n), dtype=np.float32)
    values = labels, weights, rng.random(n)
    cut = data.draw(st.integers(0, 6))
    offsets, *whole = _core.sort_pairs(rows, columns, 6, 7, *values, threads=threads)
    parts = [
        _core.sort_pairs(rows, columns, 6, 7, *values, *ends, threads) for ends in ((0, cut), (cut, None))
    ]
    assert np.array_equal(np.diff(offsets), np.concatenate([np.diff(part[0]) for part in parts]))
    order = np.lexsort((np.arange(n), columns, rows))
    for array, own, *pieces in zip(whole, (columns, *values), *(part[1:] for part in parts), strict=True):
        assert np.array_equal(array, own[order])
        assert np.array_equal(array, np.concatenate(pieces))
    made = _core.Rows(offsets, whole[0], 7, *whole[1:3])
    turned, columns_of, *_ = _core.transpose(made, threads=threads)
    some = _core.transpose(made, 2, 5, threads)
    assert np.array_equal(some[0], turned[2:6] - turned[2])
    assert np.array_equal(some[1], columns_of[turned[2] : turned[5]])
    assert np.array_equal(_core.offsets_of(whole[0], 7, threads), turned)
    with pytest.raises(ValueError, match="keys must be from 0 to 6, at position 0"):
        _core.offsets_of(np.array([7], np.int32), 7)


def test_ranges_are_checked():
    none = np.zeros(0, np.int32)
    for begin, end in ((-1, 2), (0, 6), (3, 2)):
        with pytest.raises(ValueError, match="must be from"):
            _core.sort_pairs(none, none, 5, 5, begin=begin, end=end)
        with pytest.raises(ValueError, match="must be from"):
            _core.transpose(_core.Rows(np.zeros(1, np.int64), none, 5), begin, end)
    with pytest.raises(ValueError, match="length of times must be 0, got 1"):
        _core.sort_pairs(none, none, 5, 5, times=np.zeros(1))


@given(
    st.lists(st.tuples(st.integers(0, 5), st.integers(0, 6)), max_size=40),
    st.integers(0, 4),
    st.integers(0, 4),
    st.integers(1, 3),
)
def test_a_core_is_what_is_left_when_all_that_lack_partners_are_removed(pairs, least, column_least, threads):
    left = set(pairs)
    while True:
        counts = [[sum(pair[side] == n for pair in left) for n in range(7)] for side in (0, 1)]
        kept = {(u, i) for u, i in left if counts[0][u] >= least and counts[1][i] >= column_least}
        if kept == left:
            break
        left = kept
    offsets, columns, *_ = _core.sort_pairs(
        *(np.array([pair[side] for pair in sorted(set(pairs))], dtype=np.int32) for side in (0, 1)), 6, 7
    )
    in_rows, in_columns = _core.find_core(_core.Rows(offsets, columns, 7), least, column_least, threads)
    assert {(u, i) for u, i in set(pairs) if in_rows[u] and in_columns[i]} == left


@given(st.lists(st.integers(-(2**63), 2**63 - 1) | st.integers(-5, 5), max_size=60), st.integers(0, 60))
def test_integers_are_numbered_as_they_come(keys, cut):
    dictionary = _core.IntegerDictionary()
    array = np.array(keys, dtype=np.int64)
    numbers = np.concatenate([dictionary.encode(array[:cut]), dictionary.encode(array[cut:])])
    assert dictionary.keys().tolist() == list(dict.fromkeys(keys))
    assert dictionary.keys()[numbers].tolist() == keys


def test_a_dictionary_of_many_integers_grows():
    keys = np.random.default_rng(0).integers(-(2**63), 2**63 - 1, 50_000)
    dictionary = _core.IntegerDictionary()
    assert dictionary.encode(keys).tolist() == list(range(50_000))
    assert dictionary.encode(keys[::-1].copy()).tolist() == list(range(49_999, -1, -1))
    assert np.array_equal(dictionary.keys(), keys)


@given(st.lists(st.text(max_size=12) | st.integers().map(str), max_size=30))
def test_texts_are_sorted_as_python_sorts_them(texts):
    dictionary = _core.Dictionary()
    dictionary.encode(pl.Series(texts, dtype=pl.String).__arrow_c_stream__())
    distinct = list(dict.fromkeys(texts))
    order, offsets, characters = dictionary.sorted()
    found = [bytes(characters[a:b]).decode() for a, b in pairwise(offsets.tolist())]
    assert found == sorted(distinct) == [distinct[number] for number in order]
    integers = dictionary.integers()
    usual = all(re.fullmatch("-?[1-9][0-9]*|0", text) and -(2**63) <= int(text) < 2**63 for text in distinct)
    assert (integers is not None) == usual
    assert integers is None or integers.tolist() == [int(text) for text in distinct]


def test_values_of_a_run_are_summed():
    values = np.array([5, 1, 3], np.float32)
    assert _core.sum_runs(values, np.array([True, False, True])).tolist() == [6, 3]
    assert _core.sum_runs(values[:0], np.zeros(0, bool)).tolist() == []
    with pytest.raises(ValueError, match="must start at the first"):
        _core.sum_runs(values, np.array([False, False, True]))


def test_a_transpose_has_every_entry_its_values_and_its_place():
    given = rows(offsets=(0, 2, 2, 5), columns=(1, 3, 3, 0, 1), n_columns=4)
    offsets, columns, labels, weights = _core.transpose(given)
    assert offsets.tolist() == [0, 1, 3, 3, 5]
    assert columns.tolist() == [2, 0, 2, 0, 2]
    assert labels is weights is None
    assert _core.transposed_ranks(given).tolist() == [1, 0, 2, 1, 0]


def test_a_transpose_takes_labels_and_weights_along():
    given = rows(columns=(1, 2, 1), labels=(1, 2, 3), weights=(4, 5, 6))
    *_, labels, weights = _core.transpose(given)
    assert labels.tolist() == [1, 3, 2]
    assert weights.tolist() == [4, 6, 5]


def test_rows_know_whether_they_have_a_cache_order():
    given = rows()
    assert not given.has_cache_order
    given.set_cache_order(np.array([0, 1, 2, 3]), np.zeros(3, np.uint32))
    assert given.has_cache_order


def test_empty_arrays_are_fine():
    assert _core.gramian(floats(0, 3), 0, 3, 2).tolist() == np.zeros((3, 3)).tolist()
    assert _core.squared_sum(floats(0), 2) == 0
    assert rank(floats(0, 3), floats(4, 3), 2)[0].shape == (0, 2)
    empty = _core.Rows(np.zeros(1, np.int64), np.zeros(0, np.int32), 3)
    assert _core.residuals(empty, floats(0, 2), floats(3, 2), 2).shape == (0,)


@pytest.mark.usefixtures("isa")
@pytest.mark.parametrize(("rows_", "dim"), [(1, 1), (1000, 7), (5000, 130), (300, 600)])
def test_gramians_match_numpy(rows_, dim):
    x = np.random.default_rng(0).normal(size=(rows_, dim)).astype(np.float32)
    wanted = x.astype(float).T @ x.astype(float)
    whole = _core.gramian(x, 0, dim, 3)
    assert np.abs(whole - wanted).max() < 1e-6 * np.abs(wanted).max()
    part = _core.gramian(x, dim // 3, dim // 3 + 1 + dim // 2, 2)
    assert np.abs(part - wanted[:, dim // 3 : dim // 3 + 1 + dim // 2]).max() < 1e-6 * np.abs(wanted).max()


@pytest.mark.usefixtures("isa")
@pytest.mark.parametrize("k", [0, 1, 7, 53])
def test_the_best_match_numpys_and_wanted_ones_stand_where_sorting_puts_them(k):
    rng = np.random.default_rng(0)
    x, y = (rng.integers(-2, 3, (n, 5)).astype(np.float32) for n in (101, 53))  # small integers: ties
    hidden, wanted = (rng.random((101, 53)) < share for share in (0.3, 0.2))
    hidden[0], wanted[1] = True, False
    best, scores, standings = rank(x, y, k, 53, hidden=hidden, wanted=wanted)
    places = iter(standings.tolist())
    for user, exact in enumerate(np.where(hidden, -np.inf, x @ y.T)):
        order = [i for i in np.argsort(-exact, kind="stable") if not hidden[user, i]]
        assert best[user].tolist() == (order + [-1] * k)[:k]
        assert scores[user].tolist() == (exact[order].tolist() + [-np.inf] * k)[:k]
        for item in np.flatnonzero(wanted[user]):
            above, equal = (exact > exact[item]).sum(), (exact == exact[item]).sum() - 1
            assert next(places) == [above, equal, (exact[:item] == exact[item]).sum()]
    assert next(places, None) is None
    _, _, shallow = rank(x, y, 0, 6, hidden=hidden, wanted=wanted)
    deep = standings[:, 0] >= 6
    assert np.array_equal(shallow[~deep], standings[~deep])
    assert (shallow[deep] == [6, 0, 0]).all()


@pytest.mark.usefixtures("isa")
@pytest.mark.parametrize("n_items", [1, 16, 53, 3000])  # less than a chunk of 1024 items, and several
@pytest.mark.parametrize("share", [0.0, 0.001, 0.3, 1.0])
def test_candidates_and_masks_leave_the_same_as_sorting_what_they_leave(n_items, share):
    rng = np.random.default_rng(1)
    x, y = (rng.integers(-2, 3, (n, 5)).astype(np.float32) for n in (50, n_items))
    candidates, hidden = (rng.random((50, n_items)) < part for part in (share, 0.3))
    eligible = rng.random(n_items) < 0.7
    eligible[1000:2500] = False
    k = min(n_items, 20)
    best, scores, _ = rank(x, y, k, hidden=hidden, candidates=candidates, eligible=eligible)
    whole, whole_scores, _ = rank(x, y, n_items)
    for user, allowed in enumerate(candidates & ~hidden & eligible):
        left = [i for i in whole[user] if allowed[i]][:k]
        assert best[user].tolist() == left + [-1] * (k - len(left))
        exact = dict(zip(whole[user], whole_scores[user], strict=True))
        assert scores[user, : len(left)].tolist() == [exact[i] for i in left]


def rank(x, y, k, depth=0, hidden=None, candidates=None, eligible=None, wanted=None):
    hidden, candidates, wanted = (
        None if mask is None else sparse(mask) for mask in (hidden, candidates, wanted)
    )
    mask = None if eligible is None else eligible.astype(np.uint8)
    return _core.rank(x, _core.PackedItems(y, 2), hidden, candidates, mask, wanted, k, depth, 3)


def sparse(mask):
    return _core.Rows(
        np.concatenate([[0], mask.sum(axis=1).cumsum()]),
        np.nonzero(mask)[1].astype(np.int32),
        mask.shape[1],
    )


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ({"y": floats(4, 2)}, "same width"),
        ({"k": 5}, "k must be"),
        ({"k": -1}, "k must be"),
        ({"depth": 5}, "depth must be"),
        ({"hidden": np.ones((3, 4))}, "hidden must be 2, got 3"),
        ({"candidates": np.ones((1, 4))}, "candidates must be 2, got 1"),
        ({"eligible": np.ones(3)}, "eligible must be 4, got 3"),
        ({"wanted": np.ones((2, 3))}, "wanted's columns must be 4, got 3"),
    ],
)
def test_rankings_of_things_that_do_not_fit_are_exceptions(arguments, message):
    with pytest.raises(ValueError, match=message):
        rank(**{"x": floats(2, 3), "y": floats(4, 3), "k": 1, **arguments})


@pytest.mark.usefixtures("isa")
def test_kernels_without_half_precision_refuse_it():
    copy = np.zeros((3, 16), np.uint16)
    arguments = rows(), floats(2, 2), floats(2), copy, 1.0, floats(2), None, 2, 0.0, 1.0, 2
    if _core.has_half():
        assert _core.copy_to_half(floats(3, 2), 1.0, copy, 2)
        assert _core.improve_rows_by_half(*arguments)[1] == -1
        return
    with pytest.raises(ValueError, match="cannot write half precision"):
        _core.copy_to_half(floats(3, 2), 1.0, copy, 2)
    with pytest.raises(ValueError, match="cannot read half precision"):
        _core.improve_rows_by_half(*arguments)


def test_unknown_instruction_sets_are_refused():
    with pytest.raises(ValueError, match="not available: mmx"):
        _core.select_isa("mmx")


@pytest.mark.parametrize(
    ("x", "y", "p", "q"),
    [
        (floats(2, 2), floats(3, 3), np.eye(2), np.eye(2)),
        (floats(2, 3), floats(3, 2), np.eye(2), np.eye(2)),
        (floats(2, 2), floats(3, 2), np.ones((2, 3)), np.eye(2)),
        (floats(2, 2), floats(3, 2), np.eye(2), np.ones((3, 2))),
        (np.ones((2, 2)), floats(3, 2), np.eye(2), np.eye(2)),
        (floats(2, 2), floats(3, 4)[:, ::2], np.eye(2), np.eye(2)),
    ],
)
def test_sides_and_matrices_that_do_not_fit_are_exceptions_that_change_neither(x, y, p, q):
    before = x.copy(), y.copy()
    with pytest.raises((TypeError, ValueError)):
        _core.transform_both(x, p, y, q, 2)
    assert np.array_equal(x, before[0])
    assert np.array_equal(y, before[1])
