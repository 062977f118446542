"""The attack on numbers, for a moment, and its judge."""

from dataclasses import replace

from support.models import make_data

from ialspp import IALS, ImplicitMF
from torture.numbers import attack
from torture.numbers.rounding import Judge, Moment


def test_no_hostile_numbers_do_harm(tmp_path):
    tally = attack(200, 20, tmp_path)
    assert tally.faults == []
    assert tally.counts["tries"] == 200
    assert tally.counts["trained"] > 100
    assert tally.counts["queries answered"] > 800


def two_epochs():
    data, moments = make_data(), []
    model = ImplicitMF(8, solver=IALS(), epochs=12)
    model.fit(data, callbacks=[lambda m, _: moments.append(moment(m))], progress=False)
    return Judge(data, model.objective), moments[-2], moments[-1], model.history[-1]


def moment(model):
    return Moment(model.user_factors.astype(float), model.item_factors.astype(float))


def test_the_judge_accepts_a_training():
    assert list(Judge.faults(*two_epochs())) == []


def test_the_judge_notices_a_loss_that_rises_by_a_ten_thousandth():
    judge, _, before, record = two_epochs()
    after = Moment(before.W * 1.002, before.H)
    assert next(judge.faults(before, after, record)).startswith("the loss rose from 198.728 to 198.765")


def test_the_judge_notices_a_history_that_is_a_ten_thousandth_off():
    judge, before, after, record = two_epochs()
    found = list(judge.faults(before, after, replace(record, loss=record.loss * 1.0001)))
    assert [fault.split()[:3] for fault in found] == [["the", "history", "says"]]
