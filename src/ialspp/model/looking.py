"""A model as people look at it: a table in notebooks, a plot of its training."""

from __future__ import annotations

from typing import TYPE_CHECKING

from ..errors import NotFittedError
from ..objective import Objective
from ..solvers import Solver
from ..system import html, plots
from .fitted import Fitted
from .history import EpochRecord

if TYPE_CHECKING:
    from matplotlib.axes import Axes


class Looking:
    """The views of `ImplicitMF`."""

    dim: int
    solver: Solver
    objective: Objective
    history: list[EpochRecord]
    _state: Fitted | None

    def _repr_html_(self) -> str:
        """Draw the settings and the training as a table, for notebooks."""
        values: dict[str, object] = {"dim": self.dim, "solver": self.solver, "objective": self.objective}
        if self._state is not None:
            values["fitted on"] = self._state.summary()
        if self.history:
            values["epochs"] = len(self.history)
            values["loss"] = f"{self.history[0].loss:,.6g}, at last {self.history[-1].loss:,.6g}"
            values["seconds"] = sum(record.seconds for record in self.history)
        return html.facts("ImplicitMF" if self._state else "ImplicitMF, not fitted", values)

    def plot_history(self, ax: Axes | None = None) -> Axes:
        """Draw the loss and its three parts, epoch by epoch; needs matplotlib.

        Parameters
        ----------
        ax
            The axes to draw on. None: those of a new figure.

        Returns
        -------
        matplotlib.axes.Axes
            The axes.

        Examples
        --------
        >>> axes = model.plot_history()
        >>> axes.get_xlabel(), axes.get_ylabel()
        ('epoch', 'loss')
        >>> axes.figure.savefig("loss.png")
        """
        if not self.history:
            raise NotFittedError("the model has no history; call fit(data) first")
        parts = {
            name: [getattr(record, name) for record in self.history]
            for name in ("observed", "unobserved", "regularization")
        }
        epochs, losses = [record.epoch for record in self.history], [record.loss for record in self.history]
        return plots.draw_losses(epochs, losses, parts, ax)
