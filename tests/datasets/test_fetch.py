import contextlib
import hashlib
import io
import os
import signal
import socket
import struct
import subprocess
import sys
import threading
import time
import zipfile
from dataclasses import dataclass, field
from email.message import Message
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from urllib.error import URLError
from urllib.request import BaseHandler
from urllib.response import addinfourl

import numpy as np
import pytest
from support.processes import PATIENCE

from ialspp.datasets import DownloadError, Remote
from ialspp.datasets import fetch as fetching
from ialspp.datasets import request as requests
from ialspp.datasets.fetch import cache_folder, fetch

CONTENT = np.random.default_rng(0).bytes(300_000)
FETCH = """
import sys
from ialspp.datasets import Remote, fetch
fetch.PAUSE = 0.0
print(fetch.fetch(Remote(sys.argv[1])))
"""
posix = pytest.mark.skipif(os.name != "posix", reason="signals as POSIX has them")


@dataclass
class Site:
    """A server's one file, and what the server does wrong."""

    content: bytes = CONTENT
    headers: dict[str, str] = field(default_factory=lambda: {"ETag": '"one"'})
    status: int | None = None
    ignores: tuple[str, ...] = ()  # headers of requests
    says_length: bool = True
    redirects_to: str = ""
    sends: list[int] = field(default_factory=list)  # bytes of each answer before it breaks off; then all
    breaks_by_reset: bool = False
    stalls: threading.Event | None = None  # waits for it instead of breaking off
    asked: list[str | None] = field(default_factory=list)  # the Range of each request
    url: str = ""


class Handler(BaseHTTPRequestHandler):
    site: Site

    def do_GET(self):
        site = self.site
        wanted = {name: self.headers[name] for name in ("Range", "If-Range") if name not in site.ignores}
        site.asked.append(self.headers["Range"])
        start = int(wanted["Range"].removeprefix("bytes=").rstrip("-")) if wanted.get("Range") else 0
        if wanted.get("If-Range") and wanted["If-Range"] not in site.headers.values():
            start = 0
        status = site.status or (416 if start > len(site.content) else 206 if start else 200)
        body = site.content[start:]
        if site.redirects_to and self.path == "/data.bin":
            status, body = 302, b""
        self.send_response(status)
        if status == 302:
            self.send_header("Location", site.redirects_to)
        for name, value in site.headers.items():
            self.send_header(name, value)
        if site.says_length:
            self.send_header("Content-Length", str(len(body)))
        if status == 206:
            self.send_header("Content-Range", f"bytes {start}-{len(site.content) - 1}/{len(site.content)}")
        self.end_headers()
        self.send_body(body)

    def send_body(self, body):
        if not self.site.sends:
            self.wfile.write(body)
            return
        self.wfile.write(body[: self.site.sends.pop(0)])
        if self.site.stalls:
            self.site.stalls.wait(PATIENCE)
        if self.site.breaks_by_reset:
            self.connection.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, struct.pack("ii", 1, 0))
            self.connection.close()

    def handle(self):
        with contextlib.suppress(OSError, ValueError):  # the client went away, or this end did
            super().handle()

    def finish(self):
        with contextlib.suppress(OSError, ValueError):
            super().finish()

    def log_message(self, *_):
        pass


@pytest.fixture(autouse=True)
def no_pause_and_no_proxy(monkeypatch):
    monkeypatch.setenv("no_proxy", "*")
    monkeypatch.setattr(fetching, "PAUSE", 0.0)


@pytest.fixture
def site():
    """A server on this machine, on a thread of its own."""
    site = Site()
    handler = type("SiteHandler", (Handler,), {"site": site})
    with ThreadingHTTPServer(("127.0.0.1", 0), handler) as running:
        thread = threading.Thread(target=running.serve_forever, kwargs={"poll_interval": 0.01})
        thread.start()
        site.url = f"http://127.0.0.1:{running.server_port}/data.bin"
        yield site
        running.shutdown()
        thread.join()


def md5(content):
    return f"md5:{hashlib.md5(content, usedforsecurity=False).hexdigest()}"


def sha256(content):
    return f"sha256:{hashlib.sha256(content).hexdigest()}"


def files(folder):
    return {path.name for path in folder.iterdir() if path.suffix not in (".lock", ".sha256")}


def a_zip():
    packed = io.BytesIO()
    with zipfile.ZipFile(packed, "w") as archive:
        archive.writestr("a.txt", CONTENT)
    return packed.getvalue()


def test_a_file_comes_once(site, cache):
    remote = Remote(site.url, len(CONTENT), (md5(CONTENT),))
    assert fetch(remote) == fetch(remote) == cache / "data.bin"
    assert (cache / "data.bin").read_bytes() == CONTENT
    assert files(cache) == {"data.bin"}
    assert site.asked == [None]


@pytest.mark.parametrize("reset", [False, True])
@pytest.mark.parametrize("sends", [[100_000], [0], [299_999], [100_000, 65_536], [1, 1]])
def test_a_broken_connection_is_taken_up_again(site, sends, reset):
    site.sends, site.breaks_by_reset = list(sends), reset
    assert fetch(Remote(site.url, None, (md5(CONTENT),))).read_bytes() == CONTENT
    assert len(site.asked) == len(sends) + 1
    if not reset:  # a reset may throw away bytes that were on their way
        come = np.cumsum(sends)
        assert site.asked[1:] == [f"bytes={n}-" if n else None for n in come]


def test_what_has_come_is_kept_for_the_next_time(site, cache):
    site.sends = [90_000, 5_000, 5_000]
    with pytest.raises(DownloadError, match=r"100,000 of 300,000 bytes.*100,000 bytes are kept"):
        fetch(Remote(site.url))
    assert files(cache) == {"data.bin.part", "data.bin.part.version"}
    assert fetch(Remote(site.url)).read_bytes() == CONTENT
    assert site.asked[-1] == "bytes=100000-"
    assert files(cache) == {"data.bin"}


def stopped_after(site, n):
    site.sends = [n, 0, 0]
    with pytest.raises(DownloadError):
        fetch(Remote(site.url))
    site.asked.clear()


def test_a_server_without_ranges_starts_over(site):
    stopped_after(site, 100_000)
    site.ignores = ("Range",)
    assert fetch(Remote(site.url)).read_bytes() == CONTENT
    assert site.asked == ["bytes=100000-"]


@pytest.mark.parametrize("ignores", [(), ("If-Range",)])
def test_a_changed_file_starts_over(site, ignores):
    stopped_after(site, 100_000)
    site.content, site.headers, site.ignores = CONTENT[::-1], {"ETag": '"two"'}, ignores
    assert fetch(Remote(site.url)).read_bytes() == CONTENT[::-1]
    assert site.asked == ["bytes=100000-"] + [None] * len(ignores)


def test_a_file_that_shrank_starts_over(site):
    stopped_after(site, 100_000)
    site.content, site.ignores = CONTENT[:50_000], ("If-Range",)
    assert fetch(Remote(site.url)).read_bytes() == CONTENT[:50_000]
    assert site.asked == ["bytes=100000-", None]


@pytest.mark.parametrize(
    ("headers", "resumed"),
    [
        ({}, False),
        ({"ETag": 'W/"weak"'}, False),
        ({"ETag": 'W/"weak"', "Last-Modified": "Wed, 21 Oct 2015 07:28:00 GMT"}, True),
    ],
)
def test_only_a_file_whose_version_can_be_told_is_resumed(site, headers, resumed):
    site.headers = headers
    stopped_after(site, 100_000)
    assert fetch(Remote(site.url)).read_bytes() == CONTENT
    assert site.asked == (["bytes=100000-"] if resumed else [None])


def test_a_part_that_was_complete_is_not_asked_for_again(site, cache):
    cache.mkdir(parents=True)
    (cache / "data.bin.part").write_bytes(CONTENT)
    assert fetch(Remote(site.url, len(CONTENT), (md5(CONTENT),))).read_bytes() == CONTENT
    assert site.asked == []


def test_a_wrong_checksum_removes_what_came_and_names_both(site, cache):
    wrong = "sha256:" + "0" * 64
    with pytest.raises(DownloadError, match=f"{sha256(CONTENT)[7:]}.*{'0' * 64}"):
        fetch(Remote(site.url, None, (md5(CONTENT), wrong)))
    assert files(cache) == set()


def test_a_wrong_size_removes_what_came_and_names_both(site, cache):
    with pytest.raises(DownloadError, match=r"300,000 bytes.*300,001"):
        fetch(Remote(site.url, len(CONTENT) + 1))
    assert files(cache) == set()


def test_an_archive_without_published_sums_must_be_whole(site, cache):
    site.content, site.says_length = a_zip(), False
    remote = Remote(site.url.replace(".bin", ".zip"))
    site.sends = [200_000]
    with pytest.raises(DownloadError, match="200,000 bytes are not a complete zip"):
        fetch(remote)
    assert files(cache) == set()
    assert fetch(remote).read_bytes() == site.content


def test_half_a_file_in_the_place_of_the_whole_is_replaced(site, cache):
    site.content = a_zip()
    cache.mkdir(parents=True)
    (cache / "data.zip").write_bytes(site.content[:1000])
    assert fetch(Remote(site.url.replace(".bin", ".zip"))).read_bytes() == site.content


def test_a_file_put_there_by_hand_is_taken(site, cache):
    cache.mkdir(parents=True)
    (cache / "data.bin").write_bytes(b"by hand")
    assert fetch(Remote(site.url, 7)).read_bytes() == b"by hand"
    assert site.asked == []


def test_a_wrong_file_put_there_by_hand_is_kept_and_named(site, cache):
    cache.mkdir(parents=True)
    (cache / "data.bin").write_bytes(b"by hand")
    site.status = 404
    with pytest.raises(
        DownloadError, match=r"404.*the file there now is not it: it has 7 bytes, but 8 are published"
    ):
        fetch(Remote(site.url, 8))
    assert (cache / "data.bin").read_bytes() == b"by hand"


@pytest.mark.parametrize("status", [404, 500, 204])
def test_what_the_server_refuses_is_an_error_that_says_what_to_do(site, cache, status):
    site.status = status
    with pytest.raises(DownloadError) as error:
        fetch(Remote(site.url))
    for part in (site.url, f"HTTP status {status}", str(cache / "data.bin"), "path="):
        assert part in str(error.value)
    assert files(cache) == set()


# What a hostile server may not do


@pytest.mark.parametrize("says_length", [True, False])
@pytest.mark.parametrize("limits", [{"size": 299_999}, {"largest": 299_999}])
def test_more_bytes_than_allowed_are_refused_and_removed(site, cache, says_length, limits):
    site.says_length = says_length
    with pytest.raises(DownloadError, match=r"the server sends \d+,\d+ bytes or more, but 299,999 are"):
        fetch(Remote(site.url, **limits))
    assert files(cache) == set()
    assert site.asked == [None]


def test_a_body_without_an_end_is_refused(site, cache):
    site.content, site.says_length = CONTENT * 100, False
    with pytest.raises(DownloadError, match="bytes or more, but 300,000 are the most that is accepted"):
        fetch(Remote(site.url, largest=300_000))
    assert files(cache) == set()


@pytest.mark.parametrize("length", ["abc", "-5", "9" * 5000, "1.5", "", "\u00b2"])
def test_a_length_that_is_no_number_is_not_believed(site, length):
    site.says_length, site.headers = False, {"Content-Length": length}
    assert fetch(Remote(site.url)).read_bytes() == CONTENT


@pytest.mark.parametrize("etag", ['"a\r\n b"', '"\x01"', '"\u00e9"'])
def test_a_version_that_cannot_be_sent_back_is_not_resumed(site, etag):
    site.headers = {"ETag": etag}
    stopped_after(site, 100_000)
    assert fetch(Remote(site.url)).read_bytes() == CONTENT
    assert site.asked == [None]


def test_a_redirect_is_followed(site):
    site.redirects_to = site.url.replace("data.bin", "elsewhere.bin")
    assert fetch(Remote(site.url, None, (sha256(CONTENT),))).read_bytes() == CONTENT
    assert len(site.asked) == 2


@pytest.mark.parametrize("place", ["ftp://127.0.0.1/data.bin", "file:///etc/passwd", "//[", "http://[::1"])
def test_a_redirect_to_something_else_than_http_is_an_error(site, place, cache):
    site.redirects_to = place
    with pytest.raises(DownloadError, match="cannot download"):
        fetch(Remote(site.url))
    assert files(cache) == set()


class RedirectsFromHttps(BaseHandler):
    """What a server would answer to a request over TLS: another address."""

    handler_order = 1  # before the handler that would connect

    def __init__(self, place):
        self.place = place

    def https_open(self, _):
        headers = Message()
        headers["Location"] = self.place
        response = addinfourl(io.BytesIO(), headers, "https://a.b/data.bin", 302)
        response.msg = "Found"
        return response


def test_a_redirect_from_https_to_http_is_refused(site):
    opener = requests.opener()
    opener.add_handler(RedirectsFromHttps(site.url))
    with pytest.raises(URLError, match=r"redirects from https to http://127\.0\.0\.1.* refused"):
        opener.open("https://a.b/data.bin")
    assert site.asked == []


# No SHA-256 is known of some files: that of the first download is required of the next


def test_the_first_download_is_noted_and_required_of_later_ones(site, cache):
    fetch(Remote(site.url)).unlink()
    noted = cache / "data.bin.sha256"
    assert noted.read_text() == f"{sha256(CONTENT)[7:]}  data.bin\n"
    site.content, site.headers = CONTENT[::-1], {"ETag": '"two"'}
    with pytest.raises(
        DownloadError, match=f"its sha256 is {sha256(CONTENT[::-1])[7:]}, but that of the first"
    ):
        fetch(Remote(site.url))
    assert files(cache) == set()
    noted.unlink()
    assert fetch(Remote(site.url)).read_bytes() == CONTENT[::-1]


def test_a_note_that_is_damaged_is_an_error_that_names_it(site, cache):
    cache.mkdir(parents=True)
    (cache / "data.bin.sha256").write_bytes(b"\xff\xfe")
    with pytest.raises(DownloadError, match=r"Delete .*data\.bin\.sha256"):
        fetch(Remote(site.url))


def test_nothing_is_noted_where_the_checksum_is_known(site, cache):
    fetch(Remote(site.url, None, (sha256(CONTENT),)))
    assert not (cache / "data.bin.sha256").exists()


def test_a_server_that_falls_silent_is_given_up_and_asked_again(site, monkeypatch):
    monkeypatch.setattr(requests, "TIMEOUT", 0.2)
    site.stalls, site.sends = threading.Event(), [200_000]
    assert fetched_at_last(Remote(site.url)).read_bytes() == CONTENT
    assert len(site.asked) > 1
    assert not site.stalls.is_set()  # the first answer never came to its end
    site.stalls.set()


def fetched_at_last(remote):
    """With so short a timeout, any server on a busy machine may seem silent before it answers at all."""
    while True:
        with contextlib.suppress(DownloadError):
            return fetch(remote)


def test_no_server_is_an_error_that_says_what_to_do(cache):
    with socket.socket() as unused:
        unused.bind(("127.0.0.1", 0))
        url = f"http://127.0.0.1:{unused.getsockname()[1]}/data.bin"
    with pytest.raises(DownloadError, match=r"refused") as error:
        fetch(Remote(url))
    assert url in str(error.value)
    assert str(cache / "data.bin") in str(error.value)


def test_a_server_that_does_not_speak_http_is_an_error():
    with socket.create_server(("127.0.0.1", 0)) as listener:

        def speak():
            connection, _ = listener.accept()
            with connection:
                connection.recv(1000)
                connection.sendall(b"hello\r\n")

        thread = threading.Thread(target=speak)
        thread.start()
        with pytest.raises(DownloadError, match="hello"):
            fetch(Remote(f"http://127.0.0.1:{listener.getsockname()[1]}/data.bin"))
        thread.join()


def start(site, **options):
    options = {"stdout": subprocess.PIPE, "stderr": subprocess.PIPE, "text": True, **options}
    return subprocess.Popen([sys.executable, "-c", FETCH, site.url], **options)


def test_of_two_processes_one_downloads_and_both_have_the_file(site, cache):
    site.stalls, site.sends = threading.Event(), [100_000]
    processes = [start(site) for _ in range(2)]
    wait_until(lambda: size(cache / "data.bin.part") >= 65_536)
    site.stalls.set()
    answers = [process.communicate(timeout=PATIENCE) for process in processes]
    assert answers == [(f"{cache / 'data.bin'}\n", "")] * 2
    assert (cache / "data.bin").read_bytes() == CONTENT
    assert len(site.asked) == 2  # one of them twice: its first answer broke off


@posix
@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGKILL])
def test_a_process_that_was_stopped_leaves_its_part_to_the_next(site, cache, number):
    site.stalls, site.sends = threading.Event(), [200_000]
    process = start(site)
    wait_until(lambda: size(cache / "data.bin.part") >= 65_536)
    process.send_signal(number)
    process.communicate(timeout=PATIENCE)
    assert process.returncode in (-number, 130)
    site.stalls.set()
    kept = size(cache / "data.bin.part")
    assert fetch(Remote(site.url)).read_bytes() == CONTENT
    assert site.asked == [None, f"bytes={kept}-"]


def wait_until(condition):
    end = time.monotonic() + PATIENCE
    while not condition():
        assert time.monotonic() < end, "it did not happen"
        time.sleep(0.01)


def size(path):
    return path.stat().st_size if path.exists() else 0


def everything_on(screen):
    """All bytes until the other end of a pseudo-terminal is closed, which gives few of them at a time."""
    shown = b""
    while True:
        try:
            some = screen.read(1 << 16)
        except OSError:  # how Linux says that the other end is closed
            return shown
        if not some:
            return shown
        shown += some


@posix
def test_the_bar_is_for_a_terminal(site, cache, capfd):
    fetch(Remote(site.url))
    assert capfd.readouterr().err == ""
    (cache / "data.bin").unlink()
    ours, theirs = os.openpty()
    with os.fdopen(ours, "rb", buffering=0) as screen:
        with os.fdopen(theirs, "wb") as terminal:
            process = start(site, stderr=terminal, env={**os.environ, "TERM": "xterm", "COLUMNS": "120"})
        shown = everything_on(screen).decode()
        with process:
            process.communicate(timeout=PATIENCE)
    assert "data.bin" in shown
    assert "0.3 of 0.3 MB" in shown
    assert shown.endswith("\x1b[2K")  # the line is gone again


def test_the_cache_is_the_users_unless_the_environment_says_otherwise(cache, monkeypatch):
    assert cache_folder() == cache
    monkeypatch.setenv("IALSPP_CACHE", "~/elsewhere")
    assert cache_folder() == Path.home() / "elsewhere" / "datasets"
    monkeypatch.delenv("IALSPP_CACHE")
    assert cache_folder().parts[-1] == "datasets"
    assert "ialspp" in cache_folder().parts
