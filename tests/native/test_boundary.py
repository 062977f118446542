"""What the extension once read or wrote outside its arrays, or never returned from, is an exception."""

import mmap
import sys

import numpy as np
import pyarrow as pa
import pytest

from ialspp import _core

OFFSETS, COLUMNS = np.array([0, 2, 3]), np.array([0, 2, 1], np.int32)
ENDLESS = np.empty((2**40, 0), np.float32)


def floats(*shape):
    return np.ones(shape, dtype=np.float32)


def locked(array):
    copy = array.copy()
    copy.flags.writeable = False
    return copy


def ranked(hidden=None, candidates=None):
    filters = [
        None
        if columns is None
        else _core.Rows(np.array([0, len(columns)]), np.array(columns, np.int32), 5000)
        for columns in (hidden, candidates)
    ]
    items = _core.PackedItems(floats(5000, 2), 1)
    return _core.rank(floats(1, 2), items, *filters, None, None, 3, 0, 1)[0].tolist()


@pytest.mark.parametrize("columns", [(3000, 1), (7, 7), (2, 4000, 3999)])
@pytest.mark.parametrize("name", ["hidden", "candidates"])
def test_filters_that_do_not_ascend_are_exceptions(name, columns):
    with pytest.raises(ValueError, match=f"{name}'s columns must ascend in every row, at position 0"):
        ranked(**{name: columns})
    assert ranked(**{name: (1, 7)})


@pytest.mark.parametrize("view", [lambda array: array, lambda array: locked_view(array)])
def test_rows_do_not_change_with_the_arrays_they_were_made_from(view):
    offsets, columns = OFFSETS.copy(), COLUMNS.copy()
    rows = _core.Rows(view(offsets), view(columns), 3)
    offsets[:], columns[:] = 2**62, 2**31 - 1
    assert _core.transpose(rows)[0].tolist() == [0, 1, 2, 3]


def locked_view(array):
    view = array[:]
    view.flags.writeable = False
    return view


def test_rows_do_not_change_with_a_buffer_that_somebody_else_can_write_to():
    memory = bytearray(COLUMNS.tobytes())
    columns = np.frombuffer(memory, np.int32)
    columns.flags.writeable = False
    rows = _core.Rows(OFFSETS, columns, 3)
    memory[:] = b"\x7f" * len(memory)
    assert _core.transpose(rows)[0].tolist() == [0, 1, 2, 3]


def test_a_cache_order_does_not_change_with_its_arrays():
    rows = _core.Rows(OFFSETS, COLUMNS, 3)
    starts, ranks = np.array([0, 1, 2, 3]), np.zeros(3, np.uint32)
    rows.set_cache_order(starts, ranks)
    starts[:], ranks[:] = 2**62, 2**31
    residuals = floats(3)
    _core.update_coordinate(rows, floats(2, 1), floats(2), floats(3, 1), floats(1), 0.1, 0, residuals, 1)
    with pytest.raises(ValueError, match="set already"):
        rows.set_cache_order(np.array([0, 1, 2, 3]), np.zeros(3, np.uint32))


def test_constant_arrays_are_kept_without_a_copy(tmp_path):
    path = tmp_path / "columns"
    path.write_bytes(COLUMNS.tobytes())
    with path.open("rb") as file:
        mapped = np.frombuffer(mmap.mmap(file.fileno(), 0, access=mmap.ACCESS_READ), np.int32)
    _, made, *_ = _core.sort_pairs(np.array([0, 0, 1], np.int32), COLUMNS, 2, 3)
    constant = locked(COLUMNS), locked(COLUMNS)[:], mapped, np.frombuffer(COLUMNS.tobytes(), np.int32), made
    assert [is_kept(columns) for columns in constant] == [True] * 5
    assert not is_kept(COLUMNS.copy())


def is_kept(columns):
    """Whether rows refer to the array of their columns, rather than to a copy."""
    before = sys.getrefcount(columns)
    rows = _core.Rows(OFFSETS, columns, 3)
    return sys.getrefcount(columns) > before and len(rows) == 2


@pytest.mark.parametrize("name", ["offsets", "columns", "starts", "ranks"])
def test_what_the_core_makes_for_rows_cannot_be_written_to(name):
    rows = _core.Rows(OFFSETS, COLUMNS, 3)
    offsets, columns, *_ = _core.sort_pairs(COLUMNS, COLUMNS, 3, 3)
    starts, _, *_ = _core.transpose(rows)
    made = {"offsets": offsets, "columns": columns, "starts": starts, "ranks": _core.transposed_ranks(rows)}
    with pytest.raises(ValueError, match="WRITEABLE"):
        made[name].flags.writeable = True


@pytest.mark.parametrize(
    "endless",
    [
        lambda: _core.transform(ENDLESS, np.empty((0, 0)), 1),
        lambda: _core.transform_both(floats(1, 1), np.eye(1), ENDLESS, np.empty((0, 0)), 1),
        lambda: _core.PackedItems(ENDLESS, 1),
        lambda: _core.PackedItems(ENDLESS[: 2**30], 1),
        lambda: _core.copy_to_half(ENDLESS, 1.0, ENDLESS.astype(np.uint16), 1),
        lambda: _core.weighted_column_squares(ENDLESS[:3], floats(3), 1),
    ],
)
def test_matrices_without_columns_are_exceptions(endless):
    if not _core.has_half():
        pytest.skip("these kernels have no half precision")
    with pytest.raises(ValueError, match=r"at least one column|number of items must be"):
        endless()


def test_sizes_whose_product_overflows_are_exceptions():
    with pytest.raises((MemoryError, ValueError)):
        _core.gramian(np.empty((0, 2**40), np.float32), 0, 2**40, 1)
    with pytest.raises(ValueError, match=r"width must be from 0 to \d+, got 9223372036854775807"):
        _core.padded(2**63 - 1)


@pytest.mark.parametrize("size", [-1, 2**31, 2**63 - 1])
def test_more_rows_than_32_bits_number_are_exceptions(size):
    none = np.zeros(0, np.int32)
    with pytest.raises(ValueError, match=f"n_columns must be from 0 to 2147483632, got {size}"):
        _core.Rows(np.zeros(1, np.int64), none, size)
    with pytest.raises(ValueError, match=f"n_rows must be from 0 to 2147483632, got {size}"):
        _core.sort_pairs(none, none, size, 1)
    with pytest.raises(ValueError, match=f"n_columns must be from 0 to 2147483632, got {size}"):
        _core.sort_pairs(none, none, 1, size)


def test_runs_are_counted_alike_whatever_byte_stands_for_true():
    first = np.array([1, 2, 255, 0], np.uint8).view(bool)
    assert _core.sum_runs(floats(4), first).tolist() == [1, 1, 2]


def test_arrays_that_start_inside_a_number_are_exceptions():
    memory = np.zeros(4 * 6 + 1, np.uint8)[1:].view(np.float32)
    for call in (
        lambda: _core.squared_sum(memory, 1),
        lambda: _core.transform(memory.reshape(3, 2), np.eye(2), 1),
    ):
        with pytest.raises(TypeError, match="incompatible function arguments"):
            call()


@pytest.mark.parametrize("threads", [-(2**31), 2**31 - 1])
def test_no_number_of_threads_overflows(threads):
    assert _core.absolute_row_sums(_core.Rows(OFFSETS, COLUMNS, 3), threads).tolist() == [2, 1]


@pytest.mark.skipif(not _core.has_half(), reason="these kernels have no half precision")
def test_as_many_steps_as_there_may_be_come_to_an_end():
    """A copy without zeros in its padding has rows where rounding error never lets the gradient vanish."""
    rng, n = np.random.default_rng(3), 100
    columns = np.array([[2 * row, 2 * row + 1, 2 * row + 1] for row in range(n)], np.int32).reshape(-1)
    rows = _core.Rows(np.arange(0, 3 * n + 1, 3), columns, 2 * n)
    factors = rng.normal(size=(n, 5)).astype(np.float32)
    copy = rng.normal(size=(2 * n, 16)).astype(np.float16).view(np.uint16)
    most = 2**31 - 1
    _core.improve_rows_by_half(rows, factors, floats(n), copy, 0.5, floats(5), None, most, 0.0, 1.5, 1)
    assert np.isfinite(factors).all()


@pytest.mark.parametrize("steps", [-1, 2**31])
def test_more_steps_than_can_be_counted_are_exceptions(steps):
    rows = _core.Rows(OFFSETS, COLUMNS, 3)
    with pytest.raises(ValueError, match=f"steps must be from 0 to 2147483647, got {steps}"):
        _core.improve_rows(rows, floats(2, 2), floats(2), floats(3, 2), floats(2), None, steps, 0.0, 1.0, 1)


def column(kind, places, characters):
    """A column of text that says that its texts are in these places."""
    size = 1 if kind == pa.string_view() else len(places) - 1
    memory = [None, pa.py_buffer(places), pa.py_buffer(characters)]
    return pa.chunked_array([pa.Array.from_buffers(kind, size, memory)]).__arrow_c_stream__()


@pytest.mark.parametrize(
    "damaged",
    [
        lambda: column(pa.string(), np.array([0, 3, 2], np.int32), b"ab"),
        lambda: column(pa.string(), np.array([0, -1, 2], np.int32), b"ab"),
        lambda: column(pa.large_string(), np.array([0, 3, 2]), b"ab"),
        lambda: column(pa.string_view(), np.array([20, 0, 0, 1], np.int32), b"x" * 20),
        lambda: column(pa.string_view(), np.array([20, 0, 1, 0], np.int32), b"x" * 20),
        lambda: column(pa.string_view(), np.array([-1, 0, 0, 0], np.int32), b"x" * 20),
        lambda: column(pa.string_view(), np.array([20, 0, 0, -1], np.int32), b"x" * 20),
    ],
)
def test_damaged_columns_of_text_are_exceptions(damaged):
    with pytest.raises(ValueError, match="a damaged Arrow array"):
        _core.Dictionary().encode(damaged())


def test_columns_of_text_of_every_layout_are_read():
    texts = ["a", "longer than twelve bytes", "", None, "a"]
    for kind in (pa.string(), pa.large_string(), pa.string_view()):
        dictionary = _core.Dictionary()
        stream = pa.chunked_array([pa.array(texts, kind), pa.array(texts[1:], kind)]).__arrow_c_stream__()
        assert dictionary.encode(stream).tolist() == [0, 1, 2, -1, 0, 1, 2, -1, 0]
        order, _, characters = dictionary.sorted()
        assert (order.tolist(), bytes(characters)) == ([2, 0, 1], b"alonger than twelve bytes")
