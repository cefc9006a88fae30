"""Candidates: a chooser that offers one choice after the other.

``ctx.candidates`` keeps an iterator with the action that thinks. The first choice is its think output; when what was
made of a choice is rejected, the next one takes its place (the module ``choosing`` decides whom to ask). The iterator
is advanced here and nowhere else, and only when a choice is needed.

Source: seed 001, `reject`; design section 4, "Reject".
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from typing import TYPE_CHECKING, Any

from agentrt.activity.control import ends_thinking
from agentrt.activity.states import READY, THINKING
from agentrt.words import repr_of

if TYPE_CHECKING:
    from agentrt.activity.unit import Unit

__all__ = ["offer", "offer_next", "output_of"]


def output_of(unit: Unit, fields: dict[str, Any]) -> Any:
    """What an action gives as its think output.

    Args:
        unit: the action.
        fields: what it says, taken over by the output; nothing for its arguments.

    Raises:
        ArgumentError: the fields do not fit the declaration.
    """
    spec = unit.spec
    if spec.output_type is None:
        return unit.frame.args if not fields else unit.frame.planner.undeclared(unit, fields)
    return spec.output_type.build(spec.output_label, fields)


def offer(unit: Unit, choices: Iterable[Mapping[str, Any]]) -> bool:
    """Offer the first of several choices. Called on the author's stack.

    Args:
        unit: the action, which thinks.
        choices: the fields of each choice.

    Returns:
        Whether there is one.

    Raises:
        ArgumentError: the fields do not fit the declaration.
    """
    extras = unit.own_extras()
    extras.candidates = None
    extras.cuts = 0
    iterator = iter(choices)
    for choice in iterator:
        output = output_of(unit, _checked(choice))
        if unit.state == THINKING or unit.state == READY:  # else what made the choice lost an entity that it needs
            unit.set_output(output)
            extras.candidates = iterator
        return True
    return False


def offer_next(unit: Unit, iterator: Iterator[Mapping[str, Any]]) -> bool:
    """Offer the next choice.

    Args:
        unit: the action, which is ready.
        iterator: its choices.

    Returns:
        Whether there was one, or the author's code ended the thinking in another way; if not, the choices are used up.
    """
    offered: list[Any] = []

    def advance() -> None:
        for choice in iterator:
            offered.append(choice)
            output = output_of(unit, _checked(choice))
            if unit.state == THINKING or unit.state == READY:  # as above
                unit.set_output(output)
            return

    if ends_thinking(unit, "candidates", advance) or offered:
        return True
    assert unit.extras is not None
    unit.extras.candidates = None
    return False


def _checked(choice: Any) -> dict[str, Any]:
    if not isinstance(choice, Mapping) and not hasattr(choice, "keys"):
        raise TypeError(
            f"candidates() was given the choice {repr_of(choice)}: each is a mapping of output fields, such as "
            f"{{'item': log}}"
        )
    return {name: choice[name] for name in choice.keys()}  # noqa: SIM118 - a think output is no mapping
