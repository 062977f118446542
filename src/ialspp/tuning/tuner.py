"""A tuning from its data to its result: search on the validation part, choose, and test once."""

from __future__ import annotations

import time
from collections.abc import Callable
from contextlib import nullcontext
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

from ..data.weighting import KINDS
from ..errors import InvalidStateError, InvalidTypeError, InvalidValueError
from ..evaluation import evaluate
from ..files.lock import locked
from ..model.batches import CallCluster
from ..model.model import ImplicitMF
from ..split import Split
from ..split.weighting import weighted_split
from ..stopping import checked_metric
from ..system.checks import checked_integer
from .choosing import choose
from .parallel import search_on, trained
from .parts import Parts, default_metric
from .planning import Plan
from .result import Tuning, spent_seconds
from .search import Clock, Standing, search
from .settings import Settings
from .space import Space, space_of
from .study import Study
from .training import Trainer, parameters, penalty_ratio, weighting_of

USERS = 10_000  # validation users that are scored: more take longer, and hardly change the order of trials


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class Tuner:
    """What to tune, and how far."""

    parts: Parts
    metric: str | None = None
    budget: float | None = None
    trials: int | None = None
    dim: int = 64
    max_dim: int = 1024
    exponent: bool = False
    popularity: bool | None = None
    template: ImplicitMF
    epochs: int = 16
    patience: int = 2
    users: int | None = USERS
    seed: int = 0
    journal: Path | None = None
    resume: bool = False

    def __post_init__(self) -> None:
        if not isinstance(self.template, ImplicitMF):
            raise InvalidTypeError(
                "model must be an ImplicitMF, such as ImplicitMF(seed=1), whose settings the search begins "
                f"with; got {self.template!r}"
            )
        if (self.budget is None) == (self.trials is None):
            raise InvalidValueError(
                f"either budget or trials is required, got budget={self.budget} and trials={self.trials}"
            )
        for name in ("dim", "max_dim", "epochs", "patience", "trials", "users"):
            if getattr(self, name) is not None:
                checked_integer(name, getattr(self, name), 1)
        checked_integer("seed", self.seed, 0)
        checked_metric(self.chosen_metric)
        if self.resume and self.journal is None:
            raise InvalidValueError("resume=True needs the journal of the study, which was not given")

    @property
    def chosen_metric(self) -> str:
        """The metric to choose by."""
        return default_metric(self.parts.split, self.metric)

    def plan(self) -> Plan:
        """Plan the search. Weights are searched where there are some."""
        has_weights = self.parts.train.by_user.weights is not None
        kinds: tuple[str, ...] = KINDS if has_weights else ()
        popularity = has_weights if self.popularity is None else self.popularity
        kinds = kinds or (("none",) if popularity else ())
        defaults = self.template.objective
        if not (defaults.unobserved_weight > 0 and defaults.regularization > 0):
            raise InvalidValueError(
                "the objective of the model is the first one to be tried, so its unobserved_weight and "
                f"regularization must be > 0, got {defaults}"
            )
        # Rounded: processes that share a journal must agree on it, and powers differ between machines.
        regularization = defaults.regularization / penalty_ratio(defaults, self.parts.train)
        start = Settings(
            dim=min(self.dim, self.max_dim),
            unobserved_weight=defaults.unobserved_weight,
            regularization=float(f"{regularization:.12g}"),
            exponent=defaults.exponent,
            weights=kinds[0] if kinds else "given",
        )
        return Plan(
            space=space_of(exponent=self.exponent, weights=kinds, popularity=popularity),
            start=start,
            max_dim=self.max_dim,
            trials=self.trials,
            budget=self.budget,
            seed=self.seed,
        )

    def run(
        self,
        *,
        watch: Callable[[Standing], None] = lambda _: None,
        clock: Clock = time.monotonic,
        cluster: CallCluster | None = None,
    ) -> Tuning:
        """Search, here or on a cluster, choose, and ask the test part, once."""
        begun = clock()
        plan = self.plan()
        study = Study(self.journal, self._question(plan), resume=self.resume)
        trainer = Trainer(
            self.parts.for_trials(),
            self.chosen_metric,
            self.template,
            epochs=self.epochs,
            patience=self.patience,
            users=self.users,
        )
        spent = spent_seconds(study.trials())
        if cluster is None:
            seconds = search(plan, study, trainer, spent=spent, clock=clock, watch=watch)
        else:
            with cluster.calls(trained, trainer) as calls:
                spent += clock() - begun  # until the workers had started
                seconds = search_on(calls, plan, study, spent=spent, clock=clock, watch=watch)
        choice = choose(plan, study.trials())
        if choice is None:
            raise InvalidStateError(f"no training gave a score; the first one failed: {_failure(study)}")
        begun = clock()
        settings, outcome = choice.chosen.settings, choice.chosen.trial.outcome
        assert outcome is not None
        if not study.running_elsewhere():
            self._test(study, settings, outcome.best_epoch)
        return Tuning(
            metric=self.chosen_metric,
            choice=choice,
            trials=study.trials(),
            plan=plan,
            model=self._model(settings, outcome.best_epoch),
            weighting=weighting_of(settings),
            answers=study.answers,
            users=trainer.judge.users,
            validation=self.parts.described,
            protocol=self.parts.split.protocol,
            retrained=self.parts.retrained,
            seconds=seconds + clock() - begun,
        )

    def _question(self, plan: Plan) -> dict[str, Any]:
        """Describe what the scores of trials depend on, and what the search is after."""
        return {
            "data": self.parts.fingerprint(),
            "metric": self.chosen_metric,
            "space": _plain(plan.space),
            "start": plan.start.as_dict(),
            "max_dim": self.max_dim,
            "seed": self.seed,
            "epochs": self.epochs,
            "patience": self.patience,
            "users": self.users,
            "solver": repr(self.template.solver),
            "init": self.template.init,
            **({} if self.template.init_stddev is None else {"init_stddev": self.template.init_stddev}),
        }

    def _model(self, settings: Settings, epochs: int) -> ImplicitMF:
        data = self.parts.split.train
        return ImplicitMF(**parameters(self.template, settings, data, seed=self.seed, epochs=epochs))

    def _test(self, study: Study, settings: Settings, epochs: int) -> None:
        """Evaluate the chosen model on the test part, unless that was done before."""
        with nullcontext() if self.journal is None else locked(self.journal):
            chosen = {"settings": settings.as_dict(), "epochs": epochs, "seed": self.seed}
            if any(answer["chosen"] == chosen for answer in study.answers):
                return
            weighting = weighting_of(settings)
            split = self.parts.split if weighting is None else weighted_split(self.parts.split, weighting)
            found = evaluate(
                self._model(settings, epochs), split, metrics=self._metrics(split), progress=False
            )
            study.answer({"chosen": chosen, "test": found.as_dict()})

    def _metrics(self, split: Split) -> list[str]:
        return list(dict.fromkeys([*split.metrics, self.chosen_metric]))


def _failure(study: Study) -> str:
    return next((trial.outcome.error for trial in study.trials() if trial.outcome), "none was begun")


def _plain(space: Space) -> dict[str, Any]:
    ranges = {name: asdict(part) for name, part in space.ranges.items()}
    return {"ranges": ranges, "choices": {name: list(words) for name, words in space.choices.items()}}
