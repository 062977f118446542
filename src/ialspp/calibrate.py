"""How fast each block size is on this machine, beside what the rule for "auto" says."""

from __future__ import annotations

import json
import platform
from collections.abc import Callable, Sequence
from dataclasses import asdict, dataclass
from pathlib import Path

from . import _core
from .atomic import whole_file
from .datasets import synthetic
from .interactions import Interactions
from .model import ImplicitMF
from .solvers import IALSpp, Problem
from .threads import resolve_threads

FORMAT = 1
TOLERANCE = 1.1  # "auto" is in order while no block size is more than 10 % faster


@dataclass(frozen=True, slots=True)
class Curve:
    """Seconds per epoch at one dimension: the best of several for each block size, interleaved."""

    dim: int
    auto: int
    seconds: dict[int, float]

    @property
    def best(self) -> int:
        """The fastest block size."""
        return min(self.seconds, key=self.seconds.__getitem__)

    @property
    def excess(self) -> float:
        """How much longer "auto" takes than the best: 0.05 is 5 %."""
        return self.seconds[self.auto] / self.seconds[self.best] - 1

    @property
    def agrees(self) -> bool:
        """Whether the rule's choice is within 10 % of the best."""
        return 1 + self.excess <= TOLERANCE


@dataclass(frozen=True, slots=True)
class Calibration:
    """What was measured, and where."""

    machine: str
    isa: str
    threads: int
    data: str
    curves: list[Curve]

    def save(self, path: Path) -> None:
        """Write as JSON, whole or not at all."""
        path.parent.mkdir(parents=True, exist_ok=True)
        with whole_file(path) as file:
            file.write(json.dumps({"format": FORMAT, **asdict(self)}, indent=1).encode())

    @classmethod
    def load(cls, path: Path) -> Calibration:
        """Read what `save` wrote."""
        try:
            saved = json.loads(path.read_text(encoding="utf-8"))
            if saved.pop("format") != FORMAT:
                raise ValueError("another format")
            curves = [
                Curve(curve["dim"], curve["auto"], {int(b): s for b, s in curve["seconds"].items()})
                for curve in saved.pop("curves")
            ]
            return cls(curves=curves, **saved)
        except (ValueError, KeyError, TypeError, AttributeError) as error:
            raise ValueError(f"{path} is not a calibration of format {FORMAT}: {error}") from error


def default_path() -> Path:
    """Where a machine's calibration is kept: the user's cache directory."""
    from platformdirs import user_cache_path

    return user_cache_path("ialspp") / "calibration.json"


def block_sizes(dim: int) -> list[int]:
    """1, 2, 4, ... up to dim."""
    return [*(2**i for i in range((dim - 1).bit_length())), dim]


def measure(
    data: Interactions,
    dim: int,
    *,
    sizes: Sequence[int] | None = None,
    rounds: int = 3,
    threads: int | None = None,
    report: Callable[[], None] = lambda: None,
) -> Curve:
    """Time an epoch of `IALSpp` for each block size, all sizes once and then again."""
    threads = resolve_threads(threads)
    auto = IALSpp().block_size_for(dim)
    seconds = dict.fromkeys(sorted({*(sizes or block_sizes(dim)), auto}), float("inf"))
    model = ImplicitMF(dim)
    problem = Problem.of(data, model.objective, *model.initial_factors(data), threads)
    for _ in range(rounds):
        for size in seconds:
            record = ImplicitMF(dim, solver=IALSpp(block_size=size)).run_epoch(problem)
            seconds[size] = min(seconds[size], record.seconds)
            report()
    return Curve(dim, auto, seconds)


def calibrate(
    dims: Sequence[int],
    *,
    scale: float = 0.05,
    rounds: int = 3,
    threads: int | None = None,
    report: Callable[[], None] = lambda: None,
) -> Calibration:
    """Measure this machine on generated data of MovieLens 20M's shape, scaled down."""
    data = synthetic("ml20m", scale=scale)
    curves = [measure(data, dim, rounds=rounds, threads=threads, report=report) for dim in dims]
    machine = platform.processor() or platform.machine()
    return Calibration(machine, _core.isa(), resolve_threads(threads), repr(data), curves)
