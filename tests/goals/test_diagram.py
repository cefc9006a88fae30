"""The pictures in docs/tutorials/goals.md are those of the code."""

from __future__ import annotations

from pathlib import Path

import pytest
from modules import load

from agentrt.goals import LOOK, MOVE, GoalSelector

worlds = load("tests/goals/worlds.py")
goals_diagram = load("tools/goals_diagram.py")

PAGE = Path(__file__).resolve().parents[2] / "docs" / "tutorials" / "goals.md"


def test_the_page_shows_the_code():
    text = PAGE.read_text(encoding="utf-8")
    assert goals_diagram.updated(text) == text, "run: python tools/goals_diagram.py"


def test_an_arrow_goes_to_who_is_replaced():
    selector = GoalSelector()
    selector.add_goal(5, worlds.Scripted("walk", [MOVE]))
    selector.add_goal(1, worlds.Scripted("chase", [LOOK, MOVE], interruptible=False))
    selector.add_goal(0, worlds.Scripted("flee", [MOVE]))
    selector.add_goal(0, worlds.Scripted("think"))
    assert goals_diagram.replacements(selector).splitlines()[2:-1] == [
        '    0["walk<br/>priority 5<br/>MOVE"]',
        '    1["chase<br/>priority 1<br/>LOOK, MOVE"]',
        '    2["flee<br/>priority 0<br/>MOVE"]',
        '    3["think<br/>priority 0<br/>no flags"]',
        "    1 -- MOVE --> 0",
        "    2 -- MOVE --> 0",
    ]


def test_a_page_without_its_place_is_refused():
    with pytest.raises(ValueError, match="0 places for the picture 'states of a goal'"):
        goals_diagram.updated("# Nothing here\n")
