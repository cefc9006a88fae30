"""Triggers: what an agent looks out for while it does something else, declared once for the agent.

A trigger is a signal of the entity (``attacked``), or a question that is asked now and then (is it hungry?), and what
to have solved when it comes up. No strategy needs to know of it: whatever is being solved at that moment is interrupted
(``interrupting``); if nothing is, it is solved as a request of its own. Rules:

* Of several requests, one is interrupted: the last one that began of those that hold control flags, since it drives the
  body; if none holds any, the last one that began. The others go on, and share the body by control flags as always.
* The same trigger does not come up again before it was dealt with, and not for a while after that: as long as it says,
  and longer each time that it could not be dealt with, so that what cannot be helped does not keep the agent from all
  else.
* A trigger whose dependency is met already does not come up.
* It looks out as long as its agent lives, and not longer: then there is no listener and no timer of it.

Source: seed 003, "Interrupting Tasks": being attacked, heavy damage, potion effects, hunger.
"""

from __future__ import annotations

import inspect
from collections.abc import Callable
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Final

from agentrt.activity.catching import is_under
from agentrt.errors import ENDS_PROGRAM, DefinitionError, NotRunningError
from agentrt.kernel.traps import running
from agentrt.strategy.dependency import Dependency, required
from agentrt.strategy.interrupting import Incident, Interruption
from agentrt.strategy.requests import Request
from agentrt.strategy.topics import near
from agentrt.strategy.tree import Outcome
from agentrt.words import repr_of

if TYPE_CHECKING:
    from agentrt.kernel.calls import Timer
    from agentrt.kernel.signals import Connection
    from agentrt.strategy.gameplay import Gameplay
    from agentrt.strategy.solving import Solving

__all__ = ["Trigger", "Triggers"]

_MOST_TIMES: Final = 6  # doublings of a second that it waits after a failure: about a minute


@dataclass(frozen=True, slots=True, kw_only=True)
class Trigger:
    """Something that an agent looks out for. Say either ``on`` or ``when``.

    Attributes:
        name: what it is called, in trees and for ``interrupted``.
        solve: what to have solved; or a function of the value that came with it, which gives that, or None for nothing.
        on: the name of a signal of the entity; its value is the value.
        when: asked of the agent now and then; a true answer is the value.
        every: how often, in game seconds.
        priority: a higher one interrupts what is done about a lower one.
        again_after: how long after it was dealt with it may come up again, in game seconds.

    Raises:
        DefinitionError: it says neither when it comes up, or both; a time is negative, or no time; or something else of
            it is nothing of its kind.

    Source: seed 003, "Interrupting Tasks".
    """

    name: str
    solve: Dependency[Any] | Callable[[Any], Dependency[Any] | None]
    on: str = ""
    when: Callable[[Any], Any] | None = None
    every: float = 1.0
    priority: int = 0
    again_after: float = 0.0

    def __post_init__(self) -> None:
        subject = f"the trigger {repr_of(self.name, 200)}"
        for what, is_right, wanted in self._kinds():
            if not is_right:
                told = repr_of(getattr(self, what), 200)
                raise DefinitionError(subject, f"its {what!r} is {told}.", f"Give it {wanted}.")
        if bool(self.on) == (self.when is not None):
            raise DefinitionError(subject, "nobody can tell when it comes up.", "Give it either 'on' or 'when'.")
        if not self.every > 0 or not self.again_after >= 0:
            raise DefinitionError(
                subject, f"'every' is {self.every!r}, 'again_after' {self.again_after!r}.", "Write game seconds."
            )

    def _kinds(self) -> tuple[tuple[str, bool, str], ...]:
        """For each attribute whether it is of its kind, and which that is."""
        name: object = self.name
        on: object = self.on
        solve: object = self.solve
        return (
            ("name", isinstance(name, str) and bool(name), "a word"),
            ("on", isinstance(on, str), "the name of a signal of the entity"),
            ("when", self.when is None or _is_plain(self.when), "a plain function of the agent"),
            ("solve", isinstance(solve, Dependency) or _is_plain(solve), "a dependency, or a function that gives one"),
            ("every", _is_number(self.every), "game seconds"),
            ("again_after", _is_number(self.again_after), "game seconds"),
            ("priority", _is_number(self.priority), "a number"),
        )


def _is_plain(value: object) -> bool:
    return callable(value) and not inspect.iscoroutinefunction(value)


def _is_number(value: object) -> bool:
    return isinstance(value, (int, float)) and not isinstance(value, bool) and value == value


class _Watch:
    """One trigger of one agent.

    Attributes:
        trigger: it.
        is_busy: whether it came up, and was not dealt with yet.
    """

    __slots__ = ("_again_at", "_connection", "_failures", "_gameplay", "_timer", "is_busy", "trigger")

    def __init__(self, gameplay: Gameplay, trigger: Trigger) -> None:
        self.trigger: Trigger = trigger
        self.is_busy: bool = False
        self._gameplay = gameplay
        self._connection: Connection | None = None
        self._timer: Timer | None = None
        self._again_at = 0
        self._failures = 0

    def begin(self) -> None:
        """Look out."""
        if self.trigger.on:
            self._connection = self._gameplay.agent.signal(self.trigger.on).connect(self._emitted)
        else:
            self._look_later()

    def end(self) -> None:
        """Do not look out any more."""
        if self._connection is not None:
            self._connection.close()
        if self._timer is not None:
            self._timer.cancel()
        self._connection = self._timer = None

    def _look_later(self) -> None:
        kernel = self._gameplay.kernel
        self._timer = kernel.call_later(max(1, kernel.clock.ticks(self.trigger.every)), self._look)

    def _look(self) -> None:
        self._look_later()
        if not self.is_busy and self._gameplay.tick >= self._again_at:
            assert self.trigger.when is not None
            try:
                value = self.trigger.when(self._gameplay.agent)
                is_true = bool(value)
            except ENDS_PROGRAM:
                raise
            except BaseException as error:
                self._gameplay.fault(f"trigger {self.trigger.name}", "when", error)
                return
            if is_true:
                self._come_up(value)

    def _emitted(self, value: Any) -> None:
        gameplay = self._gameplay
        if running.kernel is gameplay.agent.kernel:
            self._come_up(value)
        else:
            gameplay.agent.post(self._come_up, value)

    def _come_up(self, value: Any) -> None:
        trigger, gameplay = self.trigger, self._gameplay
        is_watching = self._connection is not None or self._timer is not None
        if self.is_busy or not is_watching or gameplay.tick < self._again_at:
            return
        wanted: Dependency[Any] | None
        try:
            wanted = trigger.solve if isinstance(trigger.solve, Dependency) else trigger.solve(value)
            if wanted is not None:
                required(f"trigger {trigger.name}: solve", wanted)
        except ENDS_PROGRAM:
            raise
        except BaseException as error:
            gameplay.fault(f"trigger {trigger.name}", "solve", error)
            return
        if wanted is not None and not gameplay.estimator.is_met(wanted):
            self.is_busy = True
            gameplay.triggers.interrupt(
                Incident(Interruption(trigger.name, value), wanted, trigger.priority, self._dealt_with)
            )

    def _dealt_with(self, outcome: Outcome) -> None:
        self.is_busy = False
        wait = self.trigger.again_after
        if outcome is Outcome.FAILED:
            wait = max(wait, 2.0 ** min(self._failures, _MOST_TIMES))
            self._failures += 1
        else:
            self._failures = 0
        if self._gameplay.agent.kernel is not None:
            self._again_at = self._gameplay.tick + self._gameplay.kernel.clock.ticks(wait)


class Triggers:
    """The triggers of one agent.

    Args:
        gameplay: the agent's.
    """

    __slots__ = ("_gameplay", "_is_live", "_watches")

    def __init__(self, gameplay: Gameplay) -> None:
        self._gameplay = gameplay
        self._is_live = False
        self._watches: dict[str, _Watch] = {}

    @property
    def names(self) -> tuple[str, ...]:
        """What the agent looks out for, in the order of adding."""
        return tuple(self._watches)

    @property
    def busy(self) -> tuple[str, ...]:
        """What came up, and was not dealt with yet."""
        return tuple(name for name, watch in self._watches.items() if watch.is_busy)

    def add(self, trigger: Trigger) -> Callable[[], None]:
        """Look out for something more.

        Args:
            trigger: it.

        Returns:
            A function that ends it; what came up already is dealt with.

        Raises:
            DefinitionError: there is one of that name; it is no trigger; or the entity has no signal that is called as
                it says, and one that is called nearly so.
        """
        given: object = trigger
        if not isinstance(given, Trigger):
            raise DefinitionError(f"the trigger {repr_of(given, 200)}", "it is none.", "Write Trigger(name=..., ...).")
        meant = near(trigger.on, self._signals()) if trigger.on and trigger.on not in self._signals() else []
        if meant:
            raise DefinitionError(
                f"the trigger {trigger.name!r}",
                f"nothing of the entity is called {trigger.on!r}.",
                f"Did you mean {' or '.join(repr(one) for one in meant)}? If it is right, make the signal first: "
                f"agent.signal({trigger.on!r}).",
            )
        if trigger.name in self._watches:
            raise DefinitionError(
                f"the trigger {trigger.name!r}", "the agent has one of that name.", "Remove it, or call it otherwise."
            )
        self._watches[trigger.name] = watch = _Watch(self._gameplay, trigger)
        if self._is_live:
            watch.begin()

        def remove() -> None:
            if self._watches.get(trigger.name) is watch:
                del self._watches[trigger.name]
                watch.end()

        return remove

    def _signals(self) -> list[str]:
        """The names of the signals that the entity has by now."""
        names = getattr(self._gameplay.agent.entity, "signal_names", ())
        return [*names, "destroyed"] if isinstance(names, tuple) else ["destroyed"]

    def begin(self) -> None:
        """The agent lives."""
        if not self._is_live:
            self._is_live = True
            for watch in self._watches.values():
                watch.begin()

    def end(self) -> None:
        """The agent ends."""
        self._is_live = False
        for watch in self._watches.values():
            watch.end()

    # --- who is interrupted -------------------------------------------------------------------------------------------

    def interrupt(self, incident: Incident) -> None:
        """Something came up: interrupt what is being solved, or have it solved by itself.

        Args:
            incident: it.
        """
        solving = self._whom(incident)
        if solving is not None:
            solving.interruptions.add(incident)
            return
        gameplay = self._gameplay
        try:
            if incident.wanted is None:
                incident.over(Outcome.DONE, gameplay)  # there is nobody to hear of it
                return
            request = Request(gameplay, incident.wanted, gameplay.estimator, priority=incident.priority)
        except NotRunningError:
            incident.over(Outcome.CANCELLED, gameplay)
        else:
            request.then(lambda over: incident.over(over.outcome, gameplay))

    def _whom(self, incident: Incident) -> Solving | None:
        """Whose request is interrupted: who drives the body, else the last one that began; None for nobody."""
        running = [one for one in self._gameplay.running if one.gives_way_to(incident.priority)]
        held = self._gameplay.held_by()
        driving = [one for one in running if any(is_under(unit.frame, one.unit.frame) for unit in held)]
        found = driving or running
        return found[-1] if found else None

    def __repr__(self) -> str:
        return f"<Triggers: {', '.join(self._watches) or 'none'}>"
