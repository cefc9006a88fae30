"""What CURRENT is made of: the seed's fields, the expected storage, and typed fields of a game's own."""

from __future__ import annotations

import pytest

from agentrt import Action, CompoundAction, Entity, step
from agentrt.activity.author.expected import Current, CurrentFields, ExpectedStorage, read_entity
from agentrt.errors import AgentRTError, DefinitionError, ExpectedStateError


class Backpack:
    """A component of a game that knows nothing of expected state."""

    def __init__(self, *items, capacity=2):
        self.items = {item.id: item for item in items}
        self.capacity = capacity


class Person:
    def __init__(self, storage=None, **fields):
        self.location = (0, 0)
        self.carrying = None
        self.storage = storage
        self.__dict__.update(fields)


def things(*ids):
    return [Entity("thing", id=number) for number in ids]


def layers(entity, count=2, fields=None):
    made = [Current(None, entity, read_entity, fields)]
    while len(made) < count:
        made.append(Current(made[-1], entity, read_entity, fields))
    return made


# --- the storage ------------------------------------------------------------------------------------------------------


@pytest.mark.states("001: Step declarations: storage: items from id to entity, full, add_item, remove_item")
def test_a_storage_of_the_game_becomes_an_expected_one():
    nail, log = things(1, 2)
    pack = Backpack(nail)
    (current,) = layers(Person(pack), 1)
    storage = current.storage
    assert (dict(storage.items), storage.full, storage.capacity) == ({1: nail}, False, 2)
    assert storage.add_item(log)
    assert (dict(current.storage.items), storage.full, pack.items) == ({1: nail, 2: log}, True, {1: nail})
    assert not storage.add_item(things(3)[0])
    assert storage.remove_item(1) is nail
    assert storage.remove_item(log) is log
    assert storage.remove_item(log) is None
    assert (len(storage), bool(storage), storage.full) == (0, True, False)


def test_a_storage_that_only_says_that_it_is_full():
    class Sack:
        def __init__(self, items, full):
            self.items, self.full = items, full

    nail, log = things(1, 2)
    full = ExpectedStorage.of(Sack([nail, log], True))
    assert (full.full, full.add_item(things(3)[0])) == (True, False)
    full.remove_item(nail)
    assert (full.full, full.add_item(nail), full.full) == (False, True, True)
    assert ExpectedStorage.of(Sack([nail], False)).capacity is None


def test_a_storage_may_say_more_than_its_capacity():
    """Full by weight, say, with places left."""

    class Cart(Backpack):
        full = True

    (nail,) = things(1)
    assert ExpectedStorage.of(Cart(nail, capacity=9)).full


def test_entities_without_an_id_stand_under_themselves():
    stone, pebble = Entity("stone"), Entity("pebble")
    storage = ExpectedStorage([stone])
    storage.add_item(pebble)
    assert list(storage.items) == [stone, pebble]
    assert (stone in storage, storage.remove_item(stone) is stone, stone in storage) == (True, True, False)


def test_its_items_are_a_table_to_look_at():
    storage = ExpectedStorage(things(1), capacity=4)
    with pytest.raises(TypeError):
        storage.items[2] = None
    assert repr(storage) == "<ExpectedStorage: 1 of 4 items>"
    assert repr(ExpectedStorage()) == "<ExpectedStorage: 0 items>"


def test_what_was_added_later_steps_see_and_competing_ones_do_not():
    nail, log, tin = things(1, 2, 3)
    entity = Person(Backpack(nail, capacity=9))
    below, one = layers(entity)
    other = Current(below, entity, read_entity)
    below.storage.add_item(log)
    one.storage.add_item(tin)
    assert [list(layer.storage.items) for layer in (below, one, other)] == [[1, 2], [1, 2, 3], [1, 2]]
    assert list(entity.storage.items) == [1]


def test_a_storage_that_was_only_looked_at_is_read_anew():
    nail, log, tin = things(1, 2, 3)
    entity = Person(Backpack(nail, capacity=9))
    below, above = layers(entity)
    kept = above.storage
    below.storage  # noqa: B018 - looked at, and no more
    entity.storage.items[2] = log
    assert [list(layer.storage.items) for layer in (above, below)] == [[1, 2], [1, 2]]
    assert above.storage is kept
    kept.add_item(tin)
    entity.storage.items.clear()
    assert [list(layer.storage.items) for layer in (above, below)] == [[1, 2, 3], []]


def test_a_storage_that_the_entity_loses_is_gone_for_who_only_looked():
    entity = Person(Backpack(*things(1)))
    _, above = layers(entity)
    assert list(above.storage.items) == [1]
    entity.storage = None
    assert above.storage is None


def test_adding_and_removing_is_a_change():
    entity = Person(Backpack(*things(1)))
    below, above = layers(entity)
    assert (above.storage.full, above.storage_changed) == (False, False)
    below.storage.remove_item(1)
    assert (below.storage_changed, above.storage_changed, above.location_changed) == (True, True, False)


def test_another_storage_can_be_expected():
    entity = Person(Backpack(*things(1)))
    below, above = layers(entity)
    below.storage = ExpectedStorage(capacity=0)
    assert (above.storage.full, above.storage_changed, len(above.storage)) == (True, True, 0)


# --- the other fields -------------------------------------------------------------------------------------------------


def test_what_nobody_changed_is_read_each_time():
    entity = Person()
    below, above = layers(entity)
    assert above.location == (0, 0)
    entity.location = (5, 5)
    assert (above.location, above.location_changed) == ((5, 5), False)
    below.location = (1, 1)
    entity.location = (9, 9)
    assert (above.location, above.location_changed) == ((1, 1), True)


@pytest.mark.states("001: Step declarations: self_reserved: from id to entity, what the steps before will have ...")
@pytest.mark.states("001: Step declarations: self_region_reserved: from id to a table from offset key to offset ...")
def test_reservations_do_not_leak_however_deep_they_are():
    tree = things(7)[0]
    entity = Person(self_region_reserved={7: {"old": (0, 0)}})
    below, above = layers(entity)
    beside = Current(below, entity, read_entity)
    below.self_reserved[7] = tree
    below.self_region_reserved[7]["near"] = (1, 0)
    above.self_region_reserved.setdefault(7, {})["far"] = (9, 0)
    assert entity.self_region_reserved == {7: {"old": (0, 0)}}
    assert beside.self_region_reserved == {7: {"old": (0, 0), "near": (1, 0)}}
    assert above.self_region_reserved == {7: {"old": (0, 0), "near": (1, 0), "far": (9, 0)}}
    assert (above.self_reserved, Current(None, entity, read_entity).self_reserved) == ({7: tree}, {})


@pytest.mark.states("001: Step declarations: carrying is the item")
def test_what_is_carried_is_the_thing_itself():
    class Bag(Backpack):
        def copy(self):
            raise AssertionError("nobody copies a thing")

    bag = Bag()
    below, above = layers(Person(carrying=bag))
    assert above.carrying is bag
    assert not above.carrying_changed
    below.carrying = None
    assert (above.carrying, above.carrying_changed) == (None, True)


def test_plain_containers_inside_of_others_are_copied_and_things_are_not():
    class Thing:
        def copy(self):
            raise AssertionError("nobody copies a thing")

    thing = Thing()
    entity = Person(route=[[1], {thing}, {"a": [thing]}])
    (current,) = layers(entity, 1)
    current.route[0].append(2)
    current.route[2]["a"].clear()
    assert entity.route == [[1], {thing}, {"a": [thing]}]


def test_a_field_is_not_deleted():
    (current,) = layers(Person(), 1)
    with pytest.raises(ExpectedStateError, match=r"CURRENT\.location cannot be deleted"):
        del current.location


# --- fields of the game's own -----------------------------------------------------------------------------------------


class Expected(CurrentFields):
    stamina: float = 1.0
    mood: str | None = None
    marks: list[str] = []
    speed: int


@pytest.mark.states("001: Step declarations: (ours) Other fields may be used, and declared with types ...")
def test_declared_fields_have_types_and_defaults():
    below, above = layers(Person(speed=3), fields=Expected)
    assert (above.stamina, above.mood, above.marks, above.speed, above.location) == (1.0, None, [], 3, (0, 0))
    below.stamina = 0
    above.marks.append("x")
    assert (above.stamina, below.marks, above.marks, Current(None, Person(), read_entity, Expected).marks) == (
        0,
        [],
        ["x"],
        [],
    )


def test_the_entity_comes_before_the_default():
    (current,) = layers(Person(stamina=0.25), 1, Expected)
    assert current.stamina == 0.25


def test_a_name_that_is_not_declared_is_an_error():
    (current,) = layers(Person(), 1, Expected)
    with pytest.raises(AttributeError) as reading:
        current.stamnia  # noqa: B018
    with pytest.raises(AttributeError) as writing:
        current.stamnia = 1
    assert str(reading.value) == str(writing.value)
    assert str(reading.value) == (
        "[ART110] CURRENT.stamnia is not declared in Expected. Did you mean 'stamina'? Declared: "
        "location, carrying, storage, self_reserved, self_region_reserved, stamina, mood, marks, speed."
    )
    assert isinstance(reading.value, AgentRTError)
    assert not hasattr(current, "stamnia")


def test_a_wrong_type_is_an_error_when_it_is_written():
    (current,) = layers(Person(), 1, Expected)
    with pytest.raises(ExpectedStateError) as caught:
        current.stamina = "tired"
    assert str(caught.value) == "[ART110] CURRENT.stamina takes float, not str 'tired'. See Expected."
    assert (caught.value.field, current.stamina) == ("stamina", 1.0)
    current.mood = None
    current.mood = "happy"


def test_a_field_without_a_default_that_the_entity_does_not_have_is_an_error():
    (current,) = layers(Person(), 1, Expected)
    with pytest.raises(ExpectedStateError, match="speed is declared in Expected without a default, and the entity"):
        current.speed  # noqa: B018
    current.speed = 4
    assert current.speed == 4


def test_the_flags_are_there_with_declared_fields_too():
    (current,) = layers(Person(), 1, Expected)
    current.location = (1, 1)
    assert (current.location_changed, current.carrying_changed, current.storage_changed) == (True, False, False)


def test_a_wrong_default_is_an_error_at_the_declaration():
    with pytest.raises(DefinitionError, match="the default of 'stamina' is 'much', but it takes float"):

        class Wrong(CurrentFields):
            stamina: float = "much"


def test_an_agent_is_given_its_fields(play):
    class Rest(Action):
        does = "rest"
        utility = 0.5

        async def think(self, ctx, args):
            ctx.CURRENT.stamina = 0.5
            ctx.set_think_output()

    class Fight(Action):
        does = "fight"
        utility = 0.5

        async def think(self, ctx, args):
            play.note(ctx.CURRENT.stamina, ctx.CURRENT.mood)
            ctx.CURRENT.courage = 1

    plan = type("Plan", (CompoundAction,), {"does": "top", "utility": 0.5, "steps": [step("rest"), step("fight")]})
    play.add(plan, Rest, Fight, expected=Expected)
    play.tick(1)
    assert play.log == [(1, 0.5, None)]
    ((tick, path, hook, error),) = play.faults()
    assert (tick, path, hook) == (1, "top/Plan/fight/Fight", "think")
    assert error.startswith("ExpectedStateError: [ART110] CURRENT.courage is not declared in Expected.")
