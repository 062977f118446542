"""Several processes that update one file, some of them killed: nothing that was reported as done is lost."""

from __future__ import annotations

import json
import shutil
from contextlib import suppress
from pathlib import Path

from ialspp import ImplicitMF, store
from torture.kills.arena import COLUMNS, Arena, error_in, write_log
from torture.processes.jobs import Blow, Run, struck

USERS = 5  # of each update, all new


class Updates:
    """A model, and new data for several processes."""

    def __init__(self, arena: Arena) -> None:
        self.arena, self.base = arena, arena.folder / "base.ialspp"
        fit: list[str | Path] = ["fit", arena.log, *COLUMNS, "--dim", "16", "--epochs", "2", "-o", self.base]
        arena.usual(*fit, below=arena.folder)
        self.pairs = _known(self.base)[1]
        self.logs = [
            write_log(arena.folder / f"new-{n}.csv", arena.draw, users=USERS, items=60, prefix=f"p{n}-")
            for n in range(4)
        ]
        place = arena.place()
        shutil.copy(self.base, place / "m.ialspp")
        self.usual = self._finished(place, 0)

    def attack(self) -> None:
        """Update one file by two or three processes at once, of which one or more are struck."""
        arena, draw = self.arena, self.arena.draw
        place = arena.place()
        shutil.copy(self.base, place / "m.ialspp")
        blows = [arena.blow(self.usual) if draw.random() < 0.6 else None for _ in range(draw.randint(2, 3))]
        blows[0] = blows[0] or arena.blow(self.usual)
        runs = self._at_once(place, blows)
        story = f"updates at once: {', '.join(str(blow or 'undisturbed') for blow in blows)}"
        for run, blow in zip(runs, blows, strict=True):
            arena.struck(story, run, blow)
        last = len(self.logs) - 1
        done = [number for number, run in enumerate(runs) if run.code == 0]
        kept = self._check(story, place, done)
        if arena.nursery.run(arena.job(*self._command(place, last), below=place)).code != 0:
            arena.fault(f"{story}: the next update fails")
        self._check(f"{story}, and one more", place, [*kept, last])
        arena.no_leftovers(f"{story}, and one more", place)
        if (lines := _whole_lines(place / "runs" / "runs.jsonl")) < len(done) + 1:
            arena.fault(f"{story}: {len(done) + 1} runs reported as done, {lines} in runs.jsonl")
        arena.tally.counts["updates reported as done"] += len(done) + 1
        arena.drop(place)

    def _at_once(self, place: Path, blows: list[Blow | None]) -> list[Run]:
        jobs = [self.arena.job(*self._command(place, n), below=place) for n in range(len(blows))]
        nursery = self.arena.nursery
        processes = [nursery.start(struck(job, blow)) for job, blow in zip(jobs, blows, strict=True)]
        for process, blow in sorted(zip(processes, blows, strict=True), key=lambda pair: _moment(pair[1])):
            nursery.strike(process, blow, self.usual)
        return [nursery.wait(process) for process in processes]

    def _command(self, place: Path, number: int) -> list[str | Path]:
        return ["update", place / "m.ialspp", self.logs[number], *COLUMNS, "--runs", place / "runs"]

    def _finished(self, place: Path, number: int) -> Run:
        return self.arena.usual(*self._command(place, number), below=place)

    def _check(self, story: str, place: Path, done: list[int]) -> list[int]:
        """Check that the file is whole and has these updates, and return all that it has."""
        file = place / "m.ialspp"
        damage = error_in(store.verify, file)
        if damage:
            self.arena.fault(f"{story}: {damage}")
            return []
        users, pairs = _known(file)
        found = {n: sum(f"p{n}-{user}" in users for user in range(USERS)) for n in range(len(self.logs))}
        kept = [n for n, count in found.items() if count]
        if lost := set(done) - set(kept):
            self.arena.fault(f"{story}: update {sorted(lost)} was reported as done and is lost")
        if set(found.values()) - {0, USERS} or pairs != self.pairs + 8 * USERS * len(kept):
            self.arena.fault(f"{story}: half of an update is there: {found}, {pairs} pairs")
        return kept


def _moment(blow: Blow | None) -> float:
    return 0.0 if blow is None or blow.share is None else blow.share


def _known(file: Path) -> tuple[set[str], int]:
    model = ImplicitMF.load(file, mapped=False, threads=1)
    assert model.trained_on is not None
    return set(model.users.ids.tolist()), len(model.trained_on)


def _whole_lines(file: Path) -> int:
    """Count the lines that are JSON; a killed process may have left a part of one."""
    whole = 0
    for line in file.read_text().splitlines() if file.exists() else []:
        with suppress(ValueError):
            whole += isinstance(json.loads(line), dict)
    return whole
