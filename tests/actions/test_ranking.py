"""The memory behind searches, against a model that looks at everything each time."""

from __future__ import annotations

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from agentrt import Entity, Signal
from agentrt_actions import Change, Finder
from agentrt_actions.finding import _KEPT
from agentrt_actions.ranking import Ranking
from agentrt_actions.sieve import Sieve

COUNT = 8

OPERATIONS = st.lists(
    st.one_of(
        st.tuples(st.just("put"), st.integers(0, COUNT - 1), st.booleans()),
        st.tuples(st.just("take"), st.integers(0, COUNT - 1), st.booleans()),
        st.tuples(st.just("rate"), st.integers(0, COUNT - 1), st.sampled_from([None, 0.0, 0.3, 0.7, 1.0])),
        st.tuples(st.just("fail"), st.integers(0, COUNT - 1), st.booleans()),
        st.tuples(st.just("destroy"), st.integers(0, COUNT - 1), st.booleans()),
        st.tuples(st.just("advance"), st.integers(1, 6), st.just(0)),
        st.tuples(st.just("read"), st.integers(0, COUNT), st.just(0)),
        st.tuples(st.just("moved"), st.just(0), st.just(0)),
    ),
    max_size=40,
)


class Model:
    """A world of a few things, whose tag tells each time who changed, or never."""

    def __init__(self, says_who):
        self.says_who = says_who
        self.things = [Entity("thing", id=number) for number in range(COUNT)]
        self.listed = []
        self.fails = set()
        self.ratings = dict.fromkeys(range(COUNT), 0.5)
        self.changed = Signal()
        self.done = 0
        self.sieve = Sieve(self.test, lambda: tuple(self.listed), self.changed)
        self.ranking = Ranking(self.sieve, self.rate)

    def test(self, thing):
        self.done += 1
        return thing.id not in self.fails

    def rate(self, things):
        self.done += len(things)
        return [self.ratings[thing.id] for thing in things]

    def tell(self, thing):
        self.changed.emit(Change(thing, thing in self.listed) if self.says_who else None)

    def do(self, what, number, value):
        if what == "advance":
            self.done = 0
            self.ranking.advance(number)
            assert self.done <= number
            return
        if what == "read":
            for _ in zip(range(number), self.ranking, strict=False):
                pass
            return
        if what == "moved":
            self.ranking.rate_again()
            return
        thing = self.things[number]
        if what == "put" and thing not in self.listed and not thing.is_destroyed:
            self.listed.append(thing)
        elif what in ("take", "destroy") and thing in self.listed:
            self.listed.remove(thing)
        if what == "rate":
            self.ratings[number] = value
        if what == "fail":
            (self.fails.add if value else self.fails.discard)(number)
        if what == "destroy":
            thing.destroy()
        self.tell(thing)

    def settle(self):
        for _ in range(1000):
            if not self.ranking.left():
                return
            self.ranking.advance(3)
        raise AssertionError("it never ends")

    def expected(self):
        rated = [
            (self.ratings[thing.id], thing)
            for thing in self.listed
            if thing.id not in self.fails and self.ratings[thing.id] is not None
        ]
        return sorted(rated, key=lambda pair: (-pair[0], pair[1].id))


@settings(max_examples=40)
@given(st.booleans(), OPERATIONS)
def test_a_ranking_that_has_settled_is_what_looking_at_everything_gives(says_who, operations):
    model = Model(says_who)
    for operation in operations:
        model.do(*operation)
    model.settle()
    found = list(model.ranking)
    assert [rating for rating, _ in found] == [rating for rating, _ in model.expected()]
    assert sorted(found, key=lambda pair: (-pair[0], pair[1].id)) == model.expected()
    assert model.ranking.is_complete


@settings(max_examples=40)
@given(OPERATIONS)
def test_all_rankings_of_a_sieve_agree(operations):
    model = Model(True)
    second = Ranking(model.sieve, model.rate)
    for operation in operations:
        if operation[0] != "moved":
            model.do(*operation)
    model.settle()
    while second.left():
        second.advance(3)
    late = Ranking(model.sieve, model.rate)
    while late.left():
        late.advance(3)
    assert sorted(second, key=lambda pair: (-pair[0], pair[1].id)) == model.expected()
    assert sorted(late, key=lambda pair: (-pair[0], pair[1].id)) == model.expected()


def test_equals_stand_in_the_order_in_which_they_were_listed():
    model = Model(True)
    model.listed = list(reversed(model.things))
    model.settle()
    assert [thing.id for _, thing in model.ranking] == [7, 6, 5, 4, 3, 2, 1, 0]


def test_a_filter_that_raises_is_not_asked_again_and_again():
    asked = []

    def test(thing):
        asked.append(thing.id)
        if thing.id == 1:
            raise RuntimeError
        return True

    things = [Entity("thing", id=number) for number in range(3)]
    ranking = Ranking(Sieve(test, lambda: things), lambda found: [0.5] * len(found))
    for _ in range(3):
        try:
            ranking.advance(10)
        except RuntimeError:
            pass
    assert asked == [0, 1, 2]
    assert [thing.id for _, thing in ranking] == [0, 2]


def test_one_that_passed_and_whose_filter_raises_has_failed():
    broken = []

    def test(thing):
        if thing.id in broken:
            raise RuntimeError
        return True

    thing = Entity("thing", id=1)
    sieve = Sieve(test, lambda: [thing])
    ranking = Ranking(sieve, lambda found: [0.5] * len(found))
    ranking.advance(10)
    broken.append(1)
    sieve.note(thing)
    with pytest.raises(RuntimeError):
        ranking.advance(10)
    assert list(ranking) == []


def test_one_that_leaves_before_its_turn_is_not_examined():
    model = Model(True)
    model.listed = list(model.things)
    model.do("advance", 2, 0)
    model.do("take", 5, False)
    model.settle()
    assert [thing.id for _, thing in model.ranking] == [0, 1, 2, 3, 4, 6, 7]
    model.do("put", 5, False)
    model.settle()
    assert [thing.id for _, thing in model.ranking] == [0, 1, 2, 3, 4, 6, 7, 5]


def test_all_leave_and_nobody_says_who():
    model = Model(False)
    model.listed = list(model.things)
    model.settle()
    model.listed = []
    model.changed.emit()
    model.settle()
    assert list(model.ranking) == []


class Tags:
    def __init__(self):
        self.signal = Signal()

    def find(self, tag):
        return ()

    def changed(self, tag):
        return self.signal


def test_functions_that_nobody_uses_any_more_are_forgotten():
    finder, tags = Finder(), Tags()
    for _ in range(100):
        finder.search(tags, "thing", lambda thing: True, lambda thing: 0.5).close()
    assert len(finder._sieves) <= _KEPT + 1
    assert repr(tags.signal) == f"<Signal: 0 waiting, {len(finder._sieves)} connected>"


def test_who_asks_the_same_shares_it():
    finder, tags = Finder(), Tags()
    finder.register_filter("ripe", lambda thing: True)

    def rating(thing):
        return 0.5

    first = finder.search(tags, "thing", "ripe", rating)
    second = finder.search(tags, "thing", "ripe", rating)
    other = finder.search(tags, "thing", "ripe", lambda thing: 0.5)
    elsewhere = finder.search(Tags(), "thing", "ripe", rating)
    own = finder.search(tags, "thing", "ripe", None, rate=lambda things: [0.5] * len(things))
    assert first.ranking is second.ranking
    assert other.ranking is not first.ranking
    assert other.ranking.sieve is own.ranking.sieve is first.ranking.sieve
    assert elsewhere.ranking.sieve is not first.ranking.sieve
    own.close()
    assert own.ranking not in first.ranking.sieve.readers
