"""Numbers that others published, each with its source: the paper's, and those on the same splits."""

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
    """The quality that somebody reports for a system; dim is None where none is given."""

    system: str
    dim: int | None
    metrics: dict[str, float]
    source: str


# For each data set its metrics, its number of interactions, and (system, d, values, source).
_Row = tuple[str, int | None, tuple[float, ...], str]
_STRONG = ("capped_recall@20", "capped_recall@50", "ndcg@100")
_TABLES: dict[str, tuple[tuple[str, ...], int, list[_Row]]] = {
    "ml-20m": (
        _STRONG,
        9_990_682,
        [
            ("Mult-DAE", None, (0.387, 0.524, 0.419), VASP),
            ("Mult-VAE", None, (0.395, 0.537, 0.426), VASP),
            ("EASE", None, (0.391, 0.521, 0.420), VASP),
            ("H+Vamp (gated)", None, (0.413, 0.551, 0.445), VASP),
            ("RecVAE", None, (0.414, 0.553, 0.442), VASP),
        ],
    ),
    "msd": (
        _STRONG,
        33_633_450,
        [
            ("iALS, after 4 epochs", 8192, (0.305, 0.412, 0.363), IALS_2022),
            ("WMF", None, (0.211, 0.312, 0.257), MSD_TABLE),
            ("Mult-DAE", None, (0.266, 0.363, 0.313), MSD_TABLE),
            ("Mult-VAE", None, (0.266, 0.364, 0.316), MSD_TABLE),
            ("EASE", None, (0.333, 0.428, 0.389), MSD_TABLE),
        ],
    ),
    "ncf:ml-1m": (
        ("hit_rate@10", "ndcg@10"),
        1_000_209,
        [
            ("iALS", 64, (0.722, 0.445), IALS_2022),
            ("iALS", 192, (0.7310, 0.4521), IRSPACK),
            ("MF by SGD", 192, (0.7294, 0.4523), MF_2020),
            ("NeuMF", None, (0.7093, 0.4349), MF_2020),
        ],
    ),
    "lightgcn:gowalla": (
        ("recall@20", "ndcg@20"),
        1_027_370,
        [
            ("ItemCF", None, (0.1570, 0.1214), BARS),
            ("MF-BPR", None, (0.1627, 0.1378), BARS),
            ("Mult-VAE", None, (0.1641, 0.1335), BARS),
            ("SLIM", None, (0.1699, 0.1382), BARS),
            ("EASE", None, (0.1765, 0.1467), BARS),
            ("LightGCN", None, (0.1820, 0.1547), BARS),
            ("GF-CF", None, (0.1849, 0.1518), BARS),
            ("UltraGCN", None, (0.1862, 0.1580), BARS),
            ("SimpleX", None, (0.1872, 0.1557), BARS),
        ],
    ),
}
PUBLISHED = {
    name: [
        Published(system, dim, dict(zip(metrics, values, strict=True)), source)
        for system, dim, values, source in rows
    ]
    for name, (metrics, _, rows) in _TABLES.items()
}


def published_for(data: Data) -> list[Published]:
    """Look up what was published on the data set of that name; nothing for a share of it."""
    return PUBLISHED.get(data.name, []) if data.scale == 1 else []


def is_same_data(data: Data) -> bool:
    """Tell whether the count of interactions is within 1 % of that of the published numbers' data."""
    return data.name not in _TABLES or abs(data.interactions / _TABLES[data.name][1] - 1) <= 0.01
