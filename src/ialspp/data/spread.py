"""Warn of weights or labels that are so far apart that a few pairs decide what a model learns."""

from __future__ import annotations

import inspect
import warnings
from collections.abc import Iterator

import numpy as np
from numpy.typing import NDArray

from ..errors import WeightWarning
from .csr import Floats
from .interactions import Interactions

WIDEST = 100  # times the least weight; products bought 1 to 11 times do no harm, artists played 2 to 7,228 do
FARTHEST = 10  # times the mean of weights that joined the same data
SAMPLE = 100_000  # of the weights, spread evenly: to sort all of them may take as long as an epoch
BLOCK = 2**22  # weights that are looked at together
ELSEWHERE = "(Interactions.read takes such SQL. For arrays and data frames, compute the weights with numpy.)"
OUTLIERS = 0.01  # share of the pairs at either end; so few change few rows, however large their weights are


def warn_of_spread(data: Interactions) -> None:
    """Warn the caller of this package if the weights or the labels of the data should be dampened."""
    advice = spread_advice(data)
    if advice is not None:
        warnings.warn(f"{advice}. {ELSEWHERE}", WeightWarning, stacklevel=_levels_inside())


def warn_of_scale(new: Interactions, known: Interactions) -> None:
    """Warn the caller of this package if new interactions outweigh those of a model, or hardly count."""
    if len(new) == 0 or len(known) == 0 or new.decayed or known.decayed:
        return
    mean, usual = _mean_weight(new), _mean_weight(known)
    if not 1 / FARTHEST <= mean / usual <= FARTHEST:
        warnings.warn(
            f"the new weights are {mean:,.4g} on average, and those that the model was trained with "
            f"{usual:,.4g}. Compute the new ones as those were computed.",
            WeightWarning,
            stacklevel=_levels_inside(),
        )


def _mean_weight(data: Interactions) -> float:
    weights = data.by_user.weights
    if weights is None:
        return 1.0
    total = sum(float(part.sum(dtype=np.float64)) for part in _blocks(weights))
    return max(total / len(weights), float(np.finfo(np.float32).tiny))


def spread_advice(data: Interactions, weight: str = "plays", label: str = "plays") -> str | None:
    """Say how far apart the weights or the labels are and what to do; None if that is as it should be.

    Weights that decay with time span a large factor by design. Pairs of weight 0 count as not observed.

    Parameters
    ----------
    data
        The interactions to train on.
    weight
        What the weights come from, for the advice: a column, or an expression over columns.
    label
        The column that the labels come from, for the advice.
    """
    weights, labels = data.by_user.weights, data.by_user.labels
    if weights is not None and not data.decayed and (sample := _wide(weights)) is not None:
        dampened = _dampened(weight, sample, bool(weights.min() >= 1))
        return (
            f'{_spread("weights", sample)} Dampen them to about 1 each: weight="{dampened}". '
            "Or leave the weights out"
        )
    if labels is not None and (sample := _wide(labels)) is not None:
        dampened = _dampened(label, sample, bool(labels.min() >= 1))
        return (
            f"{_spread('labels', sample)} A label is what the score of a pair should be. Give counts as "
            f'weights instead, dampened to about 1 each: weight="{dampened}"'
        )
    return None


def _wide(numbers: Floats) -> NDArray[np.float64] | None:
    """Return a sample of the positive numbers if they are too far apart."""
    if not _may_span(numbers):
        return None
    sample = _sample_of_positive(numbers).astype(np.float64)
    least, most = _ends(sample)
    return sample if most > WIDEST * least else None


def _ends(sample: NDArray[np.float64]) -> list[float]:
    """Return the least and the largest number of a sample without outliers."""
    ends: list[float] = np.quantile(sample, [OUTLIERS, 1 - OUTLIERS], method="nearest").tolist()
    return ends


def _spread(what: str, sample: NDArray[np.float64]) -> str:
    least, most = _ends(sample)
    return (
        f"98 % of the {what} are between {least:,.6g} and {most:,.6g}, so a few pairs decide what the model "
        "learns."
    )


def _may_span(weights: Floats) -> bool:
    """Tell quickly whether the extremes are far enough apart, as quantiles take longer."""
    most = float(weights.max(initial=0))
    return any(((part > 0) & (part < most / WIDEST)).any() for part in _blocks(weights))


def _sample_of_positive(weights: Floats) -> Floats:
    """Return positive weights, evenly spread, block by block: all of them may not fit the memory."""
    step = 1 + int(sum(np.count_nonzero(part > 0) for part in _blocks(weights))) // SAMPLE
    sample, first = [], 0  # of the next block: the first to take
    for part in _blocks(weights):
        positive = part[part > 0]
        sample.append(positive[first::step])
        first = (first - len(positive)) % step
    return np.concatenate(sample)


def _blocks(weights: Floats) -> Iterator[Floats]:
    for begin in range(0, len(weights), BLOCK):
        yield weights[begin : begin + BLOCK]


def _dampened(weight: str, sample: NDArray[np.float64], are_counts: bool) -> str:
    """Write an expression that grows with the logarithm of the weights and has the mean 1."""
    if are_counts:
        return f"(1 + log({weight})) / {np.mean(1 + np.log(sample)):.2g}"
    term = weight if weight.isidentifier() else f"({weight})"
    least = np.quantile(sample, OUTLIERS, method="nearest")
    return f"log(1 + {term} / {least:.2g}) / {np.mean(np.log1p(sample / least)):.2g}"


def _levels_inside() -> int:
    """Count the frames of this package above the caller's, so that a warning names the caller's line."""
    package, level = f"{__name__.partition('.')[0]}.", 1
    frame = inspect.currentframe()
    frame = frame and frame.f_back
    while frame is not None and frame.f_globals.get("__name__", "").startswith(package):
        frame, level = frame.f_back, level + 1
    return level
