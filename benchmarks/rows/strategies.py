"""Which of 200 strategies to run, in the steady state.

One unit is one decision: what all strategies that provide a dependency would cost, sorted. In three rows all provide
the same dependency, ten, 200 and a thousand of them, to show the growth. In the last there are 200 for twenty
dependencies, ten for each, every one of which needs the next dependency, so that estimates are looked ahead through
four levels. Each strategy reads one of twenty topics, and before each decision one topic changes, so that a twentieth
of them has to be asked again, with whatever rests on them.

The limit is a chooser by hand that asks everybody anew and sorts: no memo, no worlds, no guard against circles, no
strategy that may come or go, none that raises. It never looks a level ahead.
"""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from functools import partial
from typing import Any

from agentrt import Agent, Entity
from agentrt.strategy import Ask, Dependency, Strategy
from benchmarks.harness import Row, Side, Size, Work

__all__ = [
    "STRATEGIES_CHAINED",
    "STRATEGIES_ONE_NEED",
    "STRATEGIES_TEN",
    "STRATEGIES_THOUSAND",
    "catalog",
    "decisions",
]

TOPICS = tuple(f"topic{number}" for number in range(20))
DEPENDENCIES = 20


class Asked(Entity):
    """The entity of the agent; counts what strategies are asked."""

    def __init__(self) -> None:
        super().__init__("agent")
        self.asked: int = 0


class Get(Dependency[None], activity="benchmark:get"):
    """One of the things to get."""

    reads = ()

    what: int

    def is_met(self, ask: Ask) -> bool:
        return False


KINDS: list[type[Dependency[None]]] = [
    type(f"Get{number}", (Get,), {"__annotations__": {}}, activity=f"benchmark:get{number}")
    for number in range(DEPENDENCIES)
]


def _cost(number: int) -> float:
    """What one of them costs: all different for a while, and in no order."""
    return float(1 + number * 7919 % 101)


def catalog(count: int, kinds: int) -> list[type[Strategy]]:
    """Strategies, spread over dependencies of which each needs the next.

    Args:
        count: how many strategies.
        kinds: how many dependencies.
    """
    found: list[type[Strategy]] = []
    for number in range(count):
        place = number * kinds // count
        needs = KINDS[place + 1](0) if place + 1 < kinds else None

        def estimate(self: Strategy, ask: Any, wanted: Any, number: int = number, needs: Any = needs) -> float:
            ask.agent.entity.asked += 1
            own = _cost(number)
            return own if needs is None else own + ask.cost(needs)

        async def run(self: Strategy, ctx: Any, wanted: Any) -> None:
            return None

        body = {
            "provides": KINDS[place],
            "reads": (TOPICS[number % len(TOPICS)],),
            "estimate": estimate,
            "run": run,
        }
        found.append(type(f"Way{number}", (Strategy,), body))
    return found


@contextmanager
def decisions(size: Size, kinds: int) -> Iterator[Work]:
    """An agent with strategies that decides.

    Args:
        size: how many strategies, how many decisions.
        kinds: over how many dependencies they are spread.
    """
    entity = Asked()
    agent = Agent(entity, name="agent")
    agent.gameplay.add_strategy(*catalog(size.count, kinds))
    wanted = KINDS[0](0)
    estimator = agent.gameplay.estimator
    estimator.offers(wanted)
    asked = entity.asked
    assert asked >= size.count // kinds, "somebody was not asked"

    def work() -> int:
        for number in range(size.rounds):
            agent.gameplay.changed(TOPICS[number % len(TOPICS)])
            offers = estimator.offers(wanted)
            assert offers[0].cost <= offers[-1].cost
        return size.rounds

    yield work
    assert entity.asked > asked or size.count < len(TOPICS), "nobody was asked again"


@contextmanager
def one_need(size: Size) -> Iterator[Work]:
    """All provide the same."""
    with decisions(size, 1) as work:
        yield work


@contextmanager
def chained(size: Size) -> Iterator[Work]:
    """Twenty dependencies, each of which needs the next."""
    with decisions(size, DEPENDENCIES if size.count >= DEPENDENCIES else 1) as work:
        yield work


@contextmanager
def by_hand(size: Size) -> Iterator[Work]:
    """Everybody is asked anew."""
    costs = [partial(_cost, number) for number in range(size.count)]

    def work() -> int:
        for _ in range(size.rounds):
            offers = sorted((cost(), number) for number, cost in enumerate(costs))
            assert offers[0][0] <= offers[-1][0]
        return size.rounds

    yield work


def _row(name: str, count: int, at_most_times: float | None = None) -> Row:
    return Row(
        name=name,
        what=f"choose among {count} strategies for one need, a twentieth of them changed",
        gauge="seconds",
        ours=Side("agentrt", one_need),
        limit=Side("ask all by hand", by_hand),
        at_most_times=at_most_times,
        size=Size(count, 100),
        quick=Size(count, 10),
    )


STRATEGIES_TEN = _row("strategies_ten", 10)
STRATEGIES_ONE_NEED = _row("strategies_one_need", 200, 17)
STRATEGIES_THOUSAND = _row("strategies_thousand", 1000)

STRATEGIES_CHAINED = Row(
    name="strategies_chained",
    what="choose with 200 strategies for 20 needs, four levels ahead, one topic changed",
    gauge="seconds",
    ours=Side("agentrt", chained),
    limit=Side("ask all by hand", by_hand),
    at_most_times=17,
    size=Size(200, 100),
    quick=Size(200, 10),
)
