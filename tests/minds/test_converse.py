"""Conversations: by turns, remembered, heard; broken off by what is better; never holding anybody."""

from __future__ import annotations

import pytest
import walkers

from agentrt import TOP, CompoundAction, step
from agentrt.minds import Attend, Converse, MemoryStream, Talks


class Meet(CompoundAction):
    does = TOP
    utility = 0.6
    steps = [step("t:talk", who="?")]

    @classmethod
    def with_(cls, who):
        return type("Meets", (cls,), {"steps": [step("t:talk", who=who)]})


class Talk(Converse):
    does = "t:talk"
    utility = 0.5
    most_lines = 4
    pace = 100.0

    def about(self, ctx, args):
        return "the wolf"


class Listen(Attend):
    does = TOP
    utility = 0.7
    most_lines = 4
    pace = 100.0


class Flee(walkers.Flee):
    seconds = 100


def says(asked):
    number = len(asked.seen["said"])
    return {"say": f"{asked.agent} says {number}", "is_over": False}


@pytest.fixture
def two(place):
    def two(answer=says, listens=Listen, **options):
        here = place(answer, **options)
        bob = here.person("Bob", *([listens] if listens else []), Flee)
        bob.entity.add(MemoryStream())
        ann = here.person("Ann", Meet.with_(bob.entity), Talk, Flee)
        ann.entity.add(MemoryStream())
        here.heard = []
        Talks.of(here.runtime).said.connect(
            lambda line: here.heard.append((here.runtime.tick, line.speaker.name, line.text))
        )
        return here, ann, bob

    return two


def test_they_talk_by_turns_remember_it_and_go_on_with_their_lives(two):
    here, ann, bob = two()
    here.tick(70)
    assert [one[1:] for one in here.heard][:4] == [
        ("Ann", "Ann says 0"), ("Bob", "Bob says 1"), ("Ann", "Ann says 2"), ("Bob", "Bob says 3")
    ]  # fmt: skip
    for one in (ann, bob):
        memory = one.entity[MemoryStream]
        assert [(entry.by, entry.text) for entry in memory.entries][:4] == [who[1:] for who in here.heard[:4]]
    assert here.faults == []


def test_what_the_speaker_sees(two):
    seen = []

    def answer(asked):
        seen.append(asked)
        return {"say": "x", "is_over": True}

    here, _, _ = two(answer)
    here.tick(20)
    asked = seen[0]
    assert (asked.seen["name"], asked.seen["partner"], asked.seen["topic"].text) == ("Ann", "Bob", "the wolf")
    assert asked.request.system.startswith("You are Ann, a character of a game, and you talk with Bob.")


def test_one_word_may_end_it(two):
    here, _, bob = two(lambda asked: {"say": "Bye.", "is_over": True})
    here.tick(20)
    talks = Talks.of(here.runtime)
    assert [one[1:] for one in here.heard][:1] == [("Ann", "Bye.")]
    assert talks.is_free(bob) or talks.open[bob.name].lines == []
    assert here.faults == []


@pytest.mark.parametrize("who", ["Ann", "Bob"])
def test_a_wolf_comes_and_the_other_goes_on(two, who):
    here, ann, bob = two(latency=0.5)
    here.tick(22)
    assert len(here.heard) == 1
    flees, stays = (ann, bob) if who == "Ann" else (bob, ann)
    flees.entity.signal("wolf").emit()
    here.tick(3)
    assert flees.snapshot().running == "agentrt:top/Flee"
    assert Talks.of(here.runtime).open == {} or stays.name in Talks.of(here.runtime).open
    here.tick(10)
    assert "Talk" not in flees.snapshot().running
    assert "Listen" not in stays.snapshot().running
    assert here.faults == []


def test_who_does_not_listen_is_not_waited_for(two):
    here, _, bob = two(listens=None)
    here.tick(110)
    assert here.heard == []
    assert Talks.of(here.runtime).is_free(bob) or len(Talks.of(here.runtime).open) == 2
    assert here.mind.calls == 0
    assert here.faults == []


def test_somebody_who_talks_already_is_not_free(two):
    here, ann, bob = two(latency=1.0)
    cyd = here.person("Cyd", Meet.with_(bob.entity), Talk)
    here.tick(10)
    assert Talks.of(here.runtime).open["Bob"].members == (ann, bob)
    assert "Cyd" not in Talks.of(here.runtime).open
    assert cyd.snapshot().running == "agentrt:top/Idle"


def test_who_has_no_words_ends_it(two):
    def answer(asked):
        if asked.agent == "Bob":
            raise OSError("no line")
        return {"say": "Hello?", "is_over": False}

    here, _, _ = two(answer, retries=0, latency=0.1)
    here.tick(40)
    assert {one[1] for one in here.heard} == {"Ann"}
    assert here.faults == []


@pytest.mark.parametrize(
    "line",
    [{"say": "", "is_over": False}, {"say": "x" * 301, "is_over": False}, {"say": "x"}, {"say": 3, "is_over": 1}],
)
def test_what_is_no_line_is_not_said(two, line):
    here, _, _ = two(lambda asked: line, latency=0.05)
    here.tick(30)
    assert here.heard == []
    assert here.faults == []


def test_a_partner_that_leaves_the_game(two):
    here, ann, bob = two(latency=0.5)
    here.tick(22)
    here.runtime.remove(bob, "gone")
    here.tick(5)
    assert Talks.of(here.runtime).open == {}
    assert "Talk" not in ann.snapshot().running
    assert here.faults == []
