"""Stubs of what strategies are about: a body with a bag, a dependency that looks into it, and strategies in one line.

``stub_strategy`` makes a strategy that has its needs solved, takes so long, ends so, and writes down its calls::

    Chop = stub_strategy(Have, cost=5.0, takes=40, gives={"log": 1}, label="Chop")
    Carve = stub_strategy(Have, needs=[Have("log")], fails=["it broke", None], label="Carve")

``Have("log", 3)`` is met while the bag of a ``StubBody`` holds as much, and look-ahead knows what it brings about. What
is made are ordinary classes: they are loaded, asked, chosen and run like any others.

Rules, as for the stubs of actions: time is in ticks, ``takes=None`` runs until it is stopped, and ``fails`` is a script
with one outcome for each time: None is a good end, a text is a failure in these words, an exception is raised.
``calls`` has every ``run`` and every ``finish``, of all agents.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Mapping, Sequence
from typing import Any, ClassVar

from agentrt.body.entity import Entity
from agentrt.kernel.traps import park
from agentrt.strategy.dependency import Dependency
from agentrt.strategy.strategy import Strategy
from agentrt.testing.stubs import HookCalls, Outcome, Script

__all__ = ["Have", "StubBody", "StubStrategy", "stub_strategy"]


class StubBody(Entity):
    """An entity with a bag.

    Args:
        name: its kind, and its name.
        goods: what is in the bag.

    Attributes:
        goods: what is in the bag: names to numbers.
    """

    def __init__(self, name: str = "stub", goods: Mapping[str, int] | None = None) -> None:
        super().__init__(name)
        self.goods: dict[str, int] = dict(goods or {})

    def give(self, goods: Mapping[str, int]) -> None:
        """Put something into the bag; negative numbers take it out.

        Args:
            goods: names to numbers.
        """
        for name, count in goods.items():
            self.goods[name] = self.goods.get(name, 0) + count


class Have(Dependency[int], activity="stub:have"):
    """So many of a thing are in the bag of a ``StubBody``."""

    item: str
    count: int = 1

    def is_met(self, ask: Any) -> bool:
        """Whether they are; asked of the state, so that look-ahead can assume it.

        Args:
            ask: the world.
        """
        return bool(ask.CURRENT.goods.get(self.item, 0) >= self.count)

    def met_value(self, ask: Any) -> int:
        """How many there are.

        Args:
            ask: the world.
        """
        return int(ask.CURRENT.goods[self.item])

    def assume(self, state: Any) -> None:
        """They will be there.

        Args:
            state: what is expected.
        """
        state.goods = {**state.goods, self.item: max(self.count, state.goods.get(self.item, 0))}

    def guard_key(self) -> str:
        """The thing, however many: who makes it must not need it."""
        return self.item


class StubStrategy(Strategy):
    """What ``stub_strategy`` makes.

    Attributes:
        calls: what was called of it.
    """

    calls: ClassVar[HookCalls]


def stub_strategy(
    *provides: type[Dependency[Any]],
    cost: float | Callable[[Any, Any], float | None] = 1.0,
    needs: Sequence[Dependency[Any]] | Callable[[Any], Sequence[Dependency[Any]]] = (),
    takes: int | None = 1,
    fails: Outcome | Sequence[Outcome] = None,
    gives: Mapping[str, int] | Callable[[Any, Any], object] | None = None,
    returns: Any = None,
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

    Returns:
        The class.

    Raises:
        DefinitionError: what is declared does not fit together.
    """
    calls, script = HookCalls(), Script(fails)

    def needs_of(wanted: Any) -> Sequence[Dependency[Any]]:
        return needs(wanted) if callable(needs) else needs

    class Hooks:
        def estimate(self, ask: Any, wanted: Any) -> float | None:
            own = cost(ask, wanted) if callable(cost) else cost
            return None if own is None else own + ask.total(needs_of(wanted))

        async def run(self, ctx: Any, wanted: Any) -> Any:
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

    body: dict[str, Any] = {"provides": provides or Have, "calls": calls, "run": Hooks.run, "reads": reads}
    if callable(cost) or callable(needs) or needs:
        body["estimate"] = Hooks.estimate
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
