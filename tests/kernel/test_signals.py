"""Signals, events and conditions."""

from __future__ import annotations

import pytest
from strands import waiter

from agentrt.kernel.signals import Condition, Event, Signal
from agentrt.kernel.traps import next_tick

# --- signals ----------------------------------------------------------------------------------------------------------


def test_a_signal_wakes_all_who_wait_in_order_with_its_value(lab):
    signal = Signal()
    for name in "abc":
        waiter(lab, name, signal)
    lab.tick()
    lab.kernel.post(signal.emit, "value")
    lab.kernel.post(signal.emit, "nobody hears this")
    lab.tick(2)
    assert lab.log == [(2, "a", "value"), (2, "b", "value"), (2, "c", "value")]


def test_a_signal_is_an_edge(lab):
    signal = Signal()
    signal.emit("before anybody waits")
    waiter(lab, "a", signal)
    lab.tick(3)
    assert lab.log == []


def test_who_waits_again_at_once_hears_each_emission_once(lab):
    signal = Signal()

    async def listens():
        while True:
            lab.note(await signal.wait())

    async def emits():
        for value in range(3):
            signal.emit(value)
            await next_tick()

    lab.spawn(listens())
    lab.spawn(emits())
    lab.tick(4)
    assert lab.log == [(1, 0), (2, 1), (3, 2)]


def test_two_emissions_before_the_waiter_runs_are_heard_as_the_first(lab):
    signal = Signal()
    waiter(lab, "a", signal)
    lab.tick()
    signal.emit(1)
    signal.emit(2)
    lab.tick()
    assert lab.log == [(2, "a", 1)]


def test_connected_functions_are_called_at_once_in_order(lab):
    signal = Signal()
    signal.connect(lambda value: lab.note("first", value))
    signal.connect(lambda value: lab.note("second", value))
    waiter(lab, "strand", signal)
    lab.tick()
    signal.emit(7)
    assert lab.take_log() == [(1, "first", 7), (1, "second", 7)]
    lab.tick()
    assert lab.log == [(2, "strand", 7)]


def test_closing_a_connection(lab):
    signal = Signal()

    def function(value):
        lab.note(value)

    first, second = signal.connect(function), signal.connect(function)
    signal.emit("both")
    second.close()
    second.close()
    signal.emit("one")
    first.close()
    signal.emit("none")
    assert lab.log == [(0, "both"), (0, "both"), (0, "one")]


def test_connections_made_and_closed_while_it_is_emitted(lab):
    signal = Signal()

    def first(value):
        lab.note("first", value)
        connections["second"].close()
        connections["first"].close()
        signal.connect(lambda value: lab.note("new", value))

    connections = {"first": signal.connect(first), "second": signal.connect(lambda value: lab.note("second", value))}
    signal.connect(lambda value: lab.note("third", value))
    signal.emit(1)
    signal.emit(2)
    assert lab.log == [(0, "first", 1), (0, "third", 1), (0, "third", 2), (0, "new", 2)]


def test_a_signal_emitted_from_its_own_function(lab):
    signal = Signal()

    def function(value):
        lab.note(value)
        if value:
            signal.emit(value - 1)

    signal.connect(function)
    signal.connect(lambda value: lab.note("other", value))
    signal.emit(2)
    assert lab.log == [(0, 2), (0, 1), (0, 0), (0, "other", 0), (0, "other", 1), (0, "other", 2)]


def test_one_function_that_raises_does_not_keep_the_others_from_being_called(lab):
    signal = Signal()

    def broken(value):
        raise ValueError(value)

    signal.connect(broken)
    signal.connect(lambda value: lab.note("called", value))
    waiter(lab, "strand", signal)
    lab.tick()
    with pytest.raises(ValueError, match="42"):
        signal.emit(42)
    lab.tick()
    assert lab.log == [(1, "called", 42), (2, "strand", 42)]


def test_several_functions_that_raise_are_raised_together():
    signal = Signal()

    def broken(value):
        raise ValueError("first")

    def also_broken(value):
        raise KeyError("second")

    signal.connect(broken)
    signal.connect(also_broken)
    with pytest.raises(ExceptionGroup, match="functions connected to a signal raised") as caught:
        signal.emit()
    assert [type(error) for error in caught.value.exceptions] == [ValueError, KeyError]


def test_repr_of_a_signal(lab):
    signal = Signal()
    assert repr(signal) == "<Signal: 0 waiting, 0 connected>"
    signal.connect(print)
    waiter(lab, "a", signal)
    stopped = waiter(lab, "b", signal)
    lab.tick()
    stopped.stop()
    assert repr(signal) == "<Signal: 1 waiting, 1 connected>"


# --- events -----------------------------------------------------------------------------------------------------------


def test_an_event_is_a_level(lab):
    event = Event()
    waiter(lab, "early", event)
    lab.tick()
    lab.kernel.post(event.set)
    lab.tick()
    waiter(lab, "late", event)
    lab.tick()
    event.clear()
    waiter(lab, "too late", event)
    lab.tick()
    assert lab.log == [(2, "early", None), (3, "late", None)]
    assert not event.is_set


def test_who_was_woken_by_an_event_goes_on_even_if_it_is_cleared_at_once(lab):
    event = Event()
    waiter(lab, "a", event)
    lab.tick()
    event.set()
    event.clear()
    lab.tick()
    assert lab.log == [(2, "a", None)]


def test_setting_a_set_event_does_nothing(lab):
    event = Event()
    waiter(lab, "a", event)
    lab.tick()
    event.set()
    event.set()
    lab.tick()
    assert lab.log == [(2, "a", None)]


def test_repr_of_an_event(lab):
    event = Event()
    waiter(lab, "a", event)
    lab.tick()
    assert repr(event) == "<Event: clear, 1 waiting>"
    event.set()
    assert repr(event) == "<Event: set, 0 waiting>"
    lab.tick()


# --- conditions -------------------------------------------------------------------------------------------------------


def test_a_condition_asks_at_once_and_after_each_notification(lab):
    condition = Condition()
    store = []

    def enough(count):
        lab.note("asked for", count)
        return store if len(store) >= count else None

    async def wants(count):
        lab.note(count, list(await condition.wait_for(lambda: enough(count))))

    lab.spawn(wants(0 + 2))
    lab.spawn(wants(1))
    lab.tick()
    for item in "xy":
        store.append(item)
        condition.notify_all()
        lab.tick()
    assert lab.log == [
        (1, "asked for", 2),
        (1, "asked for", 1),
        (2, "asked for", 2),
        (2, "asked for", 1),
        (2, 1, ["x"]),
        (3, "asked for", 2),
        (3, 2, ["x", "y"]),
    ]


def test_a_condition_that_is_true_does_not_suspend(lab):
    async def strand():
        assert await Condition().wait_for(lambda: "truth") == "truth"
        lab.note("first")

    lab.spawn(strand())
    lab.kernel.call_soon(lab.note, "second")
    lab.tick()
    assert lab.log == [(1, "first"), (1, "second")]


def test_a_predicate_that_raises_raises_in_its_own_wait(lab):
    condition = Condition()
    broken = []

    def predicate():
        if broken:
            raise LookupError("broken")
        return False

    async def strand(name):
        try:
            await condition.wait_for(predicate)
        except LookupError:
            lab.note(name, "raised")

    lab.spawn(strand("a"))
    lab.spawn(strand("b"))
    lab.tick()
    broken.append(True)
    condition.notify_all()
    lab.tick()
    assert lab.log == [(2, "a", "raised"), (2, "b", "raised")]


def test_the_order_of_a_condition_survives_notifications_that_help_nobody(lab):
    condition = Condition()
    tokens = []

    async def takes(name):
        await condition.wait_for(lambda: tokens)
        lab.note(name, tokens.pop())

    for name in "abc":
        lab.spawn(takes(name))
    lab.tick()
    for _ in range(5):
        condition.notify_all()
        lab.tick()
    assert repr(condition) == "<Condition: 3 waiting>"
    for token in range(3):
        tokens.append(token)
        condition.notify_all()
        lab.tick()
    assert lab.log == [(7, "a", 0), (8, "b", 1), (9, "c", 2)]


def test_what_is_no_function_is_refused_where_it_is_connected():
    signal = Signal()
    with pytest.raises(TypeError, match=r"^signal\.connect: NoneType is no function$"):
        signal.connect(None)
    signal.emit()
