"""A model of leaves that compete, written from the documented rules alone, and compared with the library.

The model knows when who is asked and when who runs: utilities and their ranges, thoughts that wait, answer and take it
back, plans that end, take no time or abort, what goes on over the end of a plan, and in which order all of it happens
within one tick. It has nothing of frames, contexts, strands or signals; where both differ, one of them is wrong.
"""

from __future__ import annotations

from collections import deque

import pytest
from cast import silence  # noqa: F401 - a fixture
from hypothesis import given, settings
from hypothesis import strategies as st

from agentrt import Action, Agent, Entity, Runtime, park
from agentrt.testing import check_trace

pytestmark = pytest.mark.usefixtures("silence")

TICKS = 40
SUNK, BOOST = 10, 0.05  # after how many ticks of running the boost counts, and how much it is
MAX_ABORTS = 10


class Mind:
    """One action, as the model sees it. It is idle, asked, thinking, ready, out, or started."""

    def __init__(self, number, plan):
        self.name = f"A{number}"
        self.plan = plan
        utility = plan["utility"]
        self.low, self.high = utility if isinstance(utility, tuple) else (utility, utility)
        self.state = "idle"
        self.utility = self.low
        self.thoughts = 0  # the number of its thinking: a wait of an older one means nothing any more
        self.is_new = False  # whether nobody has compared its answer with anything yet


class Model:
    """Leaves of one activity."""

    def __init__(self, plans):
        self.minds = [Mind(number, plan) for number, plan in enumerate(plans)]
        self.log = []
        self.tick = 0
        self.due = {}  # tick to what happens then, in the order in which it was put there
        self.queue = deque()  # what happens in this tick
        self.phase = "idle"  # idle, thinking, running, unwinding
        self.active = None
        self.since = self.aborts = self.runs = 0
        self.is_asking = self.is_looking = False

    def live(self, ticks):
        self.queue.append(self.begin)
        for self.tick in range(1, ticks + 1):
            self.queue.extend(self.due.pop(self.tick, ()))
            while self.queue:
                self.queue.popleft()()
        return self.log

    def later(self, ticks, what):
        self.due.setdefault(self.tick + ticks, []).append(what)

    # --- asking -------------------------------------------------------------------------------------------------------

    def begin(self):
        self.phase, self.is_asking = "thinking", True
        if asked := self.ask(mind for mind in self.minds if mind.state in ("idle", "out")):
            self.queue.append(lambda: self.step_all(asked))
            self.queue.append(self.round_over)
        else:
            self.round_over()

    def ask(self, minds):
        asked = []
        for mind in minds:
            mind.utility, mind.thoughts, mind.is_new = mind.low, mind.thoughts + 1, False
            mind.state = "ready" if mind.plan["think"] is None else "asked"
            if mind.state == "asked":
                asked.append((mind, mind.thoughts))
        return asked

    def step_all(self, asked):
        for mind, thoughts in asked:
            if mind.state == "asked" and mind.thoughts == thoughts:
                mind.state = "thinking"
                self.log.append((self.tick, mind.name, "think"))
                self.think(mind, thoughts, 0)

    def think(self, mind, thoughts, at):
        if mind.thoughts != thoughts or mind.state not in ("thinking", "ready"):
            return
        for number, (what, value) in enumerate(mind.plan["think"][at:], at):
            if what == "wait":
                self.later(value, lambda: self.think(mind, thoughts, number + 1))  # noqa: B023 - it returns
                return
            if what == "answer":
                mind.state, mind.is_new = "ready", not self.is_asking
                self.look_soon()
            elif what == "take back" and mind.state == "ready":
                mind.state = "thinking"
                self.look_soon()
            elif what == "utility":
                utility = round(mind.low + value * (mind.high - mind.low), 6)
                if utility != mind.utility:
                    mind.utility = utility
                    if mind.state == "ready":
                        self.look_soon()
            elif what == "end":
                if mind.state == "thinking":
                    mind.state = "out"
                    self.look_soon()
                return

    def round_over(self):
        self.is_asking = False
        if self.phase == "thinking" and (best := self.best()):
            self.start(best)

    # --- comparing ----------------------------------------------------------------------------------------------------

    def best(self):
        ready = [mind for mind in self.minds if mind.state == "ready"]
        for mind in ready:
            mind.is_new = False
        return max(ready, key=lambda mind: mind.utility, default=None)

    def look_soon(self):
        if not self.is_looking and not self.is_asking and self.phase != "idle":
            self.is_looking = True
            self.queue.append(self.look)

    def look(self):
        self.is_looking = False
        if self.is_asking or self.phase not in ("thinking", "running"):
            return
        best = self.best()
        if self.phase == "thinking":
            if best:
                self.start(best)
        else:
            boost = BOOST if self.tick - self.since >= SUNK else 0
            if best and best.utility > round(self.active.utility + boost, 6):
                self.phase = "unwinding"
                self.runs += 1
                self.queue.append(lambda: self.queue.append(self.switch))  # its ``run`` ends, and then it is stopped
            else:
                self.adjust()

    def switch(self):
        self.active.state = "idle"
        if best := self.best():
            self.start(best)
            return
        self.phase, self.active = "thinking", None
        self.ask_more([mind for mind in self.minds if mind.state == "idle"])

    def adjust(self):
        bar, idle = self.active.utility, []
        for mind in self.minds:
            if mind is self.active:
                continue
            if mind.high > bar:
                if mind.state == "idle":
                    idle.append(mind)
            elif mind.state in ("asked", "thinking", "ready") and not self.keeps_answers(mind):
                mind.state = "idle"
        if idle:
            self.ask_more(idle)

    def ask_more(self, minds):
        if asked := self.ask(minds):
            self.queue.append(lambda: self.step_all(asked))
        self.look_soon()

    # --- running ------------------------------------------------------------------------------------------------------

    def start(self, best):
        best.state, self.active, self.phase = "started", best, "running"
        self.adjust()
        self.since, self.runs = self.tick, self.runs + 1
        run = self.runs
        self.queue.append(lambda: self.run(run))

    def run(self, run):
        if run != self.runs:
            return  # it was stopped before its first step
        self.log.append((self.tick, self.active.name, "run"))
        ticks = self.active.plan["run"]
        if ticks:
            self.later(ticks, lambda: self.end(run))
        else:
            self.end(run)

    def end(self, run):
        if run != self.runs:
            return
        if self.active.plan["aborts"]:
            self.phase = "aborting"
            self.queue.append(self.aborted)
            return
        for mind in self.minds:
            if not (mind is not self.active and self.goes_on(mind)):
                mind.state = "idle"
        self.phase, self.active = "idle", None
        if self.tick > self.since:
            self.aborts = 0
            self.begin()
        else:
            self.later(1, self.begin)

    def goes_on(self, mind):
        """The rule of which the page on actions tells."""
        if self.keeps_answers(mind):
            return mind.state in ("asked", "thinking", "ready")
        waits = mind.state == "thinking" or (mind.state == "ready" and mind.is_new)
        return mind.plan["asks"] == "when answered" and waits and not mind.plan["expects"]

    def keeps_answers(self, mind):
        return mind.plan["asks"] == "when changed" and mind.plan["think"] is not None

    def aborted(self):
        for mind in self.minds:
            mind.state = "idle"
        self.phase, self.active = "idle", None
        self.aborts += 1
        if self.aborts < MAX_ABORTS:
            self.later(1, self.begin)


# --- the same in the library ------------------------------------------------------------------------------------------


def leaf(number, plan, log):
    name = f"A{number}"

    async def think(self, ctx, args):
        log.append((ctx.clock.tick, name, "think"))
        if plan["expects"]:
            ctx.CURRENT  # noqa: B018 - to ask for it is enough
        for what, value in plan["think"]:
            if what == "wait":
                await ctx.sleep_ticks(value)
            elif what == "answer":
                ctx.set_think_output()
            elif what == "take back":
                ctx.clear_think_output()
            elif what == "utility":
                ctx.set_utility(value)
            else:
                return
        await park()

    async def run(self, ctx, args):
        log.append((ctx.clock.tick, name, "run"))
        await ctx.sleep_ticks(plan["run"])
        if plan["aborts"]:
            ctx.abort("drawn")

    body = {"does": "top", "utility": plan["utility"], "asks": plan["asks"], "run": run}
    if plan["think"] is not None:
        body["think"] = think
    return type(name, (Action,), body)


def lived(plans, *, is_watched=True):
    """What the actions noted; with a trace, that is checked too."""
    log, records = [], []
    runtime = Runtime(host="plain")
    if is_watched:
        runtime.trace.listen(records.append)
    agent = Agent(Entity("human"), name="a", top="top", actions=[leaf(*one, log) for one in enumerate(plans)])
    runtime.add(agent)
    for _ in range(TICKS):
        runtime.step()
    planner = agent.planner
    runtime.close()
    runtime.step()
    assert runtime.kernel.live == 0
    assert (planner.busy_frames, planner.execution.seldom.asides) == (0, ())
    assert check_trace(records, "a") == []
    return log


# --- programs ---------------------------------------------------------------------------------------------------------


@st.composite
def programs(draw):
    """Two to four actions, no two of which are ever worth the same."""
    plans = []
    for number in range(draw(st.integers(2, 4))):
        low, high = sorted(draw(st.integers(0, 9)) / 10 + number * 0.003 for _ in range(2))
        does = st.one_of(
            st.tuples(st.just("wait"), st.integers(1, 12)),
            st.tuples(st.sampled_from(["answer", "answer", "take back", "end"]), st.none()),
            *[st.tuples(st.just("utility"), st.sampled_from([0.0, 0.5, 1.0]))] * (low < high),
        )
        think = draw(st.one_of(st.none(), st.lists(does, max_size=6)))
        plans.append(
            {
                "utility": (low, high) if low < high else low,
                "think": think,
                "asks": draw(st.sampled_from(["when answered", "when answered", "when changed", "with each plan"])),
                "expects": think is not None and draw(st.integers(0, 4)) == 0,
                "run": draw(st.integers(0, 7)),
                "aborts": draw(st.integers(0, 7)) == 0,
            }
        )
    return plans


def plan(utility, *think, run=4, asks="when answered", expects=False, aborts=False):
    script = [(one, None) if isinstance(one, str) else one for one in think]
    return {"utility": utility, "think": script or None, "asks": asks, "expects": expects, "run": run, "aborts": aborts}


WAIT = ("wait", 10)


@pytest.mark.parametrize(
    "plans",
    [
        [plan(0.3), plan(0.9, WAIT, "answer")],
        [plan(0.3), plan(0.9, WAIT, "answer", asks="with each plan")],
        [plan(0.3), plan(0.9, WAIT, "answer", expects=True)],
        [plan(0.3, run=5), plan(0.9, WAIT, "answer"), plan(0.8, ("wait", 5), "end")],
        [plan(0.3, run=0), plan((0.2, 0.9), WAIT, ("utility", 1.0), "answer", "take back", ("wait", 3), "answer")],
        [plan(0.5), plan(0.3, WAIT, "answer", asks="when changed"), plan((0.1, 0.9), "answer", WAIT, ("utility", 1.0))],
        [plan(0.3), plan(0.9, ("wait", 7), "answer", run=2, aborts=True), plan(0.4, ("wait", 6), "answer")],
    ],
)
def test_the_model_and_the_library_agree(plans):
    assert lived(plans) == lived(plans, is_watched=False) == Model(plans).live(TICKS)


@pytest.mark.slow
@settings(max_examples=4 * settings.default.max_examples)
@given(programs())
def test_they_agree_on_many_programs(plans):
    expected = Model(plans).live(TICKS)
    assert lived(plans) == expected
    assert lived(plans, is_watched=False) == expected
