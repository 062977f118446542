"""--early-stop: train for the number of epochs after which a metric is best."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Annotated, Any, ClassVar

import typer

from ..data.features import Features
from ..errors import InvalidValueError
from ..split import HeldOut
from ..stopping import EarlyStopping, checked_metric
from ..system.checks import checked_integer
from .data import users_in

PATIENCE = 2


@dataclass(frozen=True, slots=True)
class Stopping:
    """The options of `EarlyStopping`; None where an option was not given."""

    panel: ClassVar[str] = "When to stop"

    early_stop: Annotated[
        str | None,
        typer.Option(
            metavar="METRIC",
            help='Train for the number of epochs, up to --epochs, that is best by this metric: "ndcg@100".',
        ),
    ] = None
    patience: Annotated[
        int | None,
        typer.Option(
            help=f"--early-stop: stop after this many epochs that are no better. Default: {PATIENCE}."
        ),
    ] = None

    def check(self, epochs: int) -> None:
        """Raise an error for options that cannot be right, before data is read."""
        if self.early_stop is not None:
            checked_metric(self.early_stop)
            if epochs < 1:
                raise InvalidValueError(f"--early-stop needs --epochs of at least 1, got {epochs}")
        elif self.patience is not None:
            raise InvalidValueError("--patience is for --early-stop, which was not given")
        if self.patience is not None:
            checked_integer("patience", self.patience, 1)

    def on(self, validation: HeldOut, user_features: Features | None = None) -> EarlyStopping:
        """Make the callback that evaluates on this part."""
        assert self.early_stop is not None
        patience = PATIENCE if self.patience is None else self.patience
        return EarlyStopping(validation, self.early_stop, patience=patience, user_features=user_features)


def found_by(stopping: EarlyStopping) -> dict[str, Any]:
    """Describe as plain values how the best epoch was found."""
    return {
        "metric": str(stopping.metric),
        "patience": stopping.patience,
        "held_out": {"users": users_in(stopping.validation), "pairs": len(stopping.validation.wanted)},
        "users_evaluated": stopping.users,
        "scores": stopping.scores,
        "best_epoch": stopping.best_epoch,
    }


def as_sentence(found: dict[str, Any], epochs: int) -> str:
    """Say how the best epoch was found, out of at most so many epochs."""
    scores, best = found["scores"], found["best_epoch"]
    score = f"{found['metric']} {scores[best - 1]:.4f} after epoch {best}, the best of {len(scores)}"
    held_out = f"{found['held_out']['pairs']:,} held-out pairs of {found['held_out']['users']:,} users"
    more = "; more --epochs may be better" if best == epochs else ""
    sample = found["users_evaluated"]
    some = "" if sample == found["held_out"]["users"] else f", {sample:,} of them evaluated"
    return f"{score}, on {held_out}{some}{more}"
