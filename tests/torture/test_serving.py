"""A short run of the attack on a service whose file is replaced under load, and whether it notices faults."""

import json
import threading

from torture.serving import attack
from torture.serving.asking import Asker
from torture.serving.known import Known, pairs_of


def test_no_answer_fails_and_none_is_mixed(tmp_path):
    tally = attack(4, 1, tmp_path)
    assert tally.faults == []
    assert tally.counts["replacements"] == 4
    assert tally.counts["answers"] > 0


class Canned:
    """A connection that always has the same answer."""

    def __init__(self, status, checksum, body):
        self.status, self.headers, self._body = status, {"x-ialspp-model": checksum}, body

    def request(self, *_):
        pass

    def getresponse(self):
        return self

    def read(self):
        return json.dumps(self._body).encode()


def test_a_wrong_answer_is_a_fault(tmp_path):
    right = {"items": [{"id": "a", "score": 1.0}]}
    known = Known(tmp_path, "good", {("/v1/recommend", "{}"): pairs_of(right)})
    for canned, faults in (
        (Canned(200, "good", right), 0),
        (Canned(200, "other", right), 1),
        (Canned(200, "good", {"items": [{"id": "a", "score": 1.5}]}), 1),
        (Canned(503, "good", right), 1),
    ):
        asker = Asker(0, [known], 1, threading.Event())
        asker._ask(canned, "/v1/recommend", "{}")
        assert len(asker.faults) == faults
