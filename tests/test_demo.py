"""The demo's claim: on real groceries the model clearly beats naming what is popular."""

import importlib.util
from pathlib import Path

DEMO = Path(__file__).resolve().parents[1] / "examples" / "demo.py"


def test_the_model_of_the_demo_clearly_beats_the_most_popular():
    spec = importlib.util.spec_from_file_location("demo", DEMO)
    demo = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(demo)
    purchases, names = demo.read()
    assert len(purchases) > 1_400_000
    assert len(names) > 90_000
    data = demo.training_data(purchases)
    results = demo.compare(demo.make_model().fit(data), data, demo.held_out(purchases, data))
    for ours, popular in zip(results["iALS++"], results["most popular"], strict=True):
        assert ours > 1.5 * popular
