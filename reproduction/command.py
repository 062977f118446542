"""The command line: what is measured on which data, and where the report goes."""

import re
import shlex
import sys
from dataclasses import dataclass
from datetime import datetime, timezone
from pathlib import Path
from typing import Annotated, ClassVar

import typer

from ialspp.cli.failures import reported
from ialspp.cli.options import add_command, given
from ialspp.cli.output import JsonOption, remark, show_json, show_line, show_table
from ialspp.cli.source import Source
from ialspp.datasets import KNOWN
from ialspp.errors import InvalidValueError
from ialspp.model.training import Plan
from ialspp.solvers.ialspp import AUTO_BLOCK_SIZE
from ialspp.system.checks import checked_integer, checked_number
from ialspp.system.machine import resolve_threads
from ialspp.system.progress import reporting

from .benchmark import Benchmark, canonical, known_benchmark, recognised, strong_benchmark
from .claims.table import judge_claims
from .figures.styles import require_matplotlib
from .grid import DIMS, Grid
from .journal import FILE, Journal
from .measure import Workbench, this_machine
from .report.writing import write_report
from .run import Run, Settings
from .schedule import Schedule

NCF_DIMS = (64, 192)  # those with published results
PROTOCOL_OF_OPTION = {"strong": "strong", "ncf": "leave-one-out", "lightgcn": "weak"}
UNITS = {"h": 3600, "m": 60, "s": 1}
VERDICTS = {True: "yes", False: "no", None: "not measured"}


@dataclass(frozen=True, slots=True)
class Subject(Source):
    """The data to evaluate on."""

    unread: ClassVar[tuple[str, ...]] = ("source", "path", "protocol", "scale")

    source: Annotated[
        str,
        typer.Option(
            "--data",
            help="A known data set (ml20m, msd, synthetic:ml20m, ...), or a file or folder: in a known data "
            "set's layout, or any with --user and --item.",
        ),
    ] = "synthetic:ml20m"
    protocol: Annotated[
        str | None, typer.Option(help=f"{', '.join(PROTOCOL_OF_OPTION)}. Default: that of the data.")
    ] = None
    scale: Annotated[float, typer.Option(help="The share of the users, and of generated items.")] = 1.0

    def benchmark(self) -> Benchmark:
        """Read, download or generate the data, and split it."""
        if self.protocol is not None and self.protocol not in PROTOCOL_OF_OPTION:
            options = ", ".join(PROTOCOL_OF_OPTION)
            raise InvalidValueError(f"--protocol must be one of {options}, got {self.protocol!r}")
        if not 0 < self.scale <= 1:
            raise InvalidValueError(f"--scale must be in (0, 1], got {self.scale:g}")
        with reporting("reading"):
            found = self._loaded()
        wanted = PROTOCOL_OF_OPTION.get(self.protocol or "", found.split.protocol)
        if found.split.protocol != wanted:
            raise InvalidValueError(
                f"--protocol {self.protocol} is {wanted}, but {found.name} is made for {found.split.protocol}"
            )
        return found

    def _loaded(self) -> Benchmark:
        place, said = Path(self.source), given(self, *self.unread)
        name = canonical(self.source)
        if name in KNOWN and not place.exists():
            found, options = (recognised(self.path) if self.path else None) or (name, {})
            own = options if found == name else {}
            return known_benchmark(name, self.path, self.scale, **own, **self.checked_for(name, said))
        if place.exists() and not said and self.path is None:
            known = recognised(place)
            if known is not None:
                return known_benchmark(known[0], place, self.scale, **known[1])
        return strong_benchmark(place.name, self.interactions("reproduce"), self.scale)


@dataclass(frozen=True, slots=True)
class Experiment:
    """What is measured, how often, and for how long."""

    panel: ClassVar[str] = "Experiment"

    dim: Annotated[
        list[int] | None, typer.Option(help="d; repeatable. Default: 64, 128, ..., 2048 (ncf: 64, 192).")
    ] = None
    block: Annotated[
        list[str] | None,
        typer.Option(help="Block size, d for iALS; repeatable. Default: 1, 2, 4, ..., d/2, d."),
    ] = None
    seeds: Annotated[int, typer.Option(help="Trainings of each; 0: no quality, only times.")] = 4
    rounds: Annotated[int, typer.Option(help="Timed epochs of each; 0: no times, only quality.")] = 3
    budget: Annotated[
        str | None, typer.Option(help='Such as "30m" or "1h30m": measure what fits, list what does not.')
    ] = None
    epochs: Annotated[int | None, typer.Option(help="T. Default: 16 as in the paper, ncf 12.")] = None
    regularization: Annotated[float | None, typer.Option(help="lambda. Default: as published.")] = None
    unobserved_weight: Annotated[float | None, typer.Option(help="alpha0. Default: as published.")] = None
    sweep: Annotated[str, typer.Option(help="Of iALS++: block as in the paper, or side.")] = "block"
    threads: Annotated[int | None, typer.Option(help="Default: all CPUs this process may use.")] = None

    def grid(self, protocol: str | None) -> Grid:
        if self.sweep not in AUTO_BLOCK_SIZE:
            raise InvalidValueError(
                f"--sweep must be one of {', '.join(AUTO_BLOCK_SIZE)}, got {self.sweep!r}"
            )
        for block in self.block or ():
            if block != "d" and not (re.fullmatch("[0-9]+", block) and int(block)):
                raise InvalidValueError(f"--block must be a positive integer or d, got {block!r}")
        dims = self.dim or (NCF_DIMS if protocol == "leave-one-out" else DIMS)
        blocks = [0 if block == "d" else int(block) for block in self.block or ()]
        return Grid.of(dims, blocks, self.seeds, self.rounds)

    def settings(self, benchmark: Benchmark) -> Settings:
        """Take what was not given as published for the data."""
        known, said = benchmark.hyperparameters, given(self)
        own = sorted({"regularization", "unobserved_weight", "epochs"} & said.keys())
        flags = ", ".join(f"--{name.replace('_', '-')}" for name in own)
        return Settings(
            checked_number("--regularization", said.get("regularization", known.regularization)),
            checked_number("--unobserved-weight", said.get("unobserved_weight", known.unobserved_weight)),
            exponent=1.0,
            init_stddev=0.1,
            epochs=Plan(checked_integer("--epochs", said.get("epochs", known.epochs), 1)).epochs,
            sweep=self.sweep,
            metrics=tuple(benchmark.split.metrics),
            chosen_by=known.chosen_by + (f", except {flags}" if own else ""),
        )


def reproduce(
    subject: Subject,
    experiment: Experiment,
    out: Annotated[Path, typer.Option("-o", "--out", help="The folder of the report.")] = Path("report"),
    as_json: JsonOption = False,
) -> None:
    """Measure what the paper measures: seconds per epoch, quality and convergence over d and block sizes.

    The folder then has report.html, with all figures, tables and claims, report.md, a summary, and
    measurements.jsonl. Every measurement is kept at once: the same command continues where it was stopped.

    Example: make reproduce ARGS="--data synthetic:ml20m --scale 0.05 --budget 30m -o report"
    """
    require_matplotlib()
    run = measure(subject, experiment, out)
    with reporting("writing the report"):
        write_report(run, out)
    show_claims(run, out, as_json)


def measure(subject: Subject, experiment: Experiment, out: Path) -> Run:
    """Measure everything that is requested and not in the folder yet."""
    budget = None if experiment.budget is None else parse_duration(experiment.budget)
    threads = resolve_threads(experiment.threads)
    experiment.grid(None)  # finds mistakes before data is read
    benchmark = subject.benchmark()
    grid, settings = experiment.grid(benchmark.split.protocol), experiment.settings(benchmark)
    today = datetime.now(timezone.utc).date().isoformat()
    journal = Journal(out, benchmark.data(), settings, this_machine(threads), today)
    journal.plan(grid, make_command(sys.argv[1:]))
    schedule = Schedule(journal, Workbench(benchmark.split, settings, threads), grid, budget)
    if budget is None and schedule.expected() > UNITS["h"]:
        hours = schedule.expected() / UNITS["h"]
        remark(f"This may take {hours:,.0f} hours, at a first guess; --budget 30m measures what fits")
    try:
        failed = schedule.carry_out()
    except BaseException:  # a library may turn Ctrl-C into an error of its own
        remark(f"What was measured is kept in {journal.path}; the same command continues from there")
        raise
    for task, error in failed:
        why = "there is not enough memory" if isinstance(error, MemoryError) else error
        remark(f"{task} failed: {why}")
    return journal.run()


def make_command(arguments: list[str]) -> str:
    """Write the command that repeats this run; make needs every $ twice."""
    return shlex.join(["make", "reproduce", f"ARGS={shlex.join(arguments)}".replace("$", "$$")])


def parse_duration(text: str) -> float:
    """Convert "1h30m", "45m", "90s" or "90" to seconds."""
    parts = re.fullmatch(r"(?:(\d+)h)?(?:(\d+)m)?(?:(\d+)s?)?", text)
    if parts is None or not any(parts.groups()):
        raise InvalidValueError(f'--budget must be a time such as "30m", "1h30m" or "90s", got {text!r}')
    total = sum(unit * int(part or 0) for unit, part in zip(UNITS.values(), parts.groups(), strict=True))
    if total == 0:
        raise InvalidValueError(f"--budget must be more than nothing, got {text!r}")
    return total


def show_claims(run: Run, out: Path, as_json: bool) -> None:
    verdicts, missing = judge_claims(run), run.left_out()
    files = {"report": out / "report.html", "summary": out / "report.md", "measurements": out / FILE}
    if as_json:
        claims = [verdict.as_dict() for verdict in verdicts]
        show_json({**files, "claims": claims, "left_out": list(map(str, missing))})
        return
    rows = [
        [v.claim.number, v.claim.sentence, v.claim.paper, v.finding.ours, VERDICTS[v.finding.holds]]
        for v in verdicts
    ]
    columns = ["", "the paper says", "there", "here", "holds"]
    show_table(f"Claims, measured on {run.data.name}", columns, rows, words=columns)
    if missing:
        show_line(f"{len(missing)} measurements were left out; the report lists them")
    show_line(f"The report is in {files['report']}")


def main() -> None:
    """Run the command; a user's mistake is one line on stderr, not a traceback."""
    app = typer.Typer(pretty_exceptions_enable=False, add_completion=False)
    add_command(app, "reproduce", reproduce)
    with reported():
        app(prog_name="make reproduce")
