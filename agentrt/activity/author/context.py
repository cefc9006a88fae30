"""The context: how an action talks to the planner. One for each thinking and the run that follows it.

Two kinds of methods: those that note something for the planner to look at (``set_think_output``, ``set_utility``),
and those that wait (``execute``, ``suspend``), which are awaited by the ``run`` of the action and by nobody else.
``abort`` and ``reject`` end the hook that calls them, in every state; what comes of that depends on the hook. Called by
anybody else than the action they return, and the action is told (the module ``control``). The rest tells what is found
around the action: who acts, where in the plan, what time it is.

It works over a *seat* (the module of that name) and holds nothing but what a seat is asked for.

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
own stack; for others a call that has become wrong since they were told to make it is late, too. What is not in the
table works in every state, and ``CURRENT`` of a context that is over is nobody's.

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
call, first, all
======================= ============== ================ =================== ================

Of contexts that nobody has kept one is enough: making one costs more than a call of it. So who makes them uses one
again when thinking ends, if nothing else refers to it (``Unit.retire``).

Source: Stonehearth, AI: "AI contexts".
"""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Coroutine, Iterable, Iterator, Mapping
from functools import partial
from operator import attrgetter
from typing import TYPE_CHECKING, Any, Final, Generic, NoReturn, overload

from agentrt.activity.author.answering import AnsweringContext
from agentrt.activity.author.arguments import Activity, asked
from agentrt.activity.author.control import (
    Abort,
    Flow,
    Reject,
    called_by,
    ends_thinking,
    is_on_own_stack,
    require_own_stack,
)
from agentrt.activity.author.seat import Node, Suspension
from agentrt.activity.states import FINISHED, IDLE, IMPOSSIBLE, READY, RUNNING, STARTED, THINKING, UNIT_NAMES
from agentrt.body.driver import O_co, P
from agentrt.body.entity import E_co, NamedSignals
from agentrt.errors import ENDS_PROGRAM, ArgumentError, WrongStateError
from agentrt.kernel.fork import Fork
from agentrt.kernel.signals import Connection, Signal
from agentrt.kernel.trace import TraceEvent
from agentrt.kernel.traps import astray, at_once, next_tick, sleep_ticks
from agentrt.words import repr_of, words_of

if TYPE_CHECKING:
    from agentrt.activity.author.answering import Declared
    from agentrt.activity.author.expected import Current
    from agentrt.activity.author.seat import Progress, Seat, SeatHome, SpawnedFrame
    from agentrt.body.flags import Holder
    from agentrt.kernel.clock import Clock
    from agentrt.kernel.kernel import Timer
    from agentrt.kernel.rng import Stream


def late(seat: Seat, method: str) -> None:
    """A call came through the context of a thinking or a run that is over: it does nothing, and the trace says so."""
    if seat.frame.planner.trace.on:
        seat.note(TraceEvent.LATE, method=method)


def ignored(seat: Seat, method: str) -> None:
    """A call came too late, or too early, to mean anything: it does nothing, and the trace says so."""
    if seat.frame.planner.trace.on:
        seat.note(TraceEvent.IGNORED, method=method, state=UNIT_NAMES[seat.state])


_NO_VALUE: Final = object()  # a timer brings none
_ABSENT: Final = (IDLE, IMPOSSIBLE, FINISHED)  # it is not considered, or done: what it says concerns nobody
_GIVEN: Final = "Each thinking, with its run, has a context of its own: use the one that the hook was called with."


def _wrong(seat: Seat, method: str, remedy: str) -> WrongStateError:
    return WrongStateError(method, f"the action is {UNIT_NAMES[seat.state]}", remedy)


def undeclared(spec: Declared, fields: Mapping[str, Any]) -> NoReturn:
    """An action without a declared output gave one: an ``ArgumentError``."""
    raise ArgumentError(
        spec.activity,
        next(iter(fields)),
        f"is given to set_think_output by {spec.subject}, which declares no Output. "
        f"Add a nested class Output(ThinkOutput) with it.",
    )


# The first choice of ``ctx.candidates`` is the think output; when what was made of a choice is rejected, the next takes
# its place (``compound`` decides whom to ask). The iterator is the author's own code: it is advanced here and nowhere
# else, and only when a choice is needed.


def _give(seat: Seat, choice: object) -> bool:
    """Make a choice the think output of an action; False if what made it lost an entity that the action needs."""
    fields, spec = _checked(choice), seat.spec
    if spec.output_type is not None:
        output: object = spec.output_type.build(spec.output_label, fields)
    else:
        output = seat.frame.args if not fields else undeclared(spec, fields)
    if seat.state != THINKING and seat.state != READY:
        return False
    seat.set_output(output)
    return True


def offer(seat: Seat, choices: Iterable[Mapping[str, Any]]) -> bool:
    """Offer the first of several choices; whether there is one. Called on the author's stack."""
    extras = seat.own_extras()
    extras.candidates = None
    extras.cuts = 0
    iterator = iter(choices)
    for choice in iterator:
        if _give(seat, choice):
            extras.candidates = iterator
        return True
    return False


def offer_next(seat: Seat, iterator: Iterator[Mapping[str, Any]]) -> bool:
    """Offer the next choice, if one is left; whether it is, or the author's code ended the thinking in another way."""
    offered: list[Any] = []

    def advance() -> None:
        for choice in iterator:
            offered.append(choice)
            _give(seat, choice)
            return

    if ends_thinking(seat, "candidates", advance) or offered:
        return True
    seat.own_extras().candidates = None
    return False


def _checked(choice: Any) -> dict[str, Any]:
    if not isinstance(choice, Mapping) and not hasattr(choice, "keys"):
        raise TypeError(
            f"candidates() was given the choice {repr_of(choice)}: each is a mapping of output fields, such as "
            f"{{'item': log}}"
        )
    return {name: choice[name] for name in choice.keys()}  # noqa: SIM118 - a think output is no mapping


class Listener(Connection):
    """A function of an action that is connected to a signal. Closing it twice does nothing."""

    __slots__ = ("_callback", "_context")

    def __init__(self, signal: Signal, callback: Callable[[Any], object], context: Context) -> None:
        self._signal = signal
        self._callback = callback
        self._context = context

    def hear(self, value: object) -> None:
        self._context._call_back(self._callback, value)

    @property
    def function(self) -> Callable[..., object]:
        return self._callback

    def close(self) -> None:
        super().close()
        self._context._seat.own_extras().let_go(self)

    words: tuple[str, str] = "a listener", "listeners"


class Alarm:
    """A function of an action that is called once, later. Closing it after that does nothing."""

    __slots__ = ("_function", "_seat", "_timer")

    words: tuple[str, str] = "a timer", "timers"

    def __init__(self, seat: Seat, function: Callable[[], object]) -> None:
        self._seat = seat
        self._function = function
        self._timer: Timer | None = None

    def set(self, ticks: int) -> None:
        self._timer = self._seat.frame.planner.kernel.call_later(ticks, self._ring)

    def _ring(self) -> None:
        self._timer = None
        self._function()
        self.close()  # after the call: what it answers is not the end of what may still answer

    def close(self) -> None:
        if self._timer is not None:
            self._timer.cancel()
            self._timer = None
        self._seat.own_extras().let_go(self)


class Context(AnsweringContext, Generic[E_co]):
    """What every hook of an action gets as its first argument.

    ``Context[Guest]`` is one of an agent whose entity is a ``Guest``: a type checker knows what ``ctx.entity`` has.
    """

    __slots__ = ()

    def __init__(self, seat: Seat) -> None:
        # The planner's unit is both: that base knows of it what is compiled, and this class what else it does.
        self._seat: Seat = seat  # type: ignore[assignment]  # pyright: ignore[reportIncompatibleVariableOverride]

    if TYPE_CHECKING:

        @property
        def _home(self) -> SeatHome: ...

    else:
        # Looked up, and not kept: an idle agent has a context for each of its thoughts. No frame in Python, as below.
        _home = property(attrgetter("_seat.frame.planner"))

    # --- from where it is called --------------------------------------------------------------------------------------

    def _late(self, method: str) -> None:
        """It belongs to a thinking or a run that is over: the call does nothing, and the trace says so."""
        seat = self._seat
        kernel = self._home.kernel
        if kernel.is_here:
            late(seat, method)
        else:
            kernel.post(late, seat, method)

    def _is_here(self, method: str, /, *args: object, **more: object) -> bool:
        """Whether a call is to be made here and now: it is not late, and no other thread makes it."""
        if self._seat.context is self:
            return not self._elsewhere(method, *args, **more)
        self._late(method)
        return False

    def _concerns(self, method: str) -> bool:
        """Whether the action is considered or runs; if not, what is said to it is ignored."""
        if self._seat.state in _ABSENT:
            ignored(self._seat, method)
            return False
        return True

    # Positional, here and above: an author's own fields may have any name.
    def _elsewhere(self, method: str, /, *args: object, **more: object) -> bool:
        """Whether the caller is another thread; then the call is made by the next intake instead."""
        home = self._home
        if home.kernel.is_here:
            return False
        home.agent.post(self._take_in, method, args, more)
        return True

    def _take_in(self, method: str, args: tuple[Any, ...], more: dict[str, Any]) -> None:
        try:
            getattr(self, method)(*args, **more)
        except ENDS_PROGRAM:
            raise
        except BaseException as error:  # nobody is there any more to whom it could be raised
            self._seat.fault(f"ctx.{method}", error)

    # --- what there is ------------------------------------------------------------------------------------------------

    if TYPE_CHECKING:

        @property
        def entity(self) -> E_co:
            """The entity that acts."""
            ...

    else:
        # every hook reads it, and the frame of a function in Python would be most of what that costs
        entity = property(attrgetter("_seat.frame.planner.entity"), doc="The entity that acts.")

    @property
    def agent(self) -> Any:
        """The agent that the action belongs to."""
        return self._home.agent

    @property
    def holder(self) -> Holder:
        """The action itself, as the ledger of control flags knows it; what acts in its name shares its flags."""
        return self._seat

    @property
    def clock(self) -> Clock:
        """The clock of the runtime."""
        return self._home.kernel.clock

    @property
    def random(self) -> Stream:
        """The agent's own stream of random numbers."""
        return self._home.agent.random

    @property
    def signals(self) -> NamedSignals:
        """The signals of the entity by their names, such as ``await ctx.signals["ready_to_pose"].wait()``."""
        return NamedSignals(self._home.agent.signal)

    @property
    def path(self) -> str:
        """The action's place in the plan."""
        return self._seat.path()

    @property
    def CURRENT(self) -> Current:  # noqa: N802 - the source's name for it
        """The state that the entity is expected to have when the action runs; what is written here is what the steps
        after it will see.
        """  # noqa: D205
        seat = self._seat
        if seat.context is not self:
            self._late("CURRENT")
            return self._home.layer(seat.frame.expected)  # nobody will see what is written there
        return seat.own_current()

    def get_parent_node(self) -> Node:
        """The activity that the action performs, as a node of the plan; its own parent is the action above, and so on.

        Returns:
            A read-only view, true at any moment.

        Source: Stonehearth, AI: `get_parent_node`.
        """
        return Node(self._seat.frame)

    # --- time ---------------------------------------------------------------------------------------------------------

    def sleep(self, seconds: float) -> Awaitable[None]:
        """Wait for a duration of game time.

        Args:
            seconds: game seconds; anything above 0 waits for at least one tick; 0 or less returns at once and lets
                nobody else have a turn.

        Raises:
            NotRunningError: no coroutine of a runtime calls it, but a task that was made outside.
        """
        kernel = self._home.kernel
        if kernel.current is None:
            raise astray()
        return sleep_ticks(kernel.clock.ticks(seconds))

    def sleep_ticks(self, ticks: int) -> Awaitable[None]:
        """Wait for a number of ticks.

        Args:
            ticks: 0 or more.

        Raises:
            NotRunningError: no coroutine of a runtime calls it, but a task that was made outside.
        """
        if self._home.kernel.current is None:
            raise astray()
        return sleep_ticks(ticks)

    def next_tick(self) -> Awaitable[None]:
        """Wait for the next tick.

        Raises:
            NotRunningError: no coroutine of a runtime calls it, but a task that was made outside.
        """
        if self._home.kernel.current is None:
            raise astray()
        return next_tick()

    def work(self, units: int = 1) -> Awaitable[None]:
        """Take units of search work from the think budget before doing the work: ``await ctx.work(len(batch))``.

        Returns at once without a budget, and while this tick's units last and nobody waits; else it waits for the
        agent's part of the ticks that follow. A request that is larger than one tick's budget takes several.

        Args:
            units: how many; candidates looked at, nodes expanded, or whatever the game counts.

        Raises:
            ValueError: the number is negative or not whole.

        Source: Stonehearth, AI: `scheduler_priority`.
        """
        search = self._home.agent.search  # an agent that is in no runtime any more has no limit
        return at_once() if search is None else search.ask(self._home.agent, units)

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
        return await self._home.agent.call(fn, args)

    # --- several things at once ---------------------------------------------------------------------------------------

    def first(self, *waits: Awaitable[Any]) -> Coroutine[Any, Any, tuple[int, Any]]:
        """Wait for several things until one has come: ``which, value = await ctx.first(bell.wait(), ctx.sleep(5))``.

        Each is awaited in a coroutine of its own, which belongs to the action as its ``think`` or ``run`` does. They
        begin in the given order; of those that come by the same thing (a tick, a notification) the earlier one wins.
        The others are cancelled before they take another step, and have ended, with all that they clean up, when this
        returns or raises.

        Args:
            waits: what can be awaited: waits of the kernel, ``ctx.call``, ``ctx.execute``, ``agent.perform``,
                coroutines of yours, other ``ctx.first`` and ``ctx.all``.

        Returns:
            An awaitable for the place of the one that came, from 0, and its value.

        Raises:
            ValueError: there are none, or a coroutine is given twice.
            TypeError: one of them cannot be awaited.
            BaseException: what one of them raised; the others are cancelled. Several errors are an exception group.
        """
        return self._fork("ctx.first", waits).first()

    def all(self, *waits: Awaitable[Any]) -> Coroutine[Any, Any, list[Any]]:
        """Wait for several things until all of them have come: ``bread, water = await ctx.all(bake(), draw())``.

        See ``first``.

        Args:
            waits: what can be awaited.

        Returns:
            An awaitable for their values, in the given order.

        Raises:
            ValueError: there are none, or a coroutine is given twice.
            TypeError: one of them cannot be awaited.
            BaseException: what one of them raised; the others are cancelled. Several errors are an exception group.
        """
        return self._fork("ctx.all", waits).all()

    def _fork(self, method: str, waits: tuple[Awaitable[Any], ...]) -> Fork:
        return Fork(self._home.kernel, method, waits)

    # --- for people ---------------------------------------------------------------------------------------------------

    def set_status_text_key(self, key: str, **args: Any) -> None:
        """Say what the agent does, for its players.

        Args:
            key: a key of the game's texts.
            args: what the text is filled with.

        Source: Stonehearth, AI: `set_status_text_key`.
        """
        if self._is_here("set_status_text_key", key, **args) and self._concerns("set_status_text_key"):
            key = words_of(key)
            self._seat.own_extras().status = (key, args)
            if self._home.trace.on:
                self._seat.note(TraceEvent.STATUS, key=key)

    def set_debug_progress(self, text: str | Progress) -> None:
        """Say what the action is about, for debugging tools.

        Args:
            text: a few words; or what is asked for them whenever somebody looks.

        Source: Stonehearth, AI: `set_debug_progress`.
        """
        if self._is_here("set_debug_progress", text):
            is_live = hasattr(text, "words")
            self._seat.own_extras().progress = told = text if is_live else words_of(text)
            if self._home.trace.on and not is_live:  # of that other records tell
                self._seat.note(TraceEvent.PROGRESS, text=told)

    def get_debug_info_datastore(self) -> dict[str, Any]:
        """The author's own debugging data about this action: a dict that lasts as long as the action's instance.

        Source: Stonehearth, AI: `get_debug_info_datastore`.
        """
        return self._seat.own_extras().debug

    def get_log(self) -> Any:
        """A logger of structlog, made on demand and bound to the entity, the agent and the action's debug route.

        Every event of it carries ``entity`` (its name), ``agent``, ``path`` (the place in the plan) and ``tick``. What
        is below ``agent.log_level``, or else ``runtime.log_level``, goes nowhere.

        Source: Stonehearth, AI: `get_log`.
        """
        entity = self._home.entity
        log = self._home.agent.logger(self._seat.path())
        return log.bind(entity=str(getattr(entity, "name", None) or type(entity).__name__.lower()))

    def _thinks(self, method: str, remedy: str = "Call it in 'think', before the action is run.") -> bool:
        """Whether the action thinks; if not, the call is ignored or an error."""
        seat = self._seat
        if seat.state == THINKING or seat.state == READY:
            return True
        if self._concerns(method):
            if is_on_own_stack(seat):
                raise _wrong(seat, method, remedy)
            late(seat, method)
        return False

    # --- thinking -----------------------------------------------------------------------------------------------------

    def _give(self, fields: dict[str, Any]) -> None:
        seat = self._seat
        if seat.context is not self:
            self._late("set_think_output")
            return
        state = seat.state
        if state != THINKING and state != READY:
            if not self._elsewhere("set_think_output", **fields):
                self._thinks("set_think_output")
            return
        extras = seat.extras
        if extras is not None:
            extras.candidates = None
            extras.cuts = 0
        spec = seat.spec
        if spec.output_type is not None:
            output: object = spec.output_type.build(spec.output_label, fields)
        else:
            output = seat.frame.args if not fields else undeclared(spec, fields)
        if not self._elsewhere("set_think_output", **fields):
            seat.set_output(output)

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

        Source: Stonehearth, AI: `reject`; the offer of several is ours.
        """
        if self._is_here("candidates", choices) and self._thinks("candidates") and not offer(self._seat, choices):
            self._ask_for(Reject("there is no candidate", self._tell))

    def clear_think_output(self) -> None:
        """The action is not ready any more; it goes on thinking. Does nothing if it was not ready.

        Raises:
            WrongStateError: the action does not think.

        Source: Stonehearth, AI: `clear_think_output`.
        """
        seat, method = self._seat, "clear_think_output"
        if self._is_here(method) and self._thinks(method, "Call ctx.abort(reason) if it cannot go on."):
            if seat.extras is not None:
                seat.extras.candidates = None
            seat.clear_output()

    def _refuse_utility(self, utility: float) -> NoReturn:
        spec = self._seat.spec
        if not spec.is_range:
            raise WrongStateError(
                "set_utility",
                f"{spec.subject} declares the fixed utility {spec.low:g}",
                "Declare a range: utility = (low, high).",
            )
        raise ValueError(
            f"set_utility({repr_of(utility)}): it takes a number from 0 to 1, which is placed within the range"
        )

    def _place(self, placed: float, utility: float) -> None:
        seat = self._seat
        if seat.context is not self:
            self._late("set_utility")
            return
        if seat.state != THINKING:
            if self._elsewhere("set_utility", utility):
                return
            if seat.state in _ABSENT:
                ignored(seat, "set_utility")
                return
        seat.set_utility(placed)

    def reject(self, reason: str) -> NoReturn:
        """The arguments are not valid any more; the compound around it will think again and may choose others.

        In ``start`` it refuses to be started, and the next best action takes its place. For an action that was started
        it is too late to choose again: its plan is aborted.

        Args:
            reason: why, in words.

        Raises:
            Reject: the action itself calls it, in a hook; let it pass. For anybody else, in any thread, it returns.

        Source: Stonehearth, AI: `reject`.
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

        Source: Stonehearth, AI: `abort`.
        """
        self._ask_for(Abort(reason, self._tell))

    # What type checkers are told is what holds in the action's own code. Else each "if path is None: ctx.abort(...)"
    # would leave the path an Optional there, for the sake of callbacks, of which the call is the last line anyway.
    def _ask_for(self, flow: Flow) -> NoReturn:  # type: ignore[misc]  # pyright: ignore[reportReturnType]
        """End the code that called, if that is the action's own; else have the action told."""
        seat = self._seat
        if seat.context is not self:
            self._late(flow.method)
        elif is_on_own_stack(seat):
            raise flow
        else:
            self._tell(flow)

    def _tell(self, flow: Flow) -> None:
        """Have the action do what control flow asks for, when the ready queue comes to that. From any thread."""
        home = self._home
        if home.kernel.is_stepping:
            home.kernel.call_soon(self._hear, flow)
        else:
            home.agent.post(self._hear, flow)

    def _hear(self, flow: Flow) -> None:
        """It is the action's turn to hear of it."""
        seat = self._seat
        if seat.context is not self:
            late(seat, flow.method)
        elif seat.state == IDLE or seat.state == IMPOSSIBLE:
            ignored(seat, flow.method)
        elif seat.state >= STARTED and seat.is_unwinding():
            late(seat, flow.method)  # it is on its way out already
        else:
            self._obey(flow)

    def _obey(self, flow: Flow) -> None:
        seat = self._seat
        if isinstance(flow, Abort):
            seat.abort(flow.reason)
        elif seat.state < STARTED:
            seat.reject(flow.reason)
        else:
            seat.abort(f"it rejected while it was {UNIT_NAMES[seat.state]}: {flow.reason}")

    @overload
    async def execute(self, activity: Activity[P, O_co], /, *args: P.args, **more: P.kwargs) -> O_co: ...
    @overload
    async def execute(self, activity: str, args: Mapping[str, Any] | None = None, /, **more: object) -> Any: ...

    async def execute(  # type: ignore[misc]  # fields have names, so nothing else is given by its place
        self, activity: str | Activity[..., Any], args: Mapping[str, Any] | None = None, /, **more: Any
    ) -> Any:
        """Think and run an activity from within ``run``.

        Args:
            activity: what to perform: its name, or a declared one, of which types are known.
            args: its arguments.
            more: its arguments, by name.

        Returns:
            The think output of the action that performed it.

        Raises:
            WrongStateError: the action does not run, or executes something at this moment.
            ActivityImpossibleError: no action can perform it now.
            ActivityAbortedError: it is awaited behind a shield, while the action is unwound.
            ArgumentError: the arguments do not fit.

        Source: Stonehearth, AI: `execute`.
        """
        await at_once(is_dear=True)
        self._running("execute")
        return await self._seat.spawn(*asked(activity, args, more), self).execute()

    @overload
    def spawn(self, activity: Activity[P, Any], /, *args: P.args, **more: P.kwargs) -> SpawnedFrame: ...
    @overload
    def spawn(self, activity: str, args: Mapping[str, Any] | None = None, /, **more: object) -> SpawnedFrame: ...

    def spawn(  # type: ignore[misc]  # as above
        self, activity: str | Activity[..., Any], args: Mapping[str, Any] | None = None, /, **more: Any
    ) -> SpawnedFrame:
        """Make an execution frame of one's own: it thinks and runs an activity when it is told to.

        Args:
            activity: what to perform: its name, or a declared one.
            args: its arguments.
            more: its arguments, by name.

        Returns:
            The frame; it does nothing before ``start_thinking`` is called. Whatever is left of it is stopped with the
            action.

        Raises:
            WrongStateError: the action neither thinks nor runs.

        Source: Stonehearth, AI: `spawn`.
        """
        self._require_present("spawn")
        name, given = asked(activity, args, more)
        if not isinstance(name, str):
            raise TypeError(f"ctx.spawn({repr_of(activity)}): it takes an activity such as 'demo:paint'")
        return self._seat.spawn(name, given, self)

    async def suspend(self) -> Any:
        """Wait until ``resume`` is called, from a callback, say. If it was called before, return at once.

        Returns:
            What ``resume`` was given.

        Raises:
            WrongStateError: the action does not run, or is suspended.

        Source: Stonehearth, AI: `suspend`.
        """
        await at_once()  # before anything is looked at: it may be resumed already, or raise
        self._running("suspend")
        suspension = self._suspension()
        if suspension.waiter is not None:
            raise WrongStateError("suspend", "the action is suspended", "Resume it before it waits for something else.")
        require_own_stack(self._seat, "suspend")
        return await suspension.wait()

    def _suspension(self) -> Suspension:
        extras = self._seat.own_extras()
        if extras.suspension is None:
            extras.suspension = Suspension()
        return extras.suspension

    def resume(self, value: Any = None) -> None:
        """End the wait of ``suspend``. One resume for one wait: if nobody waits yet, the next wait returns at once.

        The resume of a wait that was given up (its scope was cancelled, say), a second one while one is kept for the
        next wait, and one that comes when the action does not run any more are ignored.

        Args:
            value: what ``suspend`` returns.

        Source: Stonehearth, AI: `resume`.
        """
        seat = self._seat
        if self._is_here("resume", value) and not (
            seat.state in (STARTED, RUNNING) and self._suspension().resume(value)
        ):
            ignored(seat, "resume")

    def _require_present(self, method: str) -> None:
        """What gives something back is an error for its caller where it could not be true."""
        seat = self._seat
        if seat.context is not self:
            raise WrongStateError(method, "the thinking or run that this context is for is over", _GIVEN)
        if not self._home.kernel.is_here:
            raise WrongStateError(method, "another thread steps the action", "Post what calls it: runtime.post(fn).")
        if seat.state in _ABSENT:
            raise _wrong(seat, method, "Call it in 'think', 'start' or 'run'.")

    def _running(self, method: str) -> None:
        seat = self._seat
        if seat.context is not self:
            raise WrongStateError(method, "the run that this context is for is over", _GIVEN)
        if seat.state != RUNNING:
            raise _wrong(seat, method, "It works only in 'run'; use a step otherwise.")

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
        listener = Listener(signal, callback, self)
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
        ticks = self._home.kernel.clock.ticks(seconds)
        alarm = Alarm(self._seat, partial(self._call_back, callback))
        if self._opens("call_later", alarm):
            alarm.set(max(1, ticks))
        return alarm

    def _opens(self, method: str, opened: Listener | Alarm) -> bool:
        seat = self._seat
        if seat.context is not self:
            self._late(method)
            return False
        self._require_present(method)
        self._seat.own_extras().keep(opened, is_thinking=seat.state in (THINKING, READY))
        return True

    def _call_back(self, callback: Callable[..., object], value: object = _NO_VALUE) -> None:
        seat = self._seat
        try:
            called_by(seat, callback, *(() if value is _NO_VALUE else (value,)))
        except Flow as flow:
            self._hear(flow)
        except ENDS_PROGRAM:
            raise
        except BaseException as error:
            seat.callback_raised(error)

    def protect_argument(self, entity: Any) -> None:
        """If the entity is destroyed while the action thinks, its thinking ends. Arguments are protected anyway.

        If it is destroyed already, that is so at once: the action has rejected its arguments, and what it says after
        this call is too late. In ``start`` the plan is aborted.

        Args:
            entity: something with a ``destroyed`` signal; or a list, tuple, set, dict or dataclass that holds some; or
                the name of an argument that is or holds some. Anything else needs no protection.

        Raises:
            WrongStateError: the action runs; nothing is protected from then on.

        Source: Stonehearth, AI: `protect_argument`.
        """
        seat, method = self._seat, "protect_argument"
        if not self._is_here(method, entity) or not self._concerns(method):
            return
        if seat.state != RUNNING:
            seat.own_extras().protect(entity)
        elif is_on_own_stack(seat):
            raise _wrong(seat, method, "Listen to the entity's signal 'destroyed' instead.")
        else:
            late(seat, method)

    def unprotect_argument(self, entity: Any) -> None:
        """Undo the protection of an entity, argument or not.

        Args:
            entity: the entity, or what else ``protect_argument`` takes.

        Source: Stonehearth, AI: `unprotect_argument`.
        """
        if self._is_here("unprotect_argument", entity) and self._concerns("unprotect_argument"):
            self._seat.own_extras().unprotect(entity)

    def __repr__(self) -> str:
        return f"<Context of {self._seat!r}>"
