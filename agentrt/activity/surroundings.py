"""What an action finds around it: who acts, where in the plan it is, what time it is; and words for people.

The part of the context that works in every state of the action, but for the two notes at its end; the other part, with
its table of states, is in the module ``context``.

Source: seed 001, "AI contexts".
"""

from __future__ import annotations

from collections.abc import Awaitable, Callable
from typing import TYPE_CHECKING, Any

from agentrt.activity.extras import Extras
from agentrt.activity.nodes import Node
from agentrt.activity.states import FINISHED, IDLE, IMPOSSIBLE, UNIT_NAMES
from agentrt.body.entity import NamedSignals
from agentrt.errors import ENDS_PROGRAM
from agentrt.kernel.trace import Event
from agentrt.kernel.traps import at_once, next_tick, sleep_ticks
from agentrt.words import words_of

if TYPE_CHECKING:
    from agentrt.activity.current import Current
    from agentrt.activity.unit import Unit
    from agentrt.body.flags import Holder
    from agentrt.kernel.clock import Clock
    from agentrt.kernel.rng import Stream

__all__ = ["Surroundings", "ignored", "late"]


def late(unit: Unit, method: str) -> None:
    """A call came through the context of a thinking or a run that is over: it does nothing, and the trace says so.

    Args:
        unit: whose action it was.
        method: what was called.
    """
    if unit.frame.planner.trace.on:
        unit.note(Event.LATE, method=method)


def ignored(unit: Unit, method: str) -> None:
    """A call came too late, or too early, to mean anything: it does nothing, and the trace says so.

    Args:
        unit: whose action it is.
        method: what was called.
    """
    if unit.frame.planner.trace.on:
        unit.note(Event.IGNORED, method=method, state=UNIT_NAMES[unit.state])


class Surroundings:
    """What an action finds around it. The base of ``Context``."""

    __slots__ = ("_unit",)

    def __init__(self, unit: Unit) -> None:
        self._unit: Unit = unit

    # --- from where it is called --------------------------------------------------------------------------------------

    def _late(self, method: str) -> None:
        """It belongs to a thinking or a run that is over: the call does nothing, and the trace says so."""
        unit = self._unit
        kernel = unit.frame.planner.kernel
        if kernel.is_here:
            late(unit, method)
        else:
            kernel.post(late, unit, method)

    def _elsewhere(self, method: str, *args: Any, **more: Any) -> bool:
        """Whether the caller is another thread; then the call is made by the next intake instead."""
        planner = self._unit.frame.planner
        if planner.kernel.is_here:
            return False
        planner.agent.post(self._take_in, method, args, more)
        return True

    def _take_in(self, method: str, args: tuple[Any, ...], more: dict[str, Any]) -> None:
        try:
            getattr(self, method)(*args, **more)
        except ENDS_PROGRAM:
            raise
        except BaseException as error:  # nobody is there any more to whom it could be raised
            self._unit.frame.planner.fault(self._unit, f"ctx.{method}", error)

    # --- what there is ------------------------------------------------------------------------------------------------

    @property
    def entity(self) -> Any:
        """The entity that acts."""
        return self._unit.frame.planner.entity

    @property
    def agent(self) -> Any:
        """The agent that the action belongs to."""
        return self._unit.frame.planner.agent

    @property
    def holder(self) -> Holder:
        """The action itself, as the ledger of control flags knows it; what acts in its name shares its flags."""
        return self._unit

    @property
    def clock(self) -> Clock:
        """The clock of the runtime."""
        return self._unit.frame.planner.kernel.clock

    @property
    def random(self) -> Stream:
        """The agent's own stream of random numbers."""
        return self._unit.frame.planner.random

    @property
    def signals(self) -> NamedSignals:
        """The signals of the entity by their names, such as ``await ctx.signals["ready_to_pose"].wait()``."""
        return NamedSignals(self._unit.frame.planner.agent.signal)

    @property
    def path(self) -> str:
        """The action's place in the plan."""
        return self._unit.path()

    @property
    def CURRENT(self) -> Current:  # noqa: N802 - the seed's name for it
        """The state that the entity is expected to have when the action runs; what is written here is what the steps
        after it will see.
        """  # noqa: D205
        unit = self._unit
        if unit.context is not self:
            self._late("CURRENT")
            return unit.frame.planner.layer(unit.frame.expected)  # nobody will see what is written there
        return unit.own_current()

    def get_parent_node(self) -> Node:
        """The activity that the action performs, as a node of the plan; its own parent is the action above, and so on.

        Returns:
            A read-only view, true at any moment.

        Source: seed 001, `get_parent_node`.
        """
        return Node(self._unit.frame)

    def _extras(self) -> Extras:
        return self._unit.own_extras()

    # --- time ---------------------------------------------------------------------------------------------------------

    def sleep(self, seconds: float) -> Awaitable[None]:
        """Wait for a duration of game time.

        Args:
            seconds: game seconds; anything above 0 waits for at least one tick; 0 or less returns at once and lets
                nobody else have a turn.
        """
        return sleep_ticks(self._unit.frame.planner.kernel.clock.ticks(seconds))

    def sleep_ticks(self, ticks: int) -> Awaitable[None]:
        """Wait for a number of ticks.

        Args:
            ticks: 0 or more.
        """
        return sleep_ticks(ticks)

    def next_tick(self) -> Awaitable[None]:
        """Wait for the next tick."""
        return next_tick()

    def work(self, units: int = 1) -> Awaitable[None]:
        """Take units of search work from the think budget before doing the work: ``await ctx.work(len(batch))``.

        Returns at once without a budget, and while this tick's units last and nobody waits; else it waits for the
        agent's part of the ticks that follow. A request that is larger than one tick's budget takes several.

        Args:
            units: how many; candidates looked at, nodes expanded, or whatever the game counts.

        Raises:
            ValueError: the number is negative or not whole.

        Source: seed 001, `scheduler_priority`.
        """
        planner = self._unit.frame.planner
        search = planner.agent.search
        return at_once() if search is None else search.ask(planner, units)

    async def call(self, fn: Callable[..., Any], *args: Any) -> Any:
        """Call something outside the game, in a way that can be recorded: the result comes in at a tick's intake.

        Args:
            fn: a coroutine function, run on the host's event loop; or a plain function, run in a worker thread.
            args: what to call it with.

        Returns:
            What it returned.

        Raises:
            Exception: what it raised.
        """
        return await self._unit.frame.planner.agent.call(fn, args)

    # --- for people ---------------------------------------------------------------------------------------------------

    def set_status_text_key(self, key: str, **args: Any) -> None:
        """Say what the agent does, for its players.

        Args:
            key: a key of the game's texts.
            args: what the text is filled with.

        Source: seed 001, `set_status_text_key`.
        """
        if self._unit.context is not self:
            self._late("set_status_text_key")
            return
        if self._elsewhere("set_status_text_key", key, **args):
            return
        if self._unit.state in (IDLE, IMPOSSIBLE, FINISHED):
            ignored(self._unit, "set_status_text_key")
            return
        key = words_of(key)
        self._extras().status = (key, args)
        if self._unit.frame.planner.trace.on:
            self._unit.note(Event.STATUS, key=key)

    def set_debug_progress(self, text: str) -> None:
        """Say what the action is about, for debugging tools.

        Args:
            text: a few words.

        Source: seed 001, `set_debug_progress`.
        """
        if self._unit.context is not self:
            self._late("set_debug_progress")
            return
        if self._elsewhere("set_debug_progress", text):
            return
        self._extras().progress = text = words_of(text)
        if self._unit.frame.planner.trace.on:
            self._unit.note(Event.PROGRESS, text=text)

    def get_debug_info_datastore(self) -> dict[str, Any]:
        """The author's own debugging data about this action: a dict that lasts as long as the action's instance.

        Source: seed 001, `get_debug_info_datastore`.
        """
        return self._extras().debug

    def get_log(self) -> Any:
        """A logger of structlog, made on demand and bound to the entity, the agent and the action's debug route.

        Every event of it carries ``entity`` (its name), ``agent``, ``path`` (the place in the plan) and ``tick``. What
        is below ``agent.log_level``, or else ``runtime.log_level``, goes nowhere.

        Source: seed 001, `get_log`.
        """
        planner = self._unit.frame.planner
        entity = planner.entity
        log = planner.agent.logger(self._unit.path())
        return log.bind(entity=str(getattr(entity, "name", None) or type(entity).__name__.lower()))
