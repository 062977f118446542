"""Everything in ialspp that writes files, as jobs for processes, with the files that were there before."""

from __future__ import annotations

import itertools
import random
import shutil
import zipfile
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

from torture.kills.arena import COLUMNS, write_log
from torture.processes.jobs import Job
from torture.processes.nursery import Nursery

Prepare = Callable[[Path], object]
MODEL = "m.ialspp"


@dataclass(frozen=True, slots=True)
class Operation:
    """One way to write files below a folder."""

    name: str
    prepare: Prepare  # put the old files into an empty folder
    job: Callable[[Path], Job]  # that replaces them, or adds new ones


class Operations:
    """The data and models that operations need, and a list of them."""

    def __init__(self, folder: Path, nursery: Nursery, draw: random.Random) -> None:
        self._nursery, self._folder, self._numbers = nursery, folder, itertools.count()
        self.log = write_log(folder / "log.csv", draw, users=120, items=60)
        self.news = write_log(folder / "new.csv", draw, users=5, items=60, prefix="new-")
        self.old, self.new = folder / "old.ialspp", folder / "new.ialspp"
        for seed, model in enumerate((self.old, self.new)):
            self._run(Job.command(*self._fit(seed), "-o", model))
        self.data = folder / "old.ialsdata"
        self._run(Job.command("prepare", self.news, *COLUMNS, "-o", self.data))
        self.archive = folder / "archive.zip"
        with zipfile.ZipFile(self.archive, "w", zipfile.ZIP_DEFLATED) as opened:
            opened.write(self.log, "log.csv")

    def _fit(self, seed: int) -> list[str]:
        options = [*COLUMNS, "--dim", "24", "--epochs", "2", "--seed", str(seed), "--init", "random"]
        return ["fit", str(self.log), *options]

    def _run(self, job: Job) -> None:
        run = self._nursery.run(job)
        assert run.code == 0, run.stderr

    def all(self) -> list[Operation]:
        """List every operation."""
        return [
            Operation("save", self._with_model, self._save),
            Operation("fit", self._with_model, self._fit_with_checkpoints),
            Operation("update", self._with_model, self._update),
            Operation("prepare", self._with_data, self._prepare),
            Operation("export --numpy", *self._export("--numpy", "{}")),
            Operation("export --parquet", *self._export("--parquet", "{}")),
            Operation("export --ann", *self._export("--ann", "usearch", "-o", "{}/index")),
            Operation("recommend -o", *self._recommend("{}/table.csv")),
            Operation("recommend -o", *self._recommend("{}/table.parquet")),
            Operation("unpack", lambda place: (place / "cache").mkdir(), self._unpack),
        ]

    def _with_model(self, place: Path) -> None:
        shutil.copy(self.old, place / MODEL)

    def _save(self, place: Path) -> Job:
        return Job("torture.processes.victims:save", [str(place / MODEL), str(self.new)])

    def _fit_with_checkpoints(self, place: Path) -> Job:
        files = {"--checkpoint": place / "c", "-o": place / MODEL, "--runs": place}
        return Job.command(*self._fit(1), *(part for option in files.items() for part in option))

    def _update(self, place: Path) -> Job:
        return Job.command("update", place / MODEL, self.news, *COLUMNS, "--runs", place)

    def _with_data(self, place: Path) -> None:
        shutil.copy(self.data, place / "d.ialsdata")

    def _prepare(self, place: Path) -> Job:
        return Job.command("prepare", self.log, *COLUMNS, "-o", place / "d.ialsdata")

    def _export(self, *options: str) -> tuple[Prepare, Callable[[Path], Job]]:
        def job_of(model: Path) -> Callable[[Path], Job]:
            return lambda place: Job.command("export", model, *(part.format(place) for part in options))

        return self._copied(job_of(self.old)), job_of(self.new)

    def _recommend(self, out: str) -> tuple[Prepare, Callable[[Path], Job]]:
        def job_of(model: Path) -> Callable[[Path], Job]:
            return lambda place: Job.command(
                "recommend", model, "--all", "-k", "5", "-o", out.format(place), "--threads", "1"
            )

        return self._copied(job_of(self.old)), job_of(self.new)

    def _copied(self, job: Callable[[Path], Job]) -> Prepare:
        """Return the function that copies what a job writes, which is run once."""
        made = self._folder / f"made-{next(self._numbers)}"
        made.mkdir()
        self._run(job(made))
        return lambda place: shutil.copytree(made, place, dirs_exist_ok=True)

    def _unpack(self, place: Path) -> Job:
        return Job("torture.processes.victims:unpack", [str(self.archive), "log.csv", str(place / "cache")])
