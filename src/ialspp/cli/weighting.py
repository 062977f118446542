"""The options that make the weights of training data anew."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Annotated, ClassVar

import typer

from ..data.interactions import Interactions
from ..data.weighting import KINDS, Weighting
from ..errors import InvalidValueError
from ..split import Split
from ..split.weighting import weighted_split


@dataclass(frozen=True, slots=True)
class WeightingOptions:
    """How to make weights anew; None where an option was not given."""

    panel: ClassVar[str] = "Data"

    weighting: Annotated[
        str | None,
        typer.Option(help=f"Make the weights anew, 1 on average: {', '.join(KINDS)}."),
    ] = None
    item_power: Annotated[
        float | None, typer.Option(help="Divide weights by this power of the popularity of the item.")
    ] = None
    user_power: Annotated[
        float | None, typer.Option(help="Divide weights by this power of the activity of the user.")
    ] = None

    def make(self) -> Weighting | None:
        """Make the weighting; None if weights stay as they are."""
        if self.weighting is None and self.item_power is None and self.user_power is None:
            return None
        return Weighting(self.weighting or "linear", self.item_power or 0.0, self.user_power or 0.0)

    def on(self, data: Interactions) -> Interactions:
        """Make the weights of data anew, if an option says so."""
        weighting = self.make()
        if weighting is None:
            return data
        self._require_weights(data)
        return weighting.learned(data).applied(data)

    def on_split(self, parts: Split) -> Split:
        """Make the weights of a split anew, if an option says so."""
        weighting = self.make()
        if weighting is None:
            return parts
        self._require_weights(parts.train)
        return weighted_split(parts, weighting)

    def _require_weights(self, data: Interactions) -> None:
        """Raise if there is nothing to dampen, though an option says how."""
        if self.weighting not in (None, "none") and not data.weighted:
            raise InvalidValueError(
                f"--weighting {self.weighting} is for weights, and the data has none: name their column with "
                "--weight"
            )
