"""A model's life on the command line: fit, info, recommend, similar, explain, update, export."""

import csv
import json
from dataclasses import fields

import numpy as np
import polars as pl
import pytest
from support.commands import COLUMNS, QUICK, answer, contents, ialspp, write_log
from support.models import same_bits

from ialspp import IALS, ImplicitMF, Interactions, Objective
from ialspp.solvers import SOLVERS

SETTINGS = ["--dim", 6, "--epochs", 5, "--seed", 2, "--unobserved-weight", 0.2, "--regularization", 0.01]
ODD = ["[red]", "[/red]", "a,b", 'say "hi"', "😀", "line\nbreak", "--user", "-k", "é", " ", "null", "007"]


def read(file):
    return Interactions.read(file, user="who", item="what")


def as_json(rankings, asked, of="user", found="items"):
    """What the command prints for rankings of the library."""
    lists = [
        {of: one, found: list(ranking), "scores": list(ranking.scores), "fallback": ranking.fallback}
        for one, ranking in zip(asked, rankings, strict=True)
    ]
    if found != "items":
        lists = [{name: value for name, value in each.items() if name != "fallback"} for each in lists]
    return {"rankings": lists, "skipped": {}}


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    return tmp_path_factory.mktemp("model")


@pytest.fixture(scope="module")
def log(folder):
    return write_log(folder / "log.csv")


@pytest.fixture(scope="module")
def trained(folder, log):
    """The command's model file, and what it said."""
    file = folder / "films.ialspp"
    return file, answer("fit", log, *COLUMNS, *SETTINGS, "-o", file)


@pytest.fixture(scope="module")
def file(trained):
    return trained[0]


@pytest.fixture(scope="module")
def model(log):
    """The same model by the library."""
    objective = Objective(unobserved_weight=0.2, regularization=0.01)
    return ImplicitMF(6, epochs=5, seed=2, objective=objective).fit(read(log), progress=False)


@pytest.fixture(scope="module")
def odd(folder):
    """Ids that a table, a shell or a file of ids could take for something else."""
    source, target = folder / "odd.csv", folder / "odd.ialspp"
    with source.open("w", newline="", encoding="utf-8") as out:
        rows = [(a, b) for i, a in enumerate(ODD) for j, b in enumerate(ODD) if (7 * i + 3 * j) % 5 < 2]
        csv.writer(out).writerows([("who", "what"), *rows])
    answer("fit", source, *COLUMNS, *QUICK, "-o", target)
    return target, ImplicitMF(4, epochs=2).fit(read(source), progress=False)


def test_fit_trains_the_librarys_model(trained, log, model):
    file, said = trained
    assert same_bits(ImplicitMF.load(file), model)
    assert said["source"] == {"source": str(log), "user": "who", "item": "what"}
    assert (said["data"]["users"], said["data"]["items"], said["data"]["pairs"]) == (60, 40, 720)
    assert said["settings"]["dim"] == 6
    assert said["settings"]["unobserved_weight"] == 0.2
    assert [epoch["loss"] for epoch in said["history"]] == [epoch.loss for epoch in model.history]
    assert said["file"] == str(file)
    assert said["bytes"] == file.stat().st_size


def test_fit_shows_a_table_and_takes_parquet(folder, log, model):
    table = folder / "log.parquet"
    pl.read_csv(log).write_parquet(table)
    target = folder / "from_parquet.ialspp"
    done = ialspp("fit", table, *COLUMNS, *SETTINGS, "-o", target)
    assert done.returncode == 0, done.stderr
    assert done.stderr == ""
    assert "60 users, 40 items, 720 pairs" in done.stdout
    assert all(f"{model.history[epoch].loss:.6g}" in done.stdout for epoch in (0, -1))
    assert same_bits(ImplicitMF.load(target), model)


@pytest.mark.parametrize("name", SOLVERS)
def test_every_solver_trains_and_has_its_options(log, tmp_path, name):
    file = tmp_path / "m.ialspp"
    said = answer("fit", log, *COLUMNS, *QUICK, "--solver", name, "-o", file)
    assert ImplicitMF.load(file).solver == SOLVERS[name]()
    assert said["settings"]["solver"].startswith(SOLVERS[name].__name__)
    shown = ialspp("fit", "--help", COLUMNS="200").stdout
    help_text = " ".join(shown.replace("│", " ").split())  # a long one has several lines in a frame
    for field in fields(SOLVERS[name]):
        assert f"--{field.name.replace('_', '-')} " in help_text
        assert f"{name}: {field.metadata['help']}" in help_text


def test_info_says_what_is_in_the_file(file, log, model):
    facts = answer("info", file, "--verify")
    assert facts["verified"] is True
    assert (facts["users"], facts["items"], facts["dim"]) == (60, 40, 6)
    assert facts["ids"] == {"user": "string", "item": "int64"}
    assert facts["statistics"] == read(log).statistics()
    assert facts["history"][-1]["loss"] == model.history[-1].loss
    assert facts["arrays"]["user_factors"] == {"dtype": "float32", "shape": [60, 6], "bytes": 60 * 6 * 4}
    assert facts["bytes"] == file.stat().st_size
    shown = ialspp("info", file).stdout
    assert all(text in shown for text in ("720", "60 x 6", "float32", f"{model.history[-1].loss:.6g}"))


def test_recommend_for_named_users(file, model, tmp_path):
    assert answer("recommend", file, "--user", "u3", "-k", 4) == as_json([model.recommend("u3", 4)], ["u3"])
    asked = ["u9", "u3", "u9"]
    expected = as_json(model.recommend(asked, 3), asked)
    flags = [argument for user in asked for argument in ("--user", user)]
    assert answer("recommend", file, *flags, "-k", 3) == expected
    ids = tmp_path / "users.txt"
    ids.write_bytes(b"u9\r\nu3\r\n\r\nu9")
    assert answer("recommend", file, "--users", ids, "-k", 3) == expected
    assert answer("recommend", file, "--users", "-", "-k", 3, stdin="u9\nu3\nu9\n") == expected


def test_a_table_of_recommendations_has_the_numbers(file, model):
    shown = ialspp("recommend", file, "--user", "u3", "-k", 2)
    assert shown.stderr == ""
    lines = shown.stdout.splitlines()
    assert lines[0] == "User u3"
    ranking = model.recommend("u3", 2)
    for rank, (item, score) in enumerate(zip(ranking, ranking.scores, strict=True), 1):
        assert any(line.split()[1::2] == [str(rank), str(item), f"{score:.4f}"] for line in lines)


def test_an_absurd_k_names_all_that_is_left(file, model):
    found = answer("recommend", file, "--user", "u3", "-k", 10**30)
    assert found == as_json([model.recommend("u3", 40)], ["u3"])
    assert len(found["rankings"][0]["items"]) == 40 - 12


@pytest.mark.parametrize("suffix", ["parquet", "csv", "jsonl", "ndjson"])
def test_all_users_to_a_table(file, model, tmp_path, suffix):
    out = tmp_path / f"best.{suffix}"
    said = answer("recommend", file, "--all", "-k", 5, "-o", out, "--include-seen")
    assert said == {"file": str(out), "rows": 300, "asked": 60, "fallback": 0, "skipped": {}}
    readers = {"parquet": pl.read_parquet, "csv": pl.read_csv}
    table = readers.get(suffix, pl.read_ndjson)(out)
    expected = model.recommend(k=5, exclude_seen=False).to_frame()
    assert table.columns == ["user", "item", "rank", "score", "fallback"]
    assert table.cast(dict(expected.schema)).equals(expected)
    assert list(tmp_path.iterdir()) == [out]


def test_an_unseen_user_and_chosen_items(file, model, tmp_path):
    wanted = as_json(model.recommend_for([[3, 17]], 4), [[3, 17]], of="history")
    assert answer("recommend", file, "--item", 3, "--item", 17, "-k", 4) == wanted
    few, never = tmp_path / "few", tmp_path / "never"
    few.write_text("".join(f"{item}\n" for item in range(20)))
    never.write_text("1\n2\n")
    found = answer("recommend", file, "--user", "u3", "--candidates", few, "--exclude", never)
    assert found == as_json([model.recommend("u3", candidates=range(20), exclude=[1, 2])], ["u3"])
    found = answer("recommend", file, "--item", 3, "--candidates", few, "--exclude", never, "--include-seen")
    expected = model.recommend_for([[3]], exclude_seen=False, candidates=range(20), exclude=[1, 2])
    assert found == as_json(expected, [[3]], of="history")


def test_similar_items_and_users(file, model, tmp_path):
    found = answer("similar", file, "--item", 3, "--item", 4, "-k", 3)
    assert found == as_json(model.similar_items([3, 4], 3), [3, 4], "item", "similar_items")
    found = answer("similar", file, "--user", "u3", "-k", 3, "--metric", "dot")
    assert found == as_json(model.similar_users(["u3"], 3, metric="dot"), ["u3"], "user", "similar_users")
    table = tmp_path / "near.parquet"
    said = ialspp("similar", file, "--item", 3, "--item", 4, "-k", 3, "-o", table)
    assert (said.returncode, said.stdout) == (0, "")
    assert "6 rows" in said.stderr
    assert pl.read_parquet(table).equals(model.similar_items([3, 4], 3).to_frame())


def test_the_parts_of_an_explanation_add_up_to_the_score(file, model):
    item = model.recommend("u3", 1)[0]
    expected = model.explain("u3", item)
    found = answer("explain", file, "--user", "u3", "--item", item, "-k", 50)
    parts = [(part["item"], part["contribution"]) for part in found["contributions"]]
    assert parts == list(expected)
    assert found["past_items"] == len(parts) == 12
    assert found["score"] == pytest.approx(expected.score)
    assert sum(value for _, value in parts) + found["rest"] == pytest.approx(found["score"], abs=1e-9)
    shown = ialspp("explain", file, "--user", "u3", "--item", item, "-k", 3).stdout
    assert "9 other past items" in shown
    assert f"Score: {expected.score:.4f}" in shown
    assert all(f"{value:.4f}" in shown for _, value in parts[:3])


def test_update_takes_new_users_and_items_in(file, tmp_path):
    today = write_log(tmp_path / "today.csv", users=4, items=44, each=20, first_user=58, seed=7)
    before = file.read_bytes()
    elsewhere, in_place = tmp_path / "new.ialspp", tmp_path / "same.ialspp"
    in_place.write_bytes(before)
    said = answer("update", file, today, *COLUMNS, "-o", elsewhere, "--epochs", 2)
    assert file.read_bytes() == before
    expected = ImplicitMF.load(file)
    counts = expected.update(read(today), epochs=2)
    assert said["update"] == {name: getattr(counts, name) for name in said["update"]}
    assert said["update"]["new_users"] == 2
    assert said["update"]["new_items"] > 0
    assert same_bits(ImplicitMF.load(elsewhere), expected)
    done = ialspp("update", in_place, today, *COLUMNS, "--epochs", 2)
    assert done.returncode == 0, done.stderr
    assert "of them new 2" in done.stdout
    assert in_place.read_bytes() == elsewhere.read_bytes()
    assert {path.name for path in tmp_path.iterdir()} == {"today.csv", "new.ialspp", "same.ialspp"}
    found = answer("recommend", in_place, "--user", "u61", "-k", 3)
    assert found == as_json([expected.recommend("u61", 3)], ["u61"])


def test_no_new_interactions_change_nothing(file, tmp_path):
    (tmp_path / "none.csv").write_text("who,what\n")
    said = answer("update", file, tmp_path / "none.csv", *COLUMNS, "-o", tmp_path / "m.ialspp")
    assert set(said["update"].values()) == {0}
    assert same_bits(ImplicitMF.load(tmp_path / "m.ialspp"), ImplicitMF.load(file))


def test_exports_have_the_models_ids_and_vectors(file, model, tmp_path):
    said = answer("export", file, "--parquet", tmp_path / "pq")
    assert {entry["file"] for entry in said["files"]} == {
        str(tmp_path / "pq" / name) for name in ("users.parquet", "items.parquet")
    }
    for side, ids, vectors in (
        ("user", model.users.ids, model.user_factors),
        ("item", model.items.ids, model.item_factors),
    ):
        table = pl.read_parquet(tmp_path / "pq" / f"{side}s.parquet")
        assert table[:, 0].to_list() == list(ids)
        assert np.array_equal(np.stack(table[:, -1].to_list()), vectors)
    done = ialspp("export", file, "--numpy", tmp_path / "np")
    assert "user_factors.npy" in done.stdout
    assert np.array_equal(np.load(tmp_path / "np" / "item_factors.npy"), model.item_factors)
    assert np.load(tmp_path / "np" / "user_ids.npy", allow_pickle=False).tolist() == list(model.users.ids)


@pytest.mark.parametrize("kind", ["usearch", "faiss"])
def test_an_index_is_there_and_its_recall_is_said(file, model, tmp_path, kind):
    pytest.importorskip(kind)
    index = tmp_path / "films.index"
    said = answer("export", file, "--ann", kind, "-o", index, "-k", 5, "--queries", 50)
    assert said["kind"] == kind
    assert 0.5 < said["recall"] <= 1
    assert (said["k"], said["queries"], said["items"]) == (5, 50, 40)
    assert said["bytes"] == index.stat().st_size > 40 * 6 * 4
    assert pl.read_parquet(said["ids_path"])[:, -1].to_list() == list(model.items.ids)
    shown = ialspp("export", file, "--ann", kind, "-o", index, "-k", 5, "--queries", 50)
    assert f"{said['recall']:.4f}" in shown.stdout
    assert "recall@5" in shown.stdout
    assert set(contents(tmp_path)) == {path.relative_to(tmp_path) for path in tmp_path.iterdir()}
    assert len(list(tmp_path.iterdir())) == 2


def test_odd_ids_come_back_as_they_are(odd, tmp_path):
    file, model = odd
    assert sorted(model.users.ids) == sorted(ODD)
    assert answer("recommend", file, "--all", "-k", 2) == as_json(model.recommend(k=2), model.users.ids)
    flags = [f"--user={user}" for user in ODD]
    assert answer("recommend", file, *flags, "-k", 2) == as_json(model.recommend(ODD, 2), ODD)
    lines = [user for user in ODD if "\n" not in user]
    found = answer("recommend", file, "--users", "-", "-k", 2, stdin="\n".join(lines))
    assert found == as_json(model.recommend(lines, 2), lines)
    out = tmp_path / "odd.csv"
    assert ialspp("recommend", file, "--all", "-k", 2, "-o", out).returncode == 0
    table = pl.read_csv(out, schema_overrides={"user": pl.String, "item": pl.String})
    expected = model.recommend(k=2).to_frame()
    assert table.select("user", "item").equals(expected.select("user", "item"))


def test_odd_ids_in_tables(odd):
    file, _ = odd
    done = ialspp("recommend", file, *(f"--user={user}" for user in ODD), "-k", 2)
    titles = [line.removeprefix("User ") for line in done.stdout.splitlines() if line.startswith("User ")]
    assert titles == [user.replace("\n", "\\n") for user in ODD]
    done = ialspp("explain", file, "--user=[red]", "--item=line\nbreak")
    assert done.stdout.splitlines()[0] == "User [red], item line\\nbreak"
    done = ialspp("recommend", file, "--user", "[bold]no[/bold]")
    assert done.stderr == "ialspp: unknown user: '[bold]no[/bold]'\n"


def test_options_from_a_file_give_way_to_the_command_line(log, tmp_path):
    (tmp_path / "c.toml").write_text(
        'user = "who"\nitem = 1\nunobserved-weight = 0.5\nseed = 9\nepochs = 7\n'
        '[fit]\ndim = 4\nepochs = 1\nmin_user = 2\nno-interactions = true\nsolver = "ials"\n'
        '[evaluate]\ndim = 5\nprotocol = "random"\nmetric = ["recall@3", "auc"]\n'
    )
    config = ["--config", tmp_path / "c.toml"]
    said = answer("fit", log, *config, "--seed", 3, "-o", tmp_path / "m.ialspp")
    settings = said["settings"]
    assert {name: settings[name] for name in ("dim", "epochs", "seed", "unobserved_weight")} == {
        "dim": 4,
        "epochs": 1,
        "seed": 3,
        "unobserved_weight": 0.5,
    }
    assert settings["solver"] == repr(IALS())
    assert said["data"]["min_user"] == 2
    assert said["interactions"] is False
    found = answer("evaluate", log, *config, "--metric", "precision@2", "--epochs", 1)
    assert found["settings"]["dim"] == 5
    assert set(found["results"]["model"]) == {"precision@2"}


def test_runs_are_whole_lines(log, tmp_path):
    runs = ["--runs", tmp_path / "runs"]
    fitted = answer("fit", log, *COLUMNS, *QUICK, "-o", tmp_path / "m.ialspp", *runs)
    measured = answer("evaluate", log, *COLUMNS, *QUICK, "--protocol", "random", *runs)
    updated = answer("update", tmp_path / "m.ialspp", log, *COLUMNS, *runs)
    lines = [json.loads(line) for line in (tmp_path / "runs" / "runs.jsonl").read_text().splitlines()]
    assert [line["command"] for line in lines] == ["fit", "evaluate", "update"]
    assert all(line["time"] and line["version"] for line in lines)
    for line, said in zip(lines, (fitted, measured, updated), strict=True):
        assert said.items() <= line.items()
    assert lines[0]["settings"]["dim"] == 4
    assert lines[1]["results"]["model"] == measured["results"]["model"]
