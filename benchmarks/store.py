"""A model file of about a gigabyte: how long it takes to save, to open, to ask for one user, and to verify.

python benchmarks/store.py
"""

from __future__ import annotations

import argparse
import os
import tempfile
import time
from collections.abc import Callable
from pathlib import Path
from typing import TypeVar

import numpy as np
import scipy.sparse

from ialspp import ImplicitMF, Interactions, store
from ialspp.system.machine import resolve_threads

N_ITEMS, PAIRS_PER_USER = 100_000, 5
Result = TypeVar("Result")


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--gigabytes", type=float, default=1.0, help="of users' vectors")
    parser.add_argument("--dim", type=int, default=64)
    parser.add_argument("--integers", action="store_true", help="integers as users' ids, not strings")
    parser.add_argument("--folder", help="where the file goes, on the disk to measure")
    asked = parser.parse_args()
    n_users = round(asked.gigabytes * 1e9 / (4 * asked.dim))
    with tempfile.TemporaryDirectory(dir=asked.folder) as folder:
        path = Path(folder) / "model.ialspp"
        user, best = save(made(n_users, asked.dim, asked.integers), path)
        ask(path, user, best)
        forget(path)
        print("and now from the disk:")
        ask(path, user, best)


def save(model: ImplicitMF, path: Path) -> tuple[object, list[object]]:
    """Returns a user and what they should be recommended."""
    print(f"{model!r}, {resolve_threads(None)} threads")
    timed("save", lambda: model.save(path))
    print(f"{path.stat().st_size / 1e6:,.0f} MB, all of it on the disk")
    user = model.users[len(model.users) // 3]
    return user, model.recommend(user)


def made(n_users: int, dim: int, integers: bool) -> ImplicitMF:
    """A model as it is before the first epoch, which is as long as any."""
    rng = np.random.default_rng(0)
    items = rng.integers(0, N_ITEMS, n_users * PAIRS_PER_USER, dtype=np.int32)
    offsets = np.arange(0, len(items) + 1, PAIRS_PER_USER)
    seen = scipy.sparse.csr_array((np.ones(len(items)), items, offsets), (n_users, N_ITEMS))
    ids = range(n_users) if integers else [f"user-{number:09}" for number in range(n_users)]
    data = Interactions.from_scipy(seen, values=None, users=ids)
    return ImplicitMF(dim, epochs=0).fit(data, progress=False)


def ask(path: Path, user: object, best: list[object]) -> None:
    """What a process does that was just started, and then some."""
    timed("info", lambda: store.info(path))
    model = timed("open", lambda: ImplicitMF.load(path))
    first = timed("recommend for one user, the first time", lambda: model.recommend(user))
    again = timed("once more", lambda: model.recommend(user))
    assert first == again == best
    timed("verify", lambda: store.verify(path))


def timed(what: str, call: Callable[[], Result]) -> Result:
    start = time.perf_counter()
    result = call()
    print(f"{1e3 * (time.perf_counter() - start):10,.1f} ms  {what}", flush=True)
    return result


def forget(path: Path) -> None:
    """Take a file out of the system's memory, where that can be asked for."""
    if hasattr(os, "posix_fadvise"):
        with path.open("rb") as file:
            os.posix_fadvise(file.fileno(), 0, 0, os.POSIX_FADV_DONTNEED)


if __name__ == "__main__":
    main()
