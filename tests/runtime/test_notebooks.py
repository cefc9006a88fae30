"""What a notebook shows: agents, plans, explanations, simulations. Parsed, as whoever shows it does."""

from __future__ import annotations

from html.parser import HTMLParser

import pytest

from agentrt import TOP, Action, Agent, Entity, Runtime
from agentrt.snapshot.html import Bar, Row, box
from agentrt.snapshot.views import AgentSnapshot, FrameView, UnitView
from agentrt.testing import Simulation

HOSTILE = (
    "<script>alert(1)</script>\"'><img src=x onerror=alert(1)>&amp;</div>\x1b[2J\u202e\ud800\n--> <style>*{}</style>"
)


class Seen(HTMLParser):
    """The text of a page line by line (a line is a div or a row), after a look at its elements."""

    def __init__(self, page):
        super().__init__(convert_charrefs=True)
        self.open, self.lines, self.titles = [], [""], []
        self.feed(page)
        self.close()
        assert self.open == []
        page.encode()  # a notebook is a file
        assert self.lines[0] == ""
        self.lines = [" ".join(line.split()) for line in self.lines if line.strip()]

    def handle_starttag(self, tag, attrs):
        assert tag in ("div", "span", "b", "table", "tbody", "tr", "td")
        for name, value in attrs:
            assert name in ("style", "title")
            if name == "style":
                assert "url" not in value
                assert value.isprintable()
            else:
                self.titles.append(value)
        if tag in ("div", "tr"):
            self.lines.append("")
        self.open.append(tag)

    def handle_endtag(self, tag):
        assert self.open.pop() == tag
        if tag in ("div", "tr"):
            self.lines.append("")

    def handle_data(self, data):
        assert data.isprintable()
        self.lines[-1] += data

    def handle_comment(self, data):
        pytest.fail("a comment")

    handle_decl = handle_pi = unknown_decl = handle_comment


def seen(thing):
    return Seen(thing._repr_html_()).lines


def unit_of(**fields):
    numbers = {"utility": 0.5, "boosted": 0.5, "low": 0.5, "high": 0.5, "is_elected": False}
    return UnitView(**{"action": "A", "name": "a", "path": "", "kind": "leaf", "state": "ready", **numbers, **fields})


class Graze(Action):
    does = TOP
    utility = 0.4

    async def run(self, ctx, args):
        ctx.set_debug_progress("by the fence")
        await ctx.sleep_ticks(4)


class Drink(Action):
    does = TOP
    utility = 0.8

    async def think(self, ctx, args):
        ctx.reject("there is no water")


class Sleep(Action):
    does = TOP
    utility = (0.0, 0.3)

    async def think(self, ctx, args):
        await ctx.sleep(100)


@pytest.fixture
def sim():
    made = Simulation(seed=7)
    yield made
    made.close()


@pytest.fixture
def goat(sim):
    return sim.add(Agent(Entity("goat", name="Ada"), actions=[Graze, Drink, Sleep]))


PLAN = [
    "<agentrt:top> running",
    "graze running, utility 0.4, since tick 1, by the fence, waits until tick 5",
    "drink impossible, since tick 1, rejected: there is no water",
    "sleep idle",
]


def test_an_agent_and_its_snapshot(sim, goat):
    assert seen(goat) == [f"Ada goat #{goat.number}, tick 0, 0 s", "runs nothing", "<agentrt:top> idle"]
    sim.tick(3)
    assert seen(goat) == [f"Ada goat #{goat.number}, tick 3, 0.15 s", "graze", *PLAN]
    assert goat.snapshot()._repr_html_() == goat._repr_html_()
    read = AgentSnapshot.from_json(goat.snapshot().as_json())  # out of a recording
    assert read._repr_html_() == goat._repr_html_()


def test_a_plan(sim, goat):
    sim.tick(3)
    assert seen(goat.snapshot().plan) == ["agentrt:top a plan", *PLAN]


def test_an_agent_that_was_killed_and_one_in_no_runtime(sim):
    class Fail(Graze):
        async def run(self, ctx, args):
            ctx.abort("no luck")

    agent = Agent(Entity("goat", name="Ben"), actions=[Fail])
    assert seen(agent)[0].startswith("Ben goat")
    sim.add(agent)
    sim.tick(3)
    assert seen(agent)[-1] == "3 aborts in a row no luck"
    sim.tick(20)
    lines = seen(agent)
    assert lines[0].endswith("not alive")
    assert "gave up" in lines[1] or "aborts" in lines[1]


def test_an_explanation_is_a_text_and_is_shown_line_by_line(sim, goat):
    sim.tick(3)
    told = goat.explain()
    assert isinstance(told, str)
    assert told.split("\n")[0] == "Ada at tick 3: agentrt:top/Graze"
    assert seen(told) == [" ".join(line.removeprefix("    * ").split()) for line in told.split("\n")]


def test_a_simulation_has_a_time_line(sim, goat):
    assert seen(sim) == ["simulation tick 0, 0 s, 1 agent, 0 records", "Ada", "tick 00"]
    sim.tick(10)
    page = Seen(sim._repr_html_())
    assert page.lines[0].startswith("simulation tick 10, 0.5 s, 1 agent, ")
    assert page.lines[1:] == ["Ada", "Graze", "Graze", "Graze", "tick 110"]
    assert page.titles == ["Graze: tick 1 to 5, finished", "Graze: tick 5 to 9, finished", "Graze: tick 9 to 11, open"]


def test_bars_stand_where_the_ticks_are():
    page = box("t", "", (), [Row("r", [Bar(1, 3, "a"), Bar(3, 3, "b"), Bar(0, 99, "c")])], (1, 10))
    assert page.count("left:0.00%;width:20.00%") == 1
    assert page.count("left:20.00%;width:10.00%") == 1
    assert page.count("left:0.00%;width:100.00%") == 1


def test_faults_are_told(sim):
    def fail():
        raise ValueError("<b>")

    sim.runtime.every_tick(fail)
    sim.tick(2)
    assert any(line.startswith("2 faults 2 fault") for line in seen(sim))
    sim.faults()


def test_hostile_names_are_texts(sim):
    class Say(Action):
        does = TOP
        utility = 0.5

        async def run(self, ctx, args):
            ctx.set_debug_progress(HOSTILE)
            await ctx.sleep_ticks(3)
            ctx.abort(HOSTILE)

    Say.__name__ = Say.__qualname__ = HOSTILE.replace("\ud800", "")
    agent = sim.add(Agent(Entity(HOSTILE, name=HOSTILE), name=HOSTILE, actions=[Say]))
    told = set()
    for _ in range(8):
        for thing in (agent, agent.snapshot(), agent.snapshot().plan, agent.explain(), sim):
            page = Seen(thing._repr_html_())
            told.update(type(thing).__name__ for line in (*page.lines, *page.titles) if HOSTILE[:25] in line)
        sim.tick()
    assert told == {"Agent", "AgentSnapshot", "FrameView", "Explanation", "Simulation"}
    unit = unit_of(name=HOSTILE, state=HOSTILE, is_elected=True, progress=HOSTILE, waits=HOSTILE, reason=HOSTILE)
    seen(FrameView(HOSTILE, HOSTILE, HOSTILE, (unit,), args=((HOSTILE, HOSTILE),), unasked=3, unasked_reason=HOSTILE))


@pytest.mark.slow
def test_its_size_has_a_bound_and_it_says_what_was_left_out(sim):
    units = (unit_of(name="a" * 5000, reason="b" * 5000),) * 5000
    page = FrameView("top", "top", "running", units)._repr_html_()
    assert len(page) < 200_000
    assert Seen(page).lines[-1] == "... and 4801 more lines"
    inner = FrameView("x", "x", "running", ())
    for _ in range(200):
        inner = FrameView("x", "x", "running", (unit_of(frames=(inner,)),))
    assert "padding-left:36em" in inner._repr_html_()
    assert "padding-left:37" not in inner._repr_html_()
    for number in range(30):
        sim.add(Agent(Entity("goat", name=f"{number}" * 100), actions=[Graze]))
    sim.tick(250)
    page = sim._repr_html_()
    assert len(page) < 400_000
    assert "10 more agents not shown" in Seen(page).lines
    rows = [Row("x", [Bar(tick, tick + 1, "y") for tick in range(1000)])] * 1000
    page = box("t", "", (), rows, (0, 1000))
    assert len(page) < 1_000_000
    assert Seen(page).lines[-1] == "... and 960 more rows"


def test_looking_changes_nothing():
    digests = []
    for is_shown in (False, True):
        sim = Simulation(runtime=Runtime(seed=7, host="plain"))
        goat = sim.add(Agent(Entity("goat", name="Ada"), actions=[Graze, Drink, Sleep]))
        for _ in range(30):
            sim.tick()
            if is_shown:
                seen(goat)
                seen(sim)
        digests.append(sim.digest())
        sim.close()
    assert digests[0] == digests[1]
