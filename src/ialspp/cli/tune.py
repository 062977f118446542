"""ialspp tune: find the best settings on validation data, and test them once."""

from __future__ import annotations

import shlex
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Annotated, Any, ClassVar

import typer

from ..cluster import RayCluster
from ..errors import InvalidValueError
from ..model.model import ImplicitMF
from ..solvers import SpectralCG
from ..system.checks import checked_seconds
from ..tuning import BUDGET, require_extra
from ..tuning.parts import parts_of
from .cluster import ClusterOptions
from .failures import telling_of
from .options import given
from .ours import REPORT, TUNED, ForceOption, require_data
from .output import JsonOption, checked_target, show_json, show_line, show_table
from .protocols import RANDOM, Splitting, TuneSplitting
from .runs import RunsOption, checked_runs, record_run
from .source import Source
from .standing import live_table

SHOWN = 10  # trials in the table


@dataclass(frozen=True, slots=True)
class SearchOptions:
    """What to search, and for how long; None where an option was not given."""

    panel: ClassVar[str] = "Search"

    metric: Annotated[
        str | None,
        typer.Option(metavar="METRIC", help='What to maximise: "ndcg@100". Default: NDCG of the protocol.'),
    ] = None
    budget: Annotated[
        str | None, typer.Option(help='How long it may take: "90s", "10m", "2h". Default: 10m.')
    ] = None
    trials: Annotated[int | None, typer.Option(help="How many settings to try, instead of --budget.")] = None
    dim: Annotated[int, typer.Option(help="The d to start with.")] = 64
    max_dim: Annotated[int, typer.Option(help="The largest d to try.")] = 1024
    tune_exponent: Annotated[bool, typer.Option("--tune-exponent", help="Search nu, too.")] = False
    tune_popularity: Annotated[
        bool | None,
        typer.Option(
            "--tune-popularity/--no-tune-popularity",
            help="Search powers of popularity, too. Default: where there are weights.",
        ),
    ] = None
    epochs: Annotated[int, typer.Option(help="The most passes over the data of a training.")] = 16
    users: Annotated[int, typer.Option(help="The most validation users to score.")] = 10_000
    seed: Annotated[int, typer.Option(help="Seed of the search and of the trainings.")] = 0
    threads: Annotated[int | None, typer.Option(help="Threads. Default: all CPUs this process may use.")] = (
        None
    )
    init: Annotated[
        str, typer.Option(help="The start of trainings: spectral, or random as in the paper.")
    ] = "spectral"
    relaxation: Annotated[
        float | None,
        typer.Option(help="How far rows move, 1 to their minimum. Default: chosen by the solver."),
    ] = None

    def template(self) -> ImplicitMF:
        """Make the model whose solver and start trainings have."""
        solver = SpectralCG() if self.relaxation is None else SpectralCG(relaxation=self.relaxation)
        return ImplicitMF(
            solver=solver,
            init=self.init,  # type: ignore[arg-type]  # typer 0.15 takes no Literal; ImplicitMF checks the word
            threads=self.threads,
        )

    def seconds(self) -> float | None:
        """Return the budget in seconds; None if there is a number of trials."""
        if self.budget is not None and self.trials is not None:
            raise InvalidValueError("--budget and --trials exclude each other; give one of them")
        if self.budget is None:
            return BUDGET if self.trials is None else None
        return checked_seconds("budget", self.budget)


def tune(
    source: Source,
    splitting: TuneSplitting,
    options: SearchOptions,
    place: ClusterOptions,
    out: Annotated[Path, typer.Option("-o", "--out", help="The file of the settings, such as tuned.toml.")],
    report: Annotated[
        Path | None, typer.Option(help="The page of the report. Default: that of --out, ending in .html.")
    ] = None,
    journal: Annotated[
        Path | None, typer.Option(help="The file of the trials. Default: that of --out, ending in .journal.")
    ] = None,
    resume: Annotated[
        bool,
        typer.Option("--resume", help="Go on with the trials of --journal, or join the processes at work."),
    ] = False,
    force: ForceOption = False,
    runs: RunsOption = None,
    as_json: JsonOption = False,
) -> None:
    """Find the settings that rank best on validation users or pairs, and test them once.

    Where no split is published and --protocol is not given, a random fifth of the pairs is the test part.
    `ialspp fit --config FILE` and `ialspp evaluate --config FILE` take the settings as they are.

    After a kill, the same command with --resume goes on; started again elsewhere, it shares the work.
    --ray trains several trials at a time on a cluster, one on each worker.

    Example: ialspp tune ratings.csv --user userId --item movieId --min-rating 4 --budget 10m -o tuned.toml
    """
    require_extra()
    seconds = options.seconds()
    options.template()
    cluster = place.make(options.threads)
    report = report or out.with_suffix(".html")
    journal = journal or out.with_suffix(".journal")
    checked_target(out, kind=TUNED, force=force)
    checked_target(report, [".html", ".htm"], kind=REPORT, force=force)
    checked_runs(runs)
    require_data(source.source, "tune")
    source.refuse_target(out)
    _refuse_one_file(out, report, journal)
    command = shlex.join(["ialspp", *sys.argv[1:]])
    tuned = _found(source, splitting, options, seconds, journal, resume, cluster)
    from ..tuning.report import write_report
    from ..tuning.writing import write_toml

    shared = {  # a command with these settings may run in another folder
        name: str(value.absolute()) if name == "path" else value
        for name, value in given(source, "source").items()
    }
    how = {"protocol": RANDOM} if splitting.protocol is None and tuned.protocol == RANDOM else {}
    write_toml(tuned, out, shared=shared, evaluate={**how, **given(splitting)})
    write_report(tuned, report, command)
    answer = {"source": given(source), "split": given(splitting), **tuned.as_dict(), "file": str(out)}
    answer |= {"report": str(report), "journal": str(journal)}
    with telling_of(out):
        if as_json:
            show_json(answer)
        else:
            _show(source, tuned, out, report)
        record_run(runs, "tune", answer)


def _found(
    source: Source,
    splitting: Splitting,
    options: SearchOptions,
    seconds: float | None,
    journal: Path,
    resume: bool,
    cluster: RayCluster | None,
) -> Any:
    from ..tuning.tuner import Tuner

    tuner = Tuner(
        parts=parts_of(splitting.split(source, default=RANDOM)),
        metric=options.metric,
        budget=seconds,
        trials=options.trials,
        dim=options.dim,
        max_dim=options.max_dim,
        exponent=options.tune_exponent,
        popularity=options.tune_popularity,
        template=options.template(),
        epochs=options.epochs,
        users=options.users,
        seed=options.seed,
        journal=journal,
        resume=resume,
    )
    with _telling_how_to_resume(journal), live_table(tuner) as watch:
        return tuner.run(watch=watch, cluster=cluster)


def _refuse_one_file(*files: Path) -> None:
    if len({file.absolute() for file in files}) < len(files):
        raise InvalidValueError(
            f"--out, --report and --journal must be different files, got {', '.join(map(str, files))}"
        )


@contextmanager
def _telling_how_to_resume(journal: Path) -> Iterator[None]:
    """Add to an interrupt how the search can go on."""
    try:
        yield
    except KeyboardInterrupt as stop:
        advice = f"{journal} keeps the trials so far; go on with the same command and --resume"
        raise type(stop)(advice) from stop


def _show(source: Source, tuned: Any, out: Path, report: Path) -> None:
    """Print the ranked trials, and what to know of them."""
    columns, rows = tuned.table()
    title = f"{source.source}, {tuned.metric} on {tuned.validation}, {len(tuned.trials)} trainings"
    show_table(title, columns, rows[:SHOWN], words=["weights", "ending"])
    if tuned.test is not None:
        show_line("Test: " + ", ".join(f"{name} {value:.4f}" for name, value in tuned.test.items()) + ".")
    for remark in tuned.remarks():
        show_line(remark)
    show_line(f"Chosen: {', '.join(f'{name} {value}' for name, value in tuned.options().items())}.")
    show_line(f"Settings in {out}, report in {report}; {tuned.seconds:.0f} s.")
