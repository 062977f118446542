"""The demo's claim: on real groceries the model clearly beats naming what is popular."""

import importlib.util
from pathlib import Path

DEMO = Path(__file__).resolve().parents[1] / "examples" / "demo.py"


def test_the_model_of_the_demo_clearly_beats_the_most_popular():
    spec = importlib.util.spec_from_file_location("demo", DEMO)
    demo = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(demo)
    assert len(demo.product_names()) > 90_000
    parts = demo.make_split()
    assert len(parts.train) > 600_000
    results = demo.compare(demo.make_model().fit(parts.train), parts)
    for metric, ours in results["ialspp"].scores.items():
        assert ours.mean > 1.25 * results["most popular"][metric].mean
        assert results["most popular"][metric].mean > 10 * results["random"][metric].mean
