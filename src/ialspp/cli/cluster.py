"""--ray: train, rank and evaluate on a Ray cluster."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import AbstractContextManager, ExitStack, contextmanager, nullcontext, suppress
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Annotated, Any, ClassVar

import typer

from ..cluster import RayCluster
from ..cluster.needs import Estimate
from ..data.interactions import Interactions
from ..errors import InvalidValueError
from ..files.leftovers import finished_name, in_use, sweep, unfinished_name
from .output import size
from .source import Source

MOST_NODES = 8  # that are shown one by one; JSON has all of them


@dataclass(frozen=True, slots=True)
class ClusterOptions:
    """Where to work; None where an option was not given."""

    panel: ClassVar[str] = "Cluster"

    ray: Annotated[
        str | None,
        typer.Option(
            metavar="ADDRESS",
            help='Work on a Ray cluster: "auto" is the one this machine is part of, "local" a new one here.',
        ),
    ] = None
    workers: Annotated[
        int | None, typer.Option(help="--ray: processes on all nodes together. Default: one on each node.")
    ] = None

    def make(self, threads: int | None) -> RayCluster | None:
        """Make the cluster; None without --ray."""
        if self.ray is None:
            if self.workers is not None:
                raise InvalidValueError("--workers is for --ray, which was not given")
            return None
        return RayCluster(address=self.ray, workers=self.workers, threads=threads)


@dataclass(frozen=True, slots=True)
class TrainingCluster(ClusterOptions):
    """Where to train."""

    fetch: Annotated[
        str | None,
        typer.Option(
            metavar="WHAT",
            help="--ray: what a node fetches of the side that is held fixed: side (all of it), or rows "
            "(those that it needs, which takes less memory). Default: auto, side where there is room.",
        ),
    ] = None
    push_to: Annotated[
        str | None,
        typer.Option(
            metavar="FOLDER",
            help="--ray: send the data to this folder of every node, once. Default: all nodes read its path.",
        ),
    ] = None

    def for_training(self, source: Source, threads: int | None) -> RayCluster | None:
        """Make the cluster, or raise an error for what it cannot train on; None without --ray."""
        cluster = self.make(threads)
        if cluster is None:
            for name, value in (("--fetch", self.fetch), ("--push-to", self.push_to)):
                if value is not None:
                    raise InvalidValueError(f"{name} is for --ray, which was not given")
            return None
        if not source.is_prepared:
            raise InvalidValueError(
                f"--ray trains on the file of `ialspp prepare`, under a path that every node can read, or "
                f"sent to them with --push-to; "
                f"{source.source} is not one"
            )
        fetch: Any = "auto" if self.fetch is None else self.fetch  # checked there
        return replace(cluster, fetch=fetch, push_to=self.push_to)

    @contextmanager
    def readable(self, data: Interactions, source: Source) -> Iterator[Interactions]:
        """Give the data to train on: for --ray in a file, beside that of the source if it is not the same."""
        if self.ray is None or data.file is not None:
            yield data
        else:
            with in_file_beside(Path(source.source), data) as saved:
                yield saved


def shown_cluster(facts: dict[str, Any]) -> str:
    """Describe in words what a fit took of its cluster."""
    received = facts["received"]
    moved = (
        f"{size(max(received.values()))} to the busiest of {len(received)} nodes" if received else "nothing"
    )
    lost = f", {facts['lost']} workers lost" if facts["lost"] else ""
    started = f"started in {facts['seconds_to_start']:.1f} s"
    return f"{Estimate(**facts['estimate'])}; {started}, moved {moved}{lost}"


def shown_nodes(nodes: dict[str, Any]) -> dict[str, str]:
    """Describe in words what each of a few nodes has done."""
    if not 0 < len(nodes) <= MOST_NODES:
        return {}
    told = [
        f"{node['name']} {node['rows']:,} rows, {node['rows_per_second']:,.0f} a second"
        for node in nodes.values()
    ]
    return {"nodes": "; ".join(told)}


@contextmanager
def in_file_beside(path: Path, data: Interactions) -> Iterator[Interactions]:
    """Write data that was made from a file beside it, where nodes can read it, for the time of a block.

    What a killed process leaves of it is removed by the next one.
    """
    whole = finished_name(path.absolute())
    part = whole.with_name(f"{whole.stem}.part{whole.suffix}")  # so that `sweep` leaves what `whole` becomes
    sweep(part)
    file = unfinished_name(part)
    try:
        with ExitStack() as held:
            _save_in_use(data, file, held)
            yield Interactions.open(file)
    finally:
        file.unlink(missing_ok=True)


def _save_in_use(data: Interactions, file: Path, held: ExitStack) -> None:
    """Save data, and keep others from removing the file. One may do so before it is locked: save it again."""
    while True:
        data.save(file)
        with suppress(FileNotFoundError):
            held.enter_context(in_use(file))
            return


def sharing_workers(cluster: RayCluster | None) -> AbstractContextManager[RayCluster | None]:
    """Keep the workers of a cluster, if there is one, from one call to the next."""
    return nullcontext() if cluster is None else cluster
