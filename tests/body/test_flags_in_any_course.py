"""The ledger of control flags under fire: holders that claim, release and wait on the spot, and any course of events.

Every course is played with the ledger and with a straightforward reference, which must decide the same.
"""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st
from modules import load

from agentrt.body.flags import JUMP, LOOK, MOVE, TARGET, FlagLedger

FLAGS = (JUMP, LOOK, MOVE, TARGET)
reference = load("tests/body/flag_reference.py")
seats = load("tests/body/flag_holders.py")


@pytest.fixture
def table():
    return seats.Table()


def deadlock(refusal):
    assert refusal.is_final
    assert refusal.reason == "which waits for the claimant in turn: a deadlock"
    return refusal.flag, refusal.holder


# --- reentrancy -------------------------------------------------------------------------------------------------------


def test_who_is_served_may_release_at_once(table):
    holders = [table.holder(name) for name in "abcde"]
    for one in holders:
        one.when_granted.append(seats.Fake.end)
        one.claim(MOVE, wait=True)
    holders[0].end()
    assert table.log == [(name, "granted") for name in "bcde"]
    assert table.ledger.is_free


def test_who_is_served_may_claim_more_and_wait_again(table):
    a, b, c = (table.holder(name) for name in "abc")
    a.claim(MOVE)
    c.claim(LOOK)
    b.claim(MOVE, wait=True)
    b.when_granted.append(lambda one: one.claim(LOOK, wait=True))
    a.end()
    assert table.holds == {LOOK: "c", MOVE: "b"}
    assert table.waiting == [("b", (LOOK,))]
    c.end()
    assert table.holds == {MOVE: "b", LOOK: "b"}


def test_who_is_served_may_give_way_in_that_very_moment(table):
    a, b, high = table.holder("a"), table.holder("b"), table.holder("high", 1)
    a.claim(MOVE)
    b.claim(MOVE, wait=True)
    b.when_granted.append(lambda one: high.claim(MOVE))
    a.end()
    assert table.log == [("b", "granted"), ("b", "gives way", MOVE, "high")]
    assert table.holds == {MOVE: "high"}


def test_who_gives_way_may_claim_something_else_at_once(table):
    low, high = table.holder("low"), table.holder("high", 1)
    low.claim(MOVE)

    def elsewhere(one):
        one.end()
        one.is_slow = True
        one.claim(LOOK)

    low.when_asked.append(elsewhere)
    assert high.claim(MOVE) is None
    assert table.holds == {MOVE: "high", LOOK: "low"}


def test_who_gives_way_may_wait_for_the_same_flag_at_once(table):
    low, high = table.holder("low"), table.holder("high", 1)
    low.claim(MOVE)

    def in_line(one):
        one.end()
        one.is_slow = True
        one.claim(MOVE, wait=True)

    low.when_asked.append(in_line)
    assert high.claim(MOVE) is None
    assert table.waiting == [("low", (MOVE,))]
    high.end()
    assert table.holds == {MOVE: "low"}


def test_a_claimant_that_ends_while_others_give_way_to_it_has_nothing(table):
    low, high = table.holder("low", is_slow=True), table.holder("high", 1)
    low.claim(MOVE)
    low.when_asked.append(lambda one: high.end())
    assert high.claim(MOVE, wait=True) is not None
    assert table.waiting == []
    low.end()
    assert table.ledger.is_free


def test_a_claimant_that_has_its_flags_and_loses_them_again_meanwhile_is_not_told_otherwise(table):
    low, high = table.holder("low"), table.holder("high", 1)
    highest = table.holder("highest", 2)
    low.claim(MOVE)

    def more(one):
        one.end()
        highest.claim(MOVE)

    low.when_asked.append(more)
    assert high.claim(MOVE) is not None
    assert table.holds == {MOVE: "highest"}


def test_who_gives_way_and_raises_leaves_no_claim_in_the_line(table):
    low, high = table.holder("low"), table.holder("high", 1)
    low.claim(MOVE)

    def fail(one):
        raise ValueError("no")

    low.when_asked.append(fail)
    with pytest.raises(ValueError, match="no"):
        high.claim(MOVE, wait=True)
    assert table.waiting == []
    assert table.holds == {MOVE: "low"}


def test_who_waits_asks_for_obstacles_from_its_place_in_the_line(table):
    """Claims that stand behind its own are none."""
    high, first, second = table.holder("high", 1), table.holder("first"), table.holder("second")
    high.claim(MOVE)
    first.claim(MOVE, LOOK, wait=True)
    second.claim(MOVE, LOOK, wait=True)
    assert table.ledger.obstacle((LOOK,), first, 1) is None
    assert table.ledger.obstacle((LOOK,), second, 1).holder == "first"


def test_a_claim_that_was_made_meanwhile_is_served_when_the_other_gives_up(table):
    """While a holder is asked to give way, somebody claims what the claimant stands before."""
    low, high, third = table.holder("low", is_slow=True), table.holder("high", 1), table.holder("third")
    low.claim(MOVE)
    low.when_asked.append(lambda _: third.claim(LOOK, wait=True))
    assert high.claim(MOVE, LOOK) is not None
    assert table.holds == {MOVE: "low", LOOK: "third"}


def test_who_gave_way_once_may_make_a_deadlock_later(table):
    low, high, other = table.holder("low"), table.holder("high", 1), table.holder("other")
    low.claim(MOVE)
    high.claim(MOVE)
    high.end()
    low.claim(MOVE)
    other.claim(LOOK)
    low.claim(LOOK, wait=True)
    assert deadlock(other.claim(MOVE, wait=True)) == (MOVE, "low")


def test_an_heir_is_not_asked_for_a_claim_that_is_gone(table):
    old, new = table.holder("old", is_slow=True), table.holder("new", is_slow=True)
    first, second = table.holder("first", 2), table.holder("second", 1)
    old.claim(MOVE)
    first.claim(MOVE, wait=True)
    second.claim(MOVE, wait=True)
    new.when_asked.append(lambda _: second.end())
    table.log.clear()
    table.ledger.hand_over((MOVE,), new, 3, holders=(old,))
    assert table.log == [("new", "gives way", MOVE, "first")]


# --- any course of events, beside the reference -----------------------------------------------------------------------


class Course:
    """One ledger, holders as drawn, and what happens to them; the same for the ledger and for the reference."""

    def __init__(self, ledger, holders, scripts):
        self.table = seats.Table(ledger)
        self.holders = []
        for number, (above, precedence, is_interruptible, is_slow) in enumerate(holders):
            runs_for = self.holders[above] if above is not None and above < number else None
            one = self.table.holder(
                f"h{number}",
                precedence if runs_for is None else runs_for.precedence,
                runs_for=runs_for,
                is_interruptible=is_interruptible,
                is_slow=is_slow,
            )
            script = scripts[number]
            one.when_granted = [lambda _, step=step: self.act(*step) for step in script]
            one.when_asked = [lambda _, step=step: self.act(*step) for step in script[::2]]
            self.holders.append(one)
        self.tick = 0

    def is_waiting(self, one):
        return any(name == one.flag_name for name, *_ in self.table.ledger.waiting())

    def act(self, what, number, flags, wait, others):
        one = self.holders[number % len(self.holders)]
        if what == "end":
            one.end()
        elif any(self.is_waiting(other) for other in self.all_below(one)):
            pass  # who waits does nothing else, and neither does for whom it waits
        elif what == "claim":
            self.table.log.append(tuple(one.claim(*flags, tick=self.tick, wait=wait) or ("granted",)))
        elif what == "obstacle":
            found = self.table.ledger.obstacle(flags, one, self.tick)
            self.table.log.append(tuple(found or ("free",)))
        elif what == "hand over" and not self.is_waiting(one):
            holders = [self.holders[other % len(self.holders)] for other in others]
            if one.runs_for is None and all(other.runs_for is None for other in holders):
                self.table.ledger.hand_over(flags, one, self.tick, holders=holders)

    def all_below(self, one):
        for other in one.below:
            yield other
            yield from self.all_below(other)


HOLDERS = st.lists(
    st.tuples(st.none() | st.integers(0, 5), st.integers(0, 2), st.booleans() | st.just(True), st.booleans()),
    min_size=2,
    max_size=7,
)
STEPS = st.tuples(
    st.sampled_from(("claim", "claim", "claim", "end", "obstacle")),
    st.integers(0, 6),
    st.sets(st.sampled_from(FLAGS), min_size=1, max_size=3).map(lambda flags: tuple(sorted(flags))),
    st.booleans() | st.just(True),
    st.lists(st.integers(0, 6), max_size=2),
)
HANDINGS = st.tuples(
    st.just("hand over"),
    st.integers(0, 6),
    st.sets(st.sampled_from(FLAGS), min_size=1, max_size=2).map(lambda flags: tuple(sorted(flags))),
    st.just(False),
    st.lists(st.integers(0, 6), max_size=2),
)
SCRIPTS = st.lists(st.lists(STEPS, max_size=2), min_size=7, max_size=7)


def plain_refusals(ledger):
    return sorted((one.flag, one.claimant, one.holder, one.tick, one.reason, one.is_final) for one in ledger.refusals())


@pytest.mark.slow
@given(HOLDERS, st.lists(STEPS | HANDINGS, max_size=30), SCRIPTS)
def test_it_decides_as_the_reference_does(holders, steps, scripts):
    real = Course(FlagLedger(), holders, scripts)
    model = Course(reference.ReferenceLedger(), holders, scripts)
    for tick, step in enumerate(steps):
        real.tick = model.tick = tick
        real.act(*step)
        model.act(*step)
        assert real.table.log == model.table.log
        ledger, other = real.table.ledger, model.table.ledger
        assert {flag: (hold.name, hold.since) for flag, hold in ledger.holds().items()} == other.holds()
        assert [(one.claimant, one.flags, one.since) for one in ledger.waiting()] == other.waiting()
        assert plain_refusals(ledger) == other.refusals()
        assert not [entry for entry in other.line if other.can_be_served(entry)]


@pytest.mark.slow
@given(HOLDERS, st.lists(STEPS, max_size=30))
def test_nobody_waits_for_ever(holders, steps):
    """Whenever everybody who waits for nothing ends, the next who are served end, and so on, the line is empty."""
    course = Course(FlagLedger(), holders, [[]] * 7)
    for tick, step in enumerate(steps):
        course.tick = tick
        course.act(*step)
    ledger = course.table.ledger
    for _ in range(len(holders) + 1):
        busy = set()
        for one in course.holders:
            link = one if course.is_waiting(one) else None
            while link is not None:
                busy.add(link)
                link = link.runs_for
        for one in course.holders:
            if one not in busy or one.is_asked:
                one.end()
    assert ledger.waiting() == []
