"""The page of `write_page` in a real browser, from the file system: Python judges its answers."""

import numpy as np
import pytest
from support.explorable import HOSTILE, make_data, make_model, old_file

from ialspp import ImplicitMF, Interactions, Objective
from ialspp.explorer import item_map, write_page

SHOWN = 20
TOLERANCE = 1e-4


@pytest.fixture
def explored(opened, tmp_path):
    """Write the page of a model, and open it."""

    def explore(model, *, view=None, **options):
        path = tmp_path / "page.html"
        write_page(model, path, **options)
        return opened(path.as_uri(), **(view or {}))

    return explore


def assert_recommends(page, model, picks, weights):
    """The same 20 items with the same scores as in Python; items of nearly equal score may change places."""
    [ranking] = model.recommend_for([picks], SHOWN + 5, weights=[weights])
    expected = dict(zip(map(str, ranking), ranking.scores, strict=True))
    found = page.results()
    assert len(found) == SHOWN
    assert [score for *_, score in found] == pytest.approx(ranking.scores[:SHOWN], abs=TOLERANCE)
    for key, name, score in found:
        assert score == pytest.approx(expected[key], abs=TOLERANCE)
        assert name == model.items.labels(model.items.rows([int(key)]))[0]


def set_weight(page, place, steps):
    """Drag a slider to a number of steps from its middle; 20 steps are ten times the weight."""
    page.page.locator(".pick input").nth(place).fill(str(steps))
    page.settled()


def test_type_pick_see_weigh_and_remove(explored, model):
    page = explored(model)
    assert page.page.title() == "page"
    page.pick("sea story 1")
    page.pick("wood story 0")
    assert page.picked() == ["Wood story 0", "Sea story 1"]
    assert_recommends(page, model, [1040, 1001], [1, 1])
    set_weight(page, 0, 20)
    assert_recommends(page, model, [1040, 1001], [10, 1])
    set_weight(page, 1, -20)
    assert_recommends(page, model, [1040, 1001], [10, 0.1])
    page.page.get_by_label("Remove Wood story 0").click()
    page.settled()
    assert page.picked() == ["Sea story 1"]
    assert_recommends(page, model, [1001], [0.1])
    page.page.get_by_label("Remove Sea story 1").click()
    page.settled()
    counts = sorted(model.trained_on.by_user.column_counts.tolist(), reverse=True)
    assert [score for *_, score in page.results()] == counts[:SHOWN]
    assert all(address.startswith(("file:", "data:")) for address in page.requests)


def test_a_row_of_the_list_is_picked_and_leaves_it(explored, model):
    page = explored(model)
    page.pick("fire story 3")
    first = page.results()[0]
    page.page.get_by_label(f"Pick {first[1]}", exact=True).click()
    page.page.wait_for_function("() => document.querySelectorAll('.pick').length === 2")
    assert page.picked() == [first[1], "Fire story 3"]
    assert first[0] not in [key for key, *_ in page.results()]
    assert_recommends(page, model, [int(first[0]), 1083], [1, 1])


def test_reasons_are_those_of_python(explored, model):
    page = explored(model)
    page.pick("sea story 1")
    page.pick("wood story 0")
    picks, names = [1001, 1040], {"Sea story 1": 1001, "Wood story 0": 1040}
    key = int(page.results()[2][0])
    vectors = model.item_factors[model.items.rows(picks)].astype(float)
    everything = model.item_factors.astype(float)
    system = 0.2 * everything.T @ everything + vectors.T @ vectors
    system += model.objective.row_regularization(np.array([2]), len(model.items))[0] * np.eye(model.dim)
    target = model.item_factors[model.items.rows([key])[0]].astype(float)
    expected = dict(zip(picks, vectors @ np.linalg.solve(system, target), strict=True))
    parts = page.parts(2)
    assert {names[name]: part for name, part in parts} == pytest.approx(expected, abs=TOLERANCE)
    assert parts == sorted(parts, key=lambda line: -line[1])
    best = max(expected, key=expected.get)
    reason = page.page.locator(".result").nth(2).locator(".because").text_content()
    assert reason.startswith("because you picked ")
    assert model.items.labels(model.items.rows([best]))[0] in reason


def test_similar_items_are_those_of_python(explored, model):
    page = explored(model)
    page.pick("wood story 2")
    page.page.get_by_label("Similar to Wood story 2", exact=True).click()
    page.page.wait_for_function(
        "() => document.querySelector('#results-heading').textContent.startsWith('Similar')"
    )
    ranking = model.similar_items(1042, SHOWN)
    found = page.results()
    assert [score for *_, score in found] == pytest.approx(ranking.scores, abs=TOLERANCE)
    assert [key for key, *_ in found][:5] == list(map(str, ranking[:5]))
    page.page.get_by_role("button", name="Back to recommendations").click()
    page.settled()
    assert_recommends(page, model, [1042], [1])


def test_the_history_of_a_user_is_a_start(explored):
    model = make_model(make_data(weighted=True))
    page = explored(model, top=60)
    page.page.fill("#person", "user 7")
    page.page.wait_for_selector("#person-list [aria-selected=true]")
    shown = page.page.locator("#person-list .label").first.text_content()
    page.page.press("#person", "Enter")
    page.page.wait_for_selector(".pick")
    page.settled()
    row = model.trained_on.by_user.take(model.users.rows([shown]))
    weights = dict(zip(model.items.named(row.columns), row.weights.tolist(), strict=True))
    picks = [int(name) for name in page.picked()]
    assert set(picks) < set(weights)
    assert [weights[item] for item in picks] == sorted((weights[item] for item in picks), reverse=True)
    famous = [int(key) for key, *_ in page.results()]
    note = page.page.locator("#history-note").text_content()
    assert note.startswith(f"The history of {shown}. {len(weights) - len(picks)} other item")
    [ranking] = model.recommend_for([picks], len(model.items), weights=[[weights[item] for item in picks]])
    scores = dict(zip(ranking, ranking.scores, strict=True))
    expected = [scores[item] for item in famous]
    assert [score for *_, score in page.results()] == pytest.approx(expected, abs=TOLERANCE)


def test_the_keyboard_alone_is_enough(explored, model):
    page = explored(model)
    press = page.page.keyboard.press
    page.page.locator("#search").focus()
    field = page.page.locator("#search")
    page.page.wait_for_selector("#search-list:not([hidden])")
    assert field.get_attribute("aria-expanded") == "true"
    page.page.keyboard.type("STORY 1")
    page.page.wait_for_function(
        "() => document.querySelector('#search-list').textContent.includes('story 1')"
    )
    press("ArrowDown")
    press("ArrowUp")
    press("ArrowUp")
    chosen = field.get_attribute("aria-activedescendant")
    assert page.page.locator(f"#{chosen}").get_attribute("aria-selected") == "true"
    wanted = page.page.locator(f"#{chosen} .label").text_content()
    press("Enter")
    page.page.wait_for_selector(".pick")
    assert page.picked() == [wanted]
    assert field.get_attribute("aria-expanded") == "false"
    page.settled()
    page.page.wait_for_function(
        "() => document.querySelector('#live').textContent.startsWith('Recommended: 20 items')"
    )
    press("Tab")  # similar or remove: both are buttons of the pick
    page.page.get_by_label(f"Remove {wanted}").press("Enter")
    page.settled()
    assert page.picked() == []
    assert page.page.evaluate("document.activeElement.id") == "search"
    press("Escape")
    assert field.get_attribute("aria-expanded") == "false"


def test_the_map_shows_moves_and_picks(explored, model):
    page = explored(model)
    pictures = [page.drawn()]
    box = page.page.locator("#map").bounding_box()
    middle = box["x"] + box["width"] / 2, box["y"] + box["height"] / 2
    page.page.mouse.move(*middle)
    page.page.mouse.wheel(0, -600)
    page.page.wait_for_function(
        "before => document.querySelector('#map').toDataURL() !== before", arg=pictures[0]
    )
    page.page.mouse.down()
    page.page.mouse.move(middle[0] + 80, middle[1] + 40, steps=4)
    page.page.mouse.up()
    pictures.append(page.drawn())
    assert page.picked() == []  # a drag is no click
    page.page.locator("#map").press("ArrowLeft")
    pictures.append(page.drawn())
    page.page.get_by_label("Zoom out").click()
    pictures.append(page.drawn())
    assert len(set(pictures)) == len(pictures)
    page.page.get_by_label("Show the whole map").click()
    name, place = dot_of(model, box)
    page.page.mouse.move(*place)
    page.page.wait_for_selector("#tip:not([hidden])")
    assert page.page.locator("#tip").text_content().startswith(name)
    page.page.mouse.click(*place)
    page.page.wait_for_selector(".pick")
    assert page.picked() == [name]
    page.page.mouse.click(*place)
    page.page.wait_for_function("() => !document.querySelector('.pick')")


def dot_of(model, box):
    """The name and the place on the screen of the item that is farthest from all others."""
    found = item_map(model)
    places = np.column_stack([found.x, found.y])
    apart = np.linalg.norm(places[:, None] - places[None], axis=2) + 9 * np.eye(len(places))
    lonely = apart.min(axis=1).argmax()
    right, down = places[lonely] * 0.92 * min(box["width"], box["height"]) / 2
    place = box["x"] + box["width"] / 2 + right, box["y"] + box["height"] / 2 + down
    return model.items.labels(found.rows[[lonely]])[0], place


def test_hostile_names_are_shown_as_they_are(explored):
    names = {1000 + k: name for k, name in enumerate(HOSTILE)}
    users = {f"user {k}": HOSTILE[k % len(HOSTILE)] for k in range(150)}
    model = make_model(make_data().with_names(items=names, users=users))
    page = explored(model, title=HOSTILE[0])
    assert page.page.title() == HOSTILE[0]
    assert page.page.locator("h1").text_content() == HOSTILE[0]
    for key, name in names.items():
        page.pick(str(key))
        assert page.picked()[0] == name
    page.page.mouse.move(900, 400)
    assert page.page.locator("script").count() == 2
    assert page.page.locator("img").count() == 0


def test_an_old_file_without_interactions_and_names(explored, tmp_path):
    plain = make_model(make_data())
    page = explored(ImplicitMF.load(old_file(plain, tmp_path / "model.ialspp")))
    assert page.results() == []
    assert not page.page.locator("#people").is_visible()
    page.pick("1041")
    assert_recommends(page, plain, [1041], [1])


def test_one_item_alone(explored):
    data = Interactions.from_arrays(user=["ann"], item=["tea"])
    page = explored(ImplicitMF(dim=2, epochs=1).fit(data, progress=False))
    page.page.fill("#search", "tea")
    page.page.wait_for_selector("#search-list [aria-selected=true]")
    page.page.press("#search", "Enter")
    page.page.wait_for_selector(".pick")
    page.page.wait_for_function("() => document.querySelectorAll('.result').length === 0")


@pytest.mark.parametrize("exponent", [0.0, 0.5, 1.0])
@pytest.mark.parametrize("alpha0", [0.0, 0.3])
def test_the_settings_of_the_loss_count(explored, exponent, alpha0):
    objective = Objective(unobserved_weight=alpha0, regularization=0.02, exponent=exponent)
    model = make_model(make_data(), objective=objective)
    page = explored(model)
    page.pick("1003")
    page.pick("1085")
    assert_recommends(page, model, [1003, 1085], [1, 1])


@pytest.mark.parametrize("scheme", ["light", "dark"])
@pytest.mark.parametrize("width", [360, 1000, 1500])
def test_every_width_and_both_schemes(explored, model, scheme, width):
    page = explored(model, view={"viewport": {"width": width, "height": 800}, "color_scheme": scheme})
    page.pick("fire story 0")
    assert len(page.drawn()) > 5000  # an empty picture is shorter
    assert page.page.evaluate("document.documentElement.scrollWidth") <= width
    ground = page.page.evaluate("getComputedStyle(document.body).backgroundColor")
    assert (sum(map(int, ground[4:-1].split(","))) > 382) == (scheme == "light")
