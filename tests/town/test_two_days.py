"""Two days of the town: what must happen, and what must hold. The run is made once for all of these."""

from __future__ import annotations

import pytest

from agentrt.drawing import Drawing
from agentrt_examples.town.hours import DAY, HOUR
from agentrt_examples.town.people import GOODS

pytestmark = pytest.mark.slow

FEW = 3  # ticks that a new plan may take


def test_nothing_fails_and_nobody_ever_stands_still(two_days):
    assert two_days.faults == []
    assert max(two_days.idle.values()) <= FEW
    assert all(agent.is_alive for agent in two_days.game.agents)


def test_everybody_lives_their_life(two_days):
    for person in two_days.town.people.values():
        assert person.meals >= 2
        assert person.slept >= 8 * HOUR
        assert person.worked >= 1
        assert person.lines >= 4
        assert len(person.knows) >= 3


def test_news_spread_from_one_to_many(two_days):
    town = two_days.town
    begun = {event.text.removeprefix("knows that ") for event in two_days.kinds("news begun")}
    spread = [
        sum(rumor.name in person.knows for person in town.people.values())
        for rumor in town.rumors.values()
        if rumor.text in begun and rumor.tick < DAY
    ]
    assert sum(count >= 6 for count in spread) >= 3
    # who was told something was told it by somebody who knew it
    known = {}
    for event in two_days.events:
        if event.kind == "news begun":
            known.setdefault(event.text.removeprefix("knows that "), set()).add(event.who)
        elif event.kind == "news passed on":
            by, _, text = event.text.removeprefix("heard from ").partition(" that ")
            assert by in known[text]
            known[text].add(event.who)


def test_a_party_takes_place_because_somebody_planned_it(two_days):
    kinds = ("ideas", "parties planned", "invitations", "guests", "parties held")
    first = [next(event.tick for event in two_days.events if event.kind == kind) for kind in kinds]
    assert first == sorted(first)  # in this order
    party = two_days.town.parties[0]
    assert party.is_over
    assert len(party.came) >= 4
    assert party.host in party.came
    assert {*party.came} - {party.host} <= {*party.guests} <= {*party.invited}
    arrived = [event for event in two_days.kinds("guests") if event.tick < party.end]
    assert all(event.tick >= party.tick for event in arrived)


def test_people_quarrel_and_make_up(two_days):
    assert two_days.kinds("quarrels")
    assert two_days.kinds("made up")
    for person in two_days.town.people.values():
        assert all(-100 <= liking <= 100 for liking in person.liking.values())
        assert person.name not in person.liking


def test_a_loaf_that_is_eaten_was_baked(two_days):
    town = two_days.town
    for kind in GOODS:
        assert town.stock[kind] == 16 + town.made[kind] - town.used[kind]
        assert town.stock[kind] >= 0
    assert town.used["bread"] == len(two_days.kinds("loaves eaten"))
    assert town.made["bread"] == 3 * len(two_days.kinds("bread made"))
    assert town.used["flour"] == len(two_days.kinds("bread made"))
    meals = len(two_days.kinds("loaves eaten")) + len(two_days.kinds("berries eaten"))
    assert meals == sum(person.meals for person in town.people.values())


def test_nobody_talks_for_ever_and_nobody_is_left_over(two_days):
    talks = two_days.town.talks
    assert all(not conversation.is_over for conversation in talks.open.values())
    assert {*two_days.town.kinds} <= {*talks.open}
    assert len(two_days.town.bodies) == 12 + len(two_days.town.wolves)


def test_the_mind_is_asked_in_bounds(two_days):
    mind = two_days.mind.snapshot()
    assert mind.overruns == 0
    assert len(two_days.became("answered")) > 300
    assert len(two_days.became("outpaced")) > 10  # rules are quicker
    assert two_days.became("failed") == []


def test_what_is_there_can_be_drawn(two_days):
    drawing = two_days.runtime.draw()
    assert isinstance(drawing, Drawing)
    assert (drawing.width, drawing.height) == (40, 24)
    assert len(drawing.marks) < 100
    assert Drawing.from_json(drawing.as_json()) == drawing
    assert {mark.agent for mark in drawing.marks.values()} - {""} >= {*two_days.town.people}
