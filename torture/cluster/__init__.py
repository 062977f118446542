"""Kill workers, whole nodes and raylets of a Ray cluster while it trains, and let new nodes join.

The cluster is several nodes of Ray on this machine. A try is one kill or one node that joins, at a drawn
moment of a fit. Every fit ends, and has the bits of a fit on one machine.
"""

from __future__ import annotations

import random
import threading
from pathlib import Path
from typing import Any

import numpy as np

from ialspp import IALS, IALSpp, ImplicitMF, Interactions, SpectralCG
from ialspp.cluster import RayCluster
from torture.cluster.arena import Arena
from torture.tally import Tally

FULL = 60
SOLVERS = (SpectralCG(), SpectralCG(precision="mixed"), IALS(), IALSpp())
EPOCHS = 6
EVENTS = 5  # of a fit
PAUSE = (0.0, 2.0)  # seconds before an event


def attack(tries: int, seed: int, folder: Path) -> Tally:
    """Disturb fits until there were so many kills and joins."""
    tally, draw = Tally(), random.Random(seed)
    data = _data(seed, folder / "events.ialsdata")
    with Arena(draw) as arena:
        while sum(arena.events.values()) < tries:
            _attack_fit(arena, draw, data, tally)
        tally.counts.update(arena.events)
    return tally


def _attack_fit(arena: Arena, draw: random.Random, data: Interactions, tally: Tally) -> None:
    model = ImplicitMF(draw.choice((3, 16, 33)), solver=draw.choice(SOLVERS), epochs=EPOCHS)
    wanted = ImplicitMF(**model.get_params(deep=False)).fit(data, progress=False)
    cluster = RayCluster(workers=draw.choice((None, 2, 3)), fetch=draw.choice(("side", "rows")))
    begun, over = threading.Event(), threading.Event()
    pauses = [draw.uniform(*PAUSE) for _ in range(EVENTS)]

    def fit() -> None:
        try:
            model.fit(data, cluster=cluster, callbacks=[lambda *_: begun.set()], progress=False)
        except Exception as error:
            tally.fault(f"{model!r} on {cluster!r}: {error!r}")
        finally:
            begun.set()
            over.set()

    fitting = threading.Thread(target=fit)  # not the events: Ray starts a node in the main thread only
    fitting.start()
    begun.wait()
    arena.disturb(pauses, over)
    fitting.join()
    tally.counts["fits"] += 1
    tally.counts["workers lost"] += cluster.lost
    same = [np.array_equal(*sides) for sides in _both(model, wanted)] if model.history else [False]
    if not all(same) or [one.loss for one in model.history] != [one.loss for one in wanted.history]:
        tally.fault(f"{model!r} on {cluster!r}: other bits than on one machine")


def _both(model: ImplicitMF, wanted: ImplicitMF) -> list[tuple[Any, Any]]:
    return [(model.user_factors, wanted.user_factors), (model.item_factors, wanted.item_factors)]


def _data(seed: int, path: Path) -> Interactions:
    rng, n = np.random.default_rng(seed), 60_000
    users, items = rng.integers(0, 4000, n), np.minimum(rng.pareto(0.8, n) * 30, 800).astype(int)
    Interactions.from_arrays(user=users, item=items).save(path)
    return Interactions.open(path)
