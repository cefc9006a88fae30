"""Sharing: one file of HTML that opens from a disk, with all that the page shows; links to a tick and an agent."""

from __future__ import annotations

import itertools
import re

import pytest
from pages import HOSTILE, expect, inspected, make_village

from agentrt import TOP, Action, Agent, Entity
from agentrt.drawing import Drawing, Mark, Tile, Tiles
from agentrt.inspect import Inspector, write_html
from agentrt.record.recording import Recording

pytestmark = pytest.mark.slow

TICKS = 40
CANVAS = ".world-stage canvas"
GROUND = Tiles(("..........~~",) * 6, {".": Tile("#306030"), "~": Tile("#203080", "~", "#6ea0dc")})


def drawn(tick):
    """Ann walks to the right; a flower is there in every third tick."""
    marks = {"ann": Mark(tick % 8, 1, "A", "#ffffff", label="Ann, a farmer", agent="Ann", layer=5, bold=True)}
    if tick % 3 == 0:
        marks["__proto__"] = Mark(5, 4, shape="dot", color="#ff0000", label="a flower", holder="Ann")
    return Drawing(12, 6, GROUND, marks)


class Doze(Action):
    """Thinks again and again, so that explanations speak of ticks to come."""

    does = TOP
    utility = 0.2

    async def think(self, ctx, args):
        if ctx.clock.tick % 16 < 8:
            ctx.reject("it is too loud")
        ctx.set_think_output()

    async def run(self, ctx, args):
        await ctx.sleep_ticks(9)


@pytest.fixture(scope="module")
def yard(tmp_path_factory):
    """A recording of a yard: three who live there, one who dozes and leaves, one with a name that is markup."""
    path = tmp_path_factory.mktemp("share") / "yard.sqlite"
    runtime = make_village()
    runtime.drawing = lambda: drawn(runtime.tick)
    dee = Agent(Entity("human", name="Dee"), actions=[Doze])
    dee.values = lambda: {"hunger": runtime.tick / TICKS, "Bag": {"name": "a <b>bag</b>", "coins": runtime.tick}}
    runtime.add(dee)
    runtime.add(Agent(Entity("human", name=HOSTILE), actions=[Doze]))
    with runtime.record(path):
        for _ in range(TICKS):
            runtime.step()
            if runtime.tick == 30:
                runtime.remove(runtime.find("Dee"))
    runtime.close()
    return path


PINS = [("Ann", "Eat.utility * 100"), ("Ann", "nothing"), ("Dee", "hunger > 0.5"), ("Dee", "Bag.name"), ("Cyd", "(")]


@pytest.fixture(scope="module")
def file(yard):
    return made_of(yard, yard.with_suffix(".html"), pins=PINS)


def made_of(recording, path, **options):
    with Recording.open(recording) as opened, path.open("w", encoding="ascii") as out:
        write_html(opened, out, **options)
    return path.as_uri()


def shown(page):
    """All that the page says, but for how it came by it, what a line is called included."""
    texts = page.evaluate(
        """() => [
            ...['.topbar', '.scrubber', '.workspace'].map((one) => document.querySelector(one).innerText),
            ...[...document.querySelectorAll('.pin canvas')].map((one) => one.hidden ? '' : one.ariaLabel),
        ]"""
    )
    said = re.sub(r"\s+", " ", " ".join(texts))
    for only in (
        " Pin",
        " What if …",
        " These were watched when the file was made; others need a server: agentrt inspect FILE.",
    ):
        said = said.replace(only, "")  # where something can be written or run, or where that cannot be
    return said


def at(page, tick):
    expect(page.locator(".clock-tick")).to_have_text(f"tick {tick}")


@pytest.mark.states(
    "tools: Sharing: A recording as one file shows what a server shows, at any tick, in every tab", source="design 7"
)
def test_a_file_shows_what_a_server_shows(look, yard, file):
    with Inspector(yard, port=0) as inspector:
        served, alone = look(inspector.url), look(file)
        for who, text in PINS:
            served.locator(".agent-row", has_text=who).first.click()
            served.get_by_label("Expression to watch").fill(text)
            served.keyboard.press("Enter")
        expect(alone.locator(".pin")).to_have_count(len(PINS))
        expect(served.locator(".pin")).to_have_count(len(PINS))
        # Each tick with each tab, and each of the three with each of both.
        ticks = enumerate((1, 7, 8, 17, 29, 31, TICKS))
        tabs = enumerate(("plan", "models", "explain", "events", "performance", "tasks", "world"))
        for (row, tick), (column, tab) in itertools.product(ticks, tabs):
            for page in (served, alone):
                lead(page, ("Ann", "Dee", "Cyd")[(row + column) % 3], tick, tab)
            settled(served, alone)


def lead(page, agent, tick, tab):
    """Follow a link within the page, until it shows that. It is looked at in each frame: there are many of them."""
    page.evaluate("link => (location.hash = link)", f"#tick={tick}&agent={agent}&tab={tab}")
    page.wait_for_function(
        """([agent, tick, tab]) =>
            document.querySelector(".clock-tick").innerText === tick &&
            document.querySelector(".head-name").innerText === agent &&
            document.querySelector(tab).checkVisibility()""",
        arg=[agent, f"tick {tick}", f"#view-{tab}"],
    )


def settled(served, alone):
    """Both say the same, as soon as what was asked for has come."""
    for _ in range(100):
        one, other = shown(served), shown(alone)
        if one == other:
            return
        alone.evaluate("() => new Promise((drawn) => requestAnimationFrame(() => requestAnimationFrame(drawn)))")
    assert other == one


@pytest.mark.states("tools: Sharing: A file fetches nothing from anywhere")
def test_a_file_fetches_nothing(look, file, browser):
    context = browser.new_context(viewport={"width": 1280, "height": 720})
    page = context.new_page()
    asked = []
    page.on("request", lambda request: asked.append(request.url))
    page.goto(f"{file}#tick=9&tab=world")
    at(page, 9)
    expect(page.locator(CANVAS)).to_have_attribute("aria-label", re.compile("Ann is at"))
    assert {one.partition(":")[0] for one in asked} <= {"file", "data"}
    assert [one for one in asked if one.startswith("file:")] == [f"{file}"] or len(asked) == 1
    expect(page.locator(".link-state")).to_have_text("a file, without a server")
    context.close()


@pytest.mark.states("tools: Sharing: A file is played, moved in and searched like a recording")
@pytest.mark.parametrize(("size", "dark"), [((1280, 720), False), ((390, 844), True)])
def test_a_file_is_moved_in(look, file, size, dark):
    page = look(file, size=size, dark=dark)
    at(page, 1)
    page.keyboard.press("End")
    at(page, TICKS)
    page.keyboard.press("ArrowLeft")
    at(page, TICKS - 1)
    page.locator(".slider").fill("12")
    at(page, 12)
    page.get_by_label("Speed", exact=True).select_option("8")
    page.keyboard.press(" ")
    at(page, TICKS)  # it stays there
    expect(page.get_by_role("button", name="Play")).to_be_visible()
    page.keyboard.press("/")
    page.keyboard.type("kind:cat")
    expect(page.locator(".agent-name")).to_have_text(["Cyd"])
    page.keyboard.press("Enter")
    expect(page.locator(".head-name")).to_have_text("Cyd")
    page.locator("#tab-events").click()
    page.get_by_label("Filter events").fill("cyd")
    expect(page.locator(".events-view .tallies")).to_have_text(re.compile(r"^[1-9]\d* shown"))
    assert page.evaluate("document.documentElement.scrollWidth") == size[0]


def test_a_range_of_ticks(look, yard, tmp_path):
    page = look(made_of(yard, tmp_path / "part.html", first=10, last=20))
    at(page, 10)
    expect(page.locator(".slider-end")).to_have_text(["10", "20"])
    page.keyboard.press("End")
    at(page, 20)


@pytest.mark.states("tools: Sharing: Names in a file are text, whatever they look like")
def test_markup_in_a_file_is_text(look, yard, tmp_path):
    title = "</title><script>alert(1)</script>"
    page = look(made_of(yard, tmp_path / "evil.html", title=title))
    expect(page.locator("h1")).to_have_text(title)
    page.locator(".agent-row", has_text="Mallory").click()
    expect(page.locator(".head-name")).to_have_text(HOSTILE)
    page.keyboard.press("3")
    expect(page.locator(".explain")).to_contain_text("<img src=x")
    assert page.locator(".workspace img").count() == 0


# --- the dialog, and links --------------------------------------------------------------------------------------------


@pytest.mark.states("tools: Sharing: A button saves the file, and says how large it is")
@pytest.mark.parametrize(("size", "dark"), [((1280, 720), False), ((390, 844), True)])
def test_a_person_saves_a_file(look, yard, tmp_path, size, dark):
    with Inspector(yard, port=0, token="0123456789abcdef") as inspector:
        page = look(inspector.url, size=size, dark=dark)
        at(page, 1)
        page.get_by_role("button", name="Share").click()
        dialog = page.get_by_role("dialog", name="Share")
        expect(dialog).to_contain_text("has the token of this inspector in it")
        dialog.get_by_label("To tick").fill("12")
        with page.expect_download() as download:
            dialog.get_by_role("button", name="Save").click()
        expect(dialog).to_contain_text(re.compile(r"yard-1-12\.html: 0\.\d MB, ticks 1 to 12\."))
        download.value.save_as(tmp_path / "saved.html")
        dialog.get_by_label("From tick").fill("90")
        dialog.get_by_role("button", name="Save").click()
        expect(dialog).to_contain_text("Choose ticks from 1 to 40.")
        assert page.evaluate("document.documentElement.scrollWidth") == size[0]
    page = look((tmp_path / "saved.html").as_uri(), size=size, dark=dark)
    at(page, 1)
    page.keyboard.press("s")
    expect(page.get_by_role("dialog", name="Share")).to_contain_text("This page is such a file")
    expect(page.get_by_role("button", name="Save")).to_be_hidden()


@pytest.mark.states("tools: Sharing: A link leads to a tick, an agent and a tab; the address follows what one looks at")
def test_the_address_follows(look, yard):
    with Inspector(yard, port=0) as inspector:
        page = look(f"{inspector.url}#tick=17&agent=Bob&tab=world")
        at(page, 17)
        expect(page.locator(".head-name")).to_have_text("Bob")
        expect(page.locator(CANVAS)).to_be_visible()
        page.keyboard.press("ArrowRight")
        page.locator(".agent-row", has_text="Mallory").click()
        page.keyboard.press("1")
        page.wait_for_url(re.compile(r"#tick=18&agent=%3Cimg"))
        other = look(page.url)
        at(other, 18)
        expect(other.locator(".head-name")).to_have_text(HOSTILE)


@pytest.mark.states("tools: Sharing: A link into a live run leads to its tick, if that is kept, and else says so")
def test_a_link_into_a_live_run(look):
    runtime = make_village()
    with inspected(runtime, controls=True, past=2000) as inspector:
        page = look(inspector.url)
        page.wait_for_function("() => Number(document.querySelector('.slider').max) > 30")
        page = look(f"{inspector.url}#tick=25&agent=Cyd&tab=explain")
        expect(page.locator(".badge")).to_have_text("looking back")
        at(page, 25)
        expect(page.locator(".explain")).to_contain_text("Cyd at tick 25")
        page.keyboard.press("n")
        expect(page.locator(".badge")).to_have_text("live")
        page.get_by_role("button", name="Pause").click()
        page.wait_for_url(re.compile(r"#tick=\d+&agent=Cyd&tab=explain"))
    with inspected(runtime, controls=True) as inspector:  # another one, which knows nothing of that tick
        page = look(f"{inspector.url}#tick=5&agent=Bob")
        expect(page.locator(".head-name")).to_have_text("Bob")
        expect(page.get_by_text("Tick 5 of the link is not kept any more")).to_be_visible()
        expect(page.locator(".badge")).to_have_text("live")
        page = look(f"{inspector.url}#agent=Zoe&tab=models")  # whom nobody knows
        for tab in ("models", "explain", "plan"):
            page.locator(f"#tab-{tab}").click()
            expect(page.locator(f"#view-{tab} .empty:visible")).to_contain_text("Zoe is not there at tick")
        expect(page.locator(".values .empty-line")).to_contain_text("Zoe is not there at tick")
    with inspected(make_village(), past=0) as inspector:
        page = look(inspector.url)
        page.keyboard.press("s")
        expect(page.get_by_role("dialog", name="Share")).to_contain_text("A run that keeps no past is no file")
        expect(page.get_by_role("dialog", name="Share").get_by_role("button", name="Save")).to_be_hidden()


@pytest.mark.states("tools: Sharing: The last ticks of a live run can be saved as one file, with what is watched")
@pytest.mark.parametrize(("size", "dark"), [((1280, 720), True), ((390, 844), False)])
def test_a_person_saves_a_file_of_a_live_run(look, tmp_path, size, dark):
    runtime = make_village()
    runtime.find("Ann").values = lambda: {"hunger": runtime.tick % 10 / 10}
    with inspected(runtime, past=2000, title="village") as inspector:
        page = look(inspector.url, size=size, dark=dark)
        page.wait_for_function("() => Number(document.querySelector('.slider').max) > 60")
        expect(page.locator(".head-name")).to_have_text("Ann")  # what is typed is watched for whom one looks at
        page.keyboard.press("w")
        page.keyboard.type("hunger > 0.5")
        page.keyboard.press("Enter")
        page.keyboard.press("Escape")
        page.keyboard.press("s")
        dialog = page.get_by_role("dialog", name="Share")
        expect(dialog).to_contain_text("the last ticks of this run in it")
        expect(dialog).to_contain_text("What is watched is in it: 1 line.")
        dialog.get_by_label("From tick").fill("20")
        dialog.get_by_label("To tick").fill("50")
        with page.expect_download() as download:
            dialog.get_by_role("button", name="Save").click()
        expect(dialog).to_contain_text(re.compile(r"village-20-50\.html: 0\.\d MB, ticks 20 to 50\."))
        download.value.save_as(tmp_path / "saved.html")
        assert page.evaluate("document.documentElement.scrollWidth") == size[0]
    page = look(f"{(tmp_path / 'saved.html').as_uri()}#tick=27&agent=Ann", size=size, dark=dark)
    at(page, 27)
    expect(page.locator("#view-plan .tree-row").first).to_be_visible()
    expect(page.locator(".values")).to_contain_text("hunger")
    expect(page.locator(".pin-value")).to_have_text("true")
    expect(page.locator(".pins")).to_contain_text("These were watched when the file was made")
    expect(page.get_by_label("Expression to watch")).to_be_hidden()
    expect(page.locator("#tab-whatif")).to_have_attribute("title", re.compile("othing"))
    page.locator("#tab-whatif").click()
    expect(page.locator(".whatif-notice:visible")).to_contain_text("This page is a file, without a server")
    assert page.evaluate("document.documentElement.scrollWidth") == size[0]


@pytest.mark.parametrize(
    "link", ["#tick=-3&agent=&tab=evil", "#tick=1e9", "#%%%", "#tick=99999999999999", "#agent=" + "x" * 600]
)
def test_a_link_that_is_none(look, yard, link):
    with Inspector(yard, port=0) as inspector:
        page = look(inspector.url + link)
        expect(page.locator(".head-name")).to_have_text("Ann")
        expect(page.locator(".clock-tick")).to_have_text(re.compile(f"tick ({TICKS}|1)$"))
