"""Agents that all four models drive, and what holds for them whatever happens.

Every callback writes a pair into the diary of its entity: what begins, and what ends. Whoever uses a control flag looks,
while it does, whether it has it: it holds the flag itself, or whoever it runs for does.
"""

from __future__ import annotations

import json

from agentrt import LOOK, MOVE, TOP, Action, Agent, CancelScope, Entity, sleep_ticks
from agentrt.behavior import Behavior, BehaviorTree, Check, decider, group
from agentrt.behavior.memory import Activation, ActivationStage
from agentrt.bridges import DriverAction, PerformGoal, attaches, injects, perform_behavior, performs
from agentrt.goals import TARGETS, Goal, GoalSelector
from agentrt.selection import LeafBehavior, SelectionLibrary

SCARED = 1


class Being(Entity):
    """Wishes are what callbacks look at; a hook that is named in ``bad`` raises."""

    def __init__(self, name="ann"):
        super().__init__(name, name=name)
        self.diary = []
        self.wishes = set()
        self.bad = set()
        self.misuse = []
        self.told = None

    def wants(self, wish):
        return wish in self.wishes

    def tell(self, name, word):
        self.diary.append((name, word))
        if self.told is not None:
            self.told()
        if f"{name}.{word}" in self.bad:
            raise ValueError(f"{name}.{word}")


def shares(ledger, flag, holder):
    """Whether somebody has a flag, or runs for whoever has it."""
    hold = ledger.holder(flag)
    while hold is not None and holder is not None:
        if hold.owner is holder or is_successor(hold.owner, holder):
            return True
        holder = holder.runs_for
    return False


def is_successor(heir, holder):
    """Whether a decider that is chosen waits for another one of its tree to clean up, whose flags it has already."""
    both = isinstance(heir, Activation) and isinstance(holder, Activation)
    return both and heir.memory is holder.memory and heir.stage is ActivationStage.CANDIDATE


def check_use(entity, ledger, flags, holder, where):
    for flag in flags:
        if not shares(ledger, flag, holder):
            entity.misuse.append((where, flag, ledger.holder(flag)))


async def working(entity, name, ticks, cleans, look):
    """A coroutine callback that looks in every tick, and takes its time to clean up."""
    entity.tell(name, "runs")
    try:
        for _ in range(ticks):
            look()
            await sleep_ticks(1)
    finally:
        if cleans:
            with CancelScope(shield=True):
                for _ in range(cleans):
                    look()
                    await sleep_ticks(1)
        look()
        entity.diary.append((name, "ran"))


# --- the plan ---------------------------------------------------------------------------------------------------------


class Told(Action):
    does = TOP
    utility = 0.5
    wish = ""
    ticks = 3
    cleans = 0

    async def think(self, ctx, args):
        while True:
            if not self.wish or ctx.entity.wants(self.wish):
                ctx.set_think_output()
            else:
                ctx.clear_think_output()
            await ctx.sleep_ticks(1)

    def start(self, ctx, args):
        ctx.entity.tell(type(self).__name__, "start")

    async def run(self, ctx, args):
        name = type(self).__name__
        flags, ledger = type(self).flags, ctx.agent.flags
        await working(
            ctx.entity, name, self.ticks, self.cleans, lambda: check_use(ctx.entity, ledger, flags, ctx.holder, name)
        )

    def stop(self, ctx, args):
        ctx.entity.tell(type(self).__name__, "stop")


class Rest(Told):
    utility = 0.1
    ticks = 50


class Graze(Told):
    utility = 0.3
    flags = {MOVE}
    wish = "graze"
    cleans = 1


class Flee(Told):
    utility = 0.9
    flags = {MOVE, LOOK}
    wish = "flee"


class Stumble(Told):
    utility = 0.8
    wish = "stumble"

    async def run(self, ctx, args):
        await ctx.sleep_ticks(1)
        ctx.abort("stumbled")


class Walk(Told):
    does = "test:walk"
    flags = {MOVE}
    ticks = 2
    cleans = 1


class Watch(Told):
    does = "test:watch"
    flags = {LOOK}
    ticks = 2


class Errand(Told):
    """Executes what others perform, too."""

    utility = 0.6
    wish = "errand"

    async def run(self, ctx, args):
        await ctx.execute("test:walk")
        await ctx.execute("test:watch")


class Given(Told):
    """What a pack gives."""

    utility = 0.7
    flags = {LOOK}
    wish = "given"


# --- goals ------------------------------------------------------------------------------------------------------------


class ToldGoal(Goal):
    def __init__(self, name, wish, flags, *, ticks=None, cleans=0):
        self.name = name
        self.wish = wish
        self.ticks = ticks
        self.cleans = cleans
        self.set_flags(flags)

    def can_use(self):
        self.entity.tell(self.name, "can_use")
        return not self.wish or self.entity.wants(self.wish)

    def look(self):
        check_use(self.entity, self.body.flags, self.control_flags, self._place.holder_of(self), self.name)

    def start(self):
        self.look()
        self.entity.tell(self.name, "start")

    def tick(self):
        self.look()
        self.entity.tell(self.name, "tick")

    def stop(self):
        self.entity.tell(self.name, "stop")


class SlowGoal(ToldGoal):
    async def run(self):
        await working(self.entity, self.name, self.ticks, self.cleans, self.look)


def goals(name="goals", precedence=0, tag="", rank=2):
    selector = GoalSelector(name=name, precedence=precedence, rank=rank)
    for priority, goal in (
        (1, SlowGoal(f"Panic{tag}", "panic", {MOVE}, ticks=4, cleans=2)),
        (2, PerformGoal("test:walk", flags={MOVE}, when=lambda entity: entity.wants("walk"))),
        (3, ToldGoal(f"Glance{tag}", "glance", {LOOK})),
        (4, ToldGoal(f"Both{tag}", "both", {MOVE, LOOK})),
    ):
        selector.add_goal(priority, goal)
    return selector


# --- behavior trees ---------------------------------------------------------------------------------------------------


class ToldBehavior(Behavior):
    def __init__(self, name, flags=(), *, ticks=None, cleans=0):
        super().__init__(name)
        self.flags = flags
        self.ticks = ticks
        self.cleans = cleans

    def look(self, at):
        check_use(at.agent, at.body.flags, self.flags, at, at.path)

    def activate(self, at):
        at.agent.tell(self.name, "activate")

    def tick(self, at):
        self.look(at)
        at.agent.tell(self.name, "tick")

    def deactivate(self, at):
        at.agent.tell(self.name, "deactivate")


class SlowBehavior(ToldBehavior):
    async def run(self, at):
        await working(at.agent, self.name, self.ticks, self.cleans, lambda: self.look(at))


def wants(wish):
    def decide(memory):
        memory.agent.tell(wish, "decide")
        return memory.agent.wants(wish)

    return decide


TREE = BehaviorTree(
    group("ROOT")[
        decider("JUMP", ToldBehavior("JUMP", (MOVE,)), stimuli=Check(all_set=SCARED)),
        decider("STRIKE", SlowBehavior("STRIKE", (MOVE, LOOK), ticks=3, cleans=2), decide=wants("strike")),
        group("PLAY", behavior=ToldBehavior("PLAY_GROUP", (LOOK,)), decide=wants("play"))[
            decider("GO", perform_behavior("test:walk", flags=(MOVE,)), every=0.5),
            decider("SEE", perform_behavior("test:watch"), every=0.5),
            decider("ROLL", ToldBehavior("ROLL")),
        ],
        decider("DOZE", SlowBehavior("DOZE", ticks=2)),
    ]
)

LITTLE = BehaviorTree(
    group("ROOT")[
        decider("KICK", SlowBehavior("KICK", (MOVE,), ticks=2, cleans=1), decide=wants("kick"), every=0.2),
        decider("STARE", ToldBehavior("STARE", (LOOK,)), decide=wants("stare")),
        decider("WALK", perform_behavior("test:walk", flags=(MOVE,)), decide=wants("go")),
        decider("NAP", ToldBehavior("NAP")),
    ]
)


# --- selection trees --------------------------------------------------------------------------------------------------

TEXT = """
<SelectionTree name="Mind">
  <Variables>
    <Variable name="A"/><Variable name="B"/><Variable name="C"/><Variable name="D"/><Variable name="E"/>
  </Variables>
  <SignalVariables>
    <Signal name="Flip" variable="A" value="!A"/>
    <Signal name="Calm" variable="B" value="false"/>
  </SignalVariables>
  <Priority name="Root">
    <Leaf name="Held" condition="A"/>
    <Leaf name="Pack" condition="B"/>
    <Leaf name="Tree" condition="C"/>
    <Leaf name="Goals" condition="D"/>
    <Leaf name="Walks" condition="E"/>
    <Leaf name="Nothing"/>
  </Priority>
</SelectionTree>
"""
OTHER = TEXT.replace('<Leaf name="Held" condition="A"/>', "").replace(
    '<Leaf name="Nothing"/>', '<Leaf name="Held" condition="A"/><Leaf name="Unknown"/>'
)


class Held(LeafBehavior):
    """A leaf that holds a flag, with a coroutine."""

    flags = (LOOK,)

    def constructor(self, ai):
        self.look(ai)
        ai.entity.tell("Held", "constructor")

    def destructor(self, ai):
        ai.entity.tell("Held", "destructor")

    def look(self, ai):
        held = None if ai._stage.flags is None else ai._stage.flags.held
        check_use(ai.entity, ai.body.flags, self.flags, held, "Held")

    async def run(self, ai):
        await working(ai.entity, "Held", 3, 2, lambda: self.look(ai))

    def Flip(self, ai):  # noqa: N802 - the name of the signal
        ai.entity.tell("Held", "signal")


BEHAVIORS = {
    "Held": Held,
    "Pack": injects(Given),
    "Tree": attaches(lambda: LITTLE.memory(name="little"), precedence=2),
    "Goals": attaches(lambda: goals("fleeting", tag="Fleeting"), every=2),
    "Walks": performs("test:walk"),
}


def library():
    texts = {"Mind.xml": TEXT}
    return texts, SelectionLibrary.from_texts(texts)


# --- actions that hand the body on ------------------------------------------------------------------------------------


class TreeAction(DriverAction):
    does = TOP
    utility = 0.65
    flags = {MOVE}
    wish = "tree"
    think = Told.think

    def start(self, ctx, args):
        ctx.entity.tell("TreeAction", "start")

    def make_driver(self, ctx, args):
        return LITTLE.memory(name="inner")

    def goes_on(self, ctx, driver):
        return ctx.entity.wants("tree")

    def stop(self, ctx, args):
        ctx.entity.tell("TreeAction", "stop")


class GoalsAction(TreeAction):
    utility = 0.66
    wish = "goals"

    def make_driver(self, ctx, args):
        return goals("inner goals", tag="Inner")

    def goes_on(self, ctx, driver):
        return ctx.entity.wants("goals")


class MindAction(TreeAction):
    utility = 0.67
    flags = {LOOK}
    wish = "mind"
    tree = library()[1]["Mind"]

    def make_driver(self, ctx, args):
        state = self.tree.state({"Held": Held, "Walks": performs("test:walk")}, name="inner mind")
        state.set_variable("A" if ctx.entity.wants("A") else "E", True)
        return state

    def goes_on(self, ctx, driver):
        return ctx.entity.wants("mind")


ACTIONS = (Rest, Graze, Flee, Stumble, Walk, Watch, Errand, TreeAction, GoalsAction, MindAction)


def possessed(name="ann", tree=None, precedences=(0, 0, 0, 0), **options):
    """An agent that all four models drive; the precedences are those of selection, goals, tree and plan."""
    if tree is None:
        tree = library()[1]["Mind"]
    selection, selector, behavior, plan = precedences
    targets = GoalSelector(name="targets", rank=TARGETS)
    targets.add_goal(1, ToldGoal("Target", "target", {"TARGET"}))
    drivers = [
        tree.state(BEHAVIORS, precedence=selection),
        targets,
        goals(precedence=selector),
        TREE.memory(precedence=behavior),
    ]
    return Agent(Being(name), name=name, actions=list(ACTIONS), drivers=drivers, precedence=plan, **options)


# --- what holds -------------------------------------------------------------------------------------------------------

PAIRS = {"start": "stop", "activate": "deactivate", "constructor": "destructor", "runs": "ran"}
ENDS = {end: begin for begin, end in PAIRS.items()}


def unpaired(diary):
    """What began and did not end, or the other way round."""
    open_ones, wrong = {}, []
    for name, word in diary:
        if word in PAIRS:
            open_ones[name, word] = open_ones.get((name, word), 0) + 1
        elif word in ENDS:
            key = name, ENDS[word]
            open_ones[key] = open_ones.get(key, 0) - 1
            if open_ones[key] < 0:
                wrong.append((name, word))
    return wrong + [key for key, count in open_ones.items() if count > 0]


def look_at(agent):
    """Whatever it does, it can be looked at."""
    json.dumps(agent.snapshot().as_json())
    agent.explain()
    assert agent.entity.misuse == [], agent.entity.misuse


def check_end(agent):
    broken = {hook.split(".")[0] for hook in agent.entity.bad}  # what raised while it began has no end
    assert [one for one in unpaired(agent.entity.diary) if one[0] not in broken] == []
    assert agent.entity.misuse == [], agent.entity.misuse
    assert agent.flags.is_free, (agent.flags.holds(), agent.flags.waiting())
    assert agent.drivers.strands() == []
