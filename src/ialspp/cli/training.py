"""The training of `ialspp fit`: at once, or in two parts of which the first finds the number of epochs.

With --early-stop, a tenth of the pairs is held out, a model is trained on the others, and the best number of
epochs is found. Then a model is trained on all pairs for that many epochs. Both parts write to the same
checkpoint; that of the second one says what the first one found.
"""

from __future__ import annotations

from collections.abc import Mapping
from contextlib import AbstractContextManager, nullcontext
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

from .. import split as splits
from ..cluster import RayCluster
from ..data.interactions import Interactions
from ..model.checkpoint import Checkpoint
from ..model.fitting import Callback, fit_with_note
from ..model.model import ImplicitMF
from ..model.side_features import NO_FEATURES, SideFeatures
from .checkpoints import FOUND
from .cluster import in_file_beside
from .stopping import Stopping, found_by

HELD_OUT = 0.1  # share of the pairs


@dataclass(frozen=True, slots=True, eq=False)
class Training:
    """What to train, and where to keep its state."""

    model: ImplicitMF  # not fitted yet
    data: Interactions
    until: float | None
    checkpoint: Path | None
    every: float | None
    options: Mapping[str, Any]  # of the command, which the checkpoint keeps
    resumed: Checkpoint | None = None
    features: SideFeatures = NO_FEATURES
    cluster: RayCluster | None = None

    def run(self, stopping: Stopping) -> tuple[ImplicitMF, dict[str, Any] | None]:
        """Train, and return the model and how its number of epochs was found."""
        found = None if self.resumed is None else self.resumed.job.note.get(FOUND)
        if stopping.early_stop is None or found is not None:
            return self._fitted(self.data), found
        found = self._search(stopping)
        return self._second_part(found)._fitted(self.data), found

    def _search(self, stopping: Stopping) -> dict[str, Any]:
        """Find the best number of epochs on part of the data."""
        parts = splits.random(self.data, test_share=HELD_OUT)
        callback = stopping.on(parts.test)
        held: AbstractContextManager[Interactions] = nullcontext(parts.train)
        if self.cluster is not None and self.data.file is not None:
            held = in_file_beside(self.data.file.path, parts.train)
        with held as train:
            self._fitted(train, callback)
        return found_by(callback)

    def _second_part(self, found: dict[str, Any]) -> Training:
        """Make the training on all of the data."""
        settings = {**self.model.get_params(deep=False), "epochs": found["best_epoch"]}
        return replace(
            self,
            model=ImplicitMF(**settings),
            until=None,
            every=self.every if self.resumed is None else self.resumed.job.every,
            options={**self.options, FOUND: found},
            resumed=None,
        )

    def _fitted(self, data: Interactions, *callbacks: Callback) -> ImplicitMF:
        if self.resumed is not None:
            path, threads = self.resumed.path, self.model.threads
            users, items = self.features
            return ImplicitMF.resume(
                path,
                data,
                user_features=users,
                item_features=items,
                callbacks=callbacks,
                threads=threads,
                cluster=self.cluster,
            )
        return fit_with_note(
            self.model,
            data,
            until=self.until,
            checkpoint=self.checkpoint,
            every=self.every,
            note=self.options,
            callbacks=callbacks,
            cluster=self.cluster,
            features=self.features,
        )
