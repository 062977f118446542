from collections import defaultdict
from decimal import Decimal

import numpy as np
import pandas as pd
import polars as pl
import pytest
import scipy.sparse as sp
from hypothesis import given
from hypothesis import strategies as st
from support.drawing import drawn

from ialspp import Interactions, UnknownIdError

FORMATS = ["csr", "csc", "coo"]
FRAMES = [pd.DataFrame, pl.DataFrame]
DENSE = np.array([[0, 2, 0, 0], [0, 0, 0, 0], [3, 0, 0.5, 0]])

properties = drawn(40)


def entries(side):
    """{(row, column): (label, weight)} of one index."""
    rows = np.repeat(np.arange(len(side.counts)), side.counts)
    ones = np.ones(len(side.columns))
    labels = ones if side.labels is None else side.labels
    weights = ones if side.weights is None else side.weights
    found = zip(rows.tolist(), side.columns.tolist(), labels.tolist(), weights.tolist(), strict=True)
    return {(row, column): (label, weight) for row, column, label, weight in found}


def by_id(data):
    """{(user, item): (label, weight)}, once both indexes are seen to hold the same."""
    by_user, by_item = entries(data.by_user), entries(data.by_item)
    assert {(u, i): v for (i, u), v in by_item.items()} == by_user
    assert len(by_user) == len(data)
    return {(data.users.ids[u], data.items.ids[i]): v for (u, i), v in by_user.items()}


def check_layout(data):
    for side, n_rows, n_columns in (
        (data.by_user, data.n_users, data.n_items),
        (data.by_item, data.n_items, data.n_users),
    ):
        assert side.offsets.dtype == np.int64
        assert side.columns.dtype == np.int32
        assert side.offsets.shape == (n_rows + 1,)
        assert side.offsets[0] == 0
        assert side.offsets[-1] == len(side.columns) == len(data)
        assert np.array_equal(side.counts, np.diff(side.offsets))
        for start, stop in zip(side.offsets[:-1], side.offsets[1:], strict=True):
            assert (np.diff(side.columns[start:stop]) > 0).all()
        assert ((side.columns >= 0) & (side.columns < n_columns)).all()
        for numbers in side.labels, side.weights:
            assert numbers is None or (numbers.dtype == np.float32 and len(numbers) == len(data))


def one(**columns):
    return Interactions.from_arrays(**{"user": ["u"], "item": ["i"], **columns})


events = st.lists(
    st.tuples(
        st.integers(-3, 3), st.sampled_from(["", "x", "x\0", "😀"]), st.integers(0, 8).map(lambda w: w / 4)
    )
)


@given(events)
@properties
def test_without_weights_the_data_is_the_set_of_pairs(log):
    data = Interactions.from_arrays(user=[u for u, _, _ in log], item=[i for _, i, _ in log])
    check_layout(data)
    assert by_id(data) == {(u, i): (1, 1) for u, i, _ in log}
    assert data.users.ids.tolist() == sorted({u for u, _, _ in log})
    assert data.items.ids.tolist() == sorted({i for _, i, _ in log})
    assert data.by_user.labels is data.by_user.weights is data.by_item.labels is data.by_item.weights is None


@given(events)
@properties
def test_with_weights_those_of_one_pair_add_up(log):
    user, item, weight = ([event[k] for event in log] for k in range(3))
    label = [u * 0.5 for u in user]
    total = defaultdict(float)
    for u, i, w in log:
        total[u, i] += w
    data = Interactions.from_arrays(user=user, item=item, label=label, weight=weight)
    check_layout(data)
    assert by_id(data) == {(u, i): (u * 0.5, w) for (u, i), w in total.items()}


@given(events, st.randoms())
@properties
def test_the_order_of_the_log_does_not_matter(log, random):
    shuffled = random.sample(log, len(log))
    a, b = (
        Interactions.from_arrays(user=[e[0] for e in x], item=[e[1] for e in x], weight=[e[2] for e in x])
        for x in (log, shuffled)
    )
    assert a.users == b.users
    assert a.items == b.items
    assert by_id(a) == by_id(b)


def test_duplicate_pairs_collapse_without_weights():
    data = Interactions.from_arrays(user=["u", "u", "v"], item=[1, 1, 1])
    assert len(data) == 2
    assert data.by_item.counts.tolist() == [2]


def test_duplicate_pairs_collapse_when_their_labels_agree():
    data = Interactions.from_arrays(user=["u", "u"], item=[1, 1], label=[0.1, 0.1])
    assert by_id(data) == {("u", 1): (np.float32(0.1), 1)}


def test_many_small_weights_add_up_without_drift():
    data = Interactions.from_arrays(user=[1] * 100_000, item=[1] * 100_000, weight=[0.1] * 100_000)
    assert data.by_user.weights == pytest.approx([10_000], rel=1e-6)


@pytest.mark.parametrize("extra", [{}, {"weight": [1, 2, 3]}])
@pytest.mark.parametrize(
    ("user", "item", "names"), [("ann", "tea", "'ann'.*'tea'"), (7, 9, "user 7 .*item 9\\b")]
)
def test_labels_that_disagree_are_an_error_naming_user_and_item(extra, user, item, names):
    other = user * 2
    with pytest.raises(ValueError, match=f"(?i)label.*{names}.*2.*3"):
        Interactions.from_arrays(user=[other, user, user], item=[item] * 3, label=[1, 2, 3], **extra)


@pytest.mark.parametrize("name", ["label", "weight"])
def test_numbers_that_are_all_one_are_not_stored(name):
    data = Interactions.from_arrays(user=[1, 2], item=[1, 2], **{name: [1.0, 1.0]})
    assert by_id(data) == {(1, 1): (1, 1), (2, 2): (1, 1)}
    assert data.by_user.labels is data.by_user.weights is data.by_item.labels is data.by_item.weights is None


def test_zero_weights_and_negative_labels_are_kept():
    assert by_id(one(weight=[0], label=[-2])) == {("u", "i"): (-2, 0)}


@pytest.mark.parametrize(
    ("user", "item"),
    [
        ([2**63, 2**64 - 1, 1], [-(2**63), 0, 2**63 - 1]),
        (np.array([2**64 - 1, 0, 2**63], np.uint64), np.array([1, 2, 3], np.int8)),
        ([10**30, -(10**30), 0], [2**64, 2**64 + 1, 1]),
        (["", "😀", "\ud800"], ["a", "a\0", "\0"]),
        (np.array(["ß", "ss", "SS"]), np.array([" ", "\n", "\u200b"], object)),
    ],
)
def test_ids_of_any_kind_come_back_as_they_went_in(user, item):
    data = Interactions.from_arrays(user=user, item=item)
    assert set(by_id(data)) == set(zip(user, item, strict=True))
    assert data.users.ids.tolist() == sorted(user)
    assert data.items.ids.tolist() == sorted(item)


def test_listed_ids_set_the_row_order_and_keep_rows_without_interactions():
    data = Interactions.from_arrays(user=["b", "a"], item=[2, 2], users=["z", "b", "a"], items=[3, 2, 1])
    check_layout(data)
    assert data.users.ids.tolist() == ["z", "b", "a"]
    assert data.items.ids.tolist() == [3, 2, 1]
    assert (data.n_users, data.n_items, len(data)) == (3, 3, 2)
    assert data.by_user.counts.tolist() == [0, 1, 1]
    assert data.by_item.counts.tolist() == [0, 2, 0]


@pytest.mark.parametrize("axis", ["user", "item"])
def test_listed_ids_must_cover_the_data_and_be_distinct(axis):
    with pytest.raises(UnknownIdError, match=f"{axis}.*'{axis[0]}'"):
        one(**{f"{axis}s": ["other"]})
    with pytest.raises(ValueError, match=f"{axis}.*'twice'"):
        one(**{f"{axis}s": [axis[0], "twice", "twice"]})


def test_empty_data_is_allowed():
    data = Interactions.from_arrays(user=[], item=[])
    check_layout(data)
    assert (data.n_users, data.n_items, len(data)) == (0, 0, 0)
    data = Interactions.from_arrays(user=[], item=[], label=[], weight=[], users=[1, 2], items=["a"])
    check_layout(data)
    assert (data.n_users, data.n_items, len(data)) == (2, 1, 0)


def test_data_does_not_share_memory_with_its_source():
    user, weight = np.array([1, 2]), np.array([3, 4], np.float32)
    matrix = sp.csr_array(DENSE)
    data, from_matrix = (
        Interactions.from_arrays(user=user, item=user, weight=weight),
        Interactions.from_scipy(matrix),
    )
    before = by_id(from_matrix)
    user[:], weight[:], matrix.data[:], matrix.indices[:] = 0, 0, 9, 0
    assert by_id(data) == {(1, 1): (1, 3), (2, 2): (1, 4)}
    assert by_id(from_matrix) == before


@pytest.mark.parametrize("name", ["label", "weight"])
@pytest.mark.parametrize("bad", [np.nan, np.inf, -np.inf, 1e39, -1e39])
def test_numbers_must_be_finite_in_single_precision(name, bad):
    with pytest.raises(ValueError, match=f"{name}.*finite.*position 1"):
        Interactions.from_arrays(user=[1, 2], item=[1, 2], **{name: [1, bad]})


def test_weights_must_not_be_negative():
    with pytest.raises(ValueError, match=r"weight.*>= 0.*-0\.5.*position 1"):
        Interactions.from_arrays(user=[1, 2], item=[1, 2], weight=[1, -0.5])


def test_weights_that_add_up_beyond_single_precision_are_an_error_naming_the_pair():
    with pytest.raises(ValueError, match=r"weight.*'bob'.*'tea'"):
        Interactions.from_arrays(user=["bob", "ann", "bob"], item=["tea"] * 3, weight=[3e38, 1, 3e38])


@pytest.mark.parametrize("name", ["label", "weight"])
@pytest.mark.parametrize(
    ("bad", "error", "message"),
    [
        ([1, 2], ValueError, r"1.*2"),
        ([], ValueError, r"1.*0"),
        ([[1]], ValueError, r"\(1, 1\)"),
        (3.0, ValueError, r"\(\)"),
        (["x"], TypeError, "number"),
        ([None], TypeError, "number"),
        ([1j], TypeError, "number.*complex"),
    ],
)
def test_numbers_of_the_wrong_shape_or_kind_are_errors(name, bad, error, message):
    with pytest.raises(error, match=f"{name}.*{message}"):
        one(**{name: bad})


@pytest.mark.parametrize("axis", ["user", "item"])
@pytest.mark.parametrize(
    ("bad", "error", "message"),
    [
        (["a", None], TypeError, "position 1.*missing"),
        ([1, float("nan")], TypeError, "position 1.*missing"),
        (["a", pd.NA], TypeError, "position 1.*missing"),
        (["a", 1], TypeError, "integers.*strings.*position 1"),
        ([1.0, 2.0], TypeError, "integers or strings.*float"),
        (np.array([1.0, 2.0]), TypeError, "integers or strings.*float64"),
        ([True, False], TypeError, "integers or strings.*bool"),
        (np.array([[1, 2]]), ValueError, r"one-dimensional.*\(1, 2\)"),
        ("ab", TypeError, "'ab'"),
        (7, TypeError, "7"),
    ],
)
def test_bad_ids_are_errors_that_say_which_axis_and_where(axis, bad, error, message):
    with pytest.raises(error, match=f"{axis}.*{message}"):
        Interactions.from_arrays(**{"user": [1, 2], "item": [1, 2], axis: bad})


def test_users_and_items_must_have_one_length():
    with pytest.raises(ValueError, match=r"user.*item.*length.*3.*2"):
        Interactions.from_arrays(user=[1, 2, 3], item=[1, 2])


@pytest.mark.parametrize("form", FORMATS)
@pytest.mark.parametrize("kind", [sp.csr_matrix, sp.csr_array])
@pytest.mark.parametrize("dtype", [np.float64, np.float32])
def test_a_sparse_matrix_gives_weights_and_keeps_empty_rows(form, kind, dtype):
    data = Interactions.from_scipy(kind(DENSE.astype(dtype)).asformat(form))
    check_layout(data)
    assert by_id(data) == {(0, 1): (1, 2), (2, 0): (1, 3), (2, 2): (1, 0.5)}
    assert (data.n_users, data.n_items) == DENSE.shape


@pytest.mark.parametrize("form", FORMATS)
def test_the_values_of_a_sparse_matrix_are_labels_or_nothing_on_request(form):
    matrix = sp.csr_array(DENSE).asformat(form)
    labelled = Interactions.from_scipy(matrix, values="label")
    assert by_id(labelled) == {(0, 1): (2, 1), (2, 0): (3, 1), (2, 2): (0.5, 1)}
    plain = Interactions.from_scipy(matrix, values=None)
    assert by_id(plain) == {(0, 1): (1, 1), (2, 0): (1, 1), (2, 2): (1, 1)}


def test_a_sparse_matrix_takes_ids_for_its_rows_and_columns():
    data = Interactions.from_scipy(sp.csr_array(DENSE), users=["c", "b", "a"], items=[2**70, 7, 8, 9])
    assert data.users.ids.tolist() == ["c", "b", "a"]
    assert by_id(data) == {("c", 7): (1, 2), ("a", 2**70): (1, 3), ("a", 8): (1, 0.5)}


def test_repeated_and_zero_entries_of_a_sparse_matrix_count_as_interactions():
    matrix = sp.coo_array(([1.5, 2.5, 0.0], ([0, 0, 1], [1, 1, 0])), shape=(2, 2))
    assert by_id(Interactions.from_scipy(matrix)) == {(0, 1): (1, 4), (1, 0): (1, 0)}
    assert by_id(Interactions.from_scipy(matrix, values=None)) == {(0, 1): (1, 1), (1, 0): (1, 1)}
    with pytest.raises(ValueError, match=r"(?i)label"):
        Interactions.from_scipy(matrix, values="label")


def test_unsorted_csr_rows_are_read_right():
    matrix = sp.csr_array((np.array([1.0, 2.0, 3.0]), np.array([2, 0, 1]), np.array([0, 2, 3])), shape=(2, 3))
    data = Interactions.from_scipy(matrix)
    check_layout(data)
    assert by_id(data) == {(0, 2): (1, 1), (0, 0): (1, 2), (1, 1): (1, 3)}


@pytest.mark.parametrize(
    ("matrix", "extra", "error", "message"),
    [
        (DENSE, {}, TypeError, "sparse.*ndarray"),
        (sp.csr_array(-DENSE), {}, ValueError, "weight.*>= 0.*-2"),
        (sp.csr_array(DENSE * 1e39), {}, ValueError, "weight.*finite"),
        (sp.csr_array(DENSE * 1j), {}, TypeError, "number.*complex"),
        (sp.coo_array(DENSE[0]), {}, ValueError, r"two-dimensional.*\(4,\)"),
        (sp.csr_array(DENSE), {"values": "weights"}, ValueError, "values.*'weights'"),
        (sp.csr_array(DENSE), {"users": [1, 2]}, ValueError, "users.*2.*3"),
        (sp.csr_array(DENSE), {"items": list(range(5))}, ValueError, "items.*5.*4"),
        (sp.csr_array(DENSE), {"users": [1, 2, 2]}, ValueError, "user.*2"),
    ],
)
def test_bad_matrices_are_errors(matrix, extra, error, message):
    with pytest.raises(error, match=message):
        Interactions.from_scipy(matrix, **extra)


@pytest.mark.parametrize("frame", FRAMES)
def test_named_columns_of_a_frame_are_read(frame):
    table = frame(
        {"y": [5, 6, 5], "who": ["b", "a", "b"], "what": [2, 1, 2], "w": [0.5, 2.0, 0.25], "": [0, 0, 0]}
    )
    data = Interactions.from_dataframe(table, user="who", item="what", label="y", weight="w")
    check_layout(data)
    assert by_id(data) == {("a", 1): (6, 2), ("b", 2): (5, 0.75)}
    assert by_id(Interactions.from_dataframe(table, user="who", item="what")) == {
        ("a", 1): (1, 1),
        ("b", 2): (1, 1),
    }


@pytest.mark.parametrize("frame", FRAMES)
def test_odd_ids_of_a_frame_come_back_as_they_went_in(frame):
    user, item = ["", "😀", "a\0", "a"], [0, 1, 2**63, 2**64 - 1]
    data = Interactions.from_dataframe(frame({"u": user, "i": item}), user="u", item="i")
    assert set(by_id(data)) == set(zip(user, item, strict=True))


@pytest.mark.parametrize(
    ("user", "item"),
    [
        ("string", "Int64"),
        ("string[python]", "UInt64"),
        ("category", "category"),
        (object, object),
        (None, "Int8"),
        (None, "uint64"),
    ],
)
def test_pandas_dtypes_give_the_same_data(user, item):
    values = {"u": pd.Series(["b", "a", "b"], dtype=user), "i": pd.Series([2, 1, 1], dtype=item)}
    table = pd.DataFrame(values).set_index(pd.Index([9, 9, 4]))
    data = Interactions.from_dataframe(table, user="u", item="i")
    assert by_id(data) == {("b", 2): (1, 1), ("a", 1): (1, 1), ("b", 1): (1, 1)}
    assert data.users.ids.tolist() == ["a", "b"]


def test_nullable_integers_keep_every_digit():
    wide = [2**63 - 1, 2**63 - 2]
    for table in (
        pd.DataFrame({"u": pd.Series(wide, dtype="Int64"), "i": [1, 2]}),
        pl.DataFrame({"u": wide, "i": [1, 2]}),
    ):
        assert Interactions.from_dataframe(table, user="u", item="i").users.ids.tolist() == sorted(wide)


@pytest.mark.parametrize("dtype", [pl.Categorical, pl.Enum(["b", "a"]), pl.String])
def test_polars_string_dtypes_give_the_same_data(dtype):
    table = pl.DataFrame({"u": ["b", "a"], "i": [1, 2]}).with_columns(pl.col("u").cast(dtype))
    data = Interactions.from_dataframe(table, user="u", item="i")
    assert by_id(data) == {("b", 1): (1, 1), ("a", 2): (1, 1)}
    assert data.users.ids.tolist() == ["a", "b"]


def test_nullable_numbers_are_read():
    weight = pd.Series([1, 2], dtype="Float64")
    table = pd.DataFrame({"u": [1, 2], "i": [1, 2], "w": weight, "y": pd.Series([3, 4], dtype="Int64")})
    data = Interactions.from_dataframe(table, user="u", item="i", weight="w", label="y")
    assert by_id(data) == {(1, 1): (3, 1), (2, 2): (4, 2)}


@pytest.mark.parametrize("frame", FRAMES)
@pytest.mark.parametrize("role", ["user", "item", "label", "weight"])
def test_a_column_that_is_not_there_is_named(frame, role):
    columns = {"user": "u", "item": "i", "label": "n", "weight": "n", role: "absent"}
    with pytest.raises((ValueError, KeyError), match=f"{role}.*'absent'.*'u'.*'i'"):
        Interactions.from_dataframe(frame({"u": [1], "i": [1], "n": [1]}), **columns)


@pytest.mark.parametrize("frame", FRAMES)
@pytest.mark.parametrize("column", ["u", "i", "w", "y"])
def test_a_missing_value_in_a_frame_is_an_error_naming_column_and_row(frame, column):
    values = {"u": ["a", "b"], "i": [1, 2], "w": [1.0, 2.0], "y": [1, 2]}
    values[column] = [values[column][0], None]
    with pytest.raises((ValueError, TypeError), match=f"'{column}'.*missing.*row 1"):
        Interactions.from_dataframe(frame(values), user="u", item="i", weight="w", label="y")


@pytest.mark.parametrize("dtype", ["string", "category", "Int64"])
def test_a_missing_id_of_any_pandas_dtype_is_an_error_naming_column_and_row(dtype):
    values = pd.Series([1, None], dtype=dtype) if dtype == "Int64" else pd.Series(["a", None], dtype=dtype)
    with pytest.raises((ValueError, TypeError), match=r"'u'.*missing.*row 1"):
        Interactions.from_dataframe(pd.DataFrame({"u": values, "i": [1, 2]}), user="u", item="i")


@pytest.mark.parametrize("frame", FRAMES)
def test_bad_values_in_a_frame_are_errors(frame):
    table = frame({"i": [1, 2], "f": [1.0, 2.0], "b": [True, False], "s": ["x", "y"], "n": [1, -1]})
    for user, message in ("f", "user.*float"), ("b", "user.*bool"):
        with pytest.raises(TypeError, match=message):
            Interactions.from_dataframe(table, user=user, item="i")
    with pytest.raises(TypeError, match=r"weight.*number"):
        Interactions.from_dataframe(table, user="i", item="i", weight="s")
    with pytest.raises(ValueError, match=r"weight.*>= 0.*-1.*(position|row) 1"):
        Interactions.from_dataframe(table, user="i", item="i", weight="n")
    with pytest.raises(ValueError, match=r"weight must have shape \(2,\)"):
        Interactions.from_dataframe(table, user="i", item="i", weight=[1, 2, 3])


@pytest.mark.parametrize("frame", FRAMES)
def test_values_that_were_computed_take_the_place_of_columns(frame):
    table = frame({"u": ["a", "b", "b"], "i": [1, 2, 3], "n": [1.0, 10.0, 100.0]})
    wanted = [1, 2, 3]
    for weight in (1 + np.log10(table["n"]), np.array(wanted), wanted):
        made = Interactions.from_dataframe(table, user="u", item=table["i"], weight=weight)
        assert made.by_user.weights.tolist() == pytest.approx(wanted)
    with pytest.raises(ValueError, match="weight has a missing value at row 0"):
        Interactions.from_dataframe(table, user="u", item="i", weight=table["n"].shift(1))


def test_an_expression_a_column_that_is_there_twice_and_another_kind_of_table_are_errors():
    table = pl.DataFrame({"u": [1], "i": [2]})
    with pytest.raises(TypeError, match=r"weight must be .* got an expression.*with_columns"):
        Interactions.from_dataframe(table, user="u", item="i", weight=pl.col("i") * 2)
    twice = pd.DataFrame([[1, 2, 3]], columns=["u", "u", "i"])
    with pytest.raises(ValueError, match="user column 'u' is in the frame more than once"):
        Interactions.from_dataframe(twice, user="u", item="i")
    with pytest.raises(TypeError, match=r"got Table; call to_pandas\(\) first"):
        Interactions.from_dataframe(table.to_arrow(), user="u", item="i")


def test_a_column_may_be_named_by_a_number_of_numpys():
    frame = pd.DataFrame([[1, 2], [3, 4]], columns=np.array([10, 20]))
    data = Interactions.from_dataframe(frame, user=frame.columns[0], item=np.int64(20))
    assert (data.users.ids.tolist(), data.items.ids.tolist()) == ([1, 3], [2, 4])


def test_numbers_of_a_database_are_numbers():
    weights = [Decimal("0.5"), Decimal("2")]
    data = Interactions.from_arrays(user=[1, 2], item=[1, 2], weight=np.array(weights, dtype=object))
    assert data.by_user.weights.tolist() == [0.5, 2]


def test_the_keys_of_a_dict_are_a_sequence_of_ids():
    latest = {"ann": "tea", "bob": "milk"}
    assert len(Interactions.from_arrays(user=latest.keys(), item=latest.values())) == 2


def test_what_has_no_order_or_other_values_is_no_sequence_of_ids():
    with pytest.raises(TypeError, match="users must be a sequence of ids, got the dict"):
        Interactions.from_arrays(user={"a": 1}, item=[1])
    with pytest.raises(TypeError, match="item must be a sequence with one id per interaction, got a set"):
        Interactions.from_arrays(user=[1, 2], item={1, 2})
    with pytest.raises(TypeError, match=r"float64 with a missing one at position 1; drop those"):
        Interactions.from_arrays(user=np.array([1.0, np.nan]), item=[1, 2])
    with pytest.raises(TypeError, match=r"float64; call astype\(int\)"):
        Interactions.from_arrays(user=np.array([1.0, 2.0]), item=[1, 2])


@pytest.mark.parametrize("order", "<>")
def test_large_unsigned_ids_stay_positive_in_any_byte_order(order):
    ids = np.array([2**64 - 1, 1], dtype=f"{order}u8")
    made = Interactions.from_arrays(user=ids, item=[1, 2])
    assert list(made.users) == [1, 2**64 - 1]
    assert made.users.rows([2**64 - 1]).tolist() == [1]


def test_interactions_are_selected_by_masks_of_any_kind_and_keep_the_ids_that_are_given():
    data = Interactions.from_arrays(user=["a", "b", "b", "c"], item=[1, 1, 2, 3], weight=[1, 2, 3, 4])
    mask = [False, True, False, True]
    table = data.to_frame()
    for entries in (mask, np.array(mask), table["weight"] % 2 == 0, table.to_pandas()["weight"] % 2 == 0):
        assert data.select(entries).to_frame().rows() == [("b", 1, 2.0), ("c", 3, 4.0)]
    kept = data.select(mask, users=["c", "b", "z"], items=data.items)
    assert (list(kept.users), list(kept.items)) == (["c", "b", "z"], [1, 2, 3])
    assert kept.to_frame().rows() == [("c", 3, 4.0), ("b", 1, 2.0)]
    with pytest.raises(KeyError, match="unknown user: 'c'"):
        data.select(mask, users=["a", "b"])
    with pytest.raises(ValueError, match=r"entries must be 4 booleans, got int64 of shape \(4,\)"):
        data.select([0, 1, 0, 1])


@pytest.mark.parametrize("thing", [{"u": [1], "i": [1]}, [[1, 1]], None])
def test_what_is_not_a_frame_is_a_type_error(thing):
    with pytest.raises(TypeError, match=f"(?i)frame.*{type(thing).__name__}"):
        Interactions.from_dataframe(thing, user="u", item="i")


def test_statistics_are_plain_values_that_callers_may_change():
    data = Interactions.from_arrays(
        user=["a", "a", "b"], item=[1, 2, 1], weight=[1, 2, 4], time=[0, 86_400, 5], users=["a", "b", "c"]
    )
    expected = {
        "users": 3,
        "items": 2,
        "pairs": 3,
        "density": 0.5,
        "pairs_per_user": {"least": 0, "median": 1, "most": 2},
        "pairs_per_item": {"least": 1, "median": 1, "most": 2},
        "weight": {"least": 1.0, "most": 4.0},
        "time": {"first": "1970-01-01T00:00:00Z", "last": "1970-01-02T00:00:00Z"},
    }
    first = data.statistics()
    assert first == expected
    first["pairs_per_user"]["most"] = -1
    assert data.statistics() == expected
