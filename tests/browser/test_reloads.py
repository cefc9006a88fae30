"""What was edited while a world ran, on the page: a mark, what changed and who took it up, and what was refused."""

from __future__ import annotations

import importlib
import itertools
import sys
import textwrap

import pytest
from pages import expect, fits, inspected, make_village

from agentrt import Agent, Entity, Runtime
from agentrt.inspect import Inspector
from agentrt.reload import Reloader
from agentrt.runtime.intake import Reloaded

pytestmark = pytest.mark.slow

WOLVES = """
    from agentrt import TOP, Action, sleep_ticks

    seen = []

    def loudness():
        return 3

    class Howl(Action):
        does = TOP
        utility = 0.5

        async def run(self, ctx, args):
            await sleep_ticks(9)
"""
DESK, CRAMPED = (1280, 720), (390, 844)


class Pack:
    """A runtime with wolves of a module that can be edited."""

    def __init__(self, folder):
        self.file = folder / "paged_wolves.py"
        self.file.write_text(textwrap.dedent(WOLVES), encoding="utf-8")
        self.wolves = importlib.import_module("paged_wolves")
        self.runtime = Runtime(seed=1, host="plain")
        self.runtime.log_level = "off"
        for name in ("Akela", "Raksha"):
            self.runtime.add(Agent(Entity("wolf", name=name), actions=[self.wolves.Howl]))
        self.runtime.add(Agent(Entity("cat", name="Bagheera")))
        self.reloader = Reloader(self.runtime, folder)

    def edit(self, before, after):
        text = self.file.read_text(encoding="utf-8")
        assert before in text
        self.file.write_text(text.replace(before, after), encoding="utf-8")
        self.reloader.reload([self.file])


@pytest.fixture
def pack(tmp_path, monkeypatch):
    monkeypatch.syspath_prepend(str(tmp_path))
    monkeypatch.setattr(sys, "dont_write_bytecode", True)
    yield Pack(tmp_path)
    del sys.modules["paged_wolves"]


def marks(page):
    """How many pixels of the ruler of the time line have the color of a reload that was taken, and of one that was not.

    What is drawn is compared with the colors of the theme, since nothing else of a canvas can be looked at.
    """
    return page.evaluate(
        """() => {
            const canvas = document.querySelector(".timeline canvas");
            const ratio = canvas.width / canvas.clientWidth;
            const [left, high] = [84 * ratio, 20 * ratio];
            const blank = new OffscreenCanvas(canvas.width, canvas.height);
            const copy = blank.getContext("2d", { willReadFrequently: true });
            copy.drawImage(canvas, 0, 0);
            const { data } = copy.getImageData(left, 0, canvas.width - left, high);
            const style = getComputedStyle(document.documentElement);
            return ["running", "impossible"].map((name) => {
                const color = style.getPropertyValue(`--${name}`).trim();
                const wanted = [1, 3, 5].map((at) => parseInt(color.slice(at, at + 2), 16));
                let count = 0;
                for (let at = 0; at < data.length; at += 4)
                    count += wanted.every((part, index) => Math.abs(part - data[at + index]) < 3);
                return count;
            });
        }"""
    )


def rows(page):
    return page.locator(".reload-list .reload-words")


@pytest.mark.states(
    "tools: Page: A reload is marked on the time line; the page tells what changed, and leads to each agent that took "
    "it up",
)
@pytest.mark.parametrize("size", [DESK, CRAMPED])
def test_a_reload_is_marked_and_leads_to_who_took_it_up(look, pack, size):
    with inspected(pack.runtime) as inspector:
        page = look(inspector.url, size=size)
        expect(page.locator(".head-name")).to_have_text("Akela")
        expect(page.locator(".reloads")).to_be_hidden()
        assert marks(page) == [0, 0]
        pack.edit("sleep_ticks(9)", "sleep_ticks(8)")
        expect(rows(page)).to_have_text(["Howl · 2 agents"])
        pack.edit("return 3", "return 4")
        expect(rows(page)).to_have_text(["loudness · 0 agents", "Howl · 2 agents"])
        expect(page.locator(".refused")).to_be_hidden()
        taken, refused = marks(page)
        assert taken > 20
        assert refused == 0
        rows(page).last.click()
        side = page.locator(".side .selected")
        expect(side.locator(".side-heading strong")).to_have_text("paged_wolves.py")
        expect(side.locator(".state-word")).to_have_text("taken up")
        expect(side.locator(".pairs")).to_contain_text("ClassesHowl")
        expect(side.locator(".takers .link")).to_have_text(["Akela", "Raksha"])
        side.locator(".takers .link", has_text="Raksha").click()
        expect(page.locator(".head-name")).to_have_text("Raksha")
        expect(side.locator(".side-heading strong")).to_have_text("paged_wolves.py")  # the details stay
        page.keyboard.press("r")
        expect(side.locator(".pairs")).to_contain_text("Functionsloudness")
        expect(side).to_contain_text("No agent runs or knows it")


@pytest.mark.states(
    "tools: Page: An edit that was refused is told in red, with file, line and message, until it is mended; in a "
    "recording at each tick",
)
def test_what_was_refused_stays_in_red_until_it_is_mended(look, pack):
    with inspected(pack.runtime) as inspector:
        page = look(inspector.url)
        pack.edit("seen = []", "seen = [(")
        bar = page.get_by_role("alert").filter(has_text="the old code goes on")
        expect(bar).to_contain_text("paged_wolves.py:4: '(' was never closed")
        for size in (DESK, CRAMPED):
            fits(page, size)
            assert bar.bounding_box()["width"] == size[0]  # all of it is in sight
        expect(page.locator(".agent-row").first).to_contain_text("howl")  # it goes on
        later = look(inspector.url, size=CRAMPED)  # who comes later is told, too
        expect(later.locator(".refused")).to_contain_text("'(' was never closed")
        bar.get_by_role("button", name="Details").click()
        side = page.locator(".side .selected")
        expect(side.locator(".state-word")).to_have_text("refused")
        expect(side.locator(".why-box")).to_have_text("paged_wolves.py:4: '(' was never closed")
        pack.edit("seen = [(", "seen = [0]")
        for one in (page, later):
            expect(one.locator(".refused")).to_be_hidden()
        expect(side.locator(".state-word")).to_contain_text("mended in tick")
        expect(rows(page)).to_have_count(2)
        expect(rows(page).last).to_contain_text("mended in tick")


def test_an_edit_that_is_taken_back_mends_it_and_another_mistake_does_not(look, pack):
    with inspected(pack.runtime) as inspector:
        page = look(inspector.url)
        bar = page.locator(".refused")
        pack.edit("utility = 0.5", "utility = 5")
        expect(bar).to_contain_text("utility is 5")
        pack.edit("utility = 5", "utility = 6")
        expect(bar).to_contain_text("utility is 6")
        expect(bar).not_to_contain_text("more")
        pack.edit("utility = 6", "utility = 0.5")
        expect(bar).to_be_hidden()
        expect(rows(page).first).to_have_text("paged_wolves.py: as before")


def test_a_mark_on_the_ruler_tells_and_selects(look, pack):
    with inspected(pack.runtime, controls=True) as inspector:
        page = look(inspector.url)
        expect(page.locator(".head-name")).to_have_text("Akela")
        page.keyboard.press(" ")  # so that the mark stays where it is: a time line is over in two seconds
        expect(page.locator(".reason")).to_have_text("paused by the inspector")
        pack.edit("sleep_ticks(9)", "sleep_ticks(8)")
        page.get_by_role("button", name="One tick on").click()
        expect(rows(page)).to_have_count(1)
        tick = int(page.locator(".reload-tick").inner_text().split()[1])
        x = page.evaluate(
            """(tick) => {
                const box = document.querySelector(".timeline canvas").getBoundingClientRect();
                const now = Number(document.querySelector(".clock-tick").textContent.replace(/\\D/g, ""));
                const first = Math.max(now, 239) + 1 - 240;
                return box.left + 84 + ((tick - first) / 240) * (box.width - 84);
            }""",
            tick,
        )
        y = page.locator(".timeline canvas").bounding_box()["y"] + 14
        page.mouse.move(x, y)
        expect(page.get_by_role("tooltip")).to_contain_text("reload: taken up")
        page.mouse.click(x, y)
        expect(page.locator(".side .selected .side-heading strong")).to_have_text("paged_wolves.py")


@pytest.mark.states("tools: Page: An edit that was refused is told in red, with file, line and message, until it ...")
def test_a_recording_shows_it_at_each_tick(look, pack, tmp_path):
    path = tmp_path / "run.sqlite"
    with pack.runtime.record(path):
        for tick in range(1, 61):
            if tick == 10:
                pack.edit("sleep_ticks(9)", "sleep_ticks(8)")
            elif tick == 20:
                pack.edit("utility = 0.5", "utility = 5")
            elif tick == 40:
                pack.edit("utility = 5", "utility = 0.5")
            pack.runtime.step()
    pack.runtime.close()
    with Inspector(path, port=0) as inspector:
        page = look(inspector.url)
        expect(rows(page)).to_have_count(3)
        bar = page.locator(".refused")
        states = page.locator(".reload-list .dot")
        for size, (tick, told) in itertools.product(
            (DESK, CRAMPED),
            (
                (5, ["idle"] * 3),
                (30, ["idle", "impossible", "running"]),
                (50, ["running", "idle", "running"]),
            ),
        ):
            fits(page, size)
            page.locator(".slider").fill(str(tick))
            for index, state in enumerate(told):
                expect(states.nth(index)).to_have_class(f"dot {state}")
            (expect(bar).to_be_visible if tick == 30 else expect(bar).to_be_hidden)()
        expect(rows(page).nth(1)).to_contain_text("mended in tick 40")
        rows(page).last.click()
        page.get_by_role("button", name="Go to tick 10").click()
        expect(page.locator(".clock-tick")).to_have_text("tick 10")
        expect(page.locator(".takers .link")).to_have_text(["Akela", "Raksha"])


def test_edits_of_ten_thousand_files_and_of_none(look):
    runtime = make_village()
    files = tuple(f"{number}.py" for number in range(10_000))
    runtime.reloads.append(Reloaded(0, (), (), (), (), "nothing is wrong"))
    for tick in range(1, 40):
        runtime.reloads.append(Reloaded(tick, files[tick:], (), (), (), "line 3 is wrong"))
    runtime.reloads.append(Reloaded(40, files[::-1], ("Howl",), (), ("Akela",)))
    with inspected(runtime) as inspector:
        page = look(inspector.url)
        rows = page.locator(".reload-list li")
        expect(rows).to_have_count(20)
        expect(rows.first).to_contain_text("Howl · 1 agent")
        expect(rows.nth(1)).to_contain_text("mended in tick 40: line 3 is wrong")
        expect(page.locator(".refused")).to_be_hidden()
        rows.nth(1).click()
        expect(page.locator(".selected .state-word")).to_have_text("mended in tick 40")
