"""Training a model: a fit from its start, or from a checkpoint, to its end."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from contextlib import AbstractContextManager, nullcontext
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any, Literal, Protocol, TypeVar

from ..data.csr import Floats
from ..data.fingerprint import Fingerprint
from ..data.interactions import Interactions, require_interactions
from ..data.spread import warn_of_spread
from ..errors import InvalidTypeError, InvalidValueError
from ..objective import Objective
from ..solvers import Place, Problem, Solver, ThisMachine, pinned
from ..solvers.start import PAPERS_STDDEV, random_start, spectral_start
from ..system.log import log
from ..system.machine import resolve_threads
from ..system.progress import Progress, reporting
from .best import BestEpoch, Judged, best_epoch_among
from .checkpoint import HALF, Checkpoint, Job, Kept, checked_every, require_free
from .checkpointer import Checkpointer
from .feature_map import FeatureMap
from .fitted import Embedding, Fitted
from .history import EpochRecord
from .newcomers import with_newcomers
from .side_features import NO_FEATURES, SideFeatures
from .training import Plan, continued, run_epoch, train

Callback = Callable[[Any, EpochRecord], bool | None]
"""What `fit` calls after each epoch, with the `ImplicitMF` and the epoch's record; true: stop."""

Model = TypeVar("Model", bound="Fitting")


class Cluster(Protocol):
    """Machines that train together."""

    def training(
        self, data: Interactions, dim: int, progress: Progress = None
    ) -> AbstractContextManager[Place]:
        """Start workers for fits on this data, and end them in the end."""
        ...


@dataclass(frozen=True, slots=True, eq=False)
class Fit:
    """A fit, from where it begins or goes on to where it ends."""

    data: Interactions
    factors: tuple[Floats, Floats]  # of users and items, after the last epoch that has ended
    past: list[EpochRecord]
    plan: Plan
    checkpointer: Checkpointer | None = None
    keeper: BestEpoch | None = None  # the callback that chooses the epoch to keep
    features: SideFeatures = NO_FEATURES
    half: float | None = None  # seconds of the half epoch after `past`, if that has ended too

    def keep_half_of(self, problem: Problem, history: list[EpochRecord]) -> Callable[[float], None] | None:
        """Return what keeps the middle of an epoch, given its seconds; None where whole epochs are kept."""
        if self.checkpointer is None or not self.checkpointer.keeps_halves:
            return None
        keep = self.checkpointer.keep_half
        return lambda seconds: keep(*problem.factors, history, seconds)

    def chosen(self, history: list[EpochRecord]) -> tuple[Fit, list[EpochRecord]]:
        """Return the fit and its history as they were after the epoch to keep, which may be the last."""
        if self.keeper is None or self.keeper.judged.vectors is None:
            return self, history
        log("the fit keeps epoch %d of %d", self.keeper.best_epoch, len(history))
        return replace(self, factors=self.keeper.judged.vectors), history[: self.keeper.best_epoch]


class Fitting:
    """`fit` and `resume`, with the settings that `ImplicitMF` has."""

    dim: int
    solver: Solver
    objective: Objective
    epochs: int
    init: Literal["spectral", "random"]
    init_stddev: float | None
    seed: int
    threads: int | None
    history: list[EpochRecord]
    fitted_solver: Solver | None
    _state: Fitted | None
    _training: bool  # whether factors are being updated in place

    def _settings(self) -> dict[str, Any]:
        raise NotImplementedError

    def fit(
        self: Model,
        data: Interactions,
        *,
        user_features: Any = None,
        item_features: Any = None,
        warm_start: bool = False,
        until: float | None = None,
        checkpoint: str | Path | None = None,
        every: float | None = None,
        callbacks: Sequence[Callback] = (),
        progress: Progress = None,
        cluster: Cluster | None = None,
    ) -> Model:
        """Train for `epochs` epochs, or for fewer with `until`.

        Parameters
        ----------
        data
            The interactions to train on. If the 99th percentile of the weights or of the labels is more than
            100 times the 1st percentile, there is a `WeightWarning`, except for weights that decay with time.
        user_features, item_features
            What is known of users or items beside their interactions: `Features`, or a scipy.sparse or numpy
            matrix with a row for each user or item of the data. Vectors are then pulled to what a linear map
            makes of their features, instead of to zero; see `Objective`. Ids that have features but are not
            in the data are added after the last epoch, with the vectors that their features give them.
        warm_start
            Continue from the factors of the last fit, whose data must have had the same users and items.
        until
            Stop once the loss falls by less than this share in an epoch: 0.001 is a tenth of a per cent.
            Where epochs read half precision, one more epoch in single precision is the last.
        checkpoint
            A file to which the state is written after epochs, atomically and beside the training. If the
            process is killed, `ImplicitMF.resume` goes on from there with the same bits. An error or Ctrl-C
            writes the last finished epoch first. A file that holds an unfinished fit is not overwritten.
        every
            How many epochs there are from one checkpoint to the next: a whole number, or 0.5 to keep the
            middle of an epoch too, when the users are updated and the items are not. Default: 1, and 0.5 on a
            cluster.
        callbacks
            Functions called after each epoch with the model and the epoch's record. Training stops when one
            of them returns a true value; the epoch before may then have read half precision. An
            `EarlyStopping` is called first, and its best epoch is kept.
        progress
            True: draw a bar. False: don't. None: only on a terminal or in a notebook. A function: call it
            with each `ProgressEvent`.
        cluster
            Train on other machines, with the same bits: `ialspp.cluster.RayCluster`. The data must be open
            from a file (`Interactions.open`) that every machine can read under the same path.

        Examples
        --------
        >>> model = ImplicitMF(dim=2, epochs=4).fit(data)
        >>> [round(record.loss, 2) for record in model.history]
        [1.15, 1.05, 1.05, 1.05]
        """
        return self._fit(
            data,
            user_features=user_features,
            item_features=item_features,
            warm_start=warm_start,
            until=until,
            checkpoint=checkpoint,
            every=every,
            callbacks=callbacks,
            progress=progress,
            cluster=cluster,
        )

    def _fit(
        self: Model,
        data: Interactions,
        *,
        user_features: Any = None,
        item_features: Any = None,
        warm_start: bool = False,
        until: float | None,
        checkpoint: str | Path | None,
        every: float | None,
        note: Mapping[str, Any] | None = None,
        callbacks: Sequence[Callback] = (),
        progress: Progress = None,
        cluster: Cluster | None = None,
    ) -> Model:
        keeper, features = _checked(data, callbacks, (user_features, item_features))
        plan = Plan(self.epochs, until, earlier=len(self.history) if warm_start else 0)
        checkpointer = None
        if checkpoint is not None:
            default = 1 if cluster is None else HALF
            often = checked_every(default if every is None else every, self.solver)
            require_free(Path(checkpoint))
            stopping = None if keeper is None else keeper.described()
            described = features.fingerprints()
            job = Job(self._settings(), plan, Fingerprint.of(data), often, note or {}, stopping, described)
            checkpointer = Checkpointer(Path(checkpoint), job, keeper=keeper)
        elif every is not None:
            raise InvalidValueError(f"every={every} is for checkpoint=, which was not given")
        with self._place(data, cluster, progress) as place:
            if warm_start:
                factors, past = continued(self._state, data, self.dim, self.seed), self.history
            else:
                with data.read_in_order():
                    factors, past = self._start(data, place), []
            if keeper is not None:
                keeper.begin(plan.earlier, Judged())
            fit = Fit(data, factors, past, plan, checkpointer, keeper, features)
            return self._run(fit, place, callbacks, progress)

    def _place(
        self, data: Interactions, cluster: Cluster | None, progress: Progress
    ) -> AbstractContextManager[Place]:
        """Return where the fit takes place, for as long as it lasts."""
        if cluster is not None:
            return cluster.training(data, self.dim, progress)
        return nullcontext(ThisMachine(resolve_threads(self.threads)))

    def _run(self: Model, fit: Fit, place: Place, callbacks: Sequence[Callback], progress: Progress) -> Model:
        """Run the epochs that are left."""
        users, items = fit.features
        problem = Problem.of(
            fit.data, self.objective, *fit.factors, place, user_features=users, item_features=items
        )
        history, plan, checkpointer, keeper = list(fit.past), fit.plan, fit.checkpointer, fit.keeper
        is_over = keeper is not None and keeper.is_over  # when the fit that goes on was killed
        self._training = True
        try:
            with (
                fit.data.read_in_order(),
                reporting("fitting", plan.epochs, progress, keep=True) as report,
                checkpointer or nullcontext(),
            ):
                place.report_to(
                    lambda note: report(
                        plan.done(history), note=f"epoch {plan.done(history) + 1} of {plan.epochs}, {note}"
                    )
                )
                at_half = fit.keep_half_of(problem, history)
                trained = train(self.solver, problem, history, plan, fit.half, at_half)
                for record in () if is_over else trained:
                    history.append(record)
                    fit = replace(fit, factors=problem.factors)
                    # Only now, so that a fit that fails in its first epoch leaves the model unchanged.
                    self._state = self._learned(fit, problem, history)
                    done = plan.done(history)
                    log("epoch %d of %d: loss %.6g, %.2f s", done, plan.epochs, record.loss, record.seconds)
                    # Before the checkpoint is written, which keeps what is known of this epoch.
                    stops: list[bool | None] = [] if keeper is None else [keeper(self, record)]
                    if checkpointer is not None:
                        checkpointer.keep(*fit.factors, history)
                    report(done, note=f"epoch {done} of {plan.epochs}, loss {record.loss:.6g}")
                    stops += [callback(self, record) for callback in callbacks if callback is not keeper]
                    if any(stops):
                        break
                fit, history = fit.chosen(history)
                learned = self._learned(fit, problem, history)
                self._state = with_newcomers(learned, users, items, resolve_threads(self.threads))
                if checkpointer is not None:
                    checkpointer.finish(*fit.factors, history)
        finally:
            self._training = False
            if self._state is not None:  # drop what callbacks' queries cached in an earlier epoch
                self._state = self._state.renewed()
        return self

    def _learned(self, fit: Fit, problem: Problem, history: list[EpochRecord]) -> Fitted:
        """Return what the fit has learned so far, and keep its records."""
        self.history, self.fitted_solver = list(history), pinned(self.solver, self.dim)
        users, items = (
            Embedding(side.ids, vectors, FeatureMap.found(features, side.regression, vectors))
            for side, vectors, features in zip(
                (problem.users, problem.items), fit.factors, fit.features, strict=True
            )
        )
        return Fitted(users, items, fit.data)

    def run_epoch(
        self, problem: Problem, past: Sequence[EpochRecord] = (), *, last: bool = False
    ) -> EpochRecord:
        """Run one epoch on a problem of your own, with its loss and its seconds, as `fit` does.

        `past` are the records of the epochs before, from whose losses `relaxation="auto"` follows. The last
        epoch reads nothing in half precision.

        Examples
        --------
        >>> from ialspp.solvers import Problem
        >>> users, items = model.initial_factors(data)
        >>> problem = Problem.of(data, model.objective, users, items, 1)  # on one thread
        >>> records = [model.run_epoch(problem)]
        >>> records.append(model.run_epoch(problem, records))
        >>> [round(record.loss, 2) for record in records]
        [1.15, 1.05]
        """
        return run_epoch(self.solver, problem, past, last=last)

    def initial_factors(self, data: Interactions) -> tuple[Floats, Floats]:
        """Make the factors that a fit starts from.

        Examples
        --------
        >>> users, items = model.initial_factors(data)
        >>> users.shape, items.shape
        ((4, 2), (5, 2))
        """
        return self._start(data, ThisMachine(resolve_threads(self.threads)))

    def _start(self, data: Interactions, place: Place) -> tuple[Floats, Floats]:
        if self.init == "spectral":
            return spectral_start(data, self.dim, self.seed, place)
        stddev = PAPERS_STDDEV if self.init_stddev is None else self.init_stddev
        return random_start(data, self.dim, stddev, self.seed)


def fit_with_note(
    model: Model,
    data: Interactions,
    *,
    until: float | None,
    checkpoint: Path | None,
    every: float | None,
    note: Mapping[str, Any],
    callbacks: Sequence[Callback] = (),
    features: SideFeatures = NO_FEATURES,
    cluster: Cluster | None = None,
) -> Model:
    """Fit a model whose checkpoints also keep plain values of the caller's."""
    return model._fit(
        data,
        user_features=features.users,
        item_features=features.items,
        until=until,
        checkpoint=checkpoint,
        every=every,
        note=note,
        callbacks=callbacks,
        cluster=cluster,
    )


def go_on(
    model: Model,
    found: Checkpoint,
    kept: Kept,
    data: Interactions,
    callbacks: Sequence[Callback],
    progress: Progress,
    given_features: tuple[Any, Any] = (None, None),
    cluster: Cluster | None = None,
) -> Model:
    """Run what is left of the fit of a checkpoint, with a model that has its settings."""
    keeper, features = _checked(data, callbacks, given_features)
    found.require_data(data)
    found.require_features(features.fingerprints())
    found.require_stopping(None if keeper is None else keeper.described())
    if keeper is not None:
        keeper.begin(found.job.plan.earlier, kept.judged)
    log("%s: going on after %s", found.path, found.progress)
    if found.is_finished:  # perhaps by a callback, before the end of its plan
        fit = Fit(data, kept.factors, found.history, Plan(len(found.history)), features=features)
    else:
        checkpointer = Checkpointer(found.path, found.job, found.version, keeper)
        fit = Fit(
            data, kept.factors, found.history, found.job.plan, checkpointer, keeper, features, found.half
        )
    with model._place(data, cluster, progress) as place:
        return model._run(fit, place, callbacks, progress)


def _checked(
    data: Interactions, callbacks: Sequence[Callback], given_features: tuple[Any, Any]
) -> tuple[BestEpoch | None, SideFeatures]:
    """Check what a fit is given; return the callback that chooses the epoch to keep, and the features."""
    require_interactions(data)
    if len(data) == 0:
        raise InvalidValueError("data has no interactions; there is nothing to fit")
    if not isinstance(callbacks, Sequence) or not all(map(callable, callbacks)):
        raise InvalidTypeError("callbacks must be a sequence of functions of (model, record)")
    keeper, features = best_epoch_among(callbacks), SideFeatures.of(data, *given_features)
    if keeper is not None:
        keeper.require_fit(data, features)
    warn_of_spread(data)
    return keeper, features
