"""Catalogs of strategies at random: ways to come by a few things, that need each other, fail, and are interrupted.

All provide ``Have``, each for one thing only; what they need are such things again, so that needs lead in circles as
often as not. Whether what was asked for can be had is not known beforehand: an agent that is asked for it has to come
to an end in any case. A case holds no state: the classes are made anew for each run, and the body, too.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from hypothesis import strategies as st

from agentrt.body.flags import LOOK, MOVE
from agentrt.strategy.declare import Interruptible, Strategy
from agentrt.testing.solving import Have, StubBody, stub_strategy
from agentrt.testing.strategies.schedules import Brief
from agentrt.testing.stubs import Outcome

__all__ = ["GameplayCase", "WaySpec", "gameplays"]

_ITEMS: tuple[str, ...] = ("a", "b", "c", "d")
_BROKEN = "it broke"
_KINDS = (Interruptible.RESTART, Interruptible.PAUSE, Interruptible.WAIT, Interruptible.TREE)


@dataclass(frozen=True, repr=False)
class WaySpec(Brief):
    """One strategy of a case."""

    label: str
    item: str  # the thing that it provides
    needs: tuple[str, ...] = ()  # the things that it has solved first, in order
    cost: float = 1.0  # its own game seconds, besides those of its needs
    takes: int = 1  # how many ticks it takes itself
    fails: tuple[Outcome, ...] = ()  # how its run ends, time after time
    lies: bool = False  # whether it ends well and does not provide the thing
    flags: tuple[str, ...] = ()  # the control flags that it holds
    interruption: Interruptible = Interruptible.RESTART  # what it supports when something comes up

    def strategy(self) -> type[Strategy]:
        """The class, made anew."""

        def cost(_ask: object, wanted: Have) -> float | None:
            return self.cost if wanted.item == self.item else None

        return stub_strategy(
            cost=cost,
            needs=[Have(item) for item in self.needs],
            takes=self.takes,
            fails=self.fails,
            gives={} if self.lies else None,
            flags=self.flags,
            interruption=self.interruption,
            label=self.label,
        )


@dataclass(frozen=True, repr=False)
class GameplayCase(Brief):
    """What an agent can do, what it has, and what it is asked for."""

    specs: tuple[WaySpec, ...]  # its strategies, in the order of loading
    goods: tuple[str, ...] = ()
    item: str = _ITEMS[0]  # what it is asked for

    def strategies(self) -> list[type[Strategy]]:
        """The classes, made anew, for ``agent.gameplay.add_strategy(*...)``."""
        return [spec.strategy() for spec in self.specs]

    def body(self) -> StubBody:
        """The entity, made anew."""
        return StubBody(goods=dict.fromkeys(self.goods, 1))

    @property
    def wanted(self) -> Have:
        """What it is asked for."""
        return Have(self.item)


def gameplays(*, max_strategies: int = 6, may_fail: bool = True) -> st.SearchStrategy[GameplayCase]:
    """What agents could have solved, with so many strategies at most, whose runs may fail or lie."""
    items = st.sampled_from(_ITEMS)
    ends = st.lists(st.sampled_from([None, _BROKEN]), max_size=3).map(tuple) if may_fail else st.just(())
    one: st.SearchStrategy[dict[str, Any]] = st.fixed_dictionaries(
        {
            "item": items,
            "needs": st.lists(items, max_size=3).map(tuple),
            "cost": st.sampled_from([1.0, 0.5, 2.0, 5.0]),
            "takes": st.sampled_from([1, 0, 2, 3]),
            "fails": ends,
            "lies": st.booleans() if may_fail else st.just(value=False),
            "flags": st.lists(st.sampled_from((MOVE, LOOK)), unique=True, max_size=2).map(tuple),
            "interruption": st.sampled_from(_KINDS),
        }
    )

    ways = st.lists(one, min_size=1, max_size=max_strategies)
    specs = ways.map(lambda parts: tuple(WaySpec(f"Way{number}", **part) for number, part in enumerate(parts)))
    return st.builds(GameplayCase, specs, st.lists(items, unique=True, max_size=2).map(tuple), items)
