"""Hands on a live agent, on the page: disable, force, free, set, send by a form; and breakpoints on conditions."""

from __future__ import annotations

import json
import os
import re

import pytest
from pages import HOSTILE, expect, inspected

from agentrt import LOOK, TOP, Action, Agent, CompoundAction, Entity, Runtime, step
from agentrt.behavior import Behavior, BehaviorTree, decider, group
from agentrt.goals import Goal, GoalSelector
from agentrt.kernel.traps import sleep_ticks

pytestmark = pytest.mark.slow

DESK, PHONE = (1280, 800), (390, 844)


class Eat(Action):
    does = "mod:eat"
    utility = 0.6

    async def run(self, ctx, args):
        await ctx.sleep_ticks(6)


class Snack(Action):
    does = "mod:eat"
    utility = 0.2

    async def run(self, ctx, args):
        await ctx.sleep_ticks(3)


class Live(CompoundAction):
    does = TOP
    utility = 0.4
    steps = [step("mod:eat")]


class Stare(Goal):
    name = "Stare"
    flags = {LOOK}

    def can_use(self):
        return True


class Blink(Stare):
    name = "Blink"


class Hum(Behavior):
    async def run(self, at):
        await sleep_ticks(3)


def make_world():
    runtime = Runtime(3, host="plain")
    for name in ("Ann", "Bob", HOSTILE):
        agent = runtime.add(Agent(Entity("human", name=name), actions=[Live, Eat, Snack]))
        agent.values = lambda: {"hunger": runtime.tick % 100 / 100}
        selector = GoalSelector()
        selector.add_goal(1, Stare())
        selector.add_goal(2, Blink())
        agent.attach(selector)
        agent.attach(
            BehaviorTree(group("ROOT")[decider("AWAKE", Hum("HUM")), decider("ASLEEP", Hum("SNORE"))]).memory()
        )

    def knock(who: str, times: int = 1, loud: bool = False) -> None:
        """Somebody knocks at the door."""
        runtime.note("knock", who=who, times=times, loud=loud)

    runtime.on_input("knock", knock)
    runtime.on_input("weather", lambda kind="dry", data=None: None)
    return runtime


def shoot(page, name):
    """For people who look at the page: pictures, light and dark, if a folder for them is named."""
    if folder := os.environ.get("AGENTRT_PICTURES"):
        for scheme in ("light", "dark"):
            page.emulate_media(color_scheme=scheme)
            page.screenshot(path=f"{folder}/{name}_{scheme}.png")


def open_control(page):
    page.locator("#tab-control").click()
    expect(page.locator(".hands-view")).to_be_visible()


@pytest.mark.parametrize(("size", "dark"), [(DESK, False), (PHONE, True)])
def test_hands_on_a_live_agent(look, size, dark):
    with inspected(make_world(), controls=True) as inspector:
        page = look(inspector.url, size=size, dark=dark)
        expect(page.locator(".head-name")).to_have_text("Ann")
        open_control(page)
        form = page.get_by_role("form", name="Change what lives")
        form.get_by_label("Name").fill("Eat")
        form.get_by_role("button", name="Change").click()
        force = page.get_by_role("region", name="In force")
        expect(force.locator("li")).to_contain_text("action Eat of Ann")
        expect(force.locator(".hand-tag").first).to_have_text("disabled")
        # What is wrong is said beside its field, and nothing else is done.
        form.get_by_label("Name").fill("Eats")
        form.get_by_role("button", name="Change").click()
        expect(form.locator(".hand-error").filter(has_text="nobody has an action 'Eats'")).to_contain_text("Eat")
        form.locator("select").select_option("set utility")
        form.get_by_label("Name").fill("Snack")
        form.get_by_label("New value").fill("much")
        form.get_by_role("button", name="Change").click()
        expect(form.locator(".hand-error").filter(has_text="a utility is a number")).to_be_visible()
        form.locator("select").select_option("force goal")
        form.get_by_label("Name").fill("Blink")
        form.get_by_role("button", name="Change").click()
        expect(force.locator("li").nth(1)).to_contain_text("goal Blink of Ann")
        send = page.get_by_role("form", name="Send an input")
        send.get_by_label("who (text)").fill(HOSTILE)
        send.get_by_label("times (").fill("often")
        send.get_by_role("button", name="Send").click()
        expect(send.locator(".hand-error").filter(has_text="is a whole number")).to_be_visible()
        body, forms = page.locator(".hands-body"), page.locator(".hands-forms")
        if size == PHONE:
            assert body.bounding_box()["height"] >= forms.bounding_box()["height"]  # one scrolls the page, not a part
        shoot(page, f"control_{size[0]}")
        send.get_by_label("times (").fill("2")
        send.get_by_role("button", name="Send").click()
        done = page.get_by_role("region", name="What was done")
        expect(done.locator("li").first).to_contain_text(f"send knock with {{'who': '{HOSTILE}'")
        expect(done).to_contain_text("disable action Eat of Ann")
        # At the thing itself.
        page.locator("#tab-plan").click()
        page.locator(".plan-view .segments button").last.click()
        row = page.locator(".plan-view .hand-tag").filter(has_text="disabled")
        expect(row).to_be_visible()
        shoot(page, f"plan_{size[0]}")
        page.locator("#tab-models").click()
        expect(page.locator(".goals .hand-tag").filter(has_text="forced")).to_be_visible()
        shoot(page, f"models_{size[0]}")
        page.locator("#tab-events").click()
        page.get_by_label("Filter events by a part of their text").fill("disable action Eat of")
        expect(page.locator(".event-row:not(.event-head)").first).to_contain_text("hand")
        open_control(page)
        force.get_by_role("button", name="Free action Eat of Ann").click()
        expect(force.locator("li")).to_have_count(1)
        force.get_by_role("button", name="Free goal Blink of Ann").click()
        expect(force).to_contain_text("Nothing is forced or disabled.")


@pytest.mark.parametrize("size", [DESK, PHONE])
def test_breakpoints_on_conditions_are_kept(look, tmp_path, size):
    path = tmp_path / "stops.json"
    with inspected(make_world(), controls=True, breakpoints=path) as inspector:
        page = look(inspector.url, size=size)
        form = page.locator(".break-form")
        add = form.get_by_role("button", name="Add")
        before = add.bounding_box()
        form.get_by_label("Kind of breakpoint").select_option("condition")
        name = form.get_by_label("Name of what starts")
        name.fill("hunger >")
        add.click()
        expect(form.locator(".hand-error")).to_have_text("column 9: a value is expected here, not the end")
        expect(name).to_have_value("hunger >")
        name.fill("hunger > 0.8")
        add.click()
        row = page.locator(".break-list li").first
        expect(row).to_contain_text("condition hunger > 0.8")
        expect(page.locator(".reason.is-break")).to_contain_text("breakpoint: condition hunger > 0.8")
        expect(row.locator(".break-was")).to_have_text(re.compile(r"hunger 0\.[89]"))
        assert page.locator(".break-list").evaluate("rows => rows.scrollWidth - rows.clientWidth") == 0
        if size == DESK:  # on a phone the reason of the pause, above all, takes a line of its own
            assert add.bounding_box() == before
        shoot(page, f"break_{size[0]}")
        row.get_by_role("checkbox").uncheck()
        expect(row).to_have_class(re.compile("is-off"))
        form.get_by_label("Kind of breakpoint").select_option("late")
        add.click()
        expect(page.locator(".break-list li")).to_have_count(2)
    assert json.loads(path.read_text()) == {
        "breakpoints": [{"kind": "condition", "when": "hunger > 0.8", "enabled": False}, {"kind": "late"}]
    }
    with inspected(make_world(), controls=True, breakpoints=path) as inspector:
        page = look(inspector.url, size=size)
        expect(page.locator(".break-list li")).to_have_count(2)
        expect(page.locator(".break-list li").first.get_by_role("checkbox")).not_to_be_checked()


def test_the_side_panel_steers_what_is_selected(look):
    with inspected(make_world(), controls=True) as inspector:
        page = look(inspector.url, size=DESK)
        page.locator("#tab-models").click()
        page.get_by_text("ASLEEP", exact=True).first.click()
        side = page.locator(".selected")
        side.get_by_role("button", name="Force").click()
        expect(side.locator(".hand-tag")).to_contain_text("forced by hand since tick")
        expect(side).to_contain_text("active")
        shoot(page, "side")
        # Pressed, and released when what stands above was drawn anew: the click is not lost by that.
        side.get_by_role("button", name="Free").hover()
        pairs = side.locator("dl").first
        before = pairs.text_content()
        page.mouse.down()
        expect(pairs).not_to_have_text(before)
        page.mouse.up()
        expect(side.get_by_role("button", name="Disable")).to_be_visible()


def test_nothing_without_controls(look):
    with inspected(make_world()) as inspector:
        page = look(inspector.url, size=DESK)
        open_control(page)
        expect(page.locator(".hands-view .whatif-notice")).to_contain_text("--controls")
        expect(page.get_by_role("form", name="Change what lives")).to_be_hidden()
        expect(page.get_by_role("form", name="Send an input")).to_be_hidden()
        expect(page.locator(".break-form .button")).to_be_disabled()
