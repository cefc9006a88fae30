"""Stubs of what lies outside an action: the answers of ``ctx.call``, and services that are called directly.

``StubOutside`` stands between a runtime and the outside: while it is there, ``ctx.call`` calls nothing. It answers by
the function that was to be called, after so many ticks, always at an intake, as the real one would; so a recording
keeps these answers like any others. ``StubService`` is an object with methods that answer, to be used as a component of
an entity, or wherever an action has a service at hand.

Rules:

* What is answered is a script: a value for each time, the last one for all further times. An exception, or a class of
  them, is raised; a function is called with the arguments of the call, and what it returns is the answer.
* All calls are written down, with the tick and the arguments.
* What nobody told it, a stub does not answer: ``UnansweredError`` names the call. A test that asks more than it knows
  of is a finding.

Rejected: real threads or an event loop behind a stub. A delay is a number of ticks, and costs nothing.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, Any, NamedTuple, Self

from agentrt.errors import ENDS_PROGRAM, UnansweredError
from agentrt.kernel.calls import name_of
from agentrt.kernel.traps import running, sleep_ticks

if TYPE_CHECKING:
    from agentrt.calls import Answers, OutsideCall
    from agentrt.runtime import Runtime
    from agentrt.testing.simulation import Simulation

__all__ = ["AskedCall", "StubOutside", "StubService"]


class AskedCall(NamedTuple):
    """One call that a stub was asked for.

    Attributes:
        tick: when; None if it came from another thread, where no runtime runs.
        name: of the function or method.
        args: what it was called with.
        named: what it was called with by name.
    """

    tick: int | None
    name: str
    args: tuple[Any, ...]
    named: dict[str, Any]

    def text(self) -> str:
        """The call as it would be written."""
        words = [*(repr(one) for one in self.args), *(f"{name}={one!r}" for name, one in self.named.items())]
        return f"{self.name}({', '.join(words)})"


class _Script:
    """The answers to one function.

    Attributes:
        after: after how many ticks they come; None for when they are released.
    """

    def __init__(self, values: tuple[Any, ...], after: int | None) -> None:
        self.after: int | None = after
        self._values = values or (None,)
        self._times = 0

    def next(self, args: tuple[Any, ...], named: dict[str, Any]) -> Any:
        """The answer for this time, or raise it."""
        value = self._values[min(self._times, len(self._values) - 1)]
        self._times += 1
        if isinstance(value, BaseException) or (isinstance(value, type) and issubclass(value, BaseException)):
            raise value
        return value(*args, **named) if callable(value) else value


class StubOutside:
    """Answers the calls to the outside of one runtime, in place of the outside. Close it, or use it with ``with``.

    Args:
        runtime: the runtime, or a simulation.
        lets_through: whether what it has no answer for is called after all.

    Attributes:
        calls: what was asked, in order.
    """

    def __init__(self, runtime: Runtime | Simulation, *, lets_through: bool = False) -> None:
        self.calls: list[AskedCall] = []
        given: Any = runtime
        self._runtime: Runtime = getattr(given, "runtime", given)
        self._lets_through = lets_through
        self._scripts: list[tuple[Any, _Script]] = []
        self._held: list[tuple[OutsideCall, Any, BaseException | None]] = []
        self._is_closed = False
        self._before: Answers | None = self._runtime.calls.answers
        self._runtime.calls.answers = self

    def answer(self, fn: Callable[..., Any] | str, *values: Any, after: int | None = 1) -> Self:
        """Say what comes of a function; what was said of it before does not count any more.

        Args:
            fn: the function that is given to ``ctx.call``, or its name: ``"fetch_user"``, ``"Database.fetch"``.
            values: the answers, one for each time; see the module. None without any.
            after: in how many ticks an answer comes, at least 1; None keeps it back until ``release``.

        Returns:
            The stub itself.

        Raises:
            ValueError: an answer cannot come in the same tick.
        """
        if after is not None and after < 1:
            raise ValueError(f"after is {after}: an answer comes in at an intake, in the next tick at the earliest")
        self._scripts.insert(0, (fn, _Script(values, after)))
        return self

    def release(self) -> int:
        """Let the answers that are kept back come in at the next intake.

        Returns:
            How many there were.
        """
        held, self._held = self._held, []
        for call, value, error in held:
            self._runtime.kernel.post(call.deliver, value, error)
        return len(held)

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

    def asked(self, call: OutsideCall) -> bool:
        """A call is made; see ``agentrt.calls.Answers``.

        Args:
            call: which.

        Returns:
            Whether it is answered.
        """
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
        else:
            _at_intake(self._runtime, after, call, value, error)
        return True


def _is_meant(fn: Callable[..., Any] | str, call: OutsideCall) -> bool:
    if isinstance(fn, str):
        return fn == call.what or call.what.endswith(f".{fn}")
    return bool(fn == call.request.func)


def _at_intake(runtime: Runtime, after: int, call: OutsideCall, value: Any, error: BaseException | None) -> None:
    """Deliver at the intake so many ticks from now: what is posted in the tick before comes in there."""
    kernel = runtime.kernel
    if after == 1:
        kernel.post(call.deliver, value, error)
    else:
        kernel.call_later(after - 1, kernel.post, call.deliver, value, error)


# --- services ---------------------------------------------------------------------------------------------------------


class StubService:
    """An object whose methods answer by a script: ``StubService("finder", find=[...])`` is asked ``finder.find(a, b)``.

    Args:
        name: what errors call it.
        values: for each method the answer to all its calls; ``answer`` takes one for each.

    Attributes:
        calls: what was asked, in order.
    """

    def __init__(self, name: str = "service", /, **values: Any) -> None:
        self.calls: list[AskedCall] = []
        self._label = name
        self._methods: dict[str, _Method] = {}
        for method, value in values.items():
            self.answer(method, value)

    def answer(self, method: str, *values: Any, after: int = 0) -> Self:
        """Say what a method answers; what was said of it before does not count any more.

        Args:
            method: its name.
            values: the answers, one for each time; see the module. None without any.
            after: 0 for a plain method; else it is awaited in an action, and answers after so many ticks.

        Returns:
            The stub itself.
        """
        script = _Script(values, after)
        known = self._methods.get(method)
        if known is None:
            self._methods[method] = _Method(self, method, script)
        else:
            known.script = script
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
    """A method of a stub service; there is one object for each, so that it can be compared."""

    def __init__(self, service: StubService, name: str, script: _Script) -> None:
        self.script = script
        self._service = service
        self.__qualname__ = name

    def __call__(self, *args: Any, **named: Any) -> Any:
        kernel = running.kernel
        self._service.calls.append(AskedCall(None if kernel is None else kernel.tick, self.__qualname__, args, named))
        script = self.script
        return self._later(script, args, named) if script.after else script.next(args, named)

    async def _later(self, script: _Script, args: tuple[Any, ...], named: dict[str, Any]) -> Any:
        await sleep_ticks(script.after or 0)
        return script.next(args, named)
