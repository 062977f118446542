"""The page of the service in a real browser: its answers come from the service, and Python judges them."""

import pytest
from support.browsing import Explorer

from ialspp import ImplicitMF, Interactions

pytest.importorskip("ialspp.serving.app", reason="needs the extra serve")
from support.serving import serving  # it imports what the extra brings

SHOWN = 20


@pytest.fixture(scope="module")
def address(model, tmp_path_factory):
    """A service of the model in a process of its own."""
    path = tmp_path_factory.mktemp("served") / "stories.ialspp"
    model.save(path)
    with serving(path) as (client, _):
        yield str(client.base_url)


def assert_recommends(page, model, picks, weights):
    [ranking] = model.recommend_for([picks], SHOWN, weights=[weights])
    found = page.results()
    assert [int(key) for key, *_ in found] == list(ranking)
    assert [score for *_, score in found] == pytest.approx(ranking.scores, rel=1e-5)


def test_type_pick_see_weigh_and_remove(opened, address, model):
    page = opened(address)
    assert page.page.locator("h1").text_content() == "stories"
    page.pick("sea story 1")
    page.pick("wood story 0")
    assert page.picked() == ["Wood story 0", "Sea story 1"]
    page.wait_for_items(model.recommend_for([[1040, 1001]], SHOWN)[0])
    assert_recommends(page, model, [1040, 1001], [1, 1])
    page.page.locator(".pick input").first.fill("20")
    [ranking] = model.recommend_for([[1040, 1001]], SHOWN, weights=[[10, 1]])
    page.wait_for_items(ranking)
    assert_recommends(page, model, [1040, 1001], [10, 1])
    parts = dict(page.parts(0))
    assert sum(parts.values()) == pytest.approx(ranking.scores[0], abs=1e-4)
    page.page.get_by_label("Remove Wood story 0").click()
    page.wait_for_items(model.recommend_for([[1001]], SHOWN)[0])
    page.page.get_by_label("Remove Sea story 1").click()
    page.wait_for_items(model.recommend_for([[]], SHOWN)[0])
    assert all(request.startswith((address, "data:")) for request in page.requests)


def test_similar_items_and_a_history(opened, address, model):
    page = opened(address)
    page.pick("wood story 2")
    page.page.get_by_label("Similar to Wood story 2", exact=True).click()
    page.wait_for_items(model.similar_items(1042, SHOWN))
    page.page.fill("#person", "user 7")
    page.page.wait_for_selector("#person-list [aria-selected=true]")
    page.page.press("#person", "Enter")
    page.page.wait_for_function(
        "() => document.querySelector('#history-note').textContent === 'The history of user 7.'"
    )
    page.wait_for_items(model.recommend_for([past_of(model, "user 7")], SHOWN)[0])


def past_of(model, user):
    [row] = model.users.rows([user])
    return model.items.named(model.trained_on.by_user.columns_of(row))


def test_the_map_is_drawn_and_picks(opened, address):
    page = opened(address)
    before = page.drawn()
    page.pick("fire story 0")
    assert page.drawn() != before


def test_a_service_with_a_key_asks_for_it(browser, model, tmp_path):
    model.save(tmp_path / "stories.ialspp")
    key = tmp_path / "key"
    key.write_text("open-sesame-0123456789-abcdefgh\n")
    key.chmod(0o600)
    with serving(tmp_path / "stories.ialspp", "--key-file", key) as (client, _):
        page = Explorer(browser, str(client.base_url))
        page.page.wait_for_selector("dialog[open]")
        assert page.page.locator("#key-problem").text_content() == ""
        page.page.fill("#key", "wrong")
        page.page.keyboard.press("Enter")
        page.page.wait_for_selector("dialog[open] >> text=This key is wrong.")
        page.page.fill("#key", key.read_text().strip())
        page.page.keyboard.press("Enter")
        page.ready()
        page.pick("fire story 0")
        page.wait_for_items(model.recommend_for([[1080]], SHOWN)[0])
        page.complaints = [text for text in page.complaints if "401" not in text]  # the browser's own remark
        page.close()


def test_a_service_that_is_gone_is_named(opened, address):
    page = opened(address)
    page.page.route("**/v1/recommend", lambda route: route.abort())
    page.page.fill("#search", "fire story 0")
    page.page.wait_for_selector("#search-list [aria-selected=true]")
    page.page.press("#search", "Enter")
    page.page.wait_for_selector("text=The service cannot be reached. Is it still running?")
    page.complaints = [text for text in page.complaints if "ERR_FAILED" not in text]  # the browser's


def test_ids_of_any_size_and_kind(opened, tmp_path):
    huge = 2**60 + 1
    data = Interactions.from_arrays(user=[1, 1, 2, 2, 3], item=[huge, huge + 1, huge, huge + 2, huge + 1])
    model = ImplicitMF(dim=2, epochs=3).fit(data, progress=False)
    model.save(tmp_path / "huge.ialspp")
    with serving(tmp_path / "huge.ialspp") as (client, _):
        page = opened(str(client.base_url))
        page.pick(str(huge + 2))
        page.wait_for_items(model.recommend_for([[huge + 2]], SHOWN)[0])
