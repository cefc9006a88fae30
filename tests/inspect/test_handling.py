"""Changes by hand over the socket: who may, what is told when, what is bounded, and what is left behind."""

from __future__ import annotations

import pytest
from modules import load

from agentrt.inspect.live import LiveSource
from agentrt.record.hands import HAND, hands_of, lay_hands
from agentrt.record.replay import replay

of = load("tests/inspect/village.py")


def answers(client):
    return [(one["id"], one["ok"], one["field"], one["message"]) for one in client.told("hand")]


def never(**_args):
    """Takes anything."""


@pytest.mark.states(
    "tools: Hands: Who asked is told at once what is wrong, with its field, or after the tick what came of it"
)
def test_what_is_told(watched):
    watched.runtime.on_input("knock", lambda who="nobody", times=1: None)
    client, other = watched.client(), watched.client()
    client.ask("hand", id=1, edit={"disable": "action", "of": "Eat", "agent": "Ann"})
    client.ask("hand", id=2, edit={"disable": "action", "of": "Eats"})
    client.ask("hand", id=3, edit={"set": "utility", "of": "Eat", "to": 7})
    client.ask("hand", id=4, edit={"send": "knock", "args": {"times": "x"}})
    client.ask("hand", id=5, edit={"send": "knok", "args": {}})
    client.ask("hand", id=6, edit={"set": "priority", "of": "Star", "to": 3, "agent": "Bob"})
    client.ask("hand", id=7, edit={"revoke": "mod:ai_pack:song"})  # actions that were given by their class are no packs
    watched.tick(3)
    assert sorted(answers(client)) == [
        (1, True, "", "tick 2: disable action Eat of Ann"),
        (2, False, "/of", "nobody has an action 'Eats'. Did you mean 'Eat'? There are Live, Eat, Rest."),
        (3, False, "/to", "a utility is a number from 0 to 1 or a pair [low, high] of them, and not 7. Write 0.7, "
         "or [0.2, 0.7] for an action that declares a range."),
        (4, False, "/args/times", "'times' is a whole number, and not 'x'. Give a whole number."),
        (5, False, "/send", "nobody takes the input 'knok'. Did you mean 'knock'? There are knock."),
        (6, False, "/of", "nobody has a goal 'Star'. Did you mean 'Stare'? The goals are: Stare."),
        (7, False, "/of", "nobody was given a pack 'mod:ai_pack:song'. There is none of the kind."),
    ]  # fmt: skip
    assert answers(other) == []
    for one in (client, other):
        told = one.last("hands")
        assert told["force"] == [["Ann", "disable", "action", "Eat", 2]]
        assert [mark[2] for mark in told["marks"]] == [
            "disable action Eat of Ann", "disable action Eats of everybody", "set priority Star to 3 of Bob",
            "revoke mod:ai_pack:song, everybody",
        ]  # fmt: skip


def test_what_can_be_changed_is_told_to_who_asks(watched):
    def knock(who: str, times: int = 1):
        """Somebody knocks."""

    watched.runtime.on_input("knock", knock)
    client, other = watched.client(agent="Bob", hands=True), watched.client(agent="Bob")
    watched.tick(3)
    told = client.last("offers")
    assert told["offers"]["goal"] == ["Stare"]
    assert told["offers"]["decider"] == ["AWAKE", "ASLEEP"]
    (form,) = told["forms"]
    assert (form["name"], form["about"]) == ("knock", "Somebody knocks.")
    assert [field["name"] for field in form["fields"]] == ["who", "times"]
    assert other.told("offers") == []


def test_without_controls_nothing_is_offered(village):
    watched = of.Watched(village, controls=False)
    client = watched.client(agent="Bob", hands=True)
    client.ask("hand", id=1, edit={"abort": "plan"})
    watched.tick(3)
    assert client.told("offers") == []
    assert client.errors() == ["read_only"]
    assert hands_of(village) is None
    watched.source.detach()


@pytest.mark.states("tools: Hands: Until somebody changes something, a runtime with controls is as one without")
def test_controls_alone_leave_no_trace(watched):
    client = watched.client(agent="Bob", hands=True)
    watched.tick(3)
    assert watched.runtime.inputs == ()
    client.ask("hand", id=1, edit={"abort": "plan"})
    watched.tick(2)
    assert watched.runtime.inputs == (HAND,)


def test_changes_wait_while_it_is_paused_and_are_bounded(watched):
    watched.runtime.gate.pause("a menu")
    client, other = watched.client(), watched.client()
    for number in range(70):
        client.ask("hand", id=number, edit={"disable": "action", "of": "Eat"})
        watched.runtime.step()
    other.ask("hand", id=1, edit={"disable": "action", "of": "Rest"})
    watched.runtime.step()
    watched.clock.now += 1
    watched.runtime.step()
    assert [number for number, ok, _, _ in answers(client) if not ok] == list(range(64, 70))
    assert answers(other) == []
    watched.runtime.gate.resume()
    watched.tick(2)
    assert len([1 for _, ok, _, _ in answers(other) if ok]) == 1


@pytest.mark.parametrize(
    "edit",
    [
        {},
        {"force": ["action"], "of": "Eat"},
        {"force": "action", "of": {"a": 1}},
        {"force": "action", "of": "<img src=x onerror=alert(1)>"},
        {"force": "action", "of": "x" * 10_000},
        {"set": "utility", "of": "Eat", "to": [[[[]]]]},
        {"set": "utility", "of": "Eat", "to": 10**400},
        {"inject": "os:system:rm"},
        {"inject": "../../etc/passwd"},
        {"revoke": "mod:ai_pack:none"},
        {"send": "__class__", "args": {}},
        {"send": HAND, "args": {"edit": {"abort": "plan"}}},
        {"send": "any", "args": {"a": {"b": {"c": [{}] * 1000}}}},
        {"send": "any", "args": {"self": 1, "name": 2, "edit": 3}},
        {"send": "broken", "args": {}},
        {"abort": "plan", "agent": "nobody"},
    ],
)
def test_whatever_a_client_sends_the_run_goes_on(watched, edit):
    def broken():
        raise RuntimeError("no")

    watched.runtime.on_input("any", never)
    watched.runtime.on_input("broken", broken)
    client = watched.client()
    client.ask("hand", id=9, edit=edit)
    watched.tick(10)
    assert watched.runtime.tick == 10
    assert [number for number, _, _, _ in answers(client)] in ([9], [])


@pytest.mark.states("tools: Hands: An inspector that leaves frees what its clients have put in force, by an input")
def test_leaving_frees(village, tmp_path):
    path = tmp_path / "run.sqlite"
    with village.record(path, world="village"):
        watched = of.Watched(village)
        client = watched.client()
        client.ask("hand", id=1, edit={"force": "action", "of": "Rest"})
        client.ask("hand", id=2, edit={"disable": "goal", "of": "Stare"})
        client.ask("hand", id=3, edit={"free": "goal", "of": "Stare"})
        watched.tick(6)
        assert len(hands_of(village).in_force()) == 3
        watched.source.detach()
        for _ in range(6):
            village.step()
        assert hands_of(village).in_force() == []
    report = replay(path, lambda *, seed, host: of.make_village(host, seed=seed))
    assert report.is_same, report.as_text()
    assert report.sent == 4


def test_two_inspectors(village):
    first, second = of.Watched(village), LiveSource(village, "second", controls=True, clock=of.Clock())
    second.attach()
    client = first.client()
    client.ask("hand", id=1, edit={"disable": "action", "of": "Eat"})
    first.tick(3)
    second.detach()
    first.tick(3)
    assert len(hands_of(village).in_force()) == 3  # what the first one did stays
    first.source.detach()


@pytest.mark.states("tools: Hands: A recording shows what came in as marks")
def test_a_recording_shows_marks(village, tmp_path):
    path = tmp_path / "run.sqlite"
    village.on_input("knock", never)
    lay_hands(village)
    with village.record(path):
        village.step()
        village.send(HAND, edit={"disable": "goal", "of": "Stare", "agent": "Bob"})
        village.send("knock", who="x")
        village.step()
        village.send(HAND, edit={"disable": "goal", "of": "Star"})
        village.step()
    served = of.Round(path)
    client = served.client(agent="Ann")
    served.serve(3)
    told = client.last("hands")
    assert told["force"] == []
    assert told["marks"] == [[2, "Bob", "disable goal Stare of Bob", ""], [2, "", "knock {'who': 'x'}", ""], [
        3, "", "disable goal Star of everybody", "nobody has a goal 'Star'. Did you mean 'Stare'? There are Stare.",
    ]]  # fmt: skip
    client.ask("hand", id=1, edit={"abort": "plan"})
    served.serve(2)
    assert client.errors() == ["not_live"]
