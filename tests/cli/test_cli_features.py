"""ialspp fit, update and evaluate with features."""

import json

import pytest
from support.commands import ialspp

from ialspp import EarlyStopping, ImplicitMF, Interactions, evaluate, read_features, split


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
    done = ialspp(*FIT, *WITH, "--early-stop", "ndcg@3", "--checkpoint", "c", "--json")
    assert done.returncode == 0, done.stderr
    assert json.loads(done.stdout)["features"]["items"]["new"] == 2


# Update


UPDATE = ("update", "films.ialspp", "today.csv", "--user", "user", "--item", "film")


@pytest.fixture(name="fitted")
def trained(files):
    done = ialspp(*FIT, *WITH)
    assert done.returncode == 0, done.stderr
    (files / "today.csv").write_text("user,film\n3,9\n4,20\n77,0\n")
    (files / "new.csv").write_text("film,genre,length\n20,b|c,0.4\n21,a,0.1\n")
    return files


def test_an_update_takes_features_of_new_items(fitted):
    before = ImplicitMF.load(fitted / "films.ialspp")
    done = ialspp(*UPDATE, "--item-features", "new.csv", "--feature-lists", "|", "--json")
    assert done.returncode == 0, done.stderr
    assert json.loads(done.stdout)["update"]["new_items"] == 2  # 21 has no interactions
    before.update(
        Interactions.read(fitted / "today.csv", user="user", item="film"),
        item_features=read_features(fitted / "new.csv", lists="|"),
    )
    after = ImplicitMF.load(fitted / "films.ialspp")
    assert after.items.ids.tolist() == [*range(11), 20, 21]
    assert after.item_factors.tobytes() == before.item_factors.tobytes()


def test_an_update_without_features_of_a_new_item_solves_it_from_its_users(fitted):
    assert ialspp(*UPDATE).returncode == 0
    model = ImplicitMF.load(fitted / "films.ialspp")
    assert model.items.ids.tolist() == [*range(11), 20]
    assert model.item_features.rows.counts.tolist()[-1] == 0


def test_an_update_that_cannot_use_features_changes_nothing(fitted):
    file = fitted / "films.ialspp"
    bytes_before = file.read_bytes()
    (fitted / "other.csv").write_text("film,colour\n20,red\n")
    (fitted / "texts.csv").write_text("film,genre\nx,a\n")
    refused = [
        (("--user-features", "people.csv"), "the model was trained without user features"),
        (("--item-features", "other.csv"), "none of the 1 features is known to the model: 'colour=red'"),
        (
            ("--item-features", "texts.csv"),
            "unknown item: 'x' (these are strings, but the items of the data are integers)",
        ),
        (("--feature-lists", "|"), "--feature-lists needs a file of features"),
        (("--feature-regularization", "2"), "No such option: --feature-regularization"),
    ]
    for options, message in refused:
        done = ialspp(*UPDATE, *options)
        assert done.returncode == 2
        assert message in " ".join(done.stderr.replace("│", " ").split())
        assert file.read_bytes() == bytes_before


# Evaluate


EVALUATE = ("evaluate", "seen.csv", "--user", "user", "--item", "film", "--dim", "4", "--metric", "ndcg@5")


@pytest.mark.parametrize("protocol", [("random",), ("strong", "--held-out", "3")], ids=["random", "strong"])
def test_the_evaluation_is_that_of_python(files, protocol):
    done = ialspp(*EVALUATE, *WITH, "--user-features", "people.csv", "--protocol", *protocol, "--json")
    assert done.returncode == 0, done.stderr
    answer = json.loads(done.stdout)
    data = Interactions.read(files / "seen.csv", user="user", item="film")
    parts = split.random(data) if protocol == ("random",) else split.strong(data, held_out=3)
    people = read_features(files / "people.csv", lists="|", regularization=2)
    films = read_features(files / "films.csv", lists="|", regularization=2)
    model = ImplicitMF(4).fit(
        parts.train,
        user_features=people.known_to(parts.train.users),
        item_features=films.known_to(parts.train.items),
        progress=False,
    )
    right = evaluate(model, parts, metrics=["ndcg@5"], user_features=people)
    assert answer["results"]["model"]["ndcg@5"]["mean"] == right["ndcg@5"].mean
    assert answer["features"] == {"users": {"features": 1, "new": 0}, "items": {"features": 4, "new": 0}}


@pytest.mark.usefixtures("files")
def test_the_evaluation_says_that_there_are_features():
    done = ialspp(*EVALUATE, *WITH, "--protocol", "strong", "--early-stop", "ndcg@5")
    assert done.returncode == 0, done.stderr
    assert "With 4 features of items." in done.stdout


def test_early_stopping_folds_validation_users_in_with_their_features(files):
    people = ("--user-features", "people.csv", "--feature-lists", "|")
    options = ("--protocol", "strong", "--held-out", "3", "--early-stop", "ndcg@5", "--epochs", "4", "--json")
    done = ialspp(*EVALUATE, *people, *options)
    assert done.returncode == 0, done.stderr
    parts = split.strong(Interactions.read(files / "seen.csv", user="user", item="film"), held_out=3)
    features = read_features(files / "people.csv", lists="|")
    stopping = EarlyStopping(parts.validation, "ndcg@5", user_features=features)
    known = features.known_to(parts.train.users)
    ImplicitMF(4, epochs=4).fit(parts.train, user_features=known, callbacks=[stopping], progress=False)
    assert json.loads(done.stdout)["early_stopping"]["scores"] == stopping.scores


def test_an_evaluation_that_cannot_use_features_is_refused(files):
    (files / "others.csv").write_text("film,genre\n100,a\n101,b\n")
    refused = [
        (("--feature-lists", "|"), "--feature-lists needs a file of features"),
        (("--item-features", "others.csv"), "none of the 2 ids that have features is the id of one of the 9"),
    ]
    for options, message in refused:
        done = ialspp(*EVALUATE, "--protocol", "strong", *options)
        assert done.returncode == 2
        assert message in " ".join(done.stderr.split())
