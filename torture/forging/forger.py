"""Forge sound files, one a try, and notice every answer that must not be."""

from __future__ import annotations

import traceback
from abc import ABC, abstractmethod
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from pathlib import Path
from random import Random
from typing import Any, ClassVar

from ialspp.errors import IalsppError
from torture.forging.forgeries import BLIND, SIGNED, Forge


@dataclass(frozen=True, slots=True)
class Sound:
    """A sound file, and the function that asks everything of a forgery of it.

    The function returns whether the forgery opens when it is verified.
    """

    kind: str
    content: bytes
    ask: Callable[[Random], bool]


class Forger(ABC):
    """Makes forgeries of some sound files and asks them."""

    signed: ClassVar[Mapping[str, Forge]] = SIGNED

    def __init__(self, seed: int, folder: Path) -> None:
        self.seed, self.path = seed, folder / "forged"
        self.faults: list[str] = []
        self.what = ""

    @abstractmethod
    def drawn(self, random: Random) -> Sound:
        """Draw a sound file."""

    def attempt(self, number: int) -> tuple[list[str], list[str]]:
        """Make one forgery, ask everything of it, and return what to count and the faults."""
        random = Random(f"{self.seed} {number}")
        self.faults = []
        name = random.choice([*BLIND, *self.signed, *self.signed, *self.signed])
        sound = self.drawn(random)
        forged = {**BLIND, **self.signed}[name](sound.content, random)
        self.what = f"{name}, {sound.kind}"
        self.path.unlink(missing_ok=True)
        self.path.write_bytes(forged)
        opened = sound.ask(random)
        if opened and name in BLIND and forged != sound.content:
            self.faults.append(f"{self.what}: accepted, though its checksums are wrong")
        return [f"{name} {'works' if opened else 'refused'}"], self.faults

    def allowed(self, name: str, question: Callable[[], Any]) -> Any:
        """Ask, and return the answer, or None where it is an error that may be; note any other."""
        try:
            return question()
        except (IalsppError, OSError):
            return None
        except BaseException as error:  # whatever it is, it is a fault
            where = traceback.extract_tb(error.__traceback__)[-1]
            place = f"{Path(where.filename).name}:{where.lineno}"
            self.faults.append(f"{self.what}, {name}: {type(error).__name__} at {place}: {str(error)[:200]}")
            return None
