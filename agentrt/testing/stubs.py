"""Stubs: what stands in for actions and for the outside in a test, does as it is told, and writes down its calls.

What ``stub_action`` and ``stub_plan`` make are ordinary action classes: they are learned, thought, elected and run like
any other, so that a test of one action needs no others that are written out.

``StubOutside`` stands between a runtime and the outside: while it is there, ``ctx.call`` calls nothing. It answers by
the function that was to be called, after so many ticks, always at an intake, as the real one would; so a recording
keeps these answers like any others. ``StubService`` is an object with methods that answer, to be used as a component of
an entity, or wherever an action has a service at hand.

Rules:

* Time is given in ticks. ``takes=3`` runs in one tick and is over three ticks later; ``takes=None`` runs until it is
  stopped. ``thinks=3`` is ready three ticks after its thinking began.
* How it ends, or what it answers, is a script: one outcome for each time, the last one for all further times. For an
  action None is a good end, a text aborts (in ``run``) or rejects (in ``think`` and ``start``), an exception is raised.
  For the outside a value is the answer, an exception or a class of them is raised, a function is called with the
  arguments of the call.
* ``calls`` has every call. Those of actions are (tick, agent, hook) of all agents that know the class, in the words of
  the trace: ``think``, ``stop_thinking``, ``start``, ``run``, ``finish`` (its run came to its end), ``stop``. ``run``
  without ``finish`` was cut off.
* What nobody told it, a stub does not answer: ``UnansweredError`` names the call. A test that asks more than it knows
  of is a finding.

Rejected: mock objects in place of the hooks (a hook counts as present when the class has it, and a mock has
everything); real threads or an event loop behind a stub (a delay is a number of ticks, and costs nothing).
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from itertools import chain, repeat
from typing import TYPE_CHECKING, Any, ClassVar, NamedTuple, Self, TypeAlias, TypeVar

from agentrt.activity.author.action import Action, CompoundAction, step
from agentrt.activity.author.arguments import ActionArgs, ThinkOutput
from agentrt.activity.author.steps import Step
from agentrt.errors import ENDS_PROGRAM, TraceMismatch, UnansweredError
from agentrt.kernel.kernel import name_of
from agentrt.kernel.traps import park, running, sleep_ticks

if TYPE_CHECKING:
    from agentrt.activity.author.context import Context
    from agentrt.runtime.intake import Answers, OutsideCall
    from agentrt.runtime.runtime import Runtime
    from agentrt.testing.simulation import Simulation

T = TypeVar("T")

Outcome: TypeAlias = "str | BaseException | None"
"""How a hook of a stub ends: well, with an abort or a rejection in these words, or with an exception."""

_HOOKS = ("think", "start", "run")


class HookCall(NamedTuple):
    """One call of a hook."""

    tick: int
    agent: str  # whose, by name
    hook: str


class HookCalls:
    """What was called of one stub, and with what."""

    def __init__(self) -> None:
        self.all: list[HookCall] = []  # every call, in order
        self.args: list[dict[str, Any]] = []  # the arguments of each run, in order
        self._taken = 0

    def add(self, ctx: Context, hook: str) -> None:
        """A hook was called, with this context."""
        self.all.append(HookCall(ctx.clock.tick, ctx.agent.name, hook))

    def count(self, hook: str, agent: str | None = None) -> int:
        """How often a hook was called; of one agent alone."""
        return sum(one.hook == hook and agent in (None, one.agent) for one in self.all)

    def take(self, agent: str | None = None) -> list[tuple[int, str]]:
        """What was called since the last time this was asked, as (tick, hook), for literal comparison.

        With an agent, what was called of that one; what was called of the others is taken, too.
        """
        new = self.all[self._taken :]
        self._taken = len(self.all)
        return [(one.tick, one.hook) for one in new if agent in (None, one.agent)]

    def check_pairs(self) -> None:
        """Each start has its stop, each think its stop_thinking; for when the agents have ended.

        A ``stop_thinking`` without a ``think`` is sound: thinking was stopped before the coroutine had its first step.

        Raises:
            TraceMismatch: something was not ended, or was stopped without having been started.
        """
        __tracebackhide__ = True
        for agent in dict.fromkeys(one.agent for one in self.all):
            for first, last in (("think", "stop_thinking"), ("start", "stop")):
                begun, ended = self.count(first, agent), self.count(last, agent)
                if begun > ended or (begun < ended and first == "start"):
                    claim = f"{agent!r} has {begun} of {first!r} and {ended} of {last!r}"
                    raise TraceMismatch(claim, [f"  {one.tick} {one.hook}" for one in self.all if one.agent == agent])

    def __repr__(self) -> str:
        return f"<HookCalls: {', '.join(f'{one.hook} at {one.tick}' for one in self.all[-6:]) or 'none'}>"


class StubAction(Action):
    """What ``stub_action`` makes."""

    calls: ClassVar[HookCalls]  # what was called of it


class StubPlan(CompoundAction):
    """What ``stub_plan`` makes."""

    calls: ClassVar[HookCalls]  # what was called of it


def stub_action(
    does: str,
    *,
    utility: float | tuple[float, float] = 0.5,
    takes: int | None = 1,
    thinks: int | None = None,
    level: float | None = None,
    args: type[ActionArgs] | Mapping[str, Any] | None = None,
    output: Mapping[str, Any] | None = None,
    fails: Outcome | Sequence[Outcome] = None,
    fails_in: str = "run",
    effect: Callable[[Any, Any], object] | None = None,
    label: str = "",
    **attributes: Any,
) -> type[StubAction]:
    """An action class that performs an activity, in a line: see the module.

    Args:
        does: the activity.
        utility: a number, or a range.
        takes: how many ticks its run takes; None for as long as it is let.
        thinks: how many ticks it thinks before it is ready; None for an action without ``think``, unless it needs one.
        level: where in the range its utility is placed, from 0 to 1.
        args: the arguments of the activity: a class, or the types of the fields by their names.
        output: what it thinks out: values by field; a function is called with the context and the arguments.
        fails: how it ends: one outcome for all times, or a list with one for each time; see the module.
        fails_in: where: ``"think"``, ``"start"`` or ``"run"``.
        effect: called with the context and the arguments when its run is over and did not fail: what it does.
        label: the name of the class, and so of its place in a path; made of the activity by default.
        attributes: whatever else an action declares: ``flags``, ``weight``, ``sunk_cost_boost``...

    Raises:
        DefinitionError: what is declared does not fit together.
        ValueError: there is no hook of that name that could fail.
    """
    if fails_in not in _HOOKS:
        raise ValueError(f"fails_in is {fails_in!r}: choose one of {', '.join(_HOOKS)}")
    calls = HookCalls()
    script = Script(fails)
    outcome_in = {hook: script if hook == fails_in else _WELL for hook in _HOOKS}
    body = {**_hooks(calls, outcome_in["start"]), "run": _run(calls, takes, outcome_in["run"], effect)}
    if thinks is not None or level is not None or output is not None or (fails_in == "think" and not script.is_well):
        body |= _thinking(calls, thinks or 0, level, output or {}, outcome_in["think"])
    if output is not None:
        body["Output"] = type("Output", (ThinkOutput,), {"__annotations__": dict.fromkeys(output, object)})
    if args is not None:
        body["Args"] = args if isinstance(args, type) else type("Args", (ActionArgs,), {"__annotations__": dict(args)})
    return type(label or _label(does), (StubAction,), {"does": does, "utility": utility, **body, **attributes})


def stub_plan(
    does: str,
    *steps: str | Step,
    utility: float | tuple[float, float] = 0.5,
    fails: Outcome | Sequence[Outcome] = None,
    label: str = "",
    **attributes: Any,
) -> type[StubPlan]:
    """A compound action, in a line. Its steps are activities without arguments, or what ``step`` made.

    All else is as for ``stub_action``; what ``fails`` is its ``start``.

    Raises:
        DefinitionError: what is declared does not fit together.
    """
    body = _hooks(HookCalls(), Script(fails))
    body["steps"] = [step(one) if isinstance(one, str) else one for one in steps]
    return type(label or _label(does), (StubPlan,), {"does": does, "utility": utility, **body, **attributes})


# --- the hooks --------------------------------------------------------------------------------------------------------


def _in_turn(values: tuple[T, ...]) -> Iterator[T]:
    """One value for each time; the last one for all further times."""
    return chain(values, repeat(values[-1]))


class Script:
    """The outcomes of one hook: one for all times, or one for each."""

    def __init__(self, outcomes: Outcome | Sequence[Outcome]) -> None:
        is_list = isinstance(outcomes, Sequence) and not isinstance(outcomes, str)
        given: tuple[Outcome, ...] = tuple(outcomes) if is_list else (outcomes,)  # type: ignore[assignment,arg-type]
        self.is_well: bool = all(one is None for one in given)
        self._turns = _in_turn(given or (None,))

    def fulfill(self, end: Callable[[str], object]) -> None:
        """Do what stands for this time: end it in words, raise, or go on."""
        outcome = next(self._turns)
        if isinstance(outcome, str):
            end(outcome)
        elif outcome is not None:
            raise outcome


_WELL = Script(None)


def _hooks(calls: HookCalls, outcome: Script) -> dict[str, Any]:
    def start(_self: Action, ctx: Context, _args: ActionArgs) -> None:
        calls.add(ctx, "start")
        outcome.fulfill(ctx.reject)

    def stop(_self: Action, ctx: Context, _args: ActionArgs) -> None:
        calls.add(ctx, "stop")

    return {"calls": calls, "start": start, "stop": stop}


def _thinking(
    calls: HookCalls, thinks: int, level: float | None, output: Mapping[str, Any], outcome: Script
) -> dict[str, Any]:
    async def think(_self: Action, ctx: Context, args: ActionArgs) -> None:
        calls.add(ctx, "think")
        if thinks:
            await ctx.sleep_ticks(thinks)
        outcome.fulfill(ctx.reject)
        if level is not None:
            ctx.set_utility(level)
        ctx.set_think_output(**{name: one(ctx, args) if callable(one) else one for name, one in output.items()})

    def stop_thinking(_self: Action, ctx: Context, _args: ActionArgs) -> None:
        calls.add(ctx, "stop_thinking")

    return {"think": think, "stop_thinking": stop_thinking}


def _run(calls: HookCalls, takes: int | None, outcome: Script, effect: Callable[[Any, Any], object] | None) -> Any:
    async def run(_self: Action, ctx: Context, args: ActionArgs) -> None:
        calls.add(ctx, "run")
        calls.args.append({name: getattr(args, name) for name in type(args).field_names()})
        if takes is None:
            await park()
        elif takes:
            await ctx.sleep_ticks(takes)
        outcome.fulfill(ctx.abort)
        if effect is not None:
            effect(ctx, args)
        calls.add(ctx, "finish")

    return run


def _label(does: str) -> str:
    """``mod:find_subject`` is ``FindSubject``."""
    words = "".join(letter if letter.isalnum() else " " for letter in does.rpartition(":")[2]).split()
    return "".join(word[0].upper() + word[1:] for word in words) or "Stub"


# --- the outside ------------------------------------------------------------------------------------------------------


class AskedCall(NamedTuple):
    """One call that a stub was asked for."""

    tick: int | None  # when; None if it came from another thread, where no runtime runs
    name: str  # of the function or method
    args: tuple[object, ...]  # what it was called with
    named: dict[str, object]  # what it was called with by name

    def text(self) -> str:
        """The call as it would be written."""
        words = [*(repr(one) for one in self.args), *(f"{name}={one!r}" for name, one in self.named.items())]
        return f"{self.name}({', '.join(words)})"


class _Answers:
    """The answers to one function."""

    def __init__(self, values: tuple[object, ...], after: int | None) -> None:
        self.after = after  # after how many ticks they come; None for when they are released
        self._turns = _in_turn(values or (None,))

    def next(self, args: tuple[object, ...], named: dict[str, object]) -> Any:
        value = next(self._turns)
        if isinstance(value, BaseException) or (isinstance(value, type) and issubclass(value, BaseException)):
            raise value
        return value(*args, **named) if callable(value) else value


class StubOutside:
    """Answers the calls to the outside of one runtime, in place of the outside. Close it, or use it with ``with``.

    Args:
        runtime: the runtime, or a simulation.
        lets_through: whether what it has no answer for is called after all.
    """

    def __init__(self, runtime: Runtime | Simulation, *, lets_through: bool = False) -> None:
        self.calls: list[AskedCall] = []  # what was asked, in order
        given: Any = runtime
        self._runtime: Runtime = getattr(given, "runtime", given)
        self._lets_through = lets_through
        self._scripts: list[tuple[Callable[..., Any] | str, _Answers]] = []  # the newest first
        self._held: list[tuple[OutsideCall, Any, BaseException | None]] = []
        self._is_closed = False
        self._before: Answers | None = self._runtime.calls.answers
        self._runtime.calls.answers = self

    def answer(self, fn: Callable[..., Any] | str, *values: object, after: int | None = 1) -> Self:
        """Say what comes of a function; what was said of it before does not count any more.

        Args:
            fn: the function that is given to ``ctx.call``, or its name: ``"fetch_user"``, ``"Database.fetch"``.
            values: the answers, one for each time; see the module. None without any.
            after: in how many ticks an answer comes, at least 1; None keeps it back until ``release``.

        Raises:
            ValueError: an answer cannot come in the same tick.
        """
        if after is not None and after < 1:
            raise ValueError(f"after is {after}: an answer comes in at an intake, in the next tick at the earliest")
        self._scripts.insert(0, (fn, _Answers(values, after)))
        return self

    def release(self) -> int:
        """Let the answers that are kept back come in at the next intake; how many there were."""
        held, self._held = self._held, []
        for call, value, error in held:
            self._runtime.kernel.post(call.deliver, value, error)
        return len(held)

    def rebuilt(self) -> None:
        """The world was rebuilt: what was kept back is for nobody."""
        self._held.clear()
        if self._before is not None:
            self._before.rebuilt()

    def close(self) -> None:
        """Go away: from now on the outside is called again. What is on its way comes in."""
        self._is_closed = True
        calls = self._runtime.calls
        while isinstance(calls.answers, StubOutside) and calls.answers._is_closed:
            calls.answers = calls.answers._before  # one that was put up later may go later

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_exc: object) -> None:
        self.close()

    # --- what a runtime asks ------------------------------------------------------------------------------------------

    def has_answer(self, fn: Callable[..., object], *args: object) -> bool:
        """Whether a call would be answered: always, if only by an error; see ``agentrt.runtime.intake.Answers``."""
        return True

    def asked(self, call: OutsideCall) -> bool:
        """Whether a call that is made is answered; see ``agentrt.runtime.intake.Answers``."""
        request = call.request
        script = next((script for fn, script in self._scripts if _is_meant(fn, call)), None)
        if script is None and self._lets_through:
            return False
        kernel = self._runtime.kernel
        asked = AskedCall(kernel.tick, call.what, request.args, dict(request.keywords))
        self.calls.append(asked)
        value, error = None, None
        try:
            if script is None:
                known = dict.fromkeys(fn if isinstance(fn, str) else name_of(fn) for fn, _ in self._scripts)
                raise UnansweredError("the stub of the outside", asked.text(), known=tuple(known))
            value = script.next(asked.args, asked.named)
        except ENDS_PROGRAM:
            raise
        except BaseException as raised:  # it is raised where the call is awaited
            error = raised
        after = 1 if script is None else script.after
        if after is None:
            self._held.append((call, value, error))
        elif after == 1:
            kernel.post(call.deliver, value, error)
        else:  # what is posted in the tick before comes in at the intake
            kernel.call_later(after - 1, kernel.post, call.deliver, value, error)
        return True


def _is_meant(fn: Callable[..., Any] | str, call: OutsideCall) -> bool:
    if isinstance(fn, str):
        return fn == call.what or call.what.endswith(f".{fn}")
    return bool(fn == call.request.func)


# --- services ---------------------------------------------------------------------------------------------------------


class StubService:
    """An object whose methods answer by a script: ``StubService("finder", find=[...])`` is asked ``finder.find(a, b)``.

    Args:
        name: what errors call it.
        values: for each method the answer to all its calls; ``answer`` takes one for each.
    """

    def __init__(self, name: str = "service", /, **values: object) -> None:
        self.calls: list[AskedCall] = []  # what was asked, in order
        self._label = name
        self._methods: dict[str, _Method] = {}
        for method, value in values.items():
            self.answer(method, value)

    def answer(self, method: str, *values: object, after: int = 0) -> Self:
        """Say what a method answers; what was said of it before does not count any more.

        Args:
            method: its name.
            values: the answers, one for each time; see the module. None without any.
            after: 0 for a plain method; else it is awaited in an action, and answers after so many ticks.
        """
        answers = _Answers(values, after)
        # The method stays the same object: somebody may have kept it.
        self._methods.setdefault(method, _Method(self, method, answers)).answers = answers
        return self

    def __getattr__(self, method: str) -> Callable[..., Any]:
        if method.startswith("_"):
            raise AttributeError(method)
        found = self._methods.get(method)
        if found is None:
            raise UnansweredError(f"the stub {self._label!r}", method, known=tuple(self._methods))
        return found

    def __repr__(self) -> str:
        return f"<StubService {self._label!r}: {', '.join(self._methods) or 'no methods'}>"


class _Method:
    """A method of a stub service: one object for each, so that it can be compared; a function would become a method."""

    def __init__(self, service: StubService, name: str, answers: _Answers) -> None:
        self.answers = answers
        self._service = service
        self.__qualname__ = name

    def __call__(self, *args: object, **named: object) -> Any:
        kernel = running.kernel
        tick = None if kernel is None else kernel.clock.tick
        self._service.calls.append(AskedCall(tick, self.__qualname__, args, named))
        answers = self.answers
        return self._later(answers, args, named) if answers.after else answers.next(args, named)

    async def _later(self, answers: _Answers, args: tuple[object, ...], named: dict[str, object]) -> Any:
        await sleep_ticks(answers.after or 0)
        return answers.next(args, named)
