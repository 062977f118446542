"""The options of a model."""

from __future__ import annotations

from dataclasses import dataclass, fields
from typing import Annotated, Any, ClassVar

import typer

from ..errors import InvalidValueError
from ..model.model import ImplicitMF
from ..objective import Objective
from ..solvers import IALS, ICD, IALSpp, Solver, SpectralCG, pinned
from ..system.checks import checked_integer
from .options import given

SOLVERS: dict[str, type[Any]] = {"spectral": SpectralCG, "ials++": IALSpp, "ials": IALS, "icd": ICD}
SOLVER_OPTIONS = ("block_size", "sweep", "steps", "tolerance")
DEFAULT = Objective()


@dataclass(frozen=True, slots=True)
class ModelOptions:
    """What `ImplicitMF`, its `Objective` and its solver are made with."""

    panel: ClassVar[str] = "Model"

    dim: Annotated[int, typer.Option(help="d, the length of the vectors.")] = 64
    solver: Annotated[str, typer.Option(help=f"{', '.join(SOLVERS)}.")] = "spectral"
    steps: Annotated[int | None, typer.Option(help="spectral: steps for each row, at most. Default: 2.")] = (
        None
    )
    tolerance: Annotated[
        float | None, typer.Option(help="spectral: stop a row at steps this small; 1e-5 is exact.")
    ] = None
    block_size: Annotated[
        int | None, typer.Option(help="ials++: coordinates solved together. Default: chosen.")
    ] = None
    sweep: Annotated[
        str | None, typer.Option(help="ials++: side (the default), or block as in the paper.")
    ] = None
    unobserved_weight: Annotated[float, typer.Option(help="alpha0.")] = DEFAULT.unobserved_weight
    regularization: Annotated[float, typer.Option(help="lambda.")] = DEFAULT.regularization
    exponent: Annotated[float, typer.Option(help="nu.")] = DEFAULT.exponent
    epochs: Annotated[int, typer.Option(help="Passes over the data.")] = 16
    init_stddev: Annotated[float, typer.Option(help="sigma, of the initial factors.")] = 0.1
    seed: Annotated[int, typer.Option(help="Of the initial factors.")] = 0
    threads: Annotated[int | None, typer.Option(help="Default: all CPUs this process may use.")] = None

    def make(self) -> ImplicitMF:
        """A model that is not fitted."""
        return ImplicitMF(
            checked_integer("dim", self.dim, 1),
            solver=self._solver(),
            objective=Objective(
                unobserved_weight=self.unobserved_weight,
                regularization=self.regularization,
                exponent=self.exponent,
            ),
            epochs=self.epochs,
            init_stddev=self.init_stddev,
            seed=self.seed,
            threads=self.threads,
        )

    def _solver(self) -> Solver:
        if self.solver not in SOLVERS:
            raise InvalidValueError(f"--solver must be one of {', '.join(SOLVERS)}, got {self.solver!r}")
        kind = SOLVERS[self.solver]
        options = {name: value for name, value in given(self).items() if name in SOLVER_OPTIONS}
        refused = options.keys() - {field.name for field in fields(kind)}
        if refused:
            flags = ", ".join(f"--{name.replace('_', '-')}" for name in sorted(refused))
            raise InvalidValueError(f"--solver {self.solver} does not use {flags}")
        solver: Solver = kind(**options)
        pinned(solver, self.dim)  # a block may be too large: better said before data is read
        return solver

    def settings(self, model: ImplicitMF) -> dict[str, Any]:
        """What a fitted model was made with; the solver as it was used."""
        return {**given(self, *SOLVER_OPTIONS), "solver": str(model.fitted_solver)}
