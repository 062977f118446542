"""Features of unseen users and items over HTTP."""

import numpy as np
import polars as pl
import pytest
from support.models import ITEMS, N_USERS, make_data, make_model
from support.serving import client_of, problem

from ialspp import Features

GENRES = ["comedy", "drama", "war"]
FILMS = pl.DataFrame(
    {
        "film": ITEMS,
        "genre": [[GENRES[number % 3]] for number in range(len(ITEMS))],
        "length": [number / len(ITEMS) for number in range(len(ITEMS))],
    }
)
PEOPLE = pl.DataFrame(
    {"user": range(N_USERS), "country": [("de", "fr")[user % 2] for user in range(N_USERS)]}
)


@pytest.fixture(scope="module")
def described():
    catalogue, people = Features.from_frame(FILMS, id="film"), Features.from_frame(PEOPLE, id="user")
    return make_model().fit(make_data(), item_features=catalogue, user_features=people, progress=False)


@pytest.fixture(scope="module")
def films(described, tmp_path_factory):
    path = tmp_path_factory.mktemp("served") / "films.ialspp"
    described.save(path)
    with client_of(path) as (client, _):
        yield client


def post(client, path, **request):
    answer = client.post(path, json=request)
    assert answer.status_code == 200, answer.text
    return answer.json()


def pairs(answer):
    return [(item["id"], item["score"]) for item in answer["items"]]


def of(ranking):
    return list(zip(ranking, ranking.scores, strict=True))


GERMAN = np.array([[1.0, 0.0]])


def test_an_unseen_user_is_recommended_items_by_features(films, described):
    answer = post(films, "/v1/recommend", features={"country": "de"}, k=5)
    assert pairs(answer) == of(described.recommend_for(features=GERMAN, k=5)[0])
    assert (answer["fallback"], answer["skipped"]) == (False, {})
    both = post(films, "/v1/recommend", features={"country": ["de"]}, items=ITEMS[:2], k=5)
    assert pairs(both) == of(described.recommend_for([ITEMS[:2]], features=GERMAN, k=5)[0])
    assert pairs(post(films, "/v1/recommend", features={"country=de": 1}, k=5)) == pairs(answer)


def test_a_batch_may_mix_who_has_features_and_who_has_not(films, described):
    requests = [{"features": {"country": "de"}}, {"items": ITEMS[:2]}, {"user": 3}]
    answers = post(films, "/v1/recommend/batch", requests=requests)["answers"]
    right = [
        described.recommend_for(features=GERMAN)[0],
        described.recommend_for([ITEMS[:2]])[0],
        described.recommend(3),
    ]
    assert [pairs(answer) for answer in answers] == [of(ranking) for ranking in right]


def test_a_value_that_the_training_has_not_seen_is_skipped_and_counted(films, described):
    answer = post(films, "/v1/recommend", features={"country": ["de", "at"]}, k=5)
    assert answer["skipped"] == {"features": 1}
    assert pairs(answer) == of(described.recommend_for(features=GERMAN, k=5)[0])
    nothing = post(films, "/v1/recommend", features={"country": "at"})
    assert (nothing["fallback"], nothing["skipped"]) == (True, {"features": 1})
    assert post(films, "/v1/recommend", features={"country": None})["fallback"] is True


def test_reasons_add_up_with_what_features_add(films, described):
    features = {"country": "de"}
    found = post(films, "/v1/explain", features=features, items=ITEMS[:3], item=ITEMS[7])
    right = described.explain_for(ITEMS[:3], ITEMS[7], features=GERMAN)
    assert [(part["id"], part["part"]) for part in found["parts"]] == list(right)
    assert (found["score"], found["rest"]) == (right.score, right.rest)
    alone = post(films, "/v1/recommend", features=features, k=2, explain=True)
    assert all(
        item["because"] == [] and item["rest"] == pytest.approx(item["score"]) for item in alone["items"]
    )


def test_similar_items_of_a_new_one(films, described):
    new = {"genre": ["war", "western"], "length": 0.5}
    answer = post(films, "/v1/similar", features=new, k=6, metric="dot")
    [right] = described.similar_items_for(features=np.array([[0, 0, 1, 0.5]]), k=6, metric="dot")
    assert pairs(answer) == of(right)
    assert answer["skipped"] == {"features": 1}


@pytest.mark.parametrize(
    ("path", "request_", "words"),
    [
        ("recommend", {"features": {"cuntry": "de"}}, ["users is required, country; got 'cuntry'"]),
        ("recommend", {"features": {"country": True}}, ["features"]),
        ("recommend", {"features": {"country=de": 1e300}}, ["finite"]),
        ("recommend", {"user": 3, "features": {"country": "de"}}, ["features belong to an unseen user"]),
        ("recommend", {}, ["or features, got neither"]),
        ("explain", {"item": ITEMS[0], "features": {"genre": "war"}}, ["got 'genre'"]),
        ("similar", {"features": {"country": "de"}}, ["items is required, genre, length; got 'country'"]),
        ("similar", {"features": {}, "k": 1001}, ["k may be at most 1,000"]),
        ("similar", {}, ["features"]),
    ],
)
def test_features_that_the_model_has_not_are_refused(films, path, request_, words):
    problem(films.post(f"/v1/{path}", json=request_), 400, *words)


def test_the_facts_name_the_columns(films):
    facts = films.get("/v1/model").json()
    assert facts["features"] == {"users": ["country"], "items": ["genre", "length"]}


def test_a_model_without_features_says_so(model_file):
    with client_of(model_file) as (client, _):
        problem(client.post("/v1/similar", json={"features": {"a": 1}}), 400, "without features of items")
        problem(client.post("/v1/recommend", json={"features": {"a": 1}}), 400, "without features of users")
        assert client.get("/v1/model").json()["features"] == {"users": [], "items": []}
