"""A town for tests, with what can be counted about it."""

from __future__ import annotations

import pytest

from agentrt.snapshot.take import summarize
from agentrt_examples.town.game import TownGame
from agentrt_examples.town.hours import DAY


class Watched:
    """A town, and what happened in it: faults, events by kind, and how long anybody had nothing to do."""

    def __init__(self, seed=0, host="plain", model=None):
        self.game = TownGame(seed=seed, host=host, model=model)
        self.runtime, self.town, self.mind = self.game.runtime, self.game.town, self.game.mind
        self.faults, self.events, self.thoughts = [], [], []
        self.runtime.on_fault(self.faults.append)
        self.town.happened.connect(self.events.append)
        self.runtime.trace.listen(self._hear)
        self.idle = dict.fromkeys(self.town.people, 0)  # the longest time without an action, in ticks
        self._since = dict.fromkeys(self.town.people, 0)

    def _hear(self, record):
        if record.event == "thought":
            self.thoughts.append((record.tick, record.agent, dict(record.detail)["became"]))

    def tick(self, number=1):
        for _ in range(number):
            self.runtime.step()
            for agent in self.game.agents:
                is_busy = bool(summarize(agent).running)
                self._since[agent.name] = 0 if is_busy else self._since[agent.name] + 1
                self.idle[agent.name] = max(self.idle[agent.name], self._since[agent.name])

    def kinds(self, kind):
        return [event for event in self.events if event.kind == kind]

    def became(self, what, first=0, last=1 << 30):
        """Who thought what became of a thought, in some ticks."""
        return [who for tick, who, became in self.thoughts if became == what and first <= tick <= last]

    def close(self):
        self.runtime.close()


@pytest.fixture
def watched():
    made = []

    def watched(**more):
        made.append(Watched(**more))
        return made[-1]

    yield watched
    for one in made:
        one.close()


@pytest.fixture(scope="module")
def two_days():
    """Two days of a town, run once: nobody may change anything of it."""
    made = Watched(seed=1)
    made.tick(2 * DAY)
    yield made
    made.close()
