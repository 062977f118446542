"""Whatever a client sends, the service answers, and never with 500."""

import json

import pytest
from hypothesis import given
from hypothesis import strategies as st
from support.drawing import drawn
from support.models import ITEMS
from support.serving import client_of

few = drawn(150)
json_values = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats(allow_nan=False) | st.text(),
    lambda inner: st.lists(inner, max_size=4) | st.dictionaries(st.text(), inner, max_size=4),
    max_leaves=10,
)
ids = st.sampled_from(ITEMS) | st.text() | st.integers()
weighted = st.fixed_dictionaries({"id": ids}, optional={"weight": st.floats(allow_nan=False)})
fields = {
    "user": st.integers(0, 60) | ids,
    "items": st.lists(ids | weighted, max_size=5),
    "k": st.integers(-2, 1200),
    "offset": st.integers(-2, 1200),
    "exclude": st.lists(ids, max_size=4),
    "candidates": st.none() | st.lists(ids, max_size=4),
    "include_seen": st.booleans(),
    "explain": st.booleans() | st.integers(-3, 2**70),
    "item": ids,
    "features": st.dictionaries(st.text() | st.sampled_from(["a", "b"]), json_values, max_size=3),
    "requests": st.lists(json_values, max_size=2),
}
requests = st.fixed_dictionaries({}, optional={name: value | json_values for name, value in fields.items()})
likely = st.fixed_dictionaries(
    {"items": st.lists(st.sampled_from(ITEMS), max_size=4)},
    optional={name: fields[name] for name in ("k", "offset", "exclude", "explain", "include_seen")},
)
POSTS = ["/v1/recommend", "/v1/explain", "/v1/recommend/batch", "/v1/similar"]
EXPECTED = {200, 400, 404, 422}


@pytest.fixture(scope="module")
def client(model_file):
    with client_of(model_file, raise_errors=False) as (client, _):
        yield client


def check(answer):
    assert answer.status_code in EXPECTED, answer.text
    kind = "application/json" if answer.status_code == 200 else "application/problem+json"
    assert answer.headers["content-type"] == kind
    json.loads(answer.content)


@pytest.mark.parametrize("path", POSTS)
@given(body=requests | likely | json_values)
@few
def test_any_json(client, path, body):
    check(client.post(path, content=json.dumps(body).encode()))


@pytest.mark.parametrize("path", POSTS)
@given(body=st.binary(max_size=60))
@few
def test_any_bytes(client, path, body):
    check(client.post(path, content=body))


@given(items=st.lists(likely, max_size=4))
@few
def test_any_batch(client, items):
    check(client.post("/v1/recommend/batch", json={"requests": items}))


@pytest.mark.parametrize("path", ["/v1/similar/{}", "/v1/users/{}/history"])
@given(
    part=st.text(st.characters(codec="ascii"), min_size=1) | st.integers().map(str),
    query=st.text(max_size=20),
)
@few
def test_any_path(client, path, part, query):
    from urllib.parse import quote

    answer = client.get(path.format(quote(part, safe="")), params={"k": query})
    assert answer.status_code in EXPECTED | {405}, answer.text


@pytest.mark.parametrize("path", ["/v1/items", "/v1/users", "/v1/map"])
@given(
    name=st.sampled_from(["limit", "top", "k", "x"]),
    value=st.text(max_size=20) | st.integers(-(2**70), 0).map(str),
)
@few
def test_any_parameter(client, path, name, value):
    if path == "/v1/map" and name != "top":
        return
    answer = client.get(path, params={name: value})
    assert answer.status_code in EXPECTED, answer.text
