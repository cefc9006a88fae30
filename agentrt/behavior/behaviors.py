"""Behaviors: the code that acts, apart from the deciders that decide.

A behavior is shared by every agent and by every decider that names it, so it has no state of its own: what it has to
remember lies in the block of an activation, what outlives that lies on the agent. Every hook is optional:

    activate    the decider was chosen. False: it cannot begin, and the decider fails.
    tick        once in each tick, beginning with that of the activation. False: it has ended, and the decider fails.
    deactivate  the decider leaves the path; once for each activate that did not fail.
    run         the behavior as one coroutine, from activate to deactivate; when it returns, the behavior has ended.

An answer of None is no objection: only what is false and not None fails. ``activate``, ``tick`` and ``deactivate``
may be coroutine functions, too. Which hooks there are and which are coroutines is found out once, when the tree is
compiled.

A group decider may have a behavior as well; it goes along with the group.

Source: seed 002, "S08: Behaviors"; "S02: Design Principles", 4; "S07: Memory & Blocks".
"""

from __future__ import annotations

import re
from collections.abc import Callable, Collection
from inspect import iscoroutinefunction
from typing import Any

from agentrt.errors import DefinitionError

__all__ = ["Behavior", "as_behavior", "behavior", "behavior_name", "hook_of"]

HOOKS = ("activate", "tick", "deactivate", "run")


class Behavior:
    """The base of behaviors. A subclass writes the hooks that do something, and no others.

    Args:
        name: what to call it; by default the name of the class in capitals: ``IdleWalk`` is ``IDLE_WALK``.

    Attributes:
        name: what to call it.
        block: a type of which each activation gets an instance, made without arguments. If the type has a method
            ``dispose``, it is called when the activation is over.
        flags: the control flags that it needs.
        id: its number in logs; by default it is made of the name.

    Source: seed 002, "S08: Behaviors".
    """

    name: str = ""
    block: Callable[[], Any] | None = None
    flags: Collection[str] = ()
    id: int | None = None

    activate: Callable[..., Any] | None = None
    tick: Callable[..., Any] | None = None
    deactivate: Callable[..., Any] | None = None
    run: Callable[..., Any] | None = None

    def __init__(self, name: str = "") -> None:
        if name or not self.name:
            self.name = name or _capitals(type(self).__name__)

    def __repr__(self) -> str:
        return f"<Behavior {self.name}>"


def behavior(
    name: str,
    *,
    activate: Callable[..., Any] | None = None,
    tick: Callable[..., Any] | None = None,
    deactivate: Callable[..., Any] | None = None,
    run: Callable[..., Any] | None = None,
    block: Callable[[], Any] | None = None,
    flags: Collection[str] = (),
    id: int | None = None,  # noqa: A002 - the word of the log
) -> Behavior:
    """A behavior made of functions, which may be shared with others.

    Args:
        name: what to call it.
        activate: called with the activation, as all hooks are.
        tick: called in each tick.
        deactivate: called at the end.
        run: a coroutine function.
        block: the type of its block.
        flags: the control flags that it needs.
        id: its number in logs.

    Source: seed 002, "S12: Macros".
    """
    made = Behavior(name)
    made.block = block
    made.flags = flags
    made.id = id
    made.activate = activate
    made.tick = tick
    made.deactivate = deactivate
    made.run = run
    return made


def as_behavior(given: object, decider: str) -> Behavior:
    """What stands where a behavior is expected: a behavior, a class of behaviors, or a function.

    Args:
        given: what was written.
        decider: where, for the error.

    Raises:
        DefinitionError: it is none of these.
    """
    if isinstance(given, Behavior):
        return given
    if isinstance(given, type) and issubclass(given, Behavior):
        return given()
    if callable(given) and not isinstance(given, type):
        name = _capitals(getattr(given, "__name__", type(given).__name__))
        return behavior(name, run=given) if iscoroutinefunction(given) else behavior(name, tick=given)
    raise DefinitionError(
        decider, f"{given!r} is no behavior.", "Write a subclass of Behavior, an instance of one, or a function."
    )


def hook_of(one: Behavior, hook: str) -> tuple[Callable[..., Any] | None, bool]:
    """A hook of a behavior, and whether it is a coroutine function.

    Args:
        one: the behavior.
        hook: its name.

    Raises:
        DefinitionError: it cannot be called, or ``run`` is no coroutine function.
    """
    found: Callable[..., Any] | None = getattr(one, hook)
    if found is None:
        return None, False
    is_async = iscoroutinefunction(found) or iscoroutinefunction(getattr(found, "__call__", None))  # noqa: B004
    if not callable(found):
        raise DefinitionError(f"behavior {one.name}", f"its {hook} is {found!r}.", "Write a function.")
    if hook == "run" and not is_async:
        raise DefinitionError(
            f"behavior {one.name}",
            "its run is no coroutine function.",
            "Write 'async def run', or 'tick' for what is to be called in each tick.",
        )
    return found, is_async


def behavior_name(one: Behavior | None) -> str | None:
    """The name of a behavior, if there is one.

    Args:
        one: the behavior or None.
    """
    return None if one is None else one.name


def _capitals(name: str) -> str:
    return re.sub(r"(?<=[a-z0-9])(?=[A-Z])", "_", name).strip("_<>").upper()
