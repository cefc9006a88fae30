"""An agent that is asked for things, to be looked at; and strategies that it does it by."""

from __future__ import annotations

import json

from agentrt import MOVE, Agent
from agentrt.errors import DependencyFailedError
from agentrt.snapshot import AgentSnapshot, explain
from agentrt.strategy import strategy
from agentrt.testing import Have, Simulation, StubBody, stub_strategy


class Stage:
    """One agent that is asked for things."""

    def __init__(self, *strategies, goods=None, body=None, **options):
        self.sim = Simulation()
        self.agent = self.sim.add(Agent(body or StubBody(goods=goods), name="Ann", **options))
        self.agent.gameplay.add_strategy(*strategies)
        self.errors = []

    def ask(self, wanted, ticks=1):
        self.sim.runtime.spawn(self._ask, wanted)
        self.sim.tick(ticks)
        return self

    async def _ask(self, wanted):
        try:
            await self.agent.gameplay.solve(wanted)
        except DependencyFailedError as error:
            self.errors.append(error)

    @property
    def view(self):
        return self.agent.snapshot().strategies

    def words(self):
        """What the explanation says of what is solved, out of a snapshot that was written and read again."""
        text = explain(again(self.agent.snapshot()))
        assert text == self.agent.explain()
        lines = text.splitlines()
        return [line for line in lines if "asked for" in line][:1] + _after(lines, "asked for")


def _after(lines, part):
    at = next((index for index, line in enumerate(lines) if part in line), len(lines))
    found = []
    for line in lines[at + 1 :]:
        if not line.startswith("    "):
            break
        found.append(line)
    return found


def again(snapshot):
    text = json.dumps(snapshot.as_json(), allow_nan=False)
    read = AgentSnapshot.from_json(json.loads(text))
    assert read == snapshot
    assert json.dumps(read.as_json()) == text
    return read


Chop = stub_strategy(
    cost=lambda ask, wanted: 4.0 if wanted.item == "log" else None, takes=20, label="ChopTree", flags={MOVE}
)
Carve = stub_strategy(
    cost=lambda ask, wanted: 1.0 if wanted.item == "spoon" else ask.cannot(f"{wanted.item} cannot be carved"),
    needs=lambda wanted: [Have("log")],
    label="Carve",
)


@strategy(Have, cost=2)
async def beg(ctx, wanted):
    ctx.fail("nobody gave any")


@strategy(Have, cost=90)
async def trade(ctx, wanted):
    ctx.fail("the shop is closed")
