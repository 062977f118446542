"""A model in memory and a model file that change while they are used, and what their states have to be."""

from __future__ import annotations

import threading
import time
from collections.abc import Callable
from pathlib import Path
from typing import TypeVar

from ialspp import ImplicitMF
from torture.load.known_states import State, first_model, news, number_of

Answer = TypeVar("Answer")
MOST_STATES = 200  # kept at once: updates wait for a thread that has not compared its answer yet


class Shadow:
    """A model of one's own that takes the same updates, and so knows the states."""

    def __init__(self, seed: int) -> None:
        self.number = 0
        self._seed, self._model = seed, first_model(seed)

    def advance(self, number: int) -> State:
        """Return the state of this number, which may not be smaller than the last one."""
        while self.number < number:
            self.number += 1
            self._model.update(news(self._seed, self.number), progress=False)
        return State(self._model)


class Published:
    """A model that one thread updates. Each state is known before anyone can see it."""

    def __init__(self, seed: int) -> None:
        self._seed, self._model, self._shadow = seed, first_model(seed), Shadow(seed)
        self._states = {0: self._shadow.advance(0)}
        self._visible = 0  # the number of a state that every later query sees, or a newer one
        self._asking: dict[int, int] = {}  # for each thread, what was visible before its query
        self._lock = threading.Lock()

    def save(self, path: Path) -> None:
        """Save the model."""
        self._model.save(path)

    def ask(self, query: Callable[[ImplicitMF], Answer], is_right: Callable[[State, Answer], bool]) -> bool:
        """Query the model, and tell whether the answer is that of a state that there was meanwhile."""
        me = threading.get_ident()
        with self._lock:
            self._asking[me] = self._visible
        answer = query(self._model)
        with self._lock:
            first, last = self._asking.pop(me), max(self._states)
            states = [self._states[number] for number in range(first, last + 1)]
        return any(is_right(state, answer) for state in states)

    def update(self) -> bool:
        """Take the next update, and tell whether the model has the bits of its state."""
        while len(self._states) > MOST_STATES:
            time.sleep(0.01)
            self._forget()
        number = self._visible + 1
        state = self._shadow.advance(number)
        with self._lock:
            self._states[number] = state
        self._model.update(news(self._seed, number), progress=False)
        with self._lock:
            self._visible = number
        self._forget()
        return State(self._model).bits == state.bits

    def _forget(self) -> None:
        """Drop the states that nobody can have an answer of any more."""
        with self._lock:
            oldest = min([self._visible, *self._asking.values()])
            for number in [number for number in self._states if number < oldest]:
                del self._states[number]


class Replaced:
    """A model file that another process updates."""

    def __init__(self, path: Path, seed: int) -> None:
        self._path, self._shadow = path, Shadow(seed)
        self._kept: tuple[ImplicitMF, State] | None = None  # a mapped model, whose file is replaced soon

    @property
    def number(self) -> int:
        """The number of the last state that was loaded."""
        return self._shadow.number

    def load(self) -> bool:
        """Load the file, and tell whether the model has the bits of the state that its data says it is.

        Every other model is mapped, and must still have those bits when the next one is loaded.
        """
        mapped = self._kept is None
        model = ImplicitMF.load(self._path, mapped=mapped, threads=1)
        number = number_of(model)
        if number < self._shadow.number:
            return False  # an update was lost
        state = self._shadow.advance(number)
        sound = State(model).bits == state.bits
        if self._kept is not None:
            sound &= State(self._kept[0]).bits == self._kept[1].bits
        self._kept = (model, state) if mapped else None
        return sound
