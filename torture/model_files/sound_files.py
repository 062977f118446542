"""Small models and checkpoints of every kind: what forgeries are made of."""

from __future__ import annotations

from contextlib import suppress
from pathlib import Path

from ialspp import ICD, EpochRecord, IALSpp, ImplicitMF, Interactions, SpectralCG
from ialspp.model.fitting import fit_with_note
from ialspp.solvers import Solver
from torture.forging.small_data import IDS, data_of


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
