"""All shards on one page: the list by shards, the world with its borders, a pause, a step, a breakpoint, a lost shard."""

from __future__ import annotations

import queue
import threading

import pytest
from pages import expect

from agentrt.inspect import Inspector
from agentrt.shards import PipeShards, Shards
from examples.frontier import world
from examples.frontier.__main__ import ROOT

pytestmark = pytest.mark.slow

PARAMS = {"columns": 8, "rows": 4, "caravans": 24, "bands": 6, "road": 3}


class Frontier:
    """Two places with shards, led on a thread of their own; it begins paused."""

    def __init__(self, folder):
        self.places = [PipeShards(cwd=ROOT), PipeShards(cwd=ROOT)]
        self._folder = folder
        self._is_over = False
        self._told = queue.Queue()
        self._thread = threading.Thread(target=self._lead)
        self._thread.start()
        self.inspector = self._told.get(timeout=100)
        self.url = self.inspector.url

    def _lead(self):
        app = "examples.frontier:world"
        run = Shards(world, 3, seed=2, params=PARAMS, places=self.places, folder=self._folder, app=app)
        with run, Inspector(run, port=0, title="frontier", controls=True) as inspector:
            inspector.pause()
            self._told.put(inspector)
            while not self._is_over:
                run.run()

    def end(self):
        self._is_over = True
        self.inspector._source._reason = ""
        self._thread.join(30)
        assert not self._thread.is_alive()


@pytest.mark.parametrize("size", [(1280, 720), (390, 844)], ids=["desk", "phone"])
def test_one_looks_at_all_shards_holds_them_and_goes_on(look, size, tmp_path):
    frontier = Frontier(tmp_path)
    page = look(frontier.url, size=size, dark=size[0] < 500)
    try:
        expect(page.locator(".agent-row.is-head .agent-name").first).to_have_text("shard 0")
        expect(page.locator(".topbar .reason")).to_have_text("paused by the inspector")
        page.get_by_role("searchbox").fill("caravan-3")
        page.get_by_role("searchbox").press("Enter")
        expect(page.locator(".head-status")).to_have_text("caravan, shard 2")
        page.locator("#tab-world").click()
        expect(page.locator(".world-stage canvas")).to_be_visible()
        page.get_by_role("button", name="One tick on").click()
        expect(page.locator(".clock-tick")).to_have_text("tick 10")
        expect(page.locator("#tab-control")).to_have_class("tab is-empty")
        expect(page.locator("#tab-control")).to_have_attribute(
            "title", "Control  (9): Shards take nothing by hand: what a barrier brings is written down as one input, by "
            "which a lost shard comes back, and a change by hand is none of it. Replay one shard, and change that: "
            "agentrt inspect shard-0.sqlite.",
        )  # fmt: skip
        page.get_by_label("Name of what starts").fill("Prowl")
        page.get_by_role("button", name="Add", exact=True).click()
        page.get_by_role("button", name="Resume", exact=True).click()
        expect(page.locator(".topbar .reason")).to_contain_text("breakpoint: action Prowl")
        expect(page.locator(".topbar .reason")).to_contain_text(", in shard ")
        tick = int(page.locator(".clock-tick").inner_text().split()[1])
        frontier.places[1]._process.kill()
        page.get_by_role("button", name="One tick on").click()
        expect(page.locator(".clock-tick")).to_have_text(f"tick {tick + 10}")  # it came back, and the window was run
        expect(page.locator(".agent-row.is-head .agent-name").first).to_have_text("shard 0")
    finally:
        frontier.end()
