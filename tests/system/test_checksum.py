"""Checksums are those of zlib, however the bytes lie in memory and are divided."""

import zlib

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from ialspp import _core
from ialspp.system import checksum

BYTES = np.random.default_rng(0).integers(0, 256, 3 * checksum.CHUNK + 100, dtype=np.uint8)


@given(
    first=st.integers(0, 40),
    size=st.integers(0, 700),
    value=st.integers(0, 2**32 - 1),
    cut=st.integers(0, 700),
)
def test_any_bytes_have_the_checksum_of_zlib(first, size, value, cut):
    data = BYTES.data[first : first + size]
    assert checksum.crc32(data, value) == zlib.crc32(data, value)
    assert checksum.crc32(data[cut:], checksum.crc32(data[:cut], value)) == zlib.crc32(data, value)


@pytest.mark.parametrize("size", [checksum.CHUNK - 1, checksum.CHUNK, len(BYTES)])
def test_long_data_is_taken_in_chunks(size):
    assert checksum.crc32(BYTES.data[:size]) == zlib.crc32(BYTES.data[:size])


def test_extreme_bytes():
    for data in (bytes(1000), b"\xff" * 1000, b"123456789"):
        assert checksum.crc32(data) == zlib.crc32(data)
    assert checksum.crc32(b"123456789") == 0xCBF43926  # the check value of the standard


@pytest.mark.skipif(not _core.has_crc32(), reason="this machine has no products without carries")
def test_this_machine_uses_the_compiled_core():
    assert checksum._crc32 is checksum._with_core
