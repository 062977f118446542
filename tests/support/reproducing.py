"""`python -m reproduction` in this process, small files of the published layouts, and its reports."""

import re
import sys
import zipfile

import numpy as np
import pytest

from reproduction.command import main
from reproduction.journal import read_run
from support.pages import Page, markdown_tables

TINY = ["--dim", "4", "--dim", "6", "--seeds", "1", "--rounds", "1", "--epochs", "2"]
SYNTHETIC = ["--data", "synthetic:ml20m", "--scale", "0.008"]
WHOLE = [*SYNTHETIC, "--dim", "8", "--dim", "16", "--epochs", "3", "--seeds", "2", "--rounds", "1"]
COLUMNS = ["--user", "who", "--item", "what"]
FILMS = dict.fromkeys(range(1, 51), 8) | dict.fromkeys(range(51, 56), 4)  # how many each user likes


class Report:
    """What a run left in a folder."""

    def __init__(self, folder):
        self.run = read_run(folder)
        self.page = Page((folder / "report.html").read_text(encoding="utf-8"))
        self.summary = (folder / "report.md").read_text(encoding="utf-8")
        self.tables = [[cells(row) for row in table] for table in markdown_tables(self.summary)]

    def table(self, *first_cells):
        """The one whose head begins so."""
        (found,) = [rows for rows in self.tables if rows[0][: len(first_cells)] == [*first_cells]]
        return found[2:]

    @property
    def facts(self):
        """Of the data and the settings, by name."""
        (found,) = [rows for rows in self.tables if "lambda" in [row[0] for row in rows]]
        return {name: here for name, here, *_ in found[2:]}


def cells(row):
    """Of a Markdown table, as they are read."""
    return [re.sub(r"\\(.)", r"\1", cell).strip().strip("*") for cell in row]


def but(options, others):
    """Options with others in place of those of the same name: each may be given once."""
    kept = list(options)
    for name in others[::2]:
        if name in kept:
            place = kept.index(name)
            del kept[place : place + 2]
    return [*kept, *others]


def reproduce(*arguments):
    """Run the command in this process; return its exit code, 0 where it just returns."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(sys, "argv", ["reproduction", *map(str, arguments)])
        try:
            main()
        except SystemExit as end:
            return end.code or 0
    return 0


# Data


def drawn(counts, most, seed):
    """Pairs of each user with so many of `most` items."""
    rng = np.random.default_rng(seed)
    return [(u, i) for u, n in counts.items() for i in sorted(rng.choice(most, n, replace=False).tolist())]


def liked_films():
    """Those rated 4 and more: 8 by 50 users, 4 by 5."""
    return [(user, 1 + film) for user, film in drawn(FILMS, 25, 0)]


def write_movielens(folder):
    """MovieLens 20M. Everybody, and one user more, has films rated 3.5 and less that nobody else has."""
    rows = [(user, film, 4 + film % 3 / 2) for user, film in liked_films()]
    rows += [(user, 100 + 2 * user + stars, 0.5 + stars) for user in [*FILMS, 999] for stars in (0, 3)]
    lines = [f"{user},{film},{stars},{10**9 + user}" for user, film, stars in sorted(rows)]
    content = "\n".join(["userId,movieId,rating,timestamp", *lines, ""])
    write(folder, {"ratings.csv": content, "README.txt": "MovieLens\n"})
    zipped(folder.parent / "ml-20m.zip", {"ml-20m/ratings.csv": content, "ml-20m/README.txt": "MovieLens\n"})


def write_songs(folder):
    """MSD: 260 listeners with 32 of 36 songs; and to be left out, rare songs and listeners of few."""
    rows = drawn({f"listener{number}": 32 for number in range(260)}, 36, 1)
    rows += [(f"listener{number}", 100 + number // 50) for number in range(260)]
    rows += drawn({f"rarely{number}": 10 for number in range(40)}, 36, 2)
    content = "".join(f"{user}\tSO{song:03d}\t{1 + song % 7}\n" for user, song in rows)
    write(folder, {"train_triplets.txt": content})
    zipped(folder.parent / "train_triplets.txt.zip", {"train_triplets.txt": content})


def write_ncf(folder, name):
    """40 users with 6 items to train on and one more, which is to be found among 12 others."""
    rng = np.random.default_rng(3)
    chosen = dict(enumerate(rng.choice(30, 19, replace=False).tolist() for _ in range(40)))
    train = [f"{user}\t{item}\t4\n" for user, items in chosen.items() for item in items[:6]]
    test = [f"{user}\t{items[6]}\t5\t978824351\n" for user, items in chosen.items()]
    negative = ["\t".join([f"({u},{items[6]})", *map(str, items[7:])]) + "\n" for u, items in chosen.items()]
    files = {"train.rating": train, "test.rating": test, "test.negative": negative}
    write(folder, {f"{name}.{kind}": "".join(lines) for kind, lines in files.items()})


def write_lightgcn(folder):
    """40 users with 6 items to train on and 2 to test with."""
    rng = np.random.default_rng(4)
    chosen = [rng.choice(30, 8, replace=False).tolist() for _ in range(40)]
    parts = {"train.txt": slice(6), "test.txt": slice(6, 8)}
    write(folder, {name: "".join(numbers(chosen, own)) for name, own in parts.items()})


def numbers(chosen, own):
    return (" ".join(map(str, [user, *items[own]])) + "\n" for user, items in enumerate(chosen))


def write_log(file):
    """The same films, in a layout of nobody's."""
    file.write_text("who,what\n" + "".join(f"u{user},{film}\n" for user, film in liked_films()))


def write(folder, files):
    folder.mkdir()
    for name, content in files.items():
        (folder / name).write_text(content)


def zipped(path, files):
    with zipfile.ZipFile(path, "w") as archive:
        for name, content in files.items():
            archive.writestr(name, content)
