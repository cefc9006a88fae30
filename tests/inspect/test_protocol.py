"""What clients send is hostile; what is sent to them is JSON whatever an author put into it."""

from __future__ import annotations

import json
import math

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from agentrt.inspect.protocol import (
    LONGEST_MESSAGE,
    AgentsQuery,
    Command,
    Denial,
    EventsQuery,
    TimelineQuery,
    WatchQuery,
    read,
    write,
)


def ask(**message):
    return read(json.dumps(message))


def test_a_watch_with_everything_in_it():
    command = ask(
        do="watch",
        agents={"filter": "an", "kind": "human", "running": "eat", "offset": 10, "limit": 50},
        agent="Ann",
        events={"agent": "Ann", "events": ["run", "stop"], "text": "eat"},
        timeline={"agent": "Ann", "first": 3, "last": 9},
        drawing=True,
    )
    assert command == Command(
        "watch",
        {
            "watch": WatchQuery(
                AgentsQuery("an", "human", "eat", 10, 50),
                "Ann",
                EventsQuery("Ann", frozenset({"run", "stop"}), "eat"),
                TimelineQuery("Ann", 3, 9),
                True,
            )
        },
    )


@pytest.mark.parametrize("message", [{}, {"agents": None, "agent": None, "events": None, "timeline": None}])
def test_an_empty_watch_watches_nothing(message):
    assert ask(do="watch", **message) == Command("watch", {"watch": WatchQuery()})


def test_defaults():
    assert ask(do="watch", agents={}, events={}, timeline={"agent": "Ann"}).fields["watch"] == WatchQuery(
        AgentsQuery("", "", "", 0, 100), None, EventsQuery(None, None, ""), TimelineQuery("Ann", 0, None)
    )
    assert ask(do="step") == Command("step", {"ticks": 1})
    assert ask(do="break", kind="action", name="Eat") == Command(
        "break", {"kind": "action", "name": "Eat", "agent": ""}
    )


def test_unknown_fields_are_passed_over():
    assert ask(do="pause", color="red") == Command("pause", {})


def test_whole_numbers_may_be_written_as_floats():
    assert read('{"do":"at","tick":12.0}') == Command("at", {"tick": 12})


@pytest.mark.states("tools: Inspector: The socket is hostile: bounded size, depth, rate and number; no code from ...")
@pytest.mark.parametrize(
    ("text", "code", "words"),
    [
        ("", "bad_message", "no JSON"),
        ("[]", "bad_message", "no JSON object"),
        ("{", "bad_message", "no JSON"),
        ("null", "bad_message", "no JSON object"),
        ("[" * 60_000, "bad_message", "nested too deeply"),
        ('{"do":"at","tick":' + "9" * 5000 + "}", "bad_message", "no JSON"),
        ('{"do":"speed","speed":NaN}', "bad_message", "no JSON"),
        ("{}", "unknown_command", "'do' has to be one of watch, pause"),
        ('{"do":["watch"]}', "unknown_command", "'do' has to be"),
        ('{"do":"eval"}', "unknown_command", "'do' has to be"),
        ('{"do":"at"}', "bad_message", "at: 'tick' has to be a whole number"),
        ('{"do":"at","tick":true}', "bad_message", "at: 'tick'"),
        ('{"do":"at","tick":1e400}', "bad_message", "at: 'tick'"),
        ('{"do":"at","tick":-1}', "bad_message", "at: 'tick'"),
        ('{"do":"at","tick":1.5}', "bad_message", "at: 'tick'"),
        ('{"do":"step","ticks":100001}', "bad_message", "step: 'ticks'"),
        ('{"do":"speed","speed":0}', "bad_message", "speed: 'speed' has to be a number from 0.01 to 1000"),
        ('{"do":"speed","speed":true}', "bad_message", "speed: 'speed'"),
        ('{"do":"speed","speed":1e400}', "bad_message", "speed: 'speed'"),
        ('{"do":"break","kind":"thread","name":"x"}', "bad_message", "break: 'kind' has to be one of action"),
        ('{"do":"break","kind":"action"}', "bad_message", "break: 'name' is missing"),
        ('{"do":"break","kind":"action","name":"' + "x" * 501 + '"}', "bad_message", "at most 500 characters"),
        ('{"do":"watch","agents":[]}', "bad_message", "watch: 'agents' has to be an object"),
        ('{"do":"watch","agents":{"limit":201}}', "bad_message", "watch: 'agents.limit' has to be a whole number"),
        ('{"do":"watch","agent":7}', "bad_message", "watch: 'agent' has to be a text"),
        ('{"do":"watch","drawing":1}', "bad_message", "watch: 'drawing' has to be true or false"),
        ('{"do":"watch","timeline":{}}', "bad_message", "watch: 'timeline.agent' is missing"),
        ('{"do":"watch","events":{"events":"run"}}', "bad_message", "'events.events' has to be a list"),
        ('{"do":"watch","events":{"events":[[]]}}', "bad_message", "'events.events' has to be a text"),
        ('"' + "x" * LONGEST_MESSAGE + '"', "bad_message", "at most 65536 bytes"),
    ],
)
def test_what_is_refused(text, code, words):
    refusal = read(text)
    assert isinstance(refusal, Denial)
    assert refusal.code == code
    assert words in refusal.message
    assert len(refusal.message) < 300  # nothing of what was sent is sent back


values = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats() | st.text(max_size=20),
    lambda inner: st.lists(inner, max_size=4) | st.dictionaries(st.text(max_size=8), inner, max_size=4),
    max_leaves=12,
)
fields = st.sampled_from(
    ["do", "agents", "agent", "events", "timeline", "tick", "ticks", "speed", "kind", "name", "id", "filter", "limit"]
)
dos = st.sampled_from(["watch", "step", "speed", "break", "unbreak", "at", "pause", "play", "resume", "x"])
messages = st.builds(lambda more, do: {**more, "do": do}, st.dictionaries(fields, values, max_size=6), dos)


@pytest.mark.states(
    "tools: Inspector: The socket is hostile: bounded size, depth, rate and number; no code from data",
    source="design 10",
)
@pytest.mark.slow
@settings(max_examples=50)
@given(st.text() | values.map(json.dumps) | messages.map(json.dumps))
def test_reading_never_raises(text):
    assert isinstance(read(text), (Command, Denial))


# --- writing ----------------------------------------------------------------------------------------------------------


class Odd:
    def __str__(self):
        return "odd"


def test_what_json_cannot_hold_is_text():
    circle = []
    circle.append(circle)
    message = {"a": math.inf, "b": [-math.inf], "c": 10**5000, "d": Odd(), "e": (1, 2), "f": 1.5, 3: None, "g": circle}
    found = json.loads(write(message))
    nested = found.pop("g")
    assert found == {
        "a": "inf", "b": ["-inf"], "c": "a large number", "d": "odd", "e": [1, 2], "f": 1.5, "3": None,
    }  # fmt: skip
    depth = 0
    while isinstance(nested, list):
        nested, depth = nested[0], depth + 1
    assert nested == "…"
    assert 100 < depth < 300


@given(values)
def test_whatever_is_written_can_be_read(value):
    def no_constant(name):
        raise AssertionError(name)

    json.loads(write({"value": value}), parse_constant=no_constant)


def test_half_characters_survive():
    assert json.loads(write({"name": "\ud800"})) == {"name": "\ud800"}
    write({"name": "\ud800"}).encode()  # it can be sent
