"""--ray: what it refuses, before Ray is started."""

import pytest
from support.commands import ialspp, refuses
from support.models import make_data


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
