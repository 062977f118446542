"""Small files of prepared data of every kind: what forgeries are made of."""

from __future__ import annotations

from pathlib import Path

from ialspp import Interactions
from torture.forging.small_data import IDS, ITEMS, NUMBERS, USERS, data_of


def prepared_files(folder: Path) -> list[tuple[bytes, str]]:
    """Make files, each with the kind of its ids; some have labels, weights, times or names."""
    files = []
    for number, kind in enumerate(IDS):
        plain = data_of(kind, labels=number % 2 == 0, weights=number % 3 != 1)
        for data in (plain, timed(kind, decayed=number % 2 == 1)):
            path = folder / "sound"
            data.save(path)
            files.append((path.read_bytes(), kind))
            path.unlink()
    return files


def timed(kind: str, *, decayed: bool) -> Interactions:
    """Make data with times, and weights that decay with them or not."""
    ids = IDS[kind]
    return Interactions.from_arrays(
        user=[ids[row] for row in USERS],
        item=[ids[row] for row in ITEMS],
        time=[1e9 + 40_000 * number for number in NUMBERS],
        half_life="1d" if decayed else None,
    )
