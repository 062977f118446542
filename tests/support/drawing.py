"""Cases that Hypothesis draws: the same few in `make test`, new and ten times as many in `make torture`."""

from hypothesis import HealthCheck, settings

from ialspp import _core

TORTURE_FACTOR = 10

# No deadline and no check of the time that drawing takes: a busy machine is no fault of the library.
settings.register_profile(
    "fixed",
    derandomize=True,
    database=None,
    deadline=None,
    max_examples=100,
    suppress_health_check=[HealthCheck.too_slow],
)
settings.register_profile(
    "torture", settings.get_profile("fixed"), derandomize=False, max_examples=100 * TORTURE_FACTOR
)


def draw_no_constants_of_the_sources():
    """Let fixed draws depend on nothing but their test.

    Hypothesis also draws numbers and texts that it finds in the modules which are imported at that moment. So
    they would depend on the order of the tests, and change with every number in the sources.
    """
    try:
        from hypothesis.internal.conjecture import providers

        none = providers.Constants()
    except (ImportError, AttributeError):  # a version that draws none, or in another way
        return
    providers._get_local_constants = lambda: none


def drawn(count, *, fixtures=False):
    """Settings for a test on `count` cases; with `fixtures`, those of a function serve all of its cases."""
    chosen = settings.default
    return settings(
        max_examples=count * chosen.max_examples // 100,
        suppress_health_check=[
            *chosen.suppress_health_check,
            *([HealthCheck.function_scoped_fixture] if fixtures else []),
        ],
    )


def isas_with_half():
    """The instruction sets of this machine that can read half precision."""
    before, found = _core.isa(), []
    for isa in _core.available_isas():
        _core.select_isa(isa)
        if _core.has_half():
            found.append(isa)
    _core.select_isa(before)
    return found


def on_some_isa(cases):
    """(isa, *case): every case, in turn on each instruction set; in `make torture` on all of them."""
    isas = _core.available_isas()
    share = 1 if settings.default.max_examples > 100 else len(isas)
    return [
        (isa, *case)
        for number, case in enumerate(cases)
        for place, isa in enumerate(isas)
        if (number + place) % share == 0
    ]
