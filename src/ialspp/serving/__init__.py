"""A model behind HTTP. The packages that it needs are those of the extra `serve`, imported here alone."""

from __future__ import annotations

from collections.abc import Callable

from ..errors import MissingExtraError
from .settings import Limits, Settings, is_open_to_others, key_for

__all__ = ["Limits", "Settings", "is_open_to_others", "key_for", "serve"]


def serve(settings: Settings, started: Callable[[Settings], None] = lambda _settings: None) -> None:
    """Serve a model until a signal ends it. `started` is called when the first request can come."""
    try:
        import granian  # noqa: F401 - whether it is there
        import litestar  # noqa: F401
        import msgspec  # noqa: F401
    except ImportError as error:
        raise MissingExtraError(f"serving needs {error.name}: pip install 'ialspp[serve]'") from error
    from .workers import serve as run

    run(settings, started)
