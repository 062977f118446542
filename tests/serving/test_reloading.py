"""A replaced model file: checked, then swapped; a bad one leaves the old model answering."""

import asyncio
import shutil

import pytest
from support.models import fitted, make_data
from support.serving import MODEL, client_of, problem

from ialspp import ImplicitMF
from ialspp.errors import IalsppError
from ialspp.serving import reloading
from ialspp.serving.metrics import Metrics
from ialspp.serving.reloading import Reloader
from ialspp.serving.served import Served


@pytest.fixture(scope="module")
def versions(tmp_path_factory):
    """Files of three models, with their checksums."""
    folder = tmp_path_factory.mktemp("versions")
    found = []
    for seed in range(3):
        path = folder / f"{seed}.ialspp"
        fitted(make_data(seed=seed)).save(path)
        found.append((path, ImplicitMF.load(path).file_info["checksum"]))
    assert len({checksum for _, checksum in found}) == 3
    return found


def put(source, path):
    """Replace a file as `save` does."""
    shutil.copyfile(source, path.with_suffix(".part"))
    path.with_suffix(".part").replace(path)


def damaged(source, path):
    content = bytearray(source.read_bytes())
    content[-100] ^= 1
    path.write_bytes(content)


def test_a_new_file_is_served_after_a_reload(versions, tmp_path):
    path = tmp_path / "model.ialspp"
    put(versions[0][0], path)
    with client_of(path) as (client, _):
        assert client.get("/health/ready").json() == {
            "status": "ok",
            "model": versions[0][1],
            "reload_error": None,
        }
        put(versions[1][0], path)
        assert client.get("/health/ready").json()["model"] == versions[0][1]
        assert client.post("/v1/reload").json() == {"checksum": versions[1][1], "changed": True}
        assert client.post("/v1/reload").json() == {"checksum": versions[1][1], "changed": False}
        answer = client.post("/v1/recommend", json={"user": 3})
        assert answer.headers[MODEL] == versions[1][1]
        assert [item["id"] for item in answer.json()["items"]] == ImplicitMF.load(versions[1][0]).recommend(3)
        assert 'ialspp_reloads_total{result="ok"} 2' in client.get("/metrics").text


@pytest.mark.parametrize("fault", ["damaged", "cut", "empty", "other", "gone", "folder"])
def test_a_bad_file_leaves_the_old_model_answering(versions, tmp_path, fault):
    path = tmp_path / "secret-folder" / "model.ialspp"
    path.parent.mkdir()
    put(versions[0][0], path)
    with client_of(path) as (client, _):
        before = client.post("/v1/recommend", json={"user": 3})
        spoil(fault, versions[1][0], path)
        refused = problem(client.post("/v1/reload"), 409, "old model")
        ready = client.get("/health/ready")
        assert ready.status_code == 200
        assert ready.json()["model"] == versions[0][1]
        assert ready.json()["reload_error"]
        assert "secret-folder" not in ready.text + refused["detail"]
        assert client.get("/v1/model").json()["reload_error"] == ready.json()["reload_error"]
        assert 'ialspp_reloads_total{result="failed"} 1' in client.get("/metrics").text
        assert 'ialspp_model_stale{worker="0"} 1' in client.get("/metrics").text
        assert client.post("/v1/recommend", json={"user": 3}).content == before.content
        shutil.rmtree(path) if path.is_dir() else None
        put(versions[2][0], path)
        assert client.post("/v1/reload").json()["checksum"] == versions[2][1]
        assert client.get("/health/ready").json()["reload_error"] is None
        assert 'ialspp_model_stale{worker="0"} 0' in client.get("/metrics").text


def spoil(fault, source, path):
    """Put something bad in the place of a file that is mapped: never in place."""
    path.unlink()
    if fault == "damaged":
        damaged(source, path)
    elif fault == "cut":
        path.write_bytes(source.read_bytes()[:-10])
    elif fault == "empty":
        path.touch()
    elif fault == "other":
        path.write_text("who,what\na,b\n")
    elif fault == "folder":
        path.mkdir()


def test_the_watcher_notices_each_file_once(versions, tmp_path):
    path = tmp_path / "model.ialspp"
    put(versions[0][0], path)
    reloader = Reloader(path, 1, Metrics())
    tried = []
    original = reloader.reload

    async def reload():
        tried.append(1)
        return await original()

    reloader.reload = reload

    async def until(event):
        while not event():
            await asyncio.sleep(0.002)

    async def run():
        watching = asyncio.create_task(reloader.watch(0.001))
        put(versions[1][0], path)
        await until(lambda: reloader.current.checksum == versions[1][1])
        spoil("damaged", versions[2][0], path)
        await until(lambda: reloader.error is not None)
        assert reloader.current.checksum == versions[1][1]
        so_far = len(tried)
        await asyncio.sleep(0.05)  # a bad file is not tried again
        assert len(tried) == so_far
        path.unlink()
        await asyncio.sleep(0.01)  # a file that is gone for a moment is no news
        assert len(tried) == so_far
        put(versions[2][0], path)
        await until(lambda: reloader.current.checksum == versions[2][1])
        assert reloader.error is None
        watching.cancel()

    asyncio.run(run())
    reloader.close()


def test_a_file_that_could_not_be_read_is_tried_again(versions, tmp_path, monkeypatch):
    path = tmp_path / "model.ialspp"
    put(versions[0][0], path)
    reloader = Reloader(path, 1, Metrics())
    monkeypatch.setattr(reloading, "PAUSE", 0.001)
    errors = [PermissionError(13, "Permission denied"), MemoryError()]

    def served(*arguments):
        if errors:
            raise errors.pop()
        return Served(*arguments)

    monkeypatch.setattr(reloading, "Served", served)

    async def run():
        watching = asyncio.create_task(reloader.watch(0.001))
        put(versions[1][0], path)
        while reloader.current.checksum != versions[1][1]:
            await asyncio.sleep(0.002)
        watching.cancel()

    asyncio.run(run())
    reloader.close()
    assert (errors, reloader.error) == ([], None)


def test_who_stops_waiting_does_not_stop_a_reload(versions, tmp_path):
    path = tmp_path / "model.ialspp"
    put(versions[0][0], path)
    reloader = Reloader(path, 1, Metrics())

    async def run():
        put(versions[1][0], path)
        waiting = asyncio.create_task(reloader.reload())
        await asyncio.sleep(0)  # until it has begun
        await asyncio.sleep(0)
        waiting.cancel()
        with pytest.raises(asyncio.CancelledError):
            await waiting
        while reloader.current.checksum != versions[1][1]:
            await asyncio.sleep(0.002)

    asyncio.run(run())
    reloader.close()


def test_loading_has_more_time_than_an_answer(versions, tmp_path):
    path = tmp_path / "model.ialspp"
    put(versions[0][0], path)
    with client_of(path, limits={"seconds": 0.1}) as (client, service):
        original = service.reloader.reload

        async def slow():
            await asyncio.sleep(0.3)
            return await original()

        service.reloader.reload = slow
        assert client.post("/v1/reload").status_code == 200


def test_a_service_does_not_start_with_a_bad_file(versions, tmp_path):
    path = tmp_path / "model.ialspp"
    damaged(versions[0][0], path)
    with pytest.raises(IalsppError, match="checksum"), client_of(path):
        pass
