"""The list of agents as a client wants it: filters, order, groups; live and in a recording. Hostile queries."""

from __future__ import annotations

import json

import pytest
from modules import load

from agentrt.inspect.listing import MOST_GROUPS, Head, Standing, arrange, needs_all
from agentrt.inspect.protocol import AgentsQuery, Command, CrowdQuery, Denial, read
from agentrt.snapshot import AgentSummary

of = load("tests/inspect/village.py")


def agent(name, *, kind="cat", doing="", utility=None, aborts=0, waiting=False, alive=True, groups=(), plan=True):
    models = ("plan",) if plan else ("goals",)
    running = f"top/{doing}" if doing else ""
    return AgentSummary(
        name, 1, kind, "", running, doing, models, aborts, waiting=waiting, alive=alive, utility=utility, groups=groups
    )


CROWD = {
    "Ann 9": Standing(agent("Ann 9", kind="human", doing="eat", utility=0.5), 0.25, value=3),
    "Ann 10": Standing(agent("Ann 10", kind="human", doing="rest", utility=0.75, groups=("miners",)), value=1.5),
    "Bob": Standing(agent("Bob", aborts=2), 1.5, ("late",), value=True),
    "Cyd": Standing(agent("Cyd", waiting=True, doing="eat", utility=0.5), value="soup"),
    "Dov": Standing(agent("Dov", plan=False, groups=("miners", "guards"))),
    "Eve": Standing(agent("Eve", alive=False), value=None),
}


def shown(**query):
    asked = AgentsQuery(**{key: frozenset(one) if isinstance(one, set) else one for key, one in query.items()})
    arranged = arrange(CROWD, asked, lambda name: CROWD[name].summary.kind, CROWD)
    return [f"[{row.label}: {row.size}]" if isinstance(row, Head) else row for row in arranged.rows]


@pytest.mark.states(
    "tools: Crowd: The list of agents is filtered by kind, by state and by what they do, sorted by anything that it "
    "shows, and grouped by kind, doing, state, task group or the value of an expression",
    source="design 7",
)
@pytest.mark.parametrize(
    ("query", "rows"),
    [
        ({}, ["Ann 9", "Ann 10", "Bob", "Cyd", "Dov", "Eve"]),
        ({"filter": "ann"}, ["Ann 9", "Ann 10"]),
        ({"kind": "human"}, ["Ann 9", "Ann 10"]),
        ({"running": "EAT"}, ["Ann 9", "Cyd"]),
        ({"doing": "rest"}, ["Ann 10"]),
        ({"doing": ""}, ["Bob", "Dov", "Eve"]),
        ({"states": {"running"}}, ["Ann 9", "Ann 10", "Cyd"]),
        ({"states": {"thinking"}}, ["Bob"]),
        ({"states": {"waiting", "aborted"}}, ["Bob", "Cyd"]),
        ({"states": {"late"}}, ["Bob"]),
        ({"states": {"idle", "ended"}}, ["Dov", "Eve"]),
        ({"sort": "name"}, ["Ann 9", "Ann 10", "Bob", "Cyd", "Dov", "Eve"]),
        ({"sort": "name", "down": True}, ["Eve", "Dov", "Cyd", "Bob", "Ann 10", "Ann 9"]),
        ({"down": True}, ["Eve", "Dov", "Cyd", "Bob", "Ann 10", "Ann 9"]),
        # Equals as they came, and what has none last, in either direction.
        ({"sort": "utility"}, ["Ann 9", "Cyd", "Ann 10", "Bob", "Dov", "Eve"]),
        ({"sort": "utility", "down": True}, ["Ann 10", "Ann 9", "Cyd", "Bob", "Dov", "Eve"]),
        ({"sort": "think", "down": True}, ["Bob", "Ann 9", "Ann 10", "Cyd", "Dov", "Eve"]),
        ({"sort": "aborts", "down": True}, ["Bob", "Ann 9", "Ann 10", "Cyd", "Dov", "Eve"]),
        ({"sort": "kind"}, ["Bob", "Cyd", "Dov", "Eve", "Ann 9", "Ann 10"]),
        ({"sort": "doing"}, ["Ann 9", "Cyd", "Ann 10", "Bob", "Dov", "Eve"]),
        ({"sort": "state"}, ["Bob", "Eve", "Dov", "Ann 9", "Ann 10", "Cyd"]),
        ({"sort": "value", "value": "x"}, ["Bob", "Ann 10", "Ann 9", "Cyd", "Dov", "Eve"]),
        ({"group": "kind"}, ["[cat: 4]", "Bob", "Cyd", "Dov", "Eve", "[human: 2]", "Ann 9", "Ann 10"]),
        (
            {"group": "kind", "sort": "name", "down": True, "folded": {"human"}},
            ["[cat: 4]", "Eve", "Dov", "Cyd", "Bob", "[human: 2]"],
        ),
        (
            {"group": "doing", "folded": {"eat", "rest", "nothing", "gone"}},
            ["[eat: 2]", "[rest: 1]", "[nothing: 3]"],
        ),
        (
            {"group": "state", "folded": {"aborted", "running", "waiting", "idle", "ended"}},
            ["[aborted: 1]", "[ended: 1]", "[idle: 1]", "[running: 2]", "[waiting: 1]"],
        ),
        (
            {"group": "tasks", "folded": {"miners", "miners, guards", "in no task group"}},
            ["[miners: 1]", "[miners, guards: 1]", "[in no task group: 4]"],
        ),
        (
            {"group": "value", "value": "x"},
            ["[true: 1]", "Bob", "[1.5: 1]", "Ann 10", "[3: 1]", "Ann 9", "[soup: 1]", "Cyd", "[no value: 2]", "Dov",
             "Eve"],
        ),
    ],
)  # fmt: skip
def test_a_list_is_arranged(query, rows):
    assert shown(**query) == rows


def test_many_numbers_are_put_together_in_ranges():
    crowd = {f"{number}": Standing(agent(f"{number}"), value=number / 10) for number in range(61)}
    arranged = arrange(crowd, AgentsQuery(group="value", value="x"), lambda name: "", crowd)
    assert [(row.label, row.size) for row in arranged.rows if isinstance(row, Head)] == [
        ("0 to 1", 10), ("1 to 2", 10), ("2 to 3", 10), ("3 to 4", 10), ("4 to 5", 10), ("5 to 6", 11),
    ]  # fmt: skip


def test_groups_are_bounded():
    crowd = {f"{number}": Standing(agent(f"{number}", doing=f"act {number}")) for number in range(500)}
    arranged = arrange(crowd, AgentsQuery(group="doing"), lambda name: "", crowd)
    heads = [row for row in arranged.rows if isinstance(row, Head)]
    assert (len(heads), heads[-1]) == (MOST_GROUPS + 1, Head("all others", 300, folded=False))
    assert arranged.matching == 500


def test_what_is_wrong_with_an_expression_is_said_once():
    crowd = {name: Standing(agent(name), problem="no value 'x' is offered now") for name in ("a", "b")}
    query = AgentsQuery(sort="value", value="x")
    assert arrange(crowd, query, lambda name: "", crowd).problem == "no value 'x' is offered now"
    crowd["c"] = Standing(agent("c"), value=1)
    assert arrange(crowd, query, lambda name: "", crowd).problem == ""


def test_only_what_needs_all_agents_asks_for_them():
    plain = [AgentsQuery(), AgentsQuery(filter="a", kind="b", offset=3, limit=4, folded=frozenset("x"))]
    assert [needs_all(query) for query in plain] == [False, False]
    needy = [{"running": "x"}, {"states": {"late"}}, {"doing": ""}, {"group": "kind"}, {"sort": "name"}, {"value": "x"}]
    assert all(needs_all(AgentsQuery(**query)) for query in needy)


# --- what clients send ------------------------------------------------------------------------------------------------


def test_a_query_with_everything_in_it():
    command = read(json.dumps({
        "do": "watch",
        "agents": {"states": ["late", "idle"], "doing": "", "group": "value", "sort": "utility", "down": True,
                   "value": "hunger", "folded": ["0 to 1"]},
        "crowd": {"kind": "cat", "heat": True},
    }))  # fmt: skip
    assert isinstance(command, Command)
    assert command.fields["watch"].agents == AgentsQuery(
        states=frozenset({"late", "idle"}), doing="", group="value", sort="utility", down=True, value="hunger",
        folded=frozenset({"0 to 1"}),
    )  # fmt: skip
    assert command.fields["watch"].crowd == CrowdQuery("cat", heat=True)


@pytest.mark.parametrize(
    "agents",
    [
        {"states": "late"}, {"states": ["odd"]}, {"states": [1]}, {"states": [[]]}, {"doing": 3}, {"group": "size"},
        {"sort": ["name"]}, {"sort": {}}, {"sort": "running"}, {"down": "yes"}, {"value": "x" * 501},
        {"folded": ["x"] * 201}, {"folded": ["x" * 501]}, {"folded": {}}, {"folded": [None, 3]},
    ],
)  # fmt: skip
def test_a_hostile_query_is_refused(agents):
    assert isinstance(read(json.dumps({"do": "watch", "agents": agents})), Denial)


@pytest.mark.parametrize("crowd", [[], 3, "all", {"kind": 3}, {"heat": "hot"}, {"kind": "x" * 501}])
def test_a_hostile_look_at_the_crowd_is_refused(crowd):
    assert isinstance(read(json.dumps({"do": "watch", "crowd": crowd})), Denial)
