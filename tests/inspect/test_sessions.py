"""Between two threads: what is bounded, and what is counted when it is dropped."""

from __future__ import annotations

from agentrt.inspect.protocol import Command, EventsQuery, TimelineQuery, WatchQuery
from agentrt.inspect.sessions import Session


class Sent:
    def __init__(self):
        self.batches = []
        self.is_there = True
        self.session = Session(self.take)

    def take(self, batch):
        self.batches.append(batch)
        return self.is_there


def test_commands_are_bounded():
    session = Sent().session
    command = Command("pause", {})
    assert [session.submit(command) for _ in range(70)] == [True] * 64 + [False] * 6
    session.commands.popleft()
    assert session.submit(command)


def test_notices_are_bounded_and_go_first():
    sent = Sent()
    for number in range(40):
        sent.session.refuse(f"no {number}", "no")
    sent.session.post([{"is": "state"}], 0.0)
    (batch,) = sent.batches
    assert [message.get("message") for message in batch] == [f"no {number}" for number in range(8, 40)] + [None]
    assert sent.session.held_back == 8
    sent.session.arrived()
    sent.session.post([], 1.0)
    assert len(sent.batches) == 1  # nothing to say


def test_one_batch_on_the_way():
    sent = Sent()
    session = sent.session
    assert session.is_due(0.0)
    session.post([{"is": "state"}], 0.0)
    assert not session.is_due(0.05)
    assert [session.is_due(at) for at in (0.125, 0.25, 0.5)] == [False, False, False]
    assert session.held_back == 1  # one batch was late
    session.arrived()
    assert session.is_due(1.0)
    session.post([{"is": "state"}], 1.0)
    session.hurry()
    assert not session.is_due(1.01)
    session.arrived()
    session.hurry()
    assert session.is_due(1.02)


def test_nobody_is_there_any_more():
    sent = Sent()
    sent.is_there = False
    sent.session.post([{"is": "state"}], 0.0)
    assert not sent.session.is_open


def test_looking_at_something_else_forgets_what_was_told_of_it():
    session = Sent().session
    session.look_at(WatchQuery(agent="Ann", timeline=TimelineQuery("Ann"), events=EventsQuery()))
    session.wants_reset = False
    session.told.update(agent=1, timeline=2, outlines=3, state=4)
    session.look_at(WatchQuery(agent="Ann", timeline=TimelineQuery("Bob"), events=EventsQuery()))
    assert session.told == {"agent": 1, "outlines": 3, "state": 4}
    assert not session.wants_reset
    session.look_at(WatchQuery(agent="Bob", timeline=TimelineQuery("Bob"), events=EventsQuery("Bob")))
    assert session.told == {"state": 4}
    assert session.wants_reset


def test_rarely():
    session = Sent().session
    assert [session.at_most_every(0.5, "agents", at) for at in (0.0, 0.25, 0.5, 0.75)] == [True, False, True, False]
    assert session.at_most_every(0.5, "timeline", 0.75)
