"""Typical mistakes: what one writes, what one is told, and when. The page in the docs is made of this table.

``python tests/docs/test_mistakes.py`` writes the page anew. Each mistake is made here, and what was told is compared, so
that the page says nothing that does not happen.
"""

from __future__ import annotations

import logging
import subprocess
import sys
import textwrap
import types
from pathlib import Path
from typing import NamedTuple

import pytest

import agentrt
import agentrt.behavior
import agentrt.goals
import agentrt.strategy
from agentrt import Agent, Entity, Runtime

PAGE = Path(__file__).resolve().parents[2] / "docs" / "reference" / "mistakes.md"

DEFINED = "when the class is defined"
MADE = "when the agent is made"
ADDED = "in the log, after a second of game time"
TICK = "in the log, in the tick in which it happens"
EXPLAINED = "by `agent.explain()`"


class Mistake(NamedTuple):
    what: str  # as the page shows it
    told: str  # of what is told, the part that the page shows
    when: str
    code: str  # all of it; ``play`` makes an agent of actions and runs some ticks


WALK = """
class Walk(Action):
    does = TOP
    utility = 0.5
"""


def walk(body, then="play(Walk)"):
    """Code with an action that begins the plan."""
    return WALK + textwrap.indent(textwrap.dedent(body).strip("\n"), "    ") + f"\n\n{then}\n"


PAINT = """
class Paint(Action):
    does = "demo:paint"
    utility = 0.5

    class Args(ActionArgs):
        color: str

    async def run(self, ctx, args):
        await ctx.sleep(1)
"""


def plan(steps, more=""):
    """Code with a compound action."""
    return (
        f"{PAINT}\nclass Plan(CompoundAction):\n    does = TOP\n    utility = 0.5\n    steps = [{steps}]\n{more}"
        "\nplay(Plan, Paint)\n"
    )


RUN = "async def run(self, ctx, args):\n    "

MISTAKES = [
    # --- waits
    Mistake(
        "`ctx.sleep(1)` without `await`",
        "mistake.py:6 calls ctx.sleep(...) without 'await': nothing waits, and nothing happens.",
        DEFINED,
        walk(RUN + "ctx.sleep(1)"),
    ),
    Mistake(
        "`ctx.call(fetch)` without `await`",
        "mistake.py:6 calls ctx.call(...) without 'await'",
        DEFINED,
        walk(RUN + "ctx.call(print, 'x')"),
    ),
    Mistake(
        '`ctx.execute("demo:paint")` without `await`',
        "mistake.py:6 calls ctx.execute(...) without 'await'",
        DEFINED,
        walk(RUN + "ctx.execute('demo:paint', color=str(7))"),
    ),
    Mistake(
        "`agentrt.sleep(1)` without `await`, or `sleep(1)`",
        "mistake.py:6 calls sleep(...) without 'await': nothing waits, and nothing happens. Write: await sleep(...).",
        DEFINED,
        walk(RUN + "sleep(1)"),
    ),
    Mistake(
        "a `run` that waits for nothing",
        "the plan ends in the tick in which it begins, again and again",
        "in the log, after 20 ticks in a row, once for each place",
        walk(RUN + "pass", "play(Walk, ticks=25)"),
    ),
    Mistake(
        "`time.sleep(0.2)` in `run`, here under `step()`",
        "in tick 1, at mistake.py:7 in Walk.run. Let it await now and then; under runtime.run(), "
        "'await ctx.call(fn, *args)' runs it in a worker thread.",
        "in the log, in the next tick",
        walk(RUN + "import time\n    time.sleep(0.2)\n    await ctx.sleep(1)", "play(Walk, ticks=2)"),
    ),
    Mistake(
        "`await asyncio.sleep(1)` where no event loop runs",
        "awaited something that needs an event loop",
        TICK,
        walk(RUN + "import asyncio\n    await asyncio.sleep(1)"),
    ),
    # --- names
    Mistake(
        "`async def on_run(self, ctx, args)`",
        "nobody reads 'on_run'. Did you mean 'run'?",
        DEFINED,
        walk("async def on_run(self, ctx, args):\n    await ctx.sleep(1)"),
    ),
    Mistake(
        "`def stop_thinkng(self, ctx, args)`",
        "nobody reads 'stop_thinkng'. Did you mean 'stop_thinking'?",
        DEFINED,
        walk("def stop_thinkng(self, ctx, args):\n    pass"),
    ),
    Mistake(
        "`args = {}`",
        "nobody reads 'args'. Did you mean 'Args'? If it is your own, annotate it: args: ClassVar[...] = ....",
        DEFINED,
        walk("args = {'color': str}"),
    ),
    Mistake("`priority = 3`", "nobody reads 'priority'. Did you mean 'utility'?", DEFINED, walk("priority = 3")),
    Mistake(
        "`sunk_cost_bost = 1.0`",
        "nobody reads 'sunk_cost_bost'. Did you mean 'sunk_cost_boost'?",
        DEFINED,
        walk("sunk_cost_bost = 1.0"),
    ),
    # --- hooks
    Mistake(
        "`def run(self, ctx, args)`",
        "run has the wrong kind. Make it an 'async def': async def run(self, ctx, args).",
        DEFINED,
        walk("def run(self, ctx, args):\n    pass"),
    ),
    Mistake(
        "`async def start(self, ctx, args)`",
        "start has the wrong kind. Make it a plain 'def', not 'async def': def start(self, ctx, args).",
        DEFINED,
        walk("async def start(self, ctx, args):\n    pass"),
    ),
    Mistake(
        "`async def run(self)`",
        "run cannot be called: too many positional arguments. Write run(self, ctx, args).",
        DEFINED,
        walk("async def run(self):\n    pass"),
    ),
    Mistake(
        "`def run` or `async def run` in a compound action",
        "a compound action has no run of its own. Move what it does into a step, or into start.",
        DEFINED,
        plan("step('demo:paint', color='red')", "\n    def run(self, ctx, args):\n        pass\n"),
    ),
    # --- metadata
    Mistake(
        "no `does`",
        "it has no 'does'. Name the activity that it performs.",
        MADE,
        "class Walk(Action):\n    utility = 0.5\n\nplay(Walk)\n",
    ),
    Mistake(
        "no `utility`",
        "utility is missing. Write a number from 0 to 1, or a pair (low, high).",
        DEFINED,
        "class Walk(Action):\n    does = TOP\n",
    ),
    Mistake(
        "`utility = 50`",
        "utility is 50. Write a number from 0 to 1, or a pair (low, high) within that.",
        DEFINED,
        walk("utility = 50"),
    ),
    Mistake(
        "`actions=[Walk()]`", "an object of it was given. Give the class: Walk.", MADE, walk("pass", "play(Walk())")
    ),
    Mistake(
        "no action with `does = TOP`",
        "none of its actions performs 'agentrt:top', with which its plan begins.",
        ADDED,
        PAINT + "\nplay(Paint, ticks=21)\n",
    ),
    # --- steps
    Mistake(
        '`step("demo:paitn", ...)`',
        "no known action performs 'demo:paitn', which mistake.Plan asks for. Did you mean 'demo:paint'?",
        ADDED,
        plan("step('demo:paitn', color='red')").replace("play(Plan, Paint)", "play(Plan, Paint, ticks=21)"),
    ),
    Mistake(
        '`await ctx.execute("demo:paitn")`',
        "no action that this agent knows can perform 'demo:paitn' now. Did you mean 'demo:paint'?",
        TICK,
        PAINT + walk(RUN + "await ctx.execute('demo:paitn')", "play(Walk, Paint)"),
    ),
    Mistake(
        '`step("demo:paint", colr="red")`',
        "mistake.Plan, step 1, argument 'colr': the activity does not take it: activity 'demo:paint', argument 'colr': "
        "is not declared. Did you mean 'color'?",
        MADE,
        plan("step('demo:paint', colr='red')"),
    ),
    Mistake(
        '`step(PAINT, colr="red")`, where `PAINT` is an `Activity`',
        "activity 'demo:paint', argument 'colr': is not declared. Did you mean 'color'? Declared: color.",
        DEFINED,
        "class Args(ActionArgs):\n    color: str\n\nPAINT = Activity('demo:paint', Args)\n"
        + plan("step(PAINT, colr='red')"),
    ),
    Mistake(
        "`Args` in an action with `does = PAINT`",
        "it has Args of its own, and performs Activity('demo:paint', PaintArgs). Leave them out",
        DEFINED,
        "class PaintArgs(ActionArgs):\n    color: str\n"
        + PAINT.replace('"demo:paint"', "Activity('demo:paint', PaintArgs)"),
    ),
    Mistake(
        "`PREV.color` in the first step",
        "a step reads 'color' of this action's own think output, which has no such field. Declare it in a class Args of it; "
        "declared: none. PREV in the first step, and BACK(n) in step n, mean that output: no step stands before.",
        DEFINED,
        plan("step('demo:paint', color=PREV.color)"),
    ),
    Mistake(
        "`PREV.colr` of a step that gives `color`",
        "gives no such output. Did you mean 'color'?",
        MADE,
        plan("step('demo:paint', color='red'), step('demo:paint', color=PREV.colr)"),
    ),
    Mistake(
        "`PREV.x + 1`",
        "PREV.x is known only when the action thinks, so it cannot be computed with here. Write CALL(function, PREV.x).",
        DEFINED,
        plan("step('demo:paint', color='red'), step('demo:paint', color=PREV.x + 1)"),
    ),
    Mistake(
        '`str(PREV.x)`, or `f"{PREV.x}"`',
        "PREV.x is known only when the action thinks, so it cannot be put into a text here. Use CALL(fn, ...).",
        DEFINED,
        plan("step('demo:paint', color='red'), step('demo:paint', color=str(PREV.x))"),
    ),
    Mistake(
        '`"red" if PREV.x else "blue"`',
        "PREV.x is known only when the action thinks, so it cannot be tested here. Use NOT(...) or CALL(fn, ...).",
        DEFINED,
        plan("step('demo:paint', color='red'), step('demo:paint', color='red' if PREV.x else 'blue')"),
    ),
    # --- what is said to the planner
    Mistake(
        '`ctx.set_think_output({"item": log})`',
        "mistake.py:9 gives ctx.set_think_output() something without a name: it takes each field by its name.",
        DEFINED,
        walk(
            "class Output(ThinkOutput):\n    item: str\n\n"
            "async def think(self, ctx, args):\n    ctx.set_think_output({'item': 'log'})"
        ),
    ),
    Mistake(
        "`ctx.set_think_output()` in `run`",
        "set_think_output cannot be called while the action is running. Call it in 'think'",
        TICK,
        walk(RUN + "ctx.set_think_output()"),
    ),
    Mistake(
        "`ctx.set_utility(0.7)` with a fixed utility",
        "declares the fixed utility 0.5. Declare a range: utility = (low, high).",
        TICK,
        walk("async def think(self, ctx, args):\n    ctx.set_utility(0.7)"),
    ),
    Mistake(
        "a `think` that never says that it is ready",
        "walk: not possible now: it ended thinking without an output",
        EXPLAINED,
        walk("async def think(self, ctx, args):\n    pass"),
    ),
    Mistake(
        "a `think` that waits for what never comes",
        "walk: not ready since tick 1, waits at mistake.py:6",
        EXPLAINED,
        walk("async def think(self, ctx, args):\n    await Event().wait()"),
    ),
    Mistake(
        "a hook that raises",
        'File "mistake.py", line 6, in run\n',
        TICK,
        walk(RUN + "{}['key']"),
    ),
    # --- the other models, and packs
    Mistake(
        "`def can_continue(self)` of a goal",
        "nobody reads 'can_continue'. Did you mean 'can_continue_to_use'?",
        DEFINED,
        "class Flee(Goal):\n    def can_use(self):\n        return True\n\n    def can_continue(self):\n        return 1\n",
    ),
    Mistake(
        "`def on_tick(self, activation)` of a behavior",
        "nobody reads 'on_tick'. Did you mean 'tick'?",
        DEFINED,
        "class Walk(Behavior):\n    def on_tick(self, activation):\n        pass\n",
    ),
    Mistake(
        "`def tick(self, activation)` of a goal",
        "tick cannot be called: missing a required argument: 'activation'. Write tick(self).",
        DEFINED,
        "class Flee(Goal):\n    def can_use(self):\n        return True\n\n    def tick(self, activation):\n        pass\n",
    ),
    Mistake(
        "`async def run(self)` of a behavior",
        "run cannot be called: too many positional arguments. Write run(self, activation).",
        DEFINED,
        "class Walk(Behavior):\n    async def run(self):\n        pass\n",
    ),
    Mistake(
        "a strategy without a cost",
        "nothing says what it costs. Give it a 'cost' in game seconds, 'foresee' or 'estimate'.",
        DEFINED,
        "class Find(Dependency):\n    pass\n\n\nclass Look(Strategy):\n    provides = Find\n\n"
        "    async def run(self, ctx, wanted):\n        await ctx.sleep(1)\n",
    ),
    Mistake(
        'a pack that gives a component `"size": "big"` for `size: int`',
        "its setting 'size' is 'big', and takes int.",
        MADE,
        """
class Backpack:
    def __init__(self, entity, size: int = 1):
        self.size = size

parts = Registry([Manifest("demo", {"components:backpack": Backpack})])
play(packs=[{"components": {"demo:components:backpack": {"size": "big"}}}], registry=parts)
""",
    ),
]


class _Heard(logging.Handler):
    def __init__(self):
        super().__init__()
        self.lines = []

    def emit(self, record):
        self.lines.append(record.getMessage())


def told_of(code):
    """All that is told of a mistake, by when: what was raised, what the log says, what the agent explains."""
    heard = _Heard()
    told = {"raised": "", "logged": "", "explained": ""}
    made = []

    def play(*actions, ticks=1, **options):
        made.append("tried")
        agent = Agent(Entity("somebody"), actions=actions, **options)
        made.append("made")
        runtime = Runtime()
        runtime.add(agent)
        for _ in range(ticks):
            runtime.step()
        told["explained"] = agent.explain()
        runtime.close()

    module = types.ModuleType("mistake")
    for facade in (agentrt, agentrt.goals, agentrt.behavior, agentrt.strategy):
        vars(module).update({name: getattr(facade, name) for name in facade.__all__})
    module.play = play
    logger = logging.getLogger("agentrt")
    logger.addHandler(heard)
    sys.modules["mistake"] = module
    try:
        exec(compile(code, "mistake.py", "exec"), vars(module))
    except Exception as error:
        told["raised"] = str(error)
    finally:
        del sys.modules["mistake"]
        logger.removeHandler(heard)
    told["logged"] = "\n".join(heard.lines)
    return told, made


@pytest.mark.parametrize("mistake", MISTAKES, ids=lambda one: one.what.replace("`", ""))
def test_what_one_is_told(mistake):
    told, made = told_of(mistake.code)
    if mistake.when in (DEFINED, MADE):
        assert mistake.told in told["raised"]
        assert made == ([] if mistake.when == DEFINED else ["tried"])
    else:
        assert told["raised"] == ""
        assert mistake.told in told["explained" if mistake.when == EXPLAINED else "logged"]


def test_there_are_thirty_at_least_and_each_once():
    assert len({one.what for one in MISTAKES}) == len(MISTAKES) >= 30


def test_what_is_written_as_it_should_be_is_told_nothing():
    told, _ = told_of(
        PAINT
        + """
class Rest(Action):
    does = TOP
    utility = 0.2
    priority: ClassVar[int] = 3  # read elsewhere: annotated
    boost = 2  # read below
    reach = 4.5  # near to nothing
    runs = property(lambda self: 1)

    def starts(self, foe):  # takes something else than a hook
        return foe

    async def run(self, ctx, args):
        value = await ctx.sleep(self.boost)
        waiting = ctx.sleep(1)
        await waiting
        await ctx.first(ctx.sleep(1), ctx.sleep(2))
        self.db.execute("not through the context")
        ctx.set_utility
        return value


class Plan(CompoundAction):
    does = TOP
    utility = 0.5
    steps = [step("demo:paint", color="red")]

play(Rest, Plan, Paint)
""".replace("ClassVar[int]", "'ClassVar[int]'")
    )
    assert (told["raised"], told["logged"]) == ("", "")


@pytest.mark.parametrize("tick", [1, 2, 19, None])
def test_what_is_taught_within_a_second_is_not_told_to_be_missing(tick):
    code = f"""
class Paint(Action):
    does = "demo:paint"
    utility = 0.5

class Plan(CompoundAction):
    does = TOP
    utility = 0.5
    steps = [step("demo:paint")]

runtime = Runtime()
agent = runtime.add(Agent(Entity("somebody"), actions=[Plan]))
for _ in range(25):
    runtime.step()
    if runtime.tick == {tick}:
        agent.inject(Paint)
runtime.close()
"""
    assert ("no known action performs 'demo:paint'" in told_of(code)[0]["logged"]) is (tick is None)


def test_of_who_goes_before_nothing_is_told_and_nothing_is_left():
    told, _ = told_of("""
class Plan(CompoundAction):
    does = TOP
    utility = 0.5
    steps = [step("demo:paint")]

runtime = Runtime()
agent = runtime.add(Agent(Entity("somebody"), actions=[Plan]))
runtime.step(0.2)
assert list(runtime.lacking) == [agent]
runtime.remove(agent)
runtime.step()
assert not runtime.lacking
runtime.step(2)
runtime.close()
""")
    assert told == {"raised": "", "logged": "", "explained": ""}


def test_a_compound_has_no_coroutine_run_either():
    told, _ = told_of(plan("step('demo:paint', color='red')", "\n    async def run(self, ctx, args):\n        pass\n"))
    assert "a compound action has no run of its own" in told["raised"]


@pytest.mark.parametrize("text", ["f'{PREV.x}'", "f'{PREV.x!s:>4}'", "'{}'.format(PREV.x)", "'%s' % PREV.x"])
def test_a_placeholder_is_put_into_no_text(text):
    told, _ = told_of(plan(f"step('demo:paint', color='red'), step('demo:paint', color={text})"))
    assert "PREV.x is known only when the action thinks" in told["raised"]


@pytest.mark.parametrize(
    "code",
    [
        "class A(Goal):\n    def can_use(self): return True\n    def start(self, *args, much=1): pass\n"
        "    def stop(self, why=''): pass\n    is_interruptible = property(lambda self: True)\n"
        "    tick = print\n    requires_update_every_tick = True",
        "class A(Behavior):\n    def tick(self, one, other=2): pass\n    activate = staticmethod(print)\n"
        "behavior('x', tick=lambda activation: None, activate=print)\nbehavior('y', tick=A().tick)",
    ],
)
def test_hooks_that_can_be_called_are_told_nothing(code):
    assert told_of(code)[0]["raised"] == ""


def test_a_hook_of_a_behavior_that_is_made_of_functions():
    said = "[ART101] behavior x: tick cannot be called: too many positional arguments. Write <lambda>(activation)."
    assert told_of("behavior('x', tick=lambda: None)")[0]["raised"] == said


@pytest.mark.parametrize(
    "call",
    [
        "x = 1; ctx.sleep(1)",
        "[ctx.sleep(n) and None for n in ()]; ctx.work()",
        "(lambda: ctx)\n    ctx.next_tick()",
        "ctx.sleep(\n        float(len(str(1)))\n    )",
        "if args:\n        ctx.suspend()",
        "ctx.first(ctx.sleep(1), *[])",
        "ctx.sleep(**{'seconds': 1})",
        "ctx.sleep(1 if args else 2)",
        "ctx.sleep(await ctx.call(print))",
        "ctx.sleep([n for n in args] and (args or 1))",
        "try:\n        args()\n    finally:\n        ctx.sleep(1)",
        "args() if args else ctx.sleep(1)",
        "import agentrt\n    here = agentrt\n    next_tick()",
        "x = " + " + ".join(f"args.n{n}" for n in range(300)) + "; ctx.sleep(1)",  # more names than a byte counts
    ],
)
def test_a_dropped_wait_is_seen_however_it_is_written(call):
    told, _ = told_of(walk(RUN + call))
    assert "without 'await'" in told["raised"]


@pytest.mark.parametrize("call", ["ctx.set_think_output(item='x')", "ctx.set_think_output(**args)"])
def test_fields_by_name_are_fields_by_name(call):
    told, _ = told_of(walk(f"async def think(self, ctx, args):\n    {call}"))
    assert "something without a name" not in told["raised"]


@pytest.mark.parametrize(
    "body",
    [
        "def draw(self, ctx):\n    ctx.first()",  # a context of something else
        "def save(self, db, args):\n    db.execute('select')",
        RUN + "def draw(ctx):\n        ctx.sleep(1)\n    draw(args)\n    await ctx.sleep(1)",
        RUN + "later = lambda: ctx.sleep(1)\n    await later()",
        RUN + "waits = [ctx.sleep(n) for n in (1, 2)]\n    for one in waits: await one",
        RUN + "await (ctx.sleep(1) if args else ctx.sleep(2))",
        RUN + "ctx.sleep.cancel(1)\n    ctx.call.cancel(*args)\n    ctx.sleep\n    (ctx or args).sleep(1)",
        RUN + "sleep = args.sleep\n    sleep(1)",
        RUN + "await sleep(1)\n    sleeping = sleep(1)\n    args(sleep(1))\n    return sleep(1)",
        RUN + "await ctx.sleep(1)\n\ndef execute(self, ctx, args):\n    return 1",  # who has the hook means another
        "names = ['a']\nflag = 'x'\nstarted = False\nruns = 0",
        "def starts(self):\n    return 1",
        "def update(self, world, delta):\n    return 1",
        "@classmethod\ndef update(cls):\n    return 1",
        "@property\ndef priority(self):\n    return 1",
        "_priority = __priority = 1\n__slots__ = ('boost',)",
        "import functools\npriority = 1\nspeed = functools.cached_property(lambda self: self.priority)",
        "class Strange:\n    def __getattr__(self, name):\n        raise ValueError(name)\nthing = Strange()",
        "class Kind:\n    update = tick = 1",
        "priority = 5\nweight = priority / 10",  # read in the body itself
        "priority = (5,)\nranks = [n for n in priority]",
    ],
)
def test_what_is_an_author_s_own_is_told_nothing(body):
    told, _ = told_of(walk(body, ""))
    assert told["raised"] == ""


OTHERS = [
    # a mixin, and a base class from elsewhere
    "class Mixin:\n    priority = 3\n    def update(self, ctx, args): return 1\nclass A(Mixin, Walk):\n    priority = 4",
    # what a base class says for those that are derived from it
    "class Base(Action):\n    utility = 0.5\n    priority = 3\n"
    "class A(Base):\n    does = TOP\n    def start(self, ctx, args): self.priority",
    "class Base(Goal):\n    interruptible = True\nclass A(Base):\n    def can_use(self): return self.interruptible",
    "from dataclasses import dataclass\n@dataclass\nclass A(Walk):\n    priority: int = 3",
    "A = type('A', (Walk,), {'__module__': None})\nB = type('B', (A,), {'names': ()})",
    "class M:\n    def __init_subclass__(cls, much=1): pass\n"
    "class A(Behavior, M, much=2):\n    def tick(self, activation): pass",
    # a metaclass, and what is annotated in a base class or a mixin
    "class Meta(type):\n    def __init__(cls, *args):\n        super().__init__(*args)\n        cls.rank = cls.priority\n"
    "class A(Walk, metaclass=Meta):\n    priority = 4",
    "class Base(Action):\n    utility = 0.5\n    priority: 'int'\nclass A(Base):\n    does = TOP\n    priority = 4",
    "class Mixin:\n    priority: 'int' = 1\nclass A(Mixin, Walk):\n    priority = 4",
    "class A(Behavior):\n    def enter(self, building): pass\n    def tick(self, activation): pass",
    "class A(Goal):\n    priority = 3\n    def can_use(self): return True\n    def tick(self): pass\n"
    "    def update(self): pass",
]


@pytest.mark.parametrize("code", OTHERS)
def test_what_others_read_is_told_nothing(code):
    told, _ = told_of(f"{WALK}\n{code}\n")
    assert told["raised"] == ""


def test_what_a_base_class_says_is_told_with_the_first_class_that_can_act():
    base = "class Base(Action):\n    utility = 0.5\n    priority = 3\n"
    assert told_of(base)[0]["raised"] == ""
    told, _ = told_of(base + "class A(Base):\n    does = TOP\n")
    assert told["raised"].startswith("[ART101] mistake.Base: nobody reads 'priority'. Did you mean 'utility'?")


@pytest.mark.parametrize(
    "body",
    [
        "async def run(self, context, args):\n    context.sleep(1)",  # whatever the author calls it
        "async def helper(self, place, ctx):\n    ctx.sleep(1)",
        RUN + "later = lambda: [ctx.sleep(1), ctx.sleep(2)] and None\n    def now():\n        ctx.sleep(1)\n    now()",
        RUN + "async def both(ctx):\n        ctx.sleep(1)\n    await both(ctx)",
        "@property\ndef rest(self):\n    async def rest(ctx):\n        ctx.sleep(1)\n    return rest",
        "@staticmethod\nasync def rest(ctx):\n    ctx.sleep(1)",
        "def start(self, ctx, args):\n    sleep_ticks(2)",
    ],
)
def test_a_dropped_wait_is_seen_wherever_it_is_written(body):
    told, _ = told_of(walk(body, ""))
    assert "without 'await'" in told["raised"]


def test_a_dropped_wait_in_a_mix_in_is_told_with_the_class_that_mixes_it_in():
    mixin = "class Mixin:\n    def start(self, ctx, args):\n        ctx.sleep(1)\n"
    assert told_of(mixin)[0]["raised"] == ""  # it may be anybody's
    told, _ = told_of(f"{mixin}\nclass A(Mixin, Action):\n    does = TOP\n    utility = 0.5\n")
    assert told["raised"].startswith("[ART101] mistake.A: mistake.py:3 calls ctx.sleep(...) without 'await'")


@pytest.mark.slow
def test_a_dropped_wait_is_seen_without_columns():
    code = textwrap.dedent("""
        import agentrt as art
        class A(art.Action):
            does = "a:b"
            utility = 0.5
            async def run(self, ctx, args):
                x = args; ctx.sleep(1)
    """)
    command = [sys.executable, "-X", "no_debug_ranges", "-c", code]
    ran = subprocess.run(command, check=False, capture_output=True, text=True, timeout=300)
    assert "<string>:7 calls ctx.sleep(...) without 'await'" in ran.stderr


@pytest.mark.parametrize("kind", ["Inherits", "Made", "Anything", "make"])
def test_settings_are_compared_with_what_the_factory_itself_takes(kind):
    told, _ = told_of(f"""
class Base:
    def __init__(self, entity, size="big"):
        pass

class Inherits(Base):
    size: int  # of its own, and nothing that is handed in

class Made(Base):
    def __init__(self, entity, size: "Unknown" = None):
        pass

class Anything:
    def __new__(cls, *args, **more):
        return super().__new__(cls)

    def __init__(self, *args, **more):
        pass

def make(entity, size: str | None = None):
    return Base(entity)

parts = Registry([Manifest("demo", {{"components:backpack": {kind}}})])
play(packs=[{{"components": {{"demo:components:backpack": {{"size": "big"}}}}}}], registry=parts)
""")
    assert told["raised"] == ""


# --- the page ---------------------------------------------------------------------------------------------------------

HEAD = """# Typical mistakes

What one writes, what one is told, and when. The table is made of a test that makes each of these mistakes
(`tests/docs/test_mistakes.py`); the texts are parts of what is told, which also says where, and what to write instead.
What is raised when a class is defined, or an agent made, `agentrt check` tells of a whole project without running it.
Names that are misspelt mypy and pyright find before that, see [Types](../how-to/types.md).

| what one writes | what one is told | when |
| --- | --- | --- |
"""


def page():
    rows = [f"| {one.what} | {one.told.strip()} | {one.when} |\n" for one in MISTAKES]
    return HEAD + "".join(row.replace("*args", "\\*args") for row in rows)


def test_the_page_is_made_of_this_table():
    assert PAGE.read_text(encoding="utf-8") == page()


if __name__ == "__main__":
    PAGE.write_text(page(), encoding="utf-8")
