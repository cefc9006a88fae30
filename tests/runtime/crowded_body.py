"""One body on which everything wants the same few parts, and who uses which: the crowd of test_same_legs."""

from __future__ import annotations

from agentrt import JUMP, LOOK, MOVE, TOP, Action, Agent, CancelScope, Entity, next_tick, sleep_ticks
from agentrt.behavior import Behavior, BehaviorTree, decider, group
from agentrt.goals import GOALS, TARGETS, Goal, GoalSelector
from agentrt.selection import LeafBehavior, SelectionLibrary
from agentrt.testing import Simulation

PARTS = (MOVE, LOOK, JUMP)


class Use:
    """Who uses which part at the moment, as they themselves say, and who did so although somebody else was."""

    def __init__(self):
        self.by_part = {}
        self.clashes = []
        self.wanted = {}

    def begin(self, name, parts):
        for part in parts:
            if part in self.by_part:
                self.clashes.append((part, self.by_part[part], name))
            self.by_part[part] = name

    def end(self, name, parts):
        for part in parts:
            if self.by_part.get(part) == name:
                del self.by_part[part]
            else:
                self.clashes.append((part, "was taken from", name))

    def wants(self, name):
        return self.wanted.get(name, False)


async def clean_up(ticks):
    if ticks:
        with CancelScope(shield=True):
            await sleep_ticks(ticks)


def plan_action(use, label, parts, worth):
    async def think(self, ctx, args):
        while True:
            if use.wants(label):
                ctx.set_think_output()
            else:
                ctx.clear_think_output()
            await ctx.next_tick()

    async def run(self, ctx, args):
        use.begin(label, parts)
        try:
            while use.wants(label):
                await ctx.next_tick()
        finally:
            use.end(label, parts)

    body = {"does": TOP, "utility": worth, "flags": set(parts), "name": label, "think": think, "run": run}
    return type(label.upper(), (Action,), body)


class Wish(Goal):
    def __init__(self, use, label, parts, ticks):
        self.use, self.name, self.parts, self.ticks = use, label, parts, ticks
        self.set_flags(parts)

    def can_use(self):
        return self.use.wants(self.name)

    def start(self):
        self.use.begin(self.name, self.parts)

    def stop(self):
        self.use.end(self.name, self.parts)

    async def run(self):
        try:
            await sleep_ticks(1000)
        finally:
            await clean_up(self.ticks)


class Urge(Behavior):
    def __init__(self, use, label, parts, ticks):
        super().__init__(label)
        self.use, self.label, self.parts, self.ticks = use, label, parts, ticks
        self.flags = parts

    def activate(self, at):
        self.use.begin(self.label, self.parts)

    def deactivate(self, at):
        self.use.end(self.label, self.parts)

    async def run(self, at):
        try:
            while self.use.wants(self.label):
                await next_tick()
        finally:
            await clean_up(self.ticks)


class Stance(LeafBehavior):
    def __init__(self, use, label, parts, ticks):
        self._use, self._label, self._ticks = use, label, ticks
        self.flags = tuple(parts)

    def constructor(self, ai):
        self._use.begin(self._label, self.flags)

    def destructor(self, ai):
        self._use.end(self._label, self.flags)

    async def run(self, ai):
        try:
            await sleep_ticks(1000)
        finally:
            await clean_up(self._ticks)


class Crowd:
    """An agent with three actions, two selectors of three goals, three deciders and three leaves.

    Args:
        draw: gives random numbers, as ``random.Random`` does.
    """

    def __init__(self, draw):
        self.use = use = Use()
        self.draw = draw
        worth = (0.3, 0.5, 0.7)
        actions = [plan_action(use, f"a{n}", self._parts(), draw.choice(worth)) for n in range(3)]
        self.sim = Simulation(seed=1)
        self.agent = self.sim.add(Agent(Entity("body"), actions=actions, precedence=draw.randrange(2)))
        for number in range(2):
            selector = GoalSelector(name=f"g{number}", precedence=draw.randrange(3), rank=draw.choice((TARGETS, GOALS)))
            for n in range(3):
                selector.add_goal(draw.randrange(5), Wish(use, f"g{number}{n}", self._parts(), self._ticks()))
            self.agent.attach(selector)
        deciders = tuple(
            decider(f"B{n}", Urge(use, f"b{n}", self._parts(), self._ticks()), decide=lambda _, n=n: use.wants(f"b{n}"))
            for n in range(3)
        )
        self.agent.attach(BehaviorTree(group("ROOT")[deciders]).memory(precedence=draw.randrange(3)))
        variables = "".join(f'<Variable name="s{n}"/>' for n in range(3))
        leaves = "".join(f'<Leaf name="L{n}" condition="s{n}"/>' for n in range(3))
        xml = f'<SelectionTree><Variables>{variables}</Variables><Priority name="R">{leaves}</Priority></SelectionTree>'
        behaviors = {f"L{n}": Stance(use, f"s{n}", self._parts(), self._ticks()) for n in range(3)}
        tree = SelectionLibrary.from_texts({"t.xml": xml})["t"]
        self.stances = tree.state(behaviors, precedence=draw.randrange(3))
        self.agent.attach(self.stances)
        self.names = [f"{kind}{n}" for kind in ("a", "g0", "g1", "b", "s") for n in range(3)]

    def _parts(self):
        return tuple(self.draw.sample(PARTS, self.draw.randrange(1, 3)))

    def _ticks(self):
        return self.draw.choice((0, 0, 1, 3))

    def want(self, name, is_wanted):
        self.use.wanted[name] = is_wanted
        if name[0] == "s":
            self.stances.set_variable(name, is_wanted)

    def tick(self, ticks):
        """Tick until somebody uses what somebody else uses."""
        for _ in range(ticks):
            self.sim.tick(1)
            assert not self.use.clashes, f"tick {self.sim.now}: {self.use.clashes}"

    def calm(self):
        for name in self.names:
            self.want(name, False)
        self.tick(40)
        left = (self.agent.flags.holds(), self.agent.flags.waiting(), self.use.by_part)
        assert left == ({}, [], {}), f"in peace somebody still holds or waits: {left}"
