"""Courses of events for agents that all four models drive: what changes when, and in which phase of a tick.

An event is a tuple of a tick, a phase, a word and a number; ``Course`` has it happen, and looks at the agents after
every tick. ``random_events`` makes one out of a seed, for many ticks; hypothesis makes short ones.
"""

from __future__ import annotations

from modules import load

from agentrt import sleep_ticks
from agentrt.bridges import performs
from agentrt.goals import Goal, GoalSelector
from agentrt.kernel.rng import Stream

mixed = load("tests/runtime/mixed_agents.py")

WISHES = (
    *("graze", "flee", "stumble", "errand", "given", "panic", "walk", "glance", "both", "strike", "play", "kick"),
    *("stare", "go", "tree", "goals", "mind", "A", "target"),
)
HOOKS = (
    *("Panic.can_use", "Panic.start", "Panic.stop", "Panic.runs", "Glance.tick", "Both.can_use", "STRIKE.activate"),
    *("STRIKE.deactivate", "STRIKE.runs", "JUMP.tick", "strike.decide", "play.decide", "Held.constructor"),
    *("Held.destructor", "Held.runs", "Held.signal", "Walk.start", "Walk.stop", "Walk.runs", "Graze.runs"),
    *("Graze.start", "TreeAction.start", "KICK.activate", "KICK.runs"),
)
PHASES = ("intake", "every tick", "callback", "strands", "publish")
WORDS = (
    "wish",
    "wish",
    "wish",
    "wish",
    "variable",
    "variable",
    "signal",
    "stimulus",
    "pack",
    "driver",
    "reload",
    "end",
)


class Counting(Goal):
    """What the agent beside must not miss: a tick of its goal, in each tick."""

    requires_update_every_tick = True

    def can_use(self):
        return True

    def tick(self):
        self.entity.ticks.append(self.body.kernel.tick)


class Course:
    """One agent in the middle of events, and one beside it that nothing happens to."""

    def __init__(self, runtime, events, precedences=(0, 0, 0, 0), ticks=40):
        self.runtime = runtime
        self.events = events
        self.precedences = precedences
        self.ticks = ticks
        self.calls = (0, -1)
        self.texts, self.library = mixed.library()
        self.agents = [self.new()]
        self.injections = []
        self.beside = mixed.possessed("bob", self.library["Mind"])
        self.beside.entity.ticks = []
        counting = GoalSelector(name="counting")
        counting.add_goal(1, Counting())
        self.beside.attach(counting)
        runtime.add(self.beside)
        runtime.every_tick(lambda: self.due("every tick"))
        runtime.after_tick(self.after)
        runtime.spawn(self.world)
        runtime.post(self.intake)

    @property
    def agent(self):
        return self.agents[-1]

    def new(self):
        agent = mixed.possessed("ann", self.library["Mind"], self.precedences)
        agent.entity.told = self.called_back
        return self.runtime.add(agent)

    def called_back(self):
        """Within a callback of the agent: what is to happen in this tick at so many-th one."""
        tick = self.runtime.tick
        self.calls = tick, self.calls[1] + 1 if tick == self.calls[0] else 0
        for when, phase, word, number in self.events:
            if (when, phase, number % 10) == (tick, "callback", self.calls[1]):
                getattr(self, word)(number)

    async def world(self):
        while True:
            self.due("strands")
            await sleep_ticks(1)

    def intake(self):
        self.due("intake")
        if self.runtime.tick < self.ticks:
            self.runtime.post(self.intake)

    def after(self):
        self.due("publish")
        for agent in (*self.agents, self.beside):
            mixed.look_at(agent)

    def due(self, phase):
        for tick, when, word, number in self.events:
            if tick == self.runtime.tick and when == phase:
                getattr(self, word)(number)

    # --- what happens -------------------------------------------------------------------------------------------------

    def driver(self, number):
        """Attach a driver, or detach one."""
        agent, name = self.agent, f"x{number % 3}"
        live = [one for one in agent.attachments if one.is_live]
        found = [one for one in live if one.driver.name == name]
        if found:
            found[0].detach()
        elif number % 7 == 0 and live:
            live[number % len(live)].detach()
        else:
            made = (
                lambda: mixed.goals(name, tag=name),
                lambda: mixed.LITTLE.memory(name=name),
                lambda: self.library["Mind"].state({"Held": mixed.Held, "Walks": performs("test:walk")}, name=name),
            )[number % 3]()
            agent.attach(made, every=number % 2 + 1, precedence=number % 5 % 3)

    def state(self):
        return next((one.driver for one in self.agent.attachments if one.driver.name == "selection"), None)

    def wish(self, number):
        self.agent.entity.wishes ^= {WISHES[number % len(WISHES)]}

    def variable(self, number):
        if (state := self.state()) is not None:
            state.set_variable("ABCDE"[number % 5], number % 3 > 0)

    def signal(self, number):
        if (state := self.state()) is not None:
            state.signal(("Flip", "Calm")[number % 2])

    def stimulus(self, number):
        for one in self.agent.attachments:
            if one.driver.name == "tree":
                one.driver.stimuli.add(mixed.SCARED, None, timeout=0.1 + number % 3 / 10)

    def pack(self, number):
        if self.injections and number % 2:
            self.injections.pop(number % len(self.injections)).revoke()
        else:
            self.injections.append(self.agent.inject(mixed.Given))

    def reload(self, number):
        self.texts["Mind.xml"] = (mixed.TEXT, mixed.OTHER, "<broken")[number % 3]
        self.library.reload()

    def end(self, number):
        """Remove the agent; if it is gone already, the next one comes, or the same again."""
        if self.agent.is_alive:
            self.runtime.remove(self.agent)
        elif self.agent.runtime is None:
            if number % 2:
                self.runtime.add(self.agent)
            else:
                self.injections = []
                self.agents.append(self.new())

    def bad(self, number):
        self.agent.entity.bad.add(HOOKS[number % len(HOOKS)])

    # --- what holds ---------------------------------------------------------------------------------------------------

    def check(self):
        """After the runtime was closed."""
        assert self.runtime.kernel.live == 0
        for agent in (*self.agents, self.beside):
            mixed.look_at(agent)
            mixed.check_end(agent)
        last = self.beside.entity.ticks[-1]
        assert self.beside.entity.ticks == list(range(1, last + 1))
        assert last >= self.ticks


def random_events(seed, ticks=40, words=WORDS):
    """Three events in a tick, or so."""
    random = Stream(seed)
    return [
        (random.between(1, ticks), random.choice(PHASES), random.choice(words), random.below(1000))
        for _ in range(ticks * 3)
    ]
