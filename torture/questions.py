"""Everything that a model can be asked."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from pathlib import Path
from random import Random
from typing import Any

from ialspp import ImplicitMF, Interactions


def questions(
    model: ImplicitMF, ids: Sequence[Any], news: Interactions, target: Path, random: Random
) -> Iterator[tuple[str, Callable[[], Any]]]:
    """List the questions about these ids, which the model may not know; `target`: a file to save it to."""
    one, other = random.choice(ids), random.choice(ids)
    yield "repr", lambda: repr(model)
    yield "recommend all", lambda: list(model.recommend(k=3, progress=False))
    yield "recommend one", lambda: model.recommend(one, exclude=[other])
    yield "recommend unfiltered", lambda: list(model.recommend([one, other], 2, exclude_seen=False))
    yield "recommend_for", lambda: list(model.recommend_for([[one, other], []]))
    yield "similar_items", lambda: list(model.similar_items([one, other], 2))
    yield "similar_users", lambda: list(model.similar_users([one], metric="dot"))
    yield "explain", lambda: model.explain(one, other)
    yield "fold_in", lambda: model.fold_in([[one], ids])
    yield "fold_in_items", lambda: model.fold_in_items([[one], ids])
    yield "ids", lambda: (list(model.users), list(model.items), one in model.users)
    yield "names", lambda: (model.recommend(one).names, model.explain(one, other).names)
    yield "labels", lambda: [axis.labels(range(len(axis))) for axis in (model.users, model.items)]
    yield "search", lambda: [axis.search("e", 3) for axis in (model.users, model.items)]
    if random.random() < 0.05:  # these write, or take long
        yield "frame", lambda: model.recommend([one], 2).to_frame()
        yield "trained_on", lambda: model.trained_on and model.trained_on.statistics()
        yield "save", lambda: model.save(target)
        yield "copy", lambda: model.__getstate__()
    yield "update", lambda: model.update(news, progress=False)
    yield "recommend after update", lambda: list(model.recommend(k=3, progress=False))
