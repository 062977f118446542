"""Tuning: the best settings for some data, honestly found. Optuna comes with the extra `tune`."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

from ..data.interactions import Interactions
from ..errors import MissingExtraError
from ..model.batches import CallCluster
from ..model.model import ImplicitMF
from ..split import Split
from ..system.checks import checked_seconds
from ..system.progress import Progress, reporting
from .parts import parts_of

if TYPE_CHECKING:
    from .result import Tuning
    from .search import Standing

__all__ = ["require_extra", "tune"]

BUDGET = 600.0  # seconds, where neither a budget nor a number of trials is given


def tune(
    data: Interactions | Split,
    *,
    metric: str | None = None,
    budget: str | float | None = None,
    trials: int | None = None,
    dim: int = 64,
    max_dim: int = 1024,
    exponent: bool = False,
    popularity: bool | None = None,
    model: ImplicitMF | None = None,
    epochs: int = 16,
    users: int | None = 10_000,
    seed: int = 0,
    journal: str | Path | None = None,
    resume: bool = False,
    progress: Progress = None,
    cluster: CallCluster | None = None,
) -> Tuning:
    """Find the settings with which a model ranks best, on a validation part alone, and test them once.

    The search first looks for alpha0 and lambda together at a small d. Then d is doubled, and the settings
    are refined near the best ones, as long as that pays. The finalists are trained with more seeds; of those
    that differ by less than the noise, the one with the smallest d is chosen.

    Parameters
    ----------
    data
        A split of `ialspp.split`, or interactions, of which a random fifth becomes the test part. A split for
        unseen users has a validation part. Others get one from their training pairs, taken in the way of
        their protocol; then the chosen model is trained on all training pairs before it is tested.
    metric
        What to maximise. None: the NDCG of the split's protocol.
    budget
        How long it may take, with the test: seconds, or "90s", "10m", "2h". By default ten minutes.
    trials
        How many settings to try, instead of a budget. The same seed then gives the same trials.
    dim
        The d at which to start, at most `max_dim`.
    max_dim
        The largest d to try.
    exponent
        Search nu, too.
    popularity
        Search the powers of popularity by which weights are divided, too. None: where the data has weights.
    model
        Its solver, start and threads are used. Its objective is the first one to be tried.
    epochs
        The most epochs of a training. It stops earlier when its score no longer rises.
    users
        How many validation users to score, at most. None: all.
    seed
        The seed of the search and of the trainings.
    journal
        A file that keeps every trial: after a kill, `resume` goes on, and several processes may share it.
    resume
        Go on with the study of the journal, or join the processes that search.
    progress
        True: draw a bar. False: don't. None: only on a terminal. A function: call it with each
        `ProgressEvent`.
    cluster
        Train several trials at a time on other machines: `ialspp.cluster.RayCluster`. With one worker, the
        trials are the same as without.

    Examples
    --------
    >>> tuned = tune(data, trials=3, max_dim=8)
    >>> tuned.metric, tuned.settings.dim
    ('ndcg@20', 8)
    >>> model = tuned.model.fit(tuned.weighted(data))
    >>> len(model.users), len(model.items)
    (40, 10)
    """
    require_extra()
    from .tuner import Tuner

    seconds = None if budget is None else checked_seconds("budget", budget)
    tuner = Tuner(
        parts=parts_of(data),
        metric=metric,
        budget=BUDGET if seconds is None and trials is None else seconds,
        trials=trials,
        dim=dim,
        max_dim=max_dim,
        exponent=exponent,
        popularity=popularity,
        template=ImplicitMF() if model is None else model,
        epochs=epochs,
        users=users,
        seed=seed,
        journal=None if journal is None else Path(journal),
        resume=resume,
    )
    with reporting("tuning", tuner.budget or tuner.trials, progress) as report:

        def watch(standing: Standing) -> None:
            tried = sum(trial.kind != "repeat" for trial in standing.trials)
            done = standing.elapsed if tuner.budget else tried
            report(done, note=standing.summary())

        return tuner.run(watch=watch, cluster=cluster)


def require_extra() -> None:
    """Raise an error that says what to install, unless tuning has the packages that it needs."""
    try:
        import jinja2  # noqa: F401 - whether it is there
        import matplotlib  # noqa: F401 - the same
        import optuna  # noqa: F401 - the same
    except ImportError as error:
        raise MissingExtraError(f"tuning needs {error.name}: pip install 'ialspp[tune]'") from error
