"""Settings in the interface of scikit-learn."""

from __future__ import annotations

import inspect
from dataclasses import fields, is_dataclass, replace
from typing import Any, TypeVar

from ..errors import InvalidValueError

Estimator = TypeVar("Estimator", bound="Parameters")


class Parameters:
    """`get_params` and `set_params` for a class that keeps its constructor's arguments under their names."""

    def get_params(self, deep: bool = True) -> dict[str, Any]:
        """Return the constructor's arguments; `deep` adds those of parts: `objective__regularization`.

        Examples
        --------
        >>> params = model.get_params()
        >>> params["dim"], params["objective__regularization"]
        (2, 0.003)
        """
        own = {name: getattr(self, name) for name in inspect.signature(type(self)).parameters}
        if not deep:
            return own
        parts = {
            f"{name}__{field.name}": getattr(value, field.name)
            for name, value in own.items()
            if is_dataclass(value)
            for field in fields(value)
        }
        return {**own, **parts}

    def set_params(self: Estimator, **params: Any) -> Estimator:
        """Change some settings, all of those given or none. The factors stay until the next `fit`.

        Parts are replaced first: `set_params(solver=IALSpp(), solver__block_size=32)`. `fold_in`, `explain`
        and `update` solve rows with the objective that is set, also if it changed after `fit`.

        Examples
        --------
        >>> changed = model.set_params(epochs=16, objective__regularization=0.01)
        >>> changed.epochs, changed.objective
        (16, Objective(unobserved_weight=0.1, regularization=0.01, exponent=1.0))
        """
        settings = self.get_params(deep=False)
        own = {name: value for name, value in params.items() if "__" not in name}
        for name in params:
            if name.partition("__")[0] not in settings:
                raise InvalidValueError(
                    f"{type(self).__name__} has no parameter {name!r}; it has {', '.join(settings)}"
                )
        checked = type(self)(**{**settings, **own})
        for name, value in params.items():
            part, nested, field = name.partition("__")
            if nested:
                changed = _with_field(getattr(checked, part), name, field, value)
                checked = type(self)(**{**checked.get_params(deep=False), part: changed})
        for name in settings:
            setattr(self, name, getattr(checked, name))
        return self


def _with_field(part: Any, name: str, field: str, value: Any) -> Any:
    known = [known.name for known in fields(part)] if is_dataclass(part) else []
    if field not in known:
        raise InvalidValueError(f"there is no {name!r}: {part!r} has {', '.join(known) or 'no parameters'}")
    return replace(part, **{field: value})
