"""In how many files one has to look to follow one idea: four journeys through the library, each with a budget.

``python tools/journeys.py d`` shows the way of one; how it is counted stands there.
"""

from __future__ import annotations

import sys

import pytest

import agentrt
import journeys
from agentrt import Event

GOALS = {"a": 10, "b": 12, "c": 7, "d": 28}
LIMITS = {"a": 10, "b": 12, "c": 7, "d": 28}  # files, today; may only fall, down to the goal


@pytest.mark.parametrize("name", journeys.JOURNEYS)
def test_a_journey_stays_within_its_budget(name):
    way = journeys.follow(name)
    files, limit, goal = len(way.files), LIMITS[name], GOALS[name]
    figures = f"journey {name} enters {files} files; the limit is {limit}, and the goal {goal}.\n{way.as_table()}"
    assert files <= limit, f"A step of it moved into another file. Put it where the journey is already: {figures}"
    assert limit <= max(files, goal), f"Better than the limit. Lower it in LIMITS to {max(files, goal)}: {figures}"


@pytest.mark.skipif(agentrt.__compiled__, reason="calls of what is compiled are not seen")
@pytest.mark.parametrize(("name", "first"), [("a", "run"), ("b", "set_think_output"), ("c", "tick"), ("d", "gameplay")])
def test_a_journey_begins_at_its_first_call(name, first):
    assert journeys.follow(name).calls[0][1].rpartition(".")[2] == first


def test_a_journey_is_the_same_each_time():
    assert journeys.follow("b") == journeys.follow("b")


def test_a_journey_that_does_not_arrive_is_not_counted(monkeypatch):
    monkeypatch.setitem(journeys.JOURNEYS, "a", journeys.Follower.begin)
    with pytest.raises(RuntimeError, match="did not come to its end"):
        journeys.follow("a")
    assert sys.getprofile() is None


def test_calls_are_noted_between_the_first_moment_and_the_last(monkeypatch):
    def play(follower):
        event = Event()
        follower.begin()
        event.set()
        [Event() for _ in range(2)]
        follower.end()
        event.set()
        follower.begin()
        event.set()

    monkeypatch.setitem(journeys.JOURNEYS, "a", play)
    functions = [function for _, function in journeys.follow("a").calls]
    assert functions[0] == "Event.set"
    assert (functions.count("Event.set"), functions.count("Event.__init__")) == (1, 2)


WAY = journeys.Way(
    (("one.py", "f"), ("one.py", "g"), ("two.py", "h"), ("one.py", "f")), ("", "one.py", "one.py", "two.py")
)


def test_the_figures_of_a_way():
    assert (WAY.files, WAY.functions, WAY.changes) == (("one.py", "two.py"), 3, 2)
    assert WAY.as_calls() == "one.py: f, g\ntwo.py: h\none.py: f\n"
    assert (
        WAY.as_table()
        == "|  | file | functions |\n| --- | --- | --- |\n| 1 | `one.py` | `f`, `g` |\n| 2 | `two.py` | `h` |\n"
    )


def test_the_drawing_of_a_way():
    assert WAY.as_drawing().splitlines() == [
        "```mermaid",
        "flowchart TD",
        '    n0["one.py"]',
        '    n1["two.py"]',
        '    n0 -->|"h"| n1',
        "```",
    ]


def test_a_page_is_given_what_it_has_a_place_for(monkeypatch):
    monkeypatch.setattr(journeys, "follow", lambda name: WAY)
    page = "# Ways\n<!-- journey c -->\nold\n<!-- end -->\nand\n<!-- journeys -->\n<!-- end -->\n"
    assert journeys.updated(page) == (
        f"# Ways\n<!-- journey c -->\n{WAY.as_table()}<!-- end -->\nand\n<!-- journeys -->\n{journeys.figures()}<!-- end -->\n"
    )
    assert "| 2 | 3 | 2 |" in journeys.figures()
    page = "<!-- drawing of journey b -->\n<!-- end -->\n"
    assert journeys.updated(page) == f"<!-- drawing of journey b -->\n{WAY.as_drawing()}<!-- end -->\n"
    assert journeys.updated("# None\n") == "# None\n"


@pytest.mark.checkout  # a profiler sees no compiled function
def test_the_page_is_up_to_date():
    assert journeys.main(["--check"]) == 0, "run: python tools/journeys.py --write"


def test_a_page_that_is_out_of_date_is_told_and_written(monkeypatch, tmp_path, capsys):
    page = tmp_path / "page.md"
    page.write_text("<!-- journey c -->\n<!-- end -->\n", encoding="utf-8")
    monkeypatch.setattr(journeys, "PAGE", page)
    monkeypatch.setattr(journeys, "follow", lambda name: WAY)
    assert journeys.main(["--check"]) == 1
    assert "python tools/journeys.py --write" in capsys.readouterr().out
    assert journeys.main(["--write"]) == 0
    assert page.read_text(encoding="utf-8") == f"<!-- journey c -->\n{WAY.as_table()}<!-- end -->\n"
    assert journeys.main(["--check"]) == 0
