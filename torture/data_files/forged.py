"""Draw forged data files: small valid ones, then flipped, cut, spliced, or filled with odd values.

Everything follows from the seed and the number of the try, so that `draw(seed, number)` repeats a file.
"""

from __future__ import annotations

import gzip
import io
from collections.abc import Callable
from dataclasses import dataclass
from functools import cache
from random import Random
from typing import Any

import polars as pl

ODD_TEXT = (
    *(b"\0", b'"', b'""', b"\r", b"\r\n", b"\n\n", b"\xff", b"\xc3", b"\xef\xbb\xbf", b"::", b",", b"\t"),
    *(b"nan", b"inf", b"-inf", b"1e400", b"1e39", b"-1", b"-0.0", b"1_000", b"0x10", b"007", b"+7", b"1e5"),
    *(b"9" * 30, b"9223372036854775808", b"-9223372036854775809", b"18446744073709551616", b"9" * 70_000),
    *(b"2020-01-01", b"2020-01-01T10:00:00Z", b"9999-12-31", b"-0001-01-01", b"2020-02-30", b"01/02/2020"),
    *("é".encode(), "\u2028".encode(), b"\xed\xa0\x80", b"null", b"true", b"'", b";", b"|", b"#", b"\\"),
)
ODD_NUMBERS = (0, 1, 0x7F, 0x80, 0xFF, 2**31 - 1, 2**31, 2**32 - 1, 2**40, 2**62, 2**63 - 1, 2**64 - 1)
ODD_WEIGHTS = (0.0, -0.0, 1.5, -1.0, 1e-300, 1e39, -1e39, float("nan"), float("inf"), float("-inf"), None)
ODD_IDS = (0, 1, 2, 7, -1, 2**31, 2**32, -(2**31), 2**63 - 1, -(2**63), None)
CODECS = ("utf-16", "utf-16-le", "utf-16-be", "utf-32", "utf-8-sig", "latin-1")
NAMES = ("u", "i", "w", "t", "x")
SUFFIXES = {",": ".csv", "\t": ".tsv", "::": ".dat", ";": ".txt", "|": ".txt", " ": ".txt"}
CONDITIONS = (
    *(None,) * 30,
    "w > 1",
    "i = 'x'",
    "u IS NOT NULL",
    "t > 5 AND w < 3",
    "x = 'b'",
    "column_0 > 1",
)


@dataclass(frozen=True, slots=True)
class Forgery:
    """The files of one try, by name, and the options they are read with."""

    files: dict[str, bytes]
    options: dict[str, Any]


def draw(seed: int, number: int) -> Forgery:
    """Draw the forgery of this number."""
    random = Random(f"{seed} {number}")
    make = random.choice((_text, _text, _compressed, _parquet, _parquet, _arrow, _arrow))
    suffix, content = make(random)
    files = {f"log{suffix}": content}
    if random.random() < 0.05:
        files[f"more{suffix}"] = make(random)[1]
    return Forgery(files, _options(random))


def _options(random: Random) -> dict[str, Any]:
    named = random.random() < 0.9
    places: list[Any] = list(NAMES if named else range(len(NAMES)))
    options: dict[str, Any] = {"user": places[0], "item": places[1]}
    for role, place in ("weight", 2), ("label", 2), ("time", 3), ("rating", 2), ("label", 4):
        if random.random() < 0.15:
            options[role] = places[place]
    if "rating" in options or random.random() < 0.05:
        options["min_rating"] = random.choice((0, 2.5, -1e300))
    if random.random() < 0.03:
        options[random.choice(("user", "item", "time"))] = random.choice((*NAMES, *range(6)))
    rare: dict[str, tuple[Any, ...]] = {
        "where": CONDITIONS,
        "format": (*(None,) * 60, "csv", "parquet", "arrow"),
        "separator": (*(None,) * 120, *SUFFIXES),
        "header": (*(None,) * 40, True, False),
        "quote": (*('"',) * 10, None, "'"),
        "min_user": (1, 1, 2),
        "min_item": (1, 1, 2),
    }
    return {**options, **{name: random.choice(values) for name, values in rare.items()}}


def _text(random: Random) -> tuple[str, bytes]:
    separator = random.choice(list(SUFFIXES))
    lines = [separator.join(NAMES)] if random.random() < 0.9 else []
    lines += [separator.join(_row(random)) for _ in range(random.choice((0, 1, 3, 12)))]
    text = random.choice(("\n", "\n", "\r\n")).join(lines).encode() + random.choice((b"\n", b"", b"\r\n"))
    if random.random() < 0.1:
        text = text.decode().encode(random.choice(CODECS), errors="replace")
    for _ in range(random.choice((0, 0, 1, 1, 2, 5))):
        text = _changed_text(random, text)
    return SUFFIXES[separator], text


def _row(random: Random) -> list[str]:
    row = [random.choice("abc"), str(random.randrange(9)), f"{random.random() * 5:.1f}"]
    return [*row, str(random.randrange(10**9)), random.choice(("1", "b", ""))]


def _changed_text(random: Random, text: bytes) -> bytes:
    place = random.randrange(len(text) + 1)
    change = random.randrange(6)
    if change == 0:
        return _changed_bytes(random, text)
    if change == 1:  # lines again
        return text + text[place:]
    if change == 2:  # another separator or end of line here and there
        return text.replace(random.choice((b",", b"\n", b"\t")), random.choice(ODD_TEXT), random.randrange(3))
    if change == 3:  # fields gone
        return text[:place] + text[place + random.randrange(20) :]
    return text[:place] + random.choice(ODD_TEXT) + text[place:]


def _changed_bytes(random: Random, content: bytes) -> bytes:
    """Flip, overwrite, cut or splice; half of the places are near the end, where formats keep their index."""
    if not content:
        return random.randbytes(random.randrange(20))
    first = max(0, len(content) - 400) if random.random() < 0.5 else 0
    place = random.randrange(first, len(content))
    change = random.randrange(5)
    if change == 0:
        return content[:place]
    if change == 1:
        length = random.choice((1, 4, 8))
        number = (random.choice(ODD_NUMBERS) % (1 << 8 * length)).to_bytes(length, "little")
        return content[:place] + number + content[place + length :]
    if change == 2:
        other = random.randrange(len(content))
        return content[:place] + content[other : other + random.randrange(64)] + content[place:]
    return content[:place] + bytes([content[place] ^ 1 << random.randrange(8)]) + content[place + 1 :]


def _compressed(random: Random) -> tuple[str, bytes]:
    suffix, text = _text(random)
    if random.random() < 0.6:
        packed = gzip.compress(text, compresslevel=1, mtime=0)
        kind = ".gz"
    else:
        packed, kind = _zstd_bases()[random.randrange(len(_zstd_bases()))], random.choice((".zst", ".zstd"))
        suffix = ".csv"
    for _ in range(random.choice((0, 1, 2))):
        packed = _changed_bytes(random, packed)
    return suffix + kind, packed


@cache
def _zstd_bases() -> list[bytes]:
    """Valid files: polars compresses nothing but frames, so these are few and made once."""
    files = []
    for rows in (0, 1, 30, 3000):
        file = io.BytesIO()
        pl.DataFrame({name: range(rows) for name in NAMES}).write_csv(file, compression="zstd")
        files.append(file.getvalue())
    return files


def _frame(random: Random) -> pl.DataFrame:
    """Draw a table whose values are odd, or whose columns have odd types."""
    rows = random.choice((0, 1, 3, 20, 300))
    odd = random.random() < 0.3
    ids = ODD_IDS if odd else range(9)
    columns: dict[str, pl.Series] = {}
    for name in NAMES[:2]:
        columns[name] = pl.Series(random.choices(ids, k=rows), dtype=pl.Int64).cast(
            _id_type(random), strict=False
        )
    weights = ODD_WEIGHTS if odd else (0.5, 1.0, 2.0)
    columns["w"] = pl.Series(random.choices(weights, k=rows), dtype=random.choice((pl.Float64, pl.Float32)))
    times = pl.Series([random.randrange(10**9) for _ in range(rows)], dtype=pl.Int64)
    columns["t"] = times.cast(random.choice((pl.Int64, pl.Int64, pl.Datetime("ms"), pl.Datetime("ns"))))
    columns["x"] = pl.Series(random.choices(("a", "b", None), k=rows), dtype=pl.String).cast(
        random.choice((pl.String, pl.Binary, pl.Categorical))
    )
    return pl.DataFrame(columns)


def _id_type(random: Random) -> Any:
    usual = (pl.Int64, pl.Int32, pl.String, pl.UInt64) * 4
    return random.choice((*usual, pl.Int8, pl.UInt16, pl.Float64, pl.Int128))


def _parquet(random: Random) -> tuple[str, bytes]:
    compression = random.choice(("uncompressed", "snappy", "zstd", "gzip", "lz4", "brotli"))
    options: dict[str, Any] = {"compression": compression, "row_group_size": random.choice((None, 2, 100))}
    return ".parquet", _written(random, lambda frame, file: frame.write_parquet(file, **options))


def _arrow(random: Random) -> tuple[str, bytes]:
    compression = random.choice(("uncompressed", "lz4", "zstd"))
    if random.random() < 0.5:
        write: Callable[..., Any] = pl.DataFrame.write_ipc
    else:
        write = pl.DataFrame.write_ipc_stream
    suffix = random.choice((".arrow", ".feather", ".ipc"))
    return suffix, _written(random, lambda frame, file: write(frame, file, compression=compression))


def _written(random: Random, write: Callable[[pl.DataFrame, io.BytesIO], Any]) -> bytes:
    file = io.BytesIO()
    write(_frame(random), file)
    content = file.getvalue()
    for _ in range(random.choice((0, 0, 1, 1, 1, 1, 2, 4))):
        content = _changed_bytes(random, content)
    return content
