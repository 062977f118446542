"""Names on the command line: files of names, tables and JSON that show them, items that are found by them."""

import json

import polars as pl
import pytest
from support.commands import COLUMNS, QUICK, answer, ialspp, refuses, write_log

from ialspp import ImplicitMF
from ialspp.cli.output import LONGEST_NAME

LATIN = ["--name-encoding", "latin-1"]


def title(item):
    return "" if item == 3 else f"Film {item} é"


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    folder = tmp_path_factory.mktemp("names")
    write_log(folder / "log.csv")
    lines = [f"{item}::{title(item)}::Drama|Comedy" for item in range(60)]
    lines[7] = "7::The Long Goodbye::Noir"
    lines[8] = "8::the long GOODBYE::Noir"
    lines[9] = "9::300::War"
    (folder / "films.dat").write_bytes("\n".join(lines).encode("latin-1"))
    (folder / "people.csv").write_text("who,full name\nu3,Ann Lee\nu4,Bo\n")
    flags = ["--item-names", "films.dat", *LATIN]
    answer("fit", "log.csv", *COLUMNS, *QUICK, *flags, "-o", "m.ialspp", cwd=folder)
    answer("fit", "log.csv", *COLUMNS, *QUICK, "-o", "plain.ialspp", cwd=folder)
    return folder


@pytest.fixture(scope="module")
def model(folder):
    return ImplicitMF.load(folder / "m.ialspp")


def run(folder, *arguments, **options):
    return ialspp(*arguments, cwd=folder, **options)


# Files of names


def test_fit_says_how_many_have_names(folder, tmp_path):
    flags = ["--item-names", "films.dat", *LATIN, "-o", tmp_path / "m"]
    found = answer("fit", "log.csv", *COLUMNS, *QUICK, *flags, cwd=folder)
    assert found["names"] == {"items": {"named": 39, "of": 40}}
    done = run(folder, "fit", "log.csv", *COLUMNS, *QUICK, *flags)
    assert "for 39 of 40 items" in done.stdout
    assert done.stderr == ""
    done = run(
        folder,
        "fit",
        "log.csv",
        *COLUMNS,
        *QUICK,
        "--user-names",
        "people.csv",
        "--name-columns",
        "who,full name",
        "-o",
        tmp_path / "m",
    )
    assert "for 2 of 60 users" in done.stdout
    assert done.stderr == "58 of 60 users have no name; are the ids in people.csv those of the data?\n"
    assert ImplicitMF.load(tmp_path / "m").users.labels([0]) == ["u0"]


def test_a_model_gets_names_later(folder, tmp_path):
    flags = ["--item-names", "films.dat", *LATIN, "-o", tmp_path / "m.ialspp"]
    found = answer("names", "plain.ialspp", *flags, cwd=folder)
    assert found["names"] == {"items": {"named": 39, "of": 40}}
    done = run(folder, "names", tmp_path / "m.ialspp", "--user-names", "people.csv", "--name-columns", "0,1")
    assert "for 2 of 60 users, for 39 of 40 items" in done.stdout
    named = ImplicitMF.load(tmp_path / "m.ialspp")
    assert named.items.names[0] == "Film 0 é"
    assert named.users.labels(named.users.rows(["u3"])) == ["Ann Lee"]
    assert named.recommend("u3") == ImplicitMF.load(folder / "plain.ialspp").recommend("u3")
    assert "names of items" in run(folder, "info", tmp_path / "m.ialspp").stdout
    assert answer("info", "plain.ialspp", cwd=folder)["names"] == {"user": False, "item": False}


def test_a_model_without_interactions_gets_names(folder, tmp_path):
    target = tmp_path / "m.ialspp"
    answer("fit", "log.csv", *COLUMNS, *QUICK, "--no-interactions", "-o", target, cwd=folder)
    answer("names", target, "--item-names", "films.dat", *LATIN, cwd=folder)
    loaded = ImplicitMF.load(target)
    assert (loaded.keeps_interactions, loaded.items.names[0]) == (False, "Film 0 é")
    refuses("'goodbye' is in the names of 2 items: 7 'The Long Goodbye', 8")(
        run(folder, "similar", target, "--item", "goodbye")
    )


def test_updates_bring_names(folder, tmp_path):
    (folder / "new.csv").write_text("who,what\nu3,50\nu3,4\n")
    flags = [*COLUMNS, "--item-names", "films.dat", *LATIN, "-o", tmp_path / "m.ialspp"]
    found = answer("update", "m.ialspp", "new.csv", *flags, cwd=folder)
    assert found["names"] == {"items": {"named": 40, "of": 41}}
    assert ImplicitMF.load(tmp_path / "m.ialspp").items.names[-1] == "Film 50 é"
    found = answer("update", "m.ialspp", "new.csv", *COLUMNS, "-o", tmp_path / "m.ialspp", cwd=folder)
    assert found["names"] == {"items": {"named": 39, "of": 41}}


def test_a_resumed_fit_keeps_names(folder, tmp_path, monkeypatch):
    from ialspp.model.checkpointer import Checkpointer

    keep = Checkpointer.keep

    def keep_and_interrupt(checkpointer, users, items, history):
        keep(checkpointer, users, items, history)
        raise KeyboardInterrupt

    flags = ["--item-names", "films.dat", *LATIN, "-o", tmp_path / "m", "--checkpoint", tmp_path / "c"]
    with monkeypatch.context() as patch:
        patch.setattr(Checkpointer, "keep", keep_and_interrupt)
        assert run(folder, "fit", "log.csv", *COLUMNS, *QUICK, *flags).returncode == 130
    found = answer("fit", "--resume", tmp_path / "c", cwd=tmp_path)
    assert found["names"] == {"items": {"named": 39, "of": 40}}
    assert ImplicitMF.load(tmp_path / "m").items.names[0] == "Film 0 é"


@pytest.mark.parametrize(
    ("flags", "words"),
    [
        ([*LATIN], ["--name-encoding needs a file of names: --item-names or --user-names is required"]),
        (["--name-columns", "a,b"], ["--name-columns needs a file of names"]),
        (["--item-names", "films.dat"], ["films.dat, line 1: text must be utf-8", "--name-encoding latin-1"]),
        (["--item-names", "none.csv"], ["none.csv: no such file"]),
        (["--item-names", "people.csv"], ["--item-names people.csv: none of the 3 ids", "'who' is not"]),
        (["--user-names", "films.dat", *LATIN], ["--user-names films.dat: none of the 59 ids"]),
        (
            ["--item-names", "films.dat", "--name-columns", "id"],
            ["--name-columns must be two columns, such as"],
        ),
        (["--item-names", "people.csv", "--name-columns", "id,title"], ["people.csv: id column 'id' is not"]),
        (
            ["--item-names", "films.dat", "--name-encoding", "klingon"],
            ["encoding must be one that Python knows"],
        ),
    ],
)
def test_names_that_cannot_be_read_are_an_error(folder, flags, words):
    refuses(*words)(run(folder, "fit", "log.csv", *COLUMNS, *QUICK, *flags, "-o", "other.ialspp"))
    refuses(*words)(run(folder, "names", "plain.ialspp", *flags))
    assert not (folder / "other.ialspp").exists()


def test_a_command_without_names_says_so(folder):
    refuses("names need a file of names: --item-names")(run(folder, "names", "plain.ialspp"))


# Answers


def test_answers_show_ids_and_names(folder, model):
    best = model.recommend("u3", 5)
    found = answer("recommend", "m.ialspp", "--user", "u3", "-k", 5, cwd=folder)["rankings"][0]
    assert (found["items"], found["item_names"]) == (best, best.names)
    done = run(folder, "recommend", "m.ialspp", "--user", "u3", "-k", 5)
    for item, name in zip(best, best.names, strict=True):
        assert any(str(item) in line and (name or "") in line for line in done.stdout.splitlines())
    run(folder, "recommend", "m.ialspp", "--all", "-k", 5, "-o", "best.csv")
    frame = pl.read_csv(folder / "best.csv")
    assert frame.columns == ["user", "item", "item_name", "rank", "score", "fallback"]
    found = answer("similar", "m.ialspp", "--item", 5, "-k", 3, cwd=folder)["rankings"][0]
    assert found["item_name"] == "Film 5 é"
    assert found["similar_item_names"] == [title(item) or None for item in found["similar_items"]]
    assert run(folder, "similar", "m.ialspp", "--item", 5).stdout.startswith("Item 5, Film 5 é\n")
    [past] = answer("explain", "m.ialspp", "--user", "u3", "--item", 5, "-k", 1, cwd=folder)["contributions"]
    assert past["item_name"] == model.items.labels(model.items.rows([past["item"]]))[0]
    assert answer("similar", "m.ialspp", "--item", 3, cwd=folder)["rankings"][0]["item_name"] is None
    assert run(folder, "explain", "m.ialspp", "--user", "u3", "--item", 5).stdout.startswith(
        "User u3; item 5, Film 5 é\n"
    )


def test_answers_of_a_model_without_names_have_no_place_for_them(folder):
    found = answer("recommend", "plain.ialspp", "--user", "u3", cwd=folder)["rankings"][0]
    assert found.keys() == {"user", "items", "scores", "fallback"}
    found = answer("explain", "plain.ialspp", "--user", "u3", "--item", 5, cwd=folder)
    assert found["contributions"][0].keys() == {"item", "contribution", "share"}
    assert "item_name" not in found
    assert "name" not in run(folder, "similar", "plain.ialspp", "--item", 5).stdout


# Finding by name


def test_items_are_found_by_name(folder):
    for typed in ("film 12 é", "FILM 12", "12 é"):
        done = run(folder, "similar", "m.ialspp", "--item", typed, "-k", 2)
        assert done.stderr == f"--item: {typed!r} is item 12, Film 12 é\n"
        assert done.stdout == run(folder, "similar", "m.ialspp", "--item", 12, "-k", 2).stdout
    found = answer("recommend", "m.ialspp", "--item", "film 12", "--item", 5, cwd=folder)["rankings"][0]
    assert (found["history"], found["history_names"]) == ([12, 5], ["Film 12 é", "Film 5 é"])
    assert answer("explain", "m.ialspp", "--user", "u3", "--item", "film 12", cwd=folder)["item"] == 12
    done = run(folder, "recommend", "m.ialspp", "--item", "film 12", "--item", 5)
    assert done.stdout.startswith("History 12, Film 12 é; 5, Film 5 é\n")


def test_ids_win_over_names_and_a_mistyped_id_finds_nothing(folder):
    assert answer("similar", "m.ialspp", "--item", "12", cwd=folder)["rankings"][0]["item"] == 12
    assert answer("similar", "m.ialspp", "--item", "300", cwd=folder)["rankings"][0]["item"] == 9
    refuses("unknown item: 1234")(run(folder, "similar", "m.ialspp", "--item", "1234"))
    refuses("unknown item: 30")(run(folder, "similar", "m.ialspp", "--item", "300000"))


def test_several_matches_are_listed_most_popular_first(folder, model):
    done = run(folder, "similar", "m.ialspp", "--item", "goodbye")
    refuses("--item: 'goodbye' is in the names of 2 items: ", "7 'The Long Goodbye'", "give the id of one")(
        done
    )
    refuses("is in the names of 2 items")(run(folder, "similar", "m.ialspp", "--item", "the long goodbye"))
    refuses("'film 1' is in the names of 11 items", " and 3 more; give")(
        run(folder, "similar", "m.ialspp", "--item", "film 1")
    )
    counts = model.trained_on.by_user.column_counts
    order = done.stderr.index("7 'The Long") < done.stderr.index("8 'the long")
    assert order == (counts[7] >= counts[8])


def test_what_no_name_has_is_an_error(folder):
    refuses("--item: 'casablanca' is neither the id of any item nor in a name")(
        run(folder, "similar", "m.ialspp", "--item", "casablanca")
    )
    refuses("have no names, got 'casablanca'; `ialspp names` adds names")(
        run(folder, "similar", "plain.ialspp", "--item", "casablanca")
    )
    (folder / "stock.txt").write_text("12\ncasablanca\n")
    refuses("stock.txt: the items of this model are integers, got 'casablanca'")(
        run(folder, "recommend", "m.ialspp", "--user", "u3", "--candidates", "stock.txt")
    )
    refuses("unknown user: 'ann'")(run(folder, "recommend", "m.ialspp", "--user", "ann"))


def test_unknown_text_is_skipped_where_that_is_asked_for(folder):
    flags = ["--item", "film 12", "--item", "casablanca", "--skip-unknown"]
    found = answer("similar", "m.ialspp", *flags, cwd=folder)
    assert [each["item"] for each in found["rankings"]] == [12]
    assert found["skipped"] == {"items": {"count": 1, "total": 2, "examples": ["casablanca"]}}


def test_users_are_found_by_name(folder, tmp_path):
    flags = ["--user-names", "people.csv", "-o", tmp_path / "m.ialspp"]
    answer("names", "plain.ialspp", *flags, cwd=folder)
    done = run(folder, "recommend", tmp_path / "m.ialspp", "--user", "ann")
    assert done.stderr == "--user: 'ann' is user u3, Ann Lee\n"
    assert done.stdout.startswith("User u3, Ann Lee\n")


# Odd names


ODD = [
    "\x1b[31mred",
    "two\nlines",
    "\u202eabc",
    "x" * 5000,
    "tab\tbed",
    "שלום",
    "😀",
    "\0",
    "[bold]",
    '"q"',
    "a,b",
]


def test_odd_names_break_no_table(folder, tmp_path):
    target = tmp_path / "m.ialspp"
    names = [ODD[item % len(ODD)] for item in range(40)]
    model = ImplicitMF.load(folder / "plain.ialspp")
    model.set_names(items=names)
    model.save(target)
    done = run(folder, "similar", target, "--item", 1, "-k", 39, COLUMNS="200")
    lines = done.stdout.splitlines()
    widths = {len(line.replace("😀", "xx")) for line in lines[1:]}
    assert len(widths) == 1
    assert len(lines) == 1 + 3 + 39 + 1
    assert not {"\x1b", "\0", "\u202e", "\t"} & set(done.stdout)
    assert max(widths) < 2 * LONGEST_NAME
    assert "[bold]" in done.stdout
    found = answer("similar", target, "--item", 1, "-k", 39, cwd=folder)["rankings"][0]
    assert found["similar_item_names"] == [names[item] for item in found["similar_items"]]
    for suffix in ("csv", "parquet", "jsonl"):
        assert run(tmp_path, "similar", target, "--item", 1, "-k", 39, "-o", f"near.{suffix}").returncode == 0
    assert (
        pl.read_parquet(tmp_path / "near.parquet")["similar_item_name"].to_list()
        == found["similar_item_names"]
    )
    assert pl.read_csv(tmp_path / "near.csv")["similar_item_name"].to_list() == found["similar_item_names"]
    rows = [json.loads(line) for line in (tmp_path / "near.jsonl").read_text().splitlines()]
    assert [row["similar_item_name"] for row in rows] == found["similar_item_names"]
    assert run(folder, "explain", target, "--user", "u3", "--item", 1, COLUMNS="30").returncode == 0
    refuses("is in the names of", "\\x1b[31mred")(run(folder, "similar", target, "--item", "red"))
