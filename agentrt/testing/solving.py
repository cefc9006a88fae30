"""Tests of strategies: what is said of solving, and stubs of what strategies are about.

Like all matchers these read a trace and nothing else, and raise ``TraceMismatch`` with the nearest records. What
``tried`` and ``course`` return is for literal comparison. A dependency is named as task trees name it
(``"Collect [diamond, 7]"``), by the dependency itself, or by its class for any of its values. A strategy is named as
task trees name it, or by its class.

``stub_strategy`` makes a strategy that has its needs solved, takes so long, ends so, and writes down its calls::

    Chop = stub_strategy(Have, cost=5.0, takes=40, gives={"log": 1}, label="Chop")
    Carve = stub_strategy(Have, needs=[Have("log")], fails=["it broke", None], label="Carve")

``Have("log", 3)`` is met while the bag of a ``StubBody`` holds as much, and look-ahead knows what it brings about. What
is made are ordinary classes: they are loaded, asked, chosen and run like any others. The rules are those of the stubs
of actions: time is in ticks, ``takes=None`` runs until it is stopped, and ``fails`` is a script with one outcome for
each time: None is a good end, a text is a failure in these words, an exception is raised. ``calls`` has every ``run``
and every ``finish``, of all agents.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Mapping, Sequence
from typing import Any, ClassVar, TypeAlias

from agentrt.body.entity import Entity
from agentrt.kernel.trace import TraceRecord
from agentrt.kernel.traps import park
from agentrt.strategy.ask import Dependency, Strategy, StrategyContext, words
from agentrt.testing.matchers import Pattern, Trace, happened, records_of
from agentrt.testing.stubs import HookCalls, Outcome, Script

Wanted: TypeAlias = "Dependency[Any] | type[Dependency[Any]] | str"
"""A dependency, in one of the ways to name it."""

By: TypeAlias = "type[Strategy] | str"
"""A strategy, in one of the ways to name it."""

_EVENTS = ("try", "solved", "failed")


def _wanted(wanted: Wanted) -> str | Callable[[Any], bool]:
    if isinstance(wanted, str):
        return wanted
    if isinstance(wanted, Dependency):
        return wanted.label()
    label = words(wanted.__name__)

    def is_one(value: object) -> bool:
        return str(value) == label or str(value).startswith(f"{label} [")

    return _called(label, is_one)


def _called(label: str, fits: Callable[[Any], bool]) -> Callable[[Any], bool]:
    fits.__name__ = label  # which is what a claim that fails calls it
    return fits


def _by(by: By | None) -> dict[str, Any]:
    return {} if by is None else {"by": by if isinstance(by, str) else by.spec.label}


def solved(
    trace: Trace, wanted: Wanted, *, by: By | None = None, times: int | None = None, **fields: Any
) -> TraceRecord:
    """A dependency was met.

    Args:
        trace: where to look.
        wanted: the dependency.
        by: which strategy provided it; the empty text if it held already; None for anybody.
        times: how many times; None for at least once.
        fields: the other fields of a ``Pattern``: ``agent``, ``tick``...

    Returns:
        The first record that says so.

    Raises:
        TraceMismatch: it was not, or another number of times.
    """
    __tracebackhide__ = True
    return happened(trace, Pattern("solved", wanted=_wanted(wanted), **_by(by), **fields), times=times)


def failed(
    trace: Trace,
    wanted: Wanted,
    *,
    by: By | None = None,
    reason: str = "",
    times: int | None = None,
    **fields: Any,
) -> TraceRecord:
    """A strategy failed to provide a dependency; ``reason`` is a part of what it said, all else is as for ``solved``.

    Raises:
        TraceMismatch: none did, or another number of times.
    """
    __tracebackhide__ = True
    if reason:
        fields["reason"] = _called(f"…{reason}…", lambda value: reason in str(value))
    return happened(trace, Pattern("failed", wanted=_wanted(wanted), **_by(by), **fields), times=times)


def tried(trace: Trace, wanted: Wanted, *, agent: str | None = None) -> list[str]:
    """Which strategies were tried for a dependency, by one agent alone if it is named.

    Returns:
        What task trees call them, in order; the same one again if it began again.
    """
    pattern = Pattern("try", agent=agent, wanted=_wanted(wanted))
    return [str(dict(record.detail)["by"]) for record in records_of(trace) if pattern.matches(record)]


def course(trace: Trace, *, agent: str | None = None) -> list[str]:
    """What was tried and what became of it, of one agent alone if it is named.

    Returns:
        A line for each attempt and for each end of one, in order, indented by how deep it lies:
        ``"2 try Collect [diamond] by Mine"``, ``"  9 solved Find [diamond] by Look"``.
    """
    records = [record for record in records_of(trace) if record.event.value in _EVENTS]
    return [_course_line(record) for record in records if agent in (None, record.agent)]


def _course_line(record: TraceRecord) -> str:
    detail = dict(record.detail)
    by = f" by {detail['by']}" if detail["by"] else ""
    reason = f": {detail['reason']}" if "reason" in detail else ""
    indent = "  " * max(0, record.path.count("/") // 2 - 1)
    return f"{indent}{record.tick} {record.event.value} {detail['wanted']}{by}{reason}"


class StubBody(Entity):
    """An entity with a bag, whose name is its kind as well."""

    def __init__(self, name: str = "stub", goods: Mapping[str, int] | None = None) -> None:
        super().__init__(name)
        self.goods: dict[str, int] = dict(goods or {})  # what is in the bag

    def give(self, goods: Mapping[str, int]) -> None:
        """Put so many of each name into the bag; negative numbers take it out."""
        for name, count in goods.items():
            self.goods[name] = self.goods.get(name, 0) + count


class Have(Dependency[int], activity="stub:have"):
    """So many of a thing are in the bag of a ``StubBody``."""

    item: str
    count: int = 1

    def is_met(self, ask: Any) -> bool:
        """Whether they are; asked of the state, so that look-ahead can assume it."""
        return bool(ask.CURRENT.goods.get(self.item, 0) >= self.count)

    def met_value(self, ask: Any) -> int:
        """How many there are."""
        return int(ask.CURRENT.goods[self.item])

    def assume(self, state: Any) -> None:
        """They will be there."""
        state.goods = {**state.goods, self.item: max(self.count, state.goods.get(self.item, 0))}

    def guard_key(self) -> str:
        """The thing, however many: who makes it must not need it."""
        return self.item


class StubStrategy(Strategy):
    """What ``stub_strategy`` makes."""

    calls: ClassVar[HookCalls]  # what was called of it


def stub_strategy(
    *provides: type[Dependency[Any]],
    cost: float | Callable[[Any, Any], float | None] = 1.0,
    needs: Sequence[Dependency[Any]] | Callable[[Any], Sequence[Dependency[Any]]] = (),
    takes: int | None = 1,
    fails: Outcome | Sequence[Outcome] = None,
    gives: Mapping[str, int] | Callable[[Any, Any], object] | None = None,
    returns: object = None,
    reads: Collection[str] | None = None,
    label: str = "Stub",
    **attributes: Any,
) -> type[StubStrategy]:
    """A strategy that provides a dependency, in a line: see the module.

    Args:
        provides: the classes of dependencies; none for ``Have``.
        cost: its own game seconds, besides those of its needs; or a function of (ask, wanted).
        needs: what it has solved first, in order; or a function of what is wanted.
        takes: how many ticks it takes then; None for as long as it is let.
        fails: how it ends: one outcome for all times, or a list with one for each time.
        gives: what it puts into the bag if it did not fail; or a function of (ctx, wanted) that does something. None
            gives as many as are wanted of ``Have``.
        returns: what its run returns.
        reads: the topics that its cost looks at.
        label: the name of the class; the call that is generated for it is made of it.
        attributes: whatever else a strategy declares: ``flags``, ``interruption``, ``patience``...

    Raises:
        DefinitionError: what is declared does not fit together.
    """
    calls, script = HookCalls(), Script(fails)

    def needs_of(wanted: Dependency[Any]) -> Sequence[Dependency[Any]]:
        return needs(wanted) if callable(needs) else needs

    def estimate(_self: Strategy, ask: Any, wanted: Dependency[Any]) -> float | None:
        own = cost(ask, wanted) if callable(cost) else cost
        return None if own is None else own + ask.total(needs_of(wanted))

    async def run(_self: Strategy, ctx: StrategyContext, wanted: Dependency[Any]) -> object:
        calls.add(ctx, "run")
        calls.args.append({name: wanted[name] for name in wanted.field_names()})
        for need in needs_of(wanted):
            await ctx.solve(need)
        if takes is None:
            await park()
        elif takes:
            await ctx.sleep_ticks(takes)
        script.fulfill(ctx.fail)
        _give(ctx, wanted, gives)
        calls.add(ctx, "finish")
        return returns

    body: dict[str, Any] = {"provides": provides or Have, "calls": calls, "run": run, "reads": reads}
    if callable(cost) or callable(needs) or needs:
        body["estimate"] = estimate
    else:
        body["cost"] = cost
    return type(label, (StubStrategy,), {**body, **attributes})


def _give(ctx: Any, wanted: Any, gives: Mapping[str, int] | Callable[[Any, Any], object] | None) -> None:
    if callable(gives):
        gives(ctx, wanted)
    elif gives is not None:
        ctx.entity.give(gives)
    elif isinstance(wanted, Have):
        ctx.entity.give({wanted.item: wanted.count})
