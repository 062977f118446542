"""Forge files of prepared data; train on those that open, evaluate, update and save.

A forgery may be refused with an error of the library or the system, or work. It must not end the process,
hang, take much memory, or raise anything else. Files with wrong checksums must be refused, and so must
contents that reading a data file could not have made.
"""

from __future__ import annotations

import warnings
from collections.abc import Mapping
from functools import partial
from pathlib import Path
from random import Random
from typing import ClassVar

from ialspp import ImplicitMF, Interactions
from ialspp.data.prepared import PreparedFile
from torture.command_line import run_command
from torture.forging.forger import Forger, Sound
from torture.forging.forgeries import SIGNED, Forge
from torture.forging.small_data import IDS, data_of
from torture.prepared_files.alike import alike
from torture.prepared_files.questions import data_questions, fits
from torture.prepared_files.sound_files import prepared_files
from torture.questions import questions
from torture.soundness import unsound
from torture.tally import Tally
from torture.watching import Try, watched

FULL = 100_000


def attack(tries: int, seed: int, folder: Path) -> Tally:
    """Forge so many files."""
    return watched(forging, tries, seed, folder)


def forging(seed: int, folder: Path) -> Try:
    """Make the sound files, and return the function that makes one try."""
    warnings.simplefilter("ignore")  # numbers that overflow are among what comes out
    return DataForger(seed, folder).attempt


class DataForger(Forger):
    """Makes forgeries of prepared data."""

    signed: ClassVar[Mapping[str, Forge]] = {**SIGNED, "alike": alike}

    def __init__(self, seed: int, folder: Path) -> None:
        super().__init__(seed, folder)
        self.sound = [
            Sound(f"data with {kind}", content, partial(self.ask, kind=kind))
            for content, kind in prepared_files(folder)
        ]
        self.models = {kind: folder / f"{kind}.ialspp" for kind in IDS}
        for kind, path in self.models.items():
            ImplicitMF(2, epochs=1, threads=1).fit(data_of(kind, weights=True), progress=False).save(path)

    def drawn(self, random: Random) -> Sound:
        """Draw a file of data."""
        return random.choice(self.sound)

    def ask(self, random: Random, kind: str) -> bool:
        """Ask everything of a file; return whether it opens when it is verified."""
        self.allowed("facts", lambda: PreparedFile.open(self.path).facts())
        verified = self.opened(mapped=True, verify=None)
        read = self.opened(mapped=False, verify=True)
        unverified = self.opened(mapped=True, verify=False)
        if (verified is None) != (read is None):
            self.faults.append(f"{self.what}: mapped or read into memory makes a difference")
        if verified is not None and (wrong := unsound(verified)):
            self.faults.append(f"{self.what}: verified, but it has {wrong}")
        for data in (verified, unverified) if random.random() < 0.1 else (verified or unverified,):
            if data is not None:
                self.ask_data(random, data, kind)
        if random.random() < 0.01:  # takes as long as all other questions
            self.ask_command_line(random, kind)
        return verified is not None

    def opened(self, *, mapped: bool, verify: bool | None) -> Interactions | None:
        """Open the file, or return None."""
        found: Interactions | None = self.allowed(
            f"open {mapped=} {verify=}", lambda: Interactions.open(self.path, mapped=mapped, verify=verify)
        )
        return found

    def ask_data(self, random: Random, data: Interactions, kind: str) -> None:
        """Ask the data everything, train on it, update a model with it, and ask the models."""
        again = self.path.with_name("again")
        for name, question in data_questions(data, again, random):
            self.allowed(name, question)
        model = self.allowed("fit", lambda: fits(data, random))
        if model is None:
            model = ImplicitMF.load(self.models[kind])
        for name, question in questions(model, IDS[kind], data, again, random):
            self.allowed(f"model, {name}", question)

    def ask_command_line(self, random: Random, kind: str) -> None:
        """Run one of the commands that take data; what it writes is left to the next one to replace."""
        path, out = self.path, self.path.with_name("written")
        quick = ("--dim", 2, "--epochs", 1, "--threads", 1)
        arguments: tuple[object, ...] = random.choice(
            (
                ("info", path),
                ("info", path, "--verify", "--json"),
                ("info", path.parent),
                ("data", "show", path),
                ("data", "show", path, "--json"),
                ("fit", path, *quick, "-o", out.with_suffix(".ialspp"), "--force"),
                ("evaluate", path, *quick, "--protocol", "random"),
                ("update", self.models[kind], path, "-o", out.with_suffix(".ialspp"), "--force"),
                ("prepare", path, "-o", out.with_suffix(".ialsdata"), "--force"),
            )
        )
        self.allowed(f"ialspp {arguments[0]}", lambda: run_command(*arguments))
