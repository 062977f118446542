"""Load: eight threads query a model that another one updates, beside a file that another process replaces.

Every answer is recomputed with numpy from a state that the model had while the query ran. The file is loaded
again and again; the model must have the bits of the state that its data says it is. Memory must not grow.
"""

from __future__ import annotations

from pathlib import Path

from torture.children import run
from torture.tally import Tally

FULL = 600  # seconds


def attack(tries: int, seed: int, folder: Path) -> Tally:
    """Query and update for `tries` seconds."""
    tally = Tally()
    run("torture.load", (tries, seed, folder), tally)
    return tally
