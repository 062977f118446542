"""A short attack on the functions of the compiled core; `make torture-native` has the long one."""

from ialspp import _core
from torture.native_calls import calls
from torture.native_calls.arguments import NAMES
from torture.tally import Tally

TRIES = 60
WITHOUT_ARGUMENTS = {"Dictionary", "available_isas", "has_crc32", "has_half", "isa", "known_isas"}


def public_names():
    for name in dir(_core):
        if not name.startswith("_"):
            yield name
            if isinstance(getattr(_core, name), type):
                yield from (f"{name}.{member}" for member in dir(getattr(_core, name)) if member[0] != "_")


def test_every_public_function_is_attacked():
    assert sorted(NAMES) == sorted(public_names())


def test_hostile_calls_work_or_are_refused(tmp_path):
    tally = Tally()
    worked, refused = calls(TRIES, 7, tmp_path, tally)
    assert not tally.faults, "\n".join(tally.faults)
    assert (worked + refused == TRIES).all()
    assert (worked > 0).all()
    assert {name for name, count in zip(NAMES, refused, strict=True) if count == 0} <= WITHOUT_ARGUMENTS
