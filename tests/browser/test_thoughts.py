"""Minds on the page: thoughts and figures, prompts behind controls, and why an answer was not taken."""

from __future__ import annotations

import re

import pytest
from pages import HOSTILE, expect, inspected, make_village
from walkers import Idle, Ponder, Walk

from agentrt import Agent, Entity, Runtime
from agentrt.inspect import Inspector, write_html
from agentrt.minds import Mind, Model, Scripted
from agentrt.record.recording import Recording

pytestmark = pytest.mark.slow

DESK, PHONE = (1280, 720), (390, 844)


class Wonder(Ponder):
    """Where to go, if one listens to Mallory."""

    purpose = "reflect"
    prompt = f"{HOSTILE} says to {{name}}: go away from {{where}}!"


def make_salon(model=None):
    """Three who ask one after the other, and a fourth who is always answered wrong."""

    def answer(asked):
        if asked.agent == "Dee":
            return {"activity": HOSTILE, "args": {}, "why": "it is fun"}
        return {"activity": "t:walk", "args": {"where": "pond"}, "why": HOSTILE}

    runtime = Runtime(3, host="plain")
    Mind(runtime, model or Scripted(answer, 0.25, name="parrot", price=(100.0, 100.0)), at_once=1)
    for name in ("Dee", "Ann", "Bob", "Cyd"):
        runtime.add(Agent(Entity("human", name=name), actions=[Walk, Idle, Wonder]))
    return runtime


def paused(ticks):
    runtime = make_salon()
    for _ in range(ticks):
        runtime.step()
    runtime.gate.pause("for a look")
    return runtime


def row(page, name):
    return page.locator(".thought", has=page.get_by_role("button", name=name, exact=True))


@pytest.mark.parametrize(("size", "dark"), [(DESK, False), (PHONE, True)])
def test_thoughts_are_listed_and_one_is_read(look, size, dark):
    with inspected(paused(20), controls=True) as inspector:
        page = look(inspector.url, size=size, dark=dark)
        page.locator(".agent-row", has_text="Cyd").click()
        note = page.locator("#view-plan .tree-row", has_text="wonder").locator(".node-note")
        expect(note).to_have_text("asked 0.9 s ago, 1st in the queue")
        page.keyboard.press("m")
        figures = page.locator(".mind-figures")
        expect(figures).to_contain_text("1 of 1 at once")
        expect(figures.locator(".figure").first).to_have_text("Modelsparrot")
        heads = page.locator(".thoughts-head")
        expect(heads).to_have_text(["Under way: 1", "Waiting: 1", "Over, the newest first: 2"])
        expect(row(page, "Cyd")).to_contain_text("1st in the queue")
        expect(row(page, "Cyd")).to_have_class(re.compile("is-chosen"))
        expect(row(page, "Dee").locator(".thought-words")).to_contain_text("its answer cannot be taken: ")
        expect(row(page, "Cyd").locator(".thought-age")).to_have_text("0.9 s")
        assert page.evaluate("document.documentElement.scrollWidth") == size[0]
        row(page, "Dee").locator(".thought-what").click()
        detail = page.locator(".thought-detail")
        expect(detail.locator("h3")).to_have_text(
            ["System", "Prompt", "Schema of the answer", "Answer that was not taken"]
        )
        expect(detail.locator(".is-prompt pre")).to_contain_text(f"{HOSTILE} says to Dee: go away from home!")
        expect(detail.locator(".is-untaken pre")).to_contain_text(HOSTILE)
        expect(detail.locator(".why-box")).to_contain_text("its answer cannot be taken: ")
        assert page.locator(".thoughts-view img, .thoughts-view b").count() == 0
        assert page.evaluate("document.documentElement.scrollWidth") == size[0]
        page.keyboard.press("Escape")
        expect(detail).to_be_hidden()
        row(page, "Bob").locator(".thought-agent").click()
        expect(page.locator(".head-name")).to_have_text("Bob")
        expect(row(page, "Bob")).to_have_class(re.compile("is-chosen"))
        page.get_by_role("button", name="Agents", exact=True).click()
        users = page.locator(".thought-users tbody tr")
        expect(users).to_have_text(["Dee23200.032", "Ann11340.0134", "Bob100"])
        assert page.evaluate("document.documentElement.scrollWidth") == size[0]


def test_without_controls_nothing_of_a_prompt_is_told(look):
    with inspected(paused(20)) as inspector:
        page = look(inspector.url)
        page.get_by_role("tab", name="Thoughts").click()
        row(page, "Ann").locator(".thought-what").click()
        detail = page.locator(".thought-detail")
        expect(detail.locator(".whatif-notice")).to_contain_text("start the inspector with --controls")
        expect(detail.locator(".thought-facts")).to_contain_text("parrot · asked in tick 1 ")
        assert detail.locator("pre").count() == 0
        page.get_by_role("button", name="All thoughts").click()
        expect(row(page, "Ann")).to_be_visible()


def test_where_there_is_no_mind_the_tab_says_so(look):
    with inspected(make_village()) as inspector:
        page = look(inspector.url)
        expect(page.locator("#tab-thoughts")).to_have_class(re.compile("is-empty"))
        page.get_by_role("tab", name="Thoughts").click()
        expect(page.locator(".thoughts-view .empty")).to_contain_text("This runtime has no mind")


def test_a_recording_says_since_when_it_was_asked(look, tmp_path):
    path = tmp_path / "salon.sqlite"
    runtime = make_salon()
    with runtime.record(path):
        for _ in range(20):
            runtime.step()
    runtime.close()
    with Inspector(path, port=0) as inspector:
        page = look(inspector.url)
        page.locator(".agent-row", has_text="Cyd").click()
        page.keyboard.press("End")
        note = page.locator("#view-plan .tree-row", has_text="wonder").locator(".node-note")
        expect(note).to_have_text("asked 0.9 s ago, in the queue")
        page.locator("#view-plan .tree-row", has_text="wonder").click()
        expect(page.locator(".selected .side-body")).to_contain_text("Askeda mind, in tick 1")
        page.keyboard.press("m")
        heads = page.locator(".thoughts-head")
        expect(heads).to_have_text(["Under way: 1", "Waiting: 1", "Over, the newest first: 2"])
        expect(row(page, "Cyd")).to_contain_text("waits")


def test_a_file_shows_thoughts_with_answers_if_it_was_made_so(look, monkeypatch, tmp_path):
    """In each tick as they stood: without a server, and without what was answered unless somebody wanted that."""

    def ask(self, data, keeps=False):
        said = HOSTILE if "says to Dee" in data["prompt"] else "t:walk"
        value = {"activity": said, "args": {"where": "pond"}, "why": HOSTILE}
        return {"key": data["key"], "read": 1000, "written": 10, "value": value}

    monkeypatch.setattr(Model, "ask_here", ask)
    path = tmp_path / "salon.sqlite"
    runtime = make_salon(Model("gpt", price=(1.0, 2.0)))
    with runtime.record(path):
        for _ in range(12):
            runtime.step()
    runtime.close()
    for answers in (False, True):
        file = tmp_path / f"{answers}.html"
        with Recording.open(path) as recording, file.open("w") as out:
            write_html(recording, out, answers=answers)
        page = look(file.as_uri())
        page.keyboard.press("m")
        heads = page.locator(".thoughts-head")
        expect(heads.nth(1)).to_have_text("Waiting: 4")
        page.keyboard.press("End")
        expect(heads.nth(2)).to_have_text("Over, the newest first: 4")
        expect(page.locator(".mind-figures")).to_contain_text("Tokens used5\u202f050")
        expect(row(page, "Dee").locator(".thought-words")).to_contain_text("its activity is not on the menu")
        row(page, "Dee").locator(".thought-what").click()
        detail = page.locator(".thought-detail")
        if answers:
            expect(detail.locator("h3")).to_have_text(["Answer that was not taken"])
            expect(detail.locator("pre")).to_contain_text(HOSTILE)
        else:
            expect(detail.locator(".whatif-notice")).to_contain_text("agentrt export FILE --html --answers has it")
            assert detail.locator("pre").count() == 0
