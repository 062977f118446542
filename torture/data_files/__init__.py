"""Forged data files (text, compressed text, Parquet, Arrow): each is read soundly, or refused in words.

What can be read is trained on, and the model is asked everything.
"""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path

from torture.tally import Tally
from torture.watching import answers_in_time

FULL = 100_000


def attack(tries: int, seed: int, folder: Path) -> Tally:
    """Read `tries` forged files in a process of its own, and start it anew where it dies."""
    tally = Tally()
    number = 0
    while number < tries:
        number = _watched(tally, seed, number, tries, folder)
    return tally


def _watched(tally: Tally, seed: int, first: int, end: int, folder: Path) -> int:
    """Run one process; return the number of the try to go on with."""
    command = [
        sys.executable,
        "-m",
        "torture.data_files.reader",
        str(seed),
        str(first),
        str(end),
        str(folder),
    ]
    environment = {**os.environ, "POLARS_MAX_THREADS": "1"}
    with (
        (folder / "stderr").open("w+b") as stderr,
        subprocess.Popen(
            command, bufsize=0, stdout=subprocess.PIPE, stderr=stderr, env=environment
        ) as reader,
    ):
        try:
            return _followed(tally, seed, first, end, reader, folder)
        finally:
            reader.kill()


def _followed(
    tally: Tally, seed: int, first: int, end: int, reader: subprocess.Popen[bytes], folder: Path
) -> int:
    assert reader.stdout is not None
    number = first
    while number < end:
        if not answers_in_time(reader.stdout, reader.pid):
            tally.fault(f"draw({seed}, {number}): it hangs")
            return number + 1
        line = reader.stdout.readline()
        if not line:
            said = (folder / "stderr").read_text(errors="replace")[-300:]
            tally.fault(f"draw({seed}, {number}): the process ended with {reader.wait()}: {said!r}")
            return number + 1
        outcome, wrong = json.loads(line)
        tally.counts[outcome] += 1
        if wrong:
            tally.fault(f"draw({seed}, {number}): {outcome}, {wrong}")
        number += 1
        if "took " in wrong:  # the most memory ever taken: only a new process can tell about the next
            return number
    return number
