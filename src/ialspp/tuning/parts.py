"""The parts of the data that a search uses: to train, to choose, and, once and in the end, to test."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from .. import split as splits
from ..data.fingerprint import Fingerprint
from ..data.interactions import Interactions
from ..errors import InvalidTypeError, InvalidValueError
from ..split import HeldOut, Split

SHARE = 0.1  # of the training pairs, for validation
DAY = 86_400.0  # seconds


@dataclass(frozen=True, slots=True, eq=False)
class TrialParts:
    """What trials are trained on and judged by."""

    train: Interactions
    validation: HeldOut


@dataclass(frozen=True, slots=True, eq=False)
class Parts(TrialParts):
    """The parts of trials, and the split whose test part is left alone until the end."""

    split: Split
    described: str  # what the validation part is
    retrained: bool  # whether the chosen model is trained on train and validation together

    def for_trials(self) -> TrialParts:
        """Return what trials need, without the test part."""
        return TrialParts(self.train, self.validation)

    def fingerprint(self) -> list[Any]:
        """Identify what trials depend on: not the test part."""
        found = [Fingerprint.of(self.train).sha256, Fingerprint.of(self.validation.wanted).sha256]
        return [*found, Fingerprint.of(self.validation.given).sha256]


def parts_of(data: Interactions | Split) -> Parts:
    """Divide data for a search. Nothing but `split.train` and `split.validation` is looked at.

    A split without validation users, as for known users, gets a validation part of its training pairs, taken
    in the way of its protocol. Data that is not split gets a random fifth of its pairs as the test part.
    """
    if isinstance(data, Interactions):
        data = splits.random(data)
    if not isinstance(data, Split):
        raise InvalidTypeError(f"Interactions or a Split are required, got {type(data).__name__}")
    if data.validation is not None:
        users = np.count_nonzero(data.validation.wanted.by_user.counts)
        return Parts(data.train, data.validation, data, f"{users:,} users who are not trained on", False)
    inner, how = _held_out_again(data)
    pairs = len(inner.test.wanted)
    return Parts(inner.train, inner.test, data, f"{pairs:,} training pairs: {how}", True)


def _held_out_again(outer: Split) -> tuple[Split, str]:
    """Hold out a part of the training data in the way in which the test part was held out."""
    train = outer.train
    if outer.protocol == "leave-one-out":
        negatives = 99 if outer.test.candidates is None else _negatives(outer)
        if train.times is None:
            return splits.leave_one_out(
                train, pick="random", negatives=negatives
            ), "a random one of each user"
        return splits.leave_one_out(train, negatives=negatives), "the latest one of each user"
    if outer.protocol == "last-item":
        return splits.last_item(train), "the latest one of each user"
    if outer.protocol == "last-days" and train.times is not None:
        newest, tenth = float(train.times.max()), float(np.quantile(train.times, 1 - SHARE))
        if newest > tenth > float(train.times.min()):
            return splits.last_days(train, (newest - tenth) / DAY), "the newest tenth"
    if outer.protocol in ("weak", "last-share"):  # every user has test pairs in published splits, too
        if train.times is None:
            return splits.random(train, test_share=SHARE, per_user=True), "a random tenth of each user's"
        return splits.last_share(train, test_share=SHARE), "the latest tenth of each user's"
    return splits.random(train, test_share=SHARE), "a random tenth"


def _negatives(outer: Split) -> int:
    """Return with how many items each test item is ranked, which says nothing about the test items."""
    assert outer.test.candidates is not None
    return int(outer.test.candidates.counts.max()) - 1


def default_metric(parts: Split, metric: str | None) -> str:
    """Return the metric to choose by: the NDCG of the protocol unless another is named."""
    if metric is not None:
        return metric
    named: Sequence[str] = [name for name in parts.metrics if name.startswith("ndcg")]
    if not named:
        raise InvalidValueError(f"metric must be given for a split with the metrics {parts.metrics}")
    return named[0]
