"""The page's sources keep the rules of the house; this needs no browser."""

from __future__ import annotations

import re

import pytest

LONGEST_FILE = 400  # lines, as for modules; style sheets may have more
LONGEST_LINE = 120
MARKUP = re.compile(
    r"innerHTML|outerHTML|insertAdjacentHTML|document\.write|\beval\(|new Function|DOMParser|createContextualFragment"
)


@pytest.fixture(scope="module")
def static(root):
    return root / "agentrt" / "inspect" / "static"


def modules(static):
    found = sorted(static.glob("*.js"))
    assert len(found) > 10
    return found


def test_a_module_opens_with_what_it_owns(static):
    for path in modules(static):
        text = path.read_text(encoding="utf-8")
        assert text.startswith("/**\n * "), path.name
        assert len(text.splitlines()) <= LONGEST_FILE, path.name


def test_lines_are_short(static):
    for path in [*modules(static), *sorted(static.glob("*.css"))]:
        for number, line in enumerate(path.read_text(encoding="utf-8").splitlines(), 1):
            assert len(line) <= LONGEST_LINE, f"{path.name}:{number}"


@pytest.mark.states("tools: Page: Names are shown as text whatever they look like; no module parses markup ...")
def test_nothing_parses_markup(static):
    for path in modules(static):
        assert MARKUP.search(path.read_text(encoding="utf-8")) is None, path.name


@pytest.mark.states(
    "tools: Page: The page loads from its server alone, without a script or style of its own within",
    source="design 10",
)
def test_nothing_comes_from_elsewhere(static):
    for path in sorted(static.iterdir()):
        text = path.read_text(encoding="utf-8").replace("http://www.w3.org/2000/svg", "")
        assert re.search(r"https?://|@import|//cdn", text) is None, path.name


def test_nothing_of_the_state_has_two_meanings(static):
    keys = []
    for name, function in (("store.js", "initialState"), ("whatifmodel.js", "whatIfState")):
        body = re.search(
            rf"function {function}\(\) \{{\n  return \{{\n(.*?)\n  \}};", (static / name).read_text(), re.DOTALL
        )
        keys += re.findall(r"^    (\w+):", body[1], re.MULTILINE)
    assert len(keys) > 30
    assert sorted(keys) == sorted(set(keys))


def test_no_key_has_two_meanings(static):
    text = (static / "keyboard.js").read_text(encoding="utf-8")
    table = text[text.index("function keyTable") : text.index("export function bindKeys")]
    keys = [key for row in re.findall(r"\[\s*\[([^\]]+)\]", table) for key in re.findall(r'"([^"]+)"', row)]
    assert len(keys) > 25
    assert sorted(keys) == sorted(set(keys))


@pytest.mark.parametrize("name", ["playback"])
def test_what_is_asked_of_a_part_is_there(static, name):
    asked = {
        one for path in modules(static) for one in re.findall(rf"\b{name}\.(\w+)", path.read_text(encoding="utf-8"))
    }
    text = (static / "toolbar.js").read_text(encoding="utf-8")
    there = set(re.findall(r"^  (?:get )?(\w+)\([^)]*\) \{", text, re.MULTILINE))
    assert asked - there == set()


def test_every_module_is_used_and_there(static):
    names = {path.name for path in modules(static)}
    imported = {"app.js"}
    for path in modules(static):
        imported |= set(re.findall(r'from "\./([\w-]+\.js)"', path.read_text(encoding="utf-8")))
    assert imported == names


@pytest.mark.states("tools: Page: The page loads from its server alone, without a script or style of its own ...")
def test_the_page_has_no_script_or_style_within(static):
    page = (static / "index.html").read_text(encoding="utf-8")
    assert re.findall(r"<script[^>]*>", page) == ['<script type="module" src="/static/app.js">']
    assert "<style" not in page
    assert re.search(r"\s(style|on\w+)=", page) is None


# --- colors ------------------------------------------------------------------------------------------------------------


def themes(static):
    """The colors of the three themes: light, dark as chosen, and dark as the system has it."""
    text = (static / "theme.css").read_text(encoding="utf-8")
    blocks = re.findall(r":root[^{}]*\{([^{}]*)\}", text)
    found = [dict(re.findall(r"--([\w-]+):\s*(#\w{6})", block)) for block in blocks]
    light, dark, auto = [block for block in found if block]
    return light, dark, auto


def luminance(color):
    parts = [int(color[at : at + 2], 16) / 255 for at in (1, 3, 5)]
    red, green, blue = [part / 12.92 if part <= 0.04045 else ((part + 0.055) / 1.055) ** 2.4 for part in parts]
    return 0.2126 * red + 0.7152 * green + 0.0722 * blue


def contrast(one, other):
    high, low = sorted((luminance(one), luminance(other)), reverse=True)
    return (high + 0.05) / (low + 0.05)


@pytest.mark.states("tools: Page: Light and dark, as the system or the user says; every text has a contrast of 4.5 ...")
def test_both_dark_themes_are_the_same(static):
    _, dark, auto = themes(static)
    assert dark == auto


@pytest.mark.states("tools: Page: Light and dark, as the system or the user says; every text has a contrast of 4.5 ...")
def test_what_is_written_can_be_read(static):
    inks = ("text", "text-2", "text-3", "running", "ready", "thinking", "started", "impossible", "accent")
    on = [(ink, paper) for ink in inks for paper in ("surface", "surface-1")]
    on += [("text", "accent-soft"), ("text-2", "accent-soft"), ("text", "running-soft"), ("running", "running-soft")]
    on += [
        ("started", "started-soft"),
        ("impossible", "impossible-soft"),
        ("text", "impossible-soft"),
        ("accent-text", "accent"),
    ]
    for theme in themes(static)[:2]:
        for ink, paper in on:
            assert contrast(theme[ink], theme[paper]) >= 4.5, (ink, paper, theme["surface"])
        for number in range(12):
            assert contrast(theme["span-text"], theme[f"span-{number}"]) >= 4.5, number
