"""The trials of a search, in memory or in a journal that processes share and that survives a kill."""

from __future__ import annotations

from dataclasses import asdict
from pathlib import Path
from typing import Any

import optuna
from optuna.exceptions import UpdateFinishedTrialError
from optuna.samplers import BaseSampler
from optuna.study import StudyDirection
from optuna.trial import FrozenTrial, TrialState

from ..errors import InvalidValueError
from ..system.log import log
from .heartbeat import BEAT, Heartbeat
from .journal import JournalFile
from .processes import has_ended, this_process
from .proposing import distributions
from .settings import FAILED, Kind, Outcome, Settings, Trial
from .space import Space

NAME = "ialspp"
VERSION = 1
JOB, OUTCOME, QUESTION, ANSWERS = "job", "outcome", "question", "answers"


class Study:
    """Trials that were begun, with their outcomes.

    Parameters
    ----------
    path
        The journal. None: memory.
    question
        What the trials answer, as plain values: data, metric, space, seed. A journal has one question.
    resume
        Whether the journal may have trials already: those of a search that was interrupted, or of another
        process that searches now.
    heartbeat
        Writes signs of life of the trials that run.
    """

    def __init__(
        self,
        path: Path | None,
        question: dict[str, Any],
        *,
        resume: bool = False,
        heartbeat: Heartbeat | None = None,
    ) -> None:
        optuna.logging.set_verbosity(optuna.logging.WARNING)
        if path is not None and not resume and path.exists() and path.stat().st_size:
            raise InvalidValueError(
                f"{path} has a study already; give resume=True to go on with it, or another file"
            )
        storage = (
            optuna.storages.InMemoryStorage()
            if path is None
            else optuna.storages.JournalStorage(JournalFile(path))
        )
        self.path = path
        self._begun: dict[int, optuna.Trial] = {}
        self._heartbeat = heartbeat or Heartbeat()
        self._given = _Given()
        self._study = optuna.create_study(
            storage=storage,
            sampler=self._given,
            study_name=NAME,
            direction=StudyDirection.MAXIMIZE,
            load_if_exists=True,
        )
        self._check(path, {"version": VERSION, **question})
        self._give_up_dead()

    def _check(self, path: Path | None, question: dict[str, Any]) -> None:
        known = self._study.user_attrs.get(QUESTION)
        if known is None:
            self._study.set_user_attr(QUESTION, question)
            return
        for name in question:
            if known.get(name) != question[name]:
                raise InvalidValueError(
                    f"{path} is the study of another question: {name} must be {known.get(name)!r}, got "
                    f"{question[name]!r}"
                )

    def begin(self, settings: Settings, seed: int, kind: Kind, space: Space) -> Trial:
        """Record that a training begins."""
        self._given.values = settings.as_dict()
        trial = self._study.ask(distributions(_holding(space, settings)))
        self._begun[trial.number] = trial
        job = {"settings": settings.as_dict(), "seed": seed, "kind": kind, "process": this_process()}
        if self.path is not None:
            self._heartbeat.begin(trial.number, trial)
        trial.set_user_attr(JOB, job)
        return Trial(trial.number, settings, seed, kind)

    def end(self, trial: Trial, outcome: Outcome) -> None:
        """Record what a training gave, once and for all.

        If this process was frozen for so long that another one has given the trial up, nothing is recorded.
        """
        begun = self._ended(trial)
        try:
            begun.set_user_attr(OUTCOME, asdict(outcome))
        except UpdateFinishedTrialError:
            log("trial %d was given up by another process", trial.number)
            return
        if outcome.score == FAILED:
            self._study.tell(trial.number, state=TrialState.FAIL)
        else:
            self._study.tell(trial.number, outcome.score)

    def give_up(self, trial: Trial) -> None:
        """Forget a trial that will have no outcome, as if it had not begun."""
        self._ended(trial)
        self._study.tell(trial.number, state=TrialState.FAIL, skip_if_finished=True)

    def _ended(self, trial: Trial) -> optuna.Trial:
        self._heartbeat.end(trial.number)
        return self._begun.pop(trial.number)

    def trials(self) -> list[Trial]:
        """Return all trials, also those of other processes, in the order in which they began."""
        found = self._study.get_trials(deepcopy=False)
        return [_restored(trial) for trial in found if _is_ours(trial)]

    @property
    def answers(self) -> list[dict[str, Any]]:
        """Every evaluation on the test part, as plain values."""
        return list(self._study.user_attrs.get(ANSWERS, []))

    def answer(self, found: dict[str, Any]) -> None:
        """Record an evaluation on the test part."""
        self._study.set_user_attr(ANSWERS, [*self.answers, found])

    def running_elsewhere(self) -> int:
        """Count the trials that other processes train now."""
        self._give_up_dead()
        return sum(trial.outcome is None for trial in self.trials())

    def _give_up_dead(self) -> None:
        """Mark the trials of other processes as failed whose process has ended, or is silent for long.

        A trial without a job is one that another process begins right now, or died while it began. It has no
        settings, so that it counts for nothing either way.
        """
        for trial in self._study.get_trials(deepcopy=False, states=(TrialState.RUNNING,)):
            job = trial.user_attrs.get(JOB)
            if job is None or OUTCOME in trial.user_attrs or trial.number in self._begun:
                continue
            if self._is_dead(job["process"], trial.user_attrs.get(BEAT)):
                self._study.tell(trial.number, state=TrialState.FAIL, skip_if_finished=True)

    def _is_dead(self, process: dict[str, Any], beat: float | None) -> bool:
        """Tell whether a process has ended. Its silence counts only where this machine cannot know.

        Otherwise a machine that slept would give up its own trials when it wakes.
        """
        ended = has_ended(process)
        return self._heartbeat.is_silent(beat) if ended is None else ended


class _Given(BaseSampler):
    """A sampler for Optuna that gives the values which were proposed before."""

    def __init__(self) -> None:
        self.values: dict[str, Any] = {}

    def infer_relative_search_space(self, study: Any, trial: Any) -> dict[str, Any]:  # noqa: ARG002
        """Return no parameters: none is sampled together."""
        return {}

    def sample_relative(self, study: Any, trial: Any, search_space: Any) -> dict[str, Any]:  # noqa: ARG002
        """Sample nothing."""
        return {}

    def sample_independent(self, study: Any, trial: Any, param_name: str, param_distribution: Any) -> Any:  # noqa: ARG002
        """Return the value that was proposed."""
        return self.values[param_name]


def _holding(space: Space, settings: Settings) -> Space:
    """Widen ranges that settings lie outside of: those from an earlier stage may."""
    ranges = {name: part.holding(getattr(settings, name)) for name, part in space.ranges.items()}
    return Space(ranges, space.choices)


def _is_ours(trial: FrozenTrial) -> bool:
    """Tell whether a trial has its settings, and is not one that a kill ended."""
    if JOB not in trial.user_attrs:
        return False
    return OUTCOME in trial.user_attrs or trial.state == TrialState.RUNNING


def _restored(trial: FrozenTrial) -> Trial:
    job, outcome = trial.user_attrs[JOB], trial.user_attrs.get(OUTCOME)
    begun = trial.datetime_start.timestamp() if trial.datetime_start else 0.0
    ended = trial.datetime_complete.timestamp() if trial.datetime_complete else begun
    return Trial(
        trial.number,
        Settings(**job["settings"]),
        job["seed"],
        job["kind"],
        None if outcome is None else Outcome.restored(outcome),
        (begun, ended),
    )
