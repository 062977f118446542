"""The help of every command: groups, words instead of types, what is required, nothing swallowed."""

import itertools
import re
from typing import Annotated

import pytest
import typer
from support.commands import ialspp

from ialspp.cli.options import add_command

COMMANDS = [
    "fit",
    "tune",
    "update",
    "names",
    "recommend",
    "similar",
    "explain",
    "evaluate",
    "info",
    "serve",
    "export",
    "explore",
    "report",
    "demo",
]
PAGES = [[], ["data"], ["data", "list"], ["data", "show"], *([command] for command in COMMANDS)]
LEAKS = re.compile(r"<\w+(\[\w+\])?>|\{\w+\}|\bbool\b")


def page(*command):
    """The help of a command, in a terminal wide enough for every option to be on a line."""
    done = ialspp(*command, "--help", COLUMNS="300")
    assert (done.returncode, done.stderr) == (0, "")
    return done.stdout


def panels(text):
    """What stands in each panel, by its heading."""
    found, heading = {}, None
    for line in text.splitlines():
        if line.startswith("╭─ "):
            heading = line.strip("╭─╮ ")
            found[heading] = ""
        elif line.startswith("│"):
            found[heading] += line.strip("│").strip() + "\n"
    return found


@pytest.mark.parametrize("command", PAGES, ids=" ".join)
def test_no_type_of_python_leaks(command):
    assert not LEAKS.search(page(*command))


@pytest.mark.parametrize("command", [["fit"], ["prepare"], ["tune"]])
def test_paragraphs_are_broken_at_the_end_of_the_terminal_alone(command):
    shown = ialspp(*command, "--help", COLUMNS="80").stdout.split("╭")[0].split("Usage:")[1]
    paragraphs = [text.strip().splitlines() for text in re.split(r"\n *\n", shown)]
    for lines in paragraphs[1:]:
        for line, following in itertools.pairwise(lines):
            assert len(line.rstrip()) + len(following.split()[0]) >= 78, (line, following)


def test_commands_stand_in_groups():
    found = panels(page())
    named = {
        heading: re.findall(r"^\w+", text, re.MULTILINE)
        for heading, text in found.items()
        if heading != "Options"
    }
    assert named == {
        "Train a model": ["prepare", "fit", "tune", "plan", "update", "names"],
        "Query a model": ["recommend", "similar", "explain"],
        "Look": ["demo", "explore", "report", "evaluate", "info", "data"],
        "Use a model elsewhere": ["serve", "export"],
    }


def test_options_stand_in_groups():
    found = panels(page("fit"))
    solver = "Solver: the defaults suit most data"
    assert list(found) == [
        "Arguments",
        "Options",
        "Data",
        "Names",
        "Features",
        "Model",
        solver,
        "When to stop",
        "Cluster",
        "Checkpoints",
    ]
    places = {"--out": "Options", "--min-user": "Data", "--dim": "Model", "--steps": solver}
    for option, heading in {**places, "--until": "When to stop", "--every": "Checkpoints"}.items():
        assert [
            name for name, text in found.items() if re.search(rf"^\W*{option}\b", text, re.MULTILINE)
        ] == [heading]


def test_what_is_required_is_marked():
    text = page("fit")
    assert re.search(r"\* +SOURCE .*\[required\]", text)
    assert re.search(r"\* +--out .*\[required\]", text)
    assert re.search(r"--user +COLUMN +Required for files", text)
    assert re.search(r"--item +COLUMN +Required for files", text)
    assert "Usage: ialspp fit [OPTIONS] SOURCE" in text
    assert re.search(r"--protocol +TEXT +Required unless", page("evaluate"))
    assert re.search(
        r"--protocol +TEXT +strong, .* Default: the published split .* or else random", page("tune")
    )
    assert "For whom: one of these is required" in page("recommend")


def test_brackets_in_a_help_stay():
    def install(extra: Annotated[str, typer.Option(help="Such as 'ialspp[ann]'.")] = "") -> None:
        """Install 'ialspp[bold]'.

        Example: pip install 'ialspp[red]'
        """

    app = typer.Typer()
    add_command(app, "install", install)
    add_command(app, "again", install)  # commands share options
    text = shown(app, "again")
    for word in ("ialspp[ann]", "ialspp[bold]", "ialspp[red]"):
        assert f"'{word}'" in text


def shown(app, command):
    from typer.testing import CliRunner

    return CliRunner().invoke(app, [command, "--help"], env={"COLUMNS": "200"}).stdout


@pytest.mark.parametrize("twice", [["--dim", 32, "--dim=64"], ["--header", "--no-header"]])
def test_an_option_of_one_value_is_not_given_twice(twice):
    done = ialspp("evaluate", "none.csv", *twice)
    assert (done.returncode, done.stdout) == (2, "")
    assert done.stderr == f"ialspp: {twice[0]} may be given once, got it 2 times\n"


def test_a_repeated_list_or_flag_is_fine():
    done = ialspp("evaluate", "none.csv", "--metric", "auc", "--metric", "ndcg@10", "--json", "--json")
    assert "may be given once" not in done.stderr


def test_a_terminal_without_columns_has_the_usual_number():
    narrow, usual = (ialspp("data", "list", COLUMNS=width) for width in ("0", "80"))
    assert narrow.stdout == usual.stdout != ""
