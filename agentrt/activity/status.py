"""The status text: what an agent does, in words for players.

An action says it by a key, with arguments: ``status_text_key`` on the class, or ``ctx.set_status_text_key`` while it
runs. The text that counts is that of the innermost running action that has one: a step speaks for its plan, and where
it is silent the plan speaks. Where the whole plan is silent, what is performed beside it speaks, the newest first:
strategies that were asked for a thing, say. What a key means in a language is the game's business: its translator is
given the key and the arguments as the action gave them, entities and all. Without one, and where it fails, the key is
shown with its arguments. A translator that raises is reported once: it is asked for every agent in every frame, and
watching must neither stop the game nor fill its log.

Source: Stonehearth, AI, `status_text_key`.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from typing import TYPE_CHECKING, Any

from agentrt.activity.states import STARTED
from agentrt.errors import ENDS_PROGRAM
from agentrt.words import plain, repr_of

if TYPE_CHECKING:
    from agentrt.activity.plan.tree import Frame, Planner, Unit

Translate = Callable[[str, Mapping[str, Any]], str]  # makes a text of a key and its arguments
Status = tuple[str, Mapping[str, Any]]  # a key of the game's texts, and what the text is filled with

_SILENT: Status = ("", {})


def running_branch(frame: Frame) -> Iterator[Unit]:
    """The units that are started, from the root of a plan down to its leaf."""
    node: Frame | None = frame
    while node is not None and node.active is not None and node.active.state >= STARTED:
        unit = node.active
        yield unit
        node = unit.running_child()


def status_of(planner: Planner | None) -> Status:
    """What an agent says that it does: the innermost running action that has a key."""
    for execution in () if planner is None else (planner.execution, *reversed(planner.performances)):
        found = _SILENT
        for unit in running_branch(execution.root):
            own = None if unit.extras is None else unit.extras.status
            if own is not None and own[0]:
                found = own
            elif unit.spec.cls.status_text_key:
                found = (unit.spec.cls.status_text_key, {})
        if found is not _SILENT:
            return found
    return _SILENT


class Translator:
    """Makes texts of keys by the game's own function, if there is one, and survives what that does."""

    __slots__ = ("_has_failed", "_report", "_translate")

    def __init__(self, translate: Translate | None, report: Callable[[str, BaseException], None]) -> None:
        self._translate = translate
        self._report = report
        self._has_failed = False

    def text(self, status: Status) -> str:
        """The text of a status; silence has none."""
        key, args = status
        if not key or self._translate is None:
            return key_text(status)
        try:
            text = self._translate(key, args)
            if not isinstance(text, str):
                raise TypeError(f"it returned {repr_of(text)}, which is no text")
        except ENDS_PROGRAM:
            raise
        except BaseException as error:
            if not self._has_failed:
                self._has_failed = True
                self._report(f"the translator of status texts failed for {key!r}; keys are shown instead", error)
            return key_text(status)
        return text


def key_text(status: Status) -> str:
    """The key with its arguments, for whoever has no translator."""
    key, args = status
    return f"{key} ({', '.join(f'{name}: {plain(value)}' for name, value in args.items())})" if args else key
