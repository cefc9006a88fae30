"""What if, on the page: a number is changed after a tick, the run goes on in a process of its own, both stand there."""

from __future__ import annotations

import json
import re
import sys
import textwrap

import pytest
from pages import HOSTILE, expect

from agentrt.inspect import Inspector
from agentrt.record.branch import branch, load_edits
from agentrt.worlds import load_world

pytestmark = pytest.mark.slow

DESK, PHONE = (1280, 800), (390, 844)
GAME = f"""
    import time
    from agentrt import LOOK, TOP, Action, Agent, CompoundAction, Entity, Runtime, step
    from agentrt.goals import Goal, GoalSelector
    from agentrt.worlds import SimpleWorld

    class Eat(Action):
        does = "mod:eat"
        utility = 0.5

        async def run(self, ctx, args):
            await ctx.sleep_ticks(6)

    class Feast(Action):
        does = "mod:eat"
        utility = (0.2, 0.3)

        async def run(self, ctx, args):
            await ctx.sleep_ticks(12)

    class Live(CompoundAction):
        does = TOP
        utility = 0.4
        steps = [step("mod:eat")]

    class Stare(Goal):
        name = "Stare"
        flags = {{LOOK}}

        def can_use(self):
            return True

    class Blink(Stare):
        name = "Blink"

    def make(*, seed, host):
        runtime = Runtime(seed, host=host)
        for name in ("Ann", "Bob", {HOSTILE!r}):
            agent = runtime.add(Agent(Entity("human", name=name), actions=[Live, Eat, Feast]))
            selector = GoalSelector()
            selector.add_goal(1, Stare())
            selector.add_goal(2, Blink())
            agent.attach(selector)
        runtime.on_input("knock", lambda who="nobody": runtime.note("knock", who=who))
        runtime.on_input("hang", lambda: time.sleep(1000))
        return runtime

    world = SimpleWorld("paged village", make)
"""


@pytest.fixture(scope="module")
def village(tmp_path_factory):
    """A recording of a project's world; the tests run in the project."""
    folder = tmp_path_factory.mktemp("what_if")
    (folder / "paged_game.py").write_text(textwrap.dedent(GAME), encoding="utf-8")
    (folder / "pyproject.toml").write_text('[tool.agentrt]\napp = "paged_game:world"\n', encoding="utf-8")
    patch = pytest.MonkeyPatch()
    patch.chdir(folder)
    patch.setattr(sys, "path", [str(folder), *sys.path])
    runtime = load_world("paged village").make(seed=3, host="plain")
    path = folder / "village.sqlite"
    with runtime.record(path, world="paged village"):
        while runtime.tick < 200:
            if runtime.tick == 149:
                runtime.send("knock", who="a tinker")
            runtime.step()
    runtime.close()
    yield path
    patch.undo()
    sys.modules.pop("paged_game", None)


@pytest.fixture
def opened(look, village):
    """Opens the page of the recording at tick 60, in the tab What if."""
    inspectors = []

    def open_page(**options):
        size, dark = options.pop("size", DESK), options.pop("dark", False)
        options.setdefault("controls", True)
        inspector = Inspector(village, port=0, **options)
        inspector.start()
        inspectors.append(inspector)
        page = look(inspector.url, size=size, dark=dark)
        slider = page.get_by_role("slider", name="Tick that is shown")
        expect(page.locator(".clock-tick")).to_contain_text("tick")
        slider.evaluate("one => { one.value = 60; one.dispatchEvent(new Event('input')); }")
        expect(page.locator(".clock-tick")).to_have_text("tick 60")
        page.get_by_role("tab", name="What if").click()
        return page

    yield open_page
    for inspector in inspectors:
        inspector.stop()


def change(page, kind, name, value, **more):
    form = page.get_by_role("form", name="Add a change")
    form.get_by_label("What to change").select_option(label=kind)
    form.locator("input[list]").fill(name)
    if value is not None:
        form.get_by_label("New value").fill(value)
    if "tick" in more:
        form.get_by_label("In tick").fill(str(more["tick"]))
    if more.get("everybody"):
        form.get_by_role("checkbox").uncheck()
    form.get_by_role("button", name="Add").click()


def run_on(page):
    page.get_by_role("button", name="Run on").click()
    expect(page.locator(".whatif-counts, .whatif-failure").first).to_be_visible(timeout=60_000)


@pytest.mark.parametrize(("size", "dark"), [(DESK, False), (PHONE, True)])
def test_a_utility_is_changed_and_both_runs_stand_side_by_side(opened, village, tmp_path, size, dark):
    page = opened(size=size, dark=dark)
    change(page, "Utility of an action", "Feast", "0.9")
    expect(page.locator(".whatif-draft li")).to_contain_text("utility of Feast becomes 0.9, for Ann")
    run_on(page)
    result = page.get_by_role("region", name="What came of the branch")
    expect(result).to_contain_text("1 agent did something else, 2 did the same.")
    expect(result).to_contain_text(re.compile(r"They part in tick 6\d: Ann"))
    expect(result.locator(".whatif-side.one pre")).to_contain_text("eat")
    expect(result.locator(".whatif-side.other pre")).to_contain_text("feast: running")
    row = result.locator("tr", has_text="Feast")
    expect(row).to_contain_text("+")
    expect(result.locator("svg.whatif-svg")).to_have_count(2)
    expect(result.locator(".whatif-line.other")).to_contain_text("feast")
    expect(result.locator(".whatif-line.one")).not_to_contain_text("feast")
    assert page.evaluate("document.documentElement.scrollWidth") <= size[0]
    # The file that is saved gives the same on the command line.
    with page.expect_download() as saved:
        result.get_by_role("button", name="Save script").click()
    script = tmp_path / "script.json"
    saved.value.save_as(script)
    again = branch(village, load_world("paged village").make, at=60, edits=load_edits(script))
    expect(result.locator(".whatif-digest")).to_contain_text(again.digest)
    page.get_by_role("button", name="Remove branch 1").click()
    expect(page.locator(".whatif-runs li")).to_have_count(0)
    expect(result).to_be_hidden()


def test_from_the_plan_and_from_the_goals_one_comes_to_a_change(opened):
    page = opened()
    page.get_by_role("tab", name="Plan").click()
    page.get_by_role("button", name="What if …").click()
    form = page.get_by_role("form", name="Add a change")
    expect(form.locator("input[list]")).to_have_value("Eat")
    expect(form.get_by_label("New value")).to_be_focused()
    page.keyboard.type("0.1")
    page.keyboard.press("Enter")
    expect(page.locator(".whatif-draft li")).to_contain_text("utility of Eat becomes 0.1, for Ann")
    change(page, "Priority of a goal", "Blink", "0", everybody=True)
    expect(page.locator(".whatif-draft li")).to_have_count(2)
    run_on(page)
    expect(page.locator(".whatif-counts tr", has_text="Blink")).to_contain_text("+3")
    page.locator(".whatif-others .link", has_text="Bob").click()
    expect(page.locator(".whatif-sides h3")).to_contain_text("Bob")


def test_inputs_are_sent_left_out_and_changed(opened):
    page = opened()
    change(page, "Send an input", "knock", '{"who": "a king"}', tick=70)
    change(page, "Leave out an input", "knock", None)
    expect(page.locator(".whatif-draft li").nth(1)).to_have_text(re.compile(r"tick 150\s*knock does not come in"))
    run_on(page)
    expect(page.get_by_role("region", name="What came of the branch")).to_contain_text("They part in tick 70")
    expect(page.locator(".whatif-side.other code")).to_contain_text("who='a king'")


def test_a_script_is_typed_and_opened_and_what_is_wrong_is_said(opened, tmp_path):
    page = opened()
    page.locator("summary", has_text="As a script").click()
    area = page.get_by_role("textbox", name="The script")
    area.fill("[3]")
    expect(page.locator(".whatif-script [role=alert]")).to_contain_text("/0: an edit is an object")
    area.fill(json.dumps([{"tick": 61, "set": "weight", "of": "Eat", "to": -3}]))
    expect(page.locator(".whatif-draft li")).to_contain_text("weight of Eat becomes \N{MINUS SIGN}3")
    page.get_by_role("button", name="Run on").click()
    expect(
        page.get_by_role("alert").filter(has_text=re.compile(r"^\[ART235\] .*#/0: a weight is a number from 0"))
    ).to_be_visible()
    script = tmp_path / "mine.json"
    script.write_text(json.dumps([{"tick": 90, "set": "utility", "of": HOSTILE, "to": 1}]), encoding="utf-8")
    with page.expect_file_chooser() as chooser:
        page.get_by_role("button", name="Open script").click()
    chooser.value.set_files(script)
    expect(page.locator(".whatif-draft li")).to_contain_text(f"utility of {HOSTILE} becomes 1")
    run_on(page)
    expect(page.locator(".whatif-failure")).to_contain_text("nobody has an action")
    expect(page.locator(".whatif-failure")).to_contain_text("The actions are: Live, Eat, Feast")
    assert page.locator("img").count() == 0


def test_hands_are_changes_of_a_script(opened):
    page = opened()
    form = page.get_by_role("form", name="Add a change")
    kind = form.get_by_label("What to change")
    for key, name, value, words in (
        ("force goal", "Blink", "", "force goal Blink of Ann"),
        ("disable action", "Eat", "", "disable action Eat of Ann"),
        ("stimulus", "SEEN", "2.5", "stimulus of SEEN becomes 2.5, for Ann"),
        ("abort", None, "", "abort the plan of Ann"),
    ):
        kind.select_option(key)
        if name is None:
            expect(form.locator("input[list]")).to_be_hidden()
        else:
            form.locator("input[list]").fill(name)
        if value:
            form.get_by_label("New value").fill(value)
        form.get_by_role("button", name="Add").click()
        expect(page.locator(".whatif-words").last).to_have_text(words)


def test_what_does_not_fit_is_said_beside_the_form(opened):
    page = opened()
    form, wrong = page.get_by_role("form", name="Add a change"), page.locator(".whatif-error:visible")
    for kind, name, value in (
        ("Utility of an action", "Eat", "7"),
        ("Utility of an action", "Feast", "0.9 0.2"),
        ("Weight of an action", "Eat", "-1"),
    ):
        change(page, kind, name, value)
        expect(wrong.first).to_contain_text("The value does not fit")
        form.get_by_label("New value").fill("")
    expect(page.locator(".whatif-draft li")).to_have_count(0)
    change(page, "Priority of a goal", "Blink", "-1")
    expect(page.locator(".whatif-draft li")).to_have_count(1)


BRIEF = (
    ("61 Ann top ready utility=0.7000000000000001", "61 Ann top ready utility=0.5", "61 Ann top ready utility=0.7"),
    ("1 Ann a=0.30000000000000004", "1 Ann a=0.3", "1 Ann a=0.30000000000000004"),  # else both would be the same
    ("1 Ann a='x=0.7000000000000001y'", None, "1 Ann a='x=0.7000000000000001y'"),
)


@pytest.mark.parametrize(("one", "other", "shown"), BRIEF)
def test_numbers_of_the_first_difference_are_short(opened, one, other, shown):
    page = opened()
    made = page.evaluate("async (two) => (await import('/static/whatifresult.js')).briefly(...two)", [one, other])
    assert made == [shown, other]


def test_nodes_of_trees_are_offered(opened):
    page = opened()
    offered = page.evaluate(
        """async () => {
            const { offersOf } = await import('/static/whatifmodel.js');
            const tree = (name, children) => ({ name, children });
            const outlines = {
                tree: tree("ROOT", [tree("AWAKE", [tree("EAT", [])]), tree("ASLEEP", [])]),
                wolf: tree("Root", [tree("Sleep", []), tree("Roam", [])]),
            };
            const drivers = [{ name: "tree", state: { path: [] } }, { name: "wolf", state: { variables: [] } }];
            const found = offersOf({ agent: { snapshot: { drivers } }, outlines, inputs: null });
            return [found["force decider"], found["disable leaf"]].map((rows) => rows.map(([name]) => name));
        }"""
    )
    assert offered == [["AWAKE", "EAT", "ASLEEP"], ["Sleep", "Roam"]]


def test_one_that_hangs_is_ended_by_its_button(opened):
    page = opened()
    change(page, "Send an input", "hang", "", tick=70)
    page.get_by_role("button", name="Run on").click()
    expect(page.get_by_role("progressbar")).to_be_visible()
    page.get_by_role("button", name="Cancel branch 1").click()
    expect(page.locator(".whatif-runs li")).to_contain_text("canceled")
    expect(page.get_by_role("progressbar")).to_be_hidden()


def test_without_controls_it_says_why_nothing_can_be_run(opened):
    page = opened(controls=False)
    expect(page.get_by_role("note")).to_contain_text("Watching only")
    expect(page.get_by_role("button", name="Run on")).to_be_disabled()
