"""`ialspp data` and `ialspp evaluate` as a user runs them."""

import re

import numpy as np
import pytest
from support.commands import COLUMNS, QUICK, answer, ialspp

from ialspp import ImplicitMF, Interactions, datasets, evaluate, split

COMMANDS = ["fit", "evaluate", "recommend", "similar", "explain", "update", "export", "info", "demo"]


@pytest.fixture(scope="module")
def log(tmp_path_factory):
    """60 users with 12 items each, of 40; stars and times."""
    rng = np.random.default_rng(0)
    lines = ["who,what,stars,when"]
    for user in range(60):
        for item in rng.choice(40, 12, replace=False):
            lines.append(f"u{user},i{item},{rng.integers(1, 6)},{1_600_000_000 + rng.integers(10**7)}")
    file = tmp_path_factory.mktemp("log") / "log.csv"
    file.write_text("\n".join(lines) + "\n")
    return file


def test_the_known_data_sets_are_listed():
    done = ialspp("data", "list")
    assert done.returncode == 0
    assert all(name in done.stdout for name in datasets.KNOWN)
    assert set(answer("data", "list")) == set(datasets.KNOWN)


def test_a_file_is_described(log):
    facts = answer("data", "show", log, *COLUMNS, "--weight", "stars", "--where", "stars >= 2")
    read = Interactions.read(log, user="who", item="what", weight="stars", where="stars >= 2")
    assert (facts["users"], facts["items"], facts["pairs"]) == (read.n_users, read.n_items, len(read))
    assert facts["weight"] == {"least": 2.0, "most": 5.0}
    assert facts["pairs_per_user"]["most"] == read.by_user.counts.max()
    timed = ialspp("data", "show", log, *COLUMNS, "--time", "when")
    assert "2020-" in timed.stdout
    assert f"{len(Interactions.read(log, user='who', item='what'))}" in timed.stdout


def test_columns_may_be_positions_and_known_data_sets_have_a_path(tmp_path):
    file = tmp_path / "ratings.dat"
    file.write_text("1::10::5::978300760\n1::11::3::978300761\n2::10::4::978300762\n")
    by_position = answer("data", "show", file, "--user", 0, "--item", 1, "--rating", 2, "--min-rating", 4)
    by_name = answer("data", "show", "ml-1m", "--path", file, "--min-rating", 4)
    assert by_name["time"]["first"] == "2000-12-31T22:12:40Z"
    for fact in ("users", "items", "pairs", "density", "pairs_per_user", "pairs_per_item"):
        assert by_name[fact] == by_position[fact]
    assert by_position["pairs"] == 2


@pytest.mark.parametrize(
    ("protocol", "options", "reference"),
    [
        ("strong", ["--held-out", 15, "--min-user", 3], lambda d: split.strong(d, held_out=15, min_user=3)),
        ("strong", [], split.strong),
        ("leave-one-out", ["--negatives", 9], lambda d: split.leave_one_out(d, negatives=9)),
        ("last-days", ["--days", 30, "--min-item", 2], lambda d: split.last_days(d.core(1, 2), 30)),
        ("last-item", [], split.last_item),
        ("last-share", ["--test-share", 0.4], lambda d: split.last_share(d, test_share=0.4)),
        (
            "random",
            ["--test-share", 0.3, "--split-seed", 5],
            lambda d: split.random(d, test_share=0.3, seed=5),
        ),
        ("random", ["--per-user"], lambda d: split.random(d, per_user=True)),
    ],
)
def test_the_command_gives_the_librarys_numbers(log, protocol, options, reference):
    found = answer("evaluate", log, *COLUMNS, "--time", "when", "--protocol", protocol, *options, *QUICK)
    parts = reference(Interactions.read(log, user="who", item="what", time="when"))
    wanted = evaluate(ImplicitMF(4, epochs=2), parts, progress=False)
    assert found["results"]["model"] == wanted.as_dict()["metrics"]
    assert found["users"] == wanted.users
    assert found["data"]["protocol"] == protocol
    assert set(found["results"]) == {"model", "most popular", "random"}
    assert found["settings"]["dim"] == 4


def test_what_leave_one_out_ranks_is_said(log, tmp_path):
    options = ["--protocol", "leave-one-out", *QUICK]
    found = answer("evaluate", log, *COLUMNS, "--time", "when", *options, "--negatives", 3)
    assert found["data"]["ranked_items"] == {"least": 4, "most": 4}
    latest = ialspp("evaluate", log, *COLUMNS, "--time", "when", *options, "--negatives", 3)
    assert "each ranked among 4 items." in latest.stdout
    assert latest.stderr == ""
    few = tmp_path / "few.csv"  # nobody has 99 others
    having = {"all": range(8), "too": range(8), "also": range(8), "two": range(2)}
    few.write_text("who,what\n" + "".join(f"{who},{what}\n" for who in having for what in having[who]))
    drawn = ialspp("evaluate", few, *COLUMNS, *options)
    assert "each ranked among 1 to 7 items." in drawn.stdout
    assert "a random item of each user is held out, not the latest" in drawn.stderr


def test_settings_and_metrics_are_the_users(log):
    options = ["--solver", "ials", "--unobserved-weight", 0.5, "--regularization", 0.01, "--seed", 3]
    metrics = ["--metric", "auc", "--metric", "precision@3"]
    source = ["evaluate", log, *COLUMNS, "--protocol", "strong", "--held-out", 10, *QUICK]
    found = answer(*source, *options, *metrics, "--validation")
    assert set(found["results"]["model"]) == {"auc", "precision@3"}
    assert found["settings"]["solver"] == "IALS(relaxation=1.0)"
    assert found["settings"]["regularization"] == 0.01
    assert found["results"]["model"] != answer(*source, *options, *metrics)["results"]["model"]


def test_published_splits_are_taken_as_they_are(tmp_path):
    (tmp_path / "train.txt").write_text("0 0 1\n1 1 2\n2 0 2\n")
    (tmp_path / "test.txt").write_text("0 2\n1 0\n2 1\n")
    found = answer("evaluate", "lightgcn", "--path", tmp_path, *QUICK)
    assert set(found["results"]["model"]) == {"recall@20", "ndcg@20"}
    assert found["results"]["model"]["recall@20"]["mean"] == 1.0  # one item is left to recommend


def test_a_person_gets_a_table_also_in_a_narrow_pipe(log):
    done = ialspp(
        "evaluate", log, *COLUMNS, "--protocol", "random", *QUICK, COLUMNS="40", TERM="dumb", NO_COLOR="1"
    )
    assert done.returncode == 0, done.stderr
    assert "most" in done.stdout
    assert "±" in done.stdout
    assert "\x1b" not in done.stdout
    assert done.stderr == ""


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (["data", "show", "nothing.csv"], "nothing.csv: no such file, and not a known data set (ml-100k"),
        (["data", "show", "LOG", "--where", "stars > 3"], "--user and --item must name the columns of"),
        (["data", "show", "LOG", "--user", "who", "--item", "that"], "item column 'that' is not in the file"),
        (["data", "show", "LOG", "--path", "x", *COLUMNS], "--path is for known data sets"),
        (["data", "show", "ml-1m", "--user", "a"], "ml-1m is a known data set; leave out --user"),
        (["data", "show", "ml-1m", "--path", "nowhere"], "nowhere: no such file; ratings.dat"),
        (["data", "show", "lightgcn"], "path must say where train.txt is"),
        (["evaluate", "LOG", *COLUMNS], "--protocol must say how to split"),
        (["evaluate", "synthetic:ml20m", "--protocol", "weak"], "--protocol must be one of strong"),
        (["evaluate", "complete-journey"], "--protocol must say how to split complete-journey"),
        (["evaluate", "LOG", *COLUMNS, "--protocol", "weak"], "--protocol must be one of strong"),
        (
            ["evaluate", "LOG", *COLUMNS, "--protocol", "strong", "--held-out", "99"],
            "--held-out 99 needs 199",
        ),
        (["evaluate", "LOG", *COLUMNS, "--protocol", "last-item"], "needs times"),
        (["evaluate", "LOG", *COLUMNS, "--protocol", "last-days"], "needs --days"),
        (["evaluate", "LOG", *COLUMNS, "--protocol", "random", "--days", "3"], "--days does not apply"),
        (["evaluate", "LOG", *COLUMNS, "--protocol", "random", "--solver", "sgd"], "--solver must be one of"),
        (["evaluate", "LOG", *COLUMNS, "--protocol", "random", "--metric", "f1"], "a metric must be one of"),
        (["evaluate", "LOG", *COLUMNS, "--protocol", "random", "--validation"], "no validation users"),
        (["evaluate", "LOG", *COLUMNS, "--protocol", "random", "--dim", "0"], "dim must be at least 1"),
        (["evaluate", "LOG", *COLUMNS, "--protocol", "random", "--weight", "what"], "also weight"),
    ],
)
def test_a_users_mistake_is_a_line_not_a_traceback(log, arguments, message):
    done = ialspp(*(log if argument == "LOG" else argument for argument in arguments))
    assert done.returncode == 2
    assert message in done.stderr
    assert "Traceback" not in done.stderr
    assert done.stdout == ""


@pytest.mark.parametrize("command", [["data", "show"], ["data", "list"], ["evaluate"]])
def test_help_has_an_example(command):
    done = ialspp(*command, "--help", COLUMNS="200")
    assert done.returncode == 0
    assert f"ialspp {' '.join(command)}" in done.stdout
    assert "Example" in done.stdout


def test_version_help_and_completion():
    done = ialspp("--version")
    assert re.fullmatch(r"ialspp \d+\.\d+\.\d+\S*\n", done.stdout)
    assert (done.returncode, done.stderr) == (0, "")
    listed = ialspp("--help", COLUMNS="120").stdout
    assert all(f" {command} " in listed for command in COMMANDS)
    for command in COMMANDS:
        done = ialspp(command, "--help", COLUMNS="120")
        assert (done.returncode, done.stderr) == (0, "")
        assert f"Example: ialspp {command} " in done.stdout
    # Not from bash, or whatever else the tests were started from: typer is told the shell.
    script = ialspp("--show-completion", "bash", _TYPER_COMPLETE_TEST_DISABLE_SHELL_DETECTION="1")
    assert (script.returncode, script.stderr) == (0, "")
    assert "complete -o default -F" in script.stdout
    words = {"_IALSPP_COMPLETE": "complete_bash", "COMP_WORDS": "ialspp rec", "COMP_CWORD": "1"}
    assert ialspp(**words).stdout.split() == ["recommend"]
