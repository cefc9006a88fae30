"""How the inspector's page stands many agents and a long recording: ``python -m benchmarks.page``.

Two worlds are looked at in a real browser (Debian's chromium, driven by Playwright), each served by its own process:

* one that lives, with 2,000 agents, at 60 ticks a second: the list is scrolled, plain and in groups, and each frame is
  timed; so is the tab about the crowd;
* a recording of 2,000 agents over 100,000 ticks: it is gone to random ticks, and each time is counted until the state,
  the list and the agent of that tick have been drawn; with the plain list, and with one that is sorted by utility, for
  which all agents are read.

What is told: the 95th percentile of the seeks (p95), the longest frame and the longest task of the page's own thread,
and what the page and the server hold before and after; in the end, whether all that kept to its limits: half a second
for the p95 of each kind of seek, 50 ms for a frame. On a machine that has other things to do frames tell of these, too;
tasks do less. ``--keep FILE`` keeps the recording, and takes it from there the next time: making it takes minutes.

It stands beside the rows and is none: it needs a browser.
"""

from __future__ import annotations

import argparse
import asyncio
import os
import random
import re
import shutil
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from agentrt import TOP, Action, Agent, Context, Entity, Runtime

_KINDS = ("smith", "farmer", "guard", "farmer")
_WORDS = ("Work", "Rest", "Walk")
_MOST_SEEK, _MOST_FRAME = 500, 50  # milliseconds


class _Lasting(Action):
    """Something that lasts a while, of a length that is drawn."""

    does = TOP
    utility = (0.0, 1.0)
    least, most = 300, 2500  # ticks

    async def think(self, ctx: Context, args: Any) -> None:
        ctx.set_utility(0.1 + 0.7 * ctx.random.random())
        ctx.set_think_output()

    async def run(self, ctx: Context, args: Any) -> None:
        await ctx.sleep_ticks(ctx.random.between(self.least, self.most))


def crowd(agents: int, *, has_values: bool, lasting: tuple[int, int]) -> Runtime:
    """A world of many agents, each of which does one of three things for a while."""
    names = {"least": lasting[0], "most": lasting[1], "__module__": __name__}
    acts = [type(word, (_Lasting,), {"name": word.lower(), **names}) for word in _WORDS]
    runtime = Runtime(7, host="plain", ticks_per_second=60)
    for number in range(agents):
        kind = _KINDS[number % len(_KINDS)]
        agent = runtime.add(Agent(Entity(kind, name=f"{kind} {number}"), actions=acts))
        if has_values:
            agent.values = lambda number=number: {"hunger": (runtime.tick + number * 37) % 1000 / 1000}
    return runtime


def record(path: Path, agents: int, ticks: int) -> None:
    """Record that world."""
    runtime = crowd(agents, has_values=False, lasting=(1000, 5000))
    recorder = runtime.record(path, commit_every=500)
    begin = time.perf_counter()
    for _ in range(ticks):
        runtime.step()
    recorder.close()
    runtime.close()
    size = path.stat().st_size / 1e6
    print(f"recorded {ticks} ticks of {agents} agents in {time.perf_counter() - begin:.0f} s: {size:.0f} MB")


def live(agents: int) -> None:
    """Run that world at its pace, with an inspector, until the process is ended."""
    from agentrt.inspect import Inspector

    runtime = crowd(agents, has_values=True, lasting=(60, 1200))
    with Inspector(runtime, port=0, title="crowd") as inspector:
        print(inspector.url, flush=True)
        asyncio.run(runtime.run())


@contextmanager
def _served(*words: str) -> Iterator[tuple[str, int]]:
    """The address that a process of its own prints, and its number."""
    process = subprocess.Popen([sys.executable, *words], stdout=subprocess.PIPE, text=True)
    try:
        assert process.stdout is not None
        found = re.search(r"http://\S+", process.stdout.readline())
        assert found is not None, "it did not say its address"
        yield found[0], process.pid
    finally:
        process.kill()
        process.wait()


def _megabytes(pid: int) -> float:
    """What a process holds in memory."""
    status = Path(f"/proc/{pid}/status").read_text(encoding="ascii")
    found = re.search(r"VmRSS:\s+(\d+)", status)
    return 0.0 if found is None else int(found[1]) / 1024


# Hears what the page hears, and counts the tasks of its thread that took longer than 50 ms.
_LISTEN = """
window.heard = {};
window.long = [];
new PerformanceObserver((list) => list.getEntries().forEach((one) => window.long.push(one.duration)))
  .observe({ entryTypes: ["longtask"] });
const Before = window.WebSocket;
window.WebSocket = class extends Before {
  constructor(...all) {
    super(...all);
    this.addEventListener("message", (event) => {
      const message = JSON.parse(event.data);
      if (message.tick !== undefined) window.heard[message.is] = message.tick;
    });
  }
};
"""

_SCROLL = """
async (seconds) => {
  const list = document.querySelector(".agents .virtual");
  const gaps = [];
  window.long = [];
  let last = await new Promise(requestAnimationFrame);
  const end = last + seconds * 1000;
  let by = 60;
  while (last < end) {
    list.scrollTop += by;
    if (list.scrollTop <= 0 || list.scrollTop >= list.scrollHeight - list.clientHeight - 1) by = -by;
    const now = await new Promise(requestAnimationFrame);
    gaps.push(now - last);
    last = now;
  }
  gaps.sort((one, other) => one - other);
  return { frames: gaps.length, median: gaps[gaps.length >> 1], p99: gaps[Math.floor(gaps.length * 0.99)],
    longest: gaps.at(-1), over: gaps.filter((gap) => gap > 50).length, tasks: window.long };
}
"""

_SEEK = """
async (tick) => {
  const slider = document.querySelector(".slider");
  const begin = performance.now();
  slider.value = tick;
  slider.dispatchEvent(new Event("input"));
  const kinds = ["state", "agents", "agent"];
  while (!kinds.every((kind) => window.heard[kind] === tick)) {
    if (performance.now() - begin > 10000) return 10000;
    await new Promise((done) => setTimeout(done, 2));
  }
  await new Promise(requestAnimationFrame);
  await new Promise(requestAnimationFrame); // it has been drawn
  return performance.now() - begin;
}
"""

_ARRANGE = """
([group, sort]) => {
  const pick = (label, value) => {
    const box = document.querySelector(`select[aria-label="${label}"]`);
    box.value = value;
    box.dispatchEvent(new Event("change"));
  };
  pick("Groups", group);
  pick("Order", sort);
}
"""


class _Browser:
    """A page in a browser, and what it holds."""

    def __init__(self, browser: Any, url: str) -> None:
        self.slow: list[str] = []  # what went beyond its limit
        self.page = browser.new_page(viewport={"width": 1280, "height": 720})
        self._devtools = self.page.context.new_cdp_session(self.page)
        self.page.add_init_script(_LISTEN)
        self.page.goto(url)
        self.page.wait_for_selector(".agent-row .agent-name")
        self.page.wait_for_timeout(1500)

    def megabytes(self) -> float:
        self._devtools.send("HeapProfiler.collectGarbage")
        return float(self.page.evaluate("performance.memory.usedJSHeapSize")) / 1e6

    def arrange(self, group: str, sort: str) -> None:
        self.page.evaluate(_ARRANGE, [group, sort])
        self.page.wait_for_timeout(1500)

    def tab(self, name: str) -> None:
        self.page.evaluate("name => document.getElementById(`tab-${name}`).click()", name)
        self.page.wait_for_timeout(1500)

    def scroll(self, what: str, seconds: float) -> None:
        told = self.page.evaluate(_SCROLL, seconds)
        tasks = max(told["tasks"], default=0)
        if told["over"]:
            self.slow.append(what)
        print(
            f"{what:44} {told['frames'] / seconds:5.0f} frames a second, median {told['median']:.1f} ms, "
            f"99 % {told['p99']:.1f} ms, longest {told['longest']:.0f} ms, {told['over']} over {_MOST_FRAME} ms; "
            f"longest task {'under 50' if tasks == 0 else f'{tasks:.0f}'} ms"
        )

    def seek(self, what: str, ticks: list[int]) -> None:
        times = sorted(self.page.evaluate(_SEEK, tick) for tick in ticks)
        at = times[min(len(times) - 1, int(len(times) * 0.95))]
        if at > _MOST_SEEK:
            self.slow.append(what)
        print(f"{what:44} median {times[len(times) // 2]:.0f} ms, p95 {at:.0f} ms, longest {times[-1]:.0f} ms")


def measure(recording: Path, agents: int, seeks: int, seconds: float) -> None:
    """Look at both in a browser."""
    from playwright.sync_api import sync_playwright

    path = os.environ.get("AGENTRT_CHROMIUM") or shutil.which("chromium") or shutil.which("chromium-browser")
    options = ["--no-sandbox", "--disable-gpu", "--enable-precise-memory-info"]
    with sync_playwright() as started:
        browser = started.chromium.launch(executable_path=path, args=options)
        with _served("-m", "benchmarks.page", "--agents", str(agents), "--live") as (url, pid):
            look = _Browser(browser, url)
            before = look.megabytes(), _megabytes(pid)
            look.scroll(f"live, {agents} agents: the list", seconds)
            look.arrange("doing", "utility")
            look.scroll("live: in groups, by utility", seconds)
            look.tab("crowd")
            look.scroll("live: with the tab about the crowd", seconds)
            print(f"live: updated {look.page.inner_text('.list-note')!r}")
            print(f"live: the page holds {before[0]:.1f} MB, then {look.megabytes():.1f}", end="; ")
            print(f"the server {before[1]:.0f} MB, then {_megabytes(pid):.0f}")
            slow = look.slow
            look.page.close()
        with _served("-m", "agentrt.cli", "inspect", str(recording), "--port", "0") as (url, pid):
            look = _Browser(browser, url)
            first, last = look.page.evaluate(
                "() => [document.querySelector('.slider').min, document.querySelector('.slider').max]"
            )
            chance = random.Random(5)
            ticks = [chance.randint(int(first), int(last)) for _ in range(seeks)]
            before = look.megabytes(), _megabytes(pid)
            look.seek(f"recording, {last} ticks: seek", ticks)
            look.scroll("recording: the list", seconds)
            look.arrange("doing", "utility")
            look.seek("recording: the first seek in such a list", ticks[:1])
            look.page.wait_for_function("() => !document.querySelector('.list-note').textContent.startsWith('reading')")
            look.seek("recording: seek, in groups, by utility", ticks[::-1])
            look.scroll("recording: in groups, by utility", seconds)
            look.tab("crowd")
            look.seek(
                "recording: seek, with the crowd", [tick + 1 for tick in ticks[: -(-seeks // 2)] if tick < int(last)]
            )
            look.page.wait_for_function("() => !document.querySelector('.crowd-view .tally').textContent", timeout=0)
            print(f"recording: the page holds {before[0]:.1f} MB, then {look.megabytes():.1f}", end="; ")
            print(f"the server {before[1]:.0f} MB, then {_megabytes(pid):.0f}")
            slow += look.slow
        browser.close()
    limits = f"seek at most {_MOST_SEEK} ms (p95), no frame over {_MOST_FRAME} ms"
    print(f"{limits}: " + ("kept" if not slow else "NOT KEPT by " + "; ".join(slow)))


def main() -> None:
    """Make the recording if there is none, and measure."""
    parser = argparse.ArgumentParser(description="The inspector's page with many agents and a long recording.")
    parser.add_argument("--agents", type=int, default=2000)
    parser.add_argument("--ticks", type=int, default=100_000)
    parser.add_argument("--seeks", type=int, default=40)
    parser.add_argument("--seconds", type=float, default=6.0, help="of scrolling, each time")
    parser.add_argument("--keep", type=Path, help="where the recording is kept, and taken from if it is there")
    parser.add_argument("--live", action="store_true", help="only serve the world that lives")
    asked = parser.parse_args()
    if asked.live:
        live(asked.agents)
        return
    with tempfile.TemporaryDirectory() as folder:
        recording = asked.keep or Path(folder) / "crowd.sqlite"
        if not recording.exists():
            record(recording, asked.agents, asked.ticks)
        measure(recording, asked.agents, asked.seeks, asked.seconds)


if __name__ == "__main__":
    main()
