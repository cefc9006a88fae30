"""Many agents on the page: groups, order, states, what they do over time, who thinks; live and in a recording."""

from __future__ import annotations

import re

import pytest
from pages import HOSTILE, Eat, Feast, Live, Rest, command, expect, fits, inspected, make_village

from agentrt import TOP, Action, Agent, Entity, Runtime

pytestmark = pytest.mark.slow

PHONE = (390, 844)


class Doze(Action):
    does = TOP
    name = HOSTILE
    utility = 0.3

    async def run(self, ctx, args):
        await ctx.sleep_ticks(100_000)


def make_town(many=30):
    """Villagers of two kinds who eat and rest, and some who doze; the n-th has a hunger of n hundredths."""
    runtime = Runtime(3, host="plain")
    for number in range(many):
        acts = [Doze] if number % 5 == 0 else [Live, Eat, Feast, Rest]
        kind = "cat" if number % 3 == 0 else "human"
        agent = runtime.add(Agent(Entity(kind, name=f"{kind} {number}"), actions=acts))
        agent.values = lambda number=number: {"hunger": number / 100}
    return runtime


def arrange(page, **wanted):
    page.keyboard.press("g")
    for label, value in wanted.items():
        page.get_by_label(label, exact=True).select_option(value)


def rows(page):
    return page.locator(".agents .agent-row")


def heads(page):
    return page.locator(".agents .agent-row.is-head")


@pytest.mark.states(
    "tools: Crowd: The list of agents is filtered by kind, by state and by what they do, sorted by anything that it ..."
)
@pytest.mark.parametrize("size", [(1280, 720), PHONE])
def test_a_list_is_arranged_by_hand_and_by_keyboard(look, size):
    with inspected(make_town()) as inspector:
        page = look(inspector.url, size=size)
        expect(rows(page).first).to_contain_text("cat 0")
        arrange(page, Groups="kind", Order="name")
        expect(heads(page).first).to_have_text(re.compile("cat10"))
        page.get_by_role("button", name="Fold", exact=True).click()
        expect(rows(page)).to_have_count(2)
        expect(heads(page)).to_have_text([re.compile("cat10"), re.compile("human20")])
        heads(page).last.click()  # opens that one
        expect(rows(page).nth(2)).to_contain_text("human 1")
        page.get_by_role("button", name="Reset", exact=True).click()
        expect(heads(page)).to_have_count(0)
        value = page.get_by_label(re.compile("^An expression over the values"))
        value.fill("hunger * 2")
        value.press("Enter")
        expect(rows(page).first).to_contain_text("human 29")  # the greatest first
        expect(rows(page).first.locator(".agent-figure")).to_have_text("0.58")
        value.fill("hungr")
        value.press("Enter")
        expect(page.locator(".list-note")).to_have_text(re.compile("Did you mean 'hunger'"))
        assert page.evaluate("document.documentElement.scrollWidth") == size[0]


def test_states_narrow_the_list_and_stand_below_the_search(look):
    with inspected(make_town()) as inspector:
        page = look(inspector.url)
        expect(page.locator(".agents .tally")).to_have_text("30")
        page.keyboard.press("g")
        page.get_by_role("button", name="idle", exact=True).click()
        expect(page.locator(".agents .empty")).to_be_visible()
        expect(page.locator(".filter-words")).to_have_text(["idle"])
        page.get_by_role("button", name="running", exact=True).click()
        expect(rows(page).first).to_be_visible()
        page.get_by_role("button", name="Not only: idle").click()
        page.get_by_role("button", name="Not only: running").click()
        expect(page.locator(".agents .tally")).to_have_text("30")


@pytest.mark.states("tools: Crowd: How many do what is shown over time, live since somebody looks, and over the ...")
@pytest.mark.parametrize(("size", "dark"), [((1280, 720), False), (PHONE, True)])
def test_what_they_do_over_time_filters_the_list(look, size, dark):
    with inspected(make_town()) as inspector:
        page = look(inspector.url, size=size, dark=dark)
        page.get_by_role("tab", name="Crowd").click()
        expect(page.locator(".crowd-view .toolbar").first).to_contain_text(re.compile(r"30 agents, updated \w+ "))
        key = page.locator(".crowd-key", has_text="Mallory")
        expect(key.locator(".crowd-count")).to_have_text("6")
        key.click()
        expect(key).to_have_attribute("aria-pressed", "true")
        expect(page.locator(".agents .tally")).to_have_text("6 of 30")
        expect(page.locator(".filter-words")).to_have_text([f"does {HOSTILE}"])
        key.click()
        expect(page.locator(".agents .tally")).to_have_text("30")
        # The chart's lower band is what most do; a click on it does the same.
        box = page.locator(".crowd-chart canvas").bounding_box()
        page.mouse.click(box["x"] + box["width"] - 12, box["y"] + box["height"] - 22)
        expect(page.locator(".filter-words")).to_have_count(1)
        assert page.locator(".crowd-view img, .crowd-view b, .agents img").count() == 0
        assert page.evaluate("document.documentElement.scrollWidth") == size[0]


@pytest.mark.states("tools: Crowd: Who thinks how long about what is a map of real time, measured only while ...")
def test_who_thinks_is_a_map_and_a_row_chooses_its_agent(look):
    with inspected(make_town()) as inspector:
        page = look(inspector.url)
        page.keyboard.press("c")
        row = page.locator(".heat .virtual .heat-row").last
        expect(row).to_be_visible()
        expect(page.locator(".heat .tally")).to_contain_text("real time of the last 10 s")
        # Who thinks most comes first, so another one may stand there in the next moment: read and clicked in one step.
        read_and_click = "row => { const name = row.querySelector('.heat-name').textContent; row.click(); return name }"
        name = row.evaluate(read_and_click)
        expect(page.locator(".head-name")).to_have_text(name)
        fits(page, PHONE)
        assert page.locator(".heat .virtual").bounding_box()["height"] >= 120  # six of its rows are seen


@pytest.fixture(scope="module")
def recording(tmp_path_factory):
    path = tmp_path_factory.mktemp("crowd") / "village.sqlite"
    runtime = make_village()
    with runtime.record(path):
        for _ in range(200):
            runtime.step()
    runtime.close()
    return path


def test_a_recording_has_all_of_it_and_counts_answers(look, recording):
    with command("inspect", str(recording), "--port", "0") as address:
        page = look(address)
        page.keyboard.press("c")
        expect(page.locator(".crowd-key").first).to_be_visible()
        expect(page.locator(".heat .tally")).to_contain_text("what is over keeps no real time")
        expect(page.locator(".crowd-view .toolbar .tally").first).not_to_contain_text("reading")
        canvas = page.locator(".crowd-chart canvas")
        canvas.hover()  # which waits until nothing moves: where it is, and how wide, is asked after that
        box = canvas.bounding_box()
        canvas.dblclick(position={"x": box["width"] - 9, "y": box["height"] - 40})
        expect(page.locator(".clock-tick")).to_have_text(re.compile("tick 19[0-9]|tick 200"))
        arrange(page, Groups="doing", Order="think")
        expect(heads(page).first).to_be_visible()
        expect(page.locator(".list-note")).to_contain_text("what is over keeps no real time")
