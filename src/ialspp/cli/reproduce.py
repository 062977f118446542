"""ialspp reproduce: the paper's evaluation once more, its figures, tables and claims."""

from __future__ import annotations

import re
import shlex
import sys
from dataclasses import dataclass
from datetime import datetime, timezone
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, ClassVar

import typer

from ..datasets import KNOWN
from ..solvers.ialspp import AUTO_BLOCK_SIZE
from ..system.checks import checked_integer, checked_number
from ..system.machine import resolve_threads
from ..system.progress import reporting
from .options import given
from .output import JsonOption, remark, show_json, show_line, show_table
from .source import Source

if TYPE_CHECKING:  # else imported where it is used: no other command should wait for it
    from ..reproduce.benchmark import Benchmark
    from ..reproduce.claims import Verdict
    from ..reproduce.grid import Grid
    from ..reproduce.journal import Journal
    from ..reproduce.run import Run, Settings

NCF_DIMS = (64, 192)  # those of which results are published
PROTOCOLS = {"strong": "strong", "ncf": "leave-one-out", "lightgcn": "weak"}
UNITS = {"h": 3600, "m": 60, "s": 1}


@dataclass(frozen=True, slots=True)
class Subject(Source):
    """What data the evaluation is of."""

    unread: ClassVar[tuple[str, ...]] = ("source", "path", "protocol", "scale")

    source: Annotated[
        str,
        typer.Option(
            "--data",
            help="A known data set (ml20m, msd, synthetic:ml20m, ...), or a file or folder: of a known data "
            "set's layout, or any with --user and --item.",
        ),
    ] = "synthetic:ml20m"
    protocol: Annotated[
        str | None, typer.Option(help=f"{', '.join(PROTOCOLS)}. Default: what the data is made for.")
    ] = None
    scale: Annotated[float, typer.Option(help="The share of the users, and of generated items.")] = 1.0

    def benchmark(self) -> Benchmark:
        """Read, or fetch or generate, and split."""
        if self.protocol is not None and self.protocol not in PROTOCOLS:
            raise ValueError(f"--protocol must be one of {', '.join(PROTOCOLS)}, got {self.protocol!r}")
        if not 0 < self.scale <= 1:
            raise ValueError(f"--scale must be in (0, 1], got {self.scale:g}")
        with reporting("reading"):
            found = self._loaded()
        wanted = PROTOCOLS.get(self.protocol or "", found.split.protocol)
        if found.split.protocol != wanted:
            raise ValueError(
                f"--protocol {self.protocol} is {wanted} and {found.name} is made for {found.split.protocol}"
            )
        return found

    def _loaded(self) -> Benchmark:
        from ..reproduce.benchmark import canonical, known_benchmark, recognised, strong_benchmark

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
        list[int] | None, typer.Option(help="d; again for more. Default: 64, 128, ..., 2048 (ncf: 64, 192).")
    ] = None
    block: Annotated[
        list[str] | None,
        typer.Option(help="Block size, d for iALS; again for more. Default: 1, 2, 4, ..., d/2, d."),
    ] = None
    seeds: Annotated[int, typer.Option(help="Trainings of each; 0: no quality, times alone.")] = 4
    rounds: Annotated[int, typer.Option(help="Timed epochs of each; 0: no times, quality alone.")] = 3
    budget: Annotated[
        str | None, typer.Option(help='Such as "30m" or "1h30m": measure what fits, and say what does not.')
    ] = None
    epochs: Annotated[int | None, typer.Option(help="T. Default: 16 as in the paper, ncf 12.")] = None
    regularization: Annotated[float | None, typer.Option(help="lambda. Default: as published.")] = None
    unobserved_weight: Annotated[float | None, typer.Option(help="alpha0. Default: as published.")] = None
    sweep: Annotated[str, typer.Option(help="Of iALS++: block as in the paper, or side.")] = "block"
    threads: Annotated[int | None, typer.Option(help="Default: all CPUs this process may use.")] = None

    def grid(self, protocol: str | None) -> Grid:
        """Which configurations."""
        from ..reproduce.grid import DIMS, Grid

        if self.sweep not in AUTO_BLOCK_SIZE:
            raise ValueError(f"--sweep must be one of {', '.join(AUTO_BLOCK_SIZE)}, got {self.sweep!r}")
        dims = self.dim or (NCF_DIMS if protocol == "leave-one-out" else DIMS)
        blocks = [0 if block == "d" else _whole("--block", block) for block in self.block or ()]
        return Grid.of(dims, blocks, self.seeds, self.rounds)

    def settings(self, benchmark: Benchmark) -> Settings:
        """What all of them share; what was not said is as published for the data."""
        from ..reproduce.run import Settings

        known = benchmark.hyperparameters
        said = given(self)
        own = {"regularization", "unobserved_weight", "epochs"} & said.keys()
        flags = ", ".join(f"--{name.replace('_', '-')}" for name in sorted(own))
        return Settings(
            checked_number("--regularization", said.get("regularization", known.regularization)),
            checked_number("--unobserved-weight", said.get("unobserved_weight", known.unobserved_weight)),
            exponent=1.0,
            init_stddev=0.1,
            epochs=checked_integer("--epochs", said.get("epochs", known.epochs), 1),
            sweep=self.sweep,
            metrics=tuple(benchmark.split.metrics),
            chosen_by=known.chosen_by + (f"; but for {flags}" if own else ""),
        )


def reproduce(
    subject: Subject,
    experiment: Experiment,
    runs: Annotated[list[Path] | None, typer.Argument(help="With --compare: the folders of runs.")] = None,
    compare: Annotated[bool, typer.Option("--compare", help="Lay finished runs over each other.")] = False,
    out: Annotated[Path, typer.Option("-o", "--out", help="The folder of the report.")] = Path("report"),
    as_json: JsonOption = False,
) -> None:
    """Measure what the paper measures: seconds per epoch, quality and convergence over d and block sizes.

    In the folder are then report.html, with all figures, tables and claims, report.md, a summary, and
    measurements.jsonl. Every measurement is kept at once: the same command goes on where it was stopped.
    Pictures need matplotlib: pip install 'ialspp[plots]'.

    Example: ialspp reproduce --data synthetic:ml20m --scale 0.05 --budget 30m -o report
    """
    from ..reproduce.figures import need_matplotlib
    from ..reproduce.report import write_report

    need_matplotlib()
    if compare:
        compared(runs or [], out, as_json)
        return
    if runs:
        raise ValueError(f"folders of runs are for --compare, got {', '.join(map(str, runs))}")
    journal = measure(subject, experiment, out)
    with reporting("writing the report"):
        write_report(journal.run(), out)
    show(journal.run(), out, as_json)


def compared(folders: list[Path], out: Path, as_json: bool) -> None:
    """The report of several runs."""
    from ..reproduce.journal import FILE, read_run
    from ..reproduce.report import write_comparison

    if len(folders) < 2:
        raise ValueError(f"--compare needs the folders of two runs or more, got {len(folders)}")
    if (out / FILE).exists():
        raise ValueError(f"--out must be a folder of its own, and {out} has the report of a run")
    found = [read_run(folder) for folder in folders]
    out.mkdir(parents=True, exist_ok=True)
    with reporting("writing the report"):
        write_comparison(found, out)
    if as_json:
        show_json({"runs": folders, "report": out / "report.html"})
    else:
        show_line(f"The comparison is in {out / 'report.html'}")


def measure(subject: Subject, experiment: Experiment, out: Path) -> Journal:
    """Measure everything that was asked for and is not in the folder yet."""
    from ..reproduce.journal import Journal
    from ..reproduce.machine import this_machine
    from ..reproduce.measure import Workbench
    from ..reproduce.schedule import Schedule

    budget = None if experiment.budget is None else seconds_of(experiment.budget)
    threads = resolve_threads(experiment.threads)
    experiment.grid(None)  # mistakes are better said before data is read
    benchmark = subject.benchmark()
    grid, settings = experiment.grid(benchmark.split.protocol), experiment.settings(benchmark)
    today = datetime.now(timezone.utc).date().isoformat()
    journal = Journal(out, benchmark.data(), settings, this_machine(threads), today)
    with journal.alone():
        journal.plan(grid, shlex.join(["ialspp", *sys.argv[1:]]))
        schedule = Schedule(journal, Workbench(benchmark.split, settings, threads), grid, budget)
        if budget is None and schedule.expected() > UNITS["h"]:
            hours = schedule.expected() / UNITS["h"]
            remark(f"This may take {hours:,.0f} hours, at a first guess; --budget 30m measures what fits")
        try:
            failed = schedule.carry_out()
        except KeyboardInterrupt:
            remark(f"What was measured is kept in {journal.path}; the same command goes on from there")
            raise
    for task, error in failed:
        why = "there is not enough memory" if isinstance(error, MemoryError) else error
        remark(f"{task} failed: {why}")
    return journal


def seconds_of(text: str) -> float:
    """ "1h30m", "45m", "90s" or "90" in seconds."""
    parts = re.fullmatch(r"(?:(\d+)h)?(?:(\d+)m)?(?:(\d+)s?)?", text)
    if parts is None or not any(parts.groups()):
        raise ValueError(f'--budget must be a time such as "30m", "1h30m" or "90s", got {text!r}')
    total = sum(unit * int(part or 0) for unit, part in zip(UNITS.values(), parts.groups(), strict=True))
    if total == 0:
        raise ValueError(f"--budget must be more than nothing, got {text!r}")
    return total


def show(run: Run, out: Path, as_json: bool) -> None:
    """The claims, and where the rest is."""
    from ..reproduce.claims import claims
    from ..reproduce.journal import FILE

    verdicts, missing = claims(run), run.left_out()
    files = {"report": out / "report.html", "summary": out / "report.md", "measurements": out / FILE}
    if as_json:
        show_json({**files, "claims": [_as_dict(v) for v in verdicts], "left_out": list(map(str, missing))})
        return
    rows = [[v.claim.number, v.claim.sentence, v.claim.paper, v.ours, _word(v)] for v in verdicts]
    columns = ["", "the paper says", "there", "here", "holds"]
    show_table(f"Claims, measured on {run.data.name}", columns, rows, words=columns)
    if missing:
        show_line(f"{len(missing)} measurements were left out; the report lists them")
    show_line(f"The report is in {files['report']}")


def _as_dict(verdict: Verdict) -> dict[str, Any]:
    claim = verdict.claim
    facts = {"number": claim.number, "where": claim.where, "sentence": claim.sentence, "paper": claim.paper}
    return {**facts, "ours": verdict.ours, "holds": verdict.holds, "why": verdict.why}


def _word(verdict: Verdict) -> str:
    return {True: "yes", False: "no", None: "not measured"}[verdict.holds]


def _whole(option: str, text: str) -> int:
    if not re.fullmatch("[0-9]+", text) or int(text) == 0:
        raise ValueError(f"{option} must be a positive integer or d, got {text!r}")
    return int(text)
