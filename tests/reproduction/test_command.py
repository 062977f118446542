"""`make reproduce` as a whole: its report, its trainings and its options."""

import json
import shlex

import numpy as np
import pytest
from support.commands import contents
from support.reproducing import TINY, Report, but, liked_films, reproduce, write_movielens

from ialspp import (
    IALS,
    ICD,
    IALSpp,
    ImplicitMF,
    Interactions,
    Objective,
    SpectralCG,
    datasets,
    evaluate,
    split,
)
from reproduction.claims.table import judge_claims
from reproduction.command import make_command
from reproduction.complexity import FORMULAS
from reproduction.grid import Configuration
from reproduction.journal import FILE

FILES = {"report.html", "report.md", FILE}


@pytest.fixture
def films(tmp_path):
    """A small MovieLens 20M."""
    write_movielens(tmp_path / "films")
    return ["--data", tmp_path / "films"]


# The report


def test_a_run_leaves_a_report_a_summary_and_the_measurements(home, report):
    assert {path.name for path in (home / "report").iterdir()} == FILES
    assert report.run.left_out() == []
    assert len(report.run.timed()) == len(report.run.trained()) == 5 + 6


def test_the_command_prints_the_claims_and_where_the_report_is(home):
    said = (home / "said").read_text(encoding="utf-8")
    assert "Claims, measured on synthetic:ml20m" in said
    assert "The report is in report/report.html" in said


def test_the_data_table_has_the_very_counts(report):
    facts, shape = report.facts, datasets.synthetic("ml20m", scale=0.008)
    assert facts["data"] == "synthetic:ml20m"
    assert (facts["|U|"], facts["|I|"], facts["|S|"]) == ("1,093", "161", "80,000")
    assert (shape.n_users, shape.n_items, len(shape)) == (1093, 161, 80_000)
    assert facts["scale"] == "0.008"
    assert (float(facts["lambda"]), float(facts["alpha0"]), facts["T, epochs"]) == (0.003, 0.1, "3")
    assert facts["test users"] == "80"
    missing = [value for value in facts.values() if value not in report.page.text]
    assert missing == []


def test_every_part_is_in_the_report(report):
    page = report.page
    for formula in FORMULAS.values():
        assert formula.runtime in page.text
    assert page.count("img") == page.count("figure") == 5
    for number in (1, 2, 3, 4):
        assert f"Figure {number}" in page.text
    assert "Everything requested was measured." in page.text
    assert "make reproduce 'ARGS=--data synthetic:ml20m --scale 0.008 --dim 8" in page.text
    assert "SpectralCG" in page.text
    assert "not in the paper" in page.text


def test_the_command_in_the_report_repeats_the_run():
    arguments = ["--data", "it's a $file", "-o", "x y"]
    name, target, variable = shlex.split(make_command(arguments))
    assert (name, target) == ("make", "reproduce")
    assert shlex.split(variable.removeprefix("ARGS=").replace("$$", "$")) == arguments


# The trainings

SOLVERS = {
    1: ICD(),
    2: IALSpp(block_size=2, sweep="block"),
    8: IALSpp(block_size=8, sweep="block"),
    16: IALS(),
    None: SpectralCG(),
}


@pytest.fixture(scope="module")
def parts():
    """The paper's protocol, for that share of its users."""
    return split.strong(datasets.synthetic("ml20m", scale=0.008), held_out=80, min_user=5)


def model_of(block, seed, epochs):
    objective = Objective(unobserved_weight=0.1, regularization=0.003, exponent=1.0)
    start = {"init": "random", "init_stddev": 0.1, "seed": seed}
    return ImplicitMF(16, solver=SOLVERS[block], objective=objective, epochs=epochs, **start)


@pytest.mark.parametrize("seed", [0, 1])
@pytest.mark.parametrize("block", SOLVERS)
def test_trainings_are_those_of_the_library_to_the_bit(block, seed, report, parts):
    training = report.run.trainings_of(Configuration(16, block))[seed]
    assert training.task.seed == seed
    for epochs in (1, 3):
        model = model_of(block, seed, epochs).fit(parts.train, progress=False)
        assert training.loss[:epochs] == tuple(record.loss for record in model.history)
        found = evaluate(model, parts)
        assert list(training.metrics) == ["capped_recall@20", "capped_recall@50", "ndcg@100"]
        assert [values[epochs - 1] for values in training.metrics.values()] == [
            found[name].mean for name in training.metrics
        ]


def test_quality_in_the_report_is_the_mean_over_seeds_and_the_spread(report):
    rows = {(row[0], row[1]): row[2:] for row in report.table("d", "block", "seeds")}
    assert len(rows) == 5 + 6
    for block, name in [(1, "iCD"), (2, "2"), (8, "8"), (16, "iALS"), (None, "SpectralCG")]:
        finals = [
            report.run.final(metric, Configuration(16, block)) for metric in report.run.settings.metrics
        ]
        wanted = [f"{np.mean(own):.4f} ± {np.std(own, ddof=1):.4f}" for own in finals]
        assert rows["16", name] == ["2", *wanted]


# Options

MISTAKES = [
    *(
        [["--budget", text], ["--budget", repr(text)]]
        for text in ("", "abc", "-5m", "0", "0h0m", "1.5x", "m")
    ),
    *([["--dim", dim], ["dim must be at least 2", dim]] for dim in ("1", "0", "-4")),
    (["--dim", "8", "--dim", "70000"], ["dim must be at most 65536", "70000"]),
    *(
        [["--block", block], ["--block", "positive integer or d", repr(block)]]
        for block in ("0", "-1", "x", "1.5")
    ),
    (["--seeds", "-1"], ["seeds must be at least 0", "-1"]),
    (["--rounds", "-1"], ["rounds must be at least 0", "-1"]),
    (["--seeds", "0", "--rounds", "0"], ["nothing is left to measure"]),
    (["--threads", "0"], ["threads must be at least 1", "0"]),
]
LATER_MISTAKES = [
    (["--epochs", "0"], ["--epochs must be at least 1", "0"]),
    (["--regularization", "-1"], ["--regularization", "-1"]),
    (["--unobserved-weight", "nan"], ["--unobserved-weight", "nan"]),
    (["--sweep", "up"], ["sweep", "'up'"]),
]


def one_line(code, said, words):
    assert (code, said.out, said.err.count("\n")) == (2, "", 1), said.err
    assert said.err.startswith("ialspp: ")
    assert all(word in said.err for word in words), (words, said.err)


@pytest.mark.parametrize(("options", "words"), MISTAKES, ids=[" ".join(case[0]) for case in MISTAKES])
def test_mistakes_are_found_before_data_is_read(options, words, tmp_path, capsys):
    code = reproduce("--data", tmp_path / "none", *options, "-o", tmp_path / "report")
    one_line(code, capsys.readouterr(), words)
    assert contents(tmp_path) == {}


@pytest.mark.parametrize(("options", "words"), LATER_MISTAKES)
def test_mistakes_in_settings_leave_nothing(options, words, films, tmp_path, capsys):
    code = reproduce(*films, *but(TINY, options), "-o", tmp_path / "report")
    one_line(code, capsys.readouterr(), words)
    assert not (tmp_path / "report").exists()


def test_a_file_where_the_folder_should_be_stays(films, tmp_path, capsys):
    (tmp_path / "taken").write_text("mine")
    code = reproduce(*films, *TINY, "-o", tmp_path / "taken")
    one_line(code, capsys.readouterr(), ["taken"])
    assert (tmp_path / "taken").read_text() == "mine"


def measured(folder, *arguments):
    assert reproduce(*arguments, "-o", folder) == 0
    return Report(folder)


def pairs(configurations):
    return [(each.dim, each.block) for each in configurations]


def test_times_alone(films, tmp_path):
    """Block sizes that are no divisor of d, and such as only the larger d has."""
    few = ["--dim", "8", "--dim", "24", "--block", "3", "--block", "20", "--block", "d", "--rounds", "2"]
    report = measured(tmp_path / "a" / "b", *films, *few, "--seeds", "0")
    wanted = [(8, 3), (8, 8), (8, None), (24, 3), (24, 20), (24, 24), (24, None)]
    assert pairs(report.run.timed()) == wanted
    assert report.run.trainings == ()
    assert {timing.task.round for timing in report.run.timings} == {0, 1}
    assert report.page.count("img") == 2
    assert "Nothing was measured for this." in report.page.text


def test_quality_alone_on_one_thread_and_as_json(films, tmp_path, capsys):
    few = ["--dim", "24", "--seeds", "1", "--rounds", "0", "--epochs", "2", "--threads", "1"]
    report = measured(tmp_path / "one", *films, *few, "--json")
    found = json.loads(capsys.readouterr().out)
    assert found["claims"] == [verdict.as_dict() for verdict in judge_claims(report.run)]
    assert found["left_out"] == []
    paths = {found[name] for name in ("report", "summary", "measurements")}
    assert paths == {str(tmp_path / "one" / name) for name in FILES}
    assert pairs(report.run.trained()) == [(24, block) for block in (1, 2, 4, 8, 16, 24, None)]
    assert report.run.timings == ()
    assert (report.run.machine.threads, report.run.settings.epochs) == (1, 2)
    assert report.page.count("img") == 3


def test_settings_are_as_they_were_said(films, tmp_path):
    said = ["--regularization", "0.02", "--unobserved-weight", "0.3", "--epochs", "1", "--sweep", "side"]
    few = ["--dim", "4", "--block", "2", "--seeds", "1", "--rounds", "0"]
    report = measured(tmp_path / "report", *films, *few, *said)
    settings = report.run.settings
    assert (settings.regularization, settings.unobserved_weight, settings.sweep) == (0.02, 0.3, "side")
    assert all(flag in settings.chosen_by for flag in ("--regularization", "--unobserved-weight", "--epochs"))
    users, liked = map(np.array, zip(*liked_films(), strict=True))
    parts = split.strong(Interactions.from_arrays(user=users, item=liked), held_out=5)
    objective = Objective(unobserved_weight=0.3, regularization=0.02)
    solver = IALSpp(block_size=2, sweep="side")
    model = ImplicitMF(4, solver=solver, objective=objective, epochs=1, init="random", seed=0)
    model.fit(parts.train, progress=False)
    (training,) = report.run.trainings_of(Configuration(4, 2))
    assert training.loss == (model.history[0].loss,)


def test_blocks_that_no_dimension_has_leave_the_solver_that_has_none(films, tmp_path):
    few = ["--dim", "4", "--dim", "6", "--block", "7", "--seeds", "0", "--rounds", "1"]
    report = measured(tmp_path / "report", *films, *few)
    assert pairs(report.run.timed()) == [(4, None), (6, None)]
