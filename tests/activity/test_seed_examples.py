"""The examples of the planner's source text (seed 001) as classes that read like it, doing what the text says of them.

One section for each example, in the order of the text. Effects are played by a stage, animals pose; the rest is ordinary
code of a game. Times are ticks, twenty to a second.
"""

from __future__ import annotations

import pytest

from agentrt import (
    BACK,
    ENTITY,
    PREV,
    TOP,
    Action,
    ActionArgs,
    CompoundAction,
    Entity,
    Manifest,
    Registry,
    ThinkOutput,
    park,
    step,
)
from agentrt.body import LeaseBook
from agentrt.tasks import (
    TaskGroup,
    TaskGroupAction,
    TaskGroups,
    declare_multiple_tasks,
    declare_permanent_task,
    declare_task,
)
from agentrt_actions import ReserveEntity

# --- a game to play in ------------------------------------------------------------------------------------------------


class Animal:
    """How an animal poses."""

    def __init__(self, photogenicity, *, is_ready=True):
        self.photogenicity = photogenicity
        self.is_ready = is_ready
        self.is_frozen = False


class Mind:
    """What a person is like, and what it thought."""

    def __init__(self, *traits):
        self.traits = traits
        self.thoughts = []


class RunEffect(Action):
    """Play an effect and go on when it has ended: the classic use of suspend and resume."""

    does = "demo:run_effect"
    utility = 1.0

    class Args(ActionArgs):
        effect: str

    async def run(self, ctx, args):
        ctx.set_debug_progress(f"plays {args.effect}")
        ctx.listen(ctx.entity.signal("effect_ended"), ctx.resume)
        await ctx.suspend()


class Idle(Action):
    does = TOP
    utility = 0.01

    async def run(self, ctx, args):
        await ctx.sleep(1000)


def animal(photogenicity=0.5, *, is_ready=True):
    return Entity("cow", Animal(photogenicity, is_ready=is_ready))


def person(*traits):
    return Entity("human", Mind(*traits))


def doing(*steps, does=TOP, name="Do", utility=0.5):
    """A compound of these steps."""
    return type(name, (CompoundAction,), {"does": does, "utility": utility, "steps": steps})


def taking(ticks, does, utility=0.5, name="Work", args=None):
    """A leaf that takes so many ticks."""

    async def run(self, ctx, args):
        await ctx.sleep_ticks(ticks)

    body = {"does": does, "utility": utility, "run": run}
    return type(name, (Action,), {**body, "Args": args} if args else body)


def ran(play, agent="a"):
    """(tick, class) of the leaves that ran, compounds left out."""
    paths = [(tick, path) for tick, path, _ in play.trace("run", agent=agent)]
    return [
        (tick, path.rpartition("/")[2])
        for tick, path in paths
        if not any(other.startswith(path + "/") for _, other in paths)
    ]


# --- the leaf action: draw an animal ----------------------------------------------------------------------------------


class Paint(ActionArgs):
    """What all take that perform the activity ``demo:paint``."""

    subject: Entity
    effect: str = "draw_in_notebook"


class DrawAnimal(Action):
    name = "draw an animal"
    does = "demo:paint"
    utility = (0.2, 0.4)
    sunk_cost_boost = 0.2
    weight = 1
    scheduler_priority = 4
    status_text_key = "demo:status_text.drawing"
    Args = Paint

    async def think(self, ctx, args):
        if Animal not in args.subject:
            ctx.reject("not an animal!")
        ctx.set_utility(args.subject[Animal].photogenicity)
        self.listener = ctx.listen(args.subject.signal("ready_to_pose"), lambda _: ctx.set_think_output())
        await park()

    def stop_thinking(self, ctx, args):
        if Animal in args.subject:
            self.listener.close()

    def start(self, ctx, args):
        if not args.subject[Animal].is_ready:
            ctx.abort("the animal stopped being ready to pose by the time the action started")

    async def run(self, ctx, args):
        if not args.subject[Animal].is_ready:
            ctx.abort("the animal stopped being ready to pose by the time the action ran")
        args.subject[Animal].is_frozen = True
        await ctx.execute("demo:run_effect", effect=args.effect)
        ctx.entity[Mind].thoughts.append("drew an animal")

    def stop(self, ctx, args):
        args.subject[Animal].is_frozen = False


class DrawLandscapeBehindSubject(Action):
    does = "demo:paint"
    utility = 0.3
    Args = Paint

    async def run(self, ctx, args):
        await ctx.sleep(1000)


@pytest.mark.states("001: Overview, Action: An action says how good it is, thinks, and runs")
@pytest.mark.states("001: Leaf action: The example as a whole ...")
@pytest.mark.states("001: start_thinking: The example: ready when the animal is ready to pose")
@pytest.mark.states("001: stop_thinking: Listeners can be closed there. (ours) What ctx.listen opened is closed anyway")
@pytest.mark.states("001: run: An effect is played, and its end wakes the action ...")
@pytest.mark.states("001: stop: The example: the frozen animal is unfrozen, also when the drawing is interrupted")
def test_an_animal_is_drawn_when_it_is_ready_to_pose(play):
    cow, ada = animal(), person()
    agent = play.add(doing(step("demo:paint", subject=cow)), DrawAnimal, RunEffect, entity=ada, top=TOP)
    play.tick(2)
    assert repr(cow.signal("ready_to_pose")) == "<Signal: 0 waiting, 1 connected>"
    cow.signal("ready_to_pose").emit()
    play.tick(2)
    assert (cow[Animal].is_frozen, agent.status_text) == (True, "demo:status_text.drawing")
    assert "run effect: running, utility 1 (plays draw_in_notebook)" in agent.explain()
    ada.signal("effect_ended").emit()
    play.tick(1)
    assert (cow[Animal].is_frozen, ada[Mind].thoughts) == (False, ["drew an animal"])
    drawing = [(tick, path.removeprefix("agentrt:top/Do/demo:paint"), event) for tick, path, event in play.trace()]
    begin = drawing.index((1, "/DrawAnimal", "think"))
    assert drawing[begin : drawing.index((5, "/DrawAnimal", "stop")) + 1] == [
        (1, "/DrawAnimal", "think"),
        (1, "/DrawAnimal", "utility"),
        (2, "/DrawAnimal", "ready"),
        (3, "", "elect"),
        (3, "agentrt:top/Do", "ready"),
        (3, "agentrt:top", "elect"),
        (3, "agentrt:top/Do", "start"),
        (3, "/DrawAnimal", "start"),
        (3, "/DrawAnimal", "stop_thinking"),
        (3, "agentrt:top/Do", "stop_thinking"),
        (3, "agentrt:top/Do", "run"),
        (3, "/DrawAnimal", "run"),
        (3, "/DrawAnimal/demo:run_effect/RunEffect", "ready"),
        (3, "/DrawAnimal/demo:run_effect", "elect"),
        (3, "/DrawAnimal/demo:run_effect/RunEffect", "start"),
        (3, "/DrawAnimal/demo:run_effect/RunEffect", "stop_thinking"),
        (3, "/DrawAnimal/demo:run_effect/RunEffect", "run"),
        (3, "/DrawAnimal/demo:run_effect/RunEffect", "progress"),
        (5, "/DrawAnimal/demo:run_effect/RunEffect", "finish"),
        (5, "/DrawAnimal/demo:run_effect/RunEffect", "stop"),
        (5, "/DrawAnimal", "finish"),
        (5, "agentrt:top/Do", "finish"),
        (5, "/DrawAnimal", "stop"),
    ]


@pytest.mark.states(
    "001: start_thinking: The example: only the more photogenic animals are preferred to a landscape of 0.3",
)
@pytest.mark.parametrize(("photogenicity", "drawn"), [(0.4, "DrawLandscapeBehindSubject"), (0.6, "DrawAnimal")])
def test_only_the_more_photogenic_animals_are_preferred_to_the_landscape(play, photogenicity, drawn):
    """0.4 is 0.28 within the range (0.2, 0.4), and 0.6 is 0.32; the landscape is worth 0.3."""
    cow = animal(photogenicity)
    play.add(
        doing(step("demo:paint", subject=cow)),
        DrawAnimal,
        DrawLandscapeBehindSubject,
        RunEffect,
        entity=person(),
        top=TOP,
    )
    play.tick(2)
    cow.signal("ready_to_pose").emit()
    play.tick(1)
    assert play.agents[0].snapshot().running.split("/")[3] == drawn


@pytest.mark.states("001: start_thinking: The example: what is no animal is rejected with an explanation")
def test_what_is_no_animal_is_rejected_with_an_explanation(play):
    play.add(doing(step("demo:paint", subject=Entity("stone"))), DrawAnimal, RunEffect, entity=person(), top=TOP)
    play.tick(1)
    assert play.details("reject") == [
        (1, "agentrt:top/Do/demo:paint/DrawAnimal", "reject", {"reason": "not an animal!"})
    ]
    assert "draw an animal: not possible now: rejected: not an animal!" in play.agents[0].explain()


@pytest.mark.states("001: Leaf action, Metadata: A boost of 0.2 has to be exceeded by more than 0.2")
@pytest.mark.states("001: stop: The example: the frozen animal is unfrozen, also when the drawing is interrupted ...")
@pytest.mark.states("001: Utility: It adds 0.05, or what the action says ...")
@pytest.mark.parametrize(("utility", "interrupts"), [(0.5, False), (0.51, True)])
def test_another_painting_has_to_be_more_than_02_better(play, utility, interrupts):
    """Drawing is worth 0.3 here; it has run for a second."""
    cow = animal()

    class Portrait(DrawLandscapeBehindSubject):
        async def think(self, ctx, args):
            await ctx.sleep(1.5)
            ctx.set_think_output()

    Portrait = type("Portrait", (Portrait,), {"does": "demo:paint", "utility": utility})
    play.add(doing(step("demo:paint", subject=cow)), DrawAnimal, Portrait, RunEffect, entity=person(), top=TOP)
    play.tick(2)
    cow.signal("ready_to_pose").emit()
    play.tick(40)
    assert play.agents[0].snapshot().running.split("/")[3] == ("Portrait" if interrupts else "DrawAnimal")
    assert cow[Animal].is_frozen is not interrupts  # its stop unfreezes the animal


@pytest.mark.states("001: start: The example: an animal that is not ready any more aborts the start")
def test_an_animal_that_is_not_ready_any_more_aborts_the_start(play):
    """It was ready when thinking ended; another step of the plan took its time."""
    cow = animal()

    class Sharpen(Action):
        does = "demo:sharpen"
        utility = 0.5

        async def think(self, ctx, args):
            await ctx.sleep_ticks(4)
            ctx.set_think_output()

    play.add(
        doing(step("demo:paint", subject=cow), step("demo:sharpen")), DrawAnimal, Sharpen, entity=person(), top=TOP
    )
    play.tick(1)
    cow.signal("ready_to_pose").emit()
    cow[Animal].is_ready = False
    play.tick(5)
    assert play.details("abort") == [
        (
            6,
            "agentrt:top/Do/demo:paint/DrawAnimal",
            "abort",
            {"reason": "the animal stopped being ready to pose by the time the action started"},
        )
    ]
    assert play.trace("run") == []


@pytest.mark.states("001: run: The example: the check is repeated in run, since time has passed")
def test_and_the_check_is_repeated_in_run_since_time_has_passed(play):
    cow = animal()
    play.add(
        doing(step("demo:walk"), step("demo:paint", subject=cow)),
        taking(3, "demo:walk", name="Walk"),
        DrawAnimal,
        RunEffect,
        entity=person(),
        top=TOP,
    )
    play.tick(1)
    cow.signal("ready_to_pose").emit()
    play.tick(2)
    cow[Animal].is_ready = False
    play.tick(3)
    assert [one[3]["reason"] for one in play.details("abort")] == [
        "the animal stopped being ready to pose by the time the action ran"
    ]
    assert cow[Animal].is_frozen is False


# --- the compound action: find and paint a subject --------------------------------------------------------------------


class FindWillingPaintingSubject(Action):
    does = "demo:find_willing_painting_subject"
    utility = 0.5
    subjects = ()

    class Output(ThinkOutput):
        subject: Entity

    async def think(self, ctx, args):
        ctx.set_debug_progress(f"selected {self.subjects[0].kind}")
        ctx.set_think_output(subject=self.subjects[0])


class FindPathToEntity(Action):
    """An asynchronous path finder: ready when a path was found, with the path as its think output."""

    does = "demo:find_path_to_entity"
    utility = 0.5

    class Args(ActionArgs):
        destination: Entity

    class Output(ThinkOutput):
        path: list

    async def think(self, ctx, args):
        await ctx.sleep_ticks(2)
        ctx.set_think_output(path=[1, 2, 3, 4, 5])


class FollowPath(Action):
    """The shorter the path, the better."""

    does = "demo:follow_path"
    utility = (0.0, 1.0)

    class Args(ActionArgs):
        path: list

    async def think(self, ctx, args):
        ctx.set_utility(1 - len(args.path) / 10)
        ctx.CURRENT.location = args.path[-1]
        ctx.set_think_output()

    async def run(self, ctx, args):
        await ctx.sleep_ticks(len(args.path))


class Draw(Action):
    """Draws subjects of one kind; how good depends on the subject."""

    utility = (0.0, 1.0)
    kind = ""
    Args = Paint

    async def think(self, ctx, args):
        if args.subject.kind != self.kind:
            ctx.reject(f"no {self.kind}")
        ctx.set_utility(args.subject[Animal].photogenicity)
        ctx.set_think_output()

    async def run(self, ctx, args):
        await ctx.sleep_ticks(2)


class DrawCow(Draw):
    does = "demo:paint"
    kind = "cow"


class DrawHuman(Draw):
    does = "demo:paint"
    kind = "human"


class FindAndPaintSubject(CompoundAction):
    name = "find and paint subject"
    does = "demo:free_time"
    utility = (0.3, 0.7)
    steps = [
        step("demo:find_willing_painting_subject"),
        step("demo:find_path_to_entity", destination=PREV.subject),
        step("demo:follow_path", path=PREV.path),
        step("demo:paint", subject=BACK(3).subject),
    ]

    async def think(self, ctx, args):
        ctx.set_utility(0.5 if "artist" in ctx.entity[Mind].traits else 0.0)
        ctx.set_think_output()

    def compose_utility(self, entity, self_utility, child_utilities, current_activity):
        return self_utility + child_utilities["demo:follow_path"] * 0.1 + child_utilities["demo:paint"] * 0.4


class DanceAround(Action):
    does = "demo:free_time"
    utility = 0.5

    async def run(self, ctx, args):
        await ctx.sleep(1000)


def painter(play, subject, *traits, more=()):
    find = type("Find", (FindWillingPaintingSubject,), {"subjects": (subject,)})
    return play.add(
        FindAndPaintSubject,
        find,
        FindPathToEntity,
        FollowPath,
        DrawCow,
        DrawHuman,
        *more,
        entity=person(*traits),
        top="demo:free_time",
    )


@pytest.mark.states("001: Overview, Activity: It can take arguments, such as the entity to find a path to")
@pytest.mark.states("001: Making plans: A think output is input to later steps: a path that was found is followed")
@pytest.mark.states("001: Leaf action, Metadata: An argument comes from a step before, or from a task")
@pytest.mark.states("001: Compound action: The example as a whole")
@pytest.mark.states(
    "001: Step declarations: The example: the steps of painting get subject and path from the steps before",
)
def test_find_a_subject_find_a_path_follow_it_and_paint(play):
    agent = painter(play, animal())
    play.tick(10)
    top = "demo:free_time/FindAndPaintSubject"
    assert [one for one in play.trace("think", "ready", "elect", "run", "finish", "complete") if one[0] < 11][:27] == [
        (1, top, "think"),
        (1, f"{top}/demo:find_willing_painting_subject/Find", "think"),
        (1, f"{top}/demo:find_willing_painting_subject/Find", "ready"),
        (1, f"{top}/demo:find_willing_painting_subject", "elect"),
        (1, f"{top}/demo:find_path_to_entity/FindPathToEntity", "think"),
        (3, f"{top}/demo:find_path_to_entity/FindPathToEntity", "ready"),
        (3, f"{top}/demo:find_path_to_entity", "elect"),
        (3, f"{top}/demo:follow_path/FollowPath", "think"),
        (3, f"{top}/demo:follow_path/FollowPath", "ready"),
        (3, f"{top}/demo:follow_path", "elect"),
        (3, f"{top}/demo:paint/DrawCow", "think"),
        (3, f"{top}/demo:paint/DrawHuman", "think"),
        (3, f"{top}/demo:paint/DrawCow", "ready"),
        (3, f"{top}/demo:paint", "elect"),
        (3, top, "ready"),
        (3, "demo:free_time", "elect"),
        (3, top, "run"),
        (3, f"{top}/demo:find_willing_painting_subject/Find", "run"),
        (3, f"{top}/demo:find_willing_painting_subject/Find", "finish"),
        (3, f"{top}/demo:find_path_to_entity/FindPathToEntity", "run"),
        (3, f"{top}/demo:find_path_to_entity/FindPathToEntity", "finish"),
        (3, f"{top}/demo:follow_path/FollowPath", "run"),
        (8, f"{top}/demo:follow_path/FollowPath", "finish"),
        (8, f"{top}/demo:paint/DrawCow", "run"),
        (10, f"{top}/demo:paint/DrawCow", "finish"),
        (10, top, "finish"),
        (10, "demo:free_time", "complete"),
    ]
    assert agent.is_alive


@pytest.mark.states("001: Compound action, Methods: compose_utility derives the utility from the steps'")
@pytest.mark.states(
    "001: Compound action, Methods: The example: own utility, distance and subject; artists are much more likely to "
    "paint",
)
@pytest.mark.parametrize(
    ("traits", "photogenicity", "utility"),
    [(("artist",), 0.5, 0.75), ((), 0.5, 0.55), ((), 0.1, 0.39), (("artist",), 0.0, 0.55)],
)
def test_its_utility_is_composed_of_the_traits_the_distance_and_the_subject(play, traits, photogenicity, utility):
    """An artist: 0.3 + 0.5 x 0.4 = 0.5 of its own, else 0.3; the path of five is worth 0.5, a tenth of which counts."""
    agent = painter(play, animal(photogenicity), *traits)
    play.tick(3)
    assert agent.snapshot().plan.units[0].utility == utility


@pytest.mark.states("001: Compound action, Methods: The example: own utility, distance and subject; artists are ...")
@pytest.mark.parametrize(("traits", "does"), [(("artist",), "FindAndPaintSubject"), ((), "DanceAround")])
def test_an_artist_is_much_more_likely_to_paint(play, traits, does):
    agent = painter(play, animal(0.2), *traits, more=(DanceAround,))
    play.tick(4)
    assert agent.snapshot().running.split("/")[1] == does


@pytest.mark.states(
    "001: Overview, Activity: An activity has several possible actions, of which the fitting and best one is taken",
)
@pytest.mark.states("001: Step declarations: The example: which action paints depends on the subject")
@pytest.mark.parametrize(("kind", "drawn"), [("cow", "DrawCow"), ("human", "DrawHuman")])
def test_what_was_found_decides_which_action_paints_it(play, kind, drawn):
    agent = painter(play, Entity(kind, Animal(0.5)))
    play.tick(8)
    assert agent.snapshot().running.rpartition("/")[2] == drawn


# --- the compound of the overview: heal oneself -----------------------------------------------------------------------


class GotoItemMadeOf(Action):
    """Choose an item that nobody has reserved (it checks reservations), then walk there."""

    does = "demo:goto_item_made_of"
    utility = 0.5
    items = ()
    walk = 3

    class Args(ActionArgs):
        material: str

    class Output(ThinkOutput):
        item: Entity

    async def think(self, ctx, args):
        book = ctx.entity[LeaseBook]
        there = [one for one in self.items if one.kind == args.material and not one.is_destroyed]
        item = next((one for one in there if book.can_acquire(one, ctx.agent)), None)
        if item is None:
            return
        await ctx.sleep_ticks(self.walk)  # looks for a path
        ctx.set_think_output(item=item)

    async def run(self, ctx, args):
        await ctx.sleep_ticks(self.walk)


class HealEntityAdjacent(Action):
    does = "demo:heal_entity_adjacent"
    utility = 0.5
    healed: list

    class Args(ActionArgs):
        target: Entity
        item: Entity

    async def run(self, ctx, args):
        await ctx.sleep_ticks(2)
        self.healed.append((ctx.clock.tick, args.target.name, args.item.id))
        ctx.unprotect_argument(args.item)
        args.item.destroy()  # used up


class HealSelf(CompoundAction):
    does = TOP
    utility = 0.5
    steps = [
        step("demo:goto_item_made_of", material="healing_item"),
        step("agentrt:reserve_entity", entity=PREV.item),
        step("demo:heal_entity_adjacent", target=ENTITY, item=PREV.entity),
    ]


def patient(play, name, things, healed):
    """Somebody who heals itself with one of the things; what it did is noted."""
    entity = Entity("human", name=name)
    entity.add(play.sim.runtime.leases)
    goto = type("GotoItemMadeOf", (GotoItemMadeOf,), {"items": things})
    heal = type("HealEntityAdjacent", (HealEntityAdjacent,), {"healed": healed})
    return play.add(HealSelf, goto, ReserveEntity, heal, Idle, name=name, entity=entity, top=TOP)


@pytest.mark.states("001: Overview, Compound action: The example: get a healing item, reserve it, heal oneself with it")
@pytest.mark.states("001: Step declarations: ENTITY ...")
@pytest.mark.states("001: unprotect_argument: An action may destroy its own argument ...")
def test_get_a_healing_item_reserve_it_and_heal_oneself_with_it(play):
    things, healed = [Entity("stone", id=0), Entity("healing_item", id=1)], []
    patient(play, "ada", things, healed)
    play.tick(4)
    assert play.sim.runtime.leases.holder(things[1]) is play.agents[0]
    play.tick(5)
    assert healed == [(9, "ada", 1)]
    assert (things[1].is_destroyed, things[0].is_destroyed) == (True, False)
    assert play.trace("abort", agent="ada") == []


@pytest.mark.states(
    "001: reject: The example: reserve_entity rejects what was reserved meanwhile, and another is chosen",
)
def test_reserve_entity_rejects_what_was_reserved_meanwhile_and_the_plan_chooses_another(play):
    """Both chose the first item while it was free. Bob is a tick later, rejects it, and 20 ms later he thinks again."""
    things, healed = [Entity("healing_item", id=1), Entity("healing_item", id=2)], []
    patient(play, "ada", things, healed)
    play.tick(1)
    bob = patient(play, "bob", things, healed)
    play.tick(4)
    assert play.details("reject", agent="bob") == [
        (
            5,
            "agentrt:top/HealSelf/agentrt:reserve_entity/ReserveEntity",
            "reject",
            {"reason": "healing_item 1 is reserved by somebody else"},
        )
    ]
    play.tick(8)
    assert [play.sim.runtime.leases.holder(one) for one in things] == [None, bob]
    assert [one[0] for one in play.trace("think", agent="bob") if one[1] == "agentrt:top/HealSelf"] == [2, 6]
    play.tick(3)
    assert healed == [(9, "ada", 1), (14, "bob", 2)]


# --- create a critter, walk to it, destroy it in stop -----------------------------------------------------------------


class CreateCritter(Action):
    does = "demo:create_critter"
    utility = 0.5
    note = None

    class Output(ThinkOutput):
        place: int

    async def think(self, ctx, args):
        ctx.set_think_output(place=4)

    def start(self, ctx, args):
        self.critter = Entity("critter")
        self.critter.destroyed.connect(lambda _: type(self).note("critter destroyed"))
        type(self).note("critter created")

    def stop(self, ctx, args):
        self.critter.destroy()


class WalkTo(Action):
    does = "demo:walk_to"
    utility = 0.5
    note = None

    class Args(ActionArgs):
        place: int

    async def run(self, ctx, args):
        type(self).note("walks")
        await ctx.sleep_ticks(args.place)
        type(self).note("is there")


def critters(play):
    return (
        doing(step("demo:create_critter"), step("demo:walk_to", place=PREV.place)),
        type("CreateCritter", (CreateCritter,), {"note": staticmethod(play.note)}),
        type("WalkTo", (WalkTo,), {"note": staticmethod(play.note)}),
    )


@pytest.mark.states(
    "001: Step declarations: The example: a critter is created, walked to, and destroyed in stop, after the walk",
)
def test_the_critter_is_destroyed_after_the_walk(play):
    play.add(*critters(play), top=TOP)
    play.tick(5)
    assert play.log[:4] == [(1, "critter created"), (1, "walks"), (5, "is there"), (5, "critter destroyed")]


@pytest.mark.states("001: Step declarations: The example: a critter is created, walked to, and destroyed in stop ...")
def test_and_also_when_the_walk_is_interrupted(play):
    class Alarm(Idle):
        utility = 0.9

        async def think(self, ctx, args):
            await ctx.sleep_ticks(2)
            ctx.set_think_output()

    play.add(*critters(play), Alarm, top=TOP)
    play.tick(6)
    assert play.log == [(1, "critter created"), (1, "walks"), (3, "critter destroyed")]


# --- the filter: carpenters build of wood alone -----------------------------------------------------------------------


class FabricateStructure(Action):
    does = "demo:fabricate_structure"
    utility = 0.5

    class Args(ActionArgs):
        material: str

    async def think(self, ctx, args):
        ctx.set_think_output()

    async def run(self, ctx, args):
        await ctx.sleep_ticks(2)


class FabricateWoodenStructure(Action):
    """Does nothing itself, ever: keeps whoever knows it from fabricating anything else."""

    does = "demo:fabricate_structure"
    utility = 0
    Args = FabricateStructure.Args

    def should_start_thinking(self, ctx, args):
        return args.material == "wood"


@pytest.mark.states("001: should_start_thinking: The example: carpenters fabricate of wood alone, others of anything")
@pytest.mark.parametrize(
    ("job", "material", "builds"),
    [("mason", "stone", True), ("carpenter", "stone", False), ("carpenter", "wood", True), ("mason", "wood", True)],
)
def test_a_carpenter_fabricates_wooden_structures_only(play, job, material, builds):
    known = [FabricateStructure, FabricateWoodenStructure] if job == "carpenter" else [FabricateStructure]
    play.add(doing(step("demo:fabricate_structure", material=material)), *known, Idle, top=TOP)
    play.tick(1)
    fabricates = [path for _, path, _ in play.trace("think", "run") if path.endswith("/FabricateStructure")]
    assert len(fabricates) == (2 if builds else 0)  # blocked, it does not even think


# --- groups that compete: healing before crafting ---------------------------------------------------------------------


class HealingTaskGroup(TaskGroupAction):
    does = "demo:work"
    utility = 0.87
    tasks = (declare_permanent_task("demo:heal_citizens", {}, 0.5),)


class CraftingTaskGroup(TaskGroupAction):
    does = "demo:work"
    utility = 0.81
    tasks = (declare_multiple_tasks("demo:craft", (0.0, 1.0)),)


class HealCitizens(Action):
    """Ready as soon as somebody is hurt."""

    does = "demo:heal_citizens"
    utility = 0.1

    async def think(self, ctx, args):
        await ctx.signals["citizen_hurt"].wait()
        ctx.set_think_output()

    async def run(self, ctx, args):
        await ctx.sleep_ticks(5)


@pytest.mark.states(
    "001: Comparing plans: The example: both groups are thought of; healing (0.87) interrupts crafting (0.81), also "
    "after its boost",
)
@pytest.mark.parametrize("hurt_at", [3, 30])
def test_a_herbalist_who_crafts_is_interrupted_when_somebody_is_hurt(play, hurt_at):
    """0.87 beats 0.81, and 0.81 + 0.05 too, when crafting has gone on for longer than half a second."""
    herbalist = play.add(HealCitizens, taking(1000, "demo:craft", 1.0, "Craft"), top="demo:work")
    crafting, healing = TaskGroup(CraftingTaskGroup), TaskGroup(HealingTaskGroup)
    for group in (crafting, healing):
        group.add(herbalist)
    potion = crafting.create_task("demo:craft").notify_interrupted(lambda task: play.note("crafting interrupted"))
    potion.start()
    play.tick(hurt_at)
    states = {unit.action: unit.state for unit in herbalist.snapshot().plan.units}
    assert states == {"CraftingTaskGroup": "running", "HealingTaskGroup": "thinking"}
    herbalist.entity.signal("citizen_hurt").emit()
    play.tick(6)
    heal = "demo:work/HealingTaskGroup"
    assert play.trace("preempt", "stop", "start", "run", "complete", since=2)[:11] == [
        (hurt_at + 1, "demo:work/CraftingTaskGroup", "preempt"),
        (hurt_at + 1, "demo:work/CraftingTaskGroup/tasks/TaskAction#1/demo:craft/Craft", "stop"),
        (hurt_at + 1, "demo:work/CraftingTaskGroup/tasks/TaskAction#1", "stop"),
        (hurt_at + 1, "demo:work/CraftingTaskGroup", "stop"),
        (hurt_at + 1, heal, "start"),
        (hurt_at + 1, f"{heal}/tasks/TaskAction#1", "start"),
        (hurt_at + 1, f"{heal}/tasks/TaskAction#1/demo:heal_citizens/HealCitizens", "start"),
        (hurt_at + 1, heal, "run"),
        (hurt_at + 1, f"{heal}/tasks/TaskAction#1", "run"),
        (hurt_at + 1, f"{heal}/tasks/TaskAction#1/demo:heal_citizens/HealCitizens", "run"),
        (hurt_at + 6, f"{heal}/tasks/TaskAction#1/demo:heal_citizens/HealCitizens", "stop"),
    ]
    assert play.log == [(hurt_at + 1, "crafting interrupted")]
    assert herbalist.snapshot().running.endswith("Craft")  # nobody else is hurt: back to work


class FarmingTaskGroup(TaskGroupAction):
    does = "demo:work"
    utility = (0.5, 0.6)
    tasks = (
        declare_multiple_tasks("demo:till_entire_field", (0.0, 0.3)),
        declare_multiple_tasks("demo:plant_crop", (0.3, 0.6)),
        declare_multiple_tasks("demo:harvest_field", (0.6, 1.0)),
    )


@pytest.mark.states(
    "001: Overview, Task group action: Different activities compete there and nowhere else, by the utilities that the "
    "group declares",
)
def test_tilling_planting_and_harvesting_compete_as_the_group_says(play):
    """All three are worth the same to those who do them; the group makes harvesting the best, and tilling the least."""
    works = {
        "demo:till_entire_field": "Till",
        "demo:plant_crop": "Plant",
        "demo:harvest_field": "Harvest",
    }
    farmer = play.add(*(taking(2, does, 0.5, name) for does, name in works.items()), top="demo:work")
    farm = TaskGroup(FarmingTaskGroup)
    farm.add(farmer)
    for activity in works:
        farm.create_task(activity).once().start()
    utilities = []
    for _ in range(3):
        play.tick(2)
        utilities.append(farmer.snapshot().plan.units[0].utility)
    assert ran(play) == [(1, "Harvest"), (3, "Plant"), (5, "Till")]
    # Halfway into 0.6 to 1.0 is 0.8, and that much of the way from 0.5 to 0.6; then 0.45 and 0.15.
    assert utilities == [0.58, 0.545, 0.515]


# --- the task group: basic needs --------------------------------------------------------------------------------------


class SoloBasicNeeds(TaskGroupAction):
    name = "solo basic needs"
    does = TOP
    utility = (0, 0.3)
    tasks = (
        declare_task("demo:sleep", 0.6),
        declare_multiple_tasks("demo:eat", (0.4, 1.0)),
        declare_permanent_task("demo:rest_when_injured", {}, 0.2),
    )


class EatArgs(ActionArgs):
    quality: float


class Eat(Action):
    """The better the food, the better."""

    does = "demo:eat"
    utility = (0.0, 1.0)
    Args = EatArgs

    async def think(self, ctx, args):
        ctx.set_utility(args.quality)
        ctx.set_think_output()

    async def run(self, ctx, args):
        await ctx.sleep_ticks(2)


@pytest.mark.states("001: Task group example: The example: eating, sleeping and resting compete")
@pytest.mark.parametrize(
    ("quality", "eats_first", "utility"),
    # 0.7 is 0.4 + 0.7 x 0.6 = 0.82 within the group, and 0.246 outside; 0.3 is 0.58, less than sleeping, which is 0.18
    [(0.7, True, 0.246), (0.3, False, 0.18)],
)
def test_eating_and_sleeping_compete_and_resting_is_the_least(play, quality, eats_first, utility):
    human = play.add(
        taking(2, "demo:sleep", 0.9, "Sleep"), Eat, taking(2, "demo:rest_when_injured", 1.0, "Rest"), top=TOP
    )
    needs = TaskGroup(SoloBasicNeeds, owner=human)
    needs.create_task("demo:sleep").once().start()
    needs.create_task("demo:eat", quality=quality).once().start()
    needs.create_task("demo:eat", quality=0.1).once().start()
    needs.add(human)
    play.tick(1)
    assert human.snapshot().plan.units[0].utility == utility
    play.tick(7)
    # 0.1 is 0.46: the second meal comes after sleeping, and before resting, which is always there.
    order = ["Eat", "Sleep"] if eats_first else ["Sleep", "Eat"]
    assert [name for _, name in ran(play)] == [*order, "Eat", "Rest"]
    assert human.snapshot().plan.units[0].utility == 0.06


# --- tasks of one kind that compete -----------------------------------------------------------------------------------


class Combat(TaskGroupAction):
    does = TOP
    utility = 0.9
    tasks = (declare_multiple_tasks("demo:attack", (0.0, 1.0)),)


class Attack(Action):
    does = "demo:attack"
    utility = (0.0, 1.0)

    class Args(ActionArgs):
        target: Entity

    async def think(self, ctx, args):
        ctx.set_utility(args.target[Animal].photogenicity)  # how near it is
        ctx.set_think_output()

    async def run(self, ctx, args):
        await ctx.sleep_ticks(3)
        args.target.destroy()


@pytest.mark.states("001: Leaf action, Metadata: An argument comes from a step before, or from a task ...")
@pytest.mark.states("001: Task group example, Task declarations: The example: two attacks on different targets compete")
@pytest.mark.states("001: Ad hoc task groups: Ad hoc groups come and go; the example: a party in a fight")
def test_several_tasks_to_attack_compete_by_their_targets(play):
    """An ad hoc group: the party of two, for as long as the battle lasts."""
    party = TaskGroup(Combat, name="party")
    for name in "ab":
        party.add(play.add(Attack, Idle, name=name, top=TOP))
    targets = [animal(nearness) for nearness in (0.2, 0.8, 0.1, 0.5)]
    for target in targets:
        party.create_task("demo:attack", target=target).once().max_workers(1).start()
    play.tick(1)
    assert [task.workers for task in party.tasks] == [(), ("a",), (), ("b",)]
    play.tick(3)
    assert [task.workers for task in party.tasks] == [("a",), ("b",)]
    play.tick(4)
    assert ([target.is_destroyed for target in targets], party.tasks) == ([True] * 4, ())
    party.destroy()
    play.tick(1)
    assert [agent.snapshot().running for agent in play.agents] == [f"{TOP}/Idle"] * 2


# --- issuing a task: feed the animals of a pasture --------------------------------------------------------------------


class FeedPastureAnimals(Action):
    does = "demo:feed_pasture_animals"
    utility = 0.5
    fed: list

    class Args(ActionArgs):
        pasture: Entity

    async def run(self, ctx, args):
        await ctx.sleep_ticks(3)
        self.fed.append((ctx.clock.tick, ctx.agent.name, args.pasture.name))


HERDING = {
    "task_groups": {
        "demo:task_groups:herding": {
            "does": TOP,
            "utility": 0.6,
            "tasks": [{"activity": "demo:feed_pasture_animals", "utility": 0.5, "multiple": True}],
        }
    }
}
SHEPHERD = {"name": "shepherd", "task_groups": ["demo:task_groups:herding"]}


@pytest.mark.states(
    "001: Task group example, Task declarations: Code outside decides which activities are active, with which "
    "arguments, and for whom",
)
@pytest.mark.states("001: Town task groups: Other systems get the groups of a town from it and issue tasks in them")
@pytest.mark.states("001: Issuing tasks: The example: shepherds feed the animals of a pasture when they are hungry")
def test_hungry_animals_of_a_pasture_are_fed_by_whoever_is_a_shepherd(play):
    """The task is there before there is any shepherd, and who has another job is never asked."""
    fed = []
    feed = type("FeedPastureAnimals", (FeedPastureAnimals,), {"fed": fed})
    town, pasture = TaskGroups(HERDING), Entity("pasture", name="the pasture")
    feed_task = (
        town.get_task_group("demo:task_groups:herding")
        .create_task("demo:feed_pasture_animals", {"pasture": pasture})
        .set_source(pasture)
        .start()
    )
    farmer, shepherd = (play.add(feed, Idle, name=name, top=TOP) for name in ("farmer", "shepherd"))
    play.tick(3)
    assert (feed_task.source, feed_task.workers, fed) == (pasture, (), [])
    town.employ(shepherd, SHEPHERD)
    play.tick(7)
    assert fed == [(7, "shepherd", "the pasture"), (10, "shepherd", "the pasture")]  # until nobody is hungry
    feed_task.destroy()
    play.tick(2)
    assert [agent.snapshot().running for agent in (farmer, shepherd)] == [f"{TOP}/Idle"] * 2


# --- a personal group from a pack: orders for a soldier ---------------------------------------------------------------


class UnitControl(TaskGroupAction):
    does = TOP
    utility = 0.95
    tasks = (declare_task("demo:move_to", 1.0),)


class MoveTo(Action):
    does = "demo:move_to"
    utility = 0.5

    class Args(ActionArgs):
        place: str

    async def run(self, ctx, args):
        ctx.set_debug_progress(f"goes to {args.place}")
        await ctx.sleep_ticks(3)


SOLDIER = {"actions": ["demo:actions:move_to"], "task_groups": ["demo:task_groups:solo:unit_control"]}
REGISTRY = Registry([Manifest("demo", {"actions:move_to": MoveTo, "task_groups:solo:unit_control": UnitControl})])


@pytest.mark.states("001: Personal task groups: The examples: basic needs, and orders to a soldier ...")
def test_a_soldier_is_ordered_about_by_its_own_task_group(play):
    """The other one has such a group, too, and hears nothing of it. One order at a time: a new one takes its place."""
    ann, bob = (play.add(Idle, name=name, top=TOP, packs=[SOLDIER], registry=REGISTRY) for name in ("ann", "bob"))
    control = ann.get_task_group("demo:task_groups:solo:unit_control")
    gate = control.create_task("demo:move_to", place="the gate").once().start()
    play.tick(2)
    assert "move to: running, utility 0.5 (goes to the gate)" in ann.explain()
    gate.destroy()
    control.create_task("demo:move_to", place="the tower").once().start()
    play.tick(2)  # one to unwind what it did, one to plan anew
    assert "move to: running, utility 0.5 (goes to the tower)" in ann.explain()
    play.tick(4)
    assert [agent.snapshot().running for agent in (ann, bob)] == [f"{TOP}/Idle"] * 2
    assert [path for _, path, _ in play.trace("run", agent="bob")] == [f"{TOP}/Idle"]
