"""The file of measurements: one line of JSON each, written as soon as the measurement is made.

The first line holds the data, the settings and the machine; a run that continues must have the same. A last
line that was cut short is dropped, and its task measured again.
"""

import json
import os
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import asdict
from pathlib import Path
from typing import Any

from ialspp.errors import InvalidValueError
from ialspp.files.appending import append_line
from ialspp.files.atomic import whole_file

from .grid import Configuration, Grid, TimingTask, TrainingTask
from .run import Data, Machine, Measurement, Run, Settings, Timing, Training

FORMAT = 1
FILE = "measurements.jsonl"


class Journal:
    """A run's file, open for more measurements of the same data, settings and machine."""

    def __init__(self, folder: Path, data: Data, settings: Settings, machine: Machine, date: str) -> None:
        folder.mkdir(parents=True, exist_ok=True)
        self.path = folder / FILE
        about = _plain({"data": asdict(data), "settings": asdict(settings), "machine": asdict(machine)})
        if self.path.exists():
            self._refuse_other(about)
            _drop_cut_line(self.path)
        else:
            with whole_file(self.path) as file:
                file.write(f"{_line({'format': FORMAT, 'kind': 'run', **about, 'date': date})}\n".encode())

    def _refuse_other(self, about: dict[str, dict[str, Any]]) -> None:
        """Raise where the file is about other data, settings or another machine."""
        run = read_run(self.path)
        for part, values in about.items():
            kept = _plain(asdict(getattr(run, part)))
            for name, value in values.items():
                if kept[name] != value:
                    raise InvalidValueError(
                        f"{self.path} has measurements with {part} {name.replace('_', ' ')} {kept[name]!r}, "
                        f"this run has {value!r}: choose another --out, or remove the file"
                    )

    def plan(self, grid: Grid, command: str) -> None:
        """Record what is requested, and by which command."""
        new = {"kind": "grid", **_plain(asdict(grid)), "command": command}
        if new not in _parsed(self.path):
            append_line(self.path, _line(new))

    def add(self, measured: Measurement) -> None:
        """Keep a measurement; when this returns, it is on the disk."""
        values = asdict(measured)
        task = values.pop("task")
        kind = "timing" if isinstance(measured, Timing) else "training"
        append_line(self.path, _line({"kind": kind, **task.pop("configuration"), **task, **values}))

    def run(self) -> Run:
        return read_run(self.path)


def read_run(path: Path) -> Run:
    """Read a run from its file or from the folder it is in; errors name the line."""
    file = path / FILE if path.is_dir() else path
    if not file.is_file():
        raise FileNotFoundError(f"{path}: no {FILE} here; a folder that `make reproduce` wrote is required")
    head, *lines = _parsed(file)
    with _errors_naming(file, 1):
        settings = Settings(**{**head["settings"], "metrics": tuple(head["settings"]["metrics"])})
        about = Data(**head["data"]), settings, Machine(**head["machine"]), head["date"]
    commands: dict[str, None] = {}
    grids: dict[Grid, None] = {}
    timings: dict[TimingTask, Timing] = {}
    trainings: dict[TrainingTask, Training] = {}
    for number, line in enumerate(lines, start=2):
        with _errors_naming(file, number):
            if line["kind"] == "timing":
                timing = _timing_of(line)
                timings.setdefault(timing.task, timing)  # where the same was measured twice, the first counts
            elif line["kind"] == "training":
                training = _training_of(line)
                trainings.setdefault(training.task, training)
            elif line["kind"] == "grid":
                grids[Grid(tuple(line["dims"]), tuple(line["blocks"]), line["seeds"], line["rounds"])] = None
                commands[line["command"]] = None
            else:
                raise ValueError(f"kind {line['kind']!r}")
    return Run(*about, tuple(commands), tuple(grids), tuple(timings.values()), tuple(trainings.values()))


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


def _configuration_of(line: dict[str, Any]) -> Configuration:
    block = line["block"]
    return Configuration(int(line["dim"]), None if block is None else int(block))


@contextmanager
def _errors_naming(file: Path, number: int) -> Iterator[None]:
    try:
        yield
    except (KeyError, TypeError, ValueError, AttributeError) as error:
        raise InvalidValueError(f"{file}, line {number}: not of format {FORMAT}: {error!r}") from error


def _parsed(file: Path) -> list[dict[str, Any]]:
    content = file.read_bytes()
    parsed = []
    for number, text in enumerate(content[: content.rfind(b"\n") + 1].splitlines(), start=1):
        with _errors_naming(file, number):
            line = json.loads(text)
            if not isinstance(line, dict) or "kind" not in line:
                raise ValueError("not a measurement")
            parsed.append(line)
    if not parsed or parsed[0]["kind"] != "run" or parsed[0].get("format") != FORMAT:
        raise InvalidValueError(f"{file}: its first line must be the head of a run of format {FORMAT}")
    return parsed


def _drop_cut_line(file: Path) -> None:
    content = file.read_bytes()
    complete = content.rfind(b"\n") + 1
    if complete < len(content):
        os.truncate(file, complete)


def _line(value: dict[str, Any]) -> str:
    return json.dumps(value, allow_nan=False)


def _plain(value: dict[str, Any]) -> dict[str, Any]:
    """Return the value as it comes back from JSON."""
    plain: dict[str, Any] = json.loads(_line(value))
    return plain
