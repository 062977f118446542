"""Write checkpoints while training goes on."""

from __future__ import annotations

import json
from collections.abc import Sequence
from dataclasses import asdict, dataclass, field, replace
from pathlib import Path
from typing import TYPE_CHECKING

from ..data.csr import Floats, aligned
from ..errors import InvalidStateError, InvalidTypeError, InvalidValueError
from ..files import container
from ..files.version import FileChangedError, FileVersion
from ..system.log import log
from .best import BestEpoch, Judged
from .checkpoint import FORMAT, HALF, Job
from .description import require_shallow
from .history import EpochRecord

if TYPE_CHECKING:
    from concurrent.futures import Future


@dataclass(frozen=True, slots=True, eq=False)
class State:
    """A fit after an epoch, or after half of the next."""

    users: Floats
    items: Floats
    history: list[EpochRecord]
    judged: Judged = field(default_factory=Judged)
    is_finished: bool = False
    half: float | None = None  # the seconds of the half epoch

    def arrays(self) -> dict[str, Floats]:
        """Name the arrays of the file: the factors, and those of the best epoch if they are others."""
        arrays = {"user_factors": self.users, "item_factors": self.items}
        is_last = self.is_finished or self.judged.best == len(self.judged.scores)
        if not is_last and self.judged.vectors is not None:
            arrays["best_user_factors"], arrays["best_item_factors"] = self.judged.vectors
        return arrays


class Checkpointer:
    """Keeps the state after each epoch, and writes it every so often, while training goes on.

    Use it as a context manager around the training. If that ends early, by an error or Ctrl-C, the last
    finished epoch, or half, is written before the error goes on.
    """

    def __init__(
        self,
        path: Path,
        job: Job,
        version: FileVersion | None = None,
        keeper: BestEpoch | None = None,
    ) -> None:
        """Begin with no state.

        version: of the checkpoint that the fit goes on from, which may be replaced.
        keeper: knows the best epoch, which is kept too.
        """
        from concurrent.futures import ThreadPoolExecutor  # slow to import

        self._path = path
        self._job = job
        self._description = _plain(job)
        self._version = version
        self._keeper = keeper
        self._copies: tuple[Floats, Floats] | None = None
        self._kept: State | None = None
        self._written: State | None = None
        self._writer = ThreadPoolExecutor(1, "ialspp checkpoint")
        self._writing: Future[None] | None = None

    def keep(self, users: Floats, items: Floats, history: Sequence[EpochRecord]) -> None:
        """Copy the state after an epoch, before the next one changes it, and begin to write it if it is due.

        Raises the error of the checkpoint before, if that could not be written.
        """
        plan = self._job.plan
        is_due = plan.done(history) % self._job.every == 0 and not plan.is_done(history)  # else `finish`
        self._keep(State(users, items, list(history), self._judged()), is_due)

    @property
    def keeps_halves(self) -> bool:
        """Whether half epochs are kept too."""
        return self._job.every == HALF

    def keep_half(self, users: Floats, items: Floats, history: Sequence[EpochRecord], seconds: float) -> None:
        """Copy the state in the middle of an epoch, and begin to write it."""
        self._keep(State(users, items, list(history), self._judged(), half=seconds), is_due=True)

    def _keep(self, state: State, is_due: bool) -> None:
        self._kept = state  # if the copying is interrupted
        self._wait()
        self._kept = self._copied(state)
        if is_due:
            self._writing = self._writer.submit(self._write, self._kept)

    def finish(self, users: Floats, items: Floats, history: Sequence[EpochRecord]) -> None:
        """Keep the state at the end of the fit, which does not change any more."""
        self._kept = State(users, items, list(history), self._judged(), is_finished=True)

    def _judged(self) -> Judged:
        return Judged() if self._keeper is None else self._keeper.judged

    def __enter__(self) -> Checkpointer:
        return self

    def __exit__(self, kind: type[BaseException] | None, *_: object) -> None:
        try:
            self._end()
        except Exception:
            if kind is None:  # else the first error matters more
                raise
        except KeyboardInterrupt:
            if kind is None:  # else it is the second, from someone who does not want to wait
                self._end()
            raise

    def _end(self) -> None:
        """Wait for what is being written, and write the last epoch that was kept."""
        if self._writing is not None:
            # Before `shutdown`, which joins a thread: if Ctrl-C interrupts that, Python up to 3.12 takes the
            # thread for ended while it still writes.
            self._writing.exception()
        self._writer.shutdown()
        if self._kept is not None and self._kept is not self._written:
            self._write(self._kept)

    def _wait(self) -> None:
        """Wait for what is being written, and raise its error."""
        if self._writing is not None:
            self._writing.result()

    def _copied(self, state: State) -> State:
        if self._copies is None:
            self._copies = aligned(state.users.shape), aligned(state.items.shape)
        users, items = self._copies
        users[:], items[:] = state.users, state.items
        return replace(state, users=users, items=items)

    def _write(self, state: State) -> None:
        from importlib.metadata import version

        state_of_history = {
            "history": [asdict(record) for record in state.history],
            "finished": state.is_finished,
            **({} if self._keeper is None else {"scores": state.judged.scores}),
            **({} if state.half is None else {"half": state.half}),
        }
        metadata = {
            "format": FORMAT,
            "format_version": self._job.version,
            "written_by": f"ialspp {version('ialspp')}",
            "description": json.dumps({**self._description, **state_of_history}),
        }
        try:
            replaced = None if self._version is None else [self._version]
            self._version = container.write(self._path, state.arrays(), metadata, instead_of=replaced)
        except FileChangedError as error:
            raise InvalidStateError(
                f"{self._path} was replaced by another process, which may be a fit that writes its "
                "checkpoints to the same file; each fit needs a file of its own"
            ) from error
        self._written = state
        log("checkpoint %s: epoch %g", self._path, len(state.history) + (0 if state.half is None else HALF))


def _plain(job: Job) -> dict[str, object]:
    """Describe a job; an error before the training says that a file cannot hold it."""
    try:
        require_shallow(job.note)  # or the checkpoint could not be read
        return dict(json.loads(json.dumps(job.described())))
    except InvalidValueError as error:
        raise InvalidValueError(
            f"a fit with the solver {job.settings['solver']!r} cannot have checkpoints: {error}"
        ) from error
    except (TypeError, RecursionError) as error:
        raise InvalidTypeError(f"a checkpoint can hold plain values only: {error}") from error
