"""The result of a tuning: the settings, how they were found, and how good they are."""

from __future__ import annotations

from dataclasses import asdict, dataclass, fields
from typing import Any

from ..data.interactions import Interactions
from ..data.weighting import Weighting
from ..model.model import ImplicitMF
from ..solvers import SOLVERS, Solver
from .choosing import Choice
from .planning import Plan
from .settings import Settings, Trial

LABELS = {
    "unobserved_weight": "alpha0",
    "regularization": "lambda",
    "exponent": "nu",
    "weights": "weights",
    "item_power": "item power",
    "user_power": "user power",
}
COMPARABLE = 30  # times: parts of the loss further apart than this are out of balance


@dataclass(frozen=True, slots=True, eq=False, kw_only=True)
class Tuning:
    """The settings that a search has chosen, and everything that is known of them.

    Attributes
    ----------
    metric
        What was maximised, on the validation part alone.
    choice
        The finalists, the noise of seeds, and which of them was chosen.
    trials
        All trainings, in the order in which they began.
    plan
        How the search went about it.
    model
        A model with the chosen settings, not fitted yet: `tuned.model.fit(tuned.weighted(data))`.
    weighting
        How weights are made anew before training; None: not at all.
    answers
        Every evaluation on the test part: one, unless a study that was finished was resumed and changed its
        choice. Empty if other processes still search: the last one tests.
    users
        How many validation users were scored.
    validation
        What the validation part is, in words.
    protocol
        The protocol of the split.
    retrained
        Whether the tested model was trained on the training and the validation part together.
    seconds
        How long it took, with what was spent before a resume.
    """

    metric: str
    choice: Choice
    trials: list[Trial]
    plan: Plan
    model: ImplicitMF
    weighting: Weighting | None
    answers: list[dict[str, Any]]
    users: int
    validation: str
    protocol: str
    retrained: bool
    seconds: float

    @property
    def settings(self) -> Settings:
        """The chosen settings."""
        return self.choice.chosen.settings

    @property
    def score(self) -> float:
        """The validation score of the chosen settings: the mean over seeds."""
        return self.choice.chosen.mean

    @property
    def test(self) -> dict[str, float] | None:
        """The metrics of the chosen model on the test part; None if it was not used yet."""
        if not self.answers:
            return None
        return {name: score["mean"] for name, score in self.answers[-1]["test"]["metrics"].items()}

    def weighted(self, data: Interactions) -> Interactions:
        """Return data as the model is to be trained on it: with weights made anew, if the search says so.

        Examples
        --------
        These data have no weights, so that nothing is changed.

        >>> tuned.weighted(data)
        Interactions(40 users x 10 items, 160 pairs)
        """
        return data if self.weighting is None else self.weighting.learned(data).applied(data)

    def ranked(self) -> list[Trial]:
        """Return the trials of the search that have a score, the best one first.

        Examples
        --------
        >>> scores = [trial.score for trial in tuned.ranked()]
        >>> len(scores), scores == sorted(scores, reverse=True)
        (3, True)
        """
        found = [trial for trial in self.trials if trial.kind != "repeat" and trial.outcome is not None]
        return sorted(found, key=lambda trial: (-trial.score, trial.number))

    def table(self) -> tuple[list[str], list[list[Any]]]:
        """Return the names of columns and a row for each of the ranked trials.

        Examples
        --------
        >>> columns, rows = tuned.table()
        >>> columns
        ['d', 'alpha0', 'lambda', 'epochs', 'score', 's', 'ending']
        >>> len(rows), rows[0][0]
        (3, 8)
        """
        searched = self.plan.space
        extra = [name for name in LABELS if name in (*list(searched.ranges)[2:], *searched.choices)]
        columns = [
            "d",
            "alpha0",
            "lambda",
            *(LABELS[name] for name in extra),
            "epochs",
            "score",
            "s",
            "ending",
        ]
        rows: list[list[Any]] = []
        for trial in self.ranked():
            settings, outcome = trial.settings, trial.outcome
            assert outcome is not None
            numbers = [settings.dim, settings.unobserved_weight, settings.regularization]
            more = [getattr(settings, name) for name in extra]
            score = f"{trial.score:.4f}"
            rows.append(
                [*numbers, *more, outcome.best_epoch, score, f"{outcome.seconds:.1f}", outcome.ending]
            )
        return columns, rows

    def as_dict(self) -> dict[str, Any]:
        """Return plain values, for JSON.

        Examples
        --------
        >>> found = tuned.as_dict()
        >>> found["metric"], found["settings"]["dim"], found["test_asked"]
        ('ndcg@20', 8, 1)
        """
        return {
            "metric": self.metric,
            "settings": self.options(),
            "validation": {"score": self.score, "users": self.users, "part": self.validation},
            "noise": self.choice.noise,
            "test": self.answers[-1]["test"] if self.answers else None,
            "test_asked": len(self.answers),
            "remarks": self.remarks(),
            "trials": [
                {"number": trial.number, "kind": trial.kind, "seed": trial.seed, **trial.settings.as_dict()}
                | ({} if trial.outcome is None else asdict(trial.outcome))
                for trial in self.trials
            ],
            "seconds": self.seconds,
        }

    def remarks(self) -> list[str]:
        """Say what a reader should know of the result.

        Examples
        --------
        >>> print(tuned.remarks()[0])
        The test part was used once, at the end, for the chosen model, ...
        """
        return [
            *_remark_on_test(self),
            *_remark_on_ties(self),
            *_remark_on_balance(self),
            *_remark_on_dims(self),
        ]

    def options(self) -> dict[str, Any]:
        """Return the settings as options of `ialspp fit` and `ialspp evaluate`.

        Examples
        --------
        >>> options = tuned.options()
        >>> list(options)
        ['dim', 'epochs', 'unobserved_weight', 'regularization', 'exponent', 'seed']
        >>> options["dim"]
        8
        """
        objective = self.model.objective
        found: dict[str, Any] = {
            "dim": self.model.dim,
            "epochs": self.model.epochs,
            "unobserved_weight": objective.unobserved_weight,
            "regularization": objective.regularization,
            "exponent": objective.exponent,
            "seed": self.model.seed,
        }
        if self.model.init != "spectral":
            found["init"] = self.model.init
        if self.model.init_stddev is not None:
            found["init_stddev"] = self.model.init_stddev
        found |= _changed_options(self.model.solver)
        if self.weighting is not None:
            found |= {
                "weighting": self.weighting.kind,
                "item_power": self.weighting.item_power,
                "user_power": self.weighting.user_power,
            }
        return found

    def __repr__(self) -> str:
        return f"Tuning({self.metric} {self.score:.4f} on validation, {self.settings})"


def _changed_options(solver: Solver) -> dict[str, Any]:
    """Return the name of a solver and its options, unless they are the defaults of the command line."""
    name = next((name for name, kind in SOLVERS.items() if type(solver) is kind), None)
    if name is None:
        return {}  # a solver of the caller's own, which the command line does not know
    default = SOLVERS[name]()
    options = {field.name: getattr(solver, field.name) for field in fields(SOLVERS[name])}
    changed = {key: value for key, value in options.items() if value != getattr(default, key)}
    return changed if name == "spectral" else {"solver": name, **changed}


def _remark_on_test(tuned: Tuning) -> list[str]:
    times = len(tuned.answers)
    if times == 0:
        return ["The test part was not used: other processes still search, and the last one will use it."]
    how = (
        "trained on the training and validation parts together"
        if tuned.retrained
        else "trained as it was chosen"
    )
    if times == 1:
        return [f"The test part was used once, at the end, for the chosen model, {how}."]
    return [f"The test part was used {times} times, because the search went on after the first; {how}."]


def _remark_on_ties(tuned: Tuning) -> list[str]:
    choice = tuned.choice
    if choice.noise is None:
        return ["The noise of seeds was not measured: there was no time to repeat the finalists."]
    found = f"The noise of seeds is {choice.noise:.5f}"
    others = choice.finalists[1:]
    ties, once = len(choice.ties) - 1, sum(len(other.scores) < 2 for other in others)
    if ties:
        found += f": {ties} of the other finalists {'is a tie' if ties == 1 else 'are ties'} with the best"
        if choice.chosen is not choice.finalists[0]:
            found += ", and of these the smallest d was chosen"
    elif len(others) > once:
        found += ", and the best finalist is better than the others that were repeated by more than it"
    if once:
        found += f". There was no time to repeat {once} of the other finalists"
    return [f"{found}."]


def _remark_on_balance(tuned: Tuning) -> list[str]:
    """Say if the parts of the loss are of very different size, which hints at settings that are off."""
    outcome = tuned.choice.chosen.trial.outcome
    if outcome is None or outcome.loss is None:
        return []
    names = ("observed pairs", "unobserved pairs", "penalty")
    total = sum(outcome.loss)
    parts = ", ".join(f"{name} {part / total:.1%}" for name, part in zip(names, outcome.loss, strict=True))
    if max(outcome.loss) > COMPARABLE * min(outcome.loss):
        return [f"The three parts of the loss are out of balance: {parts}. Look at alpha0 and lambda again."]
    return [f"The three parts of the loss are in balance: {parts}."]


def _remark_on_dims(tuned: Tuning) -> list[str]:
    dims = sorted({trial.settings.dim for trial in tuned.trials})
    if tuned.settings.dim == tuned.plan.max_dim:
        return [f"The chosen d = {tuned.settings.dim} is the largest allowed; a larger one may be better."]
    if dims[-1] == tuned.settings.dim and tuned.plan.budget is not None:
        return [f"There was no time for d above {dims[-1]}, which may be better."]
    return []


def spent_seconds(trials: list[Trial]) -> float:
    """Return for how long trials were trained, those of several processes at a time counted once."""
    spans = sorted(trial.spent for trial in trials if trial.outcome is not None)
    total, until = 0.0, 0.0
    for begin, end in spans:
        total += max(end - max(begin, until), 0.0)
        until = max(until, end)
    return total
