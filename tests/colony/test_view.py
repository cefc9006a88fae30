"""The picture, the panels, and the application, driven without a terminal."""

from __future__ import annotations

import pytest

from agentrt.snapshot import DriverView
from agentrt_examples.colony.app import SPEEDS, ColonyApp
from agentrt_examples.colony.bodies import Health, Needs, Position
from agentrt_examples.colony.buffs import Buffs
from agentrt_examples.colony.cartographer import sign_of
from agentrt_examples.colony.models import doing, driver_lines, running_units, says
from agentrt_examples.colony.picture import Picture
from agentrt_examples.colony.views import agents_panel, counts_line, events_panel, why_panel


def test_the_picture_shows_the_colony(colony):
    rows = Picture(colony.cartographer).plain().splitlines()
    assert [len(row) for row in rows] == [40] * 25
    assert rows[5][5] == "A"
    assert rows[13][6:8] == "\N{IDENTICAL TO}" * 2
    assert rows[5][17] == "\N{BLACK CHESS ROOK}"
    assert rows[0][0] == "\N{BLACK CLUB SUIT}"


def test_sleepers_and_those_who_are_down_look_different(colony):
    picture = Picture(colony.cartographer)
    alva = colony.town.census.find("hearthling")[0]
    column, row = alva[Position].location
    alva[Needs].asleep = True
    assert picture.cells()[row][column].sign == "z"
    alva[Health].add(-100)
    assert picture.cells()[row][column].sign == "a"
    assert picture.cells(alva)[row][column].ground == "#ffe15a"
    assert sign_of(alva) == "A"


def test_nights_are_darker(colony):
    picture = Picture(colony.cartographer)
    day = picture.cells()[22][10].ground
    colony.runtime.clock.tick = 750
    assert (day, picture.cells()[22][10].ground) == ("#263e24", "#152228")


@pytest.mark.parametrize("width", [1, 2])
def test_the_colored_text_has_the_same_size(colony, width):
    lines = Picture(colony.cartographer).lines(width=width)
    assert [sum(segment.cell_length for segment in line) for line in lines] == [40 * width] * 25
    plain = Picture(colony.cartographer).plain().splitlines()
    assert ["".join(segment.text for segment in line)[::width] for line in lines] == plain


def test_the_panels_fit_and_say_who_does_what_and_why(colony):
    for _ in range(8):
        colony.runtime.step()
    agents = colony.population.agents
    lines = agents_panel(agents, agents[0], 56, 26)[0].plain.split("\n")
    assert len(lines) == 1 + len(agents)
    assert all(len(line) <= 56 for line in lines)
    assert lines[1].startswith("A Alva")
    why = why_panel(agents[0], 56, 9)[0].plain.split("\n")
    assert why[0].startswith("Alva  health")
    assert len(why) <= 9
    names = [unit.name for _, unit in running_units(agents[0].snapshot())]
    assert why[1].startswith(names[0])
    assert why_panel(None, 56, 9)[0].plain == ""


def test_the_reasons_name_the_groups_and_their_tasks(colony):
    for _ in range(8):
        colony.runtime.step()
    farmer, soldier = (next(one for one in colony.population.agents if one.name == name) for name in ("Alva", "Jorun"))
    lines = why_panel(farmer, 90, 30)[0].plain.split("\n")
    assert "farming  till  plant  harvest" in " ".join(line.replace(" (1)", "").replace(" (2)", "") for line in lines)
    assert [line.split("  ")[0] for line in lines if line.startswith(("basic", "farming", "hauling"))] == [
        "basic needs", "farming", "hauling",
    ]  # fmt: skip
    colony.captain.order(soldier, (20, 10))
    colony.town.census.find("wolf")[0][Position].place((20, 12))
    for _ in range(5):
        colony.runtime.step()
    lines = why_panel(soldier, 90, 30)[0].plain.split("\n")
    assert any(line.startswith("unit control  move_to (20, 10)") for line in lines)
    assert any(line.startswith("party 1  attack") for line in lines)


def test_each_model_is_seen_and_who_has_which_flag(colony):
    for _ in range(12):
        colony.runtime.step()
    agents = {agent.name: agent for agent in colony.population.agents}
    table = agents_panel(list(agents.values()), None, 70, 30)[0].plain.split("\n")
    letters = {line.split()[1]: line[18:22].strip() for line in table[1:] if line[2:5] != "dra"}
    assert (letters["Alva"], letters["Jorun"], letters["Ivo"], letters["wolf"]) == ("P", "PS", "PSGB", "TG")
    wolf = next(agent for agent in agents.values() if agent.entity.kind == "wolf")
    drake = next(agent for agent in agents.values() if agent.entity.kind == "drake")
    lines = why_panel(wolf, 90, 30)[0].plain.split("\n")
    assert lines[1:3] == ["T targets: choose prey", "G goals: attack"]
    assert lines[3].startswith("TARGET held by targets/choose prey since ")
    assert "B tree: guard nest patrol" in why_panel(drake, 90, 30)[0].plain
    assert "not GUARD_NEST_FIGHT: its Decide does not accept" in why_panel(drake, 90, 30)[0].plain
    lines = why_panel(agents["Ivo"], 120, 30)[0].plain.split("\n")
    assert "S moon: Himself" in lines
    assert any("wolf/stagger was refused MOVE" in line for line in lines)


def test_a_model_that_comes_first_says_so(colony):
    (ivo,) = colony.population.possessions
    colony.runtime.step()
    colony.population.possessions[ivo].senses.tell("OnDusk")
    colony.runtime.step()
    assert list(driver_lines(ivo.snapshot())) == [
        "S moon: Dancers", "G wolf: nothing", "B dancers: nothing precedence 1",
    ]  # fmt: skip
    other = DriverView("other", 3, 1, 0, object(), ())
    assert says(other) == ""  # a model of somebody's own


def test_buffs_are_seen(colony):
    agent = colony.population.agents[0]
    agent.entity[Buffs].begin("poisoned")
    assert "Alva poisoned" in why_panel(agent, 90, 9)[0].plain


def test_what_is_done_is_told_in_words(colony):
    pet = next(agent for agent in colony.population.agents if agent.entity.kind == "pet")
    for _ in range(40):
        colony.runtime.step()
    assert "colony:" not in "".join(doing(agent.snapshot()) for agent in colony.population.agents)
    assert sign_of(pet.entity) == "d"


def test_reasons_go_on_in_the_next_line_where_there_is_room(colony):
    for _ in range(8):
        colony.runtime.step()
    agent = colony.population.agents[0]
    whole = why_panel(agent, 400, 99)[0].plain.split("\n")
    wrapped, none = why_panel(agent, 40, 99)
    assert none == 0
    assert max(map(len, wrapped.plain.split("\n"))) <= 40
    assert wrapped.plain.split() == " ".join(whole).split()
    cut, more = why_panel(agent, 40, 4)
    lines = cut.plain.split("\n")
    assert (len(lines), more) == (4, len(whole) - 4)
    assert any(line.endswith("\N{HORIZONTAL ELLIPSIS}") for line in lines)


def test_counts_are_dropped_whole(colony):
    assert counts_line(colony, 80).plain.startswith(" 0 harvested  0 cooked ")
    assert counts_line(colony, 24).plain == " 0 harvested  \N{HORIZONTAL ELLIPSIS}"
    assert counts_line(colony, 0).plain == " \N{HORIZONTAL ELLIPSIS}"


def test_a_short_table_keeps_the_selected_one_in_view(colony):
    agents = colony.population.agents
    lines = agents_panel(agents, agents[-1], 56, 6)[0].plain.split("\n")
    assert len(lines) == 6
    assert agents[-1].name in lines[-1]


def test_who_runs_nothing_thinks(colony):
    agent = colony.population.agents[0]
    assert doing(agent.snapshot()) == "thinking"
    assert "runs nothing" in why_panel(agent, 56, 9)[0].plain


def test_events_and_counts(colony):
    colony.population.wolf()
    panel = events_panel(list(colony.town.chronicle.entries), 40, 5)[0].plain
    assert panel.splitlines()[-1].endswith("came out of the woods")
    assert events_panel([], 40, 5)[0].plain == ""
    assert "harvested" in counts_line(colony, 80).plain


# --- the application --------------------------------------------------------------------------------------------------


@pytest.mark.slow
@pytest.mark.asyncio
@pytest.mark.parametrize("size", [(100, 35), (160, 50), (80, 24), (60, 30), (40, 12)])
async def test_the_application_fits_any_terminal(size):
    app = ColonyApp(seed=7, paused=True)
    async with app.run_test(size=size) as pilot:
        await pilot.press("s")
        await pilot.pause()
        assert app.colony.runtime.tick == 1
        screenshot = app.export_screenshot()
    assert "agentrt" in screenshot
    assert app.colony.runtime.agents == ()  # everything was taken down


def shown(app):
    return [name for name in ("map", "agents", "why", "events") if app.query_one(f"#{name}").content_size.area]


def foot(app):
    return app._shown["foot"].plain.split("\n")


@pytest.mark.slow
@pytest.mark.asyncio
@pytest.mark.parametrize("size", [(80, 24), (60, 24), (40, 12)])
async def test_what_a_small_terminal_hides_is_one_key_away(size):
    app = ColonyApp(seed=7, paused=True)
    width, height = size
    async with app.run_test(size=size) as pilot:
        for _ in range(60):
            app.colony.runtime.step()
        await pilot.press("s")
        assert shown(app) == ["map", "agents"]
        assert " ".join(foot(app)).startswith(" hidden: w why  e events  ")
        assert app.query_one("#agents").content_size.height >= 2
        for key, name in (("w", "why"), ("e", "events"), ("m", "map"), ("a", "agents")):
            await pilot.press(key)
            await pilot.pause()
            assert (app.alone, shown(app)) == (name, [name])
            lines = foot(app)
            assert max(map(len, lines)) <= width
            assert " esc overview" in " ".join(lines)
            assert "space pause" in " ".join(lines)
            assert app.query_one(f"#{name}").region.size == (width, height - 1 - len(lines))
        await pilot.press("a")
        assert (app.alone, shown(app)) == ("", ["map", "agents"])
        await pilot.press("w", "escape")
        assert app.alone == ""
        seen = []
        for _ in range(5):
            await pilot.press("tab")
            seen.append(app.alone)
        assert seen == ["map", "agents", "why", "events", ""]
        await pilot.press("shift+tab")
        assert app.alone == "events"


@pytest.mark.slow
@pytest.mark.asyncio
async def test_a_panel_says_what_is_cut():
    app = ColonyApp(seed=7, paused=True)
    async with app.run_test(size=(80, 24)) as pilot:
        for _ in range(160):
            app.colony.runtime.step()
        app.draw()
        await pilot.pause()
        agents = app.colony.population.agents
        table, chart = app.query_one("#agents"), app.query_one("#map")
        assert table.border_subtitle == f"{len(agents) - table.content_size.height + 1} more below"
        assert chart.border_subtitle == f"{25 - chart.content_size.height} rows hidden"
        app.selected = agents[-1]
        app.draw()
        assert table.border_subtitle == f"{len(agents) - table.content_size.height + 1} more above"
        await pilot.press("e")
        await pilot.pause()
        told = events_panel(list(app.colony.town.chronicle.entries), 80, 0)[1]
        events = app.query_one("#events")
        assert told > events.content_size.height
        assert events.border_subtitle == f"{told - events.content_size.height} earlier"
        await pilot.resize_terminal(60, 12)
        await pilot.press("w")
        app.selected = next(agent for agent in agents if agent.name == "Ivo")
        app.draw()
        await pilot.pause()
        why = app.query_one("#why")
        assert why.content_size.height < why_panel(app.selected, 56, 99)[0].plain.count("\n") + 1
        assert why.border_subtitle.endswith(" more lines")


@pytest.mark.slow
@pytest.mark.asyncio
async def test_a_map_that_is_cut_follows_the_selected_one():
    app = ColonyApp(seed=7, paused=True)
    async with app.run_test(size=(30, 12)) as pilot:
        await pilot.press("m")
        for agent in app.colony.population.agents:
            app.selected = agent
            app.draw()
            await pilot.pause()
            highlighted = [
                segment.text
                for y in range(app.map.content_size.height)
                for segment in app.map.render_line(y)
                if segment.style and segment.style.bgcolor and segment.style.bgcolor.name == "#ffe15a"
            ]
            assert highlighted == [sign_of(agent.entity)]


@pytest.mark.slow
@pytest.mark.asyncio
async def test_a_large_terminal_shows_all_and_still_one_alone():
    app = ColonyApp(seed=7, paused=True)
    async with app.run_test(size=(100, 35)) as pilot:
        assert shown(app) == ["map", "agents", "why", "events"]
        assert foot(app) == [" m/a/w/e one panel alone  space pause  s step  +/- speed  \u2191\u2193 who  q quit"]
        await pilot.press("m")
        await pilot.pause()
        assert shown(app) == ["map"]
        assert app.screen.has_class("double")
        assert app.map.border_subtitle == ""
        await pilot.resize_terminal(60, 24)
        await pilot.pause()
        assert shown(app) == ["map"]
        assert not app.screen.has_class("double")
        await pilot.press("escape")
        await pilot.resize_terminal(100, 35)
        await pilot.pause()
        assert shown(app) == ["map", "agents", "why", "events"]


@pytest.mark.slow
@pytest.mark.asyncio
async def test_a_timer_that_ends_later_than_the_panels_draws_nothing():
    app = ColonyApp(seed=7, speed=8)
    async with app.run_test(size=(100, 35)) as pilot:
        await pilot.pause()
        await app.query_one("#head").remove()
        app.draw()
    app.draw()


@pytest.mark.slow
@pytest.mark.asyncio
async def test_keys():
    app = ColonyApp(seed=7, speed=1.1, paused=True)
    async with app.run_test(size=(100, 35)) as pilot:
        assert app.speed == 1.0
        await pilot.press("minus", "minus", "space")
        assert not app.is_paused
        await pilot.press("s")
        assert app.is_paused
        tick = app.colony.runtime.tick
        await pilot.press("full_stop", "s")
        assert app.colony.runtime.tick == tick + 2
        for _ in SPEEDS:
            await pilot.press("plus")
        assert app.speed == SPEEDS[-1]
        for _ in SPEEDS:
            await pilot.press("minus")
        assert app.speed == SPEEDS[0]
        agents = app.colony.population.agents
        assert app.selected is agents[0]
        await pilot.press("down", "j")
        assert app.selected is agents[2]
        await pilot.press("up", "k", "k")
        assert app.selected is agents[-1]
        await pilot.press("q")
    assert app.return_code == 0


@pytest.mark.slow
@pytest.mark.asyncio
async def test_a_live_run_passes_through_the_same_states_as_a_headless_one():
    from agentrt.testing import TraceDigest
    from agentrt_examples.colony.colony import Colony

    app = ColonyApp(seed=7, paused=True)
    live = TraceDigest(app.colony.runtime.trace)
    async with app.run_test(size=(100, 35)) as pilot:
        for key in ("s", "j", "s", "plus", "s", "k", "s"):
            await pilot.press(key)
        live.close()
    headless = Colony(seed=7)
    digest = TraceDigest(headless.runtime.trace)
    for _ in range(4):
        headless.runtime.step()
    digest.close()
    headless.runtime.close()
    assert live.hexdigest() == digest.hexdigest()


@pytest.mark.slow
@pytest.mark.asyncio
async def test_time_passes_by_itself_and_the_selected_one_may_die():
    app = ColonyApp(seed=7, speed=8)
    async with app.run_test(size=(100, 35)) as pilot:
        app.selected = next(agent for agent in app.colony.population.agents if agent.name == "Pip")
        app.selected.entity.destroy()
        await pilot.pause(0.2)
        assert app.colony.runtime.tick > 0
        assert app.selected is app.colony.population.agents[0]


@pytest.mark.states(
    "tools: Outside: Nor does one in the live view, in a log line, in the text of an error or in the report of a "
    "failed test",
    source="design 10, 11",
)
@pytest.mark.slow
@pytest.mark.asyncio
async def test_no_name_controls_the_terminal():
    app = ColonyApp(seed=7, paused=True)
    async with app.run_test(size=(160, 50)) as pilot:
        alva = app.colony.population.agents[0]
        alva.entity.name = "A\x1b[2J\x9b\u202e\n[red]"
        app.selected = alva
        app.draw()
        await pilot.pause()
        shown = [text.plain for text in app._shown.values()]
        assert any("A\ufffd[2J\ufffd\ufffd" in text for text in shown)
        assert any("[red]" in text for text in shown)
        for line in "\n".join(shown).split("\n"):
            assert line.isprintable()
        alva.entity.name = "Alva"
