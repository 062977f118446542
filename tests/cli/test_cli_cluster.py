"""--ray: what it refuses, before Ray is started, and the files that it makes."""

import os

import pytest
from support.commands import ialspp, refuses
from support.models import make_data
from support.processes import child, finish

from ialspp import Interactions
from ialspp.cli import cluster
from ialspp.cli.cluster import in_file_beside
from ialspp.files.leftovers import finished_name, in_use, leftovers, sweep


@pytest.fixture(scope="module")
def files(tmp_path_factory):
    folder = tmp_path_factory.mktemp("cluster")
    make_data().save(folder / "events.ialsdata")
    (folder / "events.csv").write_text("user,item\n1,2\n2,3\n")
    return folder


@pytest.mark.parametrize(
    ("source", "options", "message"),
    [
        ("events.ialsdata", ["--workers", "2"], "--workers is for --ray"),
        ("events.csv", ["--ray", "local", "--user", "user", "--item", "item"], "ialspp prepare"),
        ("events.ialsdata", ["--ray", "local", "--fetch", "A"], '"auto", "side" or "rows"'),
        ("events.ialsdata", ["--fetch", "rows"], "--fetch is for --ray"),
        ("events.ialsdata", ["--push-to", "/tmp"], "--push-to is for --ray"),
        ("events.ialsdata", ["--ray", "local", "--push-to", "here"], "--push-to must be an absolute path"),
        ("events.ialsdata", ["--ray", "local", "--workers", "0"], "workers must be"),
        ("events.ialsdata", ["--ray", "ray://10.0.0.1:10001"], "must run on a node of the cluster"),
    ],
)
def test_what_a_cluster_cannot_do_is_refused(files, source, options, message):
    done = ialspp("fit", str(files / source), *options, "-o", str(files / "model.ialspp"))
    assert done.returncode == 2
    assert message in " ".join(done.stderr.split())
    assert not (files / "model.ialspp").exists()


@pytest.mark.parametrize(
    ("command", "options", "message"),
    [
        ("evaluate", ["--workers", "2"], "--workers is for --ray"),
        ("tune", ["--workers", "2", "-o", "tuned.toml"], "--workers is for --ray"),
        ("tune", ["--ray", "auto", "--workers", "0", "-o", "tuned.toml"], "workers must be"),
        ("recommend", ["--all", "-o", "best.csv", "--workers", "2"], "--workers is for --ray"),
        ("recommend", ["--user", "1", "--ray", "local"], "add --all and -o FILE"),
        ("recommend", ["--all", "--ray", "local"], "add --all and -o FILE"),
    ],
)
def test_questions_refuse_what_makes_no_sense(tmp_path, command, options, message):
    refuses(message)(ialspp(command, "none", *options, cwd=tmp_path))
    assert list(tmp_path.iterdir()) == []


def test_a_part_of_the_data_is_a_file_beside_it_for_a_while(tmp_path):
    path = tmp_path / "events.ialsdata"
    make_data().save(path)
    data = Interactions.open(path)
    part = data.core(min_user=12)
    for _ in range(2):
        with in_file_beside(path, part) as beside:
            assert beside.to_frame().equals(part.to_frame())
            assert beside.file.path.parent == tmp_path
            assert finished_name(beside.file.path).name == "events.part.ialsdata"
            assert leftovers(tmp_path) == []
            with in_file_beside(beside.file.path, beside) as another:
                assert another.file.path != beside.file.path
                assert another.to_frame().equals(part.to_frame())
        assert list(tmp_path.iterdir()) == [path]


@pytest.mark.skipif(os.name != "posix", reason="locks as POSIX has them")
def test_a_part_that_was_taken_for_a_leftover_is_written_again(tmp_path, monkeypatch):
    path = tmp_path / "events.ialsdata"
    make_data().save(path)
    swept = []

    def sweeping(file):
        if not swept:
            sweep(path.with_name("events.part.ialsdata"))
            swept.append(not file.exists())
        return in_use(file)

    monkeypatch.setattr(cluster, "in_use", sweeping)
    with in_file_beside(path, make_data()) as beside:
        assert swept == [True]
        assert beside.to_frame().equals(make_data().to_frame())


@pytest.mark.skipif(os.name != "posix", reason="locks as POSIX has them")
def test_what_a_killed_process_left_of_a_part_is_removed_by_the_next_one(tmp_path):
    path = tmp_path / "events.ialsdata"
    make_data().save(path)
    process = child(
        """
        import sys, time
        from pathlib import Path
        from ialspp import Interactions
        from ialspp.cli.cluster import in_file_beside
        path = Path(sys.argv[1])
        with in_file_beside(path, Interactions.open(path)):
            print("there", flush=True)
            time.sleep(600)
        """,
        path,
    )
    assert process.stdout.readline() == "there\n"
    process.kill()
    finish(process)
    assert [file.name.startswith(".events.part.ialsdata.") for file in leftovers(tmp_path)] == [True]
    with in_file_beside(path, make_data()):
        assert len(list(tmp_path.iterdir())) == 2
    assert list(tmp_path.iterdir()) == [path]
