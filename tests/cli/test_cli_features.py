"""ialspp fit with features."""

import json

import pytest
from support.commands import ialspp

from ialspp import ImplicitMF, Interactions, read_features


@pytest.fixture(name="files")
def made(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    pairs = [(user, film) for user in range(12) for film in range(9) if (user + film) % 3 != 0]
    (tmp_path / "seen.csv").write_text("user,film\n" + "".join(f"{u},{f}\n" for u, f in pairs))
    genres = "".join(f"{film},{'ab'[film % 2]}|c,{film / 10}\n" for film in range(11))
    (tmp_path / "films.csv").write_text("film,genre,length\n" + genres)
    (tmp_path / "people.csv").write_text("user,age\n" + "".join(f"{u},{u / 12}\n" for u in range(12)))
    return tmp_path


FIT = ("fit", "seen.csv", "--user", "user", "--item", "film", "--dim", "4", "-o", "films.ialspp")
WITH = ("--item-features", "films.csv", "--feature-lists", "|", "--feature-regularization", "2")


def test_the_model_is_that_of_python(files):
    done = ialspp(*FIT, *WITH, "--json")
    assert done.returncode == 0, done.stderr
    assert json.loads(done.stdout)["features"] == {"items": {"features": 4, "new": 2}}
    data = Interactions.read(files / "seen.csv", user="user", item="film")
    features = read_features(files / "films.csv", lists="|", regularization=2)
    model = ImplicitMF(4).fit(data, item_features=features, progress=False)
    assert ImplicitMF.load(files / "films.ialspp").item_factors.tobytes() == model.item_factors.tobytes()


@pytest.mark.usefixtures("files")
def test_both_sides_have_features_and_the_table_says_so():
    done = ialspp(*FIT, "--item-features", "films.csv", "--user-features", "people.csv")
    assert done.returncode == 0, done.stderr
    assert "1 of users, 0 new users; 3 of items, 2 new items" in " ".join(done.stdout.split())


@pytest.mark.usefixtures("files")
@pytest.mark.parametrize(
    ("options", "message"),
    [
        (("--feature-lists", "|"), "--feature-lists needs a file of features"),
        (
            ("--item-features", "films.csv", "--feature-columns", "film"),
            "--feature-columns must be the column",
        ),
        (("--item-features", "none.csv"), "none.csv"),
    ],
)
def test_wrong_options_are_refused(options, message):
    done = ialspp(*FIT, *options)
    assert done.returncode == 2
    assert message in " ".join(done.stderr.split())


@pytest.mark.usefixtures("files")
def test_early_stopping_and_a_checkpoint_keep_the_features():
    done = ialspp(*FIT, *WITH, "--early-stop", "2", "--checkpoint", "c", "--json")
    assert done.returncode == 0, done.stderr
    assert json.loads(done.stdout)["features"]["items"]["new"] == 2
