"""The agenda: due ticks, entries that were woken early, sweeping, and that sweeping never changes an order."""

from __future__ import annotations

from collections import deque

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from agentrt.kernel.strand import CancelScope
from agentrt.kernel.traps import Agenda, next_tick, sleep_ticks


class Entry:
    """As little as the agenda asks of an entry."""

    def __init__(self, name):
        self.name = name
        self.waiting = 0

    def send(self, value):
        raise NotImplementedError


def taken(agenda, tick):
    ready = deque()
    agenda.take_due(tick, ready)
    return [entry.name for entry in ready]


def test_entries_come_out_in_their_tick_in_order_of_arrival():
    agenda = Agenda()
    for due, name in [(5, "a"), (3, "b"), (5, "c"), (4, "d"), (3, "e")]:
        agenda.add(due, Entry(name))
    assert agenda.heap[0] == 3
    assert [taken(agenda, tick) for tick in range(2, 7)] == [[], ["b", "e"], ["d"], ["a", "c"], []]
    assert agenda.heap == []
    assert agenda.buckets == {}


def test_ticks_that_were_skipped_are_made_up_for_in_order():
    agenda = Agenda()
    for due, name in [(5, "a"), (3, "b"), (4, "c")]:
        agenda.add(due, Entry(name))
    assert taken(agenda, 9) == ["b", "c", "a"]


def wake_early(agenda, entry, live=0):
    due, entry.waiting = entry.waiting, 0
    agenda.forget(due, live)


def test_an_entry_that_was_woken_early_is_passed_over():
    agenda = Agenda()
    entries = [Entry(name) for name in "abc"]
    for entry in entries:
        agenda.add(2, entry)
    wake_early(agenda, entries[1])
    assert agenda.stale == 1
    assert taken(agenda, 2) == ["a", "c"]
    assert agenda.stale == 0


def test_an_entry_that_left_and_came_back_to_its_tick_keeps_its_last_place_only():
    agenda = Agenda()
    entries = [Entry(name) for name in "abc"]
    for entry in entries:
        agenda.add(2, entry)
    for _ in range(3):
        wake_early(agenda, entries[0])
        agenda.add(2, entries[0])
    assert taken(agenda, 2) == ["b", "c", "a"]
    assert agenda.stale == 0


def test_a_strand_that_comes_back_to_its_tick_is_stepped_once(lab):
    async def strand(name):
        with CancelScope() as scopes[name]:
            await sleep_ticks(4)
        await sleep_ticks(2)
        lab.note(name)

    scopes = {}
    for name in "abc":
        lab.spawn(strand(name))
    lab.tick(2)
    lab.kernel.post(scopes["a"].cancel)
    lab.kernel.post(scopes["b"].cancel)
    lab.tick(6)
    # a and b left tick 5 in tick 3 and came back to it, behind c; c goes on until tick 7.
    assert lab.log == [(5, "a"), (5, "b"), (7, "c")]


def test_sweeping_takes_what_is_stale_and_nothing_else(monkeypatch):
    monkeypatch.setattr(Agenda, "_SWEEP_FROM", 4)
    agenda = Agenda()
    entries = [Entry(number) for number in range(20)]
    for number, entry in enumerate(entries):
        agenda.add(2 + number % 3, entry)
    for entry in entries[:10]:
        wake_early(agenda, entry, live=0)
    # Swept at the fifth and at the tenth.
    assert agenda.stale == 0
    assert sum(map(len, agenda.buckets.values())) == 10
    assert [taken(agenda, tick) for tick in (2, 3, 4)] == [[12, 15, 18], [10, 13, 16, 19], [11, 14, 17]]


def test_sweeping_waits_until_more_is_stale_than_can_be_alive(monkeypatch):
    monkeypatch.setattr(Agenda, "_SWEEP_FROM", 2)
    agenda = Agenda()
    entries = [Entry(number) for number in range(10)]
    for entry in entries:
        agenda.add(2, entry)
    for entry in entries[:6]:
        wake_early(agenda, entry, live=5)
    assert agenda.stale == 0
    assert len(agenda.buckets[2]) == 4


def test_buckets_that_sweeping_left_empty_are_dropped(lab, monkeypatch):
    """Deadlines far away that are never reached: what is left of them does not pile up until their tick comes."""
    monkeypatch.setattr(Agenda, "_SWEEP_FROM", 50)

    async def worker():
        while True:
            with CancelScope(seconds=3600):
                await next_tick()

    lab.spawn(worker())
    lab.tick(1000)
    agenda = lab.kernel.agenda
    assert len(agenda.buckets) < 100
    assert len(agenda.heap) == len(agenda.buckets)
    lab.spawn(sleeper(lab, "still works"))
    lab.tick(4)
    assert lab.log == [(1004, "still works")]


async def sleeper(lab, name):
    await sleep_ticks(3)
    lab.note(name)


def test_the_bucket_that_the_main_loop_fills_survives_a_sweep(lab, monkeypatch):
    monkeypatch.setattr(Agenda, "_SWEEP_FROM", 0)

    async def first():
        await sleep_ticks(3)
        lab.note("first")

    async def stops():
        lab.kernel.call_later(3, lab.note, "never").cancel()
        lab.kernel.call_later(9, lab.note, "never").cancel()
        victim.stop()
        lab.kernel.live, live = 0, lab.kernel.live
        lab.kernel.call_later(9, lab.note, "never").cancel()
        lab.kernel.live = live

    victim = lab.spawn(sleeper(lab, "never"))
    lab.spawn(stops())
    lab.spawn(first())
    lab.tick(4)
    assert lab.log == [(4, "first")]


@pytest.mark.parametrize("times", [1, 5000])
def test_nobody_asleep_costs_nothing(lab, times):
    for _ in range(times):
        lab.kernel.call_later(1000, lab.note, "never").cancel()
    lab.tick()
    assert lab.kernel.agenda.stale <= 1024
    assert sum(map(len, lab.kernel.agenda.buckets.values())) <= 1024


# Each step: add an entry to a tick, or wake one early and perhaps put it back.
steps = st.lists(
    st.tuples(st.sampled_from(["add", "wake", "again"]), st.integers(1, 6), st.integers(0, 30)), max_size=60
)


@settings(deadline=None, max_examples=50)
@given(steps=steps, sweep_from=st.sampled_from([0, 3, 1000]))
def test_the_agenda_is_a_sorted_list(steps, sweep_from):
    """Compared with a list of (due, arrival, name), sorted; whenever it sweeps."""
    agenda = Agenda()
    type_limit, Agenda._SWEEP_FROM = Agenda._SWEEP_FROM, sweep_from
    try:
        entries, model = [], {}
        for arrival, (what, due, which) in enumerate(steps):
            if what == "add" or not entries:
                entries.append(Entry(arrival))
                agenda.add(due, entries[-1])
                model[arrival] = (due, arrival)
                continue
            entry = entries[which % len(entries)]
            if entry.name in model:
                del model[entry.name]
                wake_early(agenda, entry, live=0)
            if what == "again":
                agenda.add(due, entry)
                model[entry.name] = (due, arrival)
        expected = [(due, name) for name, (due, _) in sorted(model.items(), key=lambda item: item[1])]
        assert [(tick, name) for tick in range(1, 8) for name in taken(agenda, tick)] == expected
        assert agenda.stale == 0
    finally:
        Agenda._SWEEP_FROM = type_limit
