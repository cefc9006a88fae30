"""Finding the best of many: in slices, shared, kept true, and advanced when a later step says no."""

from __future__ import annotations

import pytest

from agentrt import OUT, TOP, Action, ActionArgs, CompoundAction, Entity, Runtime, Signal, step
from agentrt.testing import Simulation
from agentrt_actions import Changing, FindBest, FindEntity, Located, PathFinder, ReserveEntity, Surveyor, Wait

SEARCHING = (FindBest, ReserveEntity, Wait)


def searches(*after, **args):
    class Search(CompoundAction):
        does = TOP
        utility = 0.5
        steps = (
            step("agentrt:find_best", **args, name="found"),
            step("agentrt:reserve_entity", entity=OUT["found"].entity),
            *after,
            step("agentrt:wait", seconds=1000),
        )

    return Search


def things(world, count, *, tag="thing", place=None):
    made = [Entity("thing", name=f"thing {number}", id=number) for number in range(count)]
    if place is not None:
        for thing in made:
            thing.add(world.thing("spot", place)[Located], Located)
    world.tags.under[tag] = list(made)
    return made


def offers(world, agent="Ada"):
    """What a search has offered, with the ticks."""
    return [
        (record.tick, dict(record.detail)["text"])
        for record in world.sim.trace
        if record.event == "progress" and record.agent == agent
    ]


class Counting:
    """A filter and a rating that count how often they are asked in each tick."""

    def __init__(self, world, passes, rate=None):
        self.world = world
        self.passes = passes
        self.rate = rate
        self.asked = {}
        self.who = []

    def test(self, thing):
        self.asked[self.world.sim.now] = self.asked.get(self.world.sim.now, 0) + 1
        self.who.append(thing.id)
        return self.passes(thing)


@pytest.fixture
def many(grid):
    grid.tags.says_who = True
    return grid


# --- slices -------------------------------------------------------------------------------------------------------------


@pytest.mark.slow
def test_no_tick_examines_more_of_a_hundred_thousand_than_the_slice(many):
    made = things(many, 100_000)
    counting = Counting(many, lambda thing: thing.id % 4 == 0)
    many.finder.register_filter("fourth", counting.test)
    many.finder.register_rating("by id", lambda thing: thing.id * 7919 % 100_003 / 100_003)
    search = searches(tag="thing", filter="fourth", rating="by id", reachable=False)
    agents = [many.agent(search, *SEARCHING, place=(0, 0), name=name) for name in ("Ada", "Bea", "Cid")]
    ran = many.sim.run_until(lambda: len(many.leases) == 3, 200)
    best = sorted(made[::4], key=lambda thing: -(thing.id * 7919 % 100_003))[:3]
    assert [many.leases.holder(thing) for thing in best] == agents
    assert max(counting.asked.values()) <= 1000
    assert len(counting.who) == 100_000  # each once, for all three
    assert 124 < ran < 130  # 100,000 are examined and 25,000 rated, 1,000 a tick


def test_a_small_search_answers_at_once(many):
    things(many, 500)
    many.agent(searches(tag="thing", rating=lambda thing: thing.id / 1000, reachable=False), *SEARCHING, place=(0, 0))
    many.sim.tick()
    assert offers(many) == [(1, "thing 499, rated 0.499")]


def test_the_slice_is_an_argument(many):
    things(many, 500)
    counting = Counting(many, lambda thing: True)
    search = searches(tag="thing", filter=counting.test, rating=lambda thing: 0.5, reachable=False, per_tick=100)
    many.agent(search, *SEARCHING, place=(0, 0))
    many.sim.tick(12)
    assert sum(counting.asked.values()) == 500
    assert max(counting.asked.values()) <= 100
    assert offers(many) == [(10, "thing 0, rated 0.5")]


def test_the_think_budget_of_the_runtime_slows_it_down():
    sim = Simulation(runtime=Runtime(1, think_budget=64, host="plain"))
    from agentrt import Agent
    from agentrt_actions import Directory

    class Tags:
        def __init__(self):
            self.signal = Signal()
            self.made = [Entity("thing", id=number) for number in range(640)]

        def find(self, tag):
            return self.made

        def changed(self, tag):
            return self.signal

    class Search(CompoundAction):
        does = TOP
        utility = 0.5
        steps = (
            step("agentrt:find_best", tag="thing", filter=lambda thing: thing.id == 639, rating=lambda thing: 0.5),
            step("agentrt:wait", seconds=1000),
        )

    entity = Entity("person")
    entity.add(Tags(), Directory)
    sim.add(Agent(entity, actions=[Search, *SEARCHING]))
    sim.tick(30)
    assert [record.tick for record in sim.trace if record.event == "progress"] == [11]
    sim.close()


def test_nothing_better_than_the_best_is_looked_for(many):
    things(many, 5000)
    counting = Counting(many, lambda thing: True)
    rating = {7: 1.0}
    search = searches(
        tag="thing", filter=counting.test, rating=lambda thing: rating.get(thing.id, 0.5), reachable=False
    )
    many.agent(search, *SEARCHING, place=(0, 0))
    many.sim.tick(5)
    assert offers(many) == [(1, "thing 7, rated 1")]
    assert len(counting.who) < 130


def test_who_is_eager_takes_the_best_so_far(many):
    things(many, 500)
    search = searches(tag="thing", rating=lambda thing: thing.id / 1000, reachable=False, per_tick=200, eager=True)
    many.agent(search, *SEARCHING, place=(0, 0))
    many.sim.tick(10)
    assert offers(many)[0][0] == 1
    assert many.told("run")[0] == (1, "Search", "run")


# --- the memory ---------------------------------------------------------------------------------------------------------


def test_who_fails_is_asked_again_when_it_changed_and_not_before(many):
    made = things(many, 10)
    ripe = set()
    counting = Counting(many, lambda thing: thing.id in ripe)
    many.finder.register_filter("ripe", counting.test)
    search = searches(tag="thing", filter="ripe", rating=lambda thing: 0.5, reachable=False)
    agents = [many.agent(search, *SEARCHING, place=(0, 0), name=name) for name in ("Ada", "Bea")]
    many.sim.tick(5)
    assert counting.who == list(range(10))
    ripe.update((3, 4))
    many.sim.tick(5)
    assert len(counting.who) == 10
    many.tags.tell("thing", made[4])
    many.sim.tick(1)
    assert counting.who[10:] == [4]
    assert many.leases.holder(made[4]) is agents[0]


def test_a_directory_that_does_not_say_who_has_all_asked_again(many):
    made = things(many, 10)
    ripe = set()
    counting = Counting(many, lambda thing: thing.id in ripe)
    search = searches(tag="thing", filter=counting.test, rating=lambda thing: 0.5, reachable=False)
    agent = many.agent(search, *SEARCHING, place=(0, 0))
    many.sim.tick(2)
    ripe.add(3)
    many.tags.under["thing"].pop(0)
    many.tags.changed("thing").emit()
    many.sim.tick(1)
    assert counting.who == [*range(10), *range(1, 10)]
    assert many.leases.holder(made[3]) is agent


def test_a_candidate_that_tells_for_itself(many):
    class Fruit:
        def __init__(self):
            self.is_ripe = False
            self.changed = Signal()

        def ripen(self):
            self.is_ripe = True
            self.changed.emit()

    made = things(many, 5)
    for thing in made:
        thing.add(Fruit(), Changing)
    counting = Counting(many, lambda thing: thing[Changing].is_ripe)
    search = searches(candidates=made, filter=counting.test, rating=lambda thing: 0.5, reachable=False)
    agent = many.agent(search, *SEARCHING, place=(0, 0))
    many.sim.tick(2)
    made[2][Changing].ripen()
    many.sim.tick(1)
    assert counting.who == [0, 1, 2, 3, 4, 2]
    assert many.leases.holder(made[2]) is agent
    many.sim.runtime.remove(agent)
    many.sim.tick(2)
    assert "0 connected" in repr(made[2][Changing].changed)


def test_what_was_found_out_is_kept_between_plans(many):
    things(many, 2000)
    counting = Counting(many, lambda thing: thing.id > 5)
    many.finder.register_filter("late", counting.test)

    class Search(CompoundAction):
        does = TOP
        utility = 0.5
        steps = (
            step("agentrt:find_best", tag="thing", filter="late", reachable=False, rating=lambda thing: 0.9),
            step("agentrt:wait", seconds=0.1),
        )

    many.agent(Search, *SEARCHING, place=(0, 0))
    many.sim.tick(20)
    assert len(counting.who) == 2000
    assert len(many.told("complete")) == 8


def test_an_unknown_name_is_an_error_that_says_what_to_do(many):
    many.agent(searches(tag="thing", filter="ripe", rating=None), *SEARCHING, place=(0, 0))
    many.finder.register_filter("red", lambda thing: True)
    many.sim.tick()
    (fault,) = [dict(record.detail)["error"] for record in many.sim.trace if record.event == "fault"]
    assert fault == (
        "LookupError: no filter is registered as 'ripe'; registered: red. Register it: "
        "finder.register_filter('ripe', function), on the Finder that the entity has as a component."
    )
    with pytest.raises(ValueError, match="registered as 'red' already"):
        many.finder.register_filter("red", lambda thing: True)


# --- kept true ----------------------------------------------------------------------------------------------------------


class Hold(Action):
    """Keeps the plan from running until a signal of the entity."""

    does = "test:hold"
    utility = 1.0

    async def think(self, ctx, args):
        await ctx.signals["go"].wait()
        ctx.set_think_output()


def held(many, **args):
    """A search that goes on thinking: its plan is never ready."""
    return many.agent(searches(step("test:hold"), tag="thing", reachable=False, **args), Hold, *SEARCHING, place=(0, 0))


def test_a_better_one_takes_over_and_an_equal_one_does_not(many):
    made = things(many, 4)
    rating = {0: 0.2, 1: 0.6, 2: 0.4, 3: 0.6}
    held(many, rating=lambda thing: rating[thing.id])
    many.sim.tick()
    rating[0] = 0.6
    many.tags.tell("thing", made[0])
    many.sim.tick()
    rating[2] = 0.8
    many.tags.tell("thing", made[2])
    many.sim.tick()
    assert offers(many) == [(1, "thing 1, rated 0.6"), (3, "thing 2, rated 0.8")]
    utilities = [
        dict(record.detail)["utility"]
        for record in many.sim.trace
        if record.event == "ready" and "FindBest" in record.path
    ]
    assert utilities == [0.6, 0.8]


def test_one_that_became_worse_or_failed_or_left_or_died_gives_way(many):
    made = things(many, 5)
    rating = {0: 0.1, 1: 0.2, 2: 0.3, 3: 0.4, 4: 0.5}
    held(many, filter=lambda thing: rating[thing.id] >= 0, rating=lambda thing: rating[thing.id])
    many.sim.tick()
    rating[4] = 0.05
    many.tags.tell("thing", made[4])
    many.sim.tick()
    rating[3] = -1
    many.tags.tell("thing", made[3])
    many.sim.tick()
    many.tags.take("thing", made[2])
    many.sim.tick()
    made[1].destroy()
    many.sim.tick()
    assert [text.split(",")[0] for _, text in offers(many)] == ["thing 4", "thing 3", "thing 2", "thing 1", "thing 0"]
    many.tags.take("thing", made[0])
    many.tags.take("thing", made[4])
    many.sim.tick()
    assert many.told("unready")[-1] == (6, "FindBest", "unready")


def test_one_that_somebody_takes_gives_way_at_once_and_comes_back_when_it_is_free(many):
    made = things(many, 3)
    held(many, rating=lambda thing: thing.id / 10)
    many.sim.tick()
    lease = many.leases.acquire(made[2], "somebody")
    many.sim.tick()
    lease.release()
    many.sim.tick()
    assert offers(many) == [(1, "thing 2, rated 0.2"), (2, "thing 1, rated 0.1"), (3, "thing 2, rated 0.2")]


@pytest.mark.states("001: reject: The standard searches give the next best, and different ones to different ...")
def test_searchers_of_the_same_take_different_ones(many):
    made = things(many, 5)
    agents = [
        many.agent(
            searches(tag="thing", rating=lambda thing: thing.id / 10, reachable=False),
            *SEARCHING,
            place=(0, 0),
            name=name,
        )
        for name in ("Ada", "Bea", "Cid")
    ]
    many.sim.tick(3)
    assert [many.leases.holder(thing) for thing in made] == [None, None, *reversed(agents)]
    assert many.aborts() == []


@pytest.mark.states("001: reject: The standard searches give the next best, and different ones to different searchers")
def test_a_later_step_that_rejects_is_given_the_next_best(many):
    class Taste(Action):
        does = "test:taste"
        utility = 1.0

        class Args(ActionArgs):
            thing: Entity

        async def think(self, ctx, args):
            if args.thing.id > 2:
                ctx.reject(f"{args.thing.name} is bitter")
            ctx.set_think_output()

    made = things(many, 6)
    agent = many.agent(
        searches(
            step("test:taste", thing=OUT["found"].entity),
            tag="thing",
            rating=lambda thing: thing.id / 10,
            reachable=False,
        ),
        Taste,
        *SEARCHING,
        place=(0, 0),
    )
    many.sim.tick()
    assert [text.split(",")[0] for _, text in offers(many)] == ["thing 5", "thing 4", "thing 3", "thing 2"]
    assert many.leases.holder(made[2]) is agent


# --- the way there ------------------------------------------------------------------------------------------------------


def test_who_cannot_be_reached_is_left_out_until_a_way_opens(many):
    many.rooms.closed.append((4, 2))
    here, there = many.thing("thing", (3, 2), name="here"), many.thing("thing", (6, 2), name="there")
    many.tags.put("thing", here, there)
    rating = {here: 0.2, there: 0.9}
    many.agent(searches(step("test:hold"), tag="thing", rating=rating.get), Hold, *SEARCHING, place=(0, 2))
    many.sim.tick(2)
    assert offers(many) == [(1, "here, rated 0.2")]
    many.rooms.closed.remove((4, 2))
    many.rooms.changed.emit()
    many.sim.tick(2)
    assert offers(many)[1:] == [(3, "there, rated 0.9")]


def test_without_a_rating_the_nearest_is_the_best_also_when_it_walks(many):
    near, far = many.thing("thing", (2, 2), name="near"), many.thing("thing", (8, 2), name="far")
    many.tags.put("thing", near, far)
    agent = many.agent(searches(step("test:hold"), tag="thing"), Hold, *SEARCHING, place=(0, 2))
    many.sim.tick()
    agent.entity[Located].put((6, 2))
    many.sim.tick()
    assert offers(many) == [(1, "near, rated 0.95"), (2, "far, rated 0.95")]
    many.sim.runtime.remove(agent)
    many.agent(searches(step("test:hold"), tag="thing", within=10), Hold, *SEARCHING, place=(5, 2), name="Bea")
    many.sim.tick()
    assert offers(many, "Bea") == []


def test_a_surveyor_is_asked_for_the_nearest(many):
    class Survey:
        def __init__(self):
            self.asked = []

        def nearest(self, tag, start, *, reach=0, within=0, accepts):
            self.asked.append((tag, start, reach, within))
            return next(((thing, 10) for thing in reversed(made) if accepts(thing)), None)

    made = [many.thing("thing", (2, 2), name=f"thing {number}") for number in range(3)]
    many.tags.put("thing", *made)
    agent = many.agent(*SEARCHING, place=(0, 2))
    survey = agent.entity.add(Survey(), Surveyor)
    many.leases.acquire(made[2], "somebody")
    agent.inject(searches(tag="thing", within=50))
    many.sim.tick(2)
    assert survey.asked == [("thing", (0, 2), 0, 50)]
    assert many.leases.holder(made[1]) is agent


def test_things_that_are_nowhere_need_no_way(many):
    made = things(many, 2)
    agent = many.agent(searches(tag="thing", rating=lambda thing: thing.id / 2), *SEARCHING, place=(0, 2))
    many.sim.tick()
    assert many.leases.holder(made[1]) is agent
    assert agent.entity.get(PathFinder) is not None


def test_who_has_no_finder_searches_alone_and_leaves_nothing_behind(many):
    things(many, 5)
    agent = many.agent(*SEARCHING, place=(0, 2))
    agent.entity.remove(type(many.finder))
    agent.inject(searches(step("test:hold"), tag="thing", rating=lambda thing: 0.5, reachable=False), Hold)
    many.sim.tick(2)
    assert offers(many) == [(1, "thing 0, rated 0.5")]
    assert "2 connected" in repr(many.tags.changed("thing"))  # its memory, and itself
    many.sim.runtime.remove(agent)
    many.sim.tick(2)
    assert "0 connected" in repr(many.tags.changed("thing"))


@pytest.mark.parametrize("rating", [None, lambda thing: 0.5])
def test_one_that_was_rejected_comes_back_when_it_changed(many, rating):
    class Taste(Action):
        does = "test:taste"
        utility = 1.0

        class Args(ActionArgs):
            thing: Entity

        async def think(self, ctx, args):
            if args.thing.name in bitter:
                ctx.reject("bitter")
            ctx.set_think_output()

    bitter = ["first"]
    first, second = many.thing("thing", (1, 2), name="first"), many.thing("thing", (3, 2), name="second")
    many.tags.put("thing", first, second)
    many.agent(
        searches(step("test:taste", thing=OUT["found"].entity), step("test:hold"), tag="thing", rating=rating),
        Hold,
        Taste,
        *SEARCHING,
        place=(0, 2),
    )
    many.sim.tick()
    bitter.clear()
    many.sim.tick(2)
    assert [text.split(",")[0] for _, text in offers(many)] == ["first", "second"]
    many.tags.take("thing", second)
    many.tags.tell("thing", first)
    many.sim.tick()
    assert [text.split(",")[0] for _, text in offers(many)] == ["first", "second", "first"]


def test_the_nearest_gives_way_to_the_next_nearest_when_a_later_step_rejects_it(many):
    class Sit(Action):
        does = "test:sit"
        utility = 1.0

        class Args(ActionArgs):
            on: Entity

        async def think(self, ctx, args):
            if args.on.name == "wet":
                ctx.reject("wet")
            ctx.set_think_output()

    class Rest(CompoundAction):
        does = TOP
        utility = 0.5
        steps = (
            step("agentrt:find_entity", tag="bench", name="bench"),
            step("test:sit", on=OUT["bench"].entity),
            step("agentrt:wait", seconds=9),
        )

    many.tags.put("bench", many.thing("bench", (1, 2), name="wet"), many.thing("bench", (3, 2), name="dry"))
    many.agent(Rest, FindEntity, Sit, Wait, place=(0, 2))
    many.sim.tick()
    assert offers(many) == [(1, "wet, 10 away"), (1, "dry, 30 away")]
    assert many.told("run")[0] == (1, "Rest", "run")
