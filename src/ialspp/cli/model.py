"""The options of a model."""

from __future__ import annotations

from dataclasses import dataclass, fields
from typing import Annotated, Any, ClassVar, TypeVar, get_args, get_type_hints

import typer

from ..errors import InvalidValueError
from ..model.model import ImplicitMF
from ..objective import Objective
from ..solvers import SOLVERS, Solver, pinned
from ..system.checks import checked_integer
from .options import given

DEFAULT = Objective()
Group = TypeVar("Group")
SOLVER = "Solver: the defaults suit most data"


def _solver_options() -> dict[str, Any]:
    """Make an option of every field of every solver: its name and how typer is to see it."""
    kinds: dict[str, Any] = {}
    helps: dict[str, list[str]] = {}
    for name, solver in SOLVERS.items():
        hints = get_type_hints(solver)
        for field in fields(solver):
            kinds[field.name] = _typed(hints[field.name])
            helps.setdefault(field.name, []).append(f"{name}: {field.metadata['help']}")
    return {
        option: Annotated[kind | None, typer.Option(help=" ".join(helps[option]), rich_help_panel=SOLVER)]
        for option, kind in kinds.items()
    }


def _typed(hint: Any) -> type:
    """Find what a user types for a field: a number if it may be one, else a word of a Literal."""
    return next((part for part in (hint, *get_args(hint)) if part in (int, float)), str)


SOLVER_OPTIONS = _solver_options()


def _with_solver_options(group: type[Group]) -> type[Group]:
    """Add the options of the solvers to a class that becomes a dataclass; None where not given."""
    group.__annotations__ |= SOLVER_OPTIONS
    for option in SOLVER_OPTIONS:
        setattr(group, option, None)
    return group


@dataclass(frozen=True)
@_with_solver_options
class ModelOptions:
    """The options of `ImplicitMF`, of its `Objective`, and of every solver."""

    panel: ClassVar[str] = "Model"

    dim: Annotated[int, typer.Option(help="d, the length of the vectors.")] = 64
    epochs: Annotated[int, typer.Option(help="Passes over the data.")] = 8
    unobserved_weight: Annotated[
        float, typer.Option(help="alpha0, the weight of every pair of user and item.")
    ] = DEFAULT.unobserved_weight
    regularization: Annotated[float, typer.Option(help="lambda, the weight of the penalty on vectors.")] = (
        DEFAULT.regularization
    )
    exponent: Annotated[float, typer.Option(help="nu: how the penalty grows with interactions.")] = (
        DEFAULT.exponent
    )
    seed: Annotated[int, typer.Option(help="Seed of the initial factors.")] = 0
    threads: Annotated[int | None, typer.Option(help="Threads. Default: all CPUs this process may use.")] = (
        None
    )
    solver: Annotated[str, typer.Option(help=f"{', '.join(SOLVERS)}.", rich_help_panel=SOLVER)] = "spectral"
    init: Annotated[
        str, typer.Option(help="spectral, or random as in the paper.", rich_help_panel=SOLVER)
    ] = "spectral"
    init_stddev: Annotated[
        float | None,
        typer.Option(help="sigma of random initial factors. Default: 0.1.", rich_help_panel=SOLVER),
    ] = None

    def make(self) -> ImplicitMF:
        """Make a model that is not fitted yet."""
        return ImplicitMF(
            checked_integer("dim", self.dim, 1),
            solver=self._solver(),
            objective=Objective(
                unobserved_weight=self.unobserved_weight,
                regularization=self.regularization,
                exponent=self.exponent,
            ),
            epochs=self.epochs,
            init=self.init,  # type: ignore[arg-type]  # typer 0.15 takes no Literal; ImplicitMF checks the word
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
        pinned(solver, self.dim)  # so that a block that is too large is refused before data is read
        return solver

    def settings(self, model: ImplicitMF) -> dict[str, Any]:
        """List the settings of a fitted model; the solver is the one that was used."""
        return {**given(self, *SOLVER_OPTIONS), "solver": str(model.fitted_solver)}
