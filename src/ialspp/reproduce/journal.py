"""The file of measurements: a line of JSON for each, written as soon as it is there.

The first line says of what data, with what settings and on which machine; a run that goes on must agree. A
last line that was cut short is dropped, and its task measured again.
"""

from __future__ import annotations

import json
import os
import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import asdict
from pathlib import Path
from typing import Any

from ..files.atomic import whole_file
from .grid import Configuration, Grid, TimingTask, TrainingTask
from .run import Data, Machine, Measurement, Run, Settings, Timing, Training

FORMAT = 1
FILE = "measurements.jsonl"


class Journal:
    """A run's file, open for more.

    Parameters
    ----------
    folder
        Where the file is, or will be; made if there is none.
    data, settings, machine
        Of this run. A file that is there must be of the same.
    date
        Of today; only a new file takes it.
    """

    def __init__(self, folder: Path, data: Data, settings: Settings, machine: Machine, date: str) -> None:
        folder.mkdir(parents=True, exist_ok=True)
        self.path = folder / FILE
        about = {"data": asdict(data), "settings": asdict(settings), "machine": asdict(machine)}
        if self.path.exists():
            self._refuse_other(json.loads(json.dumps(about)))
            _drop_cut_line(self.path)
        else:
            head = {"format": FORMAT, "kind": "run", **about, "date": date}
            with whole_file(self.path) as file:
                file.write(_line(head))

    def _refuse_other(self, about: dict[str, dict[str, Any]]) -> None:
        """Measurements of different things must not end up in one report."""
        run = read_run(self.path)
        kept = json.loads(json.dumps({part: asdict(getattr(run, part)) for part in about}))
        for part, values in about.items():
            for name, value in values.items():
                if kept[part][name] != value:
                    what = f"{part} {name.replace('_', ' ')} {kept[part][name]!r}"
                    raise ValueError(
                        f"{self.path} has measurements with {what}, this run has {value!r}: "
                        "choose another --out, or remove the file"
                    )

    def plan(self, grid: Grid, command: str) -> None:
        """Note what is to be measured, and how that was asked for."""
        lines = [line for line in _parsed(self.path) if line["kind"] == "grid"]
        new = {"kind": "grid", **json.loads(json.dumps(grid.as_dict())), "command": command}
        if new not in lines:
            self._append(new)

    @contextmanager
    def alone(self) -> Iterator[None]:
        """Hold the right to measure into this file; an error where another process does."""
        with self.path.open("rb") as file:
            if sys.platform != "win32":
                import fcntl

                try:
                    fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
                except BlockingIOError:
                    raise ValueError(f"{self.path}: another process is measuring into this file") from None
            yield

    def add(self, measured: Measurement) -> None:
        """Keep a measurement; when this returns it is on the disk."""
        self._append(_as_dict(measured))

    def run(self) -> Run:
        """All that is in the file."""
        return read_run(self.path)

    def _append(self, line: dict[str, Any]) -> None:
        content = _line(line)
        file = os.open(self.path, os.O_WRONLY | os.O_APPEND | getattr(os, "O_BINARY", 0))
        try:
            before = os.fstat(file).st_size
            if os.write(file, content) < len(content):
                os.ftruncate(file, before)
                raise OSError(f"{self.path}: the measurement did not fit on the disk; it is not kept")
            os.fsync(file)
        finally:
            os.close(file)


def read_run(path: Path) -> Run:
    """A run from its file, or from the folder it is in; errors name the line."""
    file = path / FILE if path.is_dir() else path
    if not file.is_file():
        raise FileNotFoundError(f"{path}: no {FILE} here; the folder of an `ialspp reproduce` is required")
    head, *lines = _parsed(file)
    with _errors_naming(file, 1):
        about = Data(**head["data"]), _settings_of(head["settings"]), Machine(**head["machine"]), head["date"]
    found: dict[str, list[Any]] = {kind: [] for kind in READERS}
    for number, line in enumerate(lines, start=2):
        with _errors_naming(file, number):
            found[line["kind"]].append(READERS[line["kind"]](line))
    # Each task once: where two processes measured the same, the first counts.
    timings, trainings = (
        {measured.task: measured for measured in reversed(found[kind])} for kind in ("timing", "training")
    )
    name = file.resolve().parent.name if file.name == FILE else file.stem
    return Run(
        name,
        *about,
        commands=tuple(dict.fromkeys(command for _, command in found["grid"])),
        grids=tuple(dict.fromkeys(grid for grid, _ in found["grid"])),
        timings=tuple(reversed(timings.values())),
        trainings=tuple(reversed(trainings.values())),
    )


@contextmanager
def _errors_naming(file: Path, number: int) -> Iterator[None]:
    try:
        yield
    except (KeyError, TypeError, ValueError, AttributeError) as error:
        raise ValueError(f"{file}, line {number}: not of format {FORMAT}: {error!r}") from error


def _parsed(file: Path) -> list[dict[str, Any]]:
    """Every whole line."""
    content = file.read_bytes()
    lines = content[: content.rfind(b"\n") + 1].splitlines()
    parsed = []
    for number, text in enumerate(lines, start=1):
        try:
            line = json.loads(text)
        except ValueError as error:
            raise ValueError(f"{file}, line {number}: not JSON: {error}") from error
        if not isinstance(line, dict) or "kind" not in line:
            raise ValueError(f"{file}, line {number}: not a measurement of format {FORMAT}")
        parsed.append(line)
    if not parsed or parsed[0]["kind"] != "run" or parsed[0].get("format") != FORMAT:
        raise ValueError(f"{file}: its first line must be the head of a run of format {FORMAT}")
    return parsed


def _drop_cut_line(file: Path) -> None:
    content = file.read_bytes()
    whole = content.rfind(b"\n") + 1
    if 0 < whole < len(content):
        os.truncate(file, whole)


def _line(value: dict[str, Any]) -> bytes:
    return json.dumps(value, allow_nan=False).encode() + b"\n"


def _as_dict(measured: Measurement) -> dict[str, Any]:
    values = asdict(measured)
    task = values.pop("task")
    kind = "timing" if isinstance(measured, Timing) else "training"
    return {"kind": kind, **task.pop("configuration"), **task, **values}


def _configuration_of(line: dict[str, Any]) -> Configuration:
    block = line["block"]
    return Configuration(int(line["dim"]), None if block is None else int(block))


def _timing_of(line: dict[str, Any]) -> Timing:
    return Timing(TimingTask(_configuration_of(line), line["share"], line["round"]), float(line["seconds"]))


def _training_of(line: dict[str, Any]) -> Training:
    return Training(
        TrainingTask(_configuration_of(line), line["seed"]),
        tuple(line["seconds"]),
        tuple(line["loss"]),
        {name: tuple(values) for name, values in line["metrics"].items()},
        line["evaluating"],
    )


def _grid_of(line: dict[str, Any]) -> tuple[Grid, str]:
    """With the command that asked for it."""
    return Grid(tuple(line["dims"]), tuple(line["blocks"]), line["seeds"], line["rounds"]), line["command"]


def _settings_of(values: dict[str, Any]) -> Settings:
    return Settings(**{**values, "metrics": tuple(values["metrics"])})


READERS: dict[str, Callable[[dict[str, Any]], Any]] = {
    "grid": _grid_of,
    "timing": _timing_of,
    "training": _training_of,
}
