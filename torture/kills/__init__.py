"""Kill fits, updates, saves, exports and preparing: at drawn moments, and at every kind of call on files.

A try is a process that SIGKILL, SIGTERM or SIGINT has ended. After each of them the files are the old or the
new ones, whole. No update is lost that was reported as done, and a fit that is resumed has the bits of one
that was never disturbed. Without a C compiler, or on another system than Linux, signals come at drawn moments
only.
"""

from __future__ import annotations

import random
from pathlib import Path

from torture.kills.arena import Arena
from torture.kills.fits import Expected, attack_fit, undisturbed
from torture.kills.updates import Updates
from torture.kills.writes import EXPORTS, Writes
from torture.processes.nursery import Nursery
from torture.tally import Tally

FULL = 1_000
KILLS_OF_A_FIT = 25  # with the same settings, after which others are drawn


def attack(tries: int, seed: int, folder: Path) -> Tally:
    """End so many processes."""
    tally, draw = Tally(), random.Random(seed)
    (folder / "processes").mkdir()
    (folder / "arena").mkdir()
    with Nursery(folder / "processes") as nursery:
        arena = Arena(folder / "arena", nursery, draw, tally)
        if not nursery.can_interpose:
            tally.counts["(no C compiler or not Linux: signals at moments only)"] += 1
        updates, writes = Updates(arena), Writes(arena)
        fits = [undisturbed(arena, number) for number in range(1 + tries // KILLS_OF_A_FIT)]
        while arena.kills < tries:
            _attack_one(arena, fits, updates, writes)
    return tally


def _attack_one(arena: Arena, fits: list[Expected], updates: Updates, writes: Writes) -> None:
    kind = arena.draw.choices(["fit", "update", "save", "export", "prepare"], [4, 3, 2, 2, 2])[0]
    before = arena.kills
    if kind == "fit":
        attack_fit(arena, arena.draw.choice(fits))
    elif kind == "update":
        updates.attack()
    else:
        writes.attack(arena.draw.choice(list(EXPORTS)) if kind == "export" else kind)
    arena.tally.counts[f"signals in {kind}"] += arena.kills - before
