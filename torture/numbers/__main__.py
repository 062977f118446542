"""The tries of one process: python -m torture.numbers SEED FIRST END"""

from __future__ import annotations

import warnings
from collections.abc import Callable, Iterator
from typing import Any

import numpy as np

from ialspp import IalsppError, ImplicitMF, Interactions, WeightWarning, _core
from ialspp.model.explanation import Explanation
from ialspp.model.history import EpochRecord
from ialspp.model.ranking import Rankings
from torture.children import Report, serve
from torture.numbers.cases import Case, draw
from torture.numbers.rounding import Judge, Moment


def attempt(seed: int, number: int, report: Report) -> None:
    """Train one model and query it."""
    case = draw(seed, number)
    _core.select_isa(case.isa)
    for fault in faults_of(case, report):
        report.fault(f"{fault} [case {number} of seed {seed}: {case}]")


def faults_of(case: Case, report: Report) -> Iterator[str]:
    """Train the model, watch its loss, and query it."""
    try:
        watch = Watch(case)
        case.model.fit(case.data, callbacks=[watch], progress=False)
        report.count("trained")
    except IalsppError as error:
        report.count(f"training refused ({type(error).__name__})")
        return
    except Exception as error:
        yield f"fit raised {error!r}"
        return
    yield from watch.faults
    yield from _faults_of_queries(case.model, case.data, report)


class Watch:
    """A callback of `fit` that judges every epoch."""

    def __init__(self, case: Case) -> None:
        self.faults: list[str] = []
        self._judge = Judge(case.data, case.model.objective)
        self._before = _moment(*case.model.initial_factors(case.data), "single")

    def __call__(self, model: ImplicitMF, record: EpochRecord) -> None:
        """Judge one epoch."""
        after = _moment(model.user_factors, model.item_factors, record.precision)
        if np.isfinite(after.W).all() and np.isfinite(after.H).all():
            self.faults += self._judge.faults(self._before, after, record)
        else:
            self.faults.append(f"factors are not finite after epoch {record.epoch}")
        self._before = after


def _moment(W: Any, H: Any, precision: str) -> Moment:
    return Moment(W.astype(float), H.astype(float), precision)


def _faults_of_queries(model: ImplicitMF, data: Interactions, report: Report) -> Iterator[str]:
    for name, query in _queries(model, data).items():
        try:
            numbers = np.asarray(query(), dtype=float)
        except IalsppError as error:
            report.count(f"query refused ({type(error).__name__})")
        except Exception as error:
            yield f"{name} raised {error!r}"
        else:
            report.count("queries answered")
            if not np.isfinite(numbers).all():
                yield f"{name} answered {numbers[~np.isfinite(numbers)][0]}"


def _queries(model: ImplicitMF, data: Interactions) -> dict[str, Callable[[], Any]]:
    """Return queries by name; the result of each is its numbers."""
    rows = data.by_user
    own = slice(rows.offsets[0], rows.offsets[1])  # the history of the first user, who may have none
    history = rows.columns[own].tolist()
    numbers: dict[str, Any] = {
        name: [values[own].tolist()]
        for name, values in (("weights", rows.weights), ("labels", rows.labels))
        if values is not None
    }
    return {
        "fold_in": lambda: model.fold_in([history], **numbers),
        "fold_in_items": lambda: model.fold_in_items([range(data.n_users), []]),
        "recommend": lambda: _scores(model.recommend(exclude_seen=False)),
        "recommend_for": lambda: _scores(model.recommend_for([history], **numbers)),
        "similar_items": lambda: _scores(model.similar_items(range(data.n_items))),
        "similar_users": lambda: _scores(model.similar_users(range(data.n_users), metric="dot")),
        "explain": lambda: _contributions(model.explain(0, data.n_items - 1)),
        "update": lambda: model.update(data) and np.concatenate([model.user_factors, model.item_factors]),
    }


def _scores(rankings: Rankings) -> list[float]:
    return [score for ranking in rankings for score in ranking.scores]


def _contributions(explanation: Explanation) -> list[float]:
    return [explanation.score, explanation.rest, *(amount for _, amount in explanation)]


if __name__ == "__main__":
    warnings.simplefilter("error")
    warnings.simplefilter("ignore", WeightWarning)  # hostile weights are the point
    serve(attempt)
