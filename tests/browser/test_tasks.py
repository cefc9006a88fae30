"""Task trees on the page: what is wanted, who provides it, what became of it, and why nobody else."""

from __future__ import annotations

import re

import pytest
from pages import HOSTILE, expect, inspected

from agentrt import Agent, Runtime
from agentrt.strategy import Interruptible, Strategy, Trigger
from agentrt.strategy.ask import NodeKind, TaskNode
from agentrt.testing import Have, StubBody, stub_strategy

pytestmark = pytest.mark.slow


class Carve(Strategy):
    provides = Have

    def estimate(self, ask, wanted):
        return 3.0 if wanted.item != "knife" else None

    async def run(self, ctx, wanted):
        node = TaskNode(NodeKind.DEPENDENCY, "Have [wax, 1]", ctx.node, Have("wax"))
        node.cost, node.is_conditional = 2.5, True
        await ctx.solve(Have("knife"))


def make_workshop(wanted="spoon"):
    """A request whose innermost strategy never ends."""
    runtime = Runtime(3, host="plain")
    agent = runtime.add(Agent(StubBody("human"), name="Ann"))
    agent.gameplay.add_strategy(
        Carve,
        stub_strategy(cost=0.5, takes=0, fails="nobody gave any", label="Beg"),
        stub_strategy(cost=2.0, takes=None, patience=1e6, label="ForgeIron", interruption=Interruptible.PAUSE),
        stub_strategy(cost=90.0, label="Buy"),
    )
    agent.gameplay.add_trigger(Trigger(name="rain", on="rain", solve=Have("hat")))
    agent.gameplay.set_params(xray=True)
    if wanted:
        agent.gameplay.begin(Have(wanted))
    return runtime


def rows(page):
    return page.locator("#view-tasks .tree-row")


@pytest.mark.states(
    "003: Views: The inspector shows the task tree live: what is wanted, who provides it, what became of it, what "
    "every strategy said",
    source="Task Tree; design 7",
)
def test_the_tree_down_to_what_runs_and_what_is_selected(look):
    with inspected(make_workshop(), controls=True) as inspector:
        page = look(inspector.url)
        page.keyboard.press("6")
        expect(page.get_by_role("tab", name="Strategies")).to_have_attribute("aria-selected", "true")
        expect(page.locator("#view-tasks .census")).to_have_text(
            "4 strategies · looks 4 levels ahead · order: cheapest · xray=True · looks out for rain"
        )
        expect(page.locator("#view-tasks .node-name")).to_have_text([
            "<Have [spoon, 1]>", "Beg", "Forge Iron",
        ])  # fmt: skip
        expect(rows(page).nth(1)).to_contain_text("nobody gave any")
        expect(rows(page).nth(1)).to_contain_text("failed")
        expect(rows(page).nth(2)).to_have_class(re.compile("on-branch"))
        expect(rows(page).nth(2).locator(".col-seconds").last).to_have_text("2 s")
        rows(page).first.locator(".twisty").click()
        expect(rows(page)).to_have_count(1)
        rows(page).first.locator(".twisty").click()
        expect(rows(page)).to_have_count(3)
        # What is selected is shown with its offers, and can stop the run.
        rows(page).first.click()
        side = page.locator(".side .selected")
        expect(side.locator("h2").first).to_have_text("Dependency")
        expect(side.locator(".offers li")).to_have_text([
            re.compile("Forge Iron.*2 s"), re.compile("Carve.*3 s"), re.compile("Buy.*90 s"),
        ])  # fmt: skip
        rows(page).nth(2).click()
        expect(side.locator(".side-heading strong")).to_have_text("Forge Iron")
        expect(side).to_contain_text("Have [spoon, 1]")
        page.keyboard.press("b")
        expect(page.locator(".break-words")).to_have_text("strategy Forge Iron")
        page.keyboard.press("b")
        expect(page.locator(".break-list li")).to_have_count(0)
        page.keyboard.press("3")
        expect(page.locator(".explain")).to_contain_text("* Forge Iron: running")


def test_what_is_foreseen_what_came_up_and_what_is_over(look):
    runtime = make_workshop(wanted="")
    agent = runtime.agents[0]
    agent.gameplay.add_strategy(stub_strategy(cost=0.1, takes=3, label="Find"))
    agent.gameplay.begin(Have("coin"))
    with inspected(runtime) as inspector:
        page = look(inspector.url)
        page.keyboard.press("6")
        expect(page.locator("#view-tasks .heading")).to_have_text("Over")
        expect(page.locator("#view-tasks .node-name")).to_have_text(["Over", "<Have [coin, 1]>"])
        expect(rows(page).last).to_contain_text("done")


@pytest.mark.states("003: Views: The inspector shows the task tree live: what is wanted, who provides it, what ...")
def test_interrupted_and_planned(look):
    runtime = Runtime(3, host="plain")
    agent = runtime.add(Agent(StubBody("human"), name="Ann"))
    forge = stub_strategy(
        cost=lambda ask, wanted: 2.0 if wanted.item != "spoon" else None, takes=None, patience=1e6, label="ForgeIron",
        interruption=Interruptible.PAUSE,
    )  # fmt: skip
    agent.gameplay.add_strategy(Carve, forge)
    agent.gameplay.add_trigger(Trigger(name=HOSTILE, on="rain", solve=Have("knife", 2)))
    agent.gameplay.begin(Have("spoon"))
    with inspected(runtime) as inspector:
        page = look(inspector.url)
        page.keyboard.press("6")
        expect(page.locator("#view-tasks .planned .node-name")).to_have_text("* <Have [wax, 1]>")
        runtime.post(agent.signal("rain").emit)
        expect(page.locator("#view-tasks .interruption .node-name")).to_have_text(f"interrupted by {HOSTILE}")
        expect(page.locator("#view-tasks .strategy.paused .node-name")).to_have_text("Forge Iron")
        assert page.locator("img").count() == 0


def test_what_came_up_and_has_to_wait(look):
    runtime = Runtime(3, host="plain")
    agent = runtime.add(Agent(StubBody("human"), name="Ann"))
    agent.gameplay.add_strategy(stub_strategy(takes=None, patience=1e6, interruption=Interruptible.WAIT))
    agent.gameplay.add_trigger(Trigger(name="rain", on="rain", solve=Have("hat")))
    request = agent.gameplay.begin(Have("spoon"))
    with inspected(runtime) as inspector:
        page = look(inspector.url)
        page.keyboard.press("6")
        expect(page.locator("#view-tasks .tally")).to_have_text("")
        runtime.post(agent.signal("rain").emit)
        expect(page.locator("#view-tasks .tally")).to_have_text("came up, and waits: rain")
        request.pause()
        expect(page.locator("#view-tasks .tally")).to_have_text("told to pause · came up, and waits: rain")


def test_who_has_no_strategies(look):
    runtime = make_workshop(wanted="")
    runtime.add(Agent(StubBody("human"), name="Bob"))
    with inspected(runtime) as inspector:
        page = look(inspector.url)
        page.keyboard.press("6")
        page.locator(".agent-row", has_text="Bob").click()
        expect(page.locator("#view-tasks .empty")).to_have_text("Bob has no strategies.")
        page.locator(".agent-row", has_text="Ann").click()
        expect(page.locator("#view-tasks .empty")).to_have_text(
            "Ann was asked for nothing yet. It can be asked for: stub:have."
        )
