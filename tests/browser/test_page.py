"""The page itself: what it does with hostile names, keys, themes, a server that goes away, and a thousand agents."""

from __future__ import annotations

import re

import pytest
from pages import HOSTILE, expect, inspected, make_village

pytestmark = pytest.mark.slow


def names_of(page):
    return page.locator(".agent-name")


@pytest.mark.states(
    "tools: Page: Names are shown as text whatever they look like; no module parses markup",
    source="design 10",
)
def test_names_are_text_whatever_they_look_like(look):
    with inspected(make_village(("Ann", HOSTILE)), controls=True) as inspector:
        page = look(inspector.url)
        page.locator(".agent-row", has_text="Mallory").click()
        expect(page.locator(".head-name")).to_have_text(HOSTILE)
        for tab in "12345":
            page.keyboard.press(tab)
        expect(names_of(page)).to_have_text(["Ann", HOSTILE])
        page.keyboard.press("1")
        page.get_by_role("button", name="Break on this agent").click()
        expect(page.locator(".break-words")).to_have_text(f"agent {HOSTILE}")
        assert page.locator("img").count() == 0
        assert page.locator("b", has_text="Mallory").count() == 0


@pytest.mark.states("tools: Page: Everything can be done by keys", source="design 7")
def test_keys_choose_agents_tabs_and_help(look):
    with inspected(make_village()) as inspector:
        page = look(inspector.url)
        head = page.locator(".head-name")
        expect(head).to_have_text("Ann")
        page.keyboard.press("j")
        expect(head).to_have_text("Bob")
        page.keyboard.press("j")
        page.keyboard.press("j")  # the last one
        expect(head).to_have_text("Cyd")
        page.keyboard.press("k")
        expect(head).to_have_text("Bob")
        for key, view in (("2", "models"), ("3", "explain"), ("4", "events"), ("5", "performance"), ("1", "plan")):
            page.keyboard.press(key)
            expect(page.locator(f"#view-{view}")).to_be_visible()
            expect(page.locator("[role=tabpanel]:visible")).to_have_count(1)
        page.keyboard.press("?")
        expect(page.get_by_role("dialog", name="Keys")).to_be_visible()
        page.keyboard.press("Escape")
        expect(page.get_by_role("dialog", name="Keys")).to_be_hidden()
        page.keyboard.press("/")
        expect(page.get_by_placeholder("Search agents")).to_be_focused()  # a dialog that closes may still take it
        page.keyboard.type("kind:cat")
        expect(names_of(page)).to_have_text(["Cyd"])
        page.get_by_label("Clear the search").click()
        expect(names_of(page)).to_have_text(["Ann", "Bob", "Cyd"])
        page.keyboard.press("/")
        page.keyboard.type("by")
        page.keyboard.press("Control+A")
        page.keyboard.type("cy")
        page.keyboard.press("Enter")
        expect(head).to_have_text("Cyd")


@pytest.mark.states(
    "001: Overview, inspector: The inspector shows activities in angle brackets, actions beneath them, and the "
    "running branch",
)
@pytest.mark.states("tools: Page: Everything can be done by keys ...")
def test_the_plan_is_a_tree_for_the_keys(look):
    with inspected(make_village()) as inspector:
        page = look(inspector.url)
        tree = page.get_by_role("tree", name="Plan")
        rows = tree.get_by_role("treeitem")
        expect(rows.first).to_contain_text("<agentrt:top>")
        tree.focus()
        page.keyboard.press("Home")
        expect(page.locator(".side-heading strong")).to_have_text("<agentrt:top>")
        expect(page.locator(".candidates li").first).to_contain_text("live")
        before = rows.count()
        page.keyboard.press("ArrowLeft")
        expect(rows).to_have_count(1)
        page.keyboard.press("ArrowRight")
        expect(rows).to_have_count(before)
        page.keyboard.press("ArrowRight")
        expect(page.locator(".side-heading strong")).to_have_text("live")
        expect(rows.nth(1)).to_have_attribute("aria-selected", "true")
        page.keyboard.press("Escape")
        expect(page.locator(".side .panel-head h2:visible").first).to_have_text("Running now")


@pytest.mark.states("001: get_debug_info_datastore: Tools show the debug data that an action keeps")
def test_the_selected_action_is_shown_whole(look):
    with inspected(make_village(), controls=True) as inspector:
        page = look(inspector.url)
        page.locator("#view-plan .tree-row.unit", has_text="eat").first.click()
        side = page.locator(".side .selected")
        expect(side.locator(".side-heading strong")).to_have_text("eat")
        expect(side).to_contain_text("soup")  # from the debug data that the action keeps
        expect(side).to_contain_text("<mod:eat>")
        page.keyboard.press("b")
        expect(page.locator(".break-words")).to_have_text("action Eat")
        expect(page.locator(".reason.is-break")).to_contain_text("action Eat")
        page.keyboard.press("b")
        expect(page.locator(".break-list li")).to_have_count(0)


@pytest.mark.states("001: Overview, inspector: The inspector shows activities in angle brackets, actions beneath ...")
@pytest.mark.states(
    "001: set_debug_progress, abort: set_debug_progress and the reason of a rejection are surfaced in the inspector",
)
def test_the_plan_says_what_each_action_says_of_itself_and_why_it_is_not_possible(look):
    with inspected(make_village()) as inspector:
        page = look(inspector.url)
        plan = page.locator("#view-plan .tree")
        page.get_by_role("button", name="Everything").click()
        expect(plan.locator(".frame.on-branch", has_text="<mod:eat>")).to_be_visible()
        eat = plan.locator(".unit", has_text="Eat")
        expect(eat).to_contain_text("at the table by the window")
        expect(eat).to_contain_text(re.compile(r"0\.5\d\d"))
        expect(plan.locator(".unit.impossible .reason", has_text="rejected: nobody is invited")).to_be_visible()
        expect(page.locator(".flag-list")).to_contain_text("LOOK")
        page.keyboard.press("3")
        expect(page.locator(".explain .trouble")).to_contain_text("nobody is invited")


@pytest.mark.states(
    "tools: Page: Watching only: a page without controls can change nothing, and says why",
    source="design 10",
)
def test_watching_only(look):
    with inspected(make_village()) as inspector:
        page = look(inspector.url)
        expect(page.locator(".badge")).to_have_text("live, watching only")
        expect(page.locator(".controls .button").first).to_be_disabled()
        expect(page.get_by_label("Speed")).to_be_disabled()
        expect(page.get_by_role("button", name="Break on this agent")).to_be_disabled()
        expect(page.locator(".break-form .button")).to_be_disabled()
        page.keyboard.press(" ")
        page.keyboard.press("b")
        tick = page.locator(".clock-tick").inner_text()
        expect(page.locator(".clock-tick")).not_to_have_text(tick)  # it goes on
        expect(page.locator(".break-list li")).to_have_count(0)


@pytest.mark.states(
    "tools: Page: Light and dark, as the system or the user says; every text has a contrast of 4.5",
    source="design 7",
)
@pytest.mark.parametrize("dark", [False, True])
def test_the_theme_is_the_system_s_or_the_user_s(look, dark):
    def ink(page):
        return page.evaluate("getComputedStyle(document.body).backgroundColor")

    light_ink, dark_ink = "rgb(255, 255, 255)", "rgb(23, 25, 29)"
    with inspected(make_village()) as inspector:
        page = look(inspector.url, dark=dark)
        expect(names_of(page).first).to_be_visible()
        assert ink(page) == (dark_ink if dark else light_ink)
        page.keyboard.press("t")
        expect(page.locator("html")).to_have_attribute("data-theme", "light" if dark else "dark")
        assert ink(page) == (light_ink if dark else dark_ink)
        page.reload()
        expect(names_of(page).first).to_be_visible()
        assert ink(page) == (light_ink if dark else dark_ink)


@pytest.mark.states(
    "tools: Page: It comes back with the server, and says what is wrong without the token",
    source="design 10",
)
def test_it_comes_back_with_the_server(look):
    village = make_village()
    with inspected(village) as inspector:
        page = look(inspector.url)
        page.locator(".agent-row", has_text="Bob").click()
        expect(page.locator("#view-plan .tree-row").first).to_be_visible()
        port = int(re.search(r":(\d+)/", inspector.url)[1])
    expect(page.locator(".link-state")).to_have_text(re.compile("connection lost"))
    with inspected(make_village(("Bob", "Dee")), port=port):
        expect(page.locator(".link-state")).to_have_text("connected")
        expect(names_of(page)).to_have_text(["Bob", "Dee"])
        expect(page.locator(".head-name")).to_have_text("Bob")
        expect(page.locator("#view-plan .tree-row").first).to_be_visible()


@pytest.mark.states("tools: Page: It comes back with the server, and says what is wrong without the token ...")
def test_a_page_without_the_token_is_told_so(look):
    token = "a token of some length"
    with inspected(make_village(), token=token) as inspector:
        page = look(inspector.url)
        expect(names_of(page)).to_have_text(["Ann", "Bob", "Cyd"])
        stranger = look(inspector.url.split("?")[0])
        expect(stranger.locator(".link-state")).to_have_text(re.compile(r"^refused \(open the address"))
        assert "Ann" not in stranger.content()


@pytest.mark.states(
    "tools: Page: Of a thousand agents only those on the screen have elements; any of them is found",
    source="design 7",
)
def test_a_thousand_agents(look):
    village = make_village([f"settler {number}" for number in range(1000)])
    village.step()
    village.gate.pause()
    with inspected(village) as inspector:
        page = look(inspector.url)
        expect(page.locator(".tally").first).to_have_text("1 000")
        assert page.locator(".agent-row").count() < 60  # only those on the screen have elements
        page.locator(".agents .virtual").evaluate("list => list.scrollTop = list.scrollHeight")
        expect(names_of(page).last).to_have_text("settler 999")
        page.locator(".agent-row", has_text="settler 998").click()
        expect(page.locator(".head-name")).to_have_text("settler 998")
        expect(page.locator("#view-plan .tree-row").first).to_be_visible()
        page.keyboard.press("/")
        page.keyboard.type("settler 55")
        expect(page.locator(".tally").first).to_have_text("11 of 1 000")  # 55, 550 to 559


def test_the_time_line_zooms_and_tells(look):
    with inspected(make_village()) as inspector:
        page = look(inspector.url)
        cells = page.locator(".timeline .unseen td")
        expect(cells.filter(has_text="eat").first).to_be_attached()
        canvas = page.locator(".timeline canvas")
        for _ in range(3):
            page.keyboard.press("+")
        box = canvas.bounding_box()
        tip = page.locator(".tip")
        page.wait_for_function("() => document.querySelectorAll('.timeline .unseen tr').length > 6")
        for x in range(int(box["width"]) - 12, 100, -24):
            canvas.hover(position={"x": x, "y": 30})
            if tip.is_visible():
                break
        expect(tip).to_contain_text(re.compile(r"tick \d+ . (\d+|now), \d+ tick"))
        canvas.click(position={"x": x, "y": 30})
        expect(page.locator(".side .panel-head h2:visible").first).to_have_text("Span")
