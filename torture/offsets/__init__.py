"""Offsets: more pairs than 2^31 and 2^32, given to the native functions that pass over pairs.

The pairs are in sparse files, which are mapped and take no room on the disk: all are zero but the last few.
What a function makes of the last few must be what it makes of them alone. Left out are the functions whose
result has a number for each pair, which would take 17 GB of memory: `residuals`, the solvers that use
them, and `transposed_ranks`.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from torture.tally import Tally

FULL = 2
SIZES = (2**31 + 3, 2**32 + 3)  # pairs
ROW = 2**15 - 1  # pairs of each row but the last: short enough that no thread needs scratch memory for it
LAST_ROWS, LAST_COLUMNS = (1, 1, 2), (1, 2, 3)
N_COLUMNS, DIM, THREADS = 4, 2, 2
Call = Callable[[Any, int], Any]  # of rows and their number


def attack(tries: int, seed: int, folder: Path) -> Tally:  # noqa: ARG001  # nothing is drawn
    """Give the native functions as many pairs as each of the sizes."""
    tally = Tally()
    for size in SIZES[:tries]:
        for name, is_right in checks(size, folder):
            tally.counts["calls"] += 1
            if not is_right:
                tally.fault(f"{name} is wrong with {size:,} pairs")
    return tally


def checks(size: int, folder: Path) -> Iterator[tuple[str, bool]]:
    """Yield the name of each function, and whether its result is right."""
    from ialspp import _core

    users, items = (
        sparse(folder / name, size, last) for name, last in (("rows", LAST_ROWS), ("columns", LAST_COLUMNS))
    )
    starts = [0, *range(size - 3, size + 1)]
    yield "offsets_of", _core.offsets_of(items, N_COLUMNS, THREADS).tolist() == starts
    offsets, columns, *_ = _core.sort_pairs(users, items, 3, N_COLUMNS, begin=1, end=3, threads=THREADS)
    yield "sort_pairs", (offsets.tolist(), columns.tolist()) == ([0, 2, 3], [1, 2, 3])

    bounds = np.append(np.arange(0, size - 3, ROW), [size - 3, size])
    rows, last = _core.Rows(bounds, items, N_COLUMNS), len(bounds) - 2
    offsets, columns, *_ = _core.transpose(rows, 1, N_COLUMNS, THREADS)
    yield "transpose", (offsets.tolist(), columns.tolist()) == ([0, 1, 2, 3], [last] * 3)
    in_rows, in_columns = _core.find_core(rows, 1, 2)
    yield "find_core", in_rows.sum() == last and in_columns.tolist() == [1, 0, 0, 0]
    sums = _core.absolute_row_sums(rows, THREADS)
    yield "absolute_row_sums", sums[-1] == 3 and sums.sum() == size

    alone = _core.Rows(np.array([0, 3]), np.array(LAST_COLUMNS, dtype=np.int32), N_COLUMNS)
    for name, call in CALLS.items():
        yield name, call(rows, last + 1)[-1].tobytes() == call(alone, 1)[-1].tobytes()


def sparse(path: Path, size: int, last: tuple[int, ...]) -> NDArray[np.int32]:
    """Map a file of zeros that ends with a few other numbers."""
    with path.open("wb") as file:
        file.truncate(4 * (size - len(last)))
        file.seek(0, 2)
        file.write(np.array(last, dtype=np.int32).tobytes())
    return np.memmap(path, dtype=np.int32, mode="r")


def _side(n_rows: int) -> tuple[NDArray[np.float32], NDArray[np.float32], NDArray[np.float32]]:
    """The factors of the rows, their regularisation, and the factors of the columns."""
    other = np.linspace(0.1, 1, N_COLUMNS * DIM, dtype=np.float32).reshape(N_COLUMNS, DIM)
    return np.ones((n_rows, DIM), np.float32), np.ones(n_rows, np.float32), other


def _gramian() -> NDArray[np.float64]:
    other = _side(1)[2].astype(float)
    return np.asarray(other.T @ other)


def _solve_rows(rows: Any, n_rows: int) -> Any:
    from ialspp import _core

    side = _side(n_rows)
    _core.solve_rows(rows, *side, _gramian(), 0.1, False, 1.0, THREADS)
    return side[0]


def _update_side(rows: Any, n_rows: int) -> Any:
    from ialspp import _core

    side = _side(n_rows)
    _core.update_side(rows, *side, _gramian(), 0.1, 1, 1.0, THREADS)
    return side[0]


def _improve_rows(rows: Any, n_rows: int) -> Any:
    from ialspp import _core

    side = _side(n_rows)
    _core.improve_rows(rows, *side, np.ones(DIM, np.float32), _gramian(), 1, 0.0, 1.0, THREADS)
    return side[0]


def _multiply_rows(rows: Any, n_rows: int) -> Any:
    from ialspp import _core

    out, scales, x = _side(n_rows)
    _core.multiply_rows(rows, out, scales, x, np.ones(N_COLUMNS, np.float32), THREADS)
    return out


CALLS: dict[str, Call] = {
    "solve_rows": _solve_rows,
    "update_side": _update_side,
    "improve_rows": _improve_rows,
    "multiply_rows": _multiply_rows,
}
