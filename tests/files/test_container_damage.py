"""Files of arrays that are damaged, or whose writers come to a sudden end."""

import errno
import json
import os
import pickle
import random
import re
import signal
import time
import zlib

import numpy as np
import pytest
import safetensors.numpy
from support.processes import child, finish

from ialspp.files.container import Container, StoreError, write

posix = pytest.mark.skipif(os.name != "posix", reason="signals and limits as POSIX has them")
SMALL = {
    "factors": np.arange(6, dtype=np.float32).reshape(2, 3),
    "none": np.empty((0, 4), np.float64),
    "offsets": np.array([0, 2, 2**40]),
    "bytes": np.frombuffer(b"text", np.uint8),
}


@pytest.fixture
def path(tmp_path):
    return tmp_path / "arrays.bin"


@pytest.fixture
def small(path):
    write(path, SMALL, {"format": "a test", "ключ": 'quotes ", \\ and "header_checksum":"01234567"'})
    return path


def put(path, content):
    path.unlink(
        missing_ok=True
    )  # some file systems wait for the disk when a file is emptied and written again
    path.write_bytes(content)


def changed(content, place, mask):
    return content[:place] + bytes([content[place] ^ mask]) + content[place + 1 :]


def crafted(header, data=b""):
    """A file with any header at all."""
    text = header if isinstance(header, bytes) else json.dumps(header).encode()
    return len(text).to_bytes(8, "little") + text + data


def array(dtype="U8", shape=(4,), data_offsets=(0, 4)):
    return {"dtype": dtype, "shape": shape, "data_offsets": data_offsets}


def open_and_verify(path):
    Container.open(path).verify()


def assert_refused(path, content, what=""):
    put(path, content)
    with pytest.raises(StoreError, match=rf"^{re.escape(str(path))} .*{what}"):
        Container.open(path)


def test_a_file_cut_short_anywhere_is_refused(small):
    whole = small.read_bytes()
    assert_refused(small, b"", "is empty")
    for size in range(1, len(whole)):
        assert_refused(small, whole[:size], f"is cut short: .* required.*, got {size:,}$")


def test_bytes_too_many_are_refused(small):
    whole = small.read_bytes()
    for more in (b"\0", b" ", b"x" * 1000, whole):
        assert_refused(small, whole + more, f"has {len(more):,} bytes too many")


@pytest.mark.parametrize("mask", [0x01, 0x20, 0xFF])
def test_every_damaged_byte_is_found(small, mask):
    whole = small.read_bytes()
    for place in range(len(whole)):
        put(small, changed(whole, place, mask))
        with pytest.raises(StoreError, match=rf"^{re.escape(str(small))} (has|is) "):
            open_and_verify(small)


def test_every_damaged_byte_of_the_header_is_found_by_opening(small):
    whole = small.read_bytes()
    for place in range(8 + int.from_bytes(whole[:8], "little")):
        assert_refused(small, changed(whole, place, 0x02))


def test_the_damaged_arrays_are_named(small):
    content = small.read_bytes()
    first = 8 + int.from_bytes(content[:8], "little")
    for place, name in ((0, "factors"), (30, "padding.0"), (64, "offsets")):
        content = changed(content, first + place, 0xFF)
        put(small, content)
        with pytest.raises(StoreError, match=f"is corrupted: the checksum is wrong for .*'{name}'$"):
            open_and_verify(small)
    with pytest.raises(StoreError, match=r"wrong for 'factors', 'padding\.0', 'offsets'$"):
        open_and_verify(small)


@pytest.mark.parametrize(
    ("content", "what"),
    [
        (
            b"user,item\n1,2\n3,4\n",
            "is not a file of ialspp, with arrays in the safetensors layout; it looks like text",
        ),
        ("имя,товар\n1,2".encode(), "it looks like text"),
        (b"PK\x03\x04" + bytes(100), "it looks like a zip archive"),
        (pickle.dumps({"a": 1}, protocol=4), "it looks like a pickle"),
        (pickle.dumps({"a": 1}, protocol=5), "it looks like a pickle"),
        (b"\x93NUMPY\x01\x00v\x00{'descr'", "it looks like an array of numpy"),
        (bytes(1000), "is not a file of ialspp, with arrays in the safetensors layout$"),
        (b"short", "is cut short: more than 8 bytes are required, got 5"),
        (b"some text{", "is not a file"),
        (b"8 bytes:{ and an object", "has a corrupted header: it may have 8,000,000 bytes, got"),
        (crafted(b"{"), "has a corrupted header: Expecting property name"),
        (crafted(b'{"\xff": 1}'), "has a corrupted header: 'utf-8' codec can't decode"),
        (crafted(b'{"a":' * 100_000), "has a corrupted header: "),
        (crafted(b"{} {}"), "has a corrupted header: Extra data"),
        (crafted(b'{"a": ' + b"1" * 5000 + b"}"), "has a corrupted header: "),
        (crafted({"__metadata__": []}), "metadata must be text by name"),
        (crafted({"__metadata__": {"a": 1}}), "metadata must be text by name"),
        (crafted({"__metadata__": {"checksums": "{}"}}), "its checksum is wrong"),
        (crafted({"__metadata__": {"header_checksum": "00000000"}}), "its checksum is wrong"),
        (crafted({"a": 1}), "array 'a' must have a dtype, a shape and two data_offsets"),
        (crafted({"a": {"dtype": "U8"}}), "array 'a' must have a dtype, a shape"),
        (crafted({"a": array(shape=4)}), "array 'a' must have a dtype, a shape"),
        (crafted({"a": array(dtype=["U8"])}), "array 'a' must have a dtype, a shape"),
        (crafted({"a": array(data_offsets=[0, 2, 4])}), "array 'a' must have a dtype, a shape"),
        (crafted({"a": array(dtype="BF16")}), "has an array 'a' of dtype BF16; known are BOOL, U8"),
        (crafted({"a": array(shape=[-4])}), "array 'a' has an impossible shape"),
        (crafted({"a": array(shape=[4.0])}), "array 'a' has an impossible shape"),
        (crafted({"a": array(shape=[True], data_offsets=[0, 1])}), "array 'a' has an impossible shape"),
        (crafted({"a": array(shape=[10**4000] * 2)}), "array 'a' has an impossible shape"),
        (crafted({"a": array(shape=[1] * 100)}), "array 'a' has an impossible shape"),
        (crafted({"a": array("F64", [0, 2**62], [0, 0])}), "array 'a' has an impossible shape"),
        (crafted({"a": array(data_offsets=[0, "4"])}), "impossible data_offsets"),
        (crafted({"a": array(data_offsets=[4, 0])}), "array 'a' must have 4 bytes for its shape, got -4"),
        (crafted({"a": array(shape=[5])}), "array 'a' must have 5 bytes for its shape, got 4"),
        (crafted({"a": array("F64", [2**62])}), r"array 'a' must have [0-9,]+ bytes for its shape, got 4"),
        (crafted({"a": array(data_offsets=[1, 5])}, bytes(5)), "array 'a' must start at byte 68, got 69"),
        (crafted({"a": array(), "b": array(data_offsets=[3, 7])}, bytes(7)), "array 'b' must start at byte"),
        (crafted({"a": array(), "b": array()}, bytes(4)), "array 'b' must start at byte"),
        (crafted({"a": array()}, bytes(3)), "is cut short: .* bytes are required, got"),
        (crafted({"a": array()}, bytes(5)), "has 1 bytes too many"),
    ],
)
def test_what_is_not_such_a_file_is_refused(path, content, what):
    assert_refused(path, content, what)


def signed(metadata, content):
    """A file whose header has the right checksum."""
    header = json.dumps(
        {"__metadata__": {**metadata, "header_checksum": "0" * 8}, **content}, separators=(",", ":")
    )
    right = f"{zlib.crc32(header.encode()):08x}"
    return crafted(header.replace('"header_checksum":"00000000"', f'"header_checksum":"{right}"').encode())


@pytest.mark.parametrize(
    ("checksums", "what"),
    [
        ("{", "Expecting property name"),
        ("[]", "an object is required, got a list"),
        ('"\ud800', "has a corrupted header"),
        ('{"b": "00000000"}', "its checksums must be those of its arrays"),
    ],
)
def test_checksums_that_are_none_are_refused(path, checksums, what):
    assert_refused(path, signed({"checksums": checksums}, {"a": array(shape=[0], data_offsets=[0, 0])}), what)


def test_damage_to_a_file_without_checksums_is_refused_or_harmless(path):
    safetensors.numpy.save_file({"a": np.arange(3), "b": np.ones((2, 2), np.float32)}, path, {"who": "other"})
    whole = path.read_bytes()
    draw = random.Random(0)
    refused = 0
    for _ in range(1000):
        content = bytearray(whole)
        for _ in range(draw.randint(1, 3)):
            content[draw.randrange(len(content) - 40)] = draw.choice(b'0123456789{}[]",:- \\\x00\xffx')
        put(path, content)
        try:
            [found.sum() for found in Container.open(path).arrays.values()]
        except StoreError:
            refused += 1
    assert refused > 500


def test_a_file_that_is_not_there_is_not_found(path):
    with pytest.raises(FileNotFoundError) as caught:
        Container.open(path)
    assert caught.value.filename == str(path)


def test_a_folder_is_an_error_of_the_system(tmp_path):
    with pytest.raises(OSError, match=re.escape(tmp_path.name)):
        Container.open(tmp_path)


@posix
def test_writers_killed_at_any_moment_leave_a_whole_file(tmp_path):
    code = """
    import itertools, os, random, signal, sys, time
    from pathlib import Path
    import numpy as np
    from ialspp.files.container import Container, write

    folder = Path(sys.argv[1])
    path = folder / "arrays.bin"
    versions = [{"a": np.full(500_000, number), "b": np.full(7, number)} for number in range(2)]
    whole = []
    for version in versions:
        write(path, version, {})
        whole.append(path.read_bytes())
    draw = random.Random(0)
    for number in itertools.count():
        if number >= 12 and any(folder.glob(".*.part")):  # one at least was in the middle
            break
        writer = os.fork()
        while writer == 0:
            for version in versions:
                write(path, version, {})
        time.sleep(draw.uniform(0, 0.1))
        os.kill(writer, signal.SIGKILL)
        os.waitpid(writer, 0)
        assert path.read_bytes() in whole
        Container.open(path).verify()
    """
    process = child(code, tmp_path)
    _, stderr = finish(process)
    assert process.returncode == 0, stderr


@posix
def test_ctrl_c_while_writing_leaves_a_whole_file_and_nothing_else(tmp_path):
    code = """
    import sys
    from pathlib import Path
    import numpy as np
    from ialspp.files.container import write
    arrays = {"a": np.ones(500_000), "b": np.ones(7)}
    try:
        while True:
            write(Path(sys.argv[1]), arrays, {})
    except KeyboardInterrupt:
        print("interrupted")
    """
    path = tmp_path / "arrays.bin"
    process = child(code, path)
    while not path.exists() and process.poll() is None:
        time.sleep(0.01)
    process.send_signal(signal.SIGINT)
    output, stderr = finish(process)
    assert output.strip() == "interrupted", stderr
    assert list(tmp_path.iterdir()) == [path]
    open_and_verify(path)


@posix
def test_a_full_disk_leaves_the_old_file_and_nothing_else(small):
    code = """
    import resource, sys
    from pathlib import Path
    import numpy as np
    from ialspp.files.container import write
    resource.setrlimit(resource.RLIMIT_FSIZE, (5_000_000, 5_000_000))
    try:
        write(Path(sys.argv[1]), {"a": np.ones(1000), "b": np.ones(1_000_000)}, {})
    except OSError as error:
        print(error.errno, error.filename)
    """
    before = small.read_bytes()
    output, stderr = finish(child(code, small))
    assert output.strip() == f"{errno.EFBIG} {small}", stderr
    assert small.read_bytes() == before
    assert list(small.parent.iterdir()) == [small]
