"""CURRENT: the expected state flows along the elected actions, never between competing futures, and back when they withdraw."""

from __future__ import annotations

import pytest

from agentrt import CURRENT, Action, ActionArgs, CompoundAction, Entity, Event, step
from agentrt.activity.author.expected import Current, expected_fields, read_entity


class Body:
    """A component with what a body has."""

    def __init__(self):
        self.location = (0, 0)
        self.carrying = None
        self.storage = Bag()


class Bag:
    def __init__(self, items=()):
        self.items = list(items)

    @property
    def full(self):
        return len(self.items) > 1

    def add_item(self, item):
        self.items.append(item)

    def copy(self):
        return Bag(self.items)


def human():
    return Entity("human", Body())


class Go(Action):
    does = "go"
    utility = 0.5

    class Args(ActionArgs):
        to: object

    async def think(self, ctx, args):
        ctx.CURRENT.location = args.to
        ctx.set_think_output()


def look(play, *, does="look", then=None):
    class Look(Action):
        utility = 0.5

        async def think(self, ctx, args):
            current = ctx.CURRENT
            play.note(current.location, current.location_changed, current.carrying, current.carrying_changed)
            if then is not None:
                then(ctx)
            ctx.set_think_output()

    return type("Look", (Look,), {"does": does})


def plan(*steps, name="Plan", **body):
    return type(name, (CompoundAction,), {"does": "top", "utility": 0.5, "steps": list(steps), **body})


@pytest.mark.states(
    "001: Step declarations: It is the state of the entity as it is until somebody writes, and the entity is not "
    "touched",
)
def test_it_begins_with_the_entity_as_it_is(play):
    play.add(plan(step("look")), look(play), entity=human())
    play.tick(1)
    assert play.log == [(1, (0, 0), False, None, False)]


@pytest.mark.states("001: Step declarations: CURRENT is written while thinking and seen by the steps after")
def test_what_a_step_writes_the_steps_after_it_see(play):
    play.add(plan(step("go", to=(3, 4)), step("look")), Go, look(play), entity=human())
    play.tick(1)
    assert play.log == [(1, (3, 4), True, None, False)]


@pytest.mark.states("001: Step declarations: location")
@pytest.mark.states(
    "001: Step declarations: location_changed and carrying_changed say whether a step before changed it, however deep",
)
def test_writes_add_up_along_the_plan(play):
    def carry(ctx):
        ctx.CURRENT.carrying = "log"

    play.add(
        plan(step("go", to=(3, 4)), step("look"), step("after")),
        Go,
        look(play, then=carry),
        look(play, does="after"),
        entity=human(),
    )
    play.tick(1)
    assert play.log == [(1, (3, 4), True, None, False), (1, (3, 4), True, "log", True)]


@pytest.mark.states("001: Step declarations: It is the state of the entity as it is until somebody writes, and the ...")
def test_the_entity_itself_is_not_touched(play):
    def change(ctx):
        ctx.CURRENT.carrying = "log"
        ctx.CURRENT.storage.add_item("nail")
        ctx.CURRENT.self_reserved[5] = "tree"

    entity = human()
    play.add(plan(step("go", to=(3, 4)), step("look")), Go, look(play, then=change), entity=entity)
    play.tick(1)
    body = entity[Body]
    assert (body.location, body.carrying, body.storage.items) == ((0, 0), None, [])


def test_competing_actions_do_not_see_each_other(play):
    """Both write; each sees its own; the elected one's writing is what the step after it gets."""

    def writer(label, utility):
        async def think(self, ctx, args):
            ctx.CURRENT.storage.add_item(label)
            ctx.CURRENT.location = label
            play.note(label, ctx.CURRENT.storage.items, ctx.CURRENT.location)
            ctx.set_think_output()

        return type(label, (Action,), {"utility": utility, "does": "go", "think": think})

    class After(Action):
        does = "after"
        utility = 0.5

        async def think(self, ctx, args):
            play.note("after", ctx.CURRENT.storage.items, ctx.CURRENT.location)

    play.add(plan(step("go"), step("after")), writer("Left", 0.4), writer("Right", 0.6), After, entity=human())
    play.tick(1)
    assert play.log == [
        (1, "Left", ["Left"], "Left"),
        (1, "Right", ["Right"], "Right"),
        (1, "after", ["Right"], "Right"),
    ]


def test_competing_plans_do_not_see_each_other(play):
    play.add(
        plan(step("go", to="left"), step("look"), name="Left"),
        plan(step("go", to="right"), step("look"), name="Right"),
        plan(step("look"), name="Neither"),
        Go,
        look(play),
        entity=human(),
    )
    play.tick(1)
    assert sorted(str(entry[1]) for entry in play.log) == ["(0, 0)", "left", "right"]


@pytest.mark.states(
    "001: Step declarations: The example: a step fills the expected backpack, and a later one decides by it",
)
def test_a_value_that_can_be_copied_is_copied_for_each_that_reads_it(play):
    def add(ctx):
        ctx.CURRENT.storage.add_item("nail")
        play.note(ctx.CURRENT.storage.items, ctx.CURRENT.storage.full)

    play.add(
        plan(step("look"), step("more"), step("rest")),
        look(play, then=add),
        look(play, does="more", then=add),
        look(play, does="rest", then=lambda ctx: play.note(ctx.CURRENT.storage.items)),
        entity=human(),
    )
    play.tick(1)
    assert [entry[1:] for entry in play.log if isinstance(entry[1], list)] == [
        (["nail"], False),
        (["nail", "nail"], True),
        (["nail", "nail"],),
    ]


def test_withdrawal_restores_it(play):
    """The elected action of the first step withdraws, another takes its place, and the step after it begins anew."""
    gate = Event()

    class Best(Action):
        does = "go"
        utility = 0.9

        async def think(self, ctx, args):
            ctx.CURRENT.location = "far"
            ctx.set_think_output()
            await gate.wait()
            ctx.clear_think_output()
            await ctx.sleep(100)

    class Plain(Action):
        does = "go"
        utility = 0.1

    def change(ctx):
        ctx.CURRENT.storage.add_item("nail")

    play.add(
        plan(step("go"), step("look"), step("long")),
        Best,
        Plain,
        look(play, then=change),
        type("Long", (Action,), {"does": "long", "utility": 0.5, "think": _never}),
        entity=human(),
    )
    play.tick(1)
    gate.set()
    play.tick(1)
    assert play.log == [(1, "far", True, None, False), (2, (0, 0), False, None, False)]


async def _never(self, ctx, args):
    await ctx.sleep(1000)


@pytest.mark.states("001: Step declarations: location_changed and carrying_changed say whether a step before ...")
def test_it_flows_into_a_nested_plan_and_out_of_it(play):
    class Inner(CompoundAction):
        does = "inner"
        utility = 0.5
        steps = [step("look"), step("go", to="inner")]

        async def think(self, ctx, args):
            ctx.CURRENT.carrying = "from own think"
            ctx.set_think_output()

    play.add(
        plan(step("go", to="outer"), step("inner"), step("after")),
        Inner,
        Go,
        look(play),
        look(play, does="after"),
        entity=human(),
    )
    play.tick(1)
    assert play.log == [(1, "outer", True, "from own think", True), (1, "inner", True, "from own think", True)]


def test_the_placeholder_reads_the_expected_state_at_its_step(play):
    seen = []

    class Take(Action):
        does = "take"
        utility = 0.5

        class Args(ActionArgs):
            value: object

        async def think(self, ctx, args):
            seen.append(args.value)
            ctx.set_think_output()

    where = [CURRENT.location, CURRENT.location_changed]
    play.add(
        plan(step("take", value=where), step("go", to=(3, 4)), step("take", value=where)), Take, Go, entity=human()
    )
    play.tick(1)
    assert seen == [[(0, 0), False], [(3, 4), True]]


@pytest.mark.states("001: Step declarations: They are read-only")
@pytest.mark.parametrize("flag", ["location_changed", "carrying_changed", "storage_changed"])
def test_the_changed_flags_are_read_only(play, flag):
    class Wrong(Action):
        does = "top"
        utility = 0.5

        async def think(self, ctx, args):
            try:
                setattr(ctx.CURRENT, flag, True)
            except AttributeError as error:
                play.note(str(error))

    play.add(Wrong)
    play.tick(1)
    field = flag.removesuffix("_changed")
    assert play.log == [
        (1, f"[ART110] CURRENT.{flag} is read-only: it says whether {field} was changed. Write CURRENT.{field}.")
    ]


@pytest.mark.states("001: Step declarations: (ours) Other fields may be used, and declared with types")
def test_any_other_field_can_be_used(play):
    class Mood(Action):
        does = "mood"
        utility = 0.5

        async def think(self, ctx, args):
            play.note(ctx.CURRENT.mood)
            ctx.CURRENT.mood = "happy"
            ctx.set_think_output()

    play.add(plan(step("mood"), step("mood")), Mood)
    play.tick(1)
    assert play.log == [(1, None), (1, "happy")]


def test_the_next_plan_begins_with_the_entity_again(play):
    entity = human()

    class Walk(Action):
        does = "top"
        utility = 0.5

        async def think(self, ctx, args):
            play.note(ctx.CURRENT.location)
            ctx.CURRENT.location = "planned"
            ctx.set_think_output()

        async def run(self, ctx, args):
            entity[Body].location = "walked"
            await ctx.sleep_ticks(1)

    play.add(Walk, entity=entity)
    play.tick(2)
    assert play.log == [(1, (0, 0)), (2, "walked")]


def test_an_executed_activity_begins_with_the_entity_as_it_is(play):
    """What the action is expected to change has not happened yet while it runs."""
    entity = human()

    class Pick(Action):
        does = "top"
        utility = 0.5

        async def think(self, ctx, args):
            ctx.CURRENT.carrying = "log"
            ctx.set_think_output()

        async def run(self, ctx, args):
            await ctx.execute("look")
            await ctx.sleep(100)

    play.add(Pick, look(play), entity=entity)
    play.tick(1)
    assert play.log == [(1, (0, 0), False, None, False)]


# --- the layers themselves --------------------------------------------------------------------------------------------


def test_reading_costs_nothing_until_somebody_writes():
    entity = human()
    bottom = Current(None, entity, read_entity)
    top = Current(bottom, entity, read_entity)
    assert top.location == (0, 0)
    bottom.location = (1, 1)
    assert (top.location, top.location_changed) == ((1, 1), True)
    top.location = (2, 2)
    assert (bottom.location, top.location) == ((1, 1), (2, 2))
    assert repr(top) == "<CURRENT: location=(2, 2)>"
    assert repr(Current(None, entity, read_entity)) == "<CURRENT: unchanged>"


def test_how_an_entity_is_read():
    entity = Entity("human", Body(), name="ada")
    assert read_entity(entity, "location") == (0, 0)
    assert read_entity(entity, "name") == "ada"
    assert read_entity(entity, "nothing") is None
    assert read_entity(entity, "destroy") is None
    assert read_entity(entity, "self_reserved") == {}
    assert read_entity(entity, "self_region_reserved") == {}
    assert read_entity(object(), "location") is None


def test_an_agent_may_read_its_entity_in_its_own_way(play):
    class Thing:
        """A type that knows nothing of agentrt."""

        pos = (7, 7)

    play.add(
        plan(step("look")),
        look(play),
        entity=Thing(),
        read_state=lambda thing, name: thing.pos if name == "location" else None,
    )
    play.tick(1)
    assert play.log == [(1, (7, 7), False, None, False)]


def test_the_fields_that_are_expected_are_those_of_the_topmost_layer():
    class Owner(Entity):
        def __init__(self):
            super().__init__("human")
            self.location, self.tools = "home", {"axe": 1}

    entity = Owner()
    low = Current(None, entity, read_entity)
    low.location = "hill"
    assert low.tools == {"axe": 1}  # looked at: from now on it is this future's own
    high = Current(low, entity, read_entity)
    high.location = "lake"
    assert expected_fields(low) == {"location": "hill", "tools": {"axe": 1}}
    assert expected_fields(high) == {"location": "lake", "tools": {"axe": 1}}
    assert expected_fields(Current(None, entity, read_entity)) == {}
