"""The process under load: python -m torture.load SECONDS SEED FOLDER"""

from __future__ import annotations

import faulthandler
import subprocess
import sys
import threading
import time
from collections.abc import Callable
from itertools import cycle
from pathlib import Path

import numpy as np

from torture.children import PATIENCE, Report
from torture.load.known_states import N_ITEMS, N_USERS, K
from torture.load.published import Published, Replaced
from torture.memory import peak_memory

THREADS = 8  # that query
MOST_GROWTH = 64  # megabytes of memory after the first third of the time


class Worker(threading.Thread):
    """A thread that repeats one work until it is over. The work tells whether all was right."""

    def __init__(self, what: str, work: Callable[[], bool], over: threading.Event) -> None:
        super().__init__()
        self.what, self.done = what, 0
        self.faults: list[str] = []
        self._work, self._over = work, over

    def run(self) -> None:
        """Repeat the work."""
        try:
            while not self._over.is_set():
                self.done += 1
                if not self._work():
                    self.faults.append(f"wrong: number {self.done} of the {self.what} of a thread")
        except Exception as error:
            self.faults.append(f"number {self.done} of the {self.what} of a thread raised {error!r}")


class Queries:
    """Queries of one thread, drawn from a seed."""

    def __init__(self, published: Published, seed: int, thread: int) -> None:
        self._published = published
        self._generator = np.random.default_rng([seed, thread])
        self._kinds = cycle([self._recommend, self._recommend_for, self._similar, self._explain])

    def next(self) -> bool:
        """Make one query, and tell whether its answer is right."""
        return next(self._kinds)()

    def _user(self) -> str:
        return f"u{self._generator.integers(N_USERS)}"

    def _item(self) -> str:
        return f"i{self._generator.integers(N_ITEMS)}"

    def _recommend(self) -> bool:
        user = self._user()
        return self._published.ask(
            lambda model: model.recommend(user, K), lambda state, answer: state.recommends(user, answer)
        )

    def _recommend_for(self) -> bool:
        history = sorted({self._item() for _ in range(5)})
        return self._published.ask(
            lambda model: model.recommend_for([history], K)[0],
            lambda state, answer: state.recommends_for(history, answer),
        )

    def _similar(self) -> bool:
        item = self._item()
        return self._published.ask(
            lambda model: model.similar_items(item, K), lambda state, answer: state.is_similar(item, answer)
        )

    def _explain(self) -> bool:
        user, item = self._user(), self._item()
        return self._published.ask(
            lambda model: model.explain(user, item), lambda state, answer: state.explains(user, item, answer)
        )


def load(seconds: int, seed: int, folder: Path, report: Report) -> None:
    """Let all threads and the other process work for so many seconds."""
    path, over = folder / "model.ialspp", threading.Event()
    published, replaced = Published(seed), Replaced(path, seed)
    published.save(path)
    workers = [Worker("queries", Queries(published, seed, number).next, over) for number in range(THREADS)]
    workers += [Worker("updates", published.update, over), Worker("loads", replaced.load, over)]
    with _replacer(path, seed) as replacer:
        for worker in workers:
            worker.start()
        time.sleep(seconds / 3)
        before = peak_memory()
        time.sleep(seconds - seconds / 3)
        while replacer.poll() is None and not (replaced.number and all(worker.done for worker in workers)):
            time.sleep(0.01)  # a short run on a busy machine: everything happens at least once
        over.set()
        for worker in workers:
            worker.join()
        growth = (peak_memory() - before) >> 20
        replacements, errors = replacer.communicate("stop\n", timeout=PATIENCE)
    for worker in workers:
        report.count(worker.what, worker.done)
        for fault in worker.faults[:5]:
            report.fault(f"{fault} [seed {seed}]")
    if replacer.returncode:
        report.fault(f"the process that replaces the file ended with {replacer.returncode}: {errors[-1000:]}")
    else:
        report.count("replacements", int(replacements))
    report.count("MB of growth", growth)
    if growth > MOST_GROWTH:
        report.fault(f"memory grew by {growth} MB, and {MOST_GROWTH} are allowed")


def _replacer(path: Path, seed: int) -> subprocess.Popen[str]:
    command = [sys.executable, "-m", "torture.load.replacer", str(path), str(seed)]
    pipe = subprocess.PIPE
    return subprocess.Popen(command, stdin=pipe, stdout=pipe, stderr=pipe, text=True)


if __name__ == "__main__":
    seconds, seed, folder = int(sys.argv[1]), int(sys.argv[2]), Path(sys.argv[3])
    faulthandler.dump_traceback_later(seconds + 3 * PATIENCE, exit=True)
    load(seconds, seed, folder, Report())
