"""Saves, exports and preparations that are killed: every file is the old one or the new one."""

from __future__ import annotations

from pathlib import Path

from torture.kills.arena import COLUMNS, Arena, write_log
from torture.processes.jobs import Job, Run, Strike

EXPORTS = {  # the options, with the folder to write to
    "numpy": ("--numpy", "{}"),
    "parquet": ("--parquet", "{}"),
    "index": ("--ann", "usearch", "-o", "{}/index"),
}
MOST_KILLS = 4  # before a write that is not struck

Contents = dict[str, bytes]


class Writes:
    """Two models and two logs to write in turns, and what a folder holds after each of them was written."""

    def __init__(self, arena: Arena) -> None:
        self.arena = arena
        self.models = [arena.folder / f"model-{seed}.ialspp" for seed in range(2)]
        for seed, model in enumerate(self.models):
            fit = [*COLUMNS, "--dim", "24", "--epochs", "1", "--seed", str(seed), "--init", "random"]
            arena.usual("fit", arena.log, *fit, "-o", model, below=arena.folder)
        self.logs = [arena.log, write_log(arena.folder / "other.csv", arena.draw, users=90, items=50)]
        self._usual: dict[str, tuple[list[Contents], Run]] = {}

    def attack(self, kind: str) -> None:
        """Write one thing over the other, killed a few times, and then to the end."""
        arena = self.arena
        if kind not in self._usual:
            self._usual[kind] = self._undisturbed(kind)
        (before, after), usual = self._usual[kind]
        place = arena.place()
        _fill(place, before)
        story = kind
        for left in reversed(range(arena.draw.randint(1, MOST_KILLS) + 1)):
            blow = arena.blow(usual) if left else None
            run = arena.nursery.run(self._job(kind, 1, place), blow, usual)
            story += f" | {blow or 'to its end'}"
            arena.struck(story, run, blow, says=kind != "save")
            self._check(story, place, before, after)
            if run.code in (130, 143):
                arena.no_leftovers(f"{story}, which could clean up", place, run)
            if run.code == 0:
                arena.no_leftovers(story, place)
                if _contents(place) != after:
                    arena.fault(f"{story}: other files than an undisturbed {kind} writes")
        arena.drop(place)

    def _undisturbed(self, kind: str) -> tuple[list[Contents], Run]:
        """Return what is written of each thing, and how the second process ends."""
        found = []
        place = self.arena.place()
        for number in range(2):
            run = self.arena.nursery.run(self._job(kind, number, place))
            self.arena.struck(f"an undisturbed {kind}", run, None)
            found.append(_contents(place))
        self.arena.drop(place)
        return found, run

    def _job(self, kind: str, number: int, place: Path) -> Job:
        model = str(self.models[number])
        if kind == "save":
            arguments = [str(place / "m.ialspp"), str(self.models[0]), model]
            return Job("torture.processes.victims:save", arguments, strike=Strike(str(place)))
        if kind == "prepare":
            data: list[str | Path] = [self.logs[number], *COLUMNS, "-o", place / "d.ialsdata"]
            return self.arena.job("prepare", *data, below=place)
        return self.arena.job("export", model, *(part.format(place) for part in EXPORTS[kind]), below=place)

    def _check(self, story: str, place: Path, before: Contents, after: Contents) -> None:
        for name, found in _contents(place).items():
            if not name.endswith(".part") and found not in (before.get(name), after.get(name)):
                self.arena.fault(f"{story}: {name} is neither the old file nor the new one")


def _contents(place: Path) -> Contents:
    return {file.name: file.read_bytes() for file in sorted(place.iterdir())}


def _fill(place: Path, contents: Contents) -> None:
    for name, content in contents.items():
        (place / name).write_bytes(content)
