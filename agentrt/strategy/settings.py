"""The settings of an agent's gameplay: what may be set, and to what.

A setting that nobody reads, because its name has a slip, or one that is read as something else, because it is a text,
would change what the agent does without a word. So each is checked when it is set.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Final

from agentrt.errors import ArgumentError, did_you_mean
from agentrt.strategy.context import Order
from agentrt.words import repr_of

__all__ = ["check_setting"]


def _is_count(value: object) -> bool:
    return isinstance(value, int) and not isinstance(value, bool) and value >= 0


def _is_switch(value: object) -> bool:
    return isinstance(value, bool)


def _is_order(value: object) -> bool:
    return isinstance(value, Order)


_COUNT: Final = "a whole number, 0 or more"
_SWITCH: Final = "True or False"
_SETTINGS: Final[Mapping[str, tuple[Callable[[object], bool], str]]] = {
    "lookahead": (_is_count, _COUNT),
    "most_asks": (_is_count, _COUNT),
    "prepare_asks": (_is_count, _COUNT),
    "takes_options": (_is_switch, _SWITCH),
    "corrects": (_is_switch, _SWITCH),
    "order": (_is_order, "Order.CHEAPEST or another Order"),
}


def check_setting(name: str, value: object, *, is_known: bool) -> None:
    """Check what somebody sets on ``agent.gameplay``.

    Args:
        name: the attribute.
        value: what it is to be.
        is_known: whether there is such an attribute.

    Raises:
        ArgumentError: there is no such setting, or it takes something else.
    """
    setting = _SETTINGS.get(name)
    if setting is not None and not setting[0](value):
        raise ArgumentError("gameplay", name, f"takes {setting[1]}, not {repr_of(value)}.")
    if not is_known:
        near = did_you_mean(name, _SETTINGS)
        raise ArgumentError("gameplay", name, f"is no setting.{near} There are {', '.join(_SETTINGS)}.")
