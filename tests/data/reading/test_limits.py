import gzip
import zlib

import pytest
from support.zstd import zstd_compressed

from ialspp import Interactions
from ialspp.data.reading.limits import LONGEST_LINE, MOST_EXPANSION, SMALL

COLUMNS = {"user": 0, "item": 1}
PACKED = {"csv": bytes, "csv.gz": gzip.compress, "csv.zst": zstd_compressed, "csv.z": zlib.compress}


def read(folder, content, name="log.csv", **options):
    path = folder / name
    path.write_bytes(content)
    return Interactions.read(path, **{**COLUMNS, **options})


@pytest.mark.parametrize("suffix", PACKED)
@pytest.mark.parametrize("before", [b"", b"1,2\n", b"1,2\n" * 200_000])
def test_a_line_that_is_too_long_is_named(tmp_path, suffix, before):
    text = before + b"3," + b"4" * LONGEST_LINE + b"\n5,6\n"
    line = before.count(b"\n") + 1
    with pytest.raises(ValueError, match=rf"log\.{suffix}, line {line}: a line may have 1,048,576 bytes"):
        read(tmp_path, PACKED[suffix](text), f"log.{suffix}", separator=",")


@pytest.mark.parametrize("suffix", PACKED)
def test_a_line_of_just_the_most_bytes_is_read(tmp_path, suffix):
    text = b"1,2\n3," + b"x" * (LONGEST_LINE - 2) + b"\n" + b"5,6\n" * 40_000
    data = read(tmp_path, PACKED[suffix](text), f"log.{suffix}", separator=",")
    assert len(data) == 3


@pytest.mark.parametrize("suffix", ["csv.gz", "csv.zst"])
def test_compressed_text_that_expands_beyond_measure_is_refused(tmp_path, suffix):
    packed = PACKED[suffix](b"1,2\n" * (SMALL // 4 + 1))
    assert len(packed) * MOST_EXPANSION < SMALL
    with pytest.raises(ValueError, match=rf"log\.{suffix}: compressed text may expand to 100 times"):
        read(tmp_path, packed, f"log.{suffix}")


@pytest.mark.parametrize(
    "garbage", [b"x", b"\0" * 8, gzip.compress(b"5,6\n")[:-1]], ids=["text", "zeros", "cut short"]
)
def test_what_follows_a_gzip_file_must_be_gzip_too(tmp_path, garbage):
    packed = gzip.compress(b"1,2\n") + gzip.compress(b"3,4\n")
    assert len(read(tmp_path, packed, "log.csv.gz")) == 2
    with pytest.raises(ValueError, match=r"log\.csv\.gz: the compressed text is damaged"):
        read(tmp_path, packed + garbage, "log.csv.gz")


@pytest.mark.parametrize("codec", ["utf-16", "utf-16-le", "utf-16-be"])
@pytest.mark.parametrize("suffix", ["csv", "csv.gz"])
def test_utf_16_is_named_with_a_way_out(tmp_path, codec, suffix):
    text = "user,item\né,1\nb,2\n".encode(codec)
    with pytest.raises(ValueError, match=rf"log\.{suffix}: text must be UTF-8, .* UTF-16; .*iconv"):
        read(tmp_path, PACKED[suffix](text), f"log.{suffix}")


def test_a_quoted_field_without_end_is_named(tmp_path):
    text = b'u,i\n1,2\n"' + b"a\n" * LONGEST_LINE
    with pytest.raises(ValueError, match=r"log\.csv, line 3: field larger"):
        read(tmp_path, text, user="u", item="i")


def test_a_table_of_too_many_columns_is_refused(tmp_path):
    text = b",".join([b"1"] * 20_000) + b"\n"
    with pytest.raises(ValueError, match=r"log\.csv: 10,000 columns can be read, but there are 20,000"):
        read(tmp_path, text)


@pytest.mark.parametrize(("role", "value"), [("weight", "9" * 500_000), ("time", "5" * 500_000 + "x")])
def test_a_long_run_of_digits_is_told_from_a_number_at_once(tmp_path, role, value):
    """It took time that grows with the square of the length: hours for this one."""
    with pytest.raises(ValueError, match=r"log\.csv, line 1: column 2") as caught:
        read(tmp_path, f"1,2,{value}y\n".encode(), **{role: 2})
    assert len(str(caught.value)) < 500
