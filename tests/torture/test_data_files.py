from torture.data_files import attack


def test_forged_data_files_are_read_soundly_or_refused(tmp_path):
    tally = attack(300, 7, tmp_path)
    assert tally.faults == []
    assert tally.counts["read"] > 30
    assert sum(tally.counts.values()) == 300
