"""The key, the Host header, the time limit, the counts and the access log."""

import asyncio
import json
import logging
import re

import pytest
from support.models import ITEMS
from support.serving import LOCAL, client_of, problem

from ialspp.serving import routes
from ialspp.serving.metrics import BOUNDS, LAYOUT, Metrics
from ialspp.serving.metrics import ROUTES as COUNTED
from ialspp.serving.settings import Limits, Settings, key_for, read_key

KEY = "correct-horse-battery-staple"
OPEN = ["/", "/docs", "/openapi.json", "/health/live", "/health/ready"]
CLOSED = [
    "/metrics",
    "/v1/model",
    "/v1/items",
    f"/v1/similar/{ITEMS[0]}",
    "/nothing",
    "/docs/",
    "/docs/../metrics",
]


def bearer(key):
    return {"authorization": f"Bearer {key}"}


@pytest.fixture(scope="module")
def keyed(model_file):
    with client_of(model_file, key=KEY) as (client, _):
        yield client


@pytest.mark.parametrize("path", OPEN)
def test_what_holds_nothing_of_the_model_needs_no_key(keyed, path):
    assert keyed.get(path).status_code == 200


@pytest.mark.parametrize("path", CLOSED)
@pytest.mark.parametrize(
    "headers",
    [
        {},
        bearer("wrong"),
        bearer(""),
        bearer(KEY[:-1]),
        bearer(KEY + "x"),
        {"authorization": KEY},
        {"authorization": f"Basic {KEY}"},
        {"x-api-key": KEY},
    ],
)
def test_everything_else_needs_the_key(keyed, path, headers):
    answer = keyed.get(path, headers=headers)
    problem(answer, 401, "Authorization: Bearer")
    assert answer.headers["www-authenticate"] == "Bearer"
    assert KEY not in answer.text


def test_the_key_opens(keyed):
    assert keyed.get("/v1/model", headers=bearer(KEY)).status_code == 200
    assert keyed.post("/v1/recommend", json={"user": 3}, headers=bearer(KEY)).status_code == 200
    assert keyed.post("/v1/reload", headers={"authorization": f"bearer  {KEY}"}).status_code == 200
    problem(keyed.post("/v1/reload"), 401)


def test_without_a_key_only_names_of_this_machine_are_answered(served):
    for host in ("localhost", "localhost:8000", "127.0.0.1:1", "[::1]:8000", "[::1]"):
        assert served.get("/v1/model", headers={"host": host}).status_code == 200, host
    for host in ("evil.example", "evil.example:8000", "localhost.evil.example", "127.0.0.1.evil.example", ""):
        problem(served.get("/v1/model", headers={"host": host}), 403, "localhost")


@pytest.mark.parametrize(
    ("host", "own"), [("127.0.0.2", "127.0.0.2"), ("127.1.1.1", "127.1.1.1"), ("::1", "[::1]")]
)
def test_the_address_that_it_listens_on_is_answered(model_file, host, own):
    with client_of(model_file, host=host) as (client, _):
        assert client.get("/v1/model", headers={"host": f"{own}:8000"}).status_code == 200
        problem(client.get("/v1/model", headers={"host": "127.9.9.9:8000"}), 403)


def test_with_a_key_or_where_told_any_name_is_answered(keyed, model_file):
    headers = {"host": "shop.example"}
    assert keyed.get("/v1/model", headers={**headers, **bearer(KEY)}).status_code == 200
    with client_of(model_file, local_only=False) as (client, _):
        assert client.get("/v1/model", headers=headers).status_code == 200


def test_an_answer_that_takes_too_long_is_given_up(model_file, monkeypatch):
    with client_of(model_file, limits={"seconds": 0.2}) as (client, service):
        never = asyncio.Event()
        monkeypatch.setattr(service.batcher, "answer", lambda _asked: never.wait())
        answer = client.post("/v1/recommend", json={"user": 3})
        problem(answer, 503, "0.2 seconds")
        assert answer.headers["retry-after"] == "1"
        assert client.get("/health/live").status_code == 200


def test_head_is_answered_as_get_without_the_body(served, keyed):
    for path in ("/health/live", "/openapi.json", "/v1/items", "/v1/nothing", "/v1/recommend"):
        head, whole = served.head(path), served.get(path)
        assert (head.status_code, head.content) == (whole.status_code, b"")
        assert head.headers["content-length"] == str(len(whole.content))
    assert keyed.head("/v1/model").status_code == 401


def test_a_bug_is_logged_and_not_shown(model_file, monkeypatch, caplog):
    monkeypatch.setattr(routes.queries, "history", lambda *_: {}["secret-of-the-house"])
    with client_of(model_file, raise_errors=False) as (client, _), caplog.at_level(logging.ERROR):
        found = problem(client.get("/v1/users/3/history"), 500)
    assert "secret" not in json.dumps(found)
    assert "secret-of-the-house" in caplog.text


# Access log


def test_the_access_log_has_a_line_of_json_each_and_no_secret(model_file, tmp_path):
    log = tmp_path / "access.jsonl"
    with client_of(model_file, key=KEY, access_log=log) as (client, _):
        client.post("/v1/recommend", json={"user": 3}, headers=bearer(KEY))
        client.get("/v1/items?query=private&key=" + KEY, headers=bearer(KEY))
        client.get(f"/{KEY}%0A%7B%7D", headers=bearer(KEY))
        client.get("/v1/similar/" + KEY, headers=bearer(KEY + "!"))
    text = log.read_text()
    assert KEY not in text
    assert "private" not in text
    lines = [json.loads(line) for line in text.splitlines()]
    assert [(line["method"], line["route"], line["status"]) for line in lines] == [
        ("POST", "/v1/recommend", 200),
        ("GET", "/v1/items", 400),
        ("GET", "other", 404),
        ("GET", "other", 401),
    ]
    assert all(line["milliseconds"] >= 0 and line["time"] > 0 for line in lines)
    assert lines[0]["bytes"] > 0
    assert log.stat().st_mode & 0o077 == 0


# Counts


def numbers(text):
    """{name with labels: value} of the text format of Prometheus, which is checked on the way."""
    found, kinds = {}, {}
    for line in text.splitlines():
        if line.startswith("#"):
            _, what, name, rest = line.split(" ", 3)
            assert what in ("HELP", "TYPE")
            if what == "TYPE":
                kinds[name] = rest
            continue
        match = re.fullmatch(r'([a-z_]+)((?:\{(?:[a-z]+="[^"\\\n]*",?)+\})?) (\S+)', line)
        assert match, line
        base = re.sub("_(bucket|sum|count)$", "", match[1])
        assert kinds.get(match[1]) or kinds[base] == "histogram"
        found[match[1] + match[2]] = float(match[3])
    return found


def test_requests_are_counted_by_route_and_status(model_file):
    with client_of(model_file) as (client, _):
        for user in (3, 4, 999, "x"):
            client.post("/v1/recommend", json={"user": user})
        client.get("/nothing")
        found = numbers(client.get("/metrics").text)
        again = numbers(client.get("/metrics").text)
    route = 'route="/v1/recommend"'
    assert [found[f'ialspp_requests_total{{{route},status="{code}"}}'] for code in (200, 404, 400)] == [
        2,
        1,
        1,
    ]
    assert found['ialspp_requests_total{route="other",status="404"}'] == 1
    counts = [found[f'ialspp_request_seconds_bucket{{{route},le="{bound}"}}'] for bound in (*BOUNDS, "+Inf")]
    assert counts == sorted(counts)
    assert counts[-1] == found[f"ialspp_request_seconds_count{{{route}}}"] == 4
    assert found[f"ialspp_request_seconds_sum{{{route}}}"] > 0
    assert found["ialspp_ranked_total"] >= 2
    assert found['ialspp_model_age_seconds{worker="0"}'] >= 0
    assert again['ialspp_requests_total{route="/metrics",status="200"}'] == 1


def test_every_route_has_a_place_in_the_counts(served):
    paths = served.get("/openapi.json").json()["paths"]
    assert set(paths) <= set(COUNTED)


def test_workers_add_up_what_they_count(tmp_path):
    shared = tmp_path / "metrics"
    Metrics.make_shared(shared, 3)
    assert shared.stat().st_size == 3 * LAYOUT.itemsize
    workers = [Metrics(3, number, shared) for number in range(3)]
    for number, worker in enumerate(workers):
        for _ in range(number + 1):
            worker.count("/v1/model", 200, 0.02)
        worker.count_group(10)
        worker.count_reload(worked=number != 1)
        worker.set_model(f"{number:016x}", 5.0, 6.0)
    for worker in workers:
        found = numbers(worker.text())
        assert found['ialspp_requests_total{route="/v1/model",status="200"}'] == 6
        assert found['ialspp_request_seconds_sum{route="/v1/model"}'] == pytest.approx(0.12)
        assert found["ialspp_ranked_total"] == 30
        assert found['ialspp_reloads_total{result="ok"}'] == 2
        assert found['ialspp_reloads_total{result="failed"}'] == 1
        assert found['ialspp_model_info{worker="2",checksum="0000000000000002"}'] == 1
    again = Metrics(3, 2, shared)  # started anew
    again.count("/v1/model", 200, 0.02)
    assert numbers(again.text())['ialspp_requests_total{route="/v1/model",status="200"}'] == 7


# Documentation


def test_the_docs_list_every_route_and_load_nothing(served):
    page = served.get("/docs")
    paths = served.get("/openapi.json").json()["paths"]
    assert {"/v1/recommend", "/v1/similar/{item}", "/metrics"} <= set(paths)
    for path in paths:
        assert path in page.text
    assert "//" not in re.sub(r"https?://www.w3.org", "", page.text).replace("<!--", "")
    assert "<script" not in page.text
    assert "default-src 'none'" in page.headers["content-security-policy"]
    assert page.headers["x-content-type-options"] == "nosniff"


def test_the_schema_describes_bodies_and_answers(served):
    document = served.get("/openapi.json").json()
    recommend = document["paths"]["/v1/recommend"]["post"]
    assert "Recommend" in json.dumps(recommend["requestBody"])
    assert "Recommendations" in json.dumps(recommend["responses"]["200"])
    fields = {
        name: schema for name, schema in document["components"]["schemas"].items() if "Recommend" in name
    }
    assert any({"user", "items", "k", "explain"} <= set(schema["properties"]) for schema in fields.values())


# Settings


def test_a_key_is_required_where_others_can_ask(tmp_path):
    assert key_for("127.0.0.1", None, False) is None
    assert key_for("localhost", None, False) is None
    assert key_for("::1", None, False) is None
    assert key_for("0.0.0.0", None, True) is None
    for host in ("0.0.0.0", "::", "192.168.1.5"):
        with pytest.raises(ValueError, match=r"--key-file.*--no-key"):
            key_for(host, None, False)
    file = tmp_path / "key"
    file.write_text(f"{KEY}\n")
    assert key_for("0.0.0.0", file, False) == KEY
    with pytest.raises(ValueError, match="exclude each other"):
        key_for("0.0.0.0", file, True)


@pytest.mark.parametrize(
    "content", ["", "short", "x" * 1025, "two words of a key file", "ä" * 20, "a" * 20 + "\nb"]
)
def test_a_key_is_one_line_that_cannot_be_guessed(tmp_path, content):
    file = tmp_path / "key"
    file.write_text(content)
    with pytest.raises(ValueError, match="key") as failed:
        read_key(file)
    assert not content or content not in str(failed.value)


@pytest.mark.parametrize(
    ("settings", "word"),
    [
        ({"host": "example.org"}, "host"),
        ({"port": 65536}, "port"),
        ({"port": -1}, "port"),
        ({"workers": 0}, "workers"),
        ({"workers": 1000}, "workers"),
        ({"watch": -1.0}, "watch"),
    ],
)
def test_bad_settings_are_errors(tmp_path, settings, word):
    with pytest.raises(ValueError, match=word):
        Settings(model=tmp_path, **settings)


@pytest.mark.parametrize("name", ["body", "k", "ids", "batch", "seconds", "waiting"])
def test_limits_are_at_least_one(name):
    with pytest.raises(ValueError, match=name):
        Limits(**{name: 0})


def test_settings_do_not_show_the_key(tmp_path):
    settings = Settings(model=tmp_path, key=KEY)
    assert KEY not in repr(settings)
    assert settings.url == f"{LOCAL}:8000"
    assert Settings(model=tmp_path, host="::1").url == "http://[::1]:8000"
