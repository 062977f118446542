"""What notebooks show: tables with names and bars, whose text is only text."""

import math
from html.parser import HTMLParser

import pytest
from support.models import fitted, make_data, make_model

from ialspp import EpochRecord, Evaluation, ImplicitMF, Interactions
from ialspp.evaluation import Score
from ialspp.model.explanation import Explanation
from ialspp.model.ranking import Ranking
from ialspp.system import html

HOSTILE = "<script>alert('&')</script>\x1b[31m"


class Page(HTMLParser):
    """The cells of a table and the elements of a page; every element that opens must close."""

    def __init__(self, text):
        super().__init__()
        self.opened, self.elements, self.cells, self.text = [], set(), [], ""
        self.widths = []
        self.feed(text)
        assert self.opened == []

    def handle_starttag(self, tag, attributes):
        self.opened.append(tag)
        self.elements.add(tag)
        style = dict(attributes).get("style", "")
        if tag == "td":
            self.cells.append("")
        if "background:#" in style:
            self.widths.append(float(style.partition("width:")[2].partition("em")[0]))

    def handle_endtag(self, tag):
        assert self.opened.pop() == tag

    def handle_data(self, text):
        self.text += text
        if "td" in self.opened:
            self.cells[-1] += text


def shown(thing):
    page = Page(thing._repr_html_())
    assert page.elements <= {"div", "table", "thead", "tbody", "tr", "th", "td", "span"}
    return page


def test_a_ranking_shows_ids_names_and_bars():
    page = shown(Ranking([7, 8], [2.0, -1.0], names=["Tea", None]))
    assert page.cells == ["7", "Tea", "2.0000", "8", "", "-1.0000"]
    assert page.widths == [6.0, 3.0]
    assert "name" not in shown(Ranking([7], [2.0])).text
    assert "the most popular items" in shown(Ranking([7], [2.0], fallback=True)).text


def test_an_unknown_id_is_mentioned():
    assert "1 of 1 users is unknown" in shown(fitted().recommend(999, unknown="skip")).text


def test_text_of_strangers_stays_text():
    for thing in (
        Ranking([HOSTILE], [1.0], names=[HOSTILE]),
        Explanation([(HOSTILE, 1.0)], 1.0, 0.0, names=[HOSTILE]),
        Evaluation(HOSTILE, 3, {HOSTILE: Score(0.5, math.nan)}, {}),
    ):
        page = shown(thing)
        assert "<script>" in page.text
        assert "\x1b" not in page.text


def test_rankings_show_the_first_answers_to_the_first_queries():
    model = make_model().fit(make_data().with_names(items={"item-3": "Tea"}), progress=False)
    page = shown(model.recommend(k=7))
    assert page.text.startswith("Rankings: 40 of up to 7 each")
    assert len(page.cells) <= html.MOST_ROWS * 6
    assert "Tea" in page.text
    assert "and 20 more" in page.text


def test_a_long_table_says_how_much_is_left_out():
    assert "and 5 more" in shown(Ranking(range(25), [1.0] * 25)).text


def test_an_explanation_shows_the_score_and_its_parts():
    model = fitted()
    item = model.recommend(3, k=1)[0]
    explanation = model.explain(3, item)
    page = shown(explanation)
    assert f"Score {explanation.score:.4f}" in page.text
    assert page.cells[0] == explanation[0][0]


def test_an_evaluation_shows_means_and_errors():
    evaluation = Evaluation("weak", 9, {"ndcg@10": Score(0.25, 0.01), "novelty@10": Score(7, math.nan)}, {})
    page = shown(evaluation)
    assert page.cells == ["ndcg@10", "0.2500", "0.0100", "novelty@10", "7.0000", ""]
    assert page.widths == [1.5, 0.0]


def test_interactions_show_counts_and_ranges():
    data = Interactions.from_arrays(user=[1, 1, 2], item=[3, 4, 4], weight=[1, 2, 5]).with_names(
        items={3: "x"}
    )
    page = shown(data)
    facts = dict(zip(page.cells[::2], page.cells[1::2], strict=True))
    assert (facts["users"], facts["pairs"], facts["item names"]) == ("2", "3", "1")
    assert facts["weight"] == "least 1, most 5"


def test_a_model_shows_its_settings_and_its_training():
    assert "not fitted" in shown(ImplicitMF(dim=4)).text
    page = shown(fitted())
    assert "40 users x 30 items" in page.text
    assert "at last" in page.text


def test_plots_return_their_axes():
    plt = pytest.importorskip("matplotlib.pyplot", reason="plots need matplotlib")
    plt.switch_backend("Agg")
    model = fitted()
    axes = model.plot_history()
    assert [line.get_label() for line in axes.lines] == ["loss", "observed", "unobserved", "regularization"]
    assert list(axes.lines[0].get_ydata()) == [record.loss for record in model.history]
    evaluation = Evaluation(
        "weak", 9, {"ndcg@10": Score(0.25, 0.01), "coverage@10": Score(0.5, math.nan)}, {}
    )
    mine = plt.figure().subplots()
    assert evaluation.plot(mine) is mine
    assert [bar.get_width() for bar in mine.patches] == [0.25, 0.5]
    plt.close("all")
    with pytest.raises(RuntimeError, match="no history; call fit"):
        ImplicitMF().plot_history()


def test_one_epoch_is_enough_for_a_plot():
    plt = pytest.importorskip("matplotlib.pyplot", reason="plots need matplotlib")
    plt.switch_backend("Agg")
    model = make_model(epochs=1).fit(make_data(), progress=False)
    assert isinstance(model.history[0], EpochRecord)
    assert list(model.plot_history().get_xticks()) == [1]
    plt.close("all")
