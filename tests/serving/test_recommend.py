"""Recommendations over HTTP are those of the model."""

import pytest
from support.models import ITEMS, N_USERS
from support.serving import MODEL, client_of, problem

STRANGER = N_USERS - 1  # without interactions


def ask(client, **request):
    answer = client.post("/v1/recommend", json=request)
    assert answer.status_code == 200, answer.text
    return answer.json()


def pairs(answer):
    return [(item["id"], item["score"]) for item in answer["items"]]


def of(ranking):
    return list(zip(ranking, ranking.scores, strict=True))


def test_a_known_user_gets_what_recommend_says(served, model):
    answer = ask(served, user=3, k=5)
    assert pairs(answer) == of(model.recommend(3, 5))
    assert answer["fallback"] is False
    assert answer["skipped"] == {}
    assert all(list(item) == ["id", "name", "score"] for item in answer["items"])


def test_k_is_ten_unless_said(served, model):
    assert pairs(ask(served, user=3)) == of(model.recommend(3, 10))


def test_an_unseen_user_is_folded_in_exactly(served, model):
    assert pairs(ask(served, items=ITEMS[:3])) == of(model.recommend_for([ITEMS[:3]])[0])
    weighted = [{"id": ITEMS[0], "weight": 3.5}, ITEMS[1], {"id": ITEMS[2]}]
    right = model.recommend_for([ITEMS[:3]], weights=[[3.5, 1, 1]])[0]
    assert pairs(ask(served, items=weighted)) == of(right)


def test_seen_items_are_there_where_wanted(served, model):
    assert pairs(ask(served, user=3, k=30, include_seen=True)) == of(
        model.recommend(3, 30, exclude_seen=False)
    )
    both = ask(served, items=ITEMS[:3], k=30, include_seen=True)
    assert {item["id"] for item in both["items"]} >= set(ITEMS[:3])


def test_candidates_and_exclusions_hold(served, model):
    answer = ask(served, user=3, candidates=ITEMS[:9], exclude=ITEMS[:2])
    assert pairs(answer) == of(model.recommend(3, candidates=ITEMS[:9], exclude=ITEMS[:2]))
    assert ask(served, user=3, candidates=[])["items"] == []


@pytest.mark.parametrize("offset", [0, 1, 4, 29, 50])
def test_the_next_page_goes_on_where_the_last_one_ended(served, model, offset):
    assert pairs(ask(served, user=3, k=4, offset=offset)) == of(model.recommend(3, 4 + offset))[offset:]


def test_unknown_ids_are_skipped_and_counted(served, model):
    answer = ask(served, items=[ITEMS[1], "gone", "away"], exclude=["lost"], candidates=[*ITEMS, "x", "y"])
    assert answer["skipped"] == {"items": 2, "exclude": 1, "candidates": 2}
    assert pairs(answer) == of(model.recommend_for([[ITEMS[1]]], candidates=ITEMS)[0])


def test_the_only_id_that_is_unknown_is_not_found(served):
    problem(served.post("/v1/recommend", json={"user": 999}), 404, "unknown user", 999)
    problem(served.post("/v1/recommend", json={"items": ["gone"]}), 404, "unknown item", "gone")
    assert ask(served, items=["gone", "away"])["fallback"] is True


def test_cold_users_get_popular_items_which_are_marked(served, model):
    popular = model.recommend(STRANGER)
    assert popular.fallback
    for request in ({"user": STRANGER}, {"items": []}):
        answer = ask(served, **request)
        assert answer["fallback"] is True
        assert pairs(answer) == of(popular)
    explained = ask(served, items=[], explain=True)
    assert all(item["because"] == [] and item["rest"] == item["score"] for item in explained["items"])


@pytest.mark.parametrize("who", [{"user": 3}, {"items": [{"id": ITEMS[0], "weight": 2.0}, *ITEMS[1:6]]}])
@pytest.mark.parametrize(("explain", "reasons"), [(True, 3), (2, 2), (1000, 1000), (False, None), (0, None)])
def test_each_item_says_why(served, model, who, explain, reasons):
    answer = ask(served, **who, k=4, explain=explain)
    for item in answer["items"]:
        if reasons is None:
            assert set(item) == {"id", "name", "score"}
            continue
        right = (
            model.explain(3, item["id"])
            if "user" in who
            else model.explain_for(ITEMS[:6], item["id"], weights=[2, 1, 1, 1, 1, 1])
        )
        assert [part["id"] for part in item["because"]] == [each for each, _ in right[:reasons]]
        assert [part["part"] for part in item["because"]] == pytest.approx(right[:reasons].contributions)
        assert item["rest"] == pytest.approx(right.rest, abs=1e-9)
        assert sum(right.contributions) + item["rest"] == pytest.approx(item["score"], abs=1e-5)


def test_a_batch_is_answered_like_each_alone(served):
    requests = [
        {"user": 3, "k": 5},
        {"items": ITEMS[:2], "exclude": ITEMS[5:9], "explain": 2},
        {"user": 4, "k": 3, "offset": 2, "candidates": ITEMS[:20]},
        {"user": 5, "include_seen": True},
    ]
    answer = served.post("/v1/recommend/batch", json={"requests": requests})
    assert answer.json()["answers"] == [ask(served, **request) for request in requests]
    assert served.post("/v1/recommend/batch", json={"requests": []}).json() == {"answers": []}


def test_an_unknown_user_of_a_batch_gets_popular_items(served, model):
    answer = served.post("/v1/recommend/batch", json={"requests": [{"user": 3}, {"user": 999}]}).json()
    assert answer["answers"][1]["skipped"] == {"user": 1}
    assert answer["answers"][1]["fallback"] is True
    assert pairs(answer["answers"][1]) == of(model.recommend(STRANGER))


def test_a_bad_request_of_a_batch_is_named(served):
    answer = served.post("/v1/recommend/batch", json={"requests": [{"user": 3}, {"user": "x"}]})
    assert problem(answer, 400, "request 1", "integers")["request"] == 1


@pytest.mark.parametrize(
    ("request_", "words"),
    [
        ({}, ["user and items", "neither"]),
        ({"user": 3, "items": []}, ["user and items", "both"]),
        ({"user": "3"}, ["user", "integers", "'3'"]),
        ({"items": [3]}, ["items", "strings", "3"]),
        ({"items": ["a", 3]}, ["items", "strings", "3"]),
        ({"user": 3, "exclude": [1]}, ["exclude", "strings"]),
        ({"user": 3, "candidates": [1]}, ["candidates", "strings"]),
        ({"user": 3, "k": 0}, ["k", "1"]),
        ({"user": 3, "k": -5}, ["k", "1"]),
        ({"user": 3, "k": 2.5}, ["k", "int"]),
        ({"user": 3, "k": 10**30}, ["k"]),
        ({"user": 3, "offset": -1}, ["offset", "0"]),
        ({"user": 3, "k": 600, "offset": 600}, ["offset + k", "1,000", "600 + 600"]),
        ({"user": 3, "amount": 5}, ["amount"]),
        ({"user": 3.5}, ["user"]),
        ({"user": True}, ["user"]),
        ({"items": [{"id": ITEMS[0], "weight": -1}]}, ["weight"]),
        ({"items": [{"id": ITEMS[0], "wieght": 1}]}, ["wieght"]),
        ({"items": [{"id": ITEMS[0], "weight": 1e300}]}, ["weight", "finite"]),
        ({"items": "item-1"}, ["items"]),
        ({"user": 3, "explain": "yes"}, ["explain"]),
        ({"user": 3, "explain": -1}, ["explain", "0"]),
    ],
)
def test_bad_requests_say_what_is_wrong(served, request_, words):
    problem(served.post("/v1/recommend", json=request_), 400, *words)


@pytest.mark.parametrize("body", [b"", b"{", b"[]", b"null", b"3", b"\xff\xfe", b'"user"', b"[" * 5000])
def test_bodies_that_are_no_request_are_refused(served, body):
    problem(served.post("/v1/recommend", content=body, headers={"content-type": "application/json"}), 400)


def test_a_history_without_a_solution_does_not_spoil_the_others(served):
    requests = [{"user": 3}, {"items": [{"id": item, "weight": 3e38} for item in ITEMS]}]
    alone = served.post("/v1/recommend", json=requests[1])
    assert alone.status_code in (200, 422)
    batch = served.post("/v1/recommend/batch", json={"requests": requests})
    assert batch.status_code == alone.status_code


def test_every_answer_names_its_model(served):
    checksum = served.get("/v1/model").json()["checksum"]
    for answer in (served.post("/v1/recommend", json={"user": 3}), served.get(f"/v1/similar/{ITEMS[1]}")):
        assert answer.headers[MODEL] == checksum


def test_limits_are_those_of_the_service(model_file):
    limits = {"k": 5, "ids": 3, "batch": 2, "body": 500}
    with client_of(model_file, limits=limits) as (client, _):
        assert client.post("/v1/recommend", json={"user": 3, "k": 5}).status_code == 200
        problem(
            client.post("/v1/recommend", json={"user": 3, "k": 4, "offset": 2}), 400, "at most 5", "2 + 4"
        )
        problem(client.post("/v1/recommend", json={"items": ITEMS[:4], "k": 1}), 400, "items", "at most 3")
        many = {"requests": [{"user": 3, "k": 1}] * 3}
        problem(client.post("/v1/recommend/batch", json=many), 400, "at most 2", "3")
        problem(client.get(f"/v1/similar/{ITEMS[0]}?k=6"), 400, "at most 5")
        problem(client.post("/v1/recommend", json={"user": 3, "exclude": ["x" * 600]}), 413)


def test_a_model_without_interactions_says_what_it_cannot_do(model, tmp_path):
    model.save(tmp_path / "bare.ialspp", interactions=False)
    with client_of(tmp_path / "bare.ialspp") as (client, _):
        problem(client.post("/v1/recommend", json={"user": 3}), 400, "include_seen", "interactions")
        right = model.recommend(3, exclude_seen=False)
        assert pairs(ask(client, user=3, include_seen=True)) == of(right)
        assert pairs(ask(client, items=ITEMS[:2])) == of(model.recommend_for([ITEMS[:2]])[0])
        cold = ask(client, items=[])
        assert cold["fallback"]
        assert pairs(cold) == of(model.recommend_for([[]])[0])  # it still knows what is popular
        problem(client.get("/v1/users/3/history"), 404, "interactions")
        problem(client.post("/v1/explain", json={"user": 3, "item": ITEMS[0]}), 400, "interactions")
        assert client.get("/v1/items").json()["items"][0]["users"] == model.item_counts.max()
