"""How far up the Gowalla leaderboard: a search over d, lambda, alpha0 and epochs, in LightGCN's split.

Settings are chosen by Recall@20 on a tenth of the training pairs, drawn at random; the test pairs
are asked for once for each d, by a model with the chosen settings trained on all pairs. Each result is
a line of the file --out as soon as it is there; a run that was stopped goes on where it was.

    python benchmarks/gowalla.py ../shared/data/gowalla --dims 128 256
"""

from __future__ import annotations

import argparse
import itertools
import json
import time
from pathlib import Path
from typing import Any

from ialspp import ImplicitMF, Objective, datasets, evaluate, split
from ialspp.split import Split

EPOCHS = (4, 6, 8, 12)  # of which the best is chosen; one fit passes through all
METRICS = ("recall@20", "ndcg@20")
Result = dict[str, Any]


def main() -> None:
    arguments = parse()
    test = datasets.lightgcn(arguments.data)
    validation = split.random(test.train, test_share=0.1, seed=0)
    results = Results(arguments.out)
    for dim in arguments.dims:
        for regularization, weight in itertools.product(arguments.regularization, arguments.weight):
            settings = {"dim": dim, "regularization": regularization, "unobserved_weight": weight}
            results.add("validation", settings, lambda s=settings: passed_through(validation, **s))
        best = results.best(dim)
        chosen = {name: best[name] for name in ("dim", "regularization", "unobserved_weight", "epochs")}
        results.add("test", chosen, lambda s=chosen: [measured(test, **s)])
    print(results.table(arguments.dims))


def parse() -> argparse.Namespace:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("data", type=Path, help="a folder with train.txt and test.txt")
    parser.add_argument("--dims", type=int, nargs="+", default=[128, 256, 512, 1024])
    parser.add_argument("--regularization", type=float, nargs="+", default=[0.002, 0.004, 0.006, 0.009])
    parser.add_argument("--weight", type=float, nargs="+", default=[0.005, 0.01, 0.02])
    parser.add_argument("--out", type=Path, default=Path("build/gowalla.jsonl"))
    return parser.parse_args()


def passed_through(parts: Split, **settings: Any) -> list[Result]:
    """One fit, evaluated at several numbers of epochs."""
    found: list[Result] = []
    spent = 0.0

    def look(model: ImplicitMF, record: Any) -> None:
        nonlocal spent
        spent += record.seconds
        if record.epoch in EPOCHS:
            found.append({"epochs": record.epoch, "fit_seconds": spent, **scores(model, parts)})

    model_of(epochs=EPOCHS[-1], **settings).fit(parts.train, callbacks=[look], progress=False)
    return found


def measured(parts: Split, *, epochs: int, **settings: Any) -> Result:
    start = time.perf_counter()
    model = model_of(epochs=epochs, **settings).fit(parts.train, progress=False)
    return {"fit_seconds": time.perf_counter() - start, **scores(model, parts)}


def model_of(*, dim: int, regularization: float, unobserved_weight: float, epochs: int) -> ImplicitMF:
    objective = Objective(regularization=regularization, unobserved_weight=unobserved_weight)
    return ImplicitMF(dim, objective=objective, epochs=epochs, seed=0)


def scores(model: ImplicitMF, parts: Split) -> Result:
    found = evaluate(model, parts, metrics=METRICS, progress=False)
    return {name: found[name].mean for name in METRICS}


class Results:
    """Lines of a file, one for each result."""

    def __init__(self, path: Path) -> None:
        self.path = path
        path.parent.mkdir(parents=True, exist_ok=True)
        self.rows = [json.loads(line) for line in path.read_text().splitlines()] if path.exists() else []

    def add(self, part: str, settings: Result, run: Any) -> None:
        """Unless it is there already."""
        if any(row["part"] == part and settings.items() <= row.items() for row in self.rows):
            return
        rows = [{"part": part, **settings, **result} for result in run()]
        with self.path.open("a") as file:
            for row in rows:
                print(json.dumps(row), file=file)
                print(json.dumps(row), flush=True)
        self.rows += rows

    def best(self, dim: int) -> Result:
        tried = [row for row in self.rows if row["part"] == "validation" and row["dim"] == dim]
        return max(tried, key=lambda row: row["recall@20"])

    def table(self, dims: list[int]) -> str:
        lines = [
            "| d | lambda | alpha0 | epochs | validation | Recall@20 | NDCG@20 | fit, s |",
            "|" + "---|" * 8,
        ]
        for dim in dims:
            chosen = self.best(dim)
            row = next(
                row
                for row in self.rows
                if row["part"] == "test"
                and all(row[name] == chosen[name] for name in ("dim", "regularization", "unobserved_weight"))
            )
            settings = f"{dim} | {row['regularization']} | {row['unobserved_weight']} | {row['epochs']}"
            lines.append(
                f"| {settings} | {chosen['recall@20']:.4f} | {row['recall@20']:.4f} | {row['ndcg@20']:.4f} | "
                f"{row['fit_seconds']:.0f} |"
            )
        return "\n".join(lines)


if __name__ == "__main__":
    main()
