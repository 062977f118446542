"""Forge model files and checkpoints, and ask everything of those that open.

A forgery may be refused with an error of the library or the system, or work. It must not end the process,
hang, take much memory, or raise anything else. Files with wrong checksums must be refused.
"""

from __future__ import annotations

import io
import warnings
from contextlib import redirect_stdout
from functools import partial
from pathlib import Path
from random import Random

import numpy as np

from ialspp import ImplicitMF, Interactions, store
from ialspp.cli.folder import show_folder
from ialspp.cli.info import info as show_info
from ialspp.errors import IalsppError
from ialspp.model.checkpoint import Checkpoint
from torture.forging.forger import Forger, Sound
from torture.forging.small_data import IDS, data_of
from torture.model_files.sound_files import checkpoints, model_files
from torture.questions import questions
from torture.tally import Tally
from torture.watching import Try, watched

FULL = 100_000
MOST_STEPS = 1000  # a checkpoint may order more, which takes long but is no fault


def attack(tries: int, seed: int, folder: Path) -> Tally:
    """Forge so many files."""
    return watched(forging, tries, seed, folder)


def forging(seed: int, folder: Path) -> Try:
    """Make the sound files, and return the function that makes one try."""
    warnings.simplefilter("ignore")  # numbers that overflow are among what comes out
    return ModelForger(seed, folder).attempt


class ModelForger(Forger):
    """Makes forgeries of models and checkpoints."""

    def __init__(self, seed: int, folder: Path) -> None:
        super().__init__(seed, folder)
        self.sound = [
            Sound("model", content, partial(self.ask_model, kind=kind))
            for content, kind in model_files(folder)
        ]
        self.checkpoints = [
            Sound("checkpoint", content, partial(self.ask_checkpoint, data=data))
            for content, data in checkpoints(folder)
        ]

    def drawn(self, random: Random) -> Sound:
        """Draw a model, or less often a checkpoint."""
        return random.choice(self.sound if random.random() < 0.75 else self.checkpoints)

    def ask_model(self, random: Random, kind: str) -> bool:
        """Ask everything of a model file; return whether it opens when it is verified."""
        path = self.path
        self.allowed("info", lambda: store.info(path))
        is_sound = self.allowed("verify", lambda: verified_file(path)) is not None
        verified = self.loaded(mapped=True, verify=None)
        self.loaded(mapped=False, verify=True)
        unverified = self.loaded(mapped=True, verify=False)
        if verified is not None:
            self.require_sound(verified, is_sound)
        for model in (verified, unverified) if random.random() < 0.1 else (verified or unverified,):
            if model is not None:
                news = data_of(kind, weights=True)
                for name, question in questions(model, IDS[kind], news, path.with_name("again"), random):
                    self.allowed(name, question)
        if random.random() < 0.02:
            self.ask_command_line(random)
        return verified is not None

    def loaded(self, *, mapped: bool, verify: bool | None) -> ImplicitMF | None:
        """Load the file, or return None."""
        found: ImplicitMF | None = self.allowed(
            f"load {mapped=} {verify=}",
            lambda: ImplicitMF.load(self.path, mapped=mapped, verify=verify, threads=1),
        )
        return found

    def require_sound(self, model: ImplicitMF, is_sound: bool) -> None:
        """Note a fault where a verified model has what must not be in it."""
        factors_are_finite = np.isfinite(model.user_factors).all() and np.isfinite(model.item_factors).all()
        ids_are_distinct = all(len(set(ids)) == len(ids) for ids in (model.users, model.items))
        names_fit = all(len(list(ids.names or ids)) == len(ids) for ids in (model.users, model.items))
        if not (is_sound and factors_are_finite and ids_are_distinct and names_fit):
            self.faults.append(f"{self.what}: verified, but not sound")

    def ask_command_line(self, random: Random) -> None:
        """Run `ialspp info`, whose output is thrown away."""
        as_json, verify = random.random() < 0.5, random.random() < 0.5
        with redirect_stdout(io.StringIO()):
            self.allowed("ialspp info", lambda: show_info(self.path, verify, as_json))
            self.allowed("ialspp info FOLDER", lambda: show_folder(self.path.parent, as_json=as_json))

    def ask_checkpoint(self, _random: Random, data: Interactions) -> bool:
        """Ask everything of a checkpoint; return whether a fit goes on from it."""
        self.allowed("read", lambda: Checkpoint.read(self.path).info())
        self.allowed("load", lambda: ImplicitMF.load(self.path))
        return self.allowed("resume", lambda: resumed(self.path, data)) is not None


def verified_file(path: Path) -> Path:
    """Verify a file, and return its path."""
    store.verify(path)
    return path


def resumed(path: Path, data: Interactions) -> ImplicitMF:
    """Go on with a fit for one epoch, unless it orders a great many steps for each row."""
    if (getattr(Checkpoint.read(path).job.settings["solver"], "steps", None) or 0) > MOST_STEPS:
        raise IalsppError("it would take long")
    return ImplicitMF.resume(path, data, callbacks=[lambda *_: True], progress=False, threads=1)
