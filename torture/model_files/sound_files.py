"""Small models and checkpoints of every kind: what forgeries are made of."""

from __future__ import annotations

from contextlib import suppress
from pathlib import Path
from typing import Any

from ialspp import ICD, EpochRecord, IALSpp, ImplicitMF, Interactions, SpectralCG
from ialspp.model.fitting import fit_with_note
from ialspp.solvers import Solver

IDS: dict[str, list[Any]] = {
    "strings": ["z", "", "a\0", "😀", "é", "b\ud800"],
    "ascending": ["a", "ab", "b", "c", "d", "e"],
    "int64": [5, 3, -4, 1, 2, 2**63 - 1],
    "uint64": [2**64 - 1, 7, 2**63, 9, 1, 0],
    "digits": [10**30, -(10**30), 2**64, 1, 2, 3],
}
NAMES = [
    "",
    "Heat (1995)",
    "Amélie 😀",
    "two\nlines",
    "שלום",
    "\x1b[31m\u202e",
]  # of users and items with these ids
NAMED = ("strings", "int64", "digits")
USERS, ITEMS = [0, 0, 0, 1, 1, 2, 3, 3, 4], [0, 2, 5, 1, 2, 3, 0, 4, 1]
NUMBERS = [1.0, 2.0, 0.5, 3.0, 1.0, 0.0, 4.0, 1.0, 2.0]


def data_of(kind: str, *, labels: bool = False, weights: bool = False) -> Interactions:
    """Make six users and six items with ids of one kind, some of which have names."""
    ids = IDS[kind]
    data = Interactions.from_arrays(
        user=[ids[row] for row in USERS],
        item=[ids[row] for row in ITEMS],
        label=NUMBERS if labels else None,
        weight=NUMBERS[::-1] if weights else None,
        users=ids,
        items=ids,
    )
    return data.with_names(items=NAMES, users=NAMES[::-1]) if kind in NAMED else data


def model_files(folder: Path) -> list[tuple[bytes, str]]:
    """Make model files, each with the kind of its ids."""
    files = []
    for number, kind in enumerate(IDS):
        data = data_of(kind, labels=number % 2 == 0, weights=number % 3 != 1)
        path = folder / "sound"
        ImplicitMF(4, epochs=2, threads=1).fit(data, progress=False).save(path, interactions=kind != "int64")
        files.append((path.read_bytes(), kind))
        path.unlink()
    return files


def checkpoints(folder: Path) -> list[tuple[bytes, Interactions]]:
    """Make checkpoints of fits that have not ended, each with its data."""
    solvers: dict[str, Solver] = {"strings": SpectralCG(), "int64": IALSpp(), "ascending": ICD()}
    data = {kind: data_of(kind, labels=True) for kind in solvers}
    return [(_checkpoint(folder, data[kind], solver), data[kind]) for kind, solver in solvers.items()]


def _checkpoint(folder: Path, data: Interactions, solver: Solver) -> bytes:
    """Return the checkpoint of a fit that was interrupted after its second epoch."""
    path = folder / "checkpoint"

    def interrupt(_model: object, record: EpochRecord) -> None:
        if record.epoch == 2:
            raise KeyboardInterrupt

    note = {"source": "a.csv", "out": "b", "dim": 4, "min_user": 1}
    model = ImplicitMF(4, epochs=4, solver=solver, threads=1)
    with suppress(KeyboardInterrupt):
        fit_with_note(model, data, until=1e-6, checkpoint=path, every=1, note=note, callbacks=[interrupt])
    content = path.read_bytes()
    path.unlink()
    return content
