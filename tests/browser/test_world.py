"""The world on the page: drawn with its agents, live and at any tick of a recording; moved in, clicked, hostile, small."""

from __future__ import annotations

import re

import pytest
from pages import HOSTILE, expect, inspected, make_village

from agentrt.drawing import Drawing, Mark, Overlay, Tile, Tiles
from agentrt.inspect import Inspector

pytestmark = pytest.mark.slow

WIDTH, HEIGHT = 12, 6
GRASS, POND = "#306030", "#203080"
CANVAS = ".world-stage canvas"


def draw_yard(tick, **changes):
    """Ann walks to the right, one cell in each tick; Bob stands in a pond; a tree is Ann's."""
    rows = (("." * (WIDTH - 2) + "~~"),) * HEIGHT
    marks = {
        "ann": Mark(tick % 8, 1, "A", "#ffffff", label="Ann, a farmer", agent="Ann", layer=5, bold=True),
        "bob": Mark(10, 4, "B", "#ffffff", agent="Bob", layer=5),
        "tree": Mark(5, 4, shape="dot", color="#ff0000", label="a tree", holder="Ann", size=2),
        **changes,
    }
    return Drawing(WIDTH, HEIGHT, Tiles(rows, {".": Tile(GRASS), "~": Tile(POND, "~", "#6ea0dc")}), marks)


def make_yard(**changes):
    runtime = make_village()
    runtime.drawing = lambda: draw_yard(runtime.tick, **changes)
    return runtime


def stand_still(runtime, tick=3):
    for _ in range(tick):
        runtime.step()
    runtime.gate.pause("for a picture")
    return runtime


def place_of(page, x, y):
    """Where a place of the world is on the canvas, while all of it is shown."""
    width, height = page.evaluate(
        f"(() => {{ const c = document.querySelector('{CANVAS}'); return [c.clientWidth, c.clientHeight]; }})()"
    )
    scale = min((width - 16) / WIDTH, (height - 16) / HEIGHT)
    return {"x": (x + 0.5 - WIDTH / 2) * scale + width / 2, "y": (y + 0.5 - HEIGHT / 2) * scale + height / 2}


PIXEL = """([x, y]) => {
    const c = document.querySelector('.world-stage canvas');
    const ratio = c.width / c.clientWidth;
    const copy = document.createElement('canvas').getContext('2d', { willReadFrequently: true });
    copy.drawImage(c, -Math.round(x * ratio), -Math.round(y * ratio));
    return '#' + [...copy.getImageData(0, 0, 1, 1).data].slice(0, 3).map((one) => one.toString(16).padStart(2, '0')).join('');
}"""


def color_at(page, place):
    """The color of a pixel of the canvas, as the screen has it."""
    return page.evaluate(PIXEL, [place["x"], place["y"]])


def has_color(page, place, color):
    """A pixel has a color, or will have it soon: what a pointer does comes to the page a little later."""
    page.wait_for_function(f"([place, color]) => ({PIXEL})(place) === color", arg=[[place["x"], place["y"]], color])


def open_world(look, inspector, **options):
    page = look(inspector.url, **options)
    expect(page.locator(".agent-name").first).to_be_visible()
    page.keyboard.press("7")
    expect(page.locator(CANVAS)).to_be_visible()
    expect(page.locator(CANVAS)).to_have_attribute("aria-label", re.compile("^The world, with"))
    return page


def says(page):
    return page.locator(CANVAS)


@pytest.mark.states("tools: World: The page draws it with the agents in it, and a click chooses one", source="design 7")
def test_the_world_is_drawn_and_a_click_chooses_who_is_there(look):
    with inspected(stand_still(make_yard())) as inspector:
        page = open_world(look, inspector)
        expect(says(page)).to_have_attribute("aria-label", "The world, with 2 agents in it; Ann is at column 3, row 1")
        assert color_at(page, place_of(page, 7, 2)) == GRASS
        assert color_at(page, place_of(page, 11, 0.7)) == POND
        assert color_at(page, place_of(page, 5.6, 4)) == "#ff0000"  # two cells wide
        expect(page.locator(".world-legend")).to_have_text("Ann, a farmer · reserved: a tree")
        page.locator(CANVAS).click(position=place_of(page, 10, 4))
        expect(page.locator(".head-name")).to_have_text("Bob")
        expect(page.locator(".world-legend")).to_have_text("Bob")
        page.locator(CANVAS).click(position=place_of(page, 7, 2))  # nobody is there
        expect(page.locator(".head-name")).to_have_text("Bob")
        page.locator(CANVAS).hover(position=place_of(page, 5, 4))
        expect(page.locator(".world-tip")).to_have_text("a treereserved by Ann")
        page.locator(CANVAS).hover(position=place_of(page, 3, 1))
        expect(page.locator(".world-tip")).to_have_text("Ann, a farmerAnn")
        page.locator(".agent-row", has_text="Cyd").click()
        expect(page.locator(".world-legend")).to_have_text("Cyd is not in the drawing")
        page.keyboard.press("1")
        expect(page.locator(CANVAS)).to_be_hidden()


@pytest.mark.states("tools: World: The page draws it with the agents in it, and a click chooses one ...")
def test_it_changes_while_one_looks(look):
    runtime = stand_still(make_yard(), 2)
    with inspected(runtime) as inspector:
        page = open_world(look, inspector)
        expect(says(page)).to_have_attribute("aria-label", re.compile("Ann is at column 2, "))
        runtime.gate.step(3)
        expect(says(page)).to_have_attribute("aria-label", re.compile("Ann is at column 5, "))


@pytest.mark.states("tools: World: It is moved in by wheel, buttons, keys, dragging and two fingers")
def test_it_is_moved_in(look):
    with inspected(stand_still(make_yard())) as inspector:
        page = open_world(look, inspector)
        canvas = page.locator(CANVAS)
        corner = place_of(page, -0.4, -0.4)
        assert color_at(page, corner) == GRASS

        def all_of_it():
            page.get_by_role("button", name="All", exact=True).click()
            assert color_at(page, corner) == GRASS

        box = canvas.bounding_box()
        pond = place_of(page, 11, 3.1)
        beside = {**pond, "x": pond["x"] - 100}
        assert color_at(page, beside) == GRASS
        page.mouse.move(box["x"] + pond["x"], box["y"] + pond["y"])
        page.mouse.wheel(0, -4000)
        has_color(page, beside, POND)  # it is larger around the pointer
        all_of_it()
        page.get_by_role("button", name="Larger").click()
        page.get_by_role("button", name="Larger").click()
        assert color_at(page, {"x": 2, "y": box["height"] - 3}) == GRASS
        all_of_it()
        canvas.focus()
        for _ in range(20):
            page.keyboard.press("ArrowLeft")
        assert color_at(page, corner) != GRASS
        page.keyboard.press("0")
        assert color_at(page, corner) == GRASS
        page.mouse.move(box["x"] + 300, box["y"] + 150)
        page.mouse.down()
        page.mouse.move(box["x"] + 500, box["y"] + 150, steps=5)
        page.mouse.up()
        page.wait_for_function(f"([place, color]) => ({PIXEL})(place) !== color", arg=[list(corner.values()), GRASS])
        expect(page.locator(".head-name")).to_have_text("Ann")  # a drag is no click
        page.keyboard.press("c")  # follow
        expect(page.get_by_role("button", name="Follow").first).to_have_attribute("aria-pressed", "true")
        expect(page.locator(".clock-tick")).to_have_text("tick 3")  # its keys are its own
        page.keyboard.press("c")
        all_of_it()
        x, y = box["x"] + box["width"] / 2, box["y"] + box["height"] / 2
        devtools = page.context.new_cdp_session(page)

        def touch(kind, apart):
            points = [{"x": x - apart, "y": y, "id": 0}, {"x": x + apart, "y": y, "id": 1}] if apart else []
            devtools.send("Input.dispatchTouchEvent", {"type": kind, "touchPoints": points})

        assert color_at(page, {"x": 3, "y": 3}) != GRASS
        touch("touchStart", 40)
        for apart in (60, 90, 140, 200):
            touch("touchMove", apart)
        touch("touchEnd", 0)
        has_color(page, {"x": 3, "y": 3}, GRASS)


@pytest.mark.states("tools: World: It is drawn as sharp as the screen, in light and dark, on a desk and on a phone")
def test_a_phone_shows_it(look):
    with inspected(stand_still(make_yard())) as inspector:
        page = look(inspector.url, size=(390, 844))
        page.locator("#tab-world").click()
        expect(page.locator(CANVAS)).to_be_visible()
        expect(says(page)).to_have_attribute("aria-label", re.compile("Ann is at column 3"))
        assert page.evaluate("document.documentElement.scrollWidth") == 390
        assert page.evaluate("document.querySelector('.workspace').scrollWidth") == 390
        box = page.locator(CANVAS).bounding_box()
        assert box["width"] == 390
        assert box["height"] > 250
        for scheme, name, place in (("light", "Bob", (10, 4)), ("dark", "Ann", (3, 1))):
            page.emulate_media(color_scheme=scheme)
            page.locator(CANVAS).click(position=place_of(page, *place))
            expect(page.locator(".head-name")).to_have_text(name)
            has_color(page, place_of(page, 7, 2), GRASS)


@pytest.mark.states("tools: World: It is drawn as sharp as the screen, in light and dark, on a desk and on a phone ...")
def test_it_is_as_sharp_as_the_screen(browser):
    with inspected(stand_still(make_yard())) as inspector:
        context = browser.new_context(viewport={"width": 1280, "height": 720}, device_scale_factor=2)
        page = context.new_page()
        page.goto(inspector.url)
        expect(page.locator(".agent-name").first).to_be_visible()
        page.keyboard.press("7")
        expect(says(page)).to_have_attribute("aria-label", re.compile("Ann is at"))
        assert (
            page.evaluate(
                f"(() => {{ const c = document.querySelector('{CANVAS}'); return c.width / c.clientWidth; }})()"
            )
            == 2
        )
        assert color_at(page, place_of(page, 7, 2)) == GRASS
        context.close()


# --- none, broken, hostile ------------------------------------------------------------------------------------------------


@pytest.mark.states("tools: World: Where there is no drawing the tab is gray, and says how to give one")
def test_a_world_without_a_drawing_says_so(look):
    with inspected(make_village()) as inspector:
        page = look(inspector.url)
        expect(page.locator("#tab-world")).to_have_class(re.compile("is-empty"))
        page.keyboard.press("7")
        expect(page.locator(".world-empty")).to_contain_text(
            "This world offers no drawing. Give it one: runtime.drawing"
        )
        expect(page.get_by_role("button", name="Larger")).to_be_disabled()
        page.keyboard.press("Tab")


def test_a_drawing_without_agents_and_tiles(look):
    runtime = make_village()
    marks = {"way": Mark(1, 1, to=((5, 3), (9, 1)), color="#ff0000"), "word": Mark(6, 4, label="a meadow")}
    runtime.drawing = lambda: Drawing(WIDTH, HEIGHT, None, marks)
    with inspected(stand_still(runtime)) as inspector:
        page = open_world(look, inspector)
        expect(says(page)).to_have_attribute("aria-label", "The world, with 0 agents in it")
        expect(page.locator(".world-legend")).to_have_text("Ann is not in the drawing")
        assert color_at(page, place_of(page, 3, 2)).startswith("#ff")
        page.locator(CANVAS).click(position=place_of(page, 6, 4))


@pytest.mark.states("tools: World: A hostile drawing is a RecordingError, or is text ...")
def test_markup_in_a_drawing_is_text(look):
    evil = {
        "__proto__": Mark(1, 3, "<b", label=HOSTILE, holder=HOSTILE, layer=9),
        "constructor": Mark(2, 3, "$", label="${alert(1)}", agent=HOSTILE, layer=9),
        "far": Mark(-1e6, 1e6, "x", size=1000, to=((1e6, -1e6),) * 200),
        **{f"<script>{one}": Mark(4, 4, "Z", label="javascript:alert(1)") for one in range(500)},
    }
    with inspected(stand_still(make_yard(**evil))) as inspector:
        page = open_world(look, inspector)
        page.locator(CANVAS).hover(position=place_of(page, 1, 3))
        expect(page.locator(".world-tip strong")).to_have_text(HOSTILE)
        page.locator(CANVAS).click(position=place_of(page, 2, 3))
        expect(page.locator(".head-name")).to_have_text(HOSTILE)
        expect(page.locator(".world-legend")).to_contain_text("reserved: <img")
        assert page.locator(".world-stage img, .world-stage b, .world-legend img").count() == 0
        assert page.evaluate("({}).sign") is None


# --- a recording ----------------------------------------------------------------------------------------------------------


@pytest.mark.states("tools: World: A recording has the drawing of any tick, in little room ...")
def test_a_recording_is_drawn_at_any_tick(look, tmp_path):
    runtime = make_yard()
    with runtime.record(tmp_path / "yard.sqlite"):
        for _ in range(30):
            runtime.step()
    runtime.close()
    with Inspector(tmp_path / "yard.sqlite", port=0) as inspector:
        page = open_world(look, inspector)
        for _ in range(5):
            page.keyboard.press("ArrowRight")
        expect(page.locator(".clock-tick")).to_have_text("tick 6")
        expect(says(page)).to_have_attribute("aria-label", re.compile("Ann is at column 6, row 1"))
        page.keyboard.press("End")
        expect(says(page)).to_have_attribute("aria-label", re.compile("Ann is at column 6, row 1$"))  # 30 % 8
        expect(page.locator(".clock-tick")).to_have_text("tick 30")
        page.keyboard.press("ArrowLeft")
        expect(says(page)).to_have_attribute("aria-label", re.compile("Ann is at column 5, row 1"))
        assert color_at(page, place_of(page, 7, 2)) == GRASS


# --- what actions offer ---------------------------------------------------------------------------------------------------


@pytest.mark.states(
    "tools: World: What an action offers (a path, a target, what it sees) is drawn for the chosen agent"
)
def test_what_the_chosen_agent_offers_is_drawn(look):
    import agentrt as art

    class Walk(art.Action):
        does = art.TOP
        utility = 0.9

        async def run(self, ctx, args):
            store = ctx.get_debug_info_datastore()
            store["way"] = Overlay("path", [(3, 1), (3, 5), (8, 5)])
            store["goal"] = Overlay("target", [(8, 5)])
            store["eyes"] = Overlay("seen", [(0, 0), (1, 0), (object(), 3)])
            store["broken"] = {"draws": "path", "points": [["a", None], 3]}
            store["failing"] = Overlay("path", lambda: 1 / 0)
            await ctx.sleep_ticks(1000)

    runtime = make_yard()
    runtime.add(art.Agent(art.Entity("human", name="Dee"), actions=[Walk]))
    with inspected(stand_still(runtime)) as inspector:
        page = open_world(look, inspector)
        before = color_at(page, place_of(page, 3, 4.9))
        page.locator(".agent-row", has_text="Dee").click()
        expect(page.locator(".world-legend")).to_have_text("Dee is not in the drawing · path · 1 target · sees 2")
        assert color_at(page, place_of(page, 3, 4.9)) != before


def test_a_path_to_the_end_of_the_world_and_a_long_name_hide_nothing(look):
    import agentrt as art

    class Walk(art.Action):
        does = art.TOP
        utility = 0.9

        async def run(self, ctx, args):
            ctx.get_debug_info_datastore()["way"] = Overlay(
                "path", [((-1) ** one * 400, one % 6) for one in range(200)]
            )
            await ctx.sleep_ticks(1000)

    name = "D" * 150
    runtime = make_yard(dee=Mark(6, 5, "D", "#ffffff", agent=name, layer=9))
    runtime.add(art.Agent(art.Entity("human", name=name), actions=[Walk]))
    with inspected(runtime) as inspector:
        page = open_world(look, inspector)
        page.evaluate("""() => {
            window.written = [];
            window.dashed = [];
            const { fillText, setLineDash } = CanvasRenderingContext2D.prototype;
            CanvasRenderingContext2D.prototype.fillText = function (text, ...at) {
                window.written.push(text);
                fillText.call(this, text, ...at);
            };
            CanvasRenderingContext2D.prototype.setLineDash = function (dash) {
                if (dash.length > 0) window.dashed.push(dash);
                setLineDash.call(this, dash);
            };
        }""")
        page.locator(".agent-row", has_text="DDD").click()
        expect(page.locator(".world-legend")).to_have_text(re.compile("^D+ · path$"))
        page.wait_for_function("window.written.some((text) => text.startsWith('DDD'))")
        assert max(map(len, page.evaluate("window.written"))) == 40
        assert page.evaluate("window.dashed") == []  # a second for each picture
