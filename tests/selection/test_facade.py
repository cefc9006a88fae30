"""The public surface of ``agentrt.selection``, name by name."""

from __future__ import annotations

from facades import offered

from agentrt import selection

NAMES = [
    "Condition",
    "LeafBehavior",
    "Phase",
    "ReloadReport",
    "SelectionLibrary",
    "SelectionProblem",
    "SelectionState",
    "SelectionTree",
    "SelectionView",
]


def test_the_facade_for_authors():
    assert selection.__all__ == NAMES == sorted(NAMES)


def test_nothing_else_is_offered_by_accident():
    assert offered(selection) == set(NAMES)


def test_everything_public_is_documented():
    undocumented = [
        f"{name}.{member}"
        for name in NAMES
        for member, value in vars(getattr(selection, name)).items()
        if not member.startswith("_") and (callable(value) or isinstance(value, property | classmethod))
        if not getattr(value, "__doc__", None)
    ]
    assert undocumented == []


def test_a_state_is_a_driver_for_the_type_checker_and_in_fact():
    from agentrt.body.driver import Driver

    wanted = [name for name in vars(Driver) if not name.startswith("_") and callable(getattr(Driver, name, None))]
    assert wanted
    assert [name for name in wanted if not callable(getattr(selection.SelectionState, name, None))] == []


def test_what_belongs_to_the_machine_is_not_on_what_authors_hold():
    assert [name for name in dir(selection.SelectionState) if not name.startswith("_")] == [
        *("behavior", "behaviors", "body", "current", "drive", "entity", "given_to", "is_set", "is_stale", "join"),
        *("leaf", "leave", "name", "outline", "perform", "phase", "precedence", "rank", "reloaded", "restore", "save"),
        *("set_variable", "signal", "steer", "strands", "tree", "variables", "view", "view_type"),
    ]
