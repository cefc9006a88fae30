"""Global parameters: what all strategies may read, at any depth.

They say what is expected of the agent (may it look through walls, should it ignore hunger, which ores matter most),
and each strategy decides for itself which of them it reads. They are read-only while something is being solved; other
values for one request make a set of their own (``agent.gameplay.using(xray=True)``).

Source: seed 003, "Global Parameters".
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

from agentrt.activity.fields import Fields
from agentrt.errors import ArgumentError

__all__ = ["Params"]


class Params(Mapping[str, Any]):
    """A set of global parameters. Read one as an attribute, or with ``get`` if it may not be there.

    Args:
        declared: their types and defaults; None for any names. Subclass ``ActionArgs`` for it.
        values: by name.

    Raises:
        ArgumentError: a value is missing, unknown, of the wrong type, or has the name of a method.
    """

    __slots__ = ("_declared", "_values")

    def __init__(self, declared: type[Fields] | None = None, values: Mapping[str, Any] | None = None) -> None:
        self._declared: type[Fields] | None = declared
        given = dict(values or {})
        for name in given:
            if hasattr(Params, name):
                raise ArgumentError("parameters", name, "has the name of a method. Call it otherwise.")
        self._values: dict[str, Any] = given if declared is None else dict(declared.build("parameters", given))

    def using(self, changes: Mapping[str, Any]) -> Params:
        """The same, but for some values.

        Args:
            changes: by name.

        Raises:
            ArgumentError: a value is unknown or of the wrong type.
        """
        return Params(self._declared, {**self._values, **changes})

    def __getattr__(self, name: str) -> Any:
        if name.startswith("_"):
            raise AttributeError(name)
        if name not in self._values:
            raise ArgumentError(
                "parameters",
                name,
                f"is not there: {', '.join(self._values) or 'none are given'}. Give it to the agent's gameplay, or "
                f"read it with params.get({name!r}, default).",
            )
        return self._values[name]

    def __getitem__(self, name: str) -> Any:
        return self._values[name]

    def __iter__(self) -> Iterator[str]:
        return iter(self._values)

    def __len__(self) -> int:
        return len(self._values)

    def __repr__(self) -> str:
        return f"Params({', '.join(f'{name}={value!r}' for name, value in self._values.items())})"
