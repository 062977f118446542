"""Write checkpoints while training goes on."""

from __future__ import annotations

import json
import threading
from collections.abc import Mapping, Sequence
from dataclasses import asdict
from pathlib import Path
from typing import Any

from ..data.csr import Floats, aligned
from ..errors import InvalidTypeError
from ..files import container
from .checkpoint import FORMAT, VERSION
from .history import EpochRecord
from .state import settings_as_dict
from .training import Plan


class Checkpointer:
    """Keeps a copy of the state after each epoch, and writes it every so often, while training goes on.

    Use it as a context manager around the training. If that ends early, by an error or Ctrl-C, the last
    finished epoch is written before the error goes on.
    """

    def __init__(
        self,
        path: Path,
        every: int,
        settings: Mapping[str, Any],
        plan: Plan,
        data: dict[str, Any],
        note: Mapping[str, Any],
    ) -> None:
        self.path = path
        self._every = every
        self._description = {
            "settings": settings_as_dict(settings),
            "plan": asdict(plan),
            "every": every,
            "data": data,
            "note": _plain(note),
        }
        self._plan = plan
        self._copies: tuple[Floats, Floats] | None = None  # of the factors after `_history`
        self._history: list[EpochRecord] = []
        self._is_finished = False
        self._is_written = True
        self._writer: threading.Thread | None = None
        self._is_done = threading.Event()  # set by the writer when it ends
        self._error: BaseException | None = None

    def keep(self, users: Floats, items: Floats, history: Sequence[EpochRecord]) -> None:
        """Copy the state after an epoch, and start to write it if it is time."""
        self._copy(users, items, history)
        is_due = (len(history) - self._plan.earlier) % self._every == 0
        if is_due and not self._plan.is_done(history):  # else `finish` follows
            self._is_done = threading.Event()
            self._writer = threading.Thread(target=self._try_to_write, name="ialspp checkpoint")
            self._writer.start()

    def finish(self, users: Floats, items: Floats, history: Sequence[EpochRecord]) -> None:
        """Copy the state at the end of the fit."""
        self._copy(users, items, history)
        self._is_finished = True

    def _copy(self, users: Floats, items: Floats, history: Sequence[EpochRecord]) -> None:
        self._wait()  # for the copy that is being written
        if self._copies is None:
            self._copies = aligned(users.shape), aligned(items.shape)
        self._is_written = True  # until the copy is whole, there is nothing to write
        self._copies[0][:], self._copies[1][:] = users, items
        self._history = list(history)
        self._is_written = False

    def __enter__(self) -> Checkpointer:
        return self

    def __exit__(self, kind: type[BaseException] | None, *_: object) -> None:
        try:
            self._wait()
            if not self._is_written and self._copies is not None:
                self._write()
        except OSError:
            if kind is None:  # else the first error matters more
                raise

    def _wait(self) -> None:
        """Wait for the writer, and raise its error."""
        # Not `join`: if Ctrl-C interrupts it, Python up to 3.12 takes a thread that still runs for ended.
        if self._writer is not None and self._writer.ident is not None:  # else Ctrl-C came before its start
            self._is_done.wait()
        self._writer = None
        if self._error is not None:
            error, self._error = self._error, None
            raise error

    def _try_to_write(self) -> None:
        try:
            self._write()
        except BaseException as error:  # raised again by the thread that trains
            self._error = error
        finally:
            self._is_done.set()

    def _write(self) -> None:
        assert self._copies is not None
        from importlib.metadata import version

        description = {
            **self._description,
            "history": [asdict(record) for record in self._history],
            "finished": self._is_finished,
        }
        metadata = {
            "format": FORMAT,
            "format_version": str(VERSION),
            "written_by": f"ialspp {version('ialspp')}",
            "description": json.dumps(description),
        }
        container.write(
            self.path, {"user_factors": self._copies[0], "item_factors": self._copies[1]}, metadata
        )
        self._is_written = True


def _plain(note: Mapping[str, Any]) -> dict[str, Any]:
    """Check that a note is made of plain values."""
    try:
        return dict(json.loads(json.dumps(dict(note))))
    except (TypeError, ValueError) as error:
        raise InvalidTypeError(f"note must be a dict of plain values that JSON has: {error}") from error
