"""Every mistake is one line on standard error and exit code 2, and leaves no file behind."""

import os
import sys
from contextlib import contextmanager
from pathlib import Path

import pytest
from support.commands import COLUMNS, QUICK, answer, contents, ialspp, refuses, shell, write_log

from ialspp.files import container

posix = pytest.mark.skipif(os.name != "posix", reason="limits and closed streams as POSIX has them")
ENDLESS = ["--epochs", 25_000]  # a mistake that is only found after training is found by the time limit
FIT = ["fit", "LOG", *COLUMNS, "-o", "x.ialspp"]
BAD_TABLES = {
    "empty.csv": "",
    "header.csv": "who,what\n",
    "negative.csv": "who,what,w\na,1,1\nb,1,-1\n",
    "nan.csv": "who,what,w\na,1,nan\n",
    "words.csv": "who,what,w\na,1,heavy\n",
}
CONFIGS = {
    "unknown.toml": "[fit]\ndimm = 4\n",
    "type.toml": 'dim = "4"\n',
    "flag.toml": "dim = true\n",
    "list.toml": "user = ['who']\n",
    "bad.toml": "dim = 4\nseed = 1\n[fit\n",
    "table.toml": "[fitt]\ndim = 4\n",
    "value.toml": "regularization = nan\n",
    "other.toml": '[fit]\nprotocol = "random"\n',
}


def damage(whole, folder):
    """Model files that are not whole, or not for this version."""
    (folder / "cut.ialspp").write_bytes(whole[: len(whole) // 2])
    (folder / "short.ialspp").write_bytes(whole[:100])
    (folder / "flipped.ialspp").write_bytes(whole[:-9] + bytes([whole[-9] ^ 255]) + whole[-8:])
    (folder / "header.ialspp").write_bytes(whole[:100] + bytes([whole[100] ^ 1]) + whole[101:])
    model = container.Container.open(folder / "m.ialspp")
    container.write(folder / "newer.ialspp", model.arrays, {**model.metadata, "format_version": "99"})
    container.write(folder / "other.ialspp", model.arrays, {"format": "other"})


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    """A model of string users and integer items, and everything that may be wrong."""
    folder = tmp_path_factory.mktemp("errors")
    write_log(folder / "log.csv")
    answer("fit", "log.csv", *COLUMNS, *QUICK, "-o", "m.ialspp", cwd=folder)
    answer("fit", "log.csv", *COLUMNS, *QUICK, "-o", "bare.ialspp", "--no-interactions", cwd=folder)
    damage((folder / "m.ialspp").read_bytes(), folder)
    for name, text in {**BAD_TABLES, **CONFIGS}.items():
        (folder / name).write_text(text)
    (folder / "ids").write_text("u1\nnobody\n")
    (folder / "latin").write_bytes(b"u1\n\xff\n")
    (folder / "folder.csv").mkdir()
    return folder


def check(folder, cases):
    """Run every case; all must be refused with their words, and leave the folder as it is."""
    before = contents(folder)
    wrong = [text for case in cases if (text := wrong_answer(folder, *case))]
    assert not wrong, "\n".join(wrong)
    assert contents(folder) == before


def wrong_answer(folder, arguments, words):
    arguments = ["log.csv" if argument == "LOG" else str(argument) for argument in arguments]
    done = ialspp(*arguments, cwd=folder)
    try:
        refuses(*words)(done)
    except AssertionError:
        got = f"{done.returncode}, {done.stdout[:200]!r}, {done.stderr[:500]!r}"
        return f"ialspp {' '.join(arguments)}: wanted {words}, got {got}"


DATA = [
    (["fit", "none.csv", *COLUMNS, "-o", "x"], ["none.csv", "no such file"]),
    (["fit", "/dev/null", *COLUMNS, "-o", "x"], ["/dev/null", "a regular file is required"]),
    (["fit", "LOG", "-o", "x"], ["--user and --item", "log.csv"]),
    (["fit", "LOG", "--user", "who", "--item", "film", "-o", "x"], ["'film' is not in the file", "what"]),
    (["fit", "LOG", "--user", 0, "--item", 9, "--header", "-o", "x"], ["log.csv", "9"]),
    (["fit", "LOG", "--user", 0, "--item", 1, "-o", "x"], ["log.csv, line 1", "--header", "--no-header"]),
    (
        ["fit", "LOG", "--user", 0, "--item", 1, "--min-rating", 3, "-o", "x"],
        ["--rating must be the position"],
    ),
    (["fit", "empty.csv", *COLUMNS, "-o", "x"], ["empty.csv", "empty"]),
    (["fit", "header.csv", *COLUMNS, "-o", "x"], ["header.csv has no interactions", "no rows"]),
    (["fit", "negative.csv", *COLUMNS, "--weight", "w", "-o", "x"], ["negative.csv, line 3", "-1"]),
    (["fit", "nan.csv", *COLUMNS, "--weight", "w", "-o", "x"], ["nan.csv, line 2", "nan"]),
    (["fit", "words.csv", *COLUMNS, "--weight", "w", "-o", "x"], ["words.csv", "heavy"]),
    ([*FIT, "--where", "stars >> ("], ["log.csv", "where"]),
    ([*FIT, "--where", "stars > 100"], ["no interactions", "no row is left after --where"]),
    ([*FIT, "--where", "stars > 1", "--min-user", 999], ["no row is left after --where, --min-user"]),
    ([*FIT, "--min-rating", 3], ["log.csv", "rating"]),
    ([*FIT, "--rating", "stars"], ["--min-rating"]),
    ([*FIT, "--min-item", -3], ["--min-item must be at least 0, got -3"]),
    ([*FIT, "--separator", "abc"], ["separator", "'abc'"]),
    (["update", "m.ialspp", "none.csv", *COLUMNS], ["none.csv", "no such file"]),
    (["update", "m.ialspp", "LOG", "--user", "what", "--item", "who"], ["integers"]),
    (["update", "m.ialspp", "LOG", *COLUMNS, "--epochs", 0], ["epochs must be at least 1, got 0"]),
]


def test_data(folder):
    check(folder, DATA)


SETTINGS = [
    (["--solver", "sgd"], ["spectral, ials++, ials, icd", "'sgd'"]),
    (["--solver", "ials", "--steps", 3], ["--solver ials does not use --steps"]),
    (["--solver", "icd", "--tolerance", 0.1], ["--solver icd does not use --tolerance"]),
    (["--block-size", 3], ["--solver spectral does not use --block-size"]),
    (["--solver", "ials++", "--sweep", "up"], ["side", "block", "'up'"]),
    (["--solver", "ials++", "--block-size", 100], ["--block-size must be at most dim (64), got 100"]),
    (["--regularization", "nan"], ["regularization must be finite", "nan"]),
    (["--unobserved-weight", "-1"], ["--unobserved-weight", "-1"]),
    (["--exponent", "inf"], ["exponent must be finite", "inf"]),
    (["--init", "random", "--init-stddev", "-0.5"], ["--init-stddev", "-0.5"]),
    (["--init-stddev", "0.5"], ['--init-stddev belongs to --init "random"', "'spectral'"]),
    (["--init", "zeros"], ['init must be "spectral" or "random"', "'zeros'"]),
    (["--relaxation", "2"], ["relaxation must be > 0 and < 2, got 2.0"]),
    (["--solver", "icd", "--relaxation", "1.5"], ["--solver icd does not use --relaxation"]),
    (["--solver", "ials", "--precision", "mixed"], ["--solver ials does not use --precision"]),
    (["--precision", "double"], ['precision must be "auto", "mixed" or "single"', "'double'"]),
    (["--tolerance", "nan"], ["tolerance", "nan"]),
    (["--dim", 0], ["dim must be at least 1, got 0"]),
    (["--epochs", -1], ["epochs must be at least 0, got -1"]),
    (["--seed", -1], ["seed must be at least 0, got -1"]),
    (["--threads", 0], ["threads must be at least 1, got 0"]),
    (["--threads", 10**6], ["threads must be at most 1024, got 1000000"]),
]


def test_a_dim_beyond_all_memory(folder):
    for dim in (65537, 10**13, 10**20):
        check(folder, [([*FIT, "--dim", dim], ["dim must be at most 65536", str(dim)])])


def test_settings(folder):
    check(folder, [([*FIT, *options], words) for options, words in SETTINGS])


CONFIG_MISTAKES = [
    ("unknown.toml", ["unknown.toml", "dimm is not an option of fit", "did you mean dim?"]),
    ("type.toml", ["type.toml", "dim must be an integer, got '4'"]),
    ("flag.toml", ["flag.toml", "dim must be an integer"]),
    ("list.toml", ["list.toml", "user"]),
    ("bad.toml", ["bad.toml", "line 3"]),
    ("table.toml", ["table.toml", "[fitt]", "prepare, fit, evaluate, tune, update"]),
    ("value.toml", ["regularization must be finite", "nan"]),
    ("other.toml", ["other.toml", "protocol is not an option of fit"]),
    ("none.toml", ["none.toml", "No such file"]),
]


def test_config_files(folder):
    check(folder, [([*FIT, "--config", name], words) for name, words in CONFIG_MISTAKES])


QUESTIONS = [
    (["recommend", "--user", "nobody"], ["unknown user: 'nobody'"]),
    (["recommend", "--user", "3"], ["unknown user: '3'"]),
    (["recommend", "--item", "u3"], ["--item", "integers", "'u3'"]),
    (["recommend", "--item", "999"], ["unknown item: 999"]),
    (["recommend", "--users", "ids"], ["ids", "unknown user: 'nobody'"]),
    (["recommend", "--users", "latin"], ["latin, line 2", "UTF-8"]),
    (["recommend", "--users", "none"], ["none: No such file"]),
    (["recommend", "--users", "-"], ["no ids"]),
    (["recommend", "--user", "u3", "--candidates", "ids"], ["ids", "integers", "'u1'"]),
    (["recommend", "--user", "u3", "--exclude", "empty.csv"], ["empty.csv", "no ids"]),
    (["recommend"], ["--user, --users, --all, --item is required, got none"]),
    (["recommend", "--user", "u3", "--all"], ["got --user and --all"]),
    (["recommend", "--user", "u3", "--item", 3], ["got --user and --item"]),
    (["recommend", "--all", "-k", -3], ["k must be at least", "got -3"]),
    (["recommend", "--all", "--threads", -1], ["threads must be at least 1, got -1"]),
    (["recommend", "--all", "-o", "x.xls"], ["x.xls", ".parquet, .csv, .jsonl"]),
    (["similar", "--item", "u3"], ["--item", "integers", "'u3'"]),
    (["similar", "--user", "u3", "--item", 3], ["got --item and --user"]),
    (["similar", "--item", 3, "--metric", "l2"], ["--metric must be cosine or dot, got 'l2'"]),
    (["explain", "--user", "3", "--item", 3], ["unknown user: '3'"]),
    (["explain", "--user", "u3", "--item", 999], ["unknown item: 999"]),
    (["export"], ["--parquet, --numpy, --ann is required, got none"]),
    (["export", "--numpy", "x", "--parquet", "y"], ["got --parquet and --numpy"]),
    (["export", "--ann", "usearch"], ["--ann needs -o"]),
    (["export", "--ann", "hnsw", "-o", "x"], ["--ann must be usearch or faiss, got 'hnsw'"]),
    (["export", "--ann", "usearch", "-o", "x", "-k", 0], ["k must be at least 1, got 0"]),
    (["export", "--numpy", "x", "--queries", 5], ["--queries does not apply without --ann"]),
]


def test_questions(folder):
    check(folder, [([command, "m.ialspp", *options], words) for (command, *options), words in QUESTIONS])


def test_nothing_asked_for(folder):
    asked = (
        ["recommend", "--user", "u3"],
        ["similar", "--item", 3],
        ["explain", "--user", "u3", "--item", 3],
    )
    check(folder, [([name, "m.ialspp", *rest, "-k", 0], ["at least 1, got 0"]) for name, *rest in asked])


MODEL_FILES = [
    ("none.ialspp", ["No such file"]),
    ("folder.csv", ["irectory"]),
    ("log.csv", ["it looks like text"]),
    ("empty.csv", ["is empty"]),
    ("cut.ialspp", ["is cut short"]),
    ("short.ialspp", ["is cut short"]),
    ("flipped.ialspp", ["is corrupted", "interactions.items"]),
    ("header.ialspp", ["corrupted header"]),
    ("newer.ialspp", ["99", "newer"]),
    ("other.ialspp", ["ialspp"]),
]


def test_model_files(folder):
    check(folder, [(["recommend", name, "--user", "u3"], [name, *words]) for name, words in MODEL_FILES])
    some = [(name, words) for name, words in MODEL_FILES if name.endswith(".ialspp")]
    check(folder, [(["info", name, "--verify"], [name, *words]) for name, words in some])


def test_a_model_without_interactions(folder):
    cases = [
        (["explain", "bare.ialspp", "--user", "u3", "--item", 3], ["bare.ialspp", "--no-interactions"]),
        (["update", "bare.ialspp", "LOG", *COLUMNS], ["bare.ialspp", "--no-interactions"]),
        (["recommend", "bare.ialspp", "--user", "u3"], ["bare.ialspp", "--include-seen"]),
    ]
    check(folder, cases)
    assert answer("recommend", folder / "bare.ialspp", "--user", "u3", "--include-seen", "-k", 1)["rankings"]


PLACES = [
    (["fit", "LOG", *COLUMNS, *ENDLESS, "-o", "none/x.ialspp"], ["none"]),
    (["fit", "LOG", *COLUMNS, *ENDLESS, "-o", "folder.csv"], ["folder.csv", "folder"]),
    (["fit", "LOG", *COLUMNS, *ENDLESS, "-o", "log.csv/x.ialspp"], ["log.csv"]),
    (["fit", "LOG", *COLUMNS, *ENDLESS, "-o", "log.csv"], ["log.csv", "--out"]),
    (["fit", "LOG", *COLUMNS, *ENDLESS, "-o", "x.ialspp", "--runs", "log.csv"], ["log.csv"]),
    (["update", "m.ialspp", "LOG", *COLUMNS, *ENDLESS, "-o", "none/x"], ["none"]),
    (["recommend", "m.ialspp", "--all", "-o", "none/x.csv"], ["none"]),
    (["recommend", "m.ialspp", "--all", "-o", "folder.csv"], ["folder.csv", "folder"]),
    (["similar", "m.ialspp", "--item", 3, "-o", "log.csv/x.csv"], ["log.csv"]),
    (["export", "m.ialspp", "--numpy", "log.csv"], ["log.csv"]),
    (["export", "m.ialspp", "--parquet", "log.csv/x"], ["log.csv"]),
    (["export", "m.ialspp", "--ann", "usearch", "-o", "folder.csv"], ["folder.csv", "folder"]),
    (["export", "m.ialspp", "--ann", "faiss", "-o", "log.csv/x"], ["log.csv"]),
]


def test_places_that_cannot_be_written(folder):
    check(folder, PLACES)


@contextmanager
def full_disk():
    """No file of this process may be longer than 1 KB."""
    resource = pytest.importorskip("resource")
    limits = resource.getrlimit(resource.RLIMIT_FSIZE)
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(sys, "dont_write_bytecode", True)  # some versions of Python leave half a file
        resource.setrlimit(resource.RLIMIT_FSIZE, (1024, limits[1]))
        try:
            yield
        finally:
            resource.setrlimit(resource.RLIMIT_FSIZE, limits)


@posix
@pytest.mark.parametrize(
    "arguments",
    [
        [*FIT, "--dim", 64],
        ["fit", "LOG", *COLUMNS, "--dim", 64, "-o", "m.ialspp"],
        ["update", "m.ialspp", "LOG", *COLUMNS],
        ["recommend", "m.ialspp", "--all", "-k", 40, "-o", "x.parquet"],
        ["recommend", "m.ialspp", "--all", "-k", 40, "-o", "x.csv"],
        ["export", "m.ialspp", "--ann", "usearch", "-o", "x.index"],
        ["export", "m.ialspp", "--ann", "faiss", "-o", "x.index"],
        ["export", "m.ialspp", "--parquet", "tables"],
        ["export", "m.ialspp", "--numpy", "tables"],
    ],
)
def test_a_full_disk_leaves_the_old_file_and_no_other(folder, arguments):
    before = contents(folder)
    arguments = ["log.csv" if argument == "LOG" else argument for argument in arguments]
    with full_disk():
        done = ialspp(*arguments, cwd=folder)
    refuses("too large")(done)
    whole = {Path("x/users.parquet"), *(Path("x") / f"{side}_ids.npy" for side in ("user", "item"))}
    left = contents(folder)
    assert {path: data for path, data in left.items() if path not in whole} == before
    assert all(len(left[path]) <= 1024 for path in whole & set(left))
    for path in whole & set(left):
        (folder / path).unlink()


@posix
@pytest.mark.skipif(sys.platform != "linux", reason="/dev/full is of Linux")
def test_standard_output_that_cannot_be_written(folder):
    for question in (["info", folder / "m.ialspp"], ["recommend", folder / "m.ialspp", "--all", "--json"]):
        refuses("No space left")(shell('exec "$@" > /dev/full', *question))
        assert "Traceback" not in shell('exec "$@" >&-', *question).stderr
    refuses("standard input")(shell('exec "$@" <&-', "recommend", folder / "m.ialspp", "--users", "-"))


def test_debug_adds_the_traceback(folder):
    for arguments in (["--debug", "info", "none"], ["info", "none", "--debug"]):
        done = ialspp(*arguments, cwd=folder)
        assert done.returncode == 2
        assert done.stdout == ""
        assert done.stderr.startswith("Traceback")
        assert done.stderr.endswith("ialspp: none: No such file or directory\n")


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        (["train"], "No such command 'train'"),
        (["fit", "log.csv", "--dimm", 3], "No such option: --dimm"),
        (["fit", "log.csv"], "Missing option '-o' / '--out'"),
        (["info"], "Missing argument 'MODEL'"),
        (["recommend", "m.ialspp", "-k", "many"], "Invalid value for '-k'"),
        (["explain", "m.ialspp", "--user", "u3"], "Missing option '--item'"),
    ],
)
def test_wrong_usage(folder, arguments, words):
    done = ialspp(*arguments, cwd=folder, COLUMNS="120")
    assert (done.returncode, done.stdout) == (2, "")
    assert done.stderr.startswith("Usage: ialspp")
    assert words in done.stderr
    assert "--help" in done.stderr


@pytest.mark.skipif(sys.platform != "linux", reason="/dev/full is of Linux")
def test_what_is_done_but_cannot_be_told_has_an_exit_code_of_its_own(tmp_path):
    """Whoever repeats an update that was done counts its data twice."""
    log, model = write_log(tmp_path / "log.csv"), tmp_path / "m.ialspp"
    more = write_log(tmp_path / "more.csv", first_user=100)
    told = [f"{model} is written, but not all about it", "No space left"]
    for arguments in (["fit", log, *COLUMNS, *QUICK, "-o", model], ["update", model, more, *COLUMNS]):
        refuses(*told, code=3)(shell('exec "$@" > /dev/full', *arguments))
    assert answer("info", model)["users"] == 120


def test_keys_of_other_commands_are_left_to_them(tmp_path):
    log = write_log(tmp_path / "log.csv")
    (tmp_path / "all.toml").write_text(
        'user = "who"\nitem = "what"\ndim = 4\nprotocol = "random"\n[fit]\nepochs = 1\n'
    )
    shared = ["--config", tmp_path / "all.toml"]
    assert answer("fit", log, *shared, "-o", tmp_path / "m.ialspp")["settings"]["dim"] == 4
    assert answer("evaluate", log, *shared)["split"]["protocol"] == "random"
    assert answer("update", tmp_path / "m.ialspp", log, *shared)["update"]["new_pairs"] == 0
    (tmp_path / "wrong.toml").write_text("protocoll = 1\n")
    wrong = ialspp("fit", log, "--config", tmp_path / "wrong.toml", "-o", tmp_path / "m.ialspp")
    refuses("protocoll is not an option of fit")(wrong)
