"""The paper's figures: what is drawn is what was measured, and the pictures can stand in one page."""

import re
import sys
from base64 import b64decode
from xml.etree import ElementTree

import matplotlib as mpl
import pytest
from support.made_up_runs import METRICS, made_up, only, paper_quality, paper_seconds

from reproduction.figures.captions import caption
from reproduction.figures.drawing import figures, pictures
from reproduction.grid import Configuration
from reproduction.run import metric_label

KEYS = ["figure-1a", "figure-1b", "figure-2", "figure-3", "figure-4"]
NOT_IN_PAPER = "SpectralCG (not in the paper)"
SVG = "{http://www.w3.org/2000/svg}"
SMALL = {"dims": (8,), "blocks": (1, 4, 0), "epochs": 2, "metrics": METRICS[-1:]}  # drawn in a moment


def noisy_quality(dim, block, seed, epoch):
    return paper_quality(dim, block, seed, epoch) + 1e-3 * seed * (block or 3) / dim


@pytest.fixture(scope="module")
def run():
    return made_up(quality=noisy_quality, dims=(64, 128, 512), seeds=3, rounds=2)


@pytest.fixture(scope="module")
def drawn(run):
    return figures(run)


@pytest.fixture(scope="module")
def shown(run):
    return pictures(run)


def lines_of(axes):
    """By label, the points of each line that has any."""
    return {
        line.get_label(): dict(zip(line.get_xdata(), line.get_ydata(), strict=True))
        for line in axes.get_lines()
        if len(line.get_xdata())
    }


def texts_of(picture):
    return [element.text for element in ElementTree.fromstring(svg_of(picture)).iter(f"{SVG}text")]


def over_dims(run, solver, block=None):
    return {c.dim: run.known_seconds(c) for c in run.timed_with(solver, block)}


def svg_of(picture):
    start = "data:image/svg+xml;base64,"
    assert picture.address.startswith(start)
    return b64decode(picture.address.removeprefix(start)).decode()


def legend_of(figure):
    return [text.get_text() for text in figure.legends[0].get_texts()]


# Which there are


def test_a_full_run_has_every_figure(drawn, shown):
    assert list(drawn) == list(shown) == KEYS


def test_what_was_not_measured_has_no_figure():
    assert list(figures(made_up(quality=None, dims=(8,)))) == KEYS[:2]
    assert list(figures(made_up(seconds=None, dims=(8,)))) == KEYS[2:]
    assert figures(made_up(seconds=None, quality=None, dims=(8,))) == {}


def test_shares_alone_make_no_figure():
    run = made_up(quality=None, dims=(128,), shares=(0.5,))
    assert run.timings
    assert figures(run) == {}


# Figure 1


def test_seconds_over_dims_are_the_runs(run, drawn):
    [axes] = drawn["figure-1a"].axes
    lines = lines_of(axes)
    assert list(lines) == ["iCD", "iALS", "iALS++ (32)", "iALS++ (64)", "iALS++ (128)", NOT_IN_PAPER]
    assert lines["iCD"] == over_dims(run, "iCD")
    assert lines["iALS"] == over_dims(run, "iALS")
    assert (
        lines["iALS++ (64)"] == over_dims(run, "iALS++", 64) == {d: paper_seconds(d, 64) for d in (128, 512)}
    )
    assert lines[NOT_IN_PAPER] == over_dims(run, "SpectralCG")
    assert axes.get_xscale() == axes.get_yscale() == "log"
    assert legend_of(drawn["figure-1a"]) == list(lines)
    assert [line.get_label() for line in axes.get_lines() if line.is_dashed()] == [NOT_IN_PAPER]
    assert len({line.get_marker() for line in axes.get_lines()}) == len(lines)


def test_blocks_that_were_measured_stand_for_the_papers():
    [axes] = figures(made_up(quality=None, dims=(8, 16)))["figure-1a"].axes
    assert list(lines_of(axes))[2:-1] == ["iALS++ (2)", "iALS++ (4)", "iALS++ (8)"]


def test_seconds_over_blocks_are_the_runs(run, drawn):
    [axes] = drawn["figure-1b"].axes
    lines = lines_of(axes)
    for dim in (64, 128, 512):
        assert lines[f"d = {dim}"] == run.over_blocks(dim)
        assert lines[f"iCD, d = {dim}"] == {1: paper_seconds(dim, 1)}
        assert lines[f"iALS, d = {dim}"] == {dim: paper_seconds(dim, dim)}
        assert set(lines[f"{NOT_IN_PAPER}, d = {dim}"].values()) == {paper_seconds(dim, None)}
    assert axes.get_xscale() == axes.get_yscale() == "log"
    assert legend_of(drawn["figure-1b"])[:3] == ["d = 64", "d = 128", "d = 512"]


def test_ends_that_were_not_measured_are_not_marked():
    run = made_up(only(paper_seconds, blocks=(4, 8)), None, dims=(32,))
    figure = figures(run)["figure-1b"]
    assert lines_of(figure.axes[0]) == {"d = 32": run.over_blocks(32)}
    assert legend_of(figure) == ["d = 32"]


# Figure 2


def test_final_quality_is_the_mean_over_seeds_with_its_spread(run, drawn):
    axes = drawn["figure-2"].axes
    assert [each.get_title("left") for each in axes] == ["Recall@20", "Recall@50", "NDCG@100"]
    for metric, panel in zip(run.settings.metrics, axes, strict=True):
        final = {block: run.final(metric, Configuration(128, block)) for block in (1, 32, 128, None)}
        lines = lines_of(panel)
        for block in (1, 32, 128):
            assert lines["d = 128"][block] == pytest.approx(sum(final[block]) / 3)
        [[place, spectral]] = lines[f"{NOT_IN_PAPER}, d = 128"].items()
        assert place > 512
        assert spectral == pytest.approx(sum(final[None]) / 3)
        bars = [tuple(map(tuple, bar)) for each in panel.collections for bar in each.get_segments()]
        assert ((32, min(final[32])), (32, max(final[32]))) in bars
        assert panel.get_xscale() == "log"


def test_small_differences_are_not_blown_up():
    run = made_up(None, lambda *_: 0.4, dims=(8,), epochs=1)
    for axes in figures(run)["figure-2"].axes:
        low, high = axes.get_ylim()
        assert (high - low) / ((high + low) / 2) > 0.0499


# Figures 3 and 4


def test_quality_over_epochs_and_time_is_the_runs(run, drawn):
    for key, progress in (("figure-3", lambda _: range(1, 17)), ("figure-4", run.elapsed)):
        assert [axes.get_title() for axes in drawn[key].axes] == ["d = 128", "d = 512"]
        lines = lines_of(drawn[key].axes[1])
        assert list(lines) == ["iCD", "iALS", "iALS++ (32)", "iALS++ (64)", "iALS++ (128)", NOT_IN_PAPER]
        for label, block in (("iCD", 1), ("iALS", 512), ("iALS++ (64)", 64), (NOT_IN_PAPER, None)):
            each = Configuration(512, block)
            assert lines[label] == dict(
                zip(progress(each), run.quality_by_epoch("ndcg@100", each), strict=True)
            )


def test_only_time_is_logarithmic(drawn):
    assert {axes.get_xscale() for axes in drawn["figure-3"].axes} == {"linear"}
    assert {axes.get_xscale() for axes in drawn["figure-4"].axes} == {"log"}


def test_other_dims_and_blocks_stand_for_the_papers():
    run = made_up(None, dims=(4, 8, 16, 24, 32), blocks=(2, 3, 5, 7, 9), epochs=2)
    axes = figures(run)["figure-3"].axes
    assert [each.get_title() for each in axes] == ["d = 4", "d = 16", "d = 32"]
    assert list(lines_of(axes[2])) == ["iALS++ (2)", "iALS++ (5)", "iALS++ (9)", NOT_IN_PAPER]


def test_a_d_with_none_of_the_papers_blocks_shows_its_own():
    trained = {(128, 32), (512, 2), (512, 4), (512, 8), (512, 16)}
    run = made_up(None, lambda *at: 0.3 if at[:2] in trained else None, dims=(128, 512), epochs=2)
    drawn = figures(run)
    for key in ("figure-3", "figure-4"):
        assert {axes.get_title(): list(lines_of(axes)) for axes in drawn[key].axes} == {
            "d = 128": ["iALS++ (32)"],
            "d = 512": ["iALS++ (2)", "iALS++ (8)", "iALS++ (16)"],
        }


# Axes and legends


def test_spectral_is_marked_in_every_figure(drawn, shown):
    for key in KEYS:
        assert NOT_IN_PAPER in legend_of(drawn[key])
        assert "not in the paper" in shown[key].caption


def test_a_solver_that_was_not_measured_is_not_spoken_of():
    own = {"solvers": ("iALS",)}
    run = made_up(only(paper_seconds, **own), only(paper_quality, **own), **SMALL)
    for picture in pictures(run).values():
        assert "Spectral" not in svg_of(picture) + picture.caption


def test_ticks_are_sizes_and_plain_numbers(shown):
    assert {"64", "128", "512", "1", "10", "100"} <= set(texts_of(shown["figure-1a"]))
    assert {str(2**i) for i in range(10)} <= set(texts_of(shown["figure-1b"]))
    assert {"1", "4", "8", "12", "16"} <= set(texts_of(shown["figure-3"]))
    numbers = [text for key in KEYS for text in texts_of(shown[key]) if text[0].isdigit()]
    assert all(re.fullmatch(r"\d+(\.\d+)?", number) for number in numbers)


def test_ticks_of_very_short_times_are_plain():
    run = made_up(lambda *_: 3e-5, None, dims=(8,))
    assert {"0.00001", "0.00002", "0.00005"} <= set(texts_of(pictures(run)["figure-1a"]))


def test_metric_labels():
    names = ["capped_recall@20", "recall@50", "ndcg@100", "hit_rate@10", "other@3"]
    assert [metric_label(name) for name in names] == [
        "Recall@20",
        "Recall@50",
        "NDCG@100",
        "HR@10",
        "other@3",
    ]


def test_captions_count_rounds_and_seeds(shown):
    assert "best of up to 2 rounds" in shown["figure-1a"].caption
    assert "best of up to 2 rounds" in shown["figure-1b"].caption
    assert all("mean of up to 3 seeds" in shown[key].caption for key in KEYS[2:])
    once = made_up(dims=(8,), epochs=1)
    assert "measured once" in caption("figure-1a", once)
    assert "from one seed" in caption("figure-2", once)


# The pictures


def test_pictures_are_whole_svg_files_with_fonts_to_fall_back_on(shown):
    for key in KEYS:
        root = ElementTree.fromstring(svg_of(shown[key]))
        assert root.tag == f"{SVG}svg"
        assert root.get("viewBox")
        styles = [text.get("style") for text in root.iter(f"{SVG}text")]
        assert styles
        assert all("'DejaVu Sans', Verdana, Arial, sans-serif" in style for style in styles)


def test_same_bytes_again_whatever_the_users_settings_which_stay():
    run = made_up(quality=None, **SMALL)
    shown = pictures(run)
    with mpl.rc_context({"font.size": 20, "lines.linewidth": 7, "axes.grid": False, "svg.fonttype": "path"}):
        assert pictures(run) == shown
        assert mpl.rcParams["font.size"] == 20
        assert mpl.rcParams["svg.hashsalt"] is None


def test_without_matplotlib_it_says_what_to_install(run, monkeypatch):
    monkeypatch.setitem(sys.modules, "matplotlib", None)
    with pytest.raises(ImportError, match=r"pip install -e .\.\[reproduce\]"):
        figures(run)
