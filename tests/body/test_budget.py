"""The think budget alone: never too much, nothing withheld, everybody in turn and by weight."""

from __future__ import annotations

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from agentrt.body.budget import Share, ThinkBudget


def shares(*weights):
    return [Share(lambda weight=weight: weight) for weight in weights]


def units_of(served):
    return [claim.units for claim in served]


# --- by hand ----------------------------------------------------------------------------------------------------------


def test_while_nobody_waits_units_are_granted_at_once():
    budget = ThinkBudget(10)
    one, two = shares(1, 1)
    assert [budget.ask(one, 4), budget.ask(two, 4), budget.ask(one, 2)] == [None, None, None]
    assert (budget.room, budget.used, budget.granted, budget.is_idle) == (0, 10, 10, True)


def test_who_finds_no_room_is_served_in_the_next_tick():
    budget = ThinkBudget(10)
    one, two = shares(1, 1)
    budget.ask(one, 10)
    claim = budget.ask(two, 3)
    assert (budget.waiting, claim.is_served) == (1, False)
    assert budget.next_tick() == [claim]
    assert (claim.is_served, budget.is_idle, budget.used) == (True, True, 3)


def test_what_was_not_used_is_lost_with_its_tick():
    budget = ThinkBudget(10)
    (one,) = shares(1)
    budget.ask(one, 1)
    budget.next_tick()
    budget.ask(one, 10)
    assert budget.ask(one, 1) is not None


def test_a_claim_larger_than_a_ticks_budget_takes_several_ticks():
    budget = ThinkBudget(10)
    (one,) = shares(1)
    claim = budget.ask(one, 25)
    assert [units_of(budget.next_tick()) for _ in range(3)] == [[], [25], []]
    assert claim.is_served
    assert budget.granted == 25


def test_the_units_are_dealt_by_weight():
    budget = ThinkBudget(10)
    light, heavy = shares(1, 4)
    budget.ask(light, 10)
    budget.ask(light, 100)
    budget.ask(heavy, 100)
    budget.next_tick()
    assert (light.credit, heavy.credit) == (2, 8)


def test_credit_serves_what_is_asked_for_later_in_the_tick():
    """Two that ask for one unit at a time share the tick by weight, whoever comes first."""
    budget = ThinkBudget(10)
    light, heavy = shares(1, 4)
    budget.ask(light, 10)
    budget.ask(light, 1)
    budget.ask(heavy, 1)
    budget.next_tick()
    got = [sum(budget.ask(share, 1) is None for _ in range(20)) for share in (light, heavy)]
    assert got == [1, 7]  # and one each that was waited for


def test_credit_that_nobody_uses_is_dealt_again():
    budget = ThinkBudget(10)
    one, two = shares(1, 1)
    budget.ask(one, 10)
    budget.ask(one, 1)
    claim = budget.ask(two, 9)
    assert units_of(budget.next_tick()) == [1]
    assert (one.credit, two.credit, budget.has_spare) == (4, 5, True)
    assert budget.settle() == [claim]
    assert (one.credit, two.credit, budget.is_idle) == (0, 0, True)


def test_what_is_left_over_goes_around():
    """Three equals and one unit in each tick: each has its turn."""
    budget = ThinkBudget(1)
    one, two, three = shares(1, 1, 1)
    budget.ask(one, 1)
    order = []
    names = {one: 1, two: 2, three: 3}
    for share in names:
        budget.ask(share, 1)
    for _ in range(9):
        for claim in budget.next_tick():
            order.append(names[claim.share])
            budget.ask(claim.share, 1)
    assert order == [1, 2, 3, 1, 2, 3, 1, 2, 3]


def test_who_goes_away_and_comes_back_is_owed_nothing_for_before():
    budget = ThinkBudget(1)
    first, away, stays = shares(4, 3, 2)
    budget.ask(first, 1)
    claims = [budget.ask(share, 1, name) for share, name in ((first, "first"), (away, "away"), (stays, "stays"))]
    assert [claim.tag for claim in budget.next_tick()] == ["first"]
    budget.withdraw(claims[1])
    budget.ask(first, 1, "first again")
    budget.ask(away, 1, "away again")
    assert [claim.tag for claim in budget.next_tick()] == ["stays"]


def test_nobody_is_ever_owed_more_than_a_unit():
    """Two that come close to one each, since others of great weight take the units and go; and are dealt to then."""
    weight = 1
    budget = ThinkBudget(1)
    waits = [Share(lambda: weight), Share(lambda: weight)]
    budget.ask(waits[0], 1)
    for share in waits:
        budget.ask(share, 100)
    for _ in range(60):
        (passer_by,) = shares(100)
        budget.ask(passer_by, 1)
        budget.next_tick()
    assert [share.credit for share in waits] == [0, 0]
    weight = 1000
    budget.next_tick()
    assert [share.credit for share in waits] == [1, 0]
    unit = 1 << 32  # in the fractions in which shares are owed
    assert [share.owed < unit for share in waits] == [True, True]


def test_a_withdrawn_claim_makes_way_for_those_behind_it():
    budget = ThinkBudget(10)
    (one,) = shares(1)
    large = budget.ask(one, 30)
    budget.next_tick()
    small = budget.ask(one, 2)
    assert one.credit == 20
    assert budget.withdraw(large) == [small]
    assert budget.is_idle
    # Ten of the units were laid by in the first tick; that tick is over.
    assert one.credit == 10


def test_who_is_served_and_does_not_want_it_any_more_gives_it_back():
    budget = ThinkBudget(10)
    one, two = shares(1, 1)
    budget.ask(one, 10)
    first, second = budget.ask(one, 5), budget.ask(two, 9)
    assert budget.next_tick() == [first]
    assert budget.withdraw(first) == []
    assert budget.withdraw(first) == []
    assert (budget.used, one.credit, budget.has_spare) == (5, 5, True)
    assert budget.settle() == [second]


def test_units_that_were_laid_by_in_ticks_before_are_not_given_back():
    budget = ThinkBudget(10)
    (one,) = shares(1)
    claim = budget.ask(one, 16)
    assert budget.next_tick() == [claim]
    assert claim.fresh == 6
    budget.withdraw(claim)
    assert (one.credit, budget.used) == (10, 0)
    budget.next_tick()
    assert (claim.fresh, one.credit) == (0, 0)


def test_who_withdraws_its_last_claim_keeps_nothing_for_the_next_tick():
    budget = ThinkBudget(10)
    one, two = shares(1, 1)
    claim = budget.ask(one, 30)
    budget.withdraw(claim)
    budget.next_tick()
    assert budget.ask(two, 10) is None
    assert budget.ask(one, 1) is not None


@pytest.mark.parametrize("units", [0, -1])
def test_a_budget_of_nothing_is_an_error(units):
    with pytest.raises(ValueError, match="at least 1 in each tick"):
        ThinkBudget(units)


def test_words():
    budget = ThinkBudget(10)
    (one,) = shares(1)
    claim = budget.ask(one, 11)
    assert repr(budget) == "<ThinkBudget: 10 of 10 units used, 1 claims wait>"
    assert repr(claim) == "<Claim of 11 units: waits>"
    assert repr(one) == "<Share: 1 claims wait, 10 units of credit>"


# --- by chance --------------------------------------------------------------------------------------------------------


class Book:
    """Drives a budget and checks it against what it was told: a model of the promises, not of the way they are kept."""

    def __init__(self, units, weights):
        self.budget = ThinkBudget(units)
        self.shares = shares(*weights)
        self.open = []
        self.granted = 0
        self.ticks = 1
        self.served = []

    def check(self):
        budget = self.budget
        assert self.granted == budget.granted <= self.ticks * budget.units
        dealt = budget.units - budget.room
        assert 0 <= budget.used <= dealt <= budget.units
        assert all(share.credit >= 0 for share in self.shares)
        if budget.has_spare:
            return
        # Whoever waits, waits because every unit of the tick was used or is laid by for those who wait.
        assert budget.is_idle or budget.used == budget.units

    def serve(self, claims):
        for claim in claims:
            assert claim in self.open
            assert claim.is_served
            self.open.remove(claim)
            self.served.append(claim)
            self.granted += claim.units

    def ask(self, number, units):
        share = self.shares[number % len(self.shares)]
        claim = self.budget.ask(share, units)
        if claim is None:
            self.granted += units
        else:
            self.open.append(claim)

    def withdraw(self, number, _units):
        if self.open:
            claim = self.open.pop(number % len(self.open))
            self.serve(self.budget.withdraw(claim))
            assert not claim.is_served

    def refuse(self, number, _units):
        """Somebody is served, but was cancelled in that moment."""
        if self.served:
            claim = self.served.pop(number % len(self.served))
            assert 0 <= claim.fresh <= claim.units
            self.granted -= claim.fresh
            self.serve(self.budget.withdraw(claim))

    def settle(self, *_):
        spare = self.budget.has_spare
        self.serve(self.budget.settle())
        return spare

    def tick(self, *_):
        self.ticks += 1
        self.serve(self.budget.next_tick())
        rounds = 0
        while self.budget.has_spare:
            self.settle()
            rounds += 1
            assert rounds <= self.budget.units + 1
        self.check()


moves = st.lists(
    st.tuples(
        st.sampled_from(["ask", "ask", "ask", "withdraw", "refuse", "settle", "tick"]),
        st.integers(0, 9),
        st.integers(1, 12),
    ),
    max_size=60,
)
weights = st.lists(st.sampled_from([0.0, 0.001, 0.5, 1, 1, 4, 1000]), min_size=1, max_size=5)


@pytest.mark.slow
@given(st.integers(1, 9), weights, moves)
def test_never_more_than_the_budget_and_never_less_than_somebody_wants(units, weights, moves):
    book = Book(units, weights)
    for move, number, amount in moves:
        getattr(book, move)(number, amount)
        book.check()
    asked = sum(claim.units for claim in book.open)
    # Whoever waits is served: all that is wanted takes as many ticks as the budget needs for it.
    for _ in range(asked // units + 1):
        book.tick()
    assert book.open == []
    assert book.budget.is_idle
    assert all(not share.line for share in book.shares)


@given(
    st.integers(1, 20),
    st.lists(st.sampled_from([0.25, 0.5, 1, 1, 2, 4]), min_size=1, max_size=6),
    st.integers(1, 3),
    st.integers(1, 40),
)
def test_weights_are_respected_within_rounding(units, weights, size, ticks):
    """All search without a pause, in claims of one size: each gets its part, give or take a unit or a claim."""
    budget = ThinkBudget(units)
    searchers = shares(*weights)
    got = dict.fromkeys(searchers, 0)
    budget.ask(searchers[0], units)
    for share in searchers:
        budget.ask(share, size)
    for _ in range(ticks):
        served = budget.next_tick()
        while served:
            for claim in served:
                got[claim.share] += size
                while budget.ask(claim.share, size) is None:
                    got[claim.share] += size
            served = budget.settle() if budget.has_spare else []
    total = units * ticks
    for share, weight in zip(searchers, weights, strict=True):
        due = total * weight / sum(weights)
        assert abs(got[share] - due) <= size + 2


@given(
    st.integers(1, 8),
    st.lists(st.sampled_from([0.5, 1, 1, 3]), min_size=1, max_size=6),
    st.integers(1, 10),
    st.integers(0, 5),
)
def test_the_wait_is_bounded(units, weights, size, which):
    """However greedy the others are, a claim is served within the ticks in which its part makes up its size."""
    budget = ThinkBudget(units)
    searchers = shares(*weights)
    mine = searchers[which % len(searchers)]
    budget.ask(searchers[0], units)
    for share in searchers:
        if share is not mine:
            budget.ask(share, units)
    claim = budget.ask(mine, size)
    bound = (size + 2) * sum(weights) / (units * mine.weigh()) + 1
    ticks = 0
    while not claim.is_served:
        ticks += 1
        assert ticks <= bound
        for served in budget.next_tick():
            if served is not claim:
                budget.ask(served.share, units)


@settings(max_examples=20)
@given(st.integers(1, 9), weights, moves)
def test_equal_asks_are_served_in_the_same_order(units, weights, moves):
    def run():
        book, order = Book(units, weights), []
        serve = book.serve
        book.serve = lambda claims: (
            order.append([(book.shares.index(one.share), one.units) for one in claims]),
            serve(claims),
        )
        for move, number, amount in moves:
            getattr(book, move)(number, amount)
        return order

    assert run() == run()
