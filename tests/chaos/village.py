"""A village in which everything happens that can: what chaos is let loose on.

Its people are driven by all four models at once and work on shared tasks; they execute, spawn, suspend, listen, reserve,
call the outside, observe and perform; the world has coroutines of its own. A stream of random numbers decides what happens
next, so that equal seeds make equal villages, on every host.
"""

from __future__ import annotations

import sys

import anyio
import anyio.lowlevel
from cast import Risky
from modules import load

from agentrt import (
    TOP,
    Action,
    ActionArgs,
    Agent,
    CancelScope,
    CompoundAction,
    Entity,
    Manifest,
    Registry,
    ThinkOutput,
    move_on_after,
    sleep_ticks,
    step,
)
from agentrt.errors import (
    ActivityAbortedError,
    ActivityImpossibleError,
    InjectedFault,
    NotRunningError,
    WrongStateError,
)
from agentrt.goals import TARGETS, GoalSelector
from agentrt.kernel.rng import Stream
from agentrt.kernel.signals import Queue
from agentrt.tasks import TaskGroup, TaskGroupAction, declare_multiple_tasks, declare_permanent_task

hostile = load("tests/chaos/hostile.py")
mixed = hostile.private("tests/runtime/mixed_agents.py")  # mines are laid in it
seekers = hostile.private("tests/chaos/seekers.py")
FIELD = hostile.FIELD

WISHES = (
    *("graze", "flee", "stumble", "errand", "given", "panic", "walk", "glance", "both", "strike", "play", "kick"),
    *("stare", "go", "tree", "goals", "mind", "A", "target", "choose", "fell", "listen", "wait", "reserve", "seek"),
)
HOSTILE_WISHES = ("offer", "expose")


def wished(ctx, wish):
    return ctx.entity.wants(wish)


class Wishful(Action):
    """Ready while its wish is there."""

    does = TOP
    utility = 0.75
    wish = ""

    async def think(self, ctx, args):
        while True:
            if wished(ctx, self.wish):
                ctx.set_think_output()
            else:
                ctx.clear_think_output()
            await ctx.sleep_ticks(2)


class Choose(Wishful):
    """Has two activities think, and runs what is ready first; with a limit."""

    wish = "choose"

    async def run(self, ctx, args):
        first, second = ctx.spawn("test:walk"), ctx.spawn("village:dig")
        first.start_thinking()
        second.start_thinking()
        with move_on_after(0.3):
            await second.ready()
            await second.run()
        second.stop()
        await first.run()
        first.stop()


class Fell(Wishful):
    """Fells a tree that may go at any time."""

    wish = "fell"

    async def run(self, ctx, args):
        trees = [tree for tree in ctx.entity.trees if not tree.is_destroyed]
        if not trees:
            ctx.abort("no tree")
        await ctx.execute("village:fell", tree=trees[0])


class FellTree(Action):
    does = "village:fell"
    utility = 0.5

    class Args(ActionArgs):
        tree: Entity

    class Output(ThinkOutput):
        tree: Entity

    async def think(self, ctx, args):
        ctx.set_think_output(tree=args.tree)
        await ctx.signals["rain"].wait()
        ctx.reject("it rains")

    async def run(self, ctx, args):
        await ctx.sleep_ticks(3)
        ctx.unprotect_argument(args.tree)
        args.tree.destroy()
        await ctx.next_tick()


class Listen(Wishful):
    """Listens while it thinks and while it runs, and waits until it is resumed."""

    wish = "listen"

    def start(self, ctx, args):
        ctx.listen(ctx.signals["rain"], lambda _: ctx.resume("rain"))
        ctx.protect_argument(ctx.entity.trees[0])

    async def run(self, ctx, args):
        with move_on_after(0.6):
            await ctx.suspend()
        await ctx.signals["bell"].wait()


class Wait(Wishful):
    """Waits for a thing of a queue, and gives it back."""

    wish = "wait"

    async def run(self, ctx, args):
        thing = await ctx.entity.queue.get()
        try:
            await ctx.sleep_ticks(2)
        finally:
            ctx.entity.queue.put_nowait(thing)


class Ask(Wishful):
    wish = "ask"

    async def run(self, ctx, args):
        await ctx.call(str, 1)
        await ctx.work(2)
        await ctx.call(str, 2)


class Read(Wishful):
    """Awaits what the host offers."""

    wish = "read"

    async def run(self, ctx, args):
        if ctx.agent.kernel.host.name == "plain":
            await ctx.sleep_ticks(2)
            return
        with anyio.move_on_after(0.001):
            await ctx.sleep_ticks(50)
        async with anyio.create_task_group() as group:
            group.start_soon(anyio.sleep, 0)
            try:
                await self.wait(ctx)
            except (hostile.MuteError, hostile.Burst, BaseExceptionGroup):
                # A nursery of trio formats what is raised in it, and is left open if that cannot be done.
                raise InjectedFault("an await within a nursery") from None
        await ctx.execute("test:walk")

    async def wait(self, ctx):
        try:
            await ctx.next_tick()
            await anyio.lowlevel.checkpoint()
        finally:
            with CancelScope(shield=True):
                await ctx.sleep_ticks(1)


class Reserve(Wishful):
    """Holds a lease from start to stop."""

    wish = "reserve"
    lease = None

    def start(self, ctx, args):
        self.lease = ctx.agent.runtime.leases.acquire(ctx.entity.trees[1], ctx.agent)
        if self.lease is None:
            ctx.reject("somebody has it")

    async def run(self, ctx, args):
        await ctx.execute("village:dig")
        await ctx.sleep_ticks(2)

    def stop(self, ctx, args):
        if self.lease is not None:
            self.lease.release()


class Dig(Risky):
    does = "village:dig"


class Carry(Action):
    does = "village:carry"
    utility = 0.5

    async def run(self, ctx, args):
        await ctx.sleep_ticks(ctx.random.below(5))


class Haul(CompoundAction):
    does = "village:haul"
    utility = 0.6
    steps = (step("village:carry"), step("village:work"), step("village:dig"))


class Town(TaskGroupAction):
    does = TOP
    utility = (0.1, 0.8)
    tasks = (
        declare_multiple_tasks("village:dig", (0.2, 0.9)),
        declare_multiple_tasks("village:fell", 0.7),
        declare_multiple_tasks("village:haul", 0.4),
    )


class Gang(TaskGroupAction):
    does = "village:work"
    utility = (0.2, 0.6)
    tasks = (declare_multiple_tasks("village:dig", 0.5), declare_permanent_task("village:carry", {}, (0.0, 0.3)))


class Seek(CompoundAction):
    """Has something solved in its plan."""

    does = TOP
    utility = 0.7
    steps = (step("seek:fetch", item="wood", count=1), step("village:dig"))

    async def think(self, ctx, args):
        while not wished(ctx, "seek"):
            await ctx.sleep_ticks(2)
        ctx.set_think_output()


class Nod(Action):
    """Ends at once."""

    does = "village:nod"
    utility = 0.5

    async def run(self, ctx, args):
        pass


class Offer(Wishful):
    """Offers choices one by one, any of which may explode."""

    wish = "offer"

    async def think(self, ctx, args):
        while not wished(ctx, "offer"):
            await ctx.sleep_ticks(2)
        ctx.candidates(hostile.one_mined(FIELD))
        await ctx.sleep_ticks(2)


class Expose(Wishful):
    """Has things open while it thinks and while it runs, all of which may explode."""

    wish = "expose"
    utility = (0.3, 0.8)

    async def think(self, ctx, args):
        ctx.listen(ctx.signals["bell"], FIELD.hook(lambda _: ctx.set_think_output()))
        ctx.call_later(0.2, FIELD.hook(lambda: ctx.set_utility(0.9)))
        await super().think(ctx, args)

    async def run(self, ctx, args):
        FIELD.keep(ctx.spawn("test:watch")).start_thinking()
        ctx.listen(ctx.signals["bell"], FIELD.hook(ctx.resume))
        ctx.call_later(0.2, FIELD.hook(ctx.resume))
        ctx.set_debug_progress(hostile.reason(FIELD))
        await ctx.suspend()


class Waver(Haul):
    """Composes its utility."""

    does = "village:haul"

    def compose_utility(self, entity, self_utility, child_utilities, current_activity):
        return max(child_utilities["village:carry"], self_utility / 2)


ACTIONS = (*mixed.ACTIONS, Choose, Fell, FellTree, Listen, Wait, Ask, Read, Reserve, Dig, Carry, Haul, Seek)

HOSTILE_ACTIONS = (Nod, Offer, Expose, Waver)


async def watch(agent):
    """An observer: rings the bell when it rains, with a little clean-up."""
    try:
        while True:
            await agent.signal("rain").wait()
            agent.signal("bell").emit()
            await sleep_ticks(1)
    finally:
        with CancelScope(shield=True):
            await sleep_ticks(1)


for module in (mixed, seekers, sys.modules[__name__]):
    hostile.lay(module)
mixed.Being.wants = FIELD.hook(mixed.Being.wants)  # whatever decides asks it

REGISTRY = Registry(
    [
        Manifest(
            "village",
            {"observers:watch": FIELD.coroutine(watch), "ai_pack:folk": {"observers": ["village:observers:watch"]}},
        )
    ]
)


class Village:
    """Some people, their groups, and what happens to them.

    Args:
        runtime: an empty one.
        seed: of all that happens.
        people: how many.
        busy: how many events there are in a tick.
        outside: whether they await what takes real time; then runs on an event loop are not equal to the tick.
        is_hostile: whether hooks explode, some wait for ever, and contexts are called by others.
    """

    def __init__(self, runtime, seed, people=3, busy=5, outside=False, is_hostile=False):
        self.runtime = runtime
        self.random = Stream(seed)
        self.busy = busy
        self.wishes = (*WISHES, "ask", "read") if outside else WISHES
        self.is_hostile = is_hostile
        self._mines = FIELD.begin(self, Stream(seed + 1_000_003) if is_hostile else None)
        if is_hostile:
            self.wishes += HOSTILE_WISHES
            self.WORDS = self.WORDS + self.HOSTILE_WORDS
            runtime.kernel.livelock_steps = 200  # so that what hangs is found soon
            runtime.every_tick(FIELD.burn)
            runtime.after_tick(FIELD.burn)
        self.events = 0
        self.trees = [Entity("tree", id=number) for number in range(4)]
        self.queue = Queue()
        self.queue.put_nowait("rope")
        self.texts, self.library = mixed.library()
        self.groups = [TaskGroup(Town, name="town"), TaskGroup(Gang, name="gang")]
        self.tasks = []
        self.injections = []
        self.loaded = []
        self.requests = []
        self.agents = [None] * people
        for place in range(people):
            self.come(place)
        self.news = []
        self.has_bailiff = False

    @property
    def violations(self):
        """What came out of calls into contexts, and should not have."""
        return self._mines.violations

    @property
    def counts(self):
        """Of what made it hostile."""
        return self._mines.counts

    # --- who lives here -----------------------------------------------------------------------------------------------

    def come(self, place):
        """Somebody comes, or comes back."""
        agent = self.agents[place]
        if agent is None or agent.entity.is_destroyed or self.random.below(3) == 0:
            precedences = tuple(self.random.below(3) for _ in range(4))
            agent = self.agents[place] = self.person("abc"[place % 3], precedences)
        self.runtime.add(agent)
        for group in self.groups:
            if agent not in group.members and self.random.below(4):
                group.add(agent)

    def person(self, name, precedences):
        self.actions = (*ACTIONS, *HOSTILE_ACTIONS) if self.is_hostile else ACTIONS
        targets = GoalSelector(name="targets", rank=TARGETS)
        targets.add_goal(1, mixed.ToldGoal("Target", "target", {"TARGET"}))
        selection, selector, behavior, plan = precedences
        being = mixed.Being(name)
        being.trees, being.queue, being.goods = self.trees, self.queue, {}
        drivers = [
            self.library["Mind"].state(mixed.BEHAVIORS, precedence=selection),
            targets,
            mixed.goals(precedence=selector),
            mixed.TREE.memory(precedence=behavior),
        ]
        agent = Agent(
            being, name=name, actions=list(self.actions), packs=["village:ai_pack:folk"], registry=REGISTRY, drivers=drivers,
            precedence=plan,
        )  # fmt: skip
        agent.gameplay.add_strategy(*seekers.STRATEGIES)
        for trigger in seekers.TRIGGERS:
            agent.gameplay.add_trigger(hostile.mine_fields(trigger))
        agent.gameplay.add_opportunity(hostile.mine_fields(seekers.BY_THE_WAY))
        return agent

    async def bailiff(self):
        """The world has somebody do something, with a limit."""
        try:
            await sleep_ticks(1 + self.random.below(4))
            agent = self.agents[self.random.below(len(self.agents))]
            activity = self.random.choice(("test:walk", "village:dig", "village:haul", "village:nothing"))
            with move_on_after(0.1 * self.random.below(8)):
                await agent.perform(activity)
        except (ActivityAbortedError, ActivityImpossibleError, NotRunningError):
            pass
        finally:
            self.has_bailiff = False

    # --- what happens -------------------------------------------------------------------------------------------------

    def before(self, _tick):
        """What happens in the tick: before it, at its intake, or in the middle of the strands."""
        for _ in range(self.busy):
            event = getattr(self, self.random.choice(self.WORDS)), self.random.below(len(self.agents))
            phase = self.random.below(3)
            if phase == 0:
                self.happen(*event)
            elif phase == 1:
                self.runtime.post(self.happen, *event)
            else:
                self.news.append(event)
        if self.news:
            self.runtime.spawn(self.herald)
        if not self.has_bailiff:
            self.has_bailiff = True
            self.runtime.spawn(self.bailiff)

    def happen(self, what, place):
        self.events += 1
        try:
            what(place)
        except BaseException as error:
            if not (self.is_hostile and hostile.is_burst(error)):
                raise
            FIELD.counts[f"out of {what.__name__}: {type(error).__name__}"] += 1

    async def herald(self):
        while self.news:
            self.happen(*self.news.pop(0))

    WORDS = (
        *(
            "wish",
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
            "hop",
        ),
        *("reload", "leave", "task", "task", "change", "change", "member", "tree", "weather", "weather", "utter"),
        *("quest", "quest", "quest", "spend", "strategies", "topic", "begin", "hold", "hold"),
    )

    HOSTILE_WORDS = (*("mine",) * 6, *("meddle",) * 8, "hang")

    def mine(self, _place):
        """Somewhere among the next hooks one explodes; now and then it is a posted function."""
        if self.random.below(8) == 0:
            FIELD.left.append(1)
            self.runtime.post(FIELD.burn)
        else:
            FIELD.left.append(1 + self.random.below(30))

    def hang(self, _place):
        """Somebody will wait for ever on what need not wait."""
        if self.random.below(4) == 0:
            FIELD.spins = 1

    def meddle(self, _place):
        """Somebody calls into the context of another one."""
        FIELD.through(self.random.choice(hostile.WAYS))

    def wish(self, place):
        self.agents[place].entity.wishes ^= {self.random.choice(self.wishes)}

    def _drivers(self, place, name):
        return [one.driver for one in self.agents[place].attachments if one.driver.name == name]

    def quest(self, place):
        agent = self.agents[place]
        if agent.runtime is not None and len(agent.gameplay.running) < 3:
            wanted = self.random.choice(seekers.WANTED)
            self.runtime.spawn(seekers.ask, agent, wanted, 0.1 * (1 + self.random.below(20)))

    def begin(self, place):
        agent = self.agents[place]
        try:
            if len(agent.gameplay.running) < 3:
                request = agent.gameplay.begin(self.random.choice(seekers.WANTED))
                request.then(FIELD.hook(lambda _: None))
                self.requests.append(request)
        except NotRunningError:
            pass

    def hold(self, _place):
        """A request is held up, or goes on, or begins again, or is given up."""
        self.requests = [request for request in self.requests if not request.is_done]
        if self.requests:
            request = self.random.choice(self.requests)
            what = self.random.choice(("pause", "resume", "resume", "restart", "cancel"))
            getattr(request, what)(*(("by the world",) if what == "cancel" else ()))

    def spend(self, place):
        self.agents[place].entity.goods.clear()

    def strategies(self, place):
        gameplay = self.agents[place].gameplay
        gameplay.lookahead = self.random.below(4)
        gameplay.corrects = self.random.below(2) == 0
        if self.loaded and self.random.below(2):
            self.loaded.pop(self.random.below(len(self.loaded)))()
        else:
            self.loaded.append(gameplay.add_strategy(self.random.choice((*seekers.STRATEGIES, *seekers.MORE))))

    def topic(self, place):
        self.agents[place].gameplay.changed(*self.random.choice(((), ("goods",))))

    def variable(self, place):
        for state in self._drivers(place, "selection"):
            state.set_variable(self.random.choice("ABCDE"), self.random.below(3) > 0)

    def signal(self, place):
        for state in self._drivers(place, "selection"):
            state.signal(self.random.choice(("Flip", "Calm")))

    def stimulus(self, place):
        for memory in self._drivers(place, "tree"):
            memory.stimuli.add(mixed.SCARED, None, timeout=0.1 + self.random.below(3) / 10)

    def pack(self, place):
        if self.injections and self.random.below(2):
            self.injections.pop(self.random.below(len(self.injections))).revoke()
        else:
            self.injections.append(self.agents[place].inject(mixed.Given))

    def driver(self, place):
        agent, number = self.agents[place], self.random.below(3)
        live = [one for one in agent.attachments if one.is_live]
        found = [one for one in live if one.driver.name == f"x{number}"]
        if found:
            found[0].detach()
            return
        made = (
            lambda: mixed.goals("x0", tag="x0"),
            lambda: mixed.LITTLE.memory(name="x1"),
            lambda: self.library["Mind"].state({"Held": mixed.Held}, name="x2"),
        )[number]()
        try:
            agent.attach(made, every=1 + self.random.below(2), precedence=self.random.below(3))
        except WrongStateError:
            pass  # the one of that name is still leaving

    def hop(self, place):
        """Somebody's entity is gone: so is it, at the next intake."""
        if self.random.below(6) == 0:
            self.agents[place].entity.destroy()
            self.runtime.remove(self.agents[place], "its entity is gone")

    def reload(self, _place):
        self.texts["Mind.xml"] = self.random.choice((mixed.TEXT, mixed.OTHER, "<broken"))
        self.library.reload()

    def leave(self, place):
        agent = self.agents[place]
        if agent.runtime is None:
            self.come(place)
        elif self.random.below(4) == 0:
            self.runtime.remove(agent)

    def task(self, _place):
        group = self.random.choice(self.groups)
        if len([task for task in group.tasks if not task.is_permanent]) > 5:
            return
        activity = self.random.choice([one.activity for one in group.declarations if one.is_multiple])
        trees = [tree for tree in self.trees if not tree.is_destroyed]
        if activity == "village:fell" and not trees:
            return
        args = {"tree": self.random.choice(trees)} if activity == "village:fell" else {}
        task = group.create_task(activity, args)
        if self.random.below(2):
            task.times(1 + self.random.below(3))
        if self.random.below(2):
            task.max_workers(1 + self.random.below(2))
        if self.random.below(5):
            task.start()
        if self.is_hostile:
            nothing = FIELD.hook(lambda *_: None)
            task.notify_completed(nothing).notify_interrupted(nothing).notify_destroyed(nothing)
        self.tasks.append(task)

    def change(self, _place):
        open_ones = [task for task in self.tasks if not task.is_over]
        if open_ones:
            getattr(self.random.choice(open_ones), self.random.choice(("start", "pause", "destroy")))()
        self.tasks = open_ones

    def member(self, place):
        group, agent = self.random.choice(self.groups), self.agents[place]
        if agent in group.members:
            group.remove(agent)
        else:
            group.add(agent)

    def tree(self, _place):
        number = self.random.below(len(self.trees))
        if self.trees[number].is_destroyed:
            self.trees[number] = Entity("tree", id=number)
        elif self.random.below(3) == 0:
            self.trees[number].destroy()

    def weather(self, place):
        self.agents[place].signal(self.random.choice(("rain", "bell"))).emit()

    def utter(self, place):
        self.agents[place].snapshot()


def village(seed, **more):
    """A scenario for ``exhaust``."""

    def scenario(runtime):
        return Village(runtime, seed, **more).before

    return scenario
