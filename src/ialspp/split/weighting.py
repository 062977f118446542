"""Weights of a split made anew. What they are is learned from its training part alone."""

from __future__ import annotations

from dataclasses import replace

from ..data.interactions import Interactions
from ..data.weighting import LearnedWeighting, Weighting
from .parts import HeldOut, Split


def weighted_split(parts: Split, weighting: Weighting) -> Split:
    """Return the same split with the weights of training and given pairs made anew."""
    learned = weighting.learned(parts.train)
    train = learned.applied(parts.train)
    validation = None if parts.validation is None else weighted_part(parts.validation, learned, train)
    return replace(parts, train=train, validation=validation, test=weighted_part(parts.test, learned, train))


def weighted_part(part: HeldOut, weighting: LearnedWeighting, train: Interactions) -> HeldOut:
    """Return the same users with the weights of their given pairs made anew, like those of `train`."""
    return replace(part, given=weighting.applied(part.given) if part.unseen else train)
