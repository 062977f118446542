"""Several runs laid over each other: of other machines, versions or settings."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import replace
from itertools import count
from pathlib import Path
from statistics import fmean

from ..claims import Verdict, claims
from ..figures import pictures
from ..grid import Configuration
from ..run import Run, metric_label, ordered
from .document import Cell, Commands, Document, Part, Section, Table
from .remarks import HOLDS, claims_summary, machine_facts, what_a_second_counts
from .results import NOTHING, block_name, mean_and_spread, three_digits
from .single import section, write_pair
from .tables import facts


def write_comparison(runs: Sequence[Run], folder: Path) -> None:
    """Write report.html and report.md of all runs together, both or neither.

    Times are always laid side by side; quality only where data, protocol and metrics are the same.
    """
    if len(runs) < 2:
        raise ValueError(f"a comparison needs two runs or more, got {len(runs)}")
    named = with_own_names(runs)
    title = f"The iALS++ paper's evaluation, compared: {', '.join(run.name for run in named)}"
    verdicts = {run.name: claims(run) for run in named}
    summary = tuple(f"{name}: {claims_summary(own)}" for name, own in verdicts.items())
    sections = (
        differences_section(named),
        *measured_sections(named),
        section("claims", "Claims", claims_table(verdicts)),
        how_section(named),
    )
    write_pair(Document(title, summary, sections), folder)


def with_own_names(runs: Sequence[Run]) -> list[Run]:
    """The same runs; a name that was taken already gets a number."""
    named: list[Run] = []
    for run in runs:
        names = (run.name if number == 1 else f"{run.name} ({number})" for number in count(1))
        taken = {other.name for other in named}
        named.append(replace(run, name=next(name for name in names if name not in taken)))
    return named


# What differs


def differences_section(runs: Sequence[Run]) -> Section:
    """The facts of data, settings and machine in which the runs are not alike."""
    known = [{**facts(run), **_asked(run), **machine_facts(run)} for run in runs]
    values = {name: [each[name] for each in known] for name in known[0]}
    rows = tuple((name, *own) for name, own in values.items() if len(set(own)) > 1)
    columns = ("", *(run.name for run in runs))
    differ = Table("In what the runs differ", columns, rows, words=columns)
    alike = "The runs agree in data, settings, machine and version."
    return section("differences", "What differs", differ if rows else alike, _quality_remark(runs))


def _asked(run: Run) -> dict[str, str]:
    """What must be alike for quality to be compared, by name."""
    return {
        "data's digest": run.data.fingerprint,
        "evaluation": facts(run)["evaluation"],
        "metrics": ", ".join(run.settings.metrics),  # not their labels, which two metrics may share
    }


def asked_the_same(runs: Sequence[Run]) -> bool:
    """Whether the quality of all runs can be laid side by side."""
    return all(_asked(run) == _asked(runs[0]) for run in runs)


def _quality_remark(runs: Sequence[Run]) -> str | None:
    if asked_the_same(runs):
        return None
    asked = [_asked(run) for run in runs]
    differing = [name for name in asked[0] if len({each[name] for each in asked}) > 1]
    return f"Only times are compared. Quality cannot be, since these differ: {', '.join(differing)}."


# What was measured


def measured_sections(runs: Sequence[Run]) -> list[Section]:
    """Figures and tables of what can be compared."""
    with_quality = asked_the_same(runs)
    drawn = pictures(runs if with_quality else [replace(run, trainings=()) for run in runs])
    figures = drawn.get("figure-1a"), drawn.get("figure-1b")
    times = section("time", "Seconds per epoch (Figure 1)", *figures, times_table(runs))
    if not with_quality:
        return [times]
    tables = [quality_table(runs, metric) for metric in runs[0].settings.metrics]
    return [
        times,
        section("quality", "Final quality (Figure 2)", drawn.get("figure-2"), *tables),
        section("epochs", "Convergence over epochs (Figure 3)", drawn.get("figure-3")),
        section("wall-time", "Convergence over wall time (Figure 4)", drawn.get("figure-4")),
    ]


def times_table(runs: Sequence[Run]) -> Table:
    """Seconds of each run, and how many times those of the first."""

    def cells(configuration: Configuration) -> list[str]:
        seconds = [run.seconds(configuration.dim, configuration.block) for run in runs]
        first = seconds[0]
        ratios = [f"{own / first:.2f}" if own is not None and first else NOTHING for own in seconds[1:]]
        return [*map(three_digits, seconds), *ratios]

    rows = _rows([run.timed() for run in runs], cells)
    return Table("Seconds per epoch, side by side", _columns(runs, "/"), rows)


def quality_table(runs: Sequence[Run], metric: str) -> Table:
    """Of each run after its last epoch, and how far from the first."""

    def cells(configuration: Configuration) -> list[str]:
        finals = [run.final(metric, configuration) for run in runs]
        first = finals[0]
        apart = [f"{fmean(own) - fmean(first):+.4f}" if own and first else NOTHING for own in finals[1:]]
        return [*map(mean_and_spread, finals), *apart]

    title = f"{metric_label(metric)} after the last epoch, side by side"
    rows = _rows([run.trained() for run in runs], cells)
    return Table(title, _columns(runs, "-"), rows, "± is the standard deviation over seeds.")


def _columns(runs: Sequence[Run], sign: str) -> tuple[str, ...]:
    first, *others = (run.name for run in runs)
    return ("d", "block", first, *others, *(f"{other} {sign} {first}" for other in others))


def _rows(
    measured: Sequence[Sequence[Configuration]], cells: Callable[[Configuration], list[str]]
) -> tuple[tuple[str, ...], ...]:
    """One for each configuration that any run has, by d and block, SpectralCG last at each d."""
    every = ordered(configuration for own in measured for configuration in own)
    return tuple((str(each.dim), block_name(each), *cells(each)) for each in every)


# Claims


def claims_table(verdicts: dict[str, list[Verdict]]) -> Table:
    """Whether each holds in each run, and the value there; `verdicts` by the run's name."""
    found = [{each.claim.number: each for each in own} for own in verdicts.values()]
    known = {number: each.claim for own in found for number, each in own.items()}
    rows: list[tuple[str | Cell, ...]] = [
        (str(number), claim.sentence, claim.paper, *(_verdict(own.get(number)) for own in found))
        for number, claim in known.items()
    ]
    columns = ("no.", "what the paper says", "paper", *verdicts)
    return Table("The paper's claims, side by side", columns, tuple(rows), words=columns)


def _verdict(verdict: Verdict | None) -> Cell:
    if verdict is None or verdict.holds is None:
        return HOLDS[None]
    return replace(HOLDS[verdict.holds], detail=verdict.ours)


# How


def how_section(runs: Sequence[Run]) -> Section:
    """What a second counts, and the commands of each run."""
    commands: list[Part] = []
    for run in runs:
        commands += [f"{run.name}, to repeat it:", Commands(run.commands)]
    return section("measured", "How it was measured", what_a_second_counts(runs), *commands)
