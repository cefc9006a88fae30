"""The town's inspector in a browser: what its people think, at a desk and on a phone."""

from __future__ import annotations

import re

import pytest
from pages import command, expect

pytestmark = pytest.mark.slow


@pytest.fixture(scope="module")
def town():
    with command("demo", "town", "--inspect", "--port", "0", "--speed", "20", "--controls") as url:
        yield url


@pytest.mark.parametrize(("size", "dark"), [((1280, 720), False), ((390, 844), True)])
def test_thoughts_are_seen_under_way_and_over_and_one_is_read(look, town, size, dark):
    page = look(town, size=size, dark=dark)
    page.get_by_role("tab", name="Thoughts").click()
    heads, figures = page.locator(".thoughts-head"), page.locator(".mind-figures")
    expect(heads.filter(has_text=re.compile("^Under way: [1-9]"))).to_be_visible()
    expect(heads.filter(has_text=re.compile("^Over, the newest first: [1-9]"))).to_be_visible()
    expect(figures).to_contain_text("townsfolk")
    expect(figures.locator(".figure", has_text="Calls made")).to_have_text(re.compile(r"^Calls made[1-9]"))
    run = page.locator(".controls .button").first
    run.click()
    expect(run).to_have_text("Resume")  # or the row would move away from below the hand
    answered = page.locator(".thought", has_text="answered").first
    expect(answered).to_contain_text(re.compile(r"[1-9]\d* tokens"))
    answered.locator(".thought-what").click()
    detail = page.locator(".thought-detail")
    expect(detail.locator("h3").first).to_have_text("System")
    expect(detail.locator(".is-prompt pre")).to_contain_text(re.compile(r"\w{4}"))
    assert page.evaluate("document.documentElement.scrollWidth") == size[0]
    page.keyboard.press("Escape")
    run.click()
    expect(run).to_have_text("Pause")
