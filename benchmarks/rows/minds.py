"""What a thought costs besides the call: five hundred characters who think by a model that takes 300 ms.

One unit is one thought, from the moment it is asked to the end of what was chosen. Everybody asks a scripted model that
answers after 0.3 game seconds, each time something else, so that nothing comes from the cache; meanwhile they go on by
a rule, and do for a second what was chosen. The limit is the same life without a model: a thought waits as long, and
then the same is done. What is between the two is the queue, the books, the prompt, its hash, the menu and the check of
the answer. ``minds_queue`` is a tick of the same, with eight calls at a time, so that nearly all wait in the queue.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any

from agentrt import TOP, Action, ActionArgs, Agent, Entity, Runtime
from agentrt.minds import Consider, Mind, Option, Scripted
from benchmarks.harness import Row, Side, Size, Work

__all__ = ["MINDS", "MINDS_QUEUE"]

CALL = 0.3  # game seconds
AT_ONCE = 8


class Walk(Action):
    does = "bench:walk"
    utility = 0.5

    class Args(ActionArgs):
        where: str

    async def run(self, ctx: Any, args: Any) -> None:
        await ctx.sleep(1)


class Idle(Action):
    does = TOP
    utility = 0.1

    async def run(self, ctx: Any, args: Any) -> None:
        await ctx.sleep(0.5)


class Think(Consider):
    does = TOP
    utility = 0.6
    prompt = "You are {name}. It is tick {tick}."
    probes = False

    def sees(self, ctx: Any, args: Any) -> dict[str, Any]:
        return {"name": ctx.entity.name, "tick": ctx.clock.tick}

    def options(self, ctx: Any, args: Any) -> list[Option]:
        return [Option("bench:walk", where=["pond", "mill", "inn"])]


class Wait(Action):
    """The same without a model."""

    does = TOP
    utility = 0.6

    async def think(self, ctx: Any, args: Any) -> None:
        await ctx.sleep(CALL)
        ctx.set_think_output()


def _answer(asked: Any) -> dict[str, Any]:
    return {"activity": "bench:walk", "args": {"where": "pond"}, "why": "it is near"}


def _people(runtime: Runtime, count: int, think: type[Action]) -> None:
    for number in range(count):
        runtime.add(Agent(Entity("person", name=f"P{number}"), actions=[Walk, Idle, think]))
    runtime.step(1.0)


def _until(runtime: Runtime, size: Size, thoughts: Callable[[], int]) -> Work:
    """So many thoughts of each."""

    def work() -> int:
        wanted = thoughts() + size.count * size.rounds
        while thoughts() < wanted:
            runtime.step()
        return size.count * size.rounds

    return work


@contextmanager
def ours(size: Size) -> Iterator[Work]:
    """A mind."""
    runtime = Runtime(seed=1, host="plain")
    mind = Mind(runtime, Scripted(_answer, CALL), at_once=size.count)
    _people(runtime, size.count, Think)
    yield _until(runtime, size, lambda: mind.calls)
    runtime.close()


@contextmanager
def waiting(size: Size) -> Iterator[Work]:
    """Thoughts that wait."""
    runtime = Runtime(seed=1, host="plain")
    done: list[int] = []

    class Waits(Wait):
        async def run(self, ctx: Any, args: Any) -> None:
            done.append(ctx.clock.tick)
            await ctx.execute("bench:walk", where="pond")

    _people(runtime, size.count, Waits)
    yield _until(runtime, size, lambda: len(done))
    runtime.close()


@contextmanager
def queueing(size: Size) -> Iterator[Work]:
    """A mind with eight calls at a time."""
    runtime = Runtime(seed=1, host="plain")
    mind = Mind(runtime, Scripted(_answer, CALL), at_once=AT_ONCE)
    _people(runtime, size.count, Think)

    def work() -> int:
        for _ in range(size.rounds):
            runtime.step()
        return size.rounds

    yield work
    assert mind.calls > 0
    runtime.close()


MINDS = Row(
    name="minds",
    what="a thought of one of 500 characters, asked, answered and done",
    gauge="seconds",
    ours=Side("agentrt", ours),
    limit=Side("thoughts that wait", waiting),
    size=Size(count=500, rounds=5),
    quick=Size(count=40, rounds=2),
)

MINDS_QUEUE = Row(
    name="minds_queue",
    what="a tick of 500 characters who think by a model, eight calls of 300 ms at a time",
    gauge="seconds",
    ours=Side("agentrt", queueing),
    size=Size(count=500, rounds=200),
    quick=Size(count=40, rounds=40),
)
