"""What the world is made of: census, goods, plots, bodies, effects, daylight, chronicle."""

from __future__ import annotations

from types import SimpleNamespace

import pytest

from agentrt import Entity, Signal
from agentrt_actions import Carrier, Consumable, Located, Mover, PathFinder, Storage, Threats
from agentrt_examples.colony.animals import Poser, is_animal
from agentrt_examples.colony.bodies import Fear, Health, Legs, Needs, Position, Traits
from agentrt_examples.colony.census import Census
from agentrt_examples.colony.chronicle import Chronicle
from agentrt_examples.colony.daylight import Daylight
from agentrt_examples.colony.effects import EFFECTS, EffectBoard
from agentrt_examples.colony.goods import Goods, Hands, Shelf
from agentrt_examples.colony.growing import Bush, Plot
from agentrt_examples.colony.harm import heal, wound
from agentrt_examples.colony.terrain import Ground
from agentrt_examples.colony.texts import EFFECT_SIGNS, STATUS_TEXTS, status_text


def listen(signal: Signal) -> list[object]:
    heard: list[object] = []
    signal.connect(heard.append)
    return heard


# --- census -----------------------------------------------------------------------------------------------------------


def test_a_census_keeps_the_order_of_coming():
    census = Census()
    ants = [Entity("ant", name=str(number)) for number in range(5)]
    for ant in reversed(ants):
        census.put(ant, "ant", "small")
    census.take(ants[2], "small")
    census.put(ants[2], "small")
    assert [ant.name for ant in census.find("ant")] == ["4", "3", "2", "1", "0"]
    assert [ant.name for ant in census.find("small")] == ["4", "3", "1", "0", "2"]
    assert census.count("small") == 5
    assert census.find("large") == ()


def test_a_census_tells_of_changes_and_of_nothing_else():
    census = Census()
    ant = Entity("ant")
    heard = listen(census.changed("small"))
    census.put(ant, "small")
    census.put(ant, "small")
    census.put(ant, "red")
    assert len(heard) == 1
    census.mark(ant, "small", False)
    census.take(ant, "small")
    assert len(heard) == 2


def test_what_is_destroyed_is_struck():
    census = Census()
    ant = Entity("ant")
    census.put(ant, "small", "red")
    heard = listen(census.changed("red"))
    ant.destroy()
    assert census.find("small") == census.find("red") == ()
    assert not census.has(ant, "red")
    assert len(heard) == 1


# --- goods ------------------------------------------------------------------------------------------------------------


def tags_of(field, item):
    known = ("item", "loose", f"loose:{item.kind}", item.kind)
    return [tag for tag in known if field.census.has(item, tag)]


def test_an_item_is_loose_then_held_then_stored_then_gone(field):
    item = field.town.item("turnip", (2, 2))
    assert tags_of(field, item) == ["item", "loose", "loose:turnip", "turnip"]
    hands = Hands(Position((3, 2)), field.census)
    assert hands.pick_up(item)
    assert tags_of(field, item) == ["item"]
    shelf = Shelf(field.town.entity("shelf", (5, 5)), "turnip", 1, field.census, field.town.chronicle)
    assert shelf.store(item, hands)
    assert hands.carrying is None
    assert item[Located].location == (5, 5)
    assert tags_of(field, item) == ["item", "turnip"]
    item[Goods].use_up(item)
    assert shelf.items == []
    assert item.is_destroyed
    assert field.counts == {"items stored": 1}


def test_hands_hold_one_item_and_never_the_same_as_other_hands(field):
    one, other = field.town.item("turnip", (2, 2)), field.town.item("herb", (2, 2))
    left, right = (Hands(Position((3, 2)), field.census) for _ in range(2))
    assert left.pick_up(one)
    assert not left.pick_up(other)
    assert not right.pick_up(one)
    assert left.put_down() is one
    assert one[Located].location == (3, 2)
    assert right.pick_up(one)
    assert left.put_down() is None


def test_a_shelf_takes_what_belongs_there_while_there_is_room(field):
    shelf = Shelf(field.town.entity("shelf", (5, 5)), "turnip", 1, field.census, field.town.chronicle)
    heard = listen(field.census.changed("storage"))
    turnip, meal = field.town.item("turnip", (2, 2)), field.town.item("meal", (2, 2))
    hands = Hands(Position((3, 2)), field.census)
    assert not shelf.accepts(meal)
    assert not shelf.store(turnip, hands)  # nobody carries it
    assert shelf.put(turnip)
    assert [change.is_there for change in heard] == [False]  # it is full: nobody looks for room there
    assert not shelf.accepts(field.town.item("turnip", (2, 2)))
    assert hands.pick_up(turnip)
    assert [change.is_there for change in heard] == [False, True]


def test_a_meal_fills(field):
    ada = field.person()
    ada[Needs].add(satiety=-900)
    meal = field.town.item("meal", (1, 1))
    meal[Consumable].consume(ada)
    assert ada[Needs].satiety == 800
    assert meal.is_destroyed
    field.town.item("turnip", (1, 1))[Consumable].consume(ada)
    assert ada[Traits].thoughts == ["had a warm meal", "had to eat a raw turnip"]
    assert field.counts == {"meals eaten": 1, "raw food eaten": 1}


# --- growing ----------------------------------------------------------------------------------------------------------


def test_a_plot_goes_round():
    census = Census()
    entity = Entity("plot", name="plot 1")
    plot = Plot(entity, census)
    for state in ("bare", "tilled", "planted", "ripe", "bare"):
        assert census.find(f"plot:{state}") == (entity,)
        plot.advance(state)
    with pytest.raises(ValueError, match="plot 1 is tilled, not ripe"):
        plot.advance("ripe")
    assert census.count("plot") == 1


def test_a_bush_bears_again_after_a_while():
    made, gone = [], []

    def bear():
        made.append(Entity("herb"))
        return made[-1]

    bush = Bush(bear, 100)
    for tick in range(0, 400, 5):
        bush.grow(tick, lambda herb: herb not in gone)
        if tick == 50:
            gone.append(made[0])
    assert len(made) == 2


# --- bodies -----------------------------------------------------------------------------------------------------------


def test_a_position_tells_where_it_went():
    position = Position((1, 1))
    heard = listen(position.moved)
    position.place((1, 1))
    position.place((2, 1))
    assert heard == [(2, 1)]


def test_legs_walk_one_step_on_walkable_ground():
    position = Position((0, 0))
    legs = Legs(position, Ground(".:T\n...\n"), 4)
    assert (legs.ticks_to((1, 0)), legs.ticks_to((0, 1))) == (3, 4)
    assert not legs.step((1, 1))
    assert legs.step((1, 0))
    assert not legs.step((2, 0))
    assert position.location == (1, 0)
    legs.limping = True
    assert legs.ticks_to((0, 1)) == 6


def test_needs_stay_within_their_bounds():
    needs = Needs(satiety=100)
    needs.add(satiety=-300, rest=50)
    assert (needs.satiety, needs.rest) == (0, 1000)
    assert (needs.hunger, needs.tiredness) == (1.0, 0.0)


def test_who_is_down_stays_down_until_a_fifth_is_back():
    health = Health(100)
    health.add(-40)
    assert health.is_hurt
    assert not health.is_down
    health.add(-200)
    assert (health.points, health.is_down) == (0, True)
    health.add(19)
    assert health.is_down
    health.add(1)
    assert not health.is_down


def test_fear_tells_when_something_changes():
    fear = Fear("wolf", 5)
    wolf = Entity("wolf")
    heard = listen(fear.changed)
    fear.notice((wolf,), 4)
    fear.notice((wolf,), 4)
    fear.notice((wolf,), 3)
    fear.notice((), 0)
    assert len(heard) == 3


def test_only_the_last_five_thoughts_are_kept():
    traits = Traits("artist")
    for number in range(7):
        traits.add_thought(str(number))
    assert traits.thoughts == ["2", "3", "4", "5", "6"]
    assert "artist" in traits
    assert "healer" not in traits


def test_wounds_are_known_to_the_census(field):
    ada = field.person()
    assert not wound(field.town, ada, 20)
    assert field.census.find("wounded") == ()
    wound(field.town, ada, 20)
    assert field.census.find("wounded") == (ada,)
    assert ada[Legs].limping
    wound(field.town, ada, 90)
    assert field.census.find("prey") == ()
    assert field.counts == {"knocked down": 1}
    heal(field.town, ada, 80)
    assert field.census.find("wounded") == ()
    assert field.census.find("prey") == (ada,)
    assert not ada[Legs].limping


def test_who_is_no_hearthling_dies(field):
    wolf = field.town.being("wolf", (1, 1), pace=2, health=50)
    assert not wound(field.town, wolf, 20)
    assert wound(field.town, wolf, 30)
    assert wolf.is_destroyed


def test_an_animal_is_frozen_until_the_last_painter_is_done():
    poser = Poser(80)
    ready, changed = listen(poser.ready_to_pose), listen(poser.changed)
    poser.pose(True)
    poser.pose(True)
    poser.freeze()
    poser.freeze()
    poser.unfreeze()
    assert poser.is_frozen
    poser.unfreeze()
    poser.unfreeze()
    assert not poser.is_frozen
    poser.pose(False)
    assert (len(ready), changed) == (1, [True, False])
    assert poser.photogenicity == 0.8
    assert is_animal(Entity("rabbit", poser))
    assert not is_animal(Entity("stone"))


# --- effects, daylight, chronicle, texts ------------------------------------------------------------------------------


def test_effects_end_in_the_order_in_which_they_began():
    clock = SimpleNamespace(tick=0)
    board = EffectBoard(clock)
    heard = []
    ada = Entity("person", name="Ada")
    board.play(ada, "harvest", lambda: heard.append("harvest"))
    board.play(ada, "harvest", lambda: heard.append("again"))
    stopped = board.play(ada, "bite", lambda: heard.append("never"))
    stopped.stop()
    stopped.stop()
    assert board.effect_of(ada) == "harvest"
    for clock.tick in range(EFFECTS["harvest"] + 1):
        board.end_due()
    assert heard == ["harvest", "again"]
    assert board.effect_of(ada) == ""
    with pytest.raises(KeyError):
        board.play(ada, "sneeze", print)


def test_the_day_goes_round():
    clock = SimpleNamespace(tick=0)
    daylight = Daylight(clock)
    seen = []
    for clock.tick in (0, 599, 600, 700, 949, 950, 999, 1000):
        seen.append((daylight.day, daylight.phase))
    assert seen == [
        (1, "day"), (1, "day"), (1, "dusk"), (1, "night"), (1, "night"), (1, "dawn"), (1, "dawn"), (2, "day"),
    ]  # fmt: skip


def test_the_chronicle_counts_only_what_it_knows():
    chronicle = Chronicle(SimpleNamespace(tick=12))
    heard = []
    chronicle.listeners.append(heard.append)
    chronicle.note("meals eaten", Entity("person", name="Ada"), "ate a meal")
    assert chronicle.counts["meals eaten"] == 1
    assert [tuple(entry) for entry in heard] == [(12, "meals eaten", "Ada", "ate a meal")]
    with pytest.raises(KeyError):
        chronicle.note("sneezes", Entity("person"), "sneezed")


def test_words_for_keys():
    assert status_text("colony:status.cook", {}) == "cooking"
    assert status_text("colony:status.heal", {"patient": Entity("person", name="Ada")}) == "bandaging Ada"
    assert status_text("somebody:else", {"what": 3}) == "somebody:else"
    assert set(EFFECT_SIGNS) <= set(EFFECTS)


def test_every_status_key_that_an_action_uses_has_words():
    import agentrt_actions
    from agentrt_examples.colony import manifest

    actions = [*agentrt_actions.manifest.aliases.values(), *manifest.aliases.values()]
    keys = {key for action in actions if (key := getattr(action, "status_text_key", None))}
    assert keys <= set(STATUS_TEXTS)


# --- town -------------------------------------------------------------------------------------------------------------


def test_a_being_has_the_services_of_the_town(field):
    ada = field.person()
    for protocol in (Located, Mover, Carrier, PathFinder, Threats):
        assert isinstance(ada[protocol], protocol)
    turret = field.town.being("turret", (1, 1))
    assert turret.get(Mover) is None
    assert turret.get(Threats) is None


def test_the_colony_is_furnished(colony):
    census = colony.town.census
    assert {tag: census.count(tag) for tag in ("plot", "bed", "hearth", "shelf", "storage", "turnip", "meal")} == {
        "plot": 54, "bed": 12, "hearth": 2, "shelf": 34, "storage": 31, "turnip": 8, "meal": 4,
    }  # fmt: skip
    assert all(isinstance(shelf[Storage], Storage) for shelf in census.find("shelf"))
    assert census.count("hearthling") == 11
    assert census.count("being") == len(colony.population.agents) == 25
    kinds = sorted({entity.kind for entity in census.find("being")})
    assert kinds == ["critter", "drake", "hearthling", "pet", "turret", "wolf"]


def test_names_are_the_same_in_every_run(colony):
    from agentrt_examples.colony.colony import Colony

    other = Colony(seed=8)
    assert [agent.name for agent in other.population.agents] == [agent.name for agent in colony.population.agents]
    other.runtime.close()


def test_stock_stops_when_the_shelves_are_full(colony):
    colony.town.stock("picture", 100)
    assert colony.town.census.count("picture") == 16  # eight shelves for two each
