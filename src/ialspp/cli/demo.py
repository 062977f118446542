"""ialspp demo: train on a year of groceries, evaluate the model, show what it recommends and why."""

from __future__ import annotations

import time
from dataclasses import asdict
from pathlib import Path
from typing import Annotated

import typer

from ..evaluation import Evaluation
from ..model.model import ImplicitMF
from ..split import Split
from ..system.progress import reporting
from . import groceries
from .data import data_facts, users_in
from .explore import checked_page, draw_page
from .groceries import METRIC, Suggestions
from .ours import MODEL, ForceOption
from .output import JsonOption, checked_target, remark, show_json, show_line, show_table

SHOWN = 5  # kinds of products in a table
HOUSEHOLDS = "baby diapers", "dry cat food"  # shown are those that buy most of these
FILE = Path("groceries.ialspp")


def demo(
    out: Annotated[Path | None, typer.Option("-o", "--out", help="Save the model to this file.")] = None,
    page: Annotated[
        Path | None, typer.Option(metavar="FILE", help="Write a page that explores the model in a browser.")
    ] = None,
    force: ForceOption = False,
    as_json: JsonOption = False,
) -> None:
    """Train on a year of groceries, test on unseen households, and show what is recommended and why.

    Example: ialspp demo -o groceries.ialspp
    """
    if out is not None:
        checked_target(out, kind=MODEL, force=force)
    if page is not None:
        checked_page(page, force)
    start = time.perf_counter()
    with reporting("reading"):
        parts = groceries.make_split()
    model = groceries.make_model().fit(parts.train)
    results = groceries.compare(model, parts)
    households = [groceries.suggestions(model, kind, SHOWN) for kind in HOUSEHOLDS]
    similar = list(model.similar_items(HOUSEHOLDS[0], SHOWN))
    if out is not None:
        model.save(out, force=force)
        remark(f"The model is in {out}")
    if page is not None:
        draw_page(model, page, title="A year of groceries")
    seconds = time.perf_counter() - start
    if as_json:
        show_json(
            {
                "data": data_facts(parts),
                "settings": {"dim": model.dim, "objective": asdict(model.objective)},
                "history": [asdict(record) for record in model.history],
                "results": {name: result.as_dict()["metrics"] for name, result in results.items()},
                "households": [asdict(household) for household in households],
                "similar": {HOUSEHOLDS[0]: similar},
                "file": out,
                "page": page,
                "seconds": seconds,
            }
        )
        return
    show_training(model, parts)
    show_quality(results, parts)
    for household in households:
        show_household(household)
    show_line(f"Most similar to {HOUSEHOLDS[0]}: {'; '.join(similar)}\n")
    show_next_steps(out, page, seconds)


def show_training(model: ImplicitMF, parts: Split) -> None:
    """Say what the data is, and how long training took."""
    train, epochs = parts.train, len(model.history)
    baskets = 0 if train.by_user.weights is None else int(train.by_user.weights.sum())
    seconds = sum(record.seconds for record in model.history)
    show_line(
        "A year of groceries (the Complete Journey by 84.51°, simulated after real purchases):\n"
        f"{train.n_users:,} households chose among {train.n_items:,} kinds of products, {baskets:,} times.\n"
        f"ialspp learned what goes together in {seconds:.1f} seconds ({epochs} epochs, d = {model.dim}).\n"
    )


def show_quality(results: dict[str, Evaluation], parts: Split) -> None:
    """Say how many of ten suggestions hit, beside those of the baselines."""
    show_line(f"Is it right? {users_in(parts.test)} other households hid a fifth of what they buy.")
    title = "So many of ten suggestions are among it, on average:"
    rows = [[label, f"{10 * result[METRIC].mean:.1f}"] for label, result in results.items()]
    show_table(title, ["suggestions by", "hits of 10"], rows, words=["suggestions by"])


def show_household(found: Suggestions) -> None:
    """Print what a household buys, what it might like, and why."""
    columns = ["might like, never bought", "because it buys"]
    rows = [[liked, " + ".join(reasons)] for liked, reasons in found.likes.items()]
    title = f"Household {found.household} buys {'; '.join(found.buys)}"
    show_table(title, columns, rows, words=columns)


def show_next_steps(out: Path | None, page: Path | None, seconds: float) -> None:
    """Say how long all of it took, and what to try with the model."""
    file = out or FILE
    explore = f"  ialspp explore {file} -o {file.with_suffix('.html')}\n" if page is None else ""
    keep = f"  ialspp demo -o {file}\n" if out is None else ""
    show_line(
        f"{seconds:.1f} seconds in total. Now try:\n{keep}"
        f'  ialspp recommend {file} --item strawberries --item "sour creams"\n'
        f'  ialspp similar {file} --item "dry cat food"\n'
        f"{explore}  ialspp info {file}\n"
        "and your own data: ialspp fit events.csv --user customer --item product -o shop.ialspp"
    )
    if page is not None:
        show_line(f"\nPick products and see why: open {page.absolute().as_uri()}")
