"""What agents offer on the page: values beside the plan, what a utility is made of, and what is watched over time."""

from __future__ import annotations

import re

import pytest
from pages import HOSTILE, command, expect, fits, inspected

from agentrt import TOP, Action, Agent, Entity, Runtime

pytestmark = pytest.mark.slow

PHONE = (390, 844)


class Needs:
    def __init__(self):
        self.satiety = 190


class Eat(Action):
    does = TOP
    name = "eat"
    utility = (0.0, 1.0)
    made_of = ("hunger", "dish", "thirst")

    async def think(self, ctx, args):
        ctx.get_debug_info_datastore()["dish"] = "soup"
        ctx.set_utility(0.81)
        ctx.set_think_output()

    async def run(self, ctx, args):
        await ctx.sleep_ticks(100_000)


def make_inn(names=("Ann", "Bob")):
    """A hunger that grows from tick to tick, of 1,000, and begins anew."""
    runtime = Runtime(3, host="plain")
    for number, name in enumerate(names, 1):
        agent = runtime.add(Agent(Entity("guest", Needs(), name=name), actions=[Eat]))
        agent.values = lambda number=number: {
            "hunger": runtime.tick * number % 1000 / 1000, "mood": {"is_sad": False, HOSTILE: HOSTILE},
        }  # fmt: skip
    return runtime


def stand_still(runtime, tick):
    for _ in range(tick):
        runtime.step()
    runtime.gate.pause("for a picture")
    return runtime


def value_of(page, name):
    return page.locator(".values .value-list li", has=page.get_by_text(name, exact=True)).locator(".value-words")


def watch(page, text):
    page.keyboard.press("w")
    page.keyboard.type(text)
    page.keyboard.press("Enter")
    page.keyboard.press("Escape")


def pins(page):
    return page.locator(".pin-list > .pin")


@pytest.mark.states(
    "tools: Values: Needs, components and variables that an agent offers stand beside its plan and change live",
    source="design 7",
)
def test_values_stand_beside_the_plan_and_change(look):
    with inspected(make_inn()) as inspector:
        page = look(inspector.url, size=PHONE)
        groups = page.locator(".value-group summary .value-group-name")
        expect(groups).to_have_text(["Own", "mood", "Needs", "Actions"])
        expect(value_of(page, "satiety")).to_have_text("190")
        expect(value_of(page, "is_sad")).to_have_text("false")
        before = value_of(page, "hunger").inner_text()
        expect(value_of(page, "hunger")).not_to_have_text(before)
        actions = page.locator(".value-group", has_text="Actions")
        expect(actions.locator("li")).to_have_count(0)  # folded
        actions.locator("summary").click()
        expect(actions.locator("li")).to_have_text([re.compile("^Eat.utility"), re.compile("^Eat.dishsoup")])
        # What an author wrote is text, whatever it looks like.
        assert page.locator(".side img, .side b").count() == 0
        for size in (PHONE, (1280, 720)):
            fits(page, size)
            expect(value_of(page, "satiety")).to_be_visible()


@pytest.mark.states("tools: Values: A utility shows what its author says that it is made of", source="design 7")
def test_a_utility_shows_what_it_is_made_of(look):
    with inspected(stand_still(make_inn(), 500)) as inspector:
        page = look(inspector.url)
        row = page.locator("#view-plan .tree-row", has_text="eat")
        expect(row.locator(".node-note")).to_have_text("hunger 0.5, dish soup, thirst not offered")
        row.click()
        made = page.locator(".made-of li")
        expect(made).to_have_text(["utility0.86", "hunger0.5", "dishsoup", "thirstnot offered"])
        made.nth(0).get_by_role("button").click()
        made.nth(2).get_by_role("button").click()
        expect(page.locator(".pin-text")).to_have_text(["Eat.utility", "Eat.dish"])
        expect(page.locator(".pin-value")).to_have_text(["0.86", "soup"])
        expect(made.nth(0).get_by_role("button")).to_have_attribute("aria-pressed", "true")
        page.keyboard.press("3")
        expect(page.locator(".explain")).to_contain_text("(of hunger 0.5, dish soup, thirst is not offered)")


@pytest.mark.states(
    "tools: Values: Values and expressions over them are watched as charts over time", source="design 7"
)
def test_what_is_watched_has_a_chart_that_grows(look):
    with inspected(make_inn()) as inspector:
        page = look(inspector.url, size=PHONE)
        expect(value_of(page, "satiety")).to_have_text("190")
        # What changes all the time keeps its elements, so that it can be pointed at.
        kept = page.locator(".made-of .value-pin").nth(1).element_handle()
        page.locator(".values").get_by_role("button", name="Watch hunger over time").click()
        expect(pins(page)).to_have_count(1)
        chart = pins(page).locator("canvas")
        expect(chart).to_have_attribute("aria-label", re.compile(r"^hunger of Ann over time: from .* to .*, now 0\."))
        before = chart.get_attribute("aria-label")
        expect(chart).not_to_have_attribute("aria-label", before)
        assert page.evaluate("one => one.isConnected && one.getAttribute('aria-pressed')", kept) == "true"
        watch(page, "hunger + satiety > 100")
        expect(page.locator(".pin-value").nth(1)).to_have_text("true")
        pins(page).get_by_role("button", name="Watch hunger no more", exact=True).click()
        expect(page.locator(".pin-text")).to_have_text(["hunger + satiety > 100"])
        # It is of the agent for which it was pinned, and stays with the browser.
        page.locator(".agent-row", has_text="Bob").click()
        expect(page.locator(".pin-agent")).to_have_text("Ann")
        page.reload()
        expect(page.locator(".pin-value")).to_have_text("true")


@pytest.mark.states(
    "tools: Values: An expression tells while it is typed what it comes to, or its error with the column"
)
def test_what_is_typed_tells_at_once_what_it_comes_to(look):
    with inspected(stand_still(make_inn(), 300)) as inspector:
        page = look(inspector.url)
        expect(value_of(page, "hunger")).to_have_text("0.3")
        page.keyboard.press("w")
        field, said = page.get_by_label("Expression to watch"), page.locator("#pin-said")
        expect(field).to_be_focused()
        for text, words in {
            "hunger * 2": "= 0.6",
            "hunger > 0.2 and not is_sad": "= true",
            "hunger > > 2": "column 10: a value is expected here, not '>'",
            "hungr": "column 1: no value 'hungr' is offered now. Did you mean 'hunger'?",
            "__import__('os')": "column 1: there is no function '__import__': there are abs, min, max",
        }.items():
            field.fill(text)
            expect(said).to_have_text(words)
        expect(field).to_have_attribute("aria-invalid", "true")
        field.fill("")
        expect(said).to_be_hidden()
        field.press("Enter")
        expect(pins(page)).to_have_count(0)
        for number in range(17):
            field.fill(f"hunger + {number}")
            field.press("Enter")
        expect(pins(page)).to_have_count(16)
        expect(page.locator(".message")).to_contain_text("16 expressions are watched already")
        page.locator(".pin-text").first.click()
        expect(field).to_have_value("hunger + 0")
        page.get_by_label("Watch hunger + 0 no more").click()
        watch(page, "hunger > 0.2 and hunger < 0.9 and not is_sad or hunger > 0.95")
        expect(pins(page)).to_have_count(16)
        assert page.locator(".side-scroll").evaluate("side => side.scrollWidth - side.clientWidth") == 0


def test_what_the_browser_kept_may_be_anything(look):
    with inspected(stand_still(make_inn(), 300), title="inn") as inspector:
        page = look(inspector.url)
        kept = '[{"agent":"Ann","text":"hunger"},{"agent":3},null,{"agent":"Ann","text":"hunger"}]'
        page.evaluate("kept => localStorage.setItem('agentrt.pins.inn', kept)", kept)
        page.reload()
        expect(page.locator(".pin-text")).to_have_text(["hunger"])
        page.evaluate("localStorage.setItem('agentrt.pins.inn', '{')")
        page.reload()
        expect(value_of(page, "hunger")).to_have_text("0.3")
        expect(pins(page)).to_have_count(0)


@pytest.fixture(scope="module")
def recording(tmp_path_factory):
    path = tmp_path_factory.mktemp("values") / "inn.sqlite"
    runtime = make_inn()
    with runtime.record(path, world=""):
        for _ in range(600):
            runtime.step()
    runtime.close()
    with command("inspect", str(path), "--port", "0") as url:
        yield url


@pytest.mark.states(
    "tools: Values: In a recording a chart has all of it, and a click goes to a tick", source="design 7"
)
@pytest.mark.parametrize(("size", "dark"), [((1280, 720), False), (PHONE, True)])
def test_a_recording_has_the_whole_line_and_a_click_goes_there(look, recording, size, dark):
    page = look(recording, size=size, dark=dark)
    expect(value_of(page, "satiety")).to_have_text("190")
    watch(page, "hunger")
    chart = pins(page).locator("canvas")
    expect(chart).to_have_attribute("aria-label", re.compile("^hunger of Ann over time: from 0.001 to 0.59"))
    box = chart.bounding_box()
    chart.click(position={"x": box["width"] / 2, "y": 12})
    expect(page.locator(".clock-tick")).to_have_text(re.compile("^tick (29|30)"))
    expect(page.locator(".pin-value")).to_have_text(re.compile("^tick (29|30)"))  # it is pointed at
    expect(value_of(page, "hunger")).to_have_text(re.compile(r"^0\.(28|29|30)"))
    page.keyboard.press("End")
    expect(value_of(page, "hunger")).to_have_text(re.compile(r"^0\.(58|59|6)"))
    assert page.evaluate("document.documentElement.scrollWidth") == size[0]


def test_who_offers_nothing_is_told_how(look):
    runtime = Runtime(3, host="plain")
    runtime.add(Agent(Entity("cat", name="Tom")))
    with inspected(runtime) as inspector:
        page = look(inspector.url)
        expect(page.locator(".values .empty-line")).to_have_text("Tom offers none: see agent.values.")
