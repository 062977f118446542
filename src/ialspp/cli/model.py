"""The options of a model."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Annotated

import typer

from ..model import ImplicitMF
from ..objective import Objective
from ..solvers import IALS, ICD, IALSpp, SpectralCG

SOLVERS = {"spectral": SpectralCG, "ials++": IALSpp, "ials": IALS, "icd": ICD}
DEFAULT = Objective()


@dataclass(frozen=True, slots=True)
class ModelOptions:
    """What `ImplicitMF` and its `Objective` are made with."""

    dim: Annotated[int, typer.Option(help="d, the length of the vectors.")] = 64
    solver: Annotated[str, typer.Option(help=f"{', '.join(SOLVERS)}.")] = "spectral"
    unobserved_weight: Annotated[float, typer.Option(help="alpha0.")] = DEFAULT.unobserved_weight
    regularization: Annotated[float, typer.Option(help="lambda.")] = DEFAULT.regularization
    exponent: Annotated[float, typer.Option(help="nu.")] = DEFAULT.exponent
    epochs: Annotated[int, typer.Option(help="Passes over the data.")] = 16
    seed: Annotated[int, typer.Option(help="Of the initial factors.")] = 0
    threads: Annotated[int | None, typer.Option(help="Default: all CPUs this process may use.")] = None

    def make(self) -> ImplicitMF:
        """A model that is not fitted."""
        if self.solver not in SOLVERS:
            raise ValueError(f"--solver must be one of {', '.join(SOLVERS)}, got {self.solver!r}")
        return ImplicitMF(
            self.dim,
            solver=SOLVERS[self.solver](),
            objective=Objective(
                unobserved_weight=self.unobserved_weight,
                regularization=self.regularization,
                exponent=self.exponent,
            ),
            epochs=self.epochs,
            seed=self.seed,
            threads=self.threads,
        )
