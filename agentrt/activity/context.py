"""The context: how an action talks to the planner. One for each unit and hook call; it holds nothing of its own.

Two kinds of methods: those that note something for the planner to look at (``set_think_output``, ``set_utility``),
and those that wait (``sleep``, ``execute``, ``suspend``), which are awaited. ``abort`` and ``reject`` end the hook
that calls them.

Source: seed 001, "AI contexts".
"""

from __future__ import annotations

from collections.abc import Awaitable, Callable
from typing import TYPE_CHECKING, Any, NoReturn

from agentrt.activity.control import Abort, Reject
from agentrt.activity.extras import Extras
from agentrt.activity.states import IMPOSSIBLE, READY, RUNNING, STARTED, THINKING, UNIT_NAMES
from agentrt.activity.utility import DECIMALS
from agentrt.errors import WrongStateError
from agentrt.kernel.signals import Connection, Signal
from agentrt.kernel.trace import Event
from agentrt.kernel.traps import Waiter, next_tick, sleep_ticks, suspend_on

if TYPE_CHECKING:
    from agentrt.activity.current import Current
    from agentrt.activity.unit import Unit
    from agentrt.kernel.clock import Clock
    from agentrt.kernel.rng import Stream

__all__ = ["Context"]


class Context:
    """What every hook of an action gets as its first argument."""

    __slots__ = ("_unit",)

    def __init__(self, unit: Unit) -> None:
        self._unit = unit

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
    def clock(self) -> Clock:
        """The clock of the runtime."""
        return self._unit.frame.planner.kernel.clock

    @property
    def random(self) -> Stream:
        """The agent's own stream of random numbers."""
        return self._unit.frame.planner.random

    @property
    def path(self) -> str:
        """The action's place in the plan."""
        return self._unit.path()

    @property
    def CURRENT(self) -> Current:  # noqa: N802 - the seed's name for it
        """The state that the entity is expected to have when the action runs; what is written here is what the steps
        after it will see.
        """  # noqa: D205
        return self._unit.own_current()

    @property
    def debug_info(self) -> dict[str, Any]:
        """The author's own debugging data about this action, shown by the inspector."""
        return self._extras().debug

    def _extras(self) -> Extras:
        return self._unit.own_extras()

    # --- thinking -----------------------------------------------------------------------------------------------------

    def set_think_output(self, **fields: Any) -> None:
        """The action is ready; again while it is ready: its output changed.

        Args:
            fields: the fields of the declared ``Output``; without any, the output is the action's arguments.

        Raises:
            WrongStateError: the action does not think.
            ArgumentError: the fields do not fit the declaration.

        Source: seed 001, `set_think_output`.
        """
        unit = self._unit
        state = unit.state
        if state != THINKING and state != READY:
            if state == IMPOSSIBLE:
                return  # it was rejected or lost an entity in the same moment
            raise WrongStateError(
                "set_think_output",
                f"the action is {UNIT_NAMES[state]}",
                "Call it in 'think', before the action is run.",
            )
        spec = unit.spec
        if spec.output_type is None:
            unit.set_output(unit.frame.args if not fields else unit.frame.planner.undeclared(unit, fields))
        else:
            unit.set_output(spec.output_type.build(spec.output_label, fields))

    def clear_think_output(self) -> None:
        """The action is not ready any more; it goes on thinking. Does nothing if it was not ready.

        Raises:
            WrongStateError: the action does not think.

        Source: seed 001, `clear_think_output`.
        """
        state = self._unit.state
        if state >= STARTED:
            raise WrongStateError(
                "clear_think_output", f"the action is {UNIT_NAMES[state]}", "Call ctx.abort(reason) if it cannot go on."
            )
        self._unit.clear_output()

    def set_utility(self, utility: float) -> None:
        """Place the utility within the declared range.

        Args:
            utility: from 0 (the low end of the range) to 1 (the high end).

        Raises:
            WrongStateError: the action declares one number and not a range.
            ValueError: it is not a number from 0 to 1.

        Source: seed 001, `set_utility`.
        """
        unit = self._unit
        spec = unit.spec
        if not spec.is_range:
            raise WrongStateError(
                "set_utility",
                f"{spec.subject} declares the fixed utility {spec.low:g}",
                "Declare a range: utility = (low, high).",
            )
        if not 0.0 <= utility <= 1.0:
            raise ValueError(
                f"set_utility({utility!r}): it takes a number from 0 to 1, which is placed within the range"
            )
        unit.set_utility(utility if spec.span == 1.0 else round(spec.low + utility * spec.span, DECIMALS))

    def reject(self, reason: str) -> NoReturn:
        """The arguments are not valid any more; the compound around it will think again and may choose others.

        In ``start`` it refuses to be started, and the next best action takes its place.

        Args:
            reason: why, in words.

        Raises:
            Reject: always; let it pass.

        Source: seed 001, `reject`.
        """
        raise Reject(reason)

    # --- running ------------------------------------------------------------------------------------------------------

    def abort(self, reason: str) -> NoReturn:
        """The action cannot go on: unwind the whole plan and plan again.

        Args:
            reason: why, in words; shown in the trace and in errors.

        Raises:
            Abort: always; let it pass.

        Source: seed 001, `abort`.
        """
        raise Abort(reason)

    async def execute(self, activity: str, **args: Any) -> Any:
        """Think and run an activity from within ``run``.

        Args:
            activity: what to perform.
            args: its arguments.

        Returns:
            The think output of the action that performed it.

        Raises:
            WrongStateError: the action does not run.
            ActivityImpossibleError: no action can perform it now.
            ArgumentError: the arguments do not fit.

        Source: seed 001, `execute`.
        """
        self._running("execute")
        return await self._unit.frame.planner.execute(self._unit, activity, args)

    async def suspend(self) -> Any:
        """Wait until ``resume`` is called, from a callback, say.

        Returns:
            What ``resume`` was given.

        Raises:
            WrongStateError: the action does not run.

        Source: seed 001, `suspend`.
        """
        self._running("suspend")
        extras = self._extras()
        extras.suspension = waiter = Waiter()
        try:
            return await suspend_on(waiter)
        finally:
            extras.suspension = None

    def resume(self, value: Any = None) -> None:
        """End the wait of ``suspend``.

        Args:
            value: what ``suspend`` returns.

        Raises:
            WrongStateError: the action is not suspended.

        Source: seed 001, `resume`.
        """
        extras = self._unit.extras
        if extras is None or extras.suspension is None or not extras.suspension.notify(value):
            raise WrongStateError("resume", "the action is not suspended", "Call it once after 'await ctx.suspend()'.")

    def _running(self, method: str) -> None:
        if self._unit.state != RUNNING:
            raise WrongStateError(
                method, f"the action is {UNIT_NAMES[self._unit.state]}", "It works only in 'run'; use a step otherwise."
            )

    def sleep(self, seconds: float) -> Awaitable[None]:
        """Wait for a duration of game time.

        Args:
            seconds: game seconds; anything above 0 waits for at least one tick.
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

    # --- watching -----------------------------------------------------------------------------------------------------

    def listen(self, signal: Signal, callback: Callable[[Any], object]) -> Connection:
        """Call a function whenever a signal is emitted; ends by itself when thinking stops, or the action does.

        Args:
            signal: what to listen to.
            callback: called with the signal's value. What it raises concerns this action alone.

        Returns:
            The connection, to close it earlier.
        """
        unit = self._unit

        def guarded(value: Any) -> None:
            try:
                callback(value)
            except Reject as rejection:
                unit.reject(rejection.reason)
            except Abort as abort:
                unit.frame.execution.abort(abort.reason, unit)
            except Exception as error:
                unit.callback_raised(error)

        connection = signal.connect(guarded)
        self._extras().keep(connection, is_thinking=unit.state in (THINKING, READY))
        return connection

    def protect_argument(self, entity: Any) -> None:
        """If the entity is destroyed while the action thinks, its thinking ends. Arguments are protected anyway.

        Args:
            entity: something with a ``destroyed`` signal.

        Source: seed 001, `protect_argument`.
        """
        self._extras().protect(self._unit, entity)

    def unprotect_argument(self, entity: Any) -> None:
        """Undo the protection of an entity, argument or not.

        Args:
            entity: the entity.

        Source: seed 001, `unprotect_argument`.
        """
        self._extras().unprotect(entity)

    # --- for people ---------------------------------------------------------------------------------------------------

    def set_status_text_key(self, key: str, **args: Any) -> None:
        """Say what the agent does, for its players.

        Args:
            key: a key of the game's texts.
            args: what the text is filled with.

        Source: seed 001, `set_status_text_key`.
        """
        self._extras().status = (key, args)
        if self._unit.frame.planner.trace.on:
            self._unit.note(Event.STATUS, key=key)

    def set_debug_progress(self, text: str) -> None:
        """Say what the action is about, for debugging tools.

        Args:
            text: a few words.

        Source: seed 001, `set_debug_progress`.
        """
        self._extras().progress = text
        if self._unit.frame.planner.trace.on:
            self._unit.note(Event.PROGRESS, text=text)

    def get_log(self) -> Any:
        """A logger bound to the agent and the action's place in the plan.

        Source: seed 001, `get_log`.
        """
        return self._unit.frame.planner.agent.logger(self._unit.path())

    def __repr__(self) -> str:
        return f"<Context of {self._unit!r}>"
