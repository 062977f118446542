"""Batches on the command line: unknown ids that are skipped, users about whom nothing is known."""

import json

import polars as pl
import pytest
from support.commands import COLUMNS, QUICK, answer, ialspp, refuses, write_log
from support.forged import rewrite

from ialspp import ImplicitMF, Interactions

STOCK = [*range(0, 40, 2), 777, 778, 779, 780]  # four of 24 are unknown
SKIPPED_STOCK = {"count": 5, "total": 25, "examples": ["item_id", 777, 778]}


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    folder = tmp_path_factory.mktemp("batches")
    log = write_log(folder / "log.csv")
    answer("fit", log, *COLUMNS, *QUICK, "-o", folder / "m.ialspp")
    (folder / "users.txt").write_text("u3\nnobody\nu7\r\n\nu3\n")
    (folder / "stock.txt").write_text("item_id\n" + "".join(f"{item}\n" for item in STOCK))
    (folder / "never.txt").write_text("4\n-5\n99999999999999999999999\n4\n")
    (folder / "strangers.txt").write_text("nobody\nno one\n")
    return folder


@pytest.fixture(scope="module")
def model(folder):
    return ImplicitMF.load(folder / "m.ialspp")


def run(folder, *arguments, **options):
    return ialspp(*arguments, cwd=folder, **options)


def test_unknown_ids_are_skipped_and_counted(folder, model):
    flags = ["--candidates", "stock.txt", "--exclude", "never.txt", "-k", 3, "--skip-unknown"]
    for who in ["--users", "users.txt"], ["--users", "-"]:
        found = answer(
            "recommend", "m.ialspp", *who, *flags, cwd=folder, stdin=(folder / "users.txt").read_text()
        )
        expected = model.recommend(["u3", "u7", "u3"], 3, candidates=STOCK[:20], exclude=[4])
        assert [each["user"] for each in found["rankings"]] == ["u3", "u7", "u3"]
        assert [each["items"] for each in found["rankings"]] == expected
        assert [each["scores"] for each in found["rankings"]] == [each.scores for each in expected]
        assert {each["fallback"] for each in found["rankings"]} == {False}
        assert found["skipped"] == {
            "users": {"count": 1, "total": 4, "examples": ["nobody"]},
            "candidates": SKIPPED_STOCK,
            "exclude": {"count": 2, "total": 4, "examples": [-5, 99999999999999999999999]},
        }


def test_what_was_skipped_is_said_on_stderr(folder):
    flags = ["--candidates", "stock.txt", "--skip-unknown"]
    done = run(folder, "recommend", "m.ialspp", "--users", "users.txt", *flags)
    assert done.returncode == 0
    assert done.stderr.splitlines() == [
        "1 of 4 users is unknown and was skipped: 'nobody'",
        "5 of 25 candidates are unknown and were skipped, such as 'item_id', 777, 778",
    ]
    assert [line for line in done.stdout.splitlines() if "User" in line] == ["User u3", "User u7", "User u3"]
    assert "unknown" not in done.stdout


def test_a_table_for_all_users_and_a_stock_list(folder, model):
    flags = ["--all", "--candidates", "stock.txt", "-k", 4, "--skip-unknown", "-o", "best.parquet"]
    done = run(folder, "recommend", "m.ialspp", *flags)
    assert (done.returncode, done.stdout) == (0, "")
    said, rows = done.stderr.splitlines()
    assert said.startswith("5 of 25 candidates are unknown")
    expected = model.recommend(k=4, candidates=STOCK[:20]).to_frame()
    assert rows == f"{len(expected)} rows in best.parquet"
    assert pl.read_parquet(folder / "best.parquet").equals(expected)
    said = json.loads(run(folder, "recommend", "m.ialspp", *flags, "--json").stdout)
    assert said["skipped"] == {"candidates": SKIPPED_STOCK}
    assert (said["rows"], said["asked"], said["fallback"]) == (len(expected), 60, 0)


def test_nobody_is_left(folder):
    found = answer("recommend", "m.ialspp", "--users", "strangers.txt", "--skip-unknown", cwd=folder)
    assert found["rankings"] == []
    assert found["skipped"]["users"]["count"] == 2
    done = run(folder, "recommend", "m.ialspp", "--user", "nobody", "--skip-unknown")
    assert (done.returncode, done.stdout) == (0, "")
    assert done.stderr == "1 of 1 users is unknown and was skipped: 'nobody'\n"


def test_known_ids_skip_nothing(folder):
    for flags in ["--user", "u3"], ["--item", 3], ["--all"]:
        plain = answer("recommend", "m.ialspp", *flags, cwd=folder)
        assert answer("recommend", "m.ialspp", *flags, "--skip-unknown", cwd=folder) == plain
        assert plain["skipped"] == {}


def test_similar_skips_unknown_ids(folder, model):
    items = ["--item", 3, "--item", 777, "--item", "Toy Story", "--item", 4]
    found = answer("similar", "m.ialspp", *items, "-k", 2, "--skip-unknown", cwd=folder)
    assert [each["similar_items"] for each in found["rankings"]] == model.similar_items([3, 4], 2)
    assert found["skipped"] == {"items": {"count": 2, "total": 4, "examples": ["Toy Story", 777]}}
    done = run(folder, "similar", "m.ialspp", "--user", "u3", "--user", "x\x1b[2J", "-k", 2, "--skip-unknown")
    assert done.stderr == "1 of 2 users is unknown and was skipped: 'x\\x1b[2J'\n"
    assert "User u3" in done.stdout


def test_a_visitor_whose_items_are_unknown_gets_the_most_popular(folder, model):
    [popular] = model.recommend_for([[]], 3)
    flags = ["--item", 777, "--item", 778, "-k", 3, "--skip-unknown"]
    found = answer("recommend", "m.ialspp", *flags, cwd=folder)
    assert found["rankings"] == [
        {"history": [], "items": list(popular), "scores": popular.scores, "fallback": True}
    ]
    done = run(folder, "recommend", "m.ialspp", *flags)
    assert done.stderr == "2 of 2 items in histories are unknown and were skipped: 777, 778\n"
    title, *lines = done.stdout.splitlines()
    assert title == "History without items: nothing is known, so the most popular items"
    assert any(line.split()[1::2] == ["rank", "item", "users"] for line in lines)
    assert any(line.split()[1::2] == ["1", str(popular[0]), f"{popular.scores[0]:.0f}"] for line in lines)


def test_users_about_whom_nothing_is_known(tmp_path):
    data = Interactions.from_arrays(
        user=["a", "a", "b"], item=["x", "y", "y"], users=["a", "b", "cold"], items=["x", "y", "z"]
    )
    model = ImplicitMF(2).fit(data, progress=False)
    model.save(tmp_path / "m.ialspp")
    done = run(tmp_path, "recommend", "m.ialspp", "--user", "cold", "--user", "b", "-k", 2)
    titles = [line for line in done.stdout.splitlines() if line.startswith("User")]
    assert titles == ["User cold: nothing is known, so the most popular items", "User b"]
    assert done.stderr == ""
    done = run(tmp_path, "recommend", "m.ialspp", "--all", "-o", "best.csv")
    assert done.stderr == "6 rows in best.csv, with the most popular items for 1 of 3 users\n"
    table = pl.read_csv(tmp_path / "best.csv")
    assert table.filter(pl.col("fallback"))["item"].to_list() == ["y", "x", "z"]
    model.save(tmp_path / "bare.ialspp", interactions=False)
    flags = ["recommend", "bare.ialspp", "--user", "cold", "--include-seen", "-k", 2]
    assert run(tmp_path, *flags).stderr == ""
    assert answer(*flags, cwd=tmp_path)["rankings"] == [
        {"user": "cold", "items": ["y", "x"], "scores": [2, 1], "fallback": True}
    ]
    bare = tmp_path / "bare.ialspp"
    rewrite(bare, bare.read_bytes(), "arrays/item_counts", None)  # as in files of older versions
    done = run(tmp_path, *flags)
    assert done.returncode == 0
    assert "bare.ialspp was written with --no-interactions" in done.stderr
    assert answer(*flags, cwd=tmp_path)["rankings"] == [
        {"user": "cold", "items": [], "scores": [], "fallback": True}
    ]


def test_unknown_ids_are_errors_unless_skipping_is_asked_for(folder):
    refuses("users.txt", "'nobody'")(run(folder, "recommend", "m.ialspp", "--users", "users.txt"))
    flags = ["recommend", "m.ialspp", "--all", "--candidates"]
    refuses("stock.txt", "integers", "'item_id'")(run(folder, *flags, "stock.txt"))
    refuses("never.txt", "unknown item: -5")(run(folder, *flags, "never.txt"))


def test_ids_of_which_none_can_be_known_are_errors_all_the_same(folder):
    flags = ["--candidates", "strangers.txt", "--skip-unknown"]
    refuses("strangers.txt", "integers", "'nobody'")(run(folder, "recommend", "m.ialspp", "--all", *flags))
    refuses("--item", "integers", "'x'")(run(folder, "similar", "m.ialspp", "--item", "x", "--skip-unknown"))
    (folder / "empty.txt").write_text("\n\n")
    flags = ["--users", "empty.txt", "--skip-unknown"]
    refuses("empty.txt: no ids")(run(folder, "recommend", "m.ialspp", *flags))


def test_blanks_around_ids_that_are_integers_do_not_count(folder, model):
    (folder / "padded.txt").write_text("4 \n 6\t\n8\n")
    found = answer("recommend", "m.ialspp", "--user", "u3", "--candidates", "padded.txt", cwd=folder)
    assert found["rankings"][0]["items"] == model.recommend("u3", candidates=[4, 6, 8])
    (folder / "padded-users.txt").write_text("u3 \n")  # texts are taken as they are
    refuses("padded-users.txt", "'u3 '")(run(folder, "recommend", "m.ialspp", "--users", "padded-users.txt"))


def test_that_nothing_is_left_is_said(folder, model):
    seen = model.trained_on.by_user.take(model.users.rows(["u3"])).columns
    (folder / "seen.txt").write_text("".join(f"{item}\n" for item in model.items.named(seen)))
    done = run(folder, "recommend", "m.ialspp", "--user", "u3", "--candidates", "seen.txt")
    assert done.returncode == 0
    assert "No item is left for this user." in done.stdout
