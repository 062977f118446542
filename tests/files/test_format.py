"""What is saved replaces files of its own kind alone, unless it is told to."""

import pytest
from support.models import fitted, make_data

from ialspp import ImplicitMF, Interactions, store

WRITERS = {
    "a model of ialspp": lambda path, **options: fitted(make_data(), epochs=1).save(path, **options),
    "prepared data of ialspp": lambda path, **options: make_data().save(path, **options),
}


@pytest.fixture(params=WRITERS)
def kind(request):
    return request.param


def prepare(path, **options):
    log = path.with_name("log.csv")
    log.write_text("user,item\n1,2\n")
    Interactions.prepare(log, path, user="user", item="item", **options)


def test_a_file_of_another_kind_is_not_replaced(tmp_path, kind):
    other = next(name for name in WRITERS if name != kind)
    WRITERS[other](tmp_path / "other")
    (tmp_path / "notes.txt").write_text("do not lose me")
    for name in ("other", "notes.txt"):
        before = (tmp_path / name).read_bytes()
        with pytest.raises(ValueError, match=f"{name} exists and is not {kind}; .* force=True"):
            WRITERS[kind](tmp_path / name)
        assert (tmp_path / name).read_bytes() == before


def test_force_replaces_any_file(tmp_path):
    path = tmp_path / "notes.txt"
    path.write_text("lose me")
    store.save(fitted(make_data(), epochs=1), path, force=True)
    assert len(ImplicitMF.load(path).history) == 1
    make_data().save(path, force=True)
    assert len(Interactions.open(path)) == len(make_data())
    path.write_text("lose me")
    prepare(path, force=True)
    assert len(Interactions.open(path)) == 1


def test_a_file_of_the_same_kind_or_without_content_is_replaced(tmp_path, kind):
    path = tmp_path / "empty"
    path.touch()
    for _ in range(2):
        WRITERS[kind](path)
    path.write_bytes(path.read_bytes()[:100])  # damaged
    WRITERS[kind](path)


def test_data_is_not_prepared_in_vain(tmp_path):
    path = tmp_path / "notes.txt"
    path.write_text("do not lose me")
    with pytest.raises(ValueError, match="exists and is not prepared data of ialspp"):
        prepare(path, progress=lambda _event: pytest.fail("nothing is read"))
    assert path.read_text() == "do not lose me"
