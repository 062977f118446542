"""Fits with checkpoints, killed, resumed and killed again: the result has the bits of an undisturbed one."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

from ialspp import ImplicitMF, store
from ialspp.model.checkpoint import Checkpoint
from torture.kills.arena import COLUMNS, Arena, error_in
from torture.processes.jobs import Blow, Run

SOLVERS = ("spectral", "ials++", "ials", "icd")
IN_HALVES = ("spectral", "ials++", "ials")  # whose checkpoints may be of half epochs
MOST_KILLS = 4  # of one fit


@dataclass(frozen=True, slots=True)
class Expected:
    """A fit that nothing disturbed."""

    options: tuple[str, ...]
    every: float
    bits: tuple[object, ...]
    run: Run


def undisturbed(arena: Arena, number: int) -> Expected:
    """Draw the settings of a fit, each solver in its turn, and run it to its end."""
    draw, solver = arena.draw, SOLVERS[number % len(SOLVERS)]
    options = [*COLUMNS, "--solver", solver, "--seed", str(draw.randrange(100))]
    options += ["--dim", str(draw.choice([1, 3, 8, 17, 32, 64])), "--epochs", str(draw.randint(2, 6))]
    options += ["--init", draw.choice(["spectral", "random"]), "--threads", str(draw.choice([1, 2]))]
    if draw.random() < 0.4:
        options += ["--until", str(draw.choice([0.01, 0.05, 0.2]))]
    every, place = draw.choice([1, 2, 3] + [0.5] * 2 * (solver in IN_HALVES)), arena.place()
    keeping = ["--checkpoint", str(place / "c"), "--every", str(every)]
    run = arena.usual("fit", arena.log, *options, *keeping, "-o", place / "m.ialspp", below=place)
    plain = arena.place()
    arena.usual("fit", arena.log, *options, "-o", plain / "m.ialspp", below=plain)
    bits = bits_of(plain / "m.ialspp")
    if bits_of(place / "m.ialspp") != bits:
        arena.fault(f"a fit with checkpoints has other bits than one without: {' '.join(options)}")
    arena.drop(place)
    arena.drop(plain)
    return Expected(tuple(options), every, bits, run)


def attack_fit(arena: Arena, expected: Expected) -> None:
    """Kill one fit a few times, and let it end."""
    place = arena.place()
    checkpoint, out = place / "check point", place / "m.ialspp"
    first = [str(arena.log), *expected.options, "-o", str(out), "--runs", str(place / "runs")]
    first += ["--checkpoint", str(checkpoint), "--every", str(expected.every)]
    story = f"fit {' '.join(expected.options)} --every {expected.every}"
    for left in reversed(range(arena.draw.randint(1, MOST_KILLS) + 1)):
        resumes = checkpoint.exists()
        options = ["--resume", str(checkpoint)] if resumes else first
        blow = arena.blow(expected.run) if left else None
        run = arena.nursery.run(arena.job("fit", *options, below=place), blow, expected.run)
        story += f" | {'resumed, ' if resumes else ''}{blow or 'to its end'}"
        arena.struck(story, run, blow)
        _check_files(arena, story, out, checkpoint, expected)
        _check_words(arena, story, run, blow, checkpoint)
        if run.code == 0:
            break
    else:
        return
    arena.tally.counts["fits resumed to the bit"] += "resumed" in story
    if error_in(bits_of, out) or bits_of(out) != expected.bits:
        arena.fault(f"{story}: the model has other bits than an undisturbed one")
    if checkpoint.exists():
        arena.fault(f"{story}: the checkpoint is still there")
    arena.no_leftovers(story, place)
    arena.drop(place)


def bits_of(file: Path) -> tuple[object, ...]:
    """Return what a fit decides: the vectors, and the history without its seconds."""
    model = ImplicitMF.load(file, mapped=False, threads=1)
    records = [(record.epoch, record.loss, record.relaxation, record.precision) for record in model.history]
    assert model.trained_on is not None
    pairs = model.trained_on.by_user
    arrays = model.user_factors, model.item_factors, pairs.offsets, pairs.columns
    return (*(array.tobytes() for array in arrays), *records)


def _check_files(arena: Arena, story: str, out: Path, checkpoint: Path, expected: Expected) -> None:
    """After a blow, the model and the checkpoint are whole, if they are there."""
    if out.exists():
        damage = error_in(store.verify, out)
        if damage or bits_of(out) != expected.bits:
            arena.fault(f"{story}: a model that is {damage or 'another'}")
    if checkpoint.exists():
        damage = error_in(Checkpoint.open, checkpoint)
        if damage:
            arena.fault(f"{story}: {damage}")


def _check_words(arena: Arena, story: str, run: Run, blow: Blow | None, checkpoint: Path) -> None:
    """What the interrupted process says of its checkpoint is so, and it has cleaned up."""
    if blow is None or run.code not in (130, 143):
        return
    if "--resume" in run.stderr:
        arena.tally.counts["told how to resume"] += 1
        kept = Checkpoint.read(checkpoint).progress if checkpoint.exists() else "no checkpoint"
        if f"{checkpoint} keeps {kept}; go on with: ialspp fit --resume '{checkpoint}'" not in run.stderr:
            arena.fault(f"{story}: {kept} is there, and the process said {run.stderr!r}")
    arena.no_leftovers(f"{story}, which could clean up", checkpoint.parent, run)
