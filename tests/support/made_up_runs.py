"""Made-up runs of `make reproduce`: every number of them is a formula of this file."""

from dataclasses import asdict, replace
from functools import cache
from math import log2

from reproduction.grid import DIMS, SHARES, Configuration, Grid
from reproduction.run import Data, Machine, Run, Settings, Timing, Training

METRICS = ("capped_recall@20", "capped_recall@50", "ndcg@100")
ML20M = Data(
    "ml-20m", "strong", 1.0, 136_677, 20_108, 9_990_682, 116_677, 20_108, 8_538_846, 10_000, "made-up-ml20m"
)
MSD = Data(
    "msd", "strong", 1.0, 571_355, 41_140, 33_633_450, 471_355, 41_140, 27_767_142, 50_000, "made-up-msd"
)
NCF = replace(ML20M, name="ncf:ml-1m", protocol="leave-one-out")
SETTINGS = Settings(0.003, 0.1, 1.0, 0.1, 16, "block", METRICS, "the paper's data table")
MACHINE = Machine("a made-up processor", 4, "avx2", "0.0.1")


def paper_seconds(dim, block, share=1.0):
    """Of an epoch on ML20M, after the paper: iCD takes 24 s, iALS 2 s at d = 128; they meet near d = 800."""
    if block == 1:
        return share * 24 * (dim / 128) ** 1.14
    if block == dim:
        return share * (8.76e-5 * dim**2 + 2.694e-7 * dim**3)
    best = 1.6 * (dim / 128) ** 1.25
    return share * best * (0.9 if block is None else 1 + log2(block / 64) ** 2 / 10)


def paper_quality(dim, block, seed=0, epoch=16):
    """NDCG@100 after an epoch: it grows with d; iCD is a little later, and no block ends elsewhere."""
    final = 0.38 + 0.008 * log2(dim / 64) + 1e-4 * (seed % 2)
    return final * (1 - (0.42 if block == 1 else 0.4) ** epoch)


def made_up(
    seconds=paper_seconds,
    quality=paper_quality,
    *,
    dims=DIMS,
    blocks=(),
    shares=SHARES,
    seeds=1,
    rounds=1,
    epochs=16,
    scale=1.0,
    metrics=METRICS,
    data=ML20M,
):
    """A run as these functions would have been measured; where one returns None, nobody measured.

    `seconds` is asked with (dim, block, share); `quality`, the value of the last metric, with
    (dim, block, seed, epoch), epochs counted from 1. Either may be None as a whole. The metrics before the
    last are 0.9, 0.8, ... times it.
    """
    grid = Grid.of(dims, blocks, seeds, rounds)
    data = scaled(data, scale)
    settings = replace(SETTINGS, epochs=epochs, metrics=tuple(metrics))
    timings = () if seconds is None else _timings(grid, seconds, shares)
    trainings = () if quality is None else _trainings(grid, quality, seconds or paper_seconds, settings)
    command = f"make reproduce 'ARGS=--data {data.name} --scale {scale:g}'"
    return Run(data, settings, MACHINE, "2026-01-02", (command,), (grid,), tuple(timings), tuple(trainings))


def scaled(data, scale):
    """The data with that share of its users, items and interactions."""
    counts = {name: value for name, value in asdict(data).items() if isinstance(value, int)}
    return replace(data, scale=scale, **{name: int(scale * count) for name, count in counts.items()})


def only(measured, *, solvers=(), blocks=()):
    """`measured` (seconds or quality) for these solvers' names or blocks alone."""

    def narrowed(dim, block, *rest):
        wanted = block in blocks or Configuration(dim, block).solver in solvers
        return measured(dim, block, *rest) if wanted else None

    return narrowed


def _timings(grid, seconds, shares):
    for task in grid.timings():
        value = seconds(task.configuration.dim, task.configuration.block, task.share)
        if task.share in shares and value is not None:
            yield Timing(task, value * (1 + 0.01 * task.round))


def _trainings(grid, quality, seconds, settings):
    for task in grid.trainings():
        dim, block = task.configuration.dim, task.configuration.block
        values = [quality(dim, block, task.seed, epoch + 1) for epoch in range(settings.epochs)]
        if None not in values:
            yield _training(task, values, seconds(dim, block, 1.0), settings)


def _training(task, values, seconds, settings):
    factors = [1 - 0.1 * i for i in range(len(settings.metrics))]
    metrics = {
        metric: tuple(factor * value for value in values)
        for metric, factor in zip(reversed(settings.metrics), factors, strict=True)
    }
    times = (seconds or 1.0,) * settings.epochs
    loss = tuple(1e6 / (epoch + 1) for epoch in range(settings.epochs))
    return Training(task, times, loss, metrics, 2.0 * settings.epochs)


# The paper's figures, but for one thing


def changed(solver, change):
    """The paper's times, but those of one solver changed by a function of d and seconds."""

    def seconds(dim, block, share=1.0):
        own = paper_seconds(dim, block, share)
        return change(dim, own) if Configuration(dim, block).solver == solver else own

    return made_up(seconds)


def faster(solver, factor):
    """At every d."""
    return changed(solver, lambda _, seconds: seconds / factor)


def growing(solver, power):
    """With this power of d, from the paper's time at d = 128."""
    at_128 = paper_seconds(128, {"iCD": 1, "iALS": 128}[solver])
    return changed(solver, lambda dim, _: at_128 * (dim / 128) ** power)


def valley(best):
    """Times of iALS++ that are least at a block size of best(d)."""

    def seconds(dim, block, share=1.0):
        if block in (None, 1, dim):
            return paper_seconds(dim, block, share)
        return paper_seconds(dim, None, share) * (1 + log2(block / best(dim)) ** 2 / 5)

    return made_up(seconds)


def worse(block):
    """5 % less quality with one block size; the seeds are close."""
    return made_up(
        quality=lambda d, b, seed, epoch: paper_quality(d, b, seed, epoch) * (0.95 if b == block else 1),
        dims=(128, 512),
        seeds=2,
    )


def converging(icd, others=0.4):
    """What is left to gain shrinks by these factors in each epoch."""
    return made_up(quality=lambda _d, b, _seed, epoch: 0.4 * (1 - (icd if b == 1 else others) ** epoch))


def with_metric(run, name, change):
    """The run, but with one metric a function of all values of the main one."""
    trainings = tuple(
        replace(t, metrics={**t.metrics, name: tuple(change(t.metrics[run.main_metric]))})
        for t in run.trainings
    )
    return replace(run, trainings=trainings)


@cache
def paper_like():
    return made_up()


@cache
def slow_machine():
    return made_up(lambda *of: 10 * paper_seconds(*of))
