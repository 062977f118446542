"""`ialspp serve` in processes of its own, on loopback."""

import json
import os
import signal
import socket
import threading
from contextlib import contextmanager, suppress
from pathlib import Path
from urllib.parse import quote

import httpx
import pytest
from support.commands import ialspp_process, refuses
from support.models import ITEMS, fitted, make_data
from support.processes import PATIENCE, wait_until
from support.serving import MODEL, Process, problem, serving

from ialspp import ImplicitMF

KEY = "correct-horse-battery-staple"


@pytest.fixture(scope="module")
def running(model_file):
    with serving(model_file, "--max-body", 2000) as (client, _):
        yield client


def test_it_answers(running, model):
    answer = running.post("/v1/recommend", json={"user": 3, "k": 4})
    assert [item["id"] for item in answer.json()["items"]] == model.recommend(3, 4)
    assert running.get("/health/live").json() == {"status": "ok"}
    assert "ialspp_requests_total" in running.get("/metrics").text
    assert "/v1/recommend" in running.get("/docs").text


def test_a_body_that_is_too_large_is_refused(running):
    large = json.dumps({"user": 3, "exclude": ["x" * 3000]}).encode()
    problem(running.post("/v1/recommend", content=large), 413)
    problem(running.post("/v1/recommend", content=iter([large[:1500], large[1500:]])), 413)  # chunked


def test_paths_are_decoded_once(tmp_path):
    items = ["a/b", "a%2Fb", "ä b", "?"]
    data = make_data(items=[*items, *ITEMS])
    fitted(data).save(tmp_path / "model.ialspp")
    with serving(tmp_path / "model.ialspp") as (client, _):
        for item in items:
            answer = client.get(f"/v1/similar/{quote(item, safe='')}")
            assert answer.json()["item"]["id"] == item


NO_REQUESTS = [
    b"\x00\xff" * 100,
    b"GET / HTTP/9.9\r\n\r\n",
    b"POST /v1/recommend HTTP/1.1\r\nHost: localhost\r\nContent-Length: -5\r\n\r\n",
    b"GET /" + b"x" * 100_000,
]


def test_what_is_no_http_does_no_harm(running):
    host, port = running.base_url.host, running.base_url.port
    for words in NO_REQUESTS:
        with suppress(OSError), socket.create_connection((host, port), timeout=PATIENCE) as connection:
            connection.sendall(words)  # which may make it hang up
            connection.shutdown(socket.SHUT_WR)
            assert b" 200 " not in connection.recv(1000)
    assert running.get("/health/live").status_code == 200


def test_a_client_that_never_ends_its_request_is_given_up(model_file):
    with serving(model_file, "--max-seconds", 0.5) as (client, _):
        address = (client.base_url.host, client.base_url.port)
        with socket.create_connection(address, timeout=PATIENCE) as connection:
            connection.sendall(
                b"POST /v1/recommend HTTP/1.1\r\nHost: localhost\r\nContent-Length: 100\r\n\r\n{"
            )
            assert b" 503 " in connection.recv(1000)


def test_the_key_is_required_and_in_no_log(model_file, tmp_path):
    (tmp_path / "key").write_text(KEY)
    (tmp_path / "key").chmod(0o644)
    options = ["--host", "127.0.0.1", "--key-file", tmp_path / "key", "--access-log", "-"]
    with serving(model_file, *options) as (client, process):
        problem(client.get("/v1/model"), 401)
        assert client.get("/v1/model", headers={"authorization": f"Bearer {KEY}"}).status_code == 200
        client.get(f"/v1/similar/{KEY}", headers={"authorization": f"Bearer {KEY}"})
        assert process.end() == 0
        assert "chmod 600" in process.said
        lines = [json.loads(line) for line in process.output]
        assert [line["status"] for line in lines] == [401, 200, 404]
        assert KEY not in process.said + "".join(process.output)


@contextmanager
def hangups(disposition):
    """Processes that start in the block have this disposition of SIGHUP."""
    before = signal.signal(signal.SIGHUP, disposition)
    try:
        yield
    finally:
        signal.signal(signal.SIGHUP, before)


@pytest.mark.parametrize("disposition", [signal.SIG_DFL, signal.SIG_IGN], ids=["shell", "nohup"])
def test_sighup_loads_the_file_again(model_file, tmp_path, disposition):
    path = tmp_path / "model.ialspp"
    path.write_bytes(model_file.read_bytes())
    with hangups(disposition), serving(path, "--watch", 0) as (client, process):
        old = client.get("/v1/model").json()["checksum"]
        fitted(make_data(seed=5)).save(path)
        new = ImplicitMF.load(path).file_info["checksum"]
        assert client.get("/health/ready").json()["model"] == old
        process.send(signal.SIGHUP)
        wait_until(lambda: client.get("/health/ready").json()["model"] == new)


def hangups_are(done_with, pid):
    """Whether a process blocks ("SigBlk") or catches ("SigCgt") SIGHUP."""
    lines = Path(f"/proc/{pid}/status").read_text().splitlines()
    [mask] = [int(line.split()[1], 16) for line in lines if line.startswith(done_with)]
    return bool(mask >> (signal.SIGHUP - 1) & 1)


@pytest.mark.parametrize("workers", [1, 2])
def test_sighup_does_not_end_workers_that_still_load(model_file, workers):
    """They are told as early as they can be found, and all of them answer in the end."""
    if not Path("/proc/self/status").exists():
        pytest.skip("needs /proc to find the workers")
    process = Process(model_file, "--workers", workers, "--watch", 0)
    alone = process.process.pid

    def begun():
        if workers > 1:
            return workers_of(alone)
        return {alone} if hangups_are("SigCgt", alone) else set()

    try:
        wait_until(lambda: process.process.poll() is not None or len(begun()) == workers)
        first = begun()
        for worker in first:
            os.kill(worker, signal.SIGHUP)
        with httpx.Client(base_url=process.url(), timeout=PATIENCE) as client:
            wait_until(
                lambda: f'ialspp_reloads_total{{result="ok"}} {workers}' in client.get("/metrics").text
            )
        assert begun() == first
        wait_until(lambda: not any(hangups_are("SigBlk", worker) for worker in first))
    finally:
        process.end()


@pytest.mark.parametrize("number", [signal.SIGTERM, signal.SIGINT])
def test_a_signal_ends_it_and_running_requests_are_answered(model_file, number):
    process = Process(model_file)
    url = process.url()
    port = httpx.URL(url).port
    with (
        socket.create_connection(("127.0.0.1", port), timeout=PATIENCE) as connection,
        socket.create_connection(("127.0.0.1", port)),  # that asks nothing
    ):
        body = json.dumps({"user": 3}).encode()
        head = f"POST /v1/recommend HTTP/1.1\r\nHost: localhost\r\nContent-Length: {len(body)}\r\n\r\n"
        connection.sendall(head.encode() + body[:3])
        with httpx.Client(base_url=url, timeout=PATIENCE) as client:
            wait_until(lambda: client.get("/health/live").status_code == 200)
        process.send(number)
        wait_until(lambda: refuses_connections(port))
        connection.sendall(body[3:])
        assert b" 200 OK" in connection.recv(100)
    assert process.ended() == 0, process.said
    assert "Traceback" not in process.said


def refuses_connections(port):
    try:
        socket.create_connection(("127.0.0.1", port)).close()
    except ConnectionError:
        return True
    return False


def test_workers_share_the_port_the_counts_and_the_reload(model_file, tmp_path):
    path = tmp_path / "model.ialspp"
    path.write_bytes(model_file.read_bytes())
    with serving(path, "--workers", 2, "--watch", 0) as (client, process):
        fitted(make_data(seed=5)).save(path)
        new = ImplicitMF.load(path).file_info["checksum"]

        def asked():  # on new connections, so that both workers get some
            for _ in range(8):
                httpx.post(
                    f"{client.base_url}/v1/recommend", json={"user": 3}, timeout=PATIENCE
                ).raise_for_status()

        askers = [threading.Thread(target=asked) for _ in range(4)]
        for asker in askers:
            asker.start()
        for asker in askers:
            asker.join()
        counted = 'ialspp_requests_total{route="/v1/recommend",status="200"} 32'
        wait_until(lambda: counted in client.get("/metrics").text)  # a request counts once its answer is sent
        assert client.post("/v1/reload").json() == {"checksum": new, "changed": True}
        wait_until(
            lambda: all(
                f'ialspp_model_info{{worker="{number}",checksum="{new}"}} 1' in client.get("/metrics").text
                for number in range(2)
            )
        )
        assert process.end() == 0, process.said
    assert "Traceback" not in process.said


def test_a_worker_that_dies_is_replaced(model_file):
    with serving(model_file, "--workers", 2) as (client, process):
        before = workers_of(process.process.pid)
        assert len(before) == 2
        os.kill(min(before), signal.SIGKILL)
        wait_until(lambda: len(workers_of(process.process.pid) - {min(before)}) == 2)
        wait_until(lambda: answers(client))


def workers_of(parent):
    """The numbers of the processes that answer for this one."""
    listed = Path(f"/proc/{parent}/task/{parent}/children")
    if not listed.exists():
        pytest.skip("needs /proc to find the workers")
    return {int(number) for number in listed.read_text().split() if "spawn_main" in command_of(number)}


def command_of(number):
    try:
        return Path(f"/proc/{number}/cmdline").read_text()
    except OSError:
        return ""


def answers(client):
    try:
        return httpx.get(f"{client.base_url}/health/ready", timeout=PATIENCE).status_code == 200
    except httpx.TransportError:
        return False


def test_a_port_in_use_is_an_error(running, model_file):
    port = running.base_url.port
    refuses("port", port, "in use")(ialspp_process("serve", model_file, "--port", port))


@pytest.mark.parametrize(
    ("options", "words"),
    [
        (["--host", "0.0.0.0"], ["--key-file", "--no-key"]),
        (["--host", "example.org"], ["--host", "example.org"]),
        (["--key-file", "nothing"], ["nothing"]),
        (["--port", "70000"], ["--port", "65535"]),
        (["--workers", "0"], ["--workers", "1"]),
        (["--max-k", "0"], ["k", "1"]),
    ],
)
def test_bad_options_are_errors(model_file, options, words):
    refuses(*words)(ialspp_process("serve", model_file, *options))


def test_a_bad_model_is_an_error(tmp_path):
    (tmp_path / "bad.ialspp").write_text("nothing")
    refuses("bad.ialspp")(ialspp_process("serve", tmp_path / "bad.ialspp"))
    done = ialspp_process("serve", tmp_path / "bad.ialspp", "--workers", 2)
    assert done.returncode == 2
    assert "bad.ialspp" in done.stderr
    assert "Traceback" not in done.stderr


def test_answers_carry_the_checksum_of_their_file(running, model_file):
    answer = running.post("/v1/recommend", json={"items": ITEMS[:1]})
    assert answer.headers[MODEL] == ImplicitMF.load(model_file).file_info["checksum"]


def test_ctrl_c_while_workers_start_is_told_without_tracebacks(model_file):
    """It reaches all processes of a terminal, and workers import for seconds."""
    if not Path("/proc/self/status").exists():
        pytest.skip("needs /proc to find the workers")
    process = Process(model_file, "--workers", 2, start_new_session=True)
    try:
        wait_until(lambda: process.process.poll() is not None or len(workers_of(process.process.pid)) == 2)
        os.killpg(process.process.pid, signal.SIGINT)
        assert process.ended() == 0
    finally:
        process.end()
    assert "Traceback" not in process.said
