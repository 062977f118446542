from torture import kills


def test_nothing_is_lost_by_kills(tmp_path):
    tally = kills.attack(16, 1, tmp_path)
    assert tally.faults == []
    assert sum(count for what, count in tally.counts.items() if what.startswith("SIG")) >= 16
