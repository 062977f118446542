"""ialspp serve: a model behind HTTP."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import Annotated, ClassVar

import typer

from ..serving import Limits, Settings, is_open_to_others, key_for
from .output import remark
from .queries import ModelArgument

DEFAULT = Limits()


@dataclass(frozen=True)
class LimitOptions:
    """What one request may ask for."""

    panel: ClassVar[str] = "Limits of one request"

    max_body: Annotated[int, typer.Option(help="Bytes of its body.")] = DEFAULT.body
    max_k: Annotated[int, typer.Option(help="Items of an answer, with those that offset skips.")] = DEFAULT.k
    max_ids: Annotated[int, typer.Option(help="Ids of one list.")] = DEFAULT.ids
    max_batch: Annotated[int, typer.Option(help="Requests of a batch.")] = DEFAULT.batch
    max_seconds: Annotated[float, typer.Option(help="Seconds until its answer.")] = DEFAULT.seconds
    max_waiting: Annotated[int, typer.Option(help="Requests that wait; more are refused.")] = DEFAULT.waiting

    def make(self) -> Limits:
        """Make the limits."""
        return Limits(
            body=self.max_body,
            k=self.max_k,
            ids=self.max_ids,
            batch=self.max_batch,
            seconds=self.max_seconds,
            waiting=self.max_waiting,
        )


def serve(
    model: ModelArgument,
    limits: LimitOptions,
    host: Annotated[str, typer.Option(help="The address to listen on.")] = "127.0.0.1",
    port: Annotated[int, typer.Option(help="The port; 0 takes a free one.")] = 8000,
    workers: Annotated[int, typer.Option(help="Processes that answer.")] = 1,
    threads: Annotated[
        int | None, typer.Option(help="Threads of a worker. Default: all CPUs, divided by the workers.")
    ] = None,
    key_file: Annotated[
        Path | None, typer.Option(metavar="FILE", help="A file with the key that clients must show.")
    ] = None,
    no_key: Annotated[
        bool, typer.Option("--no-key", help="Answer everyone who can reach the service.")
    ] = False,
    watch: Annotated[
        float, typer.Option(help="Seconds between looks at the file, to load a new one; 0: never.")
    ] = 1.0,
    access_log: Annotated[
        Path | None, typer.Option(metavar="FILE", help="Append a line of JSON for each request; - is stdout.")
    ] = None,
) -> None:
    """Serve a model over HTTP: recommendations, similar items, explanations, and a page to play with.

    The file is loaded again when it is replaced, on SIGHUP, and by POST /v1/reload.

    Example: ialspp serve films.ialspp --port 8000
    """
    from ..serving import serve as run

    settings = Settings(
        model=model,
        host=host,
        port=port,
        key=key_for(host, key_file, no_key),
        local_only=not no_key,
        workers=workers,
        threads=threads,
        watch=watch or None,
        access_log=access_log,
        limits=limits.make(),
    )
    if key_file is not None and is_open_to_others(key_file):
        remark(f"{key_file} can be read by other users of this machine: chmod 600 {key_file}")
    run(settings, lambda known: remark(f"{known.url} serves {model}; {known.url}/docs tells how to ask"))
