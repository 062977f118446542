"""Signs of life of trials: each writes the time from time to time, so that others know when it has died."""

from __future__ import annotations

import threading
import time
from collections.abc import Callable
from typing import Any

from optuna.exceptions import OptunaError

BEAT = "beat"  # the attribute of a trial that has the time, in Unix seconds
EVERY = 30.0  # seconds from one sign to the next
SILENCE = 600.0  # seconds without one, after which a trial is dead: far more than clocks of machines differ


class Heartbeat:
    """Writes signs of life of some trials from a thread of its own, until they end.

    Parameters
    ----------
    every
        The seconds from one sign to the next.
    now
        Returns the time in Unix seconds.
    """

    def __init__(self, every: float = EVERY, now: Callable[[], float] = time.time) -> None:
        self._every, self._now = every, now
        self._trials: dict[int, Any] = {}
        self._lock = threading.Lock()
        self._thread: threading.Thread | None = None

    def begin(self, number: int, trial: Any) -> None:
        """Write the first sign of life of one of Optuna's trials, and go on."""
        trial.set_user_attr(BEAT, self._now())
        with self._lock:
            self._trials[number] = trial
            if self._thread is None:
                self._thread = threading.Thread(target=self._beat, name="heartbeat", daemon=True)
                self._thread.start()

    def end(self, number: int) -> None:
        """Write no more of a trial, which is over."""
        with self._lock:
            self._trials.pop(number, None)

    def is_silent(self, beat: float | None) -> bool:
        """Tell whether the last sign of life is so old that the trial is dead; None: there was none."""
        return beat is None or self._now() - beat > SILENCE

    def _beat(self) -> None:
        """Run until no trial is left."""
        while True:
            time.sleep(self._every)
            with self._lock:
                trials = list(self._trials.values())
                if not trials:
                    self._thread = None
                    return
            for trial in trials:
                try:
                    trial.set_user_attr(BEAT, self._now())
                except (OSError, OptunaError):  # the disk is full, or the trial is over: the next sign may do
                    continue
