"""Every awaitable of the library is known here, and a loop of it cannot keep a tick.

The list is made from the source, so that a new one cannot be forgotten: either ``LOOPS`` shows that it ends, or it
stands in one of the sets below, which say why it cannot keep a tick.
"""

from __future__ import annotations

import ast
from pathlib import Path

import pytest

import agentrt
from agentrt import TOP, Action, Agent, Condition, Entity, Event, Queue
from agentrt.kernel.strand import outlast
from agentrt.kernel.traps import at_once, give_way, sleep, sleep_ticks
from agentrt.strategy import Dependency
from agentrt.tasks import TaskGroup, TaskGroupAction, declare_multiple_tasks
from agentrt.testing import Simulation

pytestmark = pytest.mark.untraced

ROOT = Path(agentrt.__file__).parent
OUTSIDE = ("cli", "inspect", "record", "testing", "kernel/hosts", "minds/model", "shards")  # never awaited in a strand

NOT_WAITS = {  # hooks that authors write, protocols and what their other halves do
    "activity.author.action:Action.think", "activity.author.action:Action.run", "activity.author.seat:ActingAgent.call",
    "activity.author.seat:SpawnedFrame.ready", "activity.author.seat:SpawnedFrame.run",
    "activity.author.seat:SpawnedFrame.execute",
    "body.driver:Body.perform", "goals.goal:Goal.run",
    "selection.state:LeafBehavior.run", "strategy.ask:Strategy.run",
    "strategy.ask:GameplayOwner.wait_outside", "bridges:DriverAction.run", "bridges:PerformGoal.run",
    "strategy.solve:SolveRequest.run", "agent.agent:AgentRuntime.call", "agent.agent:AgentRuntime.run_agent",
    "worlds:SimpleWorld.play",
    "minds.consider:Consider.run", "minds.consider:Consider.think", "minds.consider:Reflect.run",
    "minds.consider:Reflect.think", "minds.converse:Attend.run", "minds.converse:Attend.think",
    "minds.converse:Converse.run", "minds.converse:Converse.think",
}  # fmt: skip
INNER = {  # parts of the waits below, which count; nobody else calls them
    "activity.performances:perform", "activity.performances:Performance.wait", "body.budget:SearchWork.ask",
    "agent.agent:Agent.call", "runtime.runtime:run_alone", "runtime.intake:OutsideCalls.call", "runtime.intake:OutsideCalls.settle",
    "agent.agent:Agent.wait_outside", "runtime.driving:Conductor.run", "runtime.driving:Conductor.run_agent", "runtime.driving:Conductor.aclose",
    "kernel.strand:after", "activity.author.seat:Suspension.wait",
    "kernel.strand:Children.end", "kernel.strand:Children.ended",
    "kernel.traps:AtOnce.__await__", "kernel.traps:GiveWay.__await__", "kernel.hosts.loops:step_outside", "kernel.hosts.loops:wait_outside",
    "kernel.hosts.loops:rest", "kernel.hosts.loops:drained", "kernel.hosts.loops:at_most",
    "runtime.runtime:Runtime.__aexit__", "strategy.solve:Attempt.attempt", "strategy.solve:Attempt.carry",
    "strategy.solve:Attempt.rest", "strategy.solve:Pausable.__await__", "strategy.solve:Interruptions.breakpoint",
    "strategy.solve:Interruptions.deal", "strategy.solve:await_end", "strategy.solve:await_request",
    "strategy.solve:Solving.run", "strategy.solve:Solving.solve",
    "strategy.solve:Attempt.perform", "strategy.solve:Attempt.solve",
    "minds.consider:Minded.ask",
}  # fmt: skip
ALWAYS_WAITS = {"kernel.traps:next_tick", "kernel.traps:park", "activity.author.context:Context.next_tick"}
ALWAYS_WAITS |= {"minds.mind:Mind.ask"}  # what is asked is served at the next intake


class Have(Dependency[str], activity="every:have"):
    """Something that is there."""

    def is_met(self, ask):
        return True


class Lack(Dependency[str], activity="every:lack"):
    """Something that nobody provides."""


class Loop(Dependency[str], activity="every:loop"):
    """Solved by the strategy whose loop is tried."""

    way: str


class Noop(Action):
    does = "t:noop"
    utility = 0.5

    async def run(self, ctx, args):
        pass


class Never(Action):
    does = "t:never"
    utility = 0.5

    async def think(self, ctx, args):
        ctx.reject("never")


class Town(TaskGroupAction):
    does = TOP
    utility = (0.1, 0.2)
    tasks = (declare_multiple_tasks("t:noop", 0.5),)


# --- a loop of each: a function of the context, and one turn of the loop ---------------------------------------------------


def a_set_event():
    event = Event()
    event.set()
    return event


def a_full_queue():
    queue = Queue()
    for number in range(3):
        queue.put_nowait(number)
    return queue


async def get(queue):
    queue.put_nowait(await queue.get())


async def suspend(ctx):
    ctx.resume("now")
    await ctx.suspend()


def spawned(ctx):
    frame = ctx.spawn("t:noop")
    frame.start_thinking()
    return frame


async def run_spawned(ctx):
    frame = ctx.spawn("t:noop")
    frame.start_thinking()
    await frame.run()
    frame.stop()


async def call_a_coroutine_function(ctx):
    await ctx.call(next_tick_of_nobody)


async def next_tick_of_nobody():
    pass


def over(ctx):
    """A request that is over."""
    return ctx.agent.gameplay.begin(Have())


def over_task(ctx):
    """A task that is over."""
    task = TaskGroup(Town, name="town").create_task("t:noop").start()
    task.destroy()
    return task


def done_strand(ctx):
    return ctx.agent.runtime.kernel.spawn(next_tick_of_nobody(), "done")


async def enter(runtime):
    async with runtime:
        pass


def keeping(value, turn):
    """A turn of a loop that has something from before."""
    return lambda: turn(value)


LOOPS = {
    "activity.author.context:Context.execute": lambda ctx: lambda: ctx.execute("t:noop"),
    "activity.author.context:Context.execute, impossible": lambda ctx: lambda: ctx.execute("t:never"),
    "activity.author.context:Context.execute, unknown": lambda ctx: lambda: ctx.execute("t:nobody"),
    "activity.author.context:Context.execute, wrong": lambda ctx: lambda: ctx.execute("t:noop", nothing=1),
    "activity.author.context:Context.suspend": lambda ctx: lambda: suspend(ctx),
    "kernel.fork:Fork.first": lambda ctx: lambda: ctx.first(ctx.sleep(0), ctx.next_tick()),
    "kernel.fork:Fork.all": lambda ctx: lambda: ctx.all(ctx.sleep(0), ctx.sleep(0)),
    "activity.performances:Spawned.ready": lambda ctx: keeping(spawned(ctx), lambda frame: frame.ready()),
    "activity.performances:Spawned.run": lambda ctx: lambda: run_spawned(ctx),
    "activity.performances:Spawned.run, wrong": lambda ctx: keeping(ctx.spawn("t:noop"), lambda frame: frame.run()),
    "activity.performances:Spawned.execute": lambda ctx: lambda: ctx.spawn("t:noop").execute(),
    "activity.author.context:Context.sleep": lambda ctx: lambda: ctx.sleep(0),
    "activity.author.context:Context.sleep_ticks": lambda ctx: lambda: ctx.sleep_ticks(0),
    "activity.author.context:Context.work": lambda ctx: lambda: ctx.work(1),
    "activity.author.context:Context.call": lambda ctx: lambda: call_a_coroutine_function(ctx),
    "activity.tasks.group:Task.wait": lambda ctx: keeping(over_task(ctx), lambda task: task.wait()),
    "agent.agent:Agent.run": lambda ctx: lambda: ctx.agent.run(),
    "agent.agent:Agent.run, of another": lambda ctx: lambda: Agent(Entity("new"), actions=[Noop], top="t:noop").run(),
    "body.leases:LeaseBook.take": lambda ctx: lambda: ctx.agent.runtime.leases.take("a thing", ctx.entity),
    "agent.agent:Agent.perform": lambda ctx: lambda: ctx.agent.perform("t:noop"),
    "agent.agent:Agent.perform, wrong": lambda ctx: lambda: ctx.agent.perform("t:noop", nothing=1),
    "runtime.runtime:Runtime.call": lambda ctx: lambda: ctx.agent.runtime.call(next_tick_of_nobody),
    "kernel.strand:outlast": lambda ctx: lambda: outlast(lambda: False, lambda: sleep(0)),
    "kernel.signals:Event.wait": lambda ctx: keeping(a_set_event(), lambda event: event.wait()),
    "kernel.signals:Condition.wait_for": lambda ctx: lambda: Condition().wait_for(lambda: True),
    "kernel.signals:Queue.put": lambda ctx: lambda: Queue(1).put("item"),
    "kernel.signals:Queue.get": lambda ctx: keeping(a_full_queue(), lambda queue: get(queue)),
    "kernel.strand:Strand.join": lambda ctx: keeping(done_strand(ctx), lambda strand: strand.join()),
    "kernel.traps:at_once": lambda ctx: lambda: at_once(),
    "kernel.traps:give_way": lambda ctx: lambda: give_way(),
    "kernel.traps:sleep_ticks": lambda ctx: keeping(sleep_ticks(0), lambda kept: kept),
    "kernel.traps:sleep": lambda ctx: lambda: sleep(-1),
    "runtime.runtime:Runtime.run": lambda ctx: lambda: ctx.agent.runtime.run(1),
    "runtime.runtime:Runtime.run_agent": lambda ctx: lambda: ctx.agent.runtime.run_agent(ctx.agent),
    "runtime.runtime:Runtime.aclose": lambda ctx: lambda: ctx.agent.runtime.aclose(),
    "runtime.runtime:Runtime.__aenter__": lambda ctx: lambda: enter(ctx.agent.runtime),
    "strategy.gameplay:Gameplay.solve": lambda ctx: lambda: ctx.agent.gameplay.solve(Have()),
    "strategy.gameplay:Gameplay.solve, impossible": lambda ctx: lambda: ctx.agent.gameplay.solve(Lack()),
    "strategy.solve:Request.wait": lambda ctx: keeping(over(ctx), lambda request: request.wait()),
    "strategy.solve:Request.__await__": lambda ctx: keeping(over(ctx), lambda request: request),
}
STRATEGIES = {
    "strategy.ask:StrategyContext.solve": lambda ctx: ctx.solve(Have()),
    "strategy.ask:StrategyContext.solve, impossible": lambda ctx: ctx.solve(Lack()),
    "strategy.ask:StrategyContext.solve_all": lambda ctx: ctx.solve_all([]),
    "strategy.ask:StrategyContext.solve_all, of one": lambda ctx: ctx.solve_all([Have()]),
    "strategy.ask:StrategyContext.solve_if_worth": lambda ctx: ctx.solve_if_worth(Have(), [Lack()]),
    "strategy.ask:StrategyContext.execute": lambda ctx: ctx.execute("t:noop"),
}
# The same by another name: they only call what stands above.
ALIASES = {
    "behavior.memory:Activation.perform", "body.driver:LoneBody.perform", "goals.goal:Goal.perform",
    "selection.state:SelectionState.perform", "strategy.ask:Calls.solve",
}  # fmt: skip
# They wait until somebody notifies them; whoever does that for ever takes steps, which are counted.
NOTIFIED = {"kernel.signals:Signal.wait", "kernel.signals:Turns.wait", "kernel.traps:Audience.wait"}


def public_waits():
    """What can be awaited, from the source: ``module:qualified name``."""
    found = set()

    def visit(node, module, names):
        for one in ast.iter_child_nodes(node):
            if isinstance(one, ast.ClassDef) and (module, one.name) != ("kernel.kernel", "PlainHost"):
                visit(one, module, [*names, one.name])
            elif isinstance(one, (ast.FunctionDef, ast.AsyncFunctionDef)):
                told = "" if one.returns is None else ast.unparse(one.returns)
                is_special = one.name in ("__await__", "__aenter__", "__aexit__", "__anext__", "__aiter__")
                is_wait = isinstance(one, ast.AsyncFunctionDef) or told.startswith("Awaitable") or is_special
                is_public = not any(name.startswith("_") for name in names) and (
                    is_special or not one.name.startswith("_")
                )
                if is_wait and is_public:
                    found.add(f"{module}:{'.'.join([*names, one.name])}")

    for path in ROOT.rglob("*.py"):
        name = path.relative_to(ROOT).as_posix()
        if not name.startswith(OUTSIDE) or name == "kernel/hosts/loops.py":
            visit(ast.parse(path.read_text(encoding="utf-8")), name[:-3].replace("/", "."), [])
    return found


@pytest.mark.states("tools: Hang: No loop of our own waits can hang a tick, on any host; it is ended alone, after ...")
@pytest.mark.slow
def test_every_wait_of_the_library_is_known_here():
    shown = {name.partition(",")[0] for name in (*LOOPS, *STRATEGIES)}
    known = shown | NOT_WAITS | INNER | ALWAYS_WAITS | ALIASES | NOTIFIED
    found = public_waits()
    assert sorted(found - known) == []
    assert sorted(known - found) == []


def top_that(does):
    class Top(Action):
        does = TOP
        utility = 0.5

        async def run(self, ctx, args):
            await does(ctx)

    return Top


def neighbor(seen):
    async def counts(ctx):
        while True:
            seen.append(ctx.clock.tick)
            await ctx.next_tick()

    return Agent(Entity("good"), name="good", actions=[top_that(counts)])


def play_with(does, *strategies):
    """Three ticks of an agent that does something, beside one that counts the ticks. Returns the faults."""
    seen = []
    sim = Simulation()
    sim.runtime.kernel.livelock_steps = 20
    being = Entity("bad")
    agent = Agent(being, name="bad", actions=[top_that(does), Noop, Never])
    agent.gameplay.add_strategy(*strategies)
    sim.add(agent)
    sim.add(neighbor(seen))
    sim.tick(3)
    faults = [dict(record.detail)["error"] for record in sim.faults()]
    sim.close()
    sim.faults()
    assert seen == [1, 2, 3]
    return faults


@pytest.mark.states("tools: Hang: No loop of our own waits can hang a tick, on any host; it is ended alone, after ...")
@pytest.mark.parametrize("kind", LOOPS)
def test_a_loop_of_it_is_ended_and_costs_nobody_a_tick(kind):
    async def loops(ctx):
        turn = LOOPS[kind](ctx)
        await ctx.sleep_ticks(0)
        while True:
            try:
                await turn()
            except Exception:
                pass

    faults = play_with(loops)
    assert faults, "it was not ended"
    assert all("LivelockError: [ART302]" in error for error in faults)


@pytest.mark.parametrize("kind", STRATEGIES)
def test_a_loop_of_it_in_a_strategy_is_ended(kind):
    from agentrt.strategy import Strategy

    class Loops(Strategy):
        provides = (Loop,)

        def estimate(self, ask, wanted):
            return 1.0

        async def run(self, ctx, wanted):
            while True:
                try:
                    await STRATEGIES[kind](ctx)
                except Exception:
                    pass

    async def solves(ctx):
        await ctx.agent.gameplay.solve(Loop("x"))

    faults = play_with(solves, Loops)
    assert any("ART302" in error for error in faults)
