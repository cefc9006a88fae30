"""A small world, and clients of the inspector that are no more than lists."""

from __future__ import annotations

import json

from agentrt import LOOK, TOP, Action, Agent, CompoundAction, Entity, Runtime, sleep_ticks, step
from agentrt.behavior import Behavior, BehaviorTree, decider, group
from agentrt.goals import Goal, GoalSelector
from agentrt.inspect.live import LiveSource
from agentrt.inspect.protocol import Denial, read
from agentrt.inspect.recorded import RecordedScene, RecordedSource
from agentrt.inspect.sessions import Session
from agentrt.record.recording import Recording


class Eat(Action):
    does = "mod:eat"
    name = "eat"
    utility = 0.5

    async def run(self, ctx, args):
        await ctx.sleep_ticks(3)


class Rest(Action):
    does = "mod:rest"
    name = "rest"
    utility = 0.5

    async def run(self, ctx, args):
        await ctx.sleep_ticks(2)


class Live(CompoundAction):
    does = TOP
    name = "live"
    utility = 0.4
    steps = [step("mod:eat"), step("mod:rest")]


class Stare(Goal):
    """Looks around in ticks 4 to 7 of each ten."""

    name = "Stare"
    flags = {LOOK}

    def __init__(self, runtime):
        self.runtime = runtime

    def can_use(self):
        return 4 <= self.runtime.tick % 10 < 8


class Hum(Behavior):
    async def run(self, at):
        await sleep_ticks(3)


def add_goals(agent, runtime):
    selector = GoalSelector()
    selector.add_goal(1, Stare(runtime))
    agent.attach(selector)


def add_tree(agent, runtime):
    awake = decider("AWAKE", Hum("HUM"), decide=lambda at: runtime.tick % 6 < 3)
    agent.attach(BehaviorTree(group("ROOT")[awake, decider("ASLEEP", Hum("SNORE"))]).memory())


def make_village(host="plain", names=("Ann", "Bob", "Cyd"), seed=3):
    runtime = Runtime(seed, host=host)
    for name in names:
        entity = Entity("cat" if name == "Cyd" else "human", name=name)
        agent = runtime.add(Agent(entity, actions=[Live, Eat, Rest]))
        if name == "Bob":
            add_goals(agent, runtime)
            add_tree(agent, runtime)
    return runtime


class Clock:
    """Real time, as far as the inspector can tell."""

    def __init__(self):
        self.now = 100.0

    def __call__(self):
        return self.now


class Client:
    """A client without a socket.

    Args:
        source: what it looks at.
    """

    def __init__(self, source):
        self.source = source
        self.messages = []
        self.batches = 0
        self.is_gone = False
        self.session = Session(self._take)
        self.reads = True
        source.open(self.session)

    def _take(self, batch):
        assert not self.is_gone
        self.batches += 1
        self.messages += json.loads(json.dumps(batch))
        if self.reads:
            self.session.arrived()
        return True

    def ask(self, do, **fields):
        command = read(json.dumps({"do": do, **fields}))
        if isinstance(command, Denial):
            return  # the server tells it so, and nobody else hears of it
        assert self.session.submit(command), "busy"

    def leave(self):
        self.is_gone = True
        self.session.is_open = False
        self.source.close(self.session)

    def told(self, kind):
        return [message for message in self.messages if message["is"] == kind]

    def last(self, kind):
        return self.told(kind)[-1]

    def errors(self):
        return [message["code"] for message in self.told("error")]

    def records(self):
        return [row for message in self.told("events") for row in message["records"]]


class Watched:
    """A runtime with a source on it, a clock that is moved by hand, and clients."""

    def __init__(self, runtime, *, controls=True, past=0):
        self.runtime = runtime
        self.clock = Clock()
        self.source = LiveSource(runtime, "village", controls=controls, past=past, clock=self.clock)
        self.source.attach()
        self.past = self.source._past
        self.past._start = lambda: None  # it is served by hand

    def look_back(self, rounds=1, seconds=0.25):
        """Serve those who are in the past."""
        for _ in range(rounds):
            self.clock.now += seconds
            self.past.serve_past()

    def close(self):
        self.source.detach()
        self.past._close_file()

    def client(self, **watch):
        client = Client(self.source)
        if watch:
            client.ask("watch", **watch)
        return client

    def tick(self, ticks=1, seconds=0.125):
        """Run ticks; so much real time passes before each."""
        ran = 0
        for _ in range(ticks):
            self.clock.now += seconds
            ran += self.runtime.step()
        return ran


class Round:
    """A source that is served by hand, on this thread."""

    def __init__(self, path, *, controls=False):
        self.clock = Clock()
        self.source = RecordedSource(str(path), "", clock=self.clock, controls=controls)
        self.recording = Recording.open(path)
        self.scene = RecordedScene(self.recording, clock=self.clock)
        self.source._look(self.recording)

    def client(self, **watch):
        client = Client(self.source)
        if watch:
            client.ask("watch", **watch)
        return client

    def serve(self, rounds=1, seconds=0.25):
        for _ in range(rounds):
            self.clock.now += seconds
            self.source._serve(self.recording, self.scene)
