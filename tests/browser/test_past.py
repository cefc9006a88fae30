"""A live page with a past: back while the world runs on, to now again, what happened just now, and saving."""

from __future__ import annotations

import re

import pytest
from pages import HOSTILE, expect, fits, inspected, make_village

from agentrt.inspect import Inspector
from agentrt.record.recording import Recording

pytestmark = pytest.mark.slow

DESK, PHONE = (1280, 720), (390, 844)
SIZES = [pytest.param(DESK, id="desk"), pytest.param(PHONE, id="phone")]


def number_in(text):
    return int(re.search(r"\d[\d,]*", text)[0].replace(",", ""))


def tick_of(page):
    return number_in(page.locator(".clock-tick").inner_text())


def opened(look, inspector, **options):
    page = look(inspector.url, **options)
    expect(page.locator(".past-controls")).to_be_visible()
    page.wait_for_function("() => Number(document.querySelector('.slider').max) > 60")
    return page


@pytest.mark.states(
    "tools: Past: Who goes back sees an earlier tick while the world runs on, and comes to now again ..."
)
@pytest.mark.parametrize("size", SIZES)
def test_back_and_to_now_again(look, size):
    with inspected(make_village(), past=2000) as inspector:  # without controls
        page = opened(look, inspector, size=size, dark=size == PHONE)
        expect(page.locator(".badge")).to_have_text("live, watching only")
        page.keyboard.press("Shift+ArrowLeft")
        expect(page.locator(".badge")).to_have_text("looking back")
        stands = tick_of(page)
        page.keyboard.press("ArrowLeft")
        expect(page.locator(".clock-tick")).to_have_text(f"tick {stands - 1}")
        before = number_in(page.locator(".topbar .reason").inner_text())
        page.wait_for_function(
            f"() => Number(document.querySelector('.topbar .reason').textContent.match(/\\d+/)[0]) > {before + 20}"
        )  # the world runs on
        expect(page.locator(".clock-tick")).to_have_text(f"tick {stands - 1}")
        expect(page.locator("#view-plan .tree-row").first).to_be_visible()
        page.locator(".slider").fill("30")
        expect(page.locator(".clock-tick")).to_have_text("tick 30")
        page.keyboard.press("c")
        expect(page.locator(".heat .tally")).to_contain_text("what is over keeps no real time")
        expect(page.locator(".crowd-view .toolbar").first).to_contain_text(re.compile(r"\d agents?$"))  # and no rate
        page.keyboard.press("1")
        page.get_by_role("button", name="Back to now").click()
        expect(page.locator(".badge")).to_have_text("live, watching only")
        assert tick_of(page) > stands
        page.keyboard.press("Home")
        expect(page.locator(".badge")).to_have_text("looking back")
        page.keyboard.press("n")
        expect(page.locator(".badge")).to_have_text("live, watching only")
        page.keyboard.press("ArrowLeft")
        expect(page.locator(".badge")).to_have_text("looking back")
        page.keyboard.press("End")
        expect(page.locator(".badge")).to_have_text("live, watching only")
        assert page.evaluate("document.documentElement.scrollWidth") <= size[0]


def test_playing_leads_to_now(look):
    with inspected(make_village(), past=2000) as inspector:
        page = opened(look, inspector)
        page.locator(".slider").fill("40")
        expect(page.locator(".badge")).to_have_text("looking back")
        page.get_by_label("Speed").select_option("8")
        page.keyboard.press(" ")
        expect(page.locator(".badge")).to_have_text("live, watching only")


@pytest.mark.states("tools: Past: The last ticks can be saved as a recording ...")
def test_saving_with_one_click(look, tmp_path):
    with inspected(make_village(), token="0123456789abcdef-secret", title="the village", past=2000) as inspector:
        page = opened(look, inspector)
        for size in (DESK, PHONE):
            fits(page, size)
            with page.expect_download() as download:
                page.get_by_role("button", name="Save the past as a recording").click()
            name = download.value.suggested_filename
            assert re.fullmatch(r"the-village-\d+-\d+\.sqlite", name)
            download.value.save_as(tmp_path / name)
            told = page.locator(".message.is-good")
            expect(told).to_contain_text(f"Saved as {name}. It can be looked at, not replayed")
    with Recording.open(tmp_path / name) as saved:
        assert saved.last_tick - saved.first_tick > 30
        assert saved.explain("Ann", saved.last_tick).startswith("Ann at tick")
    with Inspector(tmp_path / name, port=0) as inspector:
        page = look(inspector.url, size=PHONE)
        expect(page.locator(".badge")).to_have_text("recording")
        expect(page.locator(".figures")).to_contain_text("cannot be replayed: it was saved from the past")
        expect(page.locator(".past-controls")).to_be_hidden()


@pytest.mark.states("tools: Past: When a breakpoint is hit, the page is told what its agent did just before ...")
@pytest.mark.parametrize("size", SIZES)
def test_what_happened_just_now(look, size):
    with inspected(make_village(("Ann", HOSTILE)), controls=True) as inspector:
        page = opened(look, inspector, size=size)
        page.locator(".agent-row", has_text="Mallory").click()
        page.get_by_label("Name of what starts").fill("Rest")
        page.get_by_text("only in the chosen agent").click()
        page.get_by_role("button", name="Add").click()
        section = page.get_by_role("region", name="What happened just now")
        expect(section).to_be_visible()
        expect(section).to_contain_text("breakpoint: action Rest")
        page.get_by_role("button", name="What it did just before").or_(page.get_by_text("What happened?")).first.click()
        expect(section.locator(".is-hit .just-event").first).to_have_text("run")
        expect(section).to_be_focused()
        assert page.locator("img").count() == 0
        hit = tick_of(page)
        rows = section.locator(".just-rows button")
        oldest = int(rows.last.get_attribute("data-tick"))
        rows.last.click()
        expect(page.locator(".badge")).to_have_text("looking back")
        expect(page.locator(".clock-tick")).to_have_text(f"tick {oldest}")
        expect(page.locator(".reason.is-break")).to_contain_text(f"now: tick {hit}, breakpoint: action Rest")
        page.get_by_role("button", name="Go back, and play up to now").or_(
            page.get_by_text("Play it again")
        ).first.click()
        expect(page.locator(".badge")).to_have_text("live")
        page.get_by_label("Dismiss what happened just now").click()
        expect(section).to_be_hidden()


def test_without_a_past(look):
    with inspected(make_village(), past=0) as inspector:
        page = look(inspector.url)
        expect(page.locator(".agent-name").first).to_be_visible()
        expect(page.locator(".clock-tick")).not_to_have_text("")
        page.keyboard.press("ArrowLeft")
        expect(page.locator(".scrubber")).to_be_hidden()
        expect(page.locator(".badge")).to_have_text("live, watching only")
