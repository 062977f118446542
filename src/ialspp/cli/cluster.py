"""ialspp fit --ray: train on a Ray cluster."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Annotated, Any, ClassVar

import typer

from ..cluster import RayCluster
from ..data.interactions import Interactions
from ..errors import InvalidValueError
from .output import size
from .source import Source
from .stopping import Stopping


@dataclass(frozen=True, slots=True)
class ClusterOptions:
    """Where to train; None where an option was not given."""

    panel: ClassVar[str] = "Cluster"

    ray: Annotated[
        str | None,
        typer.Option(
            metavar="ADDRESS",
            help='Train on a Ray cluster: "auto" is the one this machine is part of, "local" a new one here.',
        ),
    ] = None
    workers: Annotated[
        int | None, typer.Option(help="--ray: processes on all nodes together. Default: one on each node.")
    ] = None

    def make(self, source: Source, stopping: Stopping, threads: int | None) -> RayCluster | None:
        """Make the cluster, or raise an error for what it cannot train on; None without --ray."""
        if self.ray is None:
            if self.workers is not None:
                raise InvalidValueError("--workers is for --ray, which was not given")
            return None
        if not source.is_prepared:
            raise InvalidValueError(
                f"--ray trains on the file of `ialspp prepare`, under a path that every node can read; "
                f"{source.source} is not one"
            )
        if stopping.early_stop is not None:
            raise InvalidValueError("--early-stop trains on a part of the data in memory; leave out --ray")
        return RayCluster(address=self.ray, workers=self.workers, threads=threads)

    def check(self, data: Interactions) -> None:
        """Raise an error if the data is not the file any more."""
        if self.ray is not None and data.file is None:
            raise InvalidValueError(
                "--ray trains on a file as it is, and --min-user and --min-item leave out some of its users "
                "or items; give them to `ialspp prepare`"
            )


def shown_cluster(facts: dict[str, Any]) -> str:
    """Describe in words what a fit took of its cluster."""
    received = facts["received"]
    moved = (
        f"{size(max(received.values()))} to the busiest of {len(received)} nodes" if received else "nothing"
    )
    lost = f", {facts['lost']} workers lost" if facts["lost"] else ""
    return f"started in {facts['seconds_to_start']:.1f} s, moved {moved}{lost}"
