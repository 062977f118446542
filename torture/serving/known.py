"""Models whose answers to some requests are known beforehand."""

from __future__ import annotations

import json
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from ialspp import ImplicitMF
from torture.load.known_states import K, first_model, news

MODELS = 3
HISTORY = ["i1", "i5", "i7"]
USERS = [f"u{number}" for number in range(8)]


@dataclass(frozen=True)
class Known:
    """A model file, what its answers carry, and what they are: {(path, body): pairs of id and score}."""

    path: Path
    checksum: str
    answers: dict[tuple[str, str], list[Any]]


def known_models(seed: int, folder: Path) -> list[Known]:
    """Train a model and update it a few times; save and describe each state."""
    model, known = first_model(seed), []
    for number in range(MODELS):
        if number:
            model.update(news(seed, number), progress=False)
        path = folder / f"{number}.ialspp"
        model.save(path)
        known.append(_known(path))
    assert len({each.checksum for each in known}) == MODELS
    return known


def _known(path: Path) -> Known:
    model = ImplicitMF.load(path)
    info = model.file_info
    assert info is not None
    answers: dict[tuple[str, str], list[Any]] = {}
    for user in USERS:
        answers["/v1/recommend", json.dumps({"user": user, "k": K})] = [_pairs(model.recommend(user, K))]
    folded = _pairs(model.recommend_for([HISTORY], K)[0])
    answers["/v1/recommend", json.dumps({"items": HISTORY, "k": K})] = [folded]
    batch = {"requests": [{"user": USERS[0], "k": K}, {"items": HISTORY, "k": K}, {"user": USERS[1], "k": K}]}
    ranked = [_pairs(model.recommend(USERS[0], K)), folded, _pairs(model.recommend(USERS[1], K))]
    answers["/v1/recommend/batch", json.dumps(batch)] = ranked
    answers[f"/v1/similar/{HISTORY[0]}?k={K}", ""] = [_pairs(model.similar_items(HISTORY[0], K))]
    return Known(path, info["checksum"], answers)


def _pairs(ranking: Any) -> list[tuple[str, float]]:
    return list(zip(ranking, ranking.scores, strict=True))


def pairs_of(answer: dict[str, Any]) -> list[Any]:
    """Return the pairs of id and score of an answer, or of each answer to a batch."""
    lists = [each["items"] for each in answer.get("answers", [answer])]
    return [[(item["id"], item["score"]) for item in items] for items in lists]
