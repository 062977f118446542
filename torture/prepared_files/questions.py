"""Everything that data can be asked, and everything that it can be used for."""

from __future__ import annotations

import pickle
from collections.abc import Callable, Iterator
from pathlib import Path
from random import Random
from typing import Any, Literal

from ialspp import ImplicitMF, Interactions, split
from ialspp.data.fingerprint import Fingerprint
from ialspp.evaluation import evaluate
from ialspp.solvers import SOLVERS
from ialspp.split import Split


def data_questions(
    data: Interactions, target: Path, random: Random
) -> Iterator[tuple[str, Callable[[], Any]]]:
    """List the questions; `target`: a file to save the data to."""
    yield "repr", lambda: (repr(data), len(data), data.n_users, data.n_items)
    yield "statistics", data.statistics
    yield "ids", lambda: [(list(axis), axis.labels(range(len(axis)))) for axis in (data.users, data.items)]
    yield "by_item", lambda: (data.by_item.counts, data.by_item.column_counts)
    yield "item_ranks", lambda: data.item_ranks
    yield "core", lambda: data.core(random.randrange(4), random.randrange(4))
    yield "fingerprint", lambda: Fingerprint.of(data)
    if random.random() < 0.2:
        yield "split", lambda: drawn_split(data, random)
        yield "evaluate", lambda: evaluated(drawn_split(data, random), random)
        yield "with_names", lambda: data.with_names(items=[str(item) for item in data.items])
        yield "pickle", lambda: pickle.loads(pickle.dumps(data))
        yield "save", lambda: saved_and_opened(data, target)


def fits(data: Interactions, random: Random) -> ImplicitMF:
    """Train a small model on the data, with any solver from any start."""
    solver = random.choice(list(SOLVERS.values()))()
    init: Literal["spectral", "random"] = random.choice(("spectral", "random"))
    return ImplicitMF(2, solver=solver, init=init, epochs=2, threads=1).fit(data, progress=False)


def drawn_split(data: Interactions, random: Random) -> Split:
    """Split the data in one of the ways that there are."""
    ways: tuple[Callable[[], Split], ...] = (
        lambda: split.strong(data, min_user=1, held_out=1, seed=random.randrange(99)),
        lambda: split.last_days(data, 1),
        lambda: split.last_item(data),
        lambda: split.random(data, test_share=0.3),
        lambda: split.leave_one_out(data, negatives=2),
    )
    return random.choice(ways)()


def evaluated(parts: Split, random: Random) -> Any:
    """Train on one part, and evaluate on the other."""
    return evaluate(fits(parts.train, random), parts)


def saved_and_opened(data: Interactions, target: Path) -> Interactions:
    """Save data, which must then open: nothing unsound gets fresh checksums."""
    data.save(target)
    try:
        return Interactions.open(target, verify=True)
    except Exception as error:
        raise AssertionError("it was saved, and does not open again") from error
