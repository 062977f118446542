"""Settings the way scikit-learn asks for them."""

from __future__ import annotations

import inspect
from dataclasses import fields, is_dataclass, replace
from typing import Any, TypeVar

Estimator = TypeVar("Estimator", bound="Parameters")


class Parameters:
    """`get_params` and `set_params` for a class that keeps its constructor's arguments under their names."""

    def get_params(self, deep: bool = True) -> dict[str, Any]:
        """The constructor's arguments; with `deep` also those of its parts: `objective__regularization`."""
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
        """Change some of them, all or none; what was learned stays until the next `fit`."""
        known = self.get_params()
        for name in params:
            if name not in known:
                raise ValueError(
                    f"{type(self).__name__} has no parameter {name!r}; it has {', '.join(known)}"
                )
        settings = {**self.get_params(deep=False), **{n: v for n, v in params.items() if "__" not in n}}
        for name, value in params.items():
            if "__" in name:
                part, _, field = name.partition("__")
                settings[part] = replace(settings[part], **{field: value})
        checked = type(self)(**settings)
        for name in settings:
            setattr(self, name, getattr(checked, name))
        return self
