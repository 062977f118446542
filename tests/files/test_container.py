import gc
import json
import os
import re
import tempfile
import tracemalloc
import zlib
from pathlib import Path

import numpy as np
import pytest
import safetensors
import safetensors.numpy
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra import numpy as of_numpy
from support.drawing import drawn

from ialspp.files.container import Container, StoreError, write

posix = pytest.mark.skipif(os.name != "posix", reason="signals and limits as POSIX has them")
OTHER_DTYPES = [object, "U3", "S3", "complex64", "datetime64[s]", "V4", [("a", "<i4")]]
if np.lib.NumpyVersion(np.__version__) >= "2.0.0":
    OTHER_DTYPES.append("T")
DTYPES = ["?", "u1", "i1", "<u2", "<i2", "<f2", "<u4", "<i4", "<f4", "<u8", "<i8", "<f8"]
SMALL = {
    "factors": np.arange(6, dtype=np.float32).reshape(2, 3),
    "none": np.empty((0, 4), np.float64),
    "offsets": np.array([0, 2, 2**40]),
    "bytes": np.frombuffer(b"text", np.uint8),
}
METADATA = {"format": "a test", "ключ": 'quotes ", \\ and "header_checksum":"01234567"\n\0 😀'}


@pytest.fixture
def path(tmp_path):
    return tmp_path / "arrays.bin"


@pytest.fixture
def small(path):
    write(path, SMALL, METADATA)
    return path


def assert_same(found, expected):
    assert list(found) == list(expected)
    for name, array in expected.items():
        assert found[name].dtype == array.dtype.newbyteorder("<")
        assert found[name].shape == array.shape
        assert found[name].tobytes() == array.astype(array.dtype.newbyteorder("<")).tobytes()


# What is written comes back.


def test_what_is_written_comes_back(small):
    opened = Container.open(small)
    assert_same(opened.arrays, SMALL)
    assert opened.metadata == METADATA
    assert opened.path == small
    opened.verify()


NUMBERS = of_numpy.arrays(
    st.sampled_from([*DTYPES, ">f4", ">i8", ">u2"]), of_numpy.array_shapes(min_dims=0, max_dims=4, min_side=0)
)
TEXT = st.text(st.characters(exclude_categories=["Cs"]))


@given(st.dictionaries(TEXT, NUMBERS, max_size=5), st.dictionaries(TEXT, TEXT, max_size=5))
@drawn(60)
def test_any_arrays_and_any_text_come_back(arrays, metadata):
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "arrays.bin"
        write(path, arrays, metadata)
        opened = Container.open(path)
        assert_same(opened.arrays, arrays)
        assert opened.metadata == metadata
        opened.verify()
        assert_same(safetensors_arrays(path), arrays)
        del opened


def safetensors_arrays(path):
    """What the package of that name reads, in the order of the file."""
    loaded = safetensors.numpy.load_file(path)
    assert all(not loaded.pop(name).any() for name in list(loaded) if re.fullmatch(r"padding\.\d+", name))
    return {name: loaded[name] for name in Container.open(path).arrays}


@pytest.mark.parametrize(
    "odd",
    [
        np.arange(12.0).reshape(3, 4).T,
        np.asfortranarray(np.arange(12.0).reshape(3, 4)),
        np.arange(12)[::-1],
        np.arange(24, dtype=np.int32).reshape(4, 6)[::2, 1::3],
        np.broadcast_to(np.float32(7), (3, 5)),
        np.arange(5, dtype=">i4"),
        np.arange(12, dtype=">f8").reshape(3, 4).T,
        np.array(3.5, dtype=">f4"),
        np.arange(9, dtype=np.longlong),
    ],
)
def test_arrays_in_any_order_of_memory_are_put_in_order(path, odd):
    write(path, {"odd": odd}, {})
    (found,) = Container.open(path).arrays.values()
    assert found.dtype.byteorder in "=|<"
    assert found.flags.c_contiguous
    np.testing.assert_array_equal(found, odd)


@pytest.mark.parametrize(
    "arrays", [{}, {"none": np.empty(0)}, {"a": np.empty((0, 3)), "b": np.empty((2, 0))}]
)
def test_a_file_without_a_byte_of_data_opens(path, arrays):
    write(path, arrays, {})
    opened = Container.open(path)
    assert_same(opened.arrays, arrays)
    opened.verify()
    assert len(safetensors.numpy.load_file(path)) == len(arrays)


def test_an_array_of_many_chunks_comes_back(path):
    large = np.random.default_rng(0).random(1_500_000)
    write(path, {"large": large, "small": np.ones(1)}, {})
    opened = Container.open(path)
    opened.verify()
    np.testing.assert_array_equal(opened.arrays["large"], large)
    content = bytearray(path.read_bytes())
    content[-100] ^= 1
    path.write_bytes(content)
    with pytest.raises(StoreError, match="the checksum is wrong for 'large'"):
        Container.open(path).verify()


def test_a_file_may_be_written_from_its_own_arrays(small):
    before = small.read_bytes()
    opened = Container.open(small)
    write(small, opened.arrays, opened.metadata)
    assert small.read_bytes() == before
    assert_same(opened.arrays, SMALL)


# The layout.


def test_the_bytes_are_where_the_layout_says(small):
    content = small.read_bytes()
    length = int.from_bytes(content[:8], "little")
    header = json.loads(content[8 : 8 + length])
    metadata = header.pop("__metadata__")
    assert (8 + length) % 64 == 0
    assert list(header) == ["factors", "padding.0", "none", "offsets", "padding.1", "bytes"]
    assert header["offsets"] == {"dtype": "I64", "shape": [3], "data_offsets": [64, 88]}
    assert content[8 + length + 64 :][:24] == np.array([0, 2, 2**40], "<i8").tobytes()
    spans = {name: content[8 + length :][slice(*said["data_offsets"])] for name, said in header.items()}
    assert json.loads(metadata["checksums"]) == {name: f"{zlib.crc32(d):08x}" for name, d in spans.items()}
    own = f'"header_checksum":"{metadata["header_checksum"]}"'.encode()
    blank = content[8 : 8 + length].replace(own, b'"header_checksum":"00000000"')
    assert metadata["header_checksum"] == f"{zlib.crc32(blank):08x}"


def test_every_array_starts_on_a_cache_line(path):
    sizes = [1, 63, 64, 65, 0, 3, 128]
    write(path, {f"{n}.{size}": np.ones(size, np.uint8) for n, size in enumerate(sizes)}, {})
    for found in Container.open(path).arrays.values():
        assert found.ctypes.data % 64 == 0


def test_the_same_input_gives_the_same_bytes(small, tmp_path):
    write(tmp_path / "again.bin", {name: a.copy() for name, a in SMALL.items()}, dict(METADATA))
    assert (tmp_path / "again.bin").read_bytes() == small.read_bytes()


def test_safetensors_reads_the_file(small):
    assert_same(safetensors_arrays(small), SMALL)
    with safetensors.safe_open(small, framework="numpy") as file:
        assert file.metadata().items() >= METADATA.items()


def test_a_file_of_safetensors_opens_but_cannot_be_verified(path):
    arrays = {"a": np.arange(3, dtype=np.float32), "padding.0": np.arange(2, dtype=np.uint8)}
    safetensors.numpy.save_file(arrays, path, {"who": "another"})
    opened = Container.open(path)
    assert_same(dict(sorted(opened.arrays.items())), arrays)
    assert opened.metadata == {"who": "another"}
    with pytest.raises(StoreError, match=rf"^{re.escape(str(path))} has no checksums"):
        opened.verify()


def test_a_file_of_safetensors_without_metadata_opens(path):
    safetensors.numpy.save_file({"a": np.arange(3)}, path)
    assert Container.open(path).metadata == {}


# Views, not copies.


def test_arrays_are_views_that_cannot_be_written(small):
    for found in Container.open(small).arrays.values():
        assert type(found) is np.ndarray
        assert not found.flags.owndata
        assert not found.flags.writeable
        with pytest.raises(ValueError, match="WRITEABLE"):
            found.flags.writeable = True


@posix
def test_arrays_outlive_the_container_and_the_name_of_the_file(small):
    found = Container.open(small).arrays["factors"]
    part = found[1]
    write(small, {"factors": np.zeros((2, 3), np.float32)}, {})
    small.unlink()
    del found
    gc.collect()
    assert part.tolist() == [3, 4, 5]


@posix
def test_opening_reads_no_array(path):
    import resource

    size = 2**32
    header = json.dumps({"large": {"dtype": "U8", "shape": [size], "data_offsets": [0, size]}}).encode()
    path.write_bytes(len(header).to_bytes(8, "little") + header)
    os.truncate(path, 8 + len(header) + size)  # a hole: it takes no room on the disk
    before = resource.getrusage(resource.RUSAGE_SELF).ru_minflt
    opened = Container.open(path)
    after = resource.getrusage(resource.RUSAGE_SELF).ru_minflt
    assert opened.arrays["large"].shape == (size,)
    assert after - before < 1000  # pages; the array has a million of them


def test_writing_and_verifying_make_no_copy(path):
    large = np.ones(10_000_000, np.float32)
    tracemalloc.start()
    try:
        write(path, {"a": large, "b": large}, {})
        Container.open(path).verify()
        assert tracemalloc.get_traced_memory()[1] < 1_000_000
        tracemalloc.reset_peak()
        write(path, {"a": large[::2], "b": large[::2], "c": large[::2]}, {})
        assert tracemalloc.get_traced_memory()[1] < 21_000_000  # one array at a time
    finally:
        tracemalloc.stop()


# What cannot be written.


@pytest.mark.parametrize("dtype", OTHER_DTYPES)
def test_arrays_of_anything_but_numbers_are_refused(small, dtype):
    before = small.read_bytes()
    with pytest.raises(TypeError, match=r"^array 'odd' must have one of the dtypes bool, uint8, .*, got "):
        write(small, {"fine": np.ones(3), "odd": np.empty(2, dtype)}, {})
    assert small.read_bytes() == before
    assert list(small.parent.iterdir()) == [small]


@pytest.mark.parametrize("name", ["__metadata__", "padding.0", "padding.17"])
def test_names_of_arrays_that_the_file_uses_are_refused(path, name):
    with pytest.raises(ValueError, match=f"the name '{name}' must be left to the file itself"):
        write(path, {name: np.ones(3)}, {})


@pytest.mark.parametrize("key", ["checksums", "header_checksum"])
def test_metadata_that_the_file_uses_are_refused(path, key):
    with pytest.raises(ValueError, match=f"the name '{key}' must be left to the file itself"):
        write(path, {}, {key: ""})


@pytest.mark.parametrize(
    ("name", "metadata"), [("\ud800", {}), ("a", {"\udfff": "b"}), ("a", {"b": "c\ud800"})]
)
def test_text_that_utf8_does_not_have_is_refused(path, name, metadata):
    with pytest.raises(ValueError, match=r"names and metadata must be valid Unicode, got '.*\\ud"):
        write(path, {name: np.ones(3)}, metadata)
    assert not path.exists()


def test_a_header_that_no_one_could_read_is_refused(path):
    with pytest.raises(ValueError, match=r"names and metadata may take 8,000,000 bytes, got 8,000,"):
        write(path, {}, {"long": "x" * 8_000_000})


@pytest.mark.parametrize("name", ["header_checksum", "checksums", "padding", "padding.", "padding.0x", ""])
def test_names_that_are_nearly_taken_are_fine(path, name):
    metadata = {'x"header_checksum': "01234567", "padding.0": "", '{"header_checksum': "89abcdef"}
    write(path, {name: np.ones(3)}, metadata)
    opened = Container.open(path)
    opened.verify()
    assert opened.metadata == metadata
    assert list(opened.arrays) == [name]


def test_checksums_tell_contents_apart_also_under_one_description(tmp_path):
    """Nodes and services know a file by it."""
    found = set()
    for number, values in enumerate(([1, 2], [2, 1], [1, 2])):
        path = tmp_path / str(number)
        write(path, {"x": np.array(values, dtype=np.int32)}, {"kind": "the same"})
        found.add(Container.open(path).checksum)
    assert len(found) == 2
