"""Trainings that are numerically hostile: what is drawn for the attack on numbers."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ialspp import IALS, ICD, IALSpp, ImplicitMF, Interactions, Objective, SpectralCG, _core

Floats = NDArray[np.float64]
Generator = np.random.Generator

SIZES = (1, 2, 3, 5, 8, 17, 40)
DIMS = (1, 2, 3, 7, 8, 15, 16, 17, 31, 33, 64, 65, 130)
UNOBSERVED_WEIGHTS = (0.0, 1e-38, 1e-20, 1e-6, 0.02, 0.1, 1.0, 1e3, 1e10, 1e18, 3e38)
REGULARIZATIONS = (0.0, 1e-38, 1e-20, 1e-8, 0.003, 0.05, 1.0, 1e6, 1e18, 1e30)
EXPONENTS = (0.0, 0.5, 1.0, 2.0)
STDDEVS = (None, 1e-30, 1e-6, 1.0, 1e3, 9e5)
LARGEST = 3.4e38  # of a label or weight
THREADS = (1, 2, 3, 64)  # 64: more than any side has rows


@dataclass(frozen=True, slots=True, eq=False)
class Case:
    """A model to fit, its data, and the instruction set that trains it."""

    model: ImplicitMF
    data: Interactions
    isa: str

    def __str__(self) -> str:
        numbers = {"label": self.data.by_user.labels, "weight": self.data.by_user.weights}
        ranges = [
            f"{name}s {values.min():g} to {values.max():g}"
            for name, values in numbers.items()
            if values is not None
        ]
        settings = {
            name: value for name, value in self.model.get_params(deep=False).items() if value is not None
        }
        return f"{self.data!r}, {', '.join(ranges) or 'no numbers'}, {self.isa}, {settings}"


def draw(seed: int, number: int) -> Case:
    """Draw the case of this number; the seed and the number decide everything."""
    generator = np.random.default_rng([seed, number])
    data = _data(generator)
    return Case(_model(generator), data, _one_of(generator, _core.available_isas()))


def _one_of(generator: Generator, choices: Any) -> Any:
    return choices[int(generator.integers(len(choices)))]


def _model(generator: Generator) -> ImplicitMF:
    dim = _one_of(generator, DIMS)
    init = _one_of(generator, ("spectral", "random"))
    ordinary = generator.random() < 0.3  # so that hostile data meets settings that people use
    objective = Objective(
        unobserved_weight=0.1 if ordinary else _one_of(generator, UNOBSERVED_WEIGHTS),
        regularization=0.003 if ordinary else _one_of(generator, REGULARIZATIONS),
        exponent=_one_of(generator, EXPONENTS),
    )
    return ImplicitMF(
        dim,
        solver=_solver(generator, dim),
        objective=objective,
        epochs=int(generator.integers(2, 8)),
        init=init,
        init_stddev=_one_of(generator, STDDEVS) if init == "random" else None,
        seed=int(generator.integers(1000)),
        threads=_one_of(generator, THREADS),
    )


def _solver(generator: Generator, dim: int) -> Any:
    relaxation = 1.0 if generator.random() < 0.3 else float(generator.uniform(1e-3, 1.999))
    kind = generator.integers(5)
    if kind == 0:
        return IALS(relaxation=relaxation)
    if kind == 1:
        return ICD()
    if kind == 2:
        size = _one_of(generator, ("auto", 1, dim, int(generator.integers(1, dim + 1))))
        return IALSpp(block_size=size, sweep=_one_of(generator, ("side", "block")), relaxation=relaxation)
    ends: dict[str, Any] = _one_of(generator, ({}, {"steps": 1}, {"steps": 5}, {"tolerance": 1e-5}))
    return SpectralCG(
        **ends,
        relaxation="auto" if generator.random() < 0.5 else relaxation,
        precision=_one_of(generator, ("auto", "mixed", "single")),
    )


def _data(generator: Generator) -> Interactions:
    users, items = _one_of(generator, SIZES), _one_of(generator, SIZES)
    mask = _pairs(generator, users, items)
    user, item = np.nonzero(mask)
    numbers = [_numbers(generator, user, item, name) for name in ("label", "weight")]
    label, weight = (None if values is None else np.clip(values, -LARGEST, LARGEST) for values in numbers)
    return Interactions.from_arrays(
        user=user, item=item, users=range(users), items=range(items), label=label, weight=weight
    )


def _pairs(generator: Generator, users: int, items: int) -> NDArray[np.bool_]:
    """Draw which pairs there are, at least one."""
    density: float = _one_of(generator, (0.0, 0.1, 0.5, 0.9, 1.0))  # from one pair alone to all of them
    mask: NDArray[np.bool_] = generator.random((users, items)) < density
    kind = generator.integers(4)
    if kind == 0:
        mask[generator.integers(users)] = True  # a full row
    elif kind == 1:
        mask[:] = mask[0]  # equal rows
    elif kind == 2:
        mask[generator.random(users) < 0.5] = False  # empty rows
    if not mask.any():
        mask[generator.integers(users), generator.integers(items)] = True
    return mask


def _numbers(generator: Generator, user: NDArray[Any], item: NDArray[Any], name: str) -> Floats | None:
    """Draw labels or weights: how large they are, and how that varies."""
    n = len(user)
    kind = generator.integers(8)
    if kind < 2:
        return None
    if kind == 2:
        return np.full(n, _scale(generator))
    if kind == 3:
        return np.where(generator.random(n) < 0.5, 0.0, _scale(generator))
    if kind == 4:  # each row of users or items has a size of its own
        rows = user if generator.random() < 0.5 else item
        of_rows: Floats = _scale(generator, (int(rows.max()) + 1,))[rows]
        return of_rows * generator.uniform(0.5, 2, n)
    if kind == 5:
        return _scale(generator, (n,))
    values = _scale(generator) * generator.exponential(1, n)
    return -values if name == "label" and kind == 6 else values


def _scale(generator: Generator, shape: tuple[int, ...] = ()) -> Floats:
    """Draw sizes from 1e-38 to 3e38, or from a part of that."""
    low, high = _one_of(generator, ((-38, 18), (-38, -18), (-6, 6), (6, 18), (18, 38.5), (-1, 1), (0, 0)))
    return 10 ** generator.uniform(low, high, shape)
