"""The context: how an action talks to the planner. One for each thinking and the run that follows it.

Two kinds of methods: those that note something for the planner to look at (``set_think_output``, ``set_utility``),
and those that wait (``execute``, ``suspend``), which are awaited by the ``run`` of the action and by nobody else.
``abort`` and ``reject`` end the hook that calls them, in every state; what comes of that depends on the hook. Called by
anybody else than the action they return, and the action is told (the module ``control``).

A context is a *handle*. Callbacks keep it, and may call when the thinking or the run that it was for is over; perhaps
the same action thinks again already, by a context of its own. What comes through the old one is *late*: ignored, and
the trace says so. It is over when thinking stops without a start, or when ``stop`` has returned.

What a method does depends on the state of the action. A call that its author cannot have meant is a ``WrongStateError``
(E). A call that comes at a moment in which it means nothing, from a callback say, is ignored (-), and the trace says
so. Everything else works (+)::

                                idle  thinking  ready  impossible  started  running  finished  over
    set_think_output             -       +        +        -          E        E        -       late
    candidates                   -       +        +        -          E        E        -       late
    clear_think_output           -       +        +        -          E        E        -       late
    set_utility                  -       +        +        -          +        +        -       late
    spawn                        E       +        +        E          +        +        E        E
    execute                      E       E        E        E          E        +        E        E
    suspend                      E       E        E        E          E        +        E        E
    resume                       -       -        -        -          +        +        -       late
    listen                       E       +        +        E          +        +        E       late
    call_later                   E       +        +        E          +        +        E       late
    protect_argument             -       +        +        -          +        E        -       late
    unprotect_argument           -       +        +        -          +        +        -       late
    set_status_text_key          -       +        +        -          +        +        -       late
    set_debug_progress           +       +        +        +          +        +        +       late
    reject, abort                -       +        +        -          +        +        +       late

The last row is for calls of others; on the action's own stack they raise. *idle* is an action before its thinking
begins (``should_start_thinking``), and while ``stop``, or ``stop_thinking`` of a loser, is called; *impossible* one in
whose ``stop_thinking`` after a rejection it is called, or ``stop`` after a refusal. The error is raised on the action's
own stack; for others a call that has become wrong since they were told to make it is late, too. The rest of the
context, in the module ``surroundings``, works in every state, and ``CURRENT`` of one that is over is nobody's.

Who may call what, and what it does to the caller and to the action:

======================= ============== ================ =================== ================
call                    own stack      anybody else in  another thread      through one that
                                       the same thread                      is over
======================= ============== ================ =================== ================
abort, reject           raises         returns; the     returns; the next   late
                                       action is told   intake tells it
what is noted           at once        at once          by the next intake  late
listen, call_later,     at once        at once          WrongStateError     late; of spawn a
spawn                                                                       WrongStateError
execute, suspend        waits          WrongStateError  WrongStateError     WrongStateError
sleep, next_tick, work, whoever awaits it waits; the action is not concerned
call
======================= ============== ================ =================== ================

Of contexts that nobody has kept one is enough: making one costs more than a call of it (``Unit.retire``).

Source: seed 001, "AI contexts".
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from functools import partial
from typing import TYPE_CHECKING, Any, Final, NoReturn

from agentrt.activity.candidates import offer
from agentrt.activity.control import Abort, Flow, Reject, is_on_own_stack, require_own_stack
from agentrt.activity.extras import Alarm, Listener
from agentrt.activity.states import FINISHED, IDLE, IMPOSSIBLE, READY, RUNNING, STARTED, THINKING, UNIT_NAMES
from agentrt.activity.surroundings import Surroundings, ignored, late
from agentrt.activity.utility import DECIMALS
from agentrt.errors import ENDS_PROGRAM, WrongStateError
from agentrt.kernel.signals import Signal
from agentrt.kernel.traps import at_once, suspend_on
from agentrt.words import repr_of

if TYPE_CHECKING:
    from agentrt.activity.spawning import SpawnedFrame
    from agentrt.activity.unit import Unit

__all__ = ["Context"]

_ABSENT: Final = (IDLE, IMPOSSIBLE, FINISHED)  # it is not considered, or done: what it says concerns nobody
_GIVEN: Final = "Each thinking, with its run, has a context of its own: use the one that the hook was called with."


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
        if not is_on_own_stack(unit):
            late(unit, method)
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
        if unit.context is not self:
            self._late("set_think_output")
            return
        state = unit.state
        if state != THINKING and state != READY:
            if not self._elsewhere("set_think_output", **fields):
                self._thinks("set_think_output")
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
            Reject: there is no choice at all, on the action's own stack; let it pass.
            WrongStateError: the action does not think.
            ArgumentError: the fields do not fit the declaration.

        Source: seed 001, `reject`; the offer of several is ours.
        """
        if self._unit.context is not self:
            self._late("candidates")
        elif (
            not self._elsewhere("candidates", choices) and self._thinks("candidates") and not offer(self._unit, choices)
        ):
            self._ask_for(Reject("there is no candidate", self._tell))

    def clear_think_output(self) -> None:
        """The action is not ready any more; it goes on thinking. Does nothing if it was not ready.

        Raises:
            WrongStateError: the action does not think.

        Source: seed 001, `clear_think_output`.
        """
        unit = self._unit
        if unit.context is not self:
            self._late("clear_think_output")
        elif not self._elsewhere("clear_think_output") and self._thinks(
            "clear_think_output", "Call ctx.abort(reason) if it cannot go on."
        ):
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
                f"set_utility({repr_of(utility)}): it takes a number from 0 to 1, which is placed within the range"
            )
        if unit.context is not self:
            self._late("set_utility")
            return
        state = unit.state
        if state != THINKING:
            if self._elsewhere("set_utility", utility):
                return
            if state in _ABSENT:
                ignored(unit, "set_utility")
                return
        unit.set_utility(utility if spec.span == 1.0 else round(spec.low + utility * spec.span, DECIMALS))

    def reject(self, reason: str) -> NoReturn:
        """The arguments are not valid any more; the compound around it will think again and may choose others.

        In ``start`` it refuses to be started, and the next best action takes its place. For an action that was started
        it is too late to choose again: its plan is aborted.

        Args:
            reason: why, in words.

        Raises:
            Reject: the action itself calls it, in a hook; let it pass. For anybody else, in any thread, it returns.

        Source: seed 001, `reject`.
        """
        self._ask_for(Reject(reason, self._tell))

    # --- running ------------------------------------------------------------------------------------------------------

    def abort(self, reason: str) -> NoReturn:
        """The action cannot go on: unwind the whole plan and plan again.

        Args:
            reason: why, in words; shown in the trace and in errors.

        Raises:
            Abort: the action itself calls it, in a hook; let it pass. For anybody else, in any thread, it returns, and
                the plan is aborted in the same tick, or by the next intake if nothing is stepped at the moment.

        Source: seed 001, `abort`.
        """
        self._ask_for(Abort(reason, self._tell))

    # What type checkers are told is what holds in the action's own code. Else each "if path is None: ctx.abort(...)"
    # would leave the path an Optional there, for the sake of callbacks, of which the call is the last line anyway.
    def _ask_for(self, flow: Flow) -> NoReturn:  # type: ignore[misc]  # pyright: ignore[reportReturnType]
        """End the code that called, if that is the action's own; else have the action told."""
        unit = self._unit
        if unit.context is not self:
            self._late(flow.method)
        elif is_on_own_stack(unit):
            raise flow
        else:
            self._tell(flow)

    def _tell(self, flow: Flow) -> None:
        """Have the action do what control flow asks for, when the ready queue comes to that. From any thread.

        Args:
            flow: what was asked for through this context.
        """
        planner = self._unit.frame.planner
        if planner.kernel.is_stepping:
            planner.kernel.call_soon(self._hear, flow)
        else:
            planner.agent.post(self._hear, flow)

    def _hear(self, flow: Flow) -> None:
        """It is the action's turn to hear of it."""
        unit = self._unit
        if unit.context is not self:
            late(unit, flow.method)
        elif unit.state == IDLE or unit.state == IMPOSSIBLE:
            ignored(unit, flow.method)
        elif unit.state >= STARTED and unit.frame.execution.is_unwinding(unit.frame):
            late(unit, flow.method)  # it is on its way out already
        else:
            self._obey(flow)

    def _obey(self, flow: Flow) -> None:
        unit = self._unit
        if isinstance(flow, Reject) and unit.state < STARTED:
            unit.reject(flow.reason)
        elif isinstance(flow, Reject):
            unit.frame.execution.abort(f"it rejected while it was {UNIT_NAMES[unit.state]}: {flow.reason}", unit)
        else:
            unit.frame.execution.abort(flow.reason, unit)

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
        await at_once(is_dear=True)
        self._running("execute")
        unit = self._unit
        return await unit.frame.planner.spawn(unit, activity, {**(args or {}), **more}, self).execute()

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
        self._require_present("spawn")
        given: object = activity
        if not isinstance(given, str):
            raise TypeError(f"ctx.spawn({repr_of(activity)}): it takes an activity such as 'demo:paint'")
        unit = self._unit
        return unit.frame.planner.spawn(unit, activity, {**(args or {}), **more}, self)

    async def suspend(self) -> Any:
        """Wait until ``resume`` is called, from a callback, say. If it was called before, return at once.

        Returns:
            What ``resume`` was given.

        Raises:
            WrongStateError: the action does not run, or is suspended.

        Source: seed 001, `suspend`.
        """
        await at_once()  # before anything is looked at: it may be resumed already, or raise
        self._running("suspend")
        extras = self._extras()
        if extras.suspension is not None:
            raise WrongStateError("suspend", "the action is suspended", "Resume it before it waits for something else.")
        require_own_stack(self._unit, "suspend")
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
        if unit.context is not self:
            self._late("resume")
            return
        if self._elsewhere("resume", value):
            return
        if unit.state not in (STARTED, RUNNING) or not self._extras().resume(value):
            ignored(unit, "resume")

    def _require_present(self, method: str) -> None:
        """What gives something back is an error for its caller where it could not be true."""
        unit = self._unit
        if unit.context is not self:
            raise WrongStateError(method, "the thinking or run that this context is for is over", _GIVEN)
        if not unit.frame.planner.kernel.is_here:
            raise WrongStateError(method, "another thread steps the action", "Post what calls it: runtime.post(fn).")
        if unit.state in _ABSENT:
            raise _wrong(unit, method, "Call it in 'think', 'start' or 'run'.")

    def _running(self, method: str) -> None:
        unit = self._unit
        if unit.context is not self:
            raise WrongStateError(method, "the run that this context is for is over", _GIVEN)
        if unit.state != RUNNING:
            raise _wrong(unit, method, "It works only in 'run'; use a step otherwise.")

    # --- watching -----------------------------------------------------------------------------------------------------

    def listen(self, signal: Signal, callback: Callable[[Any], object]) -> Listener:
        """Call a function whenever a signal is emitted; ends by itself when thinking stops, or the action does.

        While it is open, a ``think`` that has returned may still be answered for: the action goes on thinking.

        Args:
            signal: what to listen to.
            callback: called with the signal's value. What it raises concerns this action alone.

        Returns:
            The connection, to close it earlier. Through a context that is over nothing is connected.

        Raises:
            WrongStateError: the action neither thinks nor runs, so that nothing would end it.
        """
        listener = Listener(signal, partial(self._call_back, callback), self._unit)
        if self._opens("listen", listener):
            signal.add(listener)
        return listener

    def call_later(self, seconds: float, callback: Callable[[], object]) -> Alarm:
        """Call a function once, after a duration of game time; ends by itself when thinking stops, or the action does.

        While it is open, a ``think`` that has returned may still be answered for: the action goes on thinking.

        Args:
            seconds: game seconds; it is called in the next tick at the earliest.
            callback: called without arguments. What it raises concerns this action alone.

        Returns:
            The timer, to close it earlier. Through a context that is over nothing is called.

        Raises:
            WrongStateError: the action neither thinks nor runs, so that nothing would end it.
            ValueError: the duration is not a number.
        """
        ticks = self._unit.frame.planner.kernel.clock.ticks(seconds)
        alarm = Alarm(self._unit, partial(self._call_back, callback))
        if self._opens("call_later", alarm):
            alarm.set(max(1, ticks))
        return alarm

    def _opens(self, method: str, opened: Listener | Alarm) -> bool:
        unit = self._unit
        if unit.context is not self:
            self._late(method)
            return False
        self._require_present(method)
        self._extras().keep(opened, is_thinking=unit.state in (THINKING, READY))
        return True

    def _call_back(self, callback: Callable[..., object], *args: Any) -> None:
        unit = self._unit
        kernel = unit.frame.planner.kernel
        outer, kernel.acting = kernel.acting, unit
        try:
            try:
                callback(*args)
            finally:
                kernel.acting = outer
        except Flow as flow:
            self._hear(flow)
        except ENDS_PROGRAM:
            raise
        except BaseException as error:
            unit.callback_raised(error)

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
        if self._unit.context is not self:
            self._late("protect_argument")
            return
        if self._elsewhere("protect_argument", entity):
            return
        if self._unit.state in _ABSENT:
            ignored(self._unit, "protect_argument")
            return
        if self._unit.state == RUNNING:
            if not is_on_own_stack(self._unit):
                late(self._unit, "protect_argument")
                return
            raise _wrong(self._unit, "protect_argument", "Listen to the entity's signal 'destroyed' instead.")
        self._extras().protect(self._unit, entity)

    def unprotect_argument(self, entity: Any) -> None:
        """Undo the protection of an entity, argument or not.

        Args:
            entity: the entity, or what else ``protect_argument`` takes.

        Source: seed 001, `unprotect_argument`.
        """
        if self._unit.context is not self:
            self._late("unprotect_argument")
            return
        if self._elsewhere("unprotect_argument", entity):
            return
        if self._unit.state in _ABSENT:
            ignored(self._unit, "unprotect_argument")
            return
        self._extras().unprotect(self._unit, entity)

    def __repr__(self) -> str:
        return f"<Context of {self._unit!r}>"
