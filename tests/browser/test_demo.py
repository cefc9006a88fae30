"""The colony's inspector in a browser: find an agent, watch its plan change, stop it, step it; scrub a recording of it."""

from __future__ import annotations

import re

import pytest
from pages import command, expect

from agentrt.worlds import load_world

pytestmark = pytest.mark.slow

PLAN = "#view-plan .tree-row"


def choose(page, name):
    page.keyboard.press("/")
    page.keyboard.type(name)
    row = page.locator(".agent-row", has=page.locator(".agent-name", has_text=re.compile(f"^{name}$")))
    row.click()
    expect(page.locator(".head-name")).to_have_text(name)
    page.locator(".head-name").click()  # the keys are the page's again


def tick_of(page):
    return int(re.sub(r"\D", "", page.locator(".clock-tick").inner_text()))


@pytest.fixture(scope="module")
def demo():
    with command("demo", "--inspect", "--port", "0", "--controls") as url:
        yield url


@pytest.mark.states("001: Overview, inspector: The inspector shows activities in angle brackets, actions beneath ...")
@pytest.mark.states(
    "tools: Page: A named agent is found, watched, stopped where something starts, and stepped",
    source="design 7",
)
def test_an_agent_is_found_and_its_plan_changes_while_one_watches(look, demo):
    page = look(demo)
    expect(page.locator(".badge")).to_have_text("live")
    choose(page, "Egon")
    expect(page.locator(".tally").first).to_have_text(re.compile(r"^1 of \d+$"))
    expect(page.locator(PLAN).first).to_contain_text("<agentrt:top>")
    expect(page.locator(f"{PLAN}.on-branch").first).to_be_visible()
    before = page.locator("#view-plan .tree").inner_text()
    page.wait_for_function("before => document.querySelector('#view-plan .tree').innerText !== before", arg=before)


@pytest.mark.states("tools: Page: A named agent is found, watched, stopped where something starts, and stepped ...")
def test_it_pauses_steps_and_goes_on(look, demo):
    page = look(demo)
    run = page.locator(".controls .button").first
    expect(page.locator(".clock-tick")).to_have_text(re.compile(r"^tick \d"))
    page.keyboard.press(" ")
    expect(run).to_have_text("Resume")
    expect(page.locator(".reason")).to_be_visible()
    page.wait_for_timeout(300)  # the last tick may be under way
    at = tick_of(page)
    page.keyboard.press(".")
    expect(page.locator(".clock-tick")).to_have_text(f"tick {at + 1:,}".replace(",", " "))
    page.keyboard.press("Shift+.")
    expect(page.locator(".clock-tick")).to_have_text(f"tick {at + 11:,}".replace(",", " "))
    run.click()
    expect(run).to_have_text("Pause")
    tick = "Number(document.querySelector('.clock-tick').textContent.replace(/[^0-9]/g, ''))"
    page.wait_for_function(f"at => {tick} > at", arg=at + 12)


@pytest.mark.states("tools: Page: A named agent is found, watched, stopped where something starts, and stepped ...")
def test_a_breakpoint_stops_it_and_says_why(look, demo):
    page = look(demo)
    form = page.locator(".break-form")
    form.get_by_label("Name of what starts").fill("FollowPath")
    # By the keyboard: what runs stands above, and the button moves when more or less is told of that.
    form.get_by_label("Name of what starts").press("Enter")
    expect(page.locator(".break-list li")).to_contain_text("action FollowPath")
    expect(page.locator(".reason.is-break")).to_contain_text("breakpoint: action FollowPath")
    expect(page.locator(".break-list li.is-hit")).to_contain_text(re.compile(r"\d hits?, last: tick"))
    who, where = page.evaluate("() => document.querySelector('.break-list li').point.place")
    page.locator(".break-list li.is-hit .break-last").click()
    expect(page.locator(".head-name")).to_have_text(who)
    expect(page.locator(".side .path-line")).to_have_text(where)
    page.get_by_label("Remove this breakpoint").click()
    expect(page.locator(".break-list li")).to_have_count(0)
    page.keyboard.press(" ")
    expect(page.locator(".controls .button").first).to_have_text("Pause")


def test_the_events_of_one_agent(look, demo):
    page = look(demo)
    choose(page, "Gaspar")
    page.keyboard.press("4")
    page.get_by_role("button", name="This agent", exact=True).click()
    rows = page.locator(".events-view .event-row.virtual-row")
    agents = "[...document.querySelectorAll('.event-row.virtual-row')].map(row => row.children[1].textContent)"
    page.wait_for_function(f"() => {agents}.length > 0 && {agents}.every(name => name === 'Gaspar')")
    page.keyboard.press(" ")
    expect(page.locator(".controls .button").first).to_have_text("Resume")
    rows.last.click()
    expect(page.locator(".side .panel-head h2").get_by_text("Event", exact=True)).to_be_visible()
    expect(page.locator(".side .pairs").first).to_contain_text("Gaspar")
    page.keyboard.press(" ")
    expect(page.locator(".controls .button").first).to_have_text("Pause")


@pytest.mark.states(
    "002: S11: The whole tree, its active path and the state print can be shown in the inspector",
    source="S02, 3; S11, 1",
)
@pytest.mark.states(
    "004: debug information: The variables, the leaf and the selected behavior of a selection tree are shown",
)
@pytest.mark.parametrize(
    ("name", "shows"), [("Ivo", ["selection tree", "goal selector", "behavior tree"]), ("drake 142", ["behavior tree"])]
)
def test_the_models_of_an_agent(look, demo, name, shows):
    page = look(demo)
    choose(page, name)
    page.keyboard.press("2")
    expect(page.locator(".card header .tag")).to_have_text(shows)
    expect(page.locator(".card .tree-row.on-branch").first).to_be_visible()
    page.keyboard.press("3")
    expect(page.locator(".explain > div").first).to_contain_text(f"{name} at tick")


@pytest.fixture(scope="module")
def recording(tmp_path_factory):
    path = tmp_path_factory.mktemp("recording") / "colony.sqlite"
    runtime = load_world("colony").make(seed=7, host="plain")
    with runtime.record(path, world="colony"):
        for _ in range(120):
            runtime.step()
    runtime.close()
    with command("inspect", str(path), "--port", "0") as url:
        yield url


@pytest.mark.states("tools: Page: A recording is scrubbed and played; the same tick shows the same", source="design 7")
def test_a_recording_is_scrubbed(look, recording):
    page = look(recording)
    clock = page.locator(".clock-tick")
    expect(page.locator(".badge")).to_have_text("recording")
    expect(page.locator(".breakpoints")).to_be_hidden()
    choose(page, "Alva")
    page.keyboard.press("End")
    expect(clock).to_have_text("tick 120")
    page.keyboard.press("Shift+ArrowLeft")
    expect(clock).to_have_text("tick 110")
    page.keyboard.press("ArrowLeft")
    expect(clock).to_have_text("tick 109")
    at_109 = page.locator(".head-path").inner_text()
    slider = page.get_by_label("Tick that is shown")
    slider.fill("2")
    expect(clock).to_have_text("tick 2")
    page.wait_for_function("before => document.querySelector('.head-path').innerText !== before", arg=at_109)
    slider.fill("109")
    expect(clock).to_have_text("tick 109")
    expect(page.locator(".head-path")).to_have_text(at_109)


@pytest.mark.states("tools: Page: A recording is scrubbed and played; the same tick shows the same ...")
def test_a_recording_plays(look, recording):
    page = look(recording)
    page.keyboard.press("Home")
    expect(page.locator(".clock-tick")).to_have_text("tick 1")
    page.get_by_label("Speed").select_option("4")
    page.keyboard.press("Escape")
    page.get_by_role("button", name="Play").click()
    expect(page.get_by_role("button", name="Pause")).to_be_visible()
    expect(page.locator(".clock-tick")).to_have_text("tick 120")
    expect(page.get_by_role("button", name="Play")).to_be_visible()
