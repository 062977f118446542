"""The attack by many pairs, with few: `make torture` has more than 2^32 of them."""

import pytest

from torture import offsets


@pytest.mark.parametrize("size", [6, 2**15 + 2, 200_000])
def test_what_becomes_of_the_last_pairs_does_not_depend_on_those_before(tmp_path, size):
    found = dict(offsets.checks(size, tmp_path))
    assert found == dict.fromkeys(found, True)
    assert len(found) == 9


def test_a_wrong_result_is_a_fault(tmp_path, monkeypatch):
    monkeypatch.setattr(offsets, "SIZES", (1000, 2000))
    assert offsets.attack(2, 0, tmp_path).counts == {"calls": 18}
    monkeypatch.setattr(offsets, "LAST_COLUMNS", (1, 2, 2))
    faults = offsets.attack(1, 0, tmp_path).faults
    assert "offsets_of is wrong with 1,000 pairs" in faults
