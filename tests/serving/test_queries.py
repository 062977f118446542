"""Similar items, explanations, searches, histories and facts over HTTP."""

import threading
from functools import partial
from urllib.parse import quote

import numpy as np
import pytest
from support.models import ITEMS, N_USERS, fitted, make_data
from support.processes import PATIENCE, wait_until
from support.serving import client_of, problem

from ialspp import Interactions
from ialspp.serving.served import MOST_MAPS, Served


def test_similar_items_are_those_of_the_model(served, model):
    for metric in "cosine", "dot":
        found = served.get(f"/v1/similar/{ITEMS[4]}", params={"k": 5, "metric": metric}).json()
        right = model.similar_items(ITEMS[4], 5, metric=metric)
        assert found["item"] == {"id": ITEMS[4], "name": None}
        assert [each["id"] for each in found["items"]] == right
        assert [each["score"] for each in found["items"]] == right.scores


@pytest.mark.parametrize(
    ("path", "status", "words"),
    [
        ("/v1/similar/gone", 404, ["unknown item", "gone"]),
        (f"/v1/similar/{ITEMS[0]}?k=0", 400, ["k"]),
        (f"/v1/similar/{ITEMS[0]}?k=many", 400, ["k"]),
        (f"/v1/similar/{ITEMS[0]}?metric=euclid", 400, ["metric"]),
        ("/v1/users/999/history", 404, ["unknown user", "999"]),
        ("/v1/users/ann/history", 400, ["integers", "ann"]),
        (f"/v1/users/{'9' * 5000}/history", 400, ["integers"]),
        ("/v1/items?limit=0", 400, ["limit"]),
        ("/v1/items?limit=1001", 400, ["limit"]),
        ("/v1/users?query=" + "x" * 1001, 400, ["query"]),
        ("/v1/map?top=0", 400, ["top"]),
        ("/v1/nothing", 404, ["/docs"]),
        ("/v1/recommend", 405, ["/docs"]),
    ],
)
def test_bad_queries_are_problems(served, path, status, words):
    problem(served.get(path), status, *words)


def test_explanations_are_those_of_the_model(served, model):
    requests = [
        ({"user": 3}, model.explain(3, ITEMS[7])),
        ({"items": ITEMS[:4]}, model.explain_for(ITEMS[:4], ITEMS[7])),
        (
            {"items": [{"id": ITEMS[0], "weight": 2}, ITEMS[1]]},
            model.explain_for(ITEMS[:2], ITEMS[7], weights=[2, 1]),
        ),
        ({"items": []}, model.explain_for([], ITEMS[7])),
    ]
    for who, right in requests:
        found = served.post("/v1/explain", json={**who, "item": ITEMS[7]}).json()
        assert [(part["id"], part["part"]) for part in found["parts"]] == list(right)
        assert (found["score"], found["rest"]) == (right.score, right.rest)
        assert found["item"]["id"] == ITEMS[7]


def test_explanations_skip_and_refuse_unknown_items(served):
    found = served.post("/v1/explain", json={"items": [ITEMS[0], "gone"], "item": ITEMS[7]}).json()
    assert found["skipped"] == {"items": 1}
    problem(served.post("/v1/explain", json={"items": ["gone"], "item": ITEMS[7]}), 404, "gone")
    problem(served.post("/v1/explain", json={"items": [ITEMS[0]], "item": "gone"}), 404, "gone")
    problem(served.post("/v1/explain", json={"user": 999, "item": ITEMS[0]}), 404, "999")
    problem(served.post("/v1/explain", json={"item": ITEMS[0]}), 400, "neither")


def test_without_a_query_the_most_popular_come_first(served, model):
    items = served.get("/v1/items", params={"limit": 5}).json()["items"]
    assert [(each["id"], each["users"]) for each in items] == [
        (item, int(count)) for item, count in zip(*_of(model.recommend(N_USERS - 1, 5)), strict=True)
    ]
    users = served.get("/v1/users", params={"limit": 500}).json()["users"]
    assert len(users) == N_USERS
    counts = [each["items"] for each in users]
    assert counts == sorted(counts, reverse=True)


def _of(ranking):
    return list(ranking), ranking.scores


def test_a_history_has_the_items_and_their_weights(served, model):
    found = served.get("/v1/users/3/history").json()
    rows = model.trained_on.by_user.take(model.users.rows([3]))
    right = dict(zip(model.items.named(rows.columns), rows.weights.tolist(), strict=True))
    assert {each["id"]: each["weight"] for each in found["items"]} == right
    assert found["user"] == {"id": 3, "name": None}
    weights = [each["weight"] for each in found["items"]]
    assert weights == sorted(weights, reverse=True)


def test_the_model_is_described(served, model, model_file):
    facts = served.get("/v1/model").json()
    assert (facts["users"], facts["items"], facts["dim"]) == (N_USERS, len(ITEMS), model.dim)
    assert facts["file"] == model_file.name
    assert facts["bytes"] == model_file.stat().st_size
    assert facts["history"][-1]["loss"] == model.history[-1].loss
    assert facts["settings"]["objective"]["regularization"] == model.objective.regularization
    assert facts["age_seconds"] >= 0
    assert facts["reload_error"] is None


AWKWARD = ["a/b", "c d", "ä", "%2F", "?q=1", "<script>", "", "..", "\u202e", "💙", '"', "\\", "new\nline"]


def test_ids_of_any_text_pass_through_paths_and_bodies(tmp_path):
    data = Interactions.from_arrays(
        user=[f"u{n % 4}" for n in range(2 * len(AWKWARD))], item=AWKWARD + AWKWARD[::-1]
    )
    fitted(data, dim=4).save(tmp_path / "odd.ialspp")
    with client_of(tmp_path / "odd.ialspp") as (client, _):
        for item in AWKWARD:
            found = client.post("/v1/recommend", json={"items": [item], "k": 30})
            assert found.status_code == 200
            assert {each["id"] for each in found.json()["items"]} <= set(AWKWARD) - {item}
            if item not in ("", ".."):  # which are no part of a path
                answer = client.get(f"/v1/similar/{quote(item, safe='')}")
                assert answer.status_code == 200, (item, answer.text)
                assert answer.json()["item"]["id"] == item


def test_ids_that_json_cannot_hold_do_not_break_the_service(tmp_path):
    data = Interactions.from_arrays(user=[1, 1, 2, 2], item=["a", "\ud800", "a", "b"])
    fitted(data, dim=2).save(tmp_path / "half.ialspp")
    with client_of(tmp_path / "half.ialspp", raise_errors=False) as (client, _):
        answer = client.post("/v1/recommend", json={"items": ["a"]})
        assert answer.status_code == 200, answer.text
        assert "b" in [each["id"] for each in answer.json()["items"]]


def test_integers_of_any_size_are_ids(tmp_path):
    large = 2**70
    data = Interactions.from_arrays(user=[1, 1, 2], item=[large, -5, large])
    fitted(data, dim=2).save(tmp_path / "large.ialspp")
    with client_of(tmp_path / "large.ialspp") as (client, _):
        answer = client.post("/v1/recommend", content=b'{"items": [-5], "include_seen": true}')
        assert {each["id"] for each in answer.json()["items"]} == {large, -5}
        assert client.get(f"/v1/similar/{large}").json()["item"]["id"] == large


@pytest.fixture(scope="module")
def named(tmp_path_factory):
    """A client of a service whose items and users have names, some of them hostile."""
    path = tmp_path_factory.mktemp("named") / "named.ialspp"
    model = fitted()
    names = {item: f"Toy Story {number}" for number, item in enumerate(ITEMS[:5])}
    model.set_names(items={**names, ITEMS[5]: "</script><b>toy</b>"}, users={3: "Ann"})
    model.save(path)
    with client_of(path) as (client, _):
        yield client


def test_answers_have_names(named):
    answer = named.post(
        "/v1/recommend", json={"items": ITEMS[:4], "k": 30, "explain": 2, "include_seen": True}
    )
    names = {item["id"]: item["name"] for item in answer.json()["items"]}
    assert names[ITEMS[1]] == "Toy Story 1"
    assert names[ITEMS[9]] is None
    assert {part["name"] for item in answer.json()["items"] for part in item["because"]} <= {
        f"Toy Story {number}" for number in range(4)
    }
    assert named.get(f"/v1/similar/{ITEMS[2]}").json()["item"] == {"id": ITEMS[2], "name": "Toy Story 2"}
    explained = named.post("/v1/explain", json={"items": ITEMS[:1], "item": ITEMS[1]}).json()
    assert explained["item"]["name"] == "Toy Story 1"
    assert explained["parts"][0]["name"] == "Toy Story 0"
    assert named.get("/v1/users/3/history").json()["user"] == {"id": 3, "name": "Ann"}


def test_searches_find_names_and_ids(named):
    found = named.get("/v1/items", params={"query": "toy"}).json()["items"]
    assert [each["id"] for each in found[5:]] == [ITEMS[5]]  # the only one in which no word starts with it
    users = [each["users"] for each in found[:5]]
    assert users == sorted(users, reverse=True)
    assert named.get("/v1/items", params={"query": "TOY story 3"}).json()["items"][0]["id"] == ITEMS[3]
    assert (
        named.get("/v1/items", params={"query": ITEMS[20], "limit": 1}).json()["items"][0]["id"] == ITEMS[20]
    )
    assert named.get("/v1/items", params={"query": "nothing like it"}).json() == {"items": []}
    assert named.get("/v1/users", params={"query": "ann"}).json()["users"][0]["id"] == 3
    assert len(named.get("/v1/items", params={"query": "toy", "limit": 2}).json()["items"]) == 2


def test_the_map_has_the_best_known_items(named):
    found = named.get("/v1/map", params={"top": 12}).json()["items"]
    assert len(found) == 12
    assert [each["users"] for each in found] == sorted((each["users"] for each in found), reverse=True)
    assert all(-1 <= each[axis] <= 1 for each in found for axis in "xy")
    assert found == named.get("/v1/map", params={"top": 12}).json()["items"]


def test_the_page_is_the_explorer(named):
    page = named.get("/")
    assert page.headers["content-type"].startswith("text/html")
    assert "<title" in page.text
    assert "frame-ancestors 'none'" in page.headers["content-security-policy"]


def test_maps_hold_up_no_other_question(model_file, monkeypatch):
    go, found = threading.Event(), []
    with client_of(model_file, limits={"seconds": PATIENCE}) as (client, service):
        laid_out = service.served.map_of

        def slow(top):
            go.wait()
            return laid_out(top)

        in_thread, arrived = service.in_map_thread, []

        async def counted(*arguments):
            arrived.append(arguments)
            return await in_thread(*arguments)

        monkeypatch.setattr(service, "in_map_thread", counted)
        monkeypatch.setattr(service.served, "map_of", slow)
        ask = partial(client.get, "/v1/map")
        tops = [
            threading.Thread(target=lambda top=top: found.append(ask(params={"top": top})))
            for top in (3, 4, 5)
        ]
        for thread in tops:
            thread.start()
        try:
            wait_until(lambda: len(arrived) == 3)
            assert client.get("/v1/items").status_code == 200
            assert client.get(f"/v1/similar/{ITEMS[1]}").status_code == 200
        finally:
            go.set()
            for thread in tops:
                thread.join()
    assert sorted(len(answer.json()["items"]) for answer in found) == [3, 4, 5]


def test_maps_that_are_asked_for_are_kept(model_file, monkeypatch):
    monkeypatch.setattr("ialspp.explorer.item_map", lambda _model, top: top)
    served = Served(model_file, 1)
    for top in range(2, 12):
        assert [served.map_of(top), served.map_of(1)] == [top, 1]
    assert [top for top in range(12) if served.kept_map(top)] == [1, *range(13 - MOST_MAPS, 12)]


@pytest.mark.parametrize(("numbers", "typical"), [((), 1.0), (("weight",), None)])
def test_the_typical_weight_is_the_median(tmp_path, numbers, typical):
    made = fitted(make_data(numbers=numbers))
    made.save(tmp_path / "model.ialspp")
    with client_of(tmp_path / "model.ialspp") as (client, _):
        found = client.get("/v1/model").json()["typical_weight"]
    assert found == (typical or float(f"{np.median(made.trained_on.by_user.weights):.2g}"))


@pytest.mark.parametrize(
    ("path", "known"),
    [
        ("/v1/items?q=toy&limit=1", "query, limit"),
        (f"/v1/similar/{quote(ITEMS[1])}?kk=2", "k, metric"),
        ("/v1/users/3/history?limit=2", "none"),
    ],
)
def test_a_parameter_that_a_path_does_not_take_is_refused(served, path, known):
    name = path.partition("?")[2].partition("=")[0]
    found = problem(served.get(path), 400)
    assert found["detail"] == f"{name}: there is no such parameter; this path takes {known}"


def test_a_request_to_recommend_has_its_fields_in_the_body(served):
    found = problem(served.post("/v1/recommend?k=3", json={"user": 3}), 400)
    assert "only a body of JSON" in found["detail"]
