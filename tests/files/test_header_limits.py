"""Headers that would take much memory or time."""

import json
import os
import zlib
from pathlib import Path

import numpy as np
import pytest
from support.processes import child, finish

from ialspp.files import parsing
from ialspp.files.container import Container, StoreError, write

posix = pytest.mark.skipif(os.name != "posix", reason="files with holes, limits and memory as POSIX has them")


def forged(text, data=b""):
    """A file with this header, signed if it has a place for its checksum."""
    own = b'"header_checksum":"%08x"' % zlib.crc32(text)
    text = text.replace(b'"header_checksum":"00000000"', own)
    return len(text).to_bytes(8, "little") + text + data


def assert_refused(path, content, what):
    path.write_bytes(content)
    with pytest.raises(StoreError, match=what):
        Container.open(path)


@pytest.fixture
def path(tmp_path):
    return tmp_path / "arrays.bin"


@pytest.mark.parametrize("piece", [b"[],", b"{},", b"0,", b'"",'])
def test_more_values_than_a_header_may_have_are_refused(path, piece):
    many = piece * parsing.MAX_VALUES
    assert_refused(path, forged(b'{"a":[' + many + b"0]}"), "it may have 300,000 values, got [0-9,]+$")


def test_a_long_header_is_ascii(path):
    text = json.dumps({"__metadata__": {"a": "é" * 1_500_000}}, ensure_ascii=False).encode()
    assert_refused(path, forged(text), "it may have 3,000,000 bytes unless all are ASCII, got 3,000,0")
    with pytest.raises(ValueError, match=r"names and metadata are too large: .* unless all are ASCII"):
        write(path, {}, {"a": "é" * 1_500_000})


def test_too_many_arrays_and_long_names_are_refused(path):
    arrays = {f"a{n}": {"dtype": "U8", "shape": [0], "data_offsets": [0, 0]} for n in range(10_001)}
    assert_refused(path, forged(json.dumps(arrays).encode()), "it may have 10,000 arrays, got 10,001")
    with pytest.raises(ValueError, match="a file may have 10,000 arrays, got 10,001"):
        write(path, dict.fromkeys(arrays, np.ones(0)), {})
    long = {"x" * 201: arrays["a0"]}
    assert_refused(
        path, forged(json.dumps(long).encode()), "name of an array may have 200 characters, got 201"
    )
    with pytest.raises(ValueError, match="the name of an array may have 200 characters, got 201"):
        write(path, {"x" * 201: np.ones(1)}, {})


def test_what_could_not_be_read_is_not_written(path):
    with pytest.raises(ValueError, match="names and metadata are too large: it may have 300,000 values"):
        write(path, {}, {"many": "," * 300_001})
    assert not path.exists()


def test_an_error_quotes_only_the_start_of_what_is_in_the_file(path):
    path.write_bytes(forged(b'{"a":{"dtype":"' + b"x" * 1_000_000 + b'","shape":[],"data_offsets":[0,0]}}'))
    with pytest.raises(StoreError) as caught:
        Container.open(path)
    assert len(str(caught.value)) < 5000
    assert len(str(StoreError("x" * 1_000_000))) == parsing.MAX_MESSAGE + 4


@posix
def test_a_size_is_checked_before_memory_is_taken(path):
    text = b'{"a":{"dtype":"U8","shape":[4],"data_offsets":[0,4]}}'
    path.write_bytes(forged(text))
    os.truncate(path, 2**42)  # a hole of 4 TB
    with pytest.raises(StoreError, match=r"has [0-9,]+ bytes too many"):
        Container.open(path, mapped=False)


WORST = {
    "keys": lambda: b",".join(b'"k%06d":1.5' % n for n in range(299_000)).join([b'{"a":{', b"}}"]),
    "lists": lambda: b'{"a":[%s[]],"b":"%s"}' % (b"[]," * 149_000, b"x" * 7_500_000),
    "text": lambda: b'{"a":"%s"}' % (b"x" * 7_990_000),
}


@posix
@pytest.mark.parametrize("kind", WORST)
def test_the_worst_header_takes_little_memory(path, kind):
    path.write_bytes(forged(WORST[kind]()))
    code = """
    import sys
    from pathlib import Path
    from ialspp.files.container import Container, StoreError
    sys.path.append(sys.argv[2])
    from torture.memory import peak_memory
    before = peak_memory()
    try:
        Container.open(Path(sys.argv[1]))
    except StoreError as error:
        print(peak_memory() - before, str(error)[-60:])
    """
    process = child(code, path, Path(__file__).parents[2])
    output, stderr = finish(process)
    assert process.returncode == 0, stderr
    size, fault = output.split(maxsplit=1)
    assert "must have a dtype, a shape and two data_offsets" in fault
    assert 2**20 < int(size) < 90 * 2**20
