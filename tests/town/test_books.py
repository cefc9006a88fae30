"""What the town keeps books of, and its script, one at a time: rumors, parties, goods, lines."""

from __future__ import annotations

import pytest

from agentrt.kernel import Stream
from agentrt.minds import Asked, ModelRequest, Said
from agentrt_examples.colony.bodies import Position
from agentrt_examples.town.chart import PLACES
from agentrt_examples.town.hours import BEAT, HOUR
from agentrt_examples.town.script import answer, latency
from agentrt_examples.town.wolves import bring_wolf

LINE = {"say": {"type": "string"}, "is_over": {"type": "boolean"}}


@pytest.fixture
def town(watched):
    return watched().town


def test_a_rumor_is_known_by_who_was_told(town):
    alma, bertil = town.people["Alma"], town.people["Bertil"]
    old = town.rumor("old", "it is old", "Alma")
    new = town.rumor("new", "it is new", "Alma")
    assert town.newest is new
    assert town.news_for(alma, bertil) is new
    assert town.learn(bertil, new, by="Alma")
    assert not town.learn(bertil, new, by="Ida")
    assert town.news_for(alma, bertil) is old
    assert town.news_for(bertil, alma) is None


def test_what_is_old_is_forgotten_by_everybody(town):
    """Or a town would get heavier from day to day; and who is told just then of what is forgotten learns nothing."""
    alma, bertil = town.people["Alma"], town.people["Bertil"]
    old = town.rumor("old", "it is old", "Alma")
    for number in range(64):
        assert "old" in town.rumors
        town.rumor(f"new {number}", "it is new", "Alma", "Bertil")
    assert (len(town.rumors), len(alma.knows), len(bertil.knows)) == (64, 64, 64)
    assert "old" not in {*town.rumors, *alma.knows}
    assert not town.learn(bertil, old, by="Alma")
    assert town.news_for(alma, bertil) is None
    for _ in range(20):
        party = town.plan_party(alma, "inn", 19)
    assert (len(town.parties), town.parties[-1]) == (16, party)
    assert party.rumor == "party 20"


def test_a_party_is_of_those_who_were_invited_and_liked_the_idea(town):
    host, friend, foe, stranger = (town.people[name] for name in ("Alma", "Bertil", "Cilla", "Didrik"))
    friend.liking["Alma"], foe.liking["Alma"] = 30, -30
    party = town.plan_party(host, "inn", 19)
    assert town.next_party is party
    assert party.tick == 13 * HOUR
    for guest in (friend, foe, friend):
        town.invite(host, guest)
    assert (party.invited, party.guests) == (["Bertil", "Cilla"], ["Bertil"])
    assert (friend.party, foe.party, stranger.party) == (party, None, None)
    for one in (host, friend, foe, friend):
        town.arrive(one)
    assert party.came == ["Alma", "Bertil"]
    town.invite(stranger, foe)  # who gives none invites to none
    assert party.invited == ["Bertil", "Cilla"]


def test_work_takes_and_makes(town):
    miller, smith = town.people["Bertil"], town.people["Didrik"]
    town.stock["grain"] = 1
    for _ in range(2):
        town.make(miller)
        town.make(smith)
    assert (town.made["flour"], town.used["grain"], town.stock["grain"]) == (3, 1, 0)
    assert (miller.worked, smith.worked) == (2, 2)


def test_feelings_have_bounds(town):
    alma, ida = town.people["Alma"], town.people["Ida"]
    for _ in range(50):
        alma.like("Ida", -9)
        alma.feel(-9)
        alma.need(hunger=90, rest=90, company=-90)
    assert (alma.likes("Ida"), alma.mood, alma.hunger, alma.rest, alma.company) == (-100, -100, 1.0, 1.0, 0.0)
    town.made_up(alma, ida)
    assert "made up" not in town.counts  # not yet
    alma.like("Ida", 200)
    ida.liking["Alma"] = 5
    town.made_up(alma, ida)
    assert town.counts["made up"] == 1
    town.quarreled(alma, ida)
    assert (alma.quarrels, ida.quarrels, town.newest.text) == (1, 1, "Alma and Ida had words")


def test_a_wolf_bites_who_stands_outside_and_goes(watched):
    here = watched()
    town = here.town
    body = town.bodies["Lars"]
    body[Position].place(PLACES["square"][0])
    wolf = bring_wolf(town)
    wolf.entity[Position].place(PLACES["square"][1])
    here.tick(2)
    assert town.people["Lars"].bites == 1
    assert town.people["Lars"].doing.endswith("from the wolf")
    assert wolf.name in town.people["Lars"].knows
    here.tick(4 * BEAT)
    assert here.faults == []


# --- the script -------------------------------------------------------------------------------------------------------


def asked(properties, seen, options=(), number=1):
    request = ModelRequest("", "", {"properties": properties}, 100)
    return Asked("Alma", "", 1, request, seen, options, Stream(number))


SEEN = {"kind": "chat", "said": [], "partner": "Ida", "topic": Said("Alma", "this"), "news": "none", "job": "baker",
        "mood": "calm", "feeling": "knows"}  # fmt: skip


@pytest.mark.parametrize("kind", ["chat", "quarrel", "make up", "invite"])
@pytest.mark.parametrize("said", range(6))
def test_the_script_has_a_line_for_everything(kind, said):
    for number in range(20):
        seen = {**SEEN, "kind": kind, "said": [Said("Ida", "well")] * said, "news": Said("the town", "{it} is new")}
        given = answer(asked(LINE, seen, number=number))
        assert 1 <= len(given["say"]) <= 300
        assert given["is_over"] is True or said < 6
        assert ("{it} is new" in given["say"]) == (kind != "quarrel")
        assert 0.5 <= latency(asked(LINE, seen, number=number)) <= 2.0


def test_the_script_chooses_from_the_menu_and_by_the_mood():
    options = [
        {"activity": "town:chat", "args": {"who": ["Ida", "Lars"]}},
        {"activity": "town:quarrel", "args": {"who": ["Lars"]}},
        {"activity": "town:make_up", "args": {"who": ["Lars"]}},
        {"activity": "town:stroll", "args": {"place": ["inn"]}},
    ]
    chosen = {}
    for mood in ("cross", "calm"):
        for number in range(100):
            given = answer(asked({"activity": {}}, {"mood": mood, "lonely": 0.0}, options, number))
            option = next(one for one in options if one["activity"] == given["activity"])
            assert all(given["args"][name] in choices for name, choices in option["args"].items())
            chosen[mood, given["activity"]] = chosen.get((mood, given["activity"]), 0) + 1
    assert chosen["cross", "town:quarrel"] > chosen["calm", "town:quarrel"]
    assert chosen["calm", "town:make_up"] > chosen["cross", "town:make_up"]


def test_the_script_plans_a_place_and_then_guests():
    options = [
        {"activity": "town:book", "args": {"place": ["inn"], "hour": ["19 o'clock"]}},
        {"activity": "town:invite", "args": {"who": ["Ida", "Lars", "Elna"]}},
    ]
    given = answer(asked({"steps": {"maxItems": 3}}, {}, options))
    steps = [(step["activity"], *step["args"].values()) for step in given["steps"]]
    assert steps == [("town:book", "inn", "19 o'clock"), ("town:invite", "Ida"), ("town:invite", "Lars")]


def test_the_script_sums_up():
    for number in range(20):
        seen = {"remembered": ["it rains", Said("Ida", "well"), Said("Ida", "so"), Said("Lars", "no")]}
        (told,) = answer(asked({"conclusions": {}}, seen, number=number))["conclusions"]
        assert "Ida" in told or told.startswith("What stays with me: ")
    assert answer(asked({"conclusions": {}}, {"remembered": []}))["conclusions"] == ["Nothing ever happens here."]
