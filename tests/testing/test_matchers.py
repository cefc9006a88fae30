"""What can be claimed of a trace, and what a claim that is not so says."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from agentrt.errors import AgentRTError
from agentrt.kernel.trace import TraceEvent, TraceRecord
from agentrt.testing import Pattern, Simulation, TraceMismatch, between, happened, in_order, never, pairs
from agentrt.testing.matchers import fits_path


def record(line):
    """``3 Ann top/Eat start reason=x``"""
    tick, agent, path, event, *detail = line.split()
    told = tuple((name, int(value) if value.isdigit() else value) for name, value in (one.split("=") for one in detail))
    return TraceRecord(int(tick), agent, path, TraceEvent(event), told)


TRACE = [
    record(line)
    for line in (
        "1 Ann top/Live start",
        "1 Ann top/Live/mod:eat/Eat start",
        "2 Bob top/Live start",
        "3 Ann top/Live/mod:eat/Eat run",
        "5 Ann top/Live/mod:eat/Eat abort reason=choked times=2",
        "5 Ann top/Live/mod:eat/Eat stop",
        "5 Ann top/Live stop",
        "8 Ann top/Live start",
    )
]


def told(claim, *args, **fields):
    """What a claim says that is not so."""
    with pytest.raises(TraceMismatch) as info:
        claim(TRACE, *args, **fields)
    return str(info.value).removeprefix("[ART310] ").splitlines()


# --- patterns ---------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("pattern", "fits", "fails"),
    [
        ("Eat", ["Eat", "top/Eat", "top/Live/mod:eat/Eat"], ["Eats", "top/eat", "top/Eat/mod:chew", ""]),
        ("mod:eat/*", ["top/mod:eat/Eat", "mod:eat/Nibble"], ["mod:eat", "mod:eat/Eat/mod:chew", "x_mod:eat/Eat"]),
        ("/top/*", ["top/Live"], ["top", "a/top/Live", "top/Live/mod:eat"]),
        ("/top/**", ["top/Live", "top/Live/mod:eat/Eat"], ["top", "stop/Live"]),
        ("/top/**/Eat", ["top/Eat", "top/Live/mod:eat/Eat"], ["Eat", "top/Eat/mod:chew"]),
        ("Li*", ["top/Live", "Li"], ["top/Live/mod:eat", "Alive"]),
        ("a.c", ["a.c"], ["abc"]),
        ("**", ["a", "a/b"], [""]),
    ],
)
def test_paths(pattern, fits, fails):
    assert [path for path in fits if not fits_path(pattern, path)] == []
    assert [path for path in fails if fits_path(pattern, path)] == []


@given(path=st.lists(st.text("ab:.[]*$\n", min_size=1, max_size=3), min_size=1, max_size=4))
def test_a_path_without_stars_fits_itself_and_its_ends_and_nothing_else(path):
    path = [part.replace("*", "c") for part in path]  # not x, which stands for what it is not
    whole = "/".join(path)
    for begin in range(len(path)):
        assert fits_path("/".join(path[begin:]), whole)
    assert fits_path(f"/{whole}", whole)
    assert not fits_path(f"/{whole}", f"x/{whole}")
    assert not fits_path(whole, f"{whole}/x")
    assert not fits_path(f"x{whole}", whole)


def test_what_is_not_given_does_not_matter():
    assert [number for number, one in enumerate(TRACE) if Pattern().matches(one)] == list(range(8))
    assert [number for number, one in enumerate(TRACE) if Pattern("start").matches(one)] == [0, 1, 2, 7]
    assert [number for number, one in enumerate(TRACE) if Pattern(agent="Bob").matches(one)] == [2]
    assert [number for number, one in enumerate(TRACE) if Pattern(tick=5).matches(one)] == [4, 5, 6]
    assert [number for number, one in enumerate(TRACE) if Pattern(tick=lambda tick: tick > 5).matches(one)] == [7]
    assert [number for number, one in enumerate(TRACE) if Pattern(reason="choked").matches(one)] == [4]
    assert [number for number, one in enumerate(TRACE) if Pattern(times=lambda times: times > 1).matches(one)] == [4]
    assert [number for number, one in enumerate(TRACE) if Pattern("start", path="Eat", agent="Ann").matches(one)] == [1]


def test_an_event_that_there_is_not_is_a_mistake():
    with pytest.raises(ValueError, match="'began' is not a valid TraceEvent"):
        Pattern("began")


def test_a_pattern_is_whole():
    with pytest.raises(TypeError, match="is a whole pattern: write agent into it"):
        happened(TRACE, Pattern("start"), agent="Ann")


def test_a_pattern_says_what_it_is():
    def late(tick):
        return tick > 5

    assert repr(Pattern("abort", agent="Ann", path="Eat", tick=late, reason="choked")) == (
        "<abort agent='Ann' path='Eat' tick=late reason='choked'>"
    )
    assert repr(Pattern()) == "<any record>"


# --- claims -----------------------------------------------------------------------------------------------------------


def test_happened_gives_the_first():
    assert happened(TRACE, "start", agent="Ann") is TRACE[0]
    assert happened(TRACE, Pattern("start", agent="Bob")) is TRACE[2]
    assert happened(iter(TRACE), "start", agent="Ann", times=3) is TRACE[0]


@pytest.mark.states("tools: Test kit and log: Claims about a trace show the nearest records when they are not so")
def test_what_did_not_happen_shows_what_comes_nearest_and_why_not():
    assert told(happened, "start", agent="Ann", path="Eet") == [
        "<start agent='Ann' path='Eet'> did not happen.",
        "the nearest:",
        "  1 Ann top/Live/mod:eat/Eat start  (the path is 'top/Live/mod:eat/Eat')",
        "  8 Ann top/Live start  (the path is 'top/Live')",
        "  1 Ann top/Live start  (the path is 'top/Live')",
        "  5 Ann top/Live/mod:eat/Eat stop  (the event is 'stop', the path is 'top/Live/mod:eat/Eat')",
    ]
    assert told(happened, "abort", reason="bored", tick=6, by="him")[2] == (
        "  5 Ann top/Live/mod:eat/Eat abort reason='choked' times=2  (the tick is 5, reason is 'choked', it has no 'by')"
    )
    with pytest.raises(TraceMismatch, match=r"did not happen\.\nthere are no records here\n"):
        happened([], "start")


def test_how_often_it_happened():
    assert told(happened, "stop", times=1) == [
        "<stop> happened 2 times and not 1 time.",
        "  5 Ann top/Live/mod:eat/Eat stop",
        "  5 Ann top/Live stop",
    ]
    many = [record(f"{tick} Ann top start") for tick in range(12)]
    with pytest.raises(TraceMismatch, match="and 4 more\n"):
        happened(many, "start", times=1)


def test_never():
    never(TRACE, "start", path="Drink")
    assert told(never, "abort") == [
        "<abort> happened 1 time and was never to happen.",
        "  5 Ann top/Live/mod:eat/Eat abort reason='choked' times=2",
    ]


def test_in_order():
    found = in_order(TRACE, Pattern("start", path="Eat"), Pattern("run"), Pattern("stop"), Pattern("stop"))
    assert found == [TRACE[1], TRACE[3], TRACE[5], TRACE[6]]
    assert in_order(TRACE) == []


def test_what_came_too_early_is_said():
    assert told(in_order, Pattern("stop", path="Eat"), Pattern("run")) == [
        "<run> did not come after '5 Ann top/Live/mod:eat/Eat stop'.",
        "it came before that: 3 Ann top/Live/mod:eat/Eat run",
        "the nearest:",
        "  8 Ann top/Live start  (the event is 'start')",
        "  5 Ann top/Live stop  (the event is 'stop')",
    ]
    assert told(in_order, Pattern("finish"))[0] == "<finish> did not come."


def test_between():
    assert between(TRACE, Pattern("run"), Pattern("stop")) == TRACE[3:6]
    never(between(TRACE, Pattern("run"), Pattern("stop")), "start")
    assert told(between, Pattern("stop"), Pattern("run"))[0].startswith("<run> did not come after")
    assert told(between, Pattern("finish"), Pattern("run"))[0] == "<finish> did not come."


def test_pairs():
    closed = TRACE[:2] + TRACE[3:7]
    assert pairs(closed, "start", "stop") == [(TRACE[1], TRACE[5]), (TRACE[0], TRACE[6])]
    assert pairs(TRACE, "start", "stop", may_stay_open=True) == pairs(closed, "start", "stop")


def test_what_does_not_pair_shows_what_happened_there():
    assert told(pairs, "start", "stop") == ["<stop> never came for 2 openings.", "  2 Bob top/Live start"]
    assert told(pairs, "run", "stop") == [
        "closed without <run>: 5 Ann top/Live stop.",
        "  1 Ann top/Live start",
        "  5 Ann top/Live stop",
        "  8 Ann top/Live start",
    ]
    assert told(pairs, "start", "finish")[0] == "opened again without <finish>: 8 Ann top/Live start."


opened = st.lists(st.tuples(st.sampled_from(["start", "stop"]), st.sampled_from("xy")), max_size=12)


@pytest.mark.states("tools: Test kit and log: Claims about a trace show the nearest records when they are not so ...")
@given(opened)
def test_pairs_is_what_counting_says(course):
    """Of each place: never more than one open, never less than none, and none at the end."""
    trace = [record(f"1 Ann {path} {event}") for event, path in course]
    levels = {"x": [0], "y": [0]}
    for event, path in course:
        levels[path].append(levels[path][-1] + (1 if event == "start" else -1))
    is_sound = all(set(level) <= {0, 1} for level in levels.values())
    is_closed = all(level[-1] == 0 for level in levels.values())

    def claim(**options):
        try:
            return len(pairs(trace, "start", "stop", **options))
        except TraceMismatch:
            return None

    expected = sum(event == "stop" for event, _ in course)
    assert claim() == (expected if is_sound and is_closed else None)
    assert claim(may_stay_open=True) == (expected if is_sound else None)


# --- what it is for tests ---------------------------------------------------------------------------------------------


def test_a_mismatch_is_a_failed_assertion_and_an_error_of_ours():
    with pytest.raises(AssertionError) as info:
        never(TRACE, "abort")
    assert isinstance(info.value, AgentRTError)
    assert info.value.code == "ART310"
    assert info.value.claim == "<abort> happened 1 time and was never to happen"
    assert len(info.value.shown) == 1


def test_a_simulation_is_a_trace():
    sim = Simulation()
    sim.runtime.note("rain", drops=7)
    assert happened(sim, "note", text="rain", drops=7).tick == 0
    assert happened(sim.trace, "note") is happened(sim, "note")
    sim.close()
