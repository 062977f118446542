"""What a service counts, in the text format of Prometheus.

All workers count in one piece of shared memory, each in a part of its own, so that none waits for another.
Any worker adds up the parts when it is asked: the sums are those of the whole service. What belongs to one
worker, such as the model that it serves, has a label `worker`. A worker that is started anew goes on with the
counts of the one before.
"""

from __future__ import annotations

import mmap
import time
from bisect import bisect_left
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import numpy as np

ROUTES = (
    "/v1/recommend",
    "/v1/recommend/batch",
    "/v1/similar/{item}",
    "/v1/similar",
    "/v1/explain",
    "/v1/items",
    "/v1/users",
    "/v1/users/{user}/history",
    "/v1/map",
    "/v1/model",
    "/v1/reload",
    "/health/live",
    "/health/ready",
    "/metrics",
    "/docs",
    "/openapi.json",
    "/",
    "other",
)
STATUSES = (200, 400, 401, 403, 404, 405, 409, 413, 422, 500, 503, 0)  # 0: any other
BOUNDS = (0.0005, 0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1.0, 2.5, 5.0, 10.0)
LAYOUT = np.dtype(
    [
        ("requests", "f8", (len(ROUTES), len(STATUSES))),
        ("buckets", "f8", (len(ROUTES), len(BOUNDS) + 1)),
        ("seconds", "f8", len(ROUTES)),
        ("groups", "f8"),
        ("ranked", "f8"),
        ("reloads", "f8", 2),  # that worked, that failed
        ("written", "f8"),  # the model's file, in Unix seconds
        ("loaded", "f8"),
        ("is_stale", "f8"),  # 1 if the newest file could not be loaded
        ("checksum", "S16"),
    ]
)
_ROUTES = {route: number for number, route in enumerate(ROUTES)}
_STATUSES = {status: number for number, status in enumerate(STATUSES)}


class Metrics:
    """The counts of one worker, and the sums of all of them."""

    def __init__(self, workers: int = 1, worker: int = 0, shared: Path | None = None) -> None:
        size = workers * LAYOUT.itemsize
        if shared is None:
            memory = mmap.mmap(-1, size)
        else:
            with shared.open("r+b") as file:
                memory = mmap.mmap(file.fileno(), size)
        self._all = np.frombuffer(memory, dtype=LAYOUT)
        own = self._all[worker]
        self._requests, self._buckets, self._seconds = own["requests"], own["buckets"], own["seconds"]
        self._own = self._all[worker : worker + 1]  # of which a field is an array, so that it can be set

    @staticmethod
    def make_shared(path: Path, workers: int) -> None:
        """Make the file that the workers share."""
        path.write_bytes(bytes(workers * LAYOUT.itemsize))

    def count(self, route: str, status: int, seconds: float) -> None:
        """Count a request and the time that its answer took."""
        number = _ROUTES.get(route, len(ROUTES) - 1)
        self._requests[number, _STATUSES.get(status, len(STATUSES) - 1)] += 1
        self._buckets[number, bisect_left(BOUNDS, seconds)] += 1
        self._seconds[number] += seconds

    def count_group(self, size: int) -> None:
        """Count requests that are ranked together."""
        self._own["groups"] += 1
        self._own["ranked"] += size

    def count_reload(self, *, worked: bool) -> None:
        """Count an attempt to load the model file again."""
        self._own["reloads"][0, int(not worked)] += 1
        self._own["is_stale"] = not worked

    def set_model(self, checksum: str, written: float, loaded: float) -> None:
        """Note which model is served."""
        self._own["checksum"], self._own["written"], self._own["loaded"] = checksum, written, loaded
        self._own["is_stale"] = 0

    def text(self) -> str:
        """Write everything in the format of Prometheus."""
        return "".join(f"{line}\n" for line in (*self._request_lines(), *self._model_lines()))

    def _request_lines(self) -> Iterator[str]:
        requests = self._all["requests"].sum(axis=0)
        yield from _heading("ialspp_requests_total", "counter", "Requests by route and status.")
        for route, status in zip(*np.nonzero(requests), strict=True):
            code = STATUSES[status] or "other"
            yield _line("ialspp_requests_total", requests[route, status], route=ROUTES[route], status=code)
        name = "ialspp_request_seconds"
        yield from _heading(name, "histogram", "Time from a request to its answer.")
        buckets, seconds = self._all["buckets"].sum(axis=0), self._all["seconds"].sum(axis=0)
        for number in np.flatnonzero(buckets.sum(axis=1)):
            route, upto = ROUTES[number], np.cumsum(buckets[number])
            for bound, count in zip((*BOUNDS, "+Inf"), upto, strict=True):
                yield _line(f"{name}_bucket", count, route=route, le=bound)
            yield _line(f"{name}_sum", seconds[number], route=route)
            yield _line(f"{name}_count", upto[-1], route=route)
        yield from _heading(
            "ialspp_ranked_total", "counter", "Requests for recommendations that were ranked."
        )
        yield _line("ialspp_ranked_total", self._all["ranked"].sum())
        yield from _heading("ialspp_groups_total", "counter", "Groups of requests that were ranked together.")
        yield _line("ialspp_groups_total", self._all["groups"].sum())

    def _model_lines(self) -> Iterator[str]:
        yield from _heading("ialspp_reloads_total", "counter", "Attempts to load the model file again.")
        for number, result in enumerate(("ok", "failed")):
            yield _line("ialspp_reloads_total", self._all["reloads"][:, number].sum(), result=result)
        now = time.time()
        serving = [(number, each) for number, each in enumerate(self._all) if each["loaded"]]
        gauges: list[tuple[str, str, Callable[[Any], float]]] = [
            ("info", "The model that a worker serves.", lambda each: each["loaded"] > 0),
            ("age_seconds", "Time since its file was written.", lambda each: now - each["written"]),
            ("loaded_seconds", "Time since it was loaded.", lambda each: now - each["loaded"]),
            ("stale", "1 if a newer file could not be loaded.", lambda each: each["is_stale"]),
        ]
        for name, meaning, value_of in gauges:
            yield from _heading(f"ialspp_model_{name}", "gauge", meaning)
            for number, each in serving:
                labels = {"checksum": each["checksum"].decode()} if name == "info" else {}
                yield _line(f"ialspp_model_{name}", value_of(each), worker=number, **labels)


def _heading(name: str, kind: str, meaning: str) -> Iterator[str]:
    yield f"# HELP {name} {meaning}"
    yield f"# TYPE {name} {kind}"


def _line(name: str, value: float, **labels: object) -> str:
    shown = ",".join(f'{label}="{text}"' for label, text in labels.items())
    return f"{name}{{{shown}}} {float(value):.17g}" if shown else f"{name} {float(value):.17g}"
