"""Numbers that others published, each with its source: the paper's, and those on the same splits."""

import csv
from dataclasses import dataclass
from pathlib import Path

from .run import Data

PAPER_COUNTS = {
    "ml-20m": (136_677, 20_108, 10_000_000),
    "msd": (571_355, 41_140, 33_600_000),
}  # |U|, |I|, |S|
IALS_2022 = "IALS_2022"
SOURCES = {
    IALS_2022: "Rendle et al., Revisiting the Performance of iALS on Item Recommendation Benchmarks (2022)",
    "VASP": "as reported by Vančura and Kordík, VASP (2021), Table III",
    "MSD_TABLE": "Liang et al. (2018) and Steck (2019), as others quote them",
    "MF_2020": "Rendle et al., Neural Collaborative Filtering vs. Matrix Factorization Revisited (2020), "
    "as quoted",
    "BARS": "BARS leaderboard (reczoo/BARS, gowalla_m1.csv), which runs some and copies others",
    "IRSPACK": "irspack, examples/1-vs-100-negative.ipynb: tuned, alpha0 0.104, lambda 0.0078, 6 epochs",
}
# The interactions of the data that published.csv is about.
COUNTS = {"ml-20m": 9_990_682, "msd": 33_633_450, "ncf:ml-1m": 1_000_209, "lightgcn:gowalla": 1_027_370}


@dataclass(frozen=True, slots=True)
class Published:
    """The quality that somebody reports for a system; dim is None where none is given."""

    data: str
    system: str
    dim: int | None
    metrics: dict[str, float]
    source: str  # a key of SOURCES


def _read(row: dict[str, str]) -> Published:
    metrics = zip(row["metrics"].split(), map(float, row["values"].split()), strict=True)
    return Published(
        row["data"], row["system"], int(row["d"]) if row["d"] else None, dict(metrics), row["source"]
    )


with (Path(__file__).parent / "published.csv").open(encoding="utf-8", newline="") as _file:
    PUBLISHED = list(map(_read, csv.DictReader(_file)))


def published_for(data: Data) -> list[Published]:
    """Look up what was published on the data set of that name; nothing for a share of it."""
    return [each for each in PUBLISHED if each.data == data.name] if data.scale == 1 else []


def is_same_data(data: Data) -> bool:
    """Tell whether the count of interactions is within 1 % of that of the published numbers' data."""
    return abs(data.interactions / COUNTS.get(data.name, data.interactions) - 1) <= 0.01
