"""Small screens: all that a desk has can be read and reached on a phone and a tablet; and what helps on each of them."""

from __future__ import annotations

import itertools
import re

import pytest
from pages import HOSTILE, expect, fits, inspected, make_village

from agentrt import TOP, Action, Agent, Entity
from agentrt.drawing import Drawing, Mark
from agentrt.inspect import Inspector

pytestmark = pytest.mark.slow

TABS = ("plan", "models", "explain", "events", "performance", "tasks", "world")
PHONE, TABLET, DESK = (390, 844), (768, 1024), (1280, 720)

# Words that lie on each other, or that stick out at the right: of elements with a text of their own that are seen.
OVERLAPS = """() => {
    const seen = [...document.querySelectorAll('.topbar *, .scrubber *, .agent-head *, .tabs *, .event-head *, .toolbar *, .statusbar *')]
        .filter((one) => [...one.childNodes].some((part) => part.nodeType === 3 && part.textContent.trim()))
        .filter((one) => one.tagName !== 'OPTION' && getComputedStyle(one).visibility === 'visible')
        .map((one) => [one, one.getBoundingClientRect()])
        .filter(([, box]) => box.width > 1 && box.height > 1);
    const found = [];
    seen.forEach(([one, a], index) => seen.slice(index + 1).forEach(([other, b]) => {
        const wide = Math.min(a.right, b.right) - Math.max(a.left, b.left);
        const high = Math.min(a.bottom, b.bottom) - Math.max(a.top, b.top);
        const lies = wide > 2 && high > 2 && !one.contains(other) && !other.contains(one);
        if (lies) found.push(`${one.textContent} / ${other.textContent}`);
    }));
    return found;
}"""


class Chat(Action):
    """Has a name of its own, and one that nobody would guess from its class."""

    does = TOP
    name = "talk"
    utility = 0.9

    async def run(self, ctx, args):
        await ctx.sleep_ticks(5)


def make_square():
    runtime = make_village()
    runtime.add(Agent(Entity("human", name="Dee"), actions=[Chat]))
    runtime.add(Agent(Entity("human", name=HOSTILE * 3), actions=[Chat]))
    return runtime


@pytest.mark.states("tools: Page: It is used on a phone, a tablet and a desk: nothing sticks out, no words overlap")
def test_nothing_sticks_out(look):
    runtime = make_square()
    with inspected(runtime, controls=True, title="a village square") as inspector:
        page = look(inspector.url, size=PHONE)
        expect(page.locator(".agent-name").first).to_be_visible()
        page.locator(".agent-row", has_text="Mallory").click()
        for size, scheme, tab in itertools.product((PHONE, TABLET, DESK), ("light", "dark"), TABS):
            if tab == TABS[0]:
                fits(page, size)
                page.emulate_media(color_scheme=scheme)
            page.locator(f"#tab-{tab}").click()
            expect(page.locator(f"#view-{tab}")).to_be_visible()
            assert page.evaluate("document.documentElement.scrollWidth") == size[0], tab
            assert page.evaluate("document.querySelector('.workspace').scrollWidth") <= size[0], tab
            assert page.evaluate(OVERLAPS) == [], tab
            box = page.locator(f"#tab-{tab}").bounding_box()
            assert box["x"] >= 0, tab
            assert box["x"] + box["width"] <= size[0], tab


@pytest.mark.states("tools: Page: On a phone the plan says what runs however deep it lies")
def test_a_recording_on_a_small_screen(look, tmp_path):
    runtime = make_square()
    with runtime.record(tmp_path / "square.sqlite"):
        for _ in range(20):
            runtime.step()
    runtime.close()
    with Inspector(tmp_path / "square.sqlite", port=0) as inspector:
        page = look(inspector.url, size=TABLET)
        expect(page.locator(".clock-tick")).to_have_text("tick 1")
        page.locator(".slider").fill("9")
        expect(page.locator(".clock-tick")).to_have_text("tick 9")
        for size in (TABLET, PHONE):
            fits(page, size)
            assert page.evaluate(OVERLAPS) == []
        page.locator("#tab-plan").click()
        leaf = page.locator("#view-plan .tree-row", has_text="eat").first
        assert leaf.locator(".node-name").evaluate("name => name.scrollWidth <= name.clientWidth + 1")
        expect(leaf.locator(".col-state").first).to_have_text(re.compile("running|finished|ready|idle|started"))


@pytest.mark.states(
    "tools: Page: Breakpoints have a place of their own: their form stays where it is", source="design 7"
)
def test_the_form_of_breakpoints_stays_where_it_is(look):
    runtime = make_square()
    for _ in range(3):
        runtime.step()
    runtime.gate.pause("for a look")
    with inspected(runtime, controls=True) as inspector:
        page = look(inspector.url, size=DESK)
        add = page.get_by_role("button", name="Add", exact=True)
        expect(page.locator(".head-name")).to_have_text("Ann")
        for size in (DESK, TABLET, PHONE):
            fits(page, size)
            expect(add).to_be_visible()
            page.locator(".agent-row", has_text="Ann").click()
            expect(page.locator(".side-heading strong")).to_have_text("eat")
            before = add.bounding_box()
            page.locator(".agent-row", has_text="Dee").click()
            expect(page.locator(".side-heading strong")).to_have_text("talk")
            assert add.bounding_box() == before
            page.locator("#tab-plan").click()
            page.locator("#view-plan .tree-row").first.click()
            assert add.bounding_box() == before
        page.get_by_label("Name of what starts").fill("Chat")
        add.click()
        expect(page.locator(".break-list li")).to_have_count(1)


@pytest.mark.states("tools: Page: Late ticks and dropped updates lead to what they mean", source="design 7")
@pytest.mark.parametrize(("size", "dark"), [(DESK, False), (PHONE, True)])
def test_late_ticks_lead_to_what_they_mean(look, size, dark):
    runtime = make_village()
    runtime.step()
    runtime.gate.pause()
    with inspected(runtime) as inspector:
        page = look(inspector.url, size=size, dark=dark)
        expect(page.locator(".agent-name").first).to_be_visible()
        late = page.locator(".statusbar .late")
        expect(late).to_be_hidden()
        runtime.gate.resume()
        runtime._conductor.late_ticks = 3
        expect(late).to_be_visible()
        late.click()
        dialog = page.get_by_role("dialog", name="What the figures mean")
        expect(dialog.locator(".is-meant")).to_contain_text("Ticks that were left out")
        page.keyboard.press("5")  # the page's keys are not meant
        dialog.get_by_role("button", name="Show Performance").click()
        expect(page.locator("#view-performance")).to_be_visible()
        expect(dialog).to_be_hidden()


@pytest.mark.states("tools: Page: Tabs that have nothing to show are gray, and say so")
def test_empty_tabs_are_gray(look):
    with inspected(make_square()) as inspector:
        page = look(inspector.url)
        expect(page.locator("#tab-models")).to_have_class(re.compile("is-empty"))
        expect(page.locator("#tab-models")).to_have_attribute("title", "Models  (2): nothing to see there")
        expect(page.locator("#tab-tasks")).to_have_class(re.compile("is-empty"))
        expect(page.locator("#tab-plan")).not_to_have_class(re.compile("is-empty"))
        expect(page.locator("#tab-performance")).not_to_have_class(re.compile("is-empty"))
        border = page.locator("#tab-plan kbd").evaluate("key => getComputedStyle(key).borderBottomWidth")
        assert border == "2px"  # it looks like a key


@pytest.mark.states("tools: Page: The time line says what the plan says, live and in a recording", source="design 7")
def test_the_time_line_says_what_the_plan_says(look, tmp_path):
    runtime = make_square()
    with inspected(runtime) as inspector:
        page = look(inspector.url)
        page.locator(".agent-row", has_text="Dee").click()
        cells = page.locator(".timeline .unseen td")
        expect(cells.filter(has_text=re.compile("^talk$")).first).to_be_attached()
        expect(cells.filter(has_text=re.compile("^Chat"))).to_have_count(0)
    runtime = make_square()
    with runtime.record(tmp_path / "square.sqlite"):
        for _ in range(20):
            runtime.step()
    runtime.close()
    with Inspector(tmp_path / "square.sqlite", port=0) as inspector:
        page = look(inspector.url)
        page.locator(".agent-row", has_text="Dee").click()
        page.keyboard.press("End")
        cells = page.locator(".timeline .unseen td")
        expect(cells.filter(has_text=re.compile("^talk$")).first).to_be_attached()
        expect(cells.filter(has_text=re.compile("^Chat"))).to_have_count(0)


@pytest.mark.states("tools: World: Names and labels do not lie on each other, and stay on the screen")
@pytest.mark.parametrize("dark", [False, True])
def test_long_labels_do_not_lie_on_each_other(look, dark):
    runtime = make_village()
    crowd = {f"one {at}": Mark(3 + at % 3, 2 + at % 2, label=f"a rather long label, number {at}") for at in range(20)}
    runtime.drawing = lambda: Drawing(8, 6, None, {**crowd, "ann": Mark(0, 3, "A", agent="Ann", layer=5)})
    for _ in range(3):
        runtime.step()
    runtime.gate.pause("for a picture")
    with inspected(runtime) as inspector:
        page = look("about:blank", size=PHONE, dark=dark)
        page.add_init_script(
            """window.written = [];
            const fill = CanvasRenderingContext2D.prototype.fillText;
            CanvasRenderingContext2D.prototype.fillText = function (text, x, y) {
                if (this.canvas.closest?.('.world-stage') && text.length > 2)
                    window.written.push([text, x, y, this.measureText(text).width, this.canvas.clientWidth]);
                return fill.call(this, text, x, y);
            };
            const clear = CanvasRenderingContext2D.prototype.clearRect;
            CanvasRenderingContext2D.prototype.clearRect = function (...box) {
                if (this.canvas.closest?.('.world-stage')) window.written = [];
                return clear.apply(this, box);
            };"""
        )
        page.goto(inspector.url)
        expect(page.locator(".agent-name").first).to_be_visible()
        page.locator("#tab-world").click()
        page.wait_for_function("() => window.written.length > 1")
        written = page.evaluate("window.written")
        assert "Ann" in [text for text, *_ in written]  # the chosen one's comes first
        for index, (_, x, y, wide, most) in enumerate(written):
            assert x - wide / 2 >= 0
            assert x + wide / 2 <= most
            for _, other, below, breadth, _ in written[index + 1 :]:
                assert abs(x - other) >= (wide + breadth) / 2 or abs(y - below) >= 11
