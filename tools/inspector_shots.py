"""Make the pictures of docs/how-to/inspector.md: the inspector of the colony and the miner, at the same ticks.

    python tools/inspector_shots.py            # into docs/images
    python tools/inspector_shots.py FOLDER

It needs the extra ``browser`` and Debian's chromium (or another one, named by ``AGENTRT_CHROMIUM``). The world is
stepped here, between the looks of the page, so that nothing depends on how quick the machine is but the times of ticks.
Look at the pictures before you keep them.
"""

from __future__ import annotations

import importlib
import os
import shutil
import sys
import tempfile
from pathlib import Path
from typing import TYPE_CHECKING

from agentrt import Agent, Entity, Runtime
from agentrt.inspect import Inspector
from agentrt.reload import Reloader
from agentrt.worlds import load_world

if TYPE_CHECKING:
    from playwright.sync_api import Browser, Page

ROOT = Path(__file__).resolve().parent.parent
SIZE = (1280, 720)
SEED = 7
MINER = 2  # the seed of the miner's world
GLANCE = 250  # milliseconds that the page has to draw


def main() -> None:
    """Make all pictures."""
    from playwright.sync_api import sync_playwright

    folder = Path(sys.argv[1]) if len(sys.argv) > 1 else ROOT / "docs" / "images"
    folder.mkdir(parents=True, exist_ok=True)
    path = os.environ.get("AGENTRT_CHROMIUM") or shutil.which("chromium") or shutil.which("chromium-browser")
    if path is None:
        sys.exit("There is no chromium here: install it, or name it by AGENTRT_CHROMIUM.")
    with sync_playwright() as playwright, tempfile.TemporaryDirectory() as scratch:
        browser = playwright.chromium.launch(executable_path=path, args=["--no-sandbox"])
        recording = Path(scratch) / "colony.sqlite"
        _drawn(browser, folder)
        _live(browser, folder, recording)
        _recorded(browser, folder, recording)
        _valued(browser, folder, recording)
        _solving(browser, folder)
        _reloading(browser, folder, Path(scratch))
        browser.close()


def _drawn(browser: Browser, folder: Path) -> None:
    """The picture of the world, with a farmer on her way to a plot that is hers."""
    runtime = load_world("colony").make(seed=SEED, host="plain")
    with Inspector(runtime, port=0, controls=True, title="colony") as inspector:
        page = _open(browser, inspector.url, dark=False)
        _choose(runtime, page, "Alva")
        page.keyboard.press("7")
        _run(runtime, page, 18)
        _shoot(page, folder, "world")
    runtime.close()


def _live(browser: Browser, folder: Path, recording: Path) -> None:
    """The pictures of a live run, which is recorded."""
    runtime = load_world("colony").make(seed=SEED, host="plain")
    runtime.record(recording, world="colony")
    with Inspector(runtime, port=0, controls=True, title="colony") as inspector:
        page = _open(browser, inspector.url, dark=False)
        _run(runtime, page, 10)
        _choose(runtime, page, "Gaspar")
        _run(runtime, page, 340)
        _shoot(page, folder, "plan")
        dark = _open(browser, inspector.url, dark=True)
        _choose(runtime, dark, "Ivo")
        dark.keyboard.press("2")
        _run(runtime, dark, 200)
        _shoot(dark, folder, "models")
        page.keyboard.press("3")
        _run(runtime, page, 20)
        _shoot(page, folder, "why")
        dark.keyboard.press("4")
        dark.get_by_role("button", name="Choices").click()
        _run(runtime, dark, 60)
        _shoot(dark, folder, "events")
        page.keyboard.press("5")
        _run(runtime, page, 160)
        _shoot(page, folder, "performance")
    runtime.close()


def _recorded(browser: Browser, folder: Path, recording: Path) -> None:
    """The picture of a recording."""
    with Inspector(recording, port=0, title="colony.sqlite") as inspector:
        page = _open(browser, inspector.url, dark=False)
        page.locator(".agent-row", has_text="Kaspar").first.click()
        page.get_by_label("Tick that is shown").fill("76")
        page.wait_for_timeout(2 * GLANCE)
        page.keyboard.press("+")
        page.wait_for_timeout(4 * GLANCE)
        _shoot(page, folder, "recording")


def _valued(browser: Browser, folder: Path, recording: Path) -> None:
    """The picture of what a meal is worth, and of the hunger behind it, at a tick of the same recording."""
    with Inspector(recording, port=0, title="colony.sqlite") as inspector:
        page = _open(browser, inspector.url, dark=True)
        page.keyboard.press("/")
        page.keyboard.type("Egon")
        page.keyboard.press("Enter")
        for text in ("hunger", "Eat.utility", "hunger + tiredness > 0.9"):
            page.keyboard.press("w")
            page.keyboard.type(text)
            page.keyboard.press("Enter")
            page.keyboard.press("Escape")
        page.get_by_label("Tick that is shown").fill("529")
        page.wait_for_timeout(4 * GLANCE)
        page.locator("#view-plan .tree-row", has_text="hunger").first.click()
        page.locator(".head-name").hover()
        page.wait_for_timeout(16 * GLANCE)  # all of the lines is read
        _shoot(page, folder, "values")


def _solving(browser: Browser, folder: Path) -> None:
    """The picture of a miner who is asked for diamonds, at the first moment at which he is attacked on his way."""
    runtime = load_world("miner").make(seed=MINER, host="plain")
    miner = runtime.agents[0]
    while not (miner.gameplay.running and "attacked" in miner.gameplay.running[0].root.render()):
        runtime.step()
    with Inspector(runtime, port=0, controls=True, title="miner") as inspector:
        page = _open(browser, inspector.url, dark=False)
        page.keyboard.press("6")
        _run(runtime, page, 20)
        page.locator(".tree-row.dependency.on-branch").last.click()
        _run(runtime, page, 1)
        _shoot(page, folder, "strategies")
    runtime.close()


WOLVES = """
from agentrt import TOP, Action, CompoundAction, sleep_ticks, step

def hours():
    return 3

class Howl(Action):
    does = "wolves:howl"
    utility = 0.5
    async def run(self, ctx, args):
        await sleep_ticks(9)

class Roam(Action):
    does = "wolves:roam"
    utility = 0.5
    async def run(self, ctx, args):
        await sleep_ticks(30)

class Night(CompoundAction):
    does = TOP
    utility = 0.5
    steps = [step("wolves:roam"), step("wolves:howl")]
"""


def _reloading(browser: Browser, folder: Path, scratch: Path) -> None:
    """The picture of a world whose code is edited while it runs, with a mistake that is not mended yet."""
    file = scratch / "wolves.py"
    file.write_text(WOLVES, encoding="utf-8")
    sys.path.insert(0, str(scratch))
    wolves = importlib.import_module("wolves")
    runtime = Runtime(seed=SEED, host="plain")
    runtime.log_level = "off"
    for name in ("Akela", "Leela", "Raksha", "Won-tolla"):
        runtime.add(Agent(Entity("wolf", name=name), actions=[wolves.Howl, wolves.Roam, wolves.Night]))
    reloader = Reloader(runtime, scratch)
    with Inspector(runtime, port=0, controls=True, title="wolves") as inspector:
        page = _open(browser, inspector.url, dark=False)
        _run(runtime, page, 60)
        for before, after in (
            ("sleep_ticks(9)", "sleep_ticks(18)"), ("return 3", "return 4"), ("ticks(30)", "ticks(30"),
            ("ticks(30", "ticks(24)"), ("ticks(18)", "ticks(18"),
        ):  # fmt: skip
            text = file.read_text(encoding="utf-8")
            file.write_text(text.replace(before, after), encoding="utf-8")
            reloader.reload([file])
            _run(runtime, page, 30)
        page.locator(".reload-list .link").nth(1).click()
        _run(runtime, page, 1)
        _shoot(page, folder, "reload")
    runtime.close()


def _open(browser: Browser, url: str, *, dark: bool) -> Page:
    page = browser.new_page(viewport={"width": SIZE[0], "height": SIZE[1]}, color_scheme="dark" if dark else "light")
    page.goto(url)
    page.wait_for_timeout(2 * GLANCE)
    return page


def _run(runtime: Runtime, page: Page, ticks: int) -> None:
    """Run ticks, and let the page see them."""
    for tick in range(ticks):
        runtime.step()
        if tick % 20 == 19 or tick == ticks - 1:
            page.wait_for_timeout(GLANCE // 2)
    runtime.step()  # what the page asked for meanwhile is sent with this one
    page.wait_for_timeout(2 * GLANCE)


def _choose(runtime: Runtime, page: Page, name: str) -> None:
    """Look at an agent."""
    _run(runtime, page, 1)
    page.locator(".agent-row", has_text=name).first.click()
    _run(runtime, page, 1)


def _shoot(page: Page, folder: Path, name: str) -> None:
    path = folder / f"inspector-{name}.png"
    page.mouse.move(SIZE[0] / 2, 1)
    page.screenshot(path=path)
    print(f"{path}: {path.stat().st_size // 1024} KiB")


if __name__ == "__main__":
    main()
