"""Requests that arrive together are ranked together; one alone waits for nothing."""

import asyncio
import threading
from itertools import count
from types import SimpleNamespace

import pytest
from support.models import ITEMS
from support.processes import wait_until

from ialspp.serving import answering, batching
from ialspp.serving.answering import Asked, answered, work_of
from ialspp.serving.batching import Batcher
from ialspp.serving.metrics import Metrics
from ialspp.serving.problems import Problem
from ialspp.serving.schema import Recommend
from ialspp.serving.served import Served
from ialspp.serving.settings import Limits


@pytest.fixture(scope="module")
def one(model_file):
    return Served(model_file, 2)


class Held:
    """Lets the first group wait in its thread until it is told to go on, and notes the size of each group."""

    def __init__(self, monkeypatch):
        monkeypatch.setattr(batching, "QUICK", 0)  # or the event loop itself would wait
        self.sizes, self.go, self.begun = [], threading.Event(), threading.Event()
        monkeypatch.setattr(batching, "answered", self.answered)

    def answered(self, served, asked, limits):
        self.sizes.append(len(asked))
        self.begun.set()
        if len(self.sizes) == 1:
            self.go.wait()
        return answered(served, asked, limits)


def asked(user=3, **options):
    return [Asked(Recommend(user=user, **options))]


async def gathered(batcher, held, requests):
    """The answers to requests that come while the first one is being ranked."""
    first = asyncio.create_task(batcher.answer(asked()))
    await asyncio.to_thread(wait_until, held.begun.is_set)
    others = [asyncio.create_task(batcher.answer(each)) for each in requests]
    await asyncio.sleep(0)
    held.go.set()
    return await asyncio.gather(first, *others, return_exceptions=True)


def test_what_comes_meanwhile_is_ranked_together(one, model, monkeypatch):
    held, batcher = Held(monkeypatch), Batcher(lambda: one, Limits(), Metrics())
    requests = [asked(user, k=user) for user in (4, 5, 6)] + [[Asked(Recommend(items=ITEMS[:2]))]]
    groups = asyncio.run(gathered(batcher, held, requests))
    assert held.sizes == [1, 4]
    for group, user in zip(groups[1:4], (4, 5, 6), strict=True):
        [answer] = group.answers
        assert [item.id for item in answer.items] == model.recommend(user, user)
        assert group.served is one
    assert [item.id for item in groups[4].answers[0].items] == model.recommend_for([ITEMS[:2]])[0]


@pytest.mark.parametrize(("quick", "in_loop"), [(batching.QUICK, True), (0, False)])
def test_what_takes_no_time_is_ranked_without_a_thread(one, monkeypatch, quick, in_loop):
    monkeypatch.setattr(batching, "QUICK", quick)
    threads = []

    def noted(*arguments):
        threads.append(threading.current_thread())
        return answered(*arguments)

    monkeypatch.setattr(batching, "answered", noted)
    asyncio.run(Batcher(lambda: one, Limits(), Metrics()).answer(asked()))
    assert [thread is threading.current_thread() for thread in threads] == [in_loop]


def test_an_error_of_ours_reaches_those_who_wait(one, monkeypatch):
    def broken(*_arguments):
        raise ZeroDivisionError

    monkeypatch.setattr(batching, "answered", broken)
    batcher = Batcher(lambda: one, Limits(), Metrics())
    with pytest.raises(ZeroDivisionError):
        asyncio.run(batcher.answer(asked()))


def test_reasons_are_never_given_in_the_event_loop(one):
    assert work_of(one, asked(explain=1, k=1)) > batching.QUICK


def test_nobody_waits_for_the_rest_of_what_takes_too_long(one, monkeypatch):
    requests = [Asked(Recommend(user=3, k=5, explain=2))] * 3
    assert len(answered(one, requests, Limits())) == 3
    seconds = count()
    monkeypatch.setattr(answering, "time", SimpleNamespace(monotonic=lambda: next(seconds)))
    with pytest.raises(Problem, match=r"no answer within 0\.5 seconds"):
        answered(one, requests, Limits(seconds=0.5))


def test_work_grows_with_what_is_asked(one):
    alone = work_of(one, asked())
    assert work_of(one, asked() * 3) == 3 * alone
    for more in ({"explain": True}, {"exclude": ITEMS[:2]}, {"candidates": ITEMS[:2]}):
        assert work_of(one, asked(**more)) > alone
    assert work_of(one, [Asked(Recommend(items=ITEMS[:2]))]) > alone


def test_requests_of_the_same_moment_are_one_group(one, monkeypatch):
    held, batcher = Held(monkeypatch), Batcher(lambda: one, Limits(), Metrics())
    held.go.set()

    async def both():
        return await asyncio.gather(*(batcher.answer(asked(user)) for user in (3, 4, 5)))

    assert len(asyncio.run(both())) == 3
    assert held.sizes == [3]


def test_a_large_group_is_divided_but_no_batch(one, monkeypatch):
    monkeypatch.setattr(batching, "MOST_TOGETHER", 5)
    held, batcher = Held(monkeypatch), Batcher(lambda: one, Limits(), Metrics())
    requests = [asked()] * 7 + [asked() * 9, asked()]
    groups = asyncio.run(gathered(batcher, held, requests))
    assert held.sizes == [1, 5, 2, 9, 1]
    assert [len(group.answers) for group in groups] == [1] * 8 + [9, 1]


def test_too_many_waiting_requests_are_refused(one, monkeypatch):
    held, batcher = Held(monkeypatch), Batcher(lambda: one, Limits(waiting=2), Metrics())
    _, *groups = asyncio.run(gathered(batcher, held, [asked()] * 3))
    assert [type(group) for group in groups] == [batching.Group, batching.Group, Problem]
    assert groups[2].status == 503


def test_who_gives_up_is_not_ranked(one, monkeypatch):
    held, batcher = Held(monkeypatch), Batcher(lambda: one, Limits(), Metrics())

    async def run():
        first = asyncio.create_task(batcher.answer(asked()))
        await asyncio.to_thread(wait_until, held.begun.is_set)
        second, third = (asyncio.create_task(batcher.answer(asked())) for _ in range(2))
        await asyncio.sleep(0)
        second.cancel()
        await asyncio.sleep(0)
        held.go.set()
        await asyncio.gather(first, third)

    asyncio.run(run())
    assert held.sizes == [1, 1]


def test_a_bug_reaches_everyone_who_waits_and_the_next_are_served(one, monkeypatch):
    batcher = Batcher(lambda: one, Limits(), Metrics())

    async def run():
        monkeypatch.setattr(batching, "answered", lambda *_: 1 / 0)
        failed = await asyncio.gather(
            batcher.answer(asked()), batcher.answer(asked()), return_exceptions=True
        )
        monkeypatch.setattr(batching, "answered", answered)
        return failed, await batcher.answer(asked())

    failed, fine = asyncio.run(run())
    assert [type(error) for error in failed] == [ZeroDivisionError] * 2
    assert len(fine.answers) == 1
