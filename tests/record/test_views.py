"""Views of agents: patches put together give what was there, and a recording knows what an agent did in any tick."""

from __future__ import annotations

import copy
import itertools

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from modules import load

from agentrt.errors import RecordingError
from agentrt.record import views
from agentrt.record.lines import unpack
from agentrt.record.views import altered, difference, patched
from agentrt.snapshot import explain

camp = load("tests/record/camp.py")

plain = st.recursive(
    st.one_of(st.none(), st.booleans(), st.integers(-3, 3), st.floats(allow_nan=False), st.sampled_from("ab")),
    lambda inner: st.one_of(
        st.lists(inner, max_size=4), st.dictionaries(st.sampled_from("=~#-abc"), inner, max_size=4)
    ),
    max_leaves=15,
)


@settings(max_examples=60)
@given(plain, plain)
def test_a_patch_makes_the_new_of_the_old(old, new):
    before = copy.deepcopy(old)
    patch = difference(old, new)
    assert (patch is None) == (old == new)
    if patch is not None:
        assert patched(old, patch, "file") == new
    assert old == before
    if patch is not None:
        assert altered(old, patch, "file") == new


def test_a_patch_says_what_changed_and_no_more():
    old = {"a": [1, {"b": 2, "c": 3}], "gone": 4, "same": [5]}
    new = {"a": [1, {"b": 2, "c": 9}], "same": [5], "new": 6}
    assert difference(old, new) == {"~": {"a": {"#": [[1, {"~": {"c": {"=": 9}}}]]}, "new": {"=": 6}}, "-": ["gone"]}


deep = {"=": 1}
for _ in range(300):
    deep = {"~": {"a": deep}}
nest = 1
for _ in range(300):
    nest = {"a": nest}


@pytest.mark.parametrize("change", [patched, altered])
@pytest.mark.parametrize(
    ("old", "patch"),
    [
        ({}, 3),
        ({}, None),
        ({}, {}),
        ({}, []),
        ({}, {"~": 3}),
        ({}, {"~": {"a": {"~": {}}}}),
        ({}, {"~": {}, "-": ["a"]}),
        ({}, {"~": {}, "-": 3}),
        ({}, {"~": {}, "-": [[]]}),
        ([], {"#": [[0, {"=": 1}]]}),
        ([1], {"#": [["0", {"=": 1}]]}),
        ([1], {"#": [0]}),
        ([1], {"#": 1}),
        (3, {"#": []}),
        (3, {"~": {}}),
        (nest, deep),
    ],
)
def test_a_patch_that_does_not_fit_is_a_recording_error(old, patch, change):
    with pytest.raises(RecordingError, match="a view cannot be put together"):
        change(copy.deepcopy(old), patch, "file")


# --- when agents are looked at ------------------------------------------------------------------------------------------


def seen_by(runtime, ticks):
    """The snapshot and the explanation of each agent at the end of each tick."""
    seen = {}
    runtime.after_tick(
        lambda: seen.update(
            {(runtime.tick, a.name): (a.snapshot().as_json(), explain(a.snapshot())) for a in runtime.agents}
        )
    )
    camp.drive(runtime, ticks, between=blowing)
    return seen


def blowing(runtime):
    if runtime.tick % 13 == 5:
        runtime.send("blow", who=runtime.tick % 2)


def settled(view):
    """A view without what changes by time alone, and is as it was when it was last looked at."""
    if isinstance(view, dict):
        return {key: settled(value) for key, value in view.items() if key != "waits"}
    return [settled(one) for one in view] if isinstance(view, list) else view


@pytest.mark.states(
    "tools: Recording: The agent's snapshot and its explanation can be had for any tick of a recording; in ticks in "
    "which something is traced of it they are the live ones exactly",
)
def test_any_tick_of_a_recording_has_the_view_of_that_tick(tmp_path, opened, monkeypatch):
    monkeypatch.setattr(views, "WHOLE_EVERY", 4)
    runtime = camp.camp()
    runtime.record(tmp_path / "run.sqlite")
    seen = seen_by(runtime, 80)
    recording = opened(tmp_path / "run.sqlite")
    assert len(seen) == 160
    assert {key: settled(recording.view(key[1], key[0])) for key in seen} == {
        key: settled(one) for key, (one, _) in seen.items()
    }
    # In ticks in which an agent has records, nothing is settled: all of it is exact, the words too.
    exact = {(record.tick, record.agent) for record in recording.records() if record.agent}
    assert len(exact) > 30
    for tick, name in exact:
        assert recording.view(name, tick) == seen[tick, name][0]
        assert recording.explain(name, tick) == seen[tick, name][1]


@pytest.mark.states("tools: Recording: What is read for one view is a few times as long as a whole one")
def test_a_view_that_changes_much_is_whole_more_often(tmp_path, opened):
    runtime = camp.camp()
    runtime.record(tmp_path / "run.sqlite")
    camp.drive(runtime, 80)
    recording = opened(tmp_path / "run.sqlite")
    rows = list(recording._rows("SELECT agent, whole, data FROM views WHERE agent > 0 ORDER BY agent, tick"))
    first = {}
    for agent, is_whole, data in rows:
        size = views._parts(unpack(data, "here"))
        if is_whole:
            first[agent], chain = size, 0
        else:
            chain += size
            assert chain <= 6 * first[agent]
    assert 2 < [is_whole for _, is_whole, _ in rows].count(1) < len(rows) / 3


def test_a_sleep_that_is_over_is_not_told(tmp_path, opened):
    class Pace(camp.Action):
        does = camp.TOP
        utility = 0.5

        async def run(self, ctx, args):
            while True:
                await ctx.sleep_ticks(4)  # no record tells of it

    runtime = camp.Runtime(host="plain")
    runtime.add(camp.Agent(camp.Person("ann"), name="ann", actions=[Pace]))
    runtime.record(tmp_path / "run.sqlite")
    camp.drive(runtime, 8)
    recording = opened(tmp_path / "run.sqlite")
    told = [recording.view("ann", tick)["plan"]["units"][0].get("waits") for tick in range(1, 9)]
    assert told == ["until tick 5"] * 4 + [None] * 4


@pytest.mark.parametrize(
    "waits", ["until tick x", "until tick ", "until tick " + "9" * 5000, "until tick \u0663", 3, None, "for rain"]
)
def test_settling_changes_nothing_else(waits):
    view = {"plan": {"units": [{"waits": waits, "frames": [None, {"units": 3}]}, 4]}, "performances": {"a": 1}}
    before = copy.deepcopy(view)
    views.settle(view, 10)
    if waits == "until tick \u0663":  # a three, of other digits: that is over
        del before["plan"]["units"][0]["waits"]
    assert view == before


def test_the_boost_comes_in_the_view_when_it_comes_in_the_run(tmp_path, opened):
    runtime = camp.Runtime(host="plain")
    runtime.add(camp.Agent(camp.Person("ann"), name="ann", actions=[camp.Rest]))
    runtime.record(tmp_path / "run.sqlite")
    camp.drive(runtime, 14)
    recording = opened(tmp_path / "run.sqlite")
    assert {record.tick for record in recording.records(agent="ann")} == {1}  # nothing is traced when it comes
    units = [recording.view("ann", tick)["plan"]["units"][0] for tick in range(1, 15)]
    told = [(unit.get("boost_at"), unit.get("boosted")) for unit in units]
    assert told == [(11, None)] * 10 + [(None, 0.25)] * 4


def test_views_of_every_nth_tick_at_most(tmp_path, opened):
    looked = {}
    for every in (1, 7):
        runtime = camp.camp()
        runtime.record(tmp_path / f"run{every}.sqlite", views=every)
        camp.drive(runtime, 60, between=blowing)
        recording = opened(tmp_path / f"run{every}.sqlite")
        looked[every] = [tick for (tick,) in recording._rows("SELECT tick FROM views WHERE agent = 1 ORDER BY tick")]
    gaps = [after - before for before, after in itertools.pairwise(looked[7])]
    assert min(gaps) >= 7
    assert len(looked[7]) < len(looked[1])


def test_no_views(tmp_path, opened):
    runtime = camp.camp()
    runtime.record(tmp_path / "run.sqlite", views="none")
    camp.drive(runtime, 20)
    recording = opened(tmp_path / "run.sqlite")
    assert recording.agents(20) == ("cook 1", "cook 2")
    assert recording.view("cook 1", 20) is None
    assert recording.explain("cook 1", 20) == "cook 1 at tick 20: the recording has no view of it"


def test_views_begin_and_end_with_their_agent(tmp_path, opened):
    runtime = camp.camp()
    runtime.record(tmp_path / "run.sqlite")
    late = camp.Person("late")

    def between(runtime):
        if runtime.tick == 10:
            runtime.add(camp.Agent(late, name="late", actions=[camp.Cook]))
        if runtime.tick == 20:
            runtime.remove(runtime.find("cook 1"))

    camp.drive(runtime, 40, between=between)
    recording = opened(tmp_path / "run.sqlite")
    there = [(tick, recording.agents(tick)) for tick in (0, 10, 11, 20, 21, 40)]
    both = ("cook 1", "cook 2")
    assert there == [
        (0, both),
        (10, both),
        (11, (*both, "late")),
        (20, (*both, "late")),
        (21, (*both[1:], "late")),
        (40, (*both[1:], "late")),
    ]
    for name in (*both, "late", "nobody"):
        for tick in range(1, 41):
            assert (recording.view(name, tick) is not None) == (name in recording.agents(tick)), (name, tick)
