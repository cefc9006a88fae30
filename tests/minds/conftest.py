"""A small place with people who think by a scripted model, and what became of each thought."""

from __future__ import annotations

import pytest
from walkers import Idle, Walk

from agentrt import Agent, Entity, Runtime
from agentrt.minds import Mind, Scripted


def walks(asked):
    return {"activity": "t:walk", "args": {"where": "pond"}, "why": "it is nice"}


class Place:
    """A runtime on the plain host with a mind, and a list of what its thoughts became."""

    def __init__(self, answer=walks, *, latency=0.5, seed=3, model=None, **options):
        self.runtime = Runtime(seed=seed, host="plain")
        self.mind = Mind(self.runtime, model or Scripted(answer, latency), **options)
        self.thoughts = []  # tick, agent, what it became
        self.did = []  # tick, agent, what it did
        self.faults = []
        self.runtime.trace.listen(self._hear)
        self.runtime.on_fault(self.faults.append)

    def _hear(self, record):
        if record.event == "thought":
            self.thoughts.append((record.tick, record.agent, dict(record.detail)["became"]))

    def person(self, name, *actions, **more):
        entity = Entity("person", name=name, **more)
        agent = Agent(entity, name=name, actions=[Walk, Idle, *actions])
        entity.add(_Diary(self, name))
        return self.runtime.add(agent)

    def tick(self, number=1):
        for _ in range(number):
            self.runtime.step()

    def became(self, name):
        return [(tick, what) for tick, who, what in self.thoughts if who == name]


class _Diary:
    """Where the actions of these tests write what was done."""

    def __init__(self, place, name):
        self.place = place
        self.name = name

    def note(self, what):
        self.place.did.append((self.place.runtime.tick, self.name, what))


@pytest.fixture
def place():
    return Place


@pytest.fixture
def diary():
    return _Diary
