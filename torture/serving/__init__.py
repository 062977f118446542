"""Serving: a model file is replaced again and again while clients ask. No answer fails, and none is mixed.

Every answer carries the checksum of its model. It must be the answer of that model, bit for bit.
"""

from __future__ import annotations

import os
import shutil
import threading
import time
from itertools import cycle
from pathlib import Path

from torture.serving.asking import Asker, checksum_served
from torture.serving.known import Known, known_models
from torture.serving.process import served
from torture.tally import Tally

FULL = 100  # replacements
ASKERS = 4
PATIENCE = 120  # seconds until a new file is served


def attack(tries: int, seed: int, folder: Path) -> Tally:
    """Replace the file `tries` times under load."""
    tally = Tally()
    models = known_models(seed, folder)
    path = folder / "served.ialspp"
    replace(models[0], path)
    over = threading.Event()
    with served(path) as port:
        askers = [Asker(port, models, seed + number, over) for number in range(ASKERS)]
        for asker in askers:
            asker.start()
        upcoming = cycle([*models[1:], models[0]])
        for number in range(tries):
            model = next(upcoming)
            replace(model, path)
            if not _is_served(port, model):
                tally.fault(f"replacement {number} was not served within {PATIENCE} seconds [seed {seed}]")
                break
            tally.counts["replacements"] += 1
        over.set()
        for asker in askers:
            asker.join()
    for asker in askers:
        tally.counts["answers"] += asker.answers
        for fault in asker.faults[:5]:
            tally.fault(f"{fault} [seed {seed}]")
    seen = set().union(*(asker.seen for asker in askers))
    tally.counts["models seen"] = len(seen)
    return tally


def replace(model: Known, path: Path) -> None:
    """Put a model file in the place of another, as `save` does: by a rename."""
    part = path.with_suffix(".part")
    shutil.copyfile(model.path, part)
    os.utime(part)
    part.replace(path)


def _is_served(port: int, model: Known) -> bool:
    """Wait until the service says that it answers from this model."""
    until = time.monotonic() + PATIENCE
    while time.monotonic() < until:
        if checksum_served(port) == model.checksum:
            return True
        time.sleep(0.005)
    return False
