"""The report: what it counts, and that its page is one file of plain pictures."""

import re
import xml.etree.ElementTree as ET

import numpy as np
import pytest
from numpy.testing import assert_allclose
from support.explorable import HOSTILE, item_names, make_data, make_model

from ialspp import ImplicitMF, Interactions
from ialspp.reporting import write_report
from ialspp.reporting.charts import Axis, linear, logarithmic
from ialspp.reporting.findings import exposure_of, neighbourhoods_of, spectrum_of
from ialspp.reporting.sections import of_exposure


@pytest.fixture(scope="module")
def model():
    return make_model(make_data().with_names(items=item_names()))


def written(model, path, **options):
    write_report(model, path, **options)
    return path.read_text(encoding="utf-8")


def test_recommendations_are_counted_beside_popularity(model):
    exposure = exposure_of(model, 4)
    lists = model.recommend(k=4)
    counted = np.bincount(np.concatenate([lists.rows.ravel()]), minlength=len(model.items))
    assert exposure.times.tolist() == counted.tolist()
    assert exposure.popularity.tolist() == model.item_counts.tolist()
    assert exposure.coverage == np.mean(counted > 0)
    top = np.argsort(-exposure.popularity, kind="stable")[:12]
    assert exposure.share_of_popular(counted) == pytest.approx(counted[top].sum() / counted.sum())


def test_the_spectrum_is_that_of_all_scores(model):
    scores = model.user_factors.astype(float) @ model.item_factors.astype(float).T
    expected = np.linalg.svd(scores, compute_uv=False)[: model.dim]
    assert_allclose(spectrum_of(model), expected, rtol=1e-5)


def test_neighbours_are_those_of_the_model_and_have_names(model):
    found = neighbourhoods_of(model)
    assert len({each.label for each in found}) == 9
    names = {name: item for item, name in item_names().items()}
    first = found[0]
    ranking = model.similar_items(names[first.label], k=5)
    assert [label for label, _ in first.neighbours] == ranking.names


def test_the_page_has_every_section_and_loads_nothing(model, tmp_path):
    page = written(model, tmp_path / "report.html", title="Stories")
    headings = re.findall("<h2>(.*?)</h2>", page)
    assert headings == ["Training", "Popularity", "Coverage", "Spectrum", "Neighbours", "Map"]
    assert not re.findall(r"(?:src|href)=\"(?!data:,)|url\(|@import|<script", page)
    assert "default-src 'none'" in page
    for picture in re.findall("<svg.*?</svg>", page, flags=re.DOTALL):
        ET.fromstring(picture)  # well-formed
    assert page.count('class="dot"') == 2 * len(model.items)


def test_text_of_strangers_stays_text(tmp_path):
    data = make_data().with_names(items={1000 + number: text for number, text in enumerate(HOSTILE)})
    page = written(make_model(data), tmp_path / "report.html", title=HOSTILE[0])
    assert "<script" not in page
    assert "<img" not in page
    assert "\x00" not in page
    assert "&lt;script&gt;" in page


@pytest.mark.parametrize("items", [1, 2, 3])
def test_small_models_have_reports(items, tmp_path):
    data = Interactions.from_arrays(user=[0] * items, item=range(items))
    page = written(ImplicitMF(dim=2, epochs=1).fit(data, progress=False), tmp_path / "report.html")
    assert "nan" not in re.sub("<style>.*</style>", "", page, flags=re.DOTALL).lower()


def test_a_file_without_interactions_has_a_report(model, tmp_path):
    model.save(tmp_path / "model.ialspp", interactions=False)
    page = written(ImplicitMF.load(tmp_path / "model.ialspp"), tmp_path / "report.html")
    assert "<h2>Coverage</h2>" in page


def test_mistakes_are_refused(model, tmp_path):
    with pytest.raises(ValueError, match="k must be at least 1, got 0"):
        write_report(model, tmp_path / "report.html", k=0)
    with pytest.raises(TypeError, match="an ImplicitMF is required, got str"):
        write_report("model.ialspp", tmp_path / "report.html")
    with pytest.raises(RuntimeError, match="not fitted"):
        write_report(ImplicitMF(), tmp_path / "report.html")
    assert list(tmp_path.iterdir()) == []


def test_ticks_are_round_numbers_between_the_ends():
    assert Axis("x", 0, 10).ticks() == [0, 2, 4, 6, 8, 10]
    assert_allclose(linear("x", 0, 0.7).ticks(), [0, 0.2, 0.4, 0.6])
    assert_allclose(logarithmic("x", [3, 2000]).ticks(), [1, 10, 100, 1000, 10000])
    assert linear("x", 5, 5).share(5) == 0


@pytest.mark.parametrize("recommended", [4, 30])
def test_what_was_never_recommended_is_only_spoken_of_where_there_is_some(model, recommended):
    exposure = exposure_of(model, recommended)
    is_some = bool((exposure.times == 0).any())
    assert ("never recommended" in of_exposure(exposure, model.items)) == is_some
