"""Numbers that others published, each with its source: the paper's own, and those on the same splits."""

from __future__ import annotations

from dataclasses import dataclass

from .run import Data

# The paper's data table: |U|, |I| and |S|.
PAPER_COUNTS = {"ml-20m": (136_677, 20_108, 10_000_000), "msd": (571_355, 41_140, 33_600_000)}

IALS_2022 = "Rendle et al., Revisiting the Performance of iALS on Item Recommendation Benchmarks (2022)"
VASP = "as reported by Vančura and Kordík, VASP (2021), Table III"
MSD_TABLE = "Liang et al. (2018) and Steck (2019), as others quote them"
MF_2020 = "Rendle et al., Neural Collaborative Filtering vs. Matrix Factorization Revisited (2020), as quoted"
BARS = "BARS leaderboard (reczoo/BARS, gowalla_m1.csv), which runs some and copies others"
IRSPACK = "irspack, examples/1-vs-100-negative.ipynb: tuned, alpha0 0.104, lambda 0.0078, 6 epochs"


@dataclass(frozen=True, slots=True)
class Published:
    """What somebody reports for a system."""

    system: str
    dim: int | None
    metrics: dict[str, float]
    source: str


def _strong(
    system: str, recall20: float, recall50: float, ndcg: float, source: str, dim: int | None = None
) -> Published:
    values = {"capped_recall@20": recall20, "capped_recall@50": recall50, "ndcg@100": ndcg}
    return Published(system, dim, values, source)


def _one_item(system: str, hits: float, ndcg: float, source: str, dim: int | None = None) -> Published:
    return Published(system, dim, {"hit_rate@10": hits, "ndcg@10": ndcg}, source)


def _weak(system: str, recall: float, ndcg: float) -> Published:
    return Published(system, None, {"recall@20": recall, "ndcg@20": ndcg}, BARS)


# By data set.
PUBLISHED: dict[str, list[Published]] = {
    "ml-20m": [
        _strong("Mult-DAE", 0.387, 0.524, 0.419, VASP),
        _strong("Mult-VAE", 0.395, 0.537, 0.426, VASP),
        _strong("EASE", 0.391, 0.521, 0.420, VASP),
        _strong("H+Vamp (gated)", 0.413, 0.551, 0.445, VASP),
        _strong("RecVAE", 0.414, 0.553, 0.442, VASP),
    ],
    "msd": [
        _strong("iALS, after 4 epochs", 0.305, 0.412, 0.363, IALS_2022, 8192),
        _strong("WMF", 0.211, 0.312, 0.257, MSD_TABLE),
        _strong("Mult-DAE", 0.266, 0.363, 0.313, MSD_TABLE),
        _strong("Mult-VAE", 0.266, 0.364, 0.316, MSD_TABLE),
        _strong("EASE", 0.333, 0.428, 0.389, MSD_TABLE),
    ],
    "ncf:ml-1m": [
        _one_item("iALS", 0.722, 0.445, IALS_2022, 64),
        _one_item("iALS", 0.7310, 0.4521, IRSPACK, 192),
        _one_item("MF by SGD", 0.7294, 0.4523, MF_2020, 192),
        _one_item("NeuMF", 0.7093, 0.4349, MF_2020),
    ],
    "lightgcn:gowalla": [
        _weak("ItemCF", 0.1570, 0.1214),
        _weak("MF-BPR", 0.1627, 0.1378),
        _weak("Mult-VAE", 0.1641, 0.1335),
        _weak("SLIM", 0.1699, 0.1382),
        _weak("EASE", 0.1765, 0.1467),
        _weak("LightGCN", 0.1820, 0.1547),
        _weak("GF-CF", 0.1849, 0.1518),
        _weak("UltraGCN", 0.1862, 0.1580),
        _weak("SimpleX", 0.1872, 0.1557),
    ],
}


# How many interactions the data has that those numbers are of.
COUNTS = {"ml-20m": 9_990_682, "msd": 33_633_450, "ncf:ml-1m": 1_000_209, "lightgcn:gowalla": 1_027_370}


def for_data(data: Data) -> list[Published]:
    """What was published on the data set of that name; nothing for a share of it."""
    return PUBLISHED.get(data.name, []) if data.scale == 1 else []


def is_same_data(data: Data) -> bool:
    """Whether it has the counts of the data that the published numbers are of, within one in a hundred."""
    return abs(data.interactions / COUNTS.get(data.name, data.interactions) - 1) <= 0.01
