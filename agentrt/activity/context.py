"""The context: how an action talks to the planner. One for each unit; it holds nothing of its own.

Two kinds of methods: those that note something for the planner to look at (``set_think_output``, ``set_utility``),
and those that wait (``execute``, ``suspend``), which are awaited. ``abort`` and ``reject`` end the hook that calls
them, in every state; what comes of that depends on the hook.

What a method does depends on the state of the action. A call that its author cannot have meant is a ``WrongStateError``
(E). A call that comes too late, from a callback say, because the action lost its place in the same moment or before, is
ignored (-), and the trace says so. Everything else works (+)::

                                idle  thinking  ready  impossible  started  running  finished
    set_think_output             -       +        +        -          E        E        -
    candidates                   -       +        +        -          E        E        -
    clear_think_output           -       +        +        -          E        E        -
    set_utility                  -       +        +        -          +        +        -
    spawn                        E       +        +        E          +        +        E
    execute                      E       E        E        E          E        +        E
    suspend                      E       E        E        E          E        +        E
    resume                       -       -        -        -          +        +        -
    listen                       E       +        +        E          +        +        E
    protect_argument             -       +        +        -          +        E        -
    unprotect_argument           -       +        +        -          +        +        -
    set_status_text_key          -       +        +        -          +        +        -

*idle* is an action before its thinking begins (``should_start_thinking``) and after it was stopped (``stop``, and
``stop_thinking`` of a loser). The rest of the context, in the module ``surroundings``, works in every state.

Source: seed 001, "AI contexts".
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from typing import TYPE_CHECKING, Any, Final, NoReturn

from agentrt.activity import candidates
from agentrt.activity.control import Abort, Reject
from agentrt.activity.states import FINISHED, IDLE, IMPOSSIBLE, READY, RUNNING, STARTED, THINKING, UNIT_NAMES
from agentrt.activity.surroundings import Surroundings, ignored
from agentrt.activity.utility import DECIMALS
from agentrt.errors import WrongStateError
from agentrt.kernel.signals import Connection, Signal
from agentrt.kernel.traps import suspend_on

if TYPE_CHECKING:
    from agentrt.activity.spawning import SpawnedFrame
    from agentrt.activity.unit import Unit

__all__ = ["Context"]

_ABSENT: Final = (IDLE, IMPOSSIBLE, FINISHED)  # it is not considered, or done: what it says concerns nobody


def _wrong(unit: Unit, method: str, remedy: str) -> WrongStateError:
    return WrongStateError(method, f"the action is {UNIT_NAMES[unit.state]}", remedy)


class Context(Surroundings):
    """What every hook of an action gets as its first argument."""

    __slots__ = ()

    def _thinks(self, method: str, remedy: str = "Call it in 'think', before the action is run.") -> bool:
        """Whether the action thinks; if not, the call is ignored or an error."""
        unit = self._unit
        state = unit.state
        if state == THINKING or state == READY:
            return True
        if state in _ABSENT:
            ignored(unit, method)
            return False
        raise _wrong(unit, method, remedy)

    # --- thinking -----------------------------------------------------------------------------------------------------

    def set_think_output(self, /, **fields: Any) -> None:
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
        if state != THINKING and state != READY and not self._thinks("set_think_output"):
            return
        if unit.extras is not None:
            unit.extras.candidates = None
            unit.extras.cuts = 0
        spec = unit.spec
        if spec.output_type is None:
            unit.set_output(unit.frame.args if not fields else unit.frame.planner.undeclared(unit, fields))
        else:
            unit.set_output(spec.output_type.build(spec.output_label, fields))

    def candidates(self, choices: Iterable[Mapping[str, Any]]) -> None:
        """The action is ready with the first of several choices; each rejection of what was made of it offers the next.

        When the steps after it reject what they were given, the next choice takes the place at once, and only they
        think again. When no choice is left, the action itself rejects. ``set_think_output`` and ``clear_think_output``
        forget the choices.

        Args:
            choices: for each choice the fields of the declared ``Output``; an iterator is advanced only when another
                choice is needed, by the planner.

        Raises:
            Reject: there is no choice at all; let it pass.
            WrongStateError: the action does not think.
            ArgumentError: the fields do not fit the declaration.

        Source: seed 001, `reject`; the offer of several is ours.
        """
        if self._thinks("candidates"):
            candidates.offer(self._unit, choices)

    def clear_think_output(self) -> None:
        """The action is not ready any more; it goes on thinking. Does nothing if it was not ready.

        Raises:
            WrongStateError: the action does not think.

        Source: seed 001, `clear_think_output`.
        """
        if self._thinks("clear_think_output", "Call ctx.abort(reason) if it cannot go on."):
            unit = self._unit
            if unit.extras is not None:
                unit.extras.candidates = None
            unit.clear_output()

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
        state = unit.state
        if state != THINKING and state in _ABSENT:
            ignored(unit, "set_utility")
            return
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

    async def execute(self, activity: str, args: Mapping[str, Any] | None = None, /, **more: Any) -> Any:
        """Think and run an activity from within ``run``.

        Args:
            activity: what to perform.
            args: its arguments.
            more: its arguments, by name.

        Returns:
            The think output of the action that performed it.

        Raises:
            WrongStateError: the action does not run, or executes something at this moment.
            ActivityImpossibleError: no action can perform it now.
            ActivityAbortedError: it is awaited behind a shield, while the action is unwound.
            ArgumentError: the arguments do not fit.

        Source: seed 001, `execute`.
        """
        self._running("execute")
        unit = self._unit
        return await unit.frame.planner.spawn(unit, activity, {**(args or {}), **more}).execute()

    def spawn(self, activity: str, args: Mapping[str, Any] | None = None, /, **more: Any) -> SpawnedFrame:
        """Make an execution frame of one's own: it thinks and runs an activity when it is told to.

        Args:
            activity: what to perform.
            args: its arguments.
            more: its arguments, by name.

        Returns:
            The frame; it does nothing before ``start_thinking`` is called. Whatever is left of it is stopped with the
            action.

        Raises:
            WrongStateError: the action neither thinks nor runs.

        Source: seed 001, `spawn`.
        """
        if self._unit.state in _ABSENT:
            raise _wrong(self._unit, "spawn", "Call it in 'think', 'start' or 'run'.")
        given: object = activity
        if not isinstance(given, str):
            raise TypeError(f"ctx.spawn({activity!r}): it takes an activity such as 'demo:paint'")
        unit = self._unit
        return unit.frame.planner.spawn(unit, activity, {**(args or {}), **more})

    async def suspend(self) -> Any:
        """Wait until ``resume`` is called, from a callback, say. If it was called before, return at once.

        Returns:
            What ``resume`` was given.

        Raises:
            WrongStateError: the action does not run, or is suspended.

        Source: seed 001, `suspend`.
        """
        self._running("suspend")
        extras = self._extras()
        if extras.suspension is not None:
            raise WrongStateError("suspend", "the action is suspended", "Resume it before it waits for something else.")
        if extras.resumption is not None:
            (value,), extras.resumption = extras.resumption, None
            return value
        waiter = extras.suspend()
        try:
            return await suspend_on(waiter)
        finally:
            extras.unsuspend(waiter)

    def resume(self, value: Any = None) -> None:
        """End the wait of ``suspend``. One resume for one wait: if nobody waits yet, the next wait returns at once.

        The resume of a wait that was given up (its scope was cancelled, say), a second one while one is kept for the
        next wait, and one that comes when the action does not run any more are ignored.

        Args:
            value: what ``suspend`` returns.

        Source: seed 001, `resume`.
        """
        unit = self._unit
        if unit.state not in (STARTED, RUNNING) or not self._extras().resume(value):
            ignored(unit, "resume")

    def _running(self, method: str) -> None:
        if self._unit.state != RUNNING:
            raise _wrong(self._unit, method, "It works only in 'run'; use a step otherwise.")

    # --- watching -----------------------------------------------------------------------------------------------------

    def listen(self, signal: Signal, callback: Callable[[Any], object]) -> Connection:
        """Call a function whenever a signal is emitted; ends by itself when thinking stops, or the action does.

        Args:
            signal: what to listen to.
            callback: called with the signal's value. What it raises concerns this action alone.

        Returns:
            The connection, to close it earlier.

        Raises:
            WrongStateError: the action neither thinks nor runs, so that nothing would end it.
        """
        unit = self._unit
        if unit.state in _ABSENT:
            raise _wrong(unit, "listen", "Call it in 'think', 'start' or 'run'.")

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

        If it is destroyed already, that is so at once: the action has rejected its arguments, and what it says after
        this call is too late. In ``start`` the plan is aborted.

        Args:
            entity: something with a ``destroyed`` signal; or a list, tuple, set, dict or dataclass that holds some; or
                the name of an argument that is or holds some. Anything else needs no protection.

        Raises:
            WrongStateError: the action runs; nothing is protected from then on.

        Source: seed 001, `protect_argument`.
        """
        if self._unit.state in _ABSENT:
            ignored(self._unit, "protect_argument")
            return
        if self._unit.state == RUNNING:
            raise _wrong(self._unit, "protect_argument", "Listen to the entity's signal 'destroyed' instead.")
        self._extras().protect(self._unit, entity)

    def unprotect_argument(self, entity: Any) -> None:
        """Undo the protection of an entity, argument or not.

        Args:
            entity: the entity, or what else ``protect_argument`` takes.

        Source: seed 001, `unprotect_argument`.
        """
        if self._unit.state in _ABSENT:
            ignored(self._unit, "unprotect_argument")
            return
        self._extras().unprotect(self._unit, entity)

    def __repr__(self) -> str:
        return f"<Context of {self._unit!r}>"
