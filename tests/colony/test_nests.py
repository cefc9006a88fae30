"""Nests: eggs, watches, and what wolves make of them."""

from __future__ import annotations

import pytest

from agentrt_examples.colony.bodies import Health, Position
from agentrt_examples.colony.harm import STRUCK, wound
from agentrt_examples.colony.nests import EGGS, KIN, Nest
from agentrt_examples.colony.quarry import AWE, GRUDGE, Quarry, choose_prey


@pytest.fixture
def nest(field):
    return field.town.nest((6, 1))


def drake(field, nest, cell=(6, 1)):
    entity = field.town.being("drake", cell, pace=2, health=140, fears=("wolf", 8))
    nest[Nest].adopt(entity)
    return entity


def wolf(field, cell=(1, 1)):
    entity = field.town.being("wolf", cell, pace=2, health=110)
    entity.add(Quarry())
    return entity


def prey(field, cell, name):
    entity = field.town.being("critter", cell, name=name, pace=3, health=30)
    field.census.put(entity, "prey")
    return entity


def test_a_nest_holds_so_many_eggs_and_stands_under_eggs_while_it_has_any(field, nest):
    told = []
    nest[Nest].changed.connect(lambda _value: told.append(len(nest[Nest].eggs)))
    assert field.census.find("eggs") == ()
    assert [nest[Nest].lay(due) for due in (30, 10, 20, 5)] == [True, True, True, False]
    assert (nest[Nest].eggs, EGGS) == ([30, 10, 20], 3)
    assert field.census.find("eggs") == (nest,)
    assert [nest[Nest].lose() for _ in range(4)] == [True, True, True, False]
    assert field.census.find("eggs") == ()
    assert told == [1, 2, 3, 2, 1, 0]


def test_an_egg_hatches_when_it_is_due_and_a_drake_is_missing(field, nest):
    nest[Nest].lay(50)
    kin = [drake(field, nest) for _ in range(KIN)]
    assert not nest[Nest].hatch(60)  # nobody is missing
    kin[0].destroy()
    assert nest[Nest].kin == kin[1:]
    assert not nest[Nest].hatch(49)
    assert nest[Nest].hatch(50)
    assert nest[Nest].eggs == []
    assert not nest[Nest].hatch(51)


def test_watches_go_round_among_those_who_are_able(field, nest):
    one, other = drake(field, nest), drake(field, nest)
    book = nest[Nest]
    assert [book.is_turn_of(each) for each in (one, other)] == [True, True]
    book.begin_watch(one)
    book.begin_watch(one)
    assert book.watchers == [one]
    assert [book.is_turn_of(each) for each in (one, other)] == [True, False]
    book.end_watch(one)
    book.end_watch(other)  # who was not on watch is not relieved
    assert book.last is one
    assert [book.is_turn_of(each) for each in (one, other)] == [False, True]
    other[Health].add(-80)
    assert book.is_turn_of(one)  # nobody else is able
    other.destroy()
    assert (book.can_be_relieved(one), book.is_turn_of(one)) == (False, True)
    book.begin_watch(one)
    one.destroy()
    assert (book.kin, book.watchers, book.last) == ([], [], None)


def test_a_wolf_chooses_the_nearest_prey_that_nobody_else_hunts(field):
    beast, rival = wolf(field), wolf(field, (1, 2))
    near, far = prey(field, (4, 1), "Near"), prey(field, (8, 1), "Far")
    assert choose_prey(field.town, beast, beast[Quarry]) is near
    field.leases.acquire(near, rival)
    assert choose_prey(field.town, beast, beast[Quarry]) is far
    far[Position].place((1, 8))  # beyond the water
    assert choose_prey(field.town, beast, beast[Quarry]) is None


def test_eggs_are_prey_that_guards_make_farther_away(field, nest):
    beast = wolf(field)
    assert choose_prey(field.town, beast, beast[Quarry]) is None
    nest[Nest].lay(100)
    far = prey(field, (9, 1), "Far")
    assert choose_prey(field.town, beast, beast[Quarry]) is nest
    nest[Nest].begin_watch(drake(field, nest))
    assert choose_prey(field.town, beast, beast[Quarry]) is far
    far.destroy()
    assert choose_prey(field.town, beast, beast[Quarry]) is nest


def test_a_growl_and_a_blow_are_remembered_for_a_while(field, nest):
    beast, ada = wolf(field), field.person((2, 1))
    quarry = beast[Quarry]
    nest[Nest].lay(100)
    quarry.scare(nest, 10)
    assert [quarry.dares(nest, tick) for tick in (10, 9 + AWE, 10 + AWE)] == [False, False, True]
    assert quarry.awe == {}
    beast.signal(STRUCK).connect(lambda by: quarry.struck(by, 20))
    wound(field.town, beast, 5)
    assert quarry.enemy_at(20) is None  # nobody can be blamed
    wound(field.town, beast, 5, by=ada)
    assert [quarry.enemy_at(tick) for tick in (20, 19 + GRUDGE, 20 + GRUDGE)] == [ada, ada, None]
    quarry.struck(ada, 20)
    ada.destroy()
    assert quarry.enemy_at(21) is None
