"""Painting: find an animal that is willing to pose, go there, draw it. The seed's own example, whole.

What the seed leaves to the imagination is filled in like this: an animal is willing when it is an animal; of
those the one that is ready now is preferred, and among equals the more photogenic; while nobody is ready the
plan waits, in the thinking of ``DrawAnimal``, for the animal that was found; but not for ever: after six seconds the
step counts as rejected, and another animal is chosen. Artists have it from their job; whoever of them has the trait
``artist`` prefers it to most work. The others look at what they have painted.

Artists also paint what is ordered: the trader's commissions are tasks in their group, each for one animal.

``DrawLandscape`` competes with ``DrawAnimal`` at a constant utility, as the seed suggests: with a lake or
rocks behind the subject, only the more photogenic animals are drawn for their own sake.

Source: Stonehearth, AI: "Leaf action example", "Compound action example".
"""

from __future__ import annotations

from agentrt import ARGS, BACK, LOOK, PREV, Action, ActionArgs, CompoundAction, Context, Entity, ThinkOutput, step
from agentrt.activity import ChildUtilities
from agentrt_actions import Located, keep_looking, ready_while, within_reach
from agentrt_examples.colony.animals import Poser, is_animal
from agentrt_examples.colony.bodies import Being, Position, Traits
from agentrt_examples.colony.goods import Picture
from agentrt_examples.colony.town import Town

__all__ = [
    "AdmirePicture",
    "DrawAnimal",
    "DrawLandscape",
    "FindAndPaintSubject",
    "FindWillingPaintingSubject",
    "PaintCommission",
    "beauty",
]

_PATIENCE = 6.0
_SCENERY = ("water", "rock")
_VIEW = 4


def beauty(picture: Entity) -> float:
    """How much there is to see in a picture.

    Args:
        picture: the picture.

    Returns:
        From 0.0 to 1.0.
    """
    return picture[Picture].beauty / 100


class FindAndPaintSubject(CompoundAction):
    """Find a willing subject, go there, paint it."""

    does = "colony:free_time"
    name = "find and paint subject"
    utility = (0.3, 0.7)
    made_of = ("is_artist",)
    steps = (
        step("colony:find_willing_painting_subject"),
        step("agentrt:find_path_to_entity", destination=PREV.subject, reach=2),
        step("agentrt:follow_path", path=PREV.path),
        step("colony:paint", subject=BACK(3).subject, think_timeout=_PATIENCE),
    )

    async def think(self, ctx: Context[Being], args: ActionArgs) -> None:
        """Be ready at once; an artist is much more likely to."""
        traits = ctx.entity.get(Traits)
        ctx.set_utility(0.5 if traits is not None and "artist" in traits else 0.0)
        ctx.set_think_output()

    def compose_utility(
        self, entity: Entity, self_utility: float, child_utilities: ChildUtilities, current_activity: str | None
    ) -> float:
        """Add how near the subject is, and how good it looks.

        Args:
            entity: who paints.
            self_utility: what thinking made of it.
            child_utilities: of the steps.
            current_activity: unused.
        """
        return self_utility + child_utilities["agentrt:follow_path"] * 0.1 + child_utilities["colony:paint"] * 0.4


class FindWillingPaintingSubject(Action):
    """Choose an animal to paint."""

    does = "colony:find_willing_painting_subject"
    name = "find willing painting subject"
    utility = (0.0, 1.0)

    class Output(ThinkOutput):
        """Who was chosen.

        Attributes:
            subject: an animal.
        """

        subject: Entity

    def __init__(self) -> None:
        super().__init__()
        self._offered: Entity | None = None

    def on_reject(self, ctx: Context[Being], args: ActionArgs, reason: str) -> None:
        """Take another one, if the animal that was chosen does not pose.

        Args:
            ctx: the context.
            args: none.
            reason: unused.
        """
        animals = ctx.entity[Town].census.find("animal")
        if len(animals) > 1 and self._offered is not None:
            after = animals.index(self._offered) + 1 if self._offered in animals else 0
            self._offered = another = animals[after % len(animals)]
            ctx.set_utility(another[Poser].photogenicity)
            ctx.set_think_output(subject=another)

    async def think(self, ctx: Context[Being], args: ActionArgs) -> None:
        """Offer the best, and go on looking."""
        town: Town = ctx.entity[Town]
        self._offered = None

        def look() -> None:
            best = town.models.best
            if best is self._offered:
                return
            self._offered = best
            if best is None:
                ctx.clear_think_output()
            else:
                ctx.set_utility(best[Poser].photogenicity)
                ctx.set_think_output(subject=best)

        # The census is told when an animal begins or ends to pose.
        await keep_looking(ctx, [town.census.changed("animal")], look)


class PaintCommission(CompoundAction):
    """Go to the animal that was ordered, and paint it."""

    does = "colony:paint_commission"
    name = "paint a commission"
    utility = (0.0, 1.0)

    class Args(ActionArgs):
        """What was ordered.

        Attributes:
            subject: the animal.
        """

        subject: Entity

    steps = (
        step("agentrt:find_path_to_entity", destination=ARGS.subject, reach=2),
        step("agentrt:follow_path", path=PREV.path),
        step("colony:paint", subject=ARGS.subject),
    )

    def compose_utility(
        self, entity: Entity, self_utility: float, child_utilities: ChildUtilities, current_activity: str | None
    ) -> float:
        """The nearer the animal is, the better."""
        return child_utilities["agentrt:follow_path"]


class AdmirePicture(CompoundAction):
    """Go and look at the best picture that there is."""

    does = "colony:free_time"
    name = "admire a picture"
    utility = (0.2, 0.55)
    status_text_key = "colony:status.admiring"
    steps = (
        step("agentrt:find_best", tag="picture", rating=beauty, reserved=True, reach=1),
        step("agentrt:goto_entity", entity=PREV.entity, reach=1),
        step("agentrt:run_effect", effect="admire"),
    )

    def compose_utility(
        self, entity: Entity, self_utility: float, child_utilities: ChildUtilities, current_activity: str | None
    ) -> float:
        """The more beautiful, the better."""
        return 0.2 + 0.35 * child_utilities["agentrt:find_best"]


class DrawAnimal(Action):
    """Draw an animal that is ready to pose."""

    does = "colony:paint"
    name = "draw an animal"
    utility = (0.2, 0.4)
    made_of = ("photogenicity",)
    sunk_cost_boost = 0.2
    weight = 1
    scheduler_priority = 4
    status_text_key = "colony:status.drawing"
    flags = frozenset({LOOK})

    class Args(ActionArgs):
        """What to draw, and how it looks.

        Attributes:
            subject: the animal.
            effect: what is played meanwhile.
        """

        subject: Entity
        effect: str = "draw_in_notebook"

    def __init__(self) -> None:
        super().__init__()
        self._frozen = False

    async def think(self, ctx: Context[Being], args: Args) -> None:
        """Be ready while the animal is ready to pose."""
        if not is_animal(args.subject):
            ctx.reject("not an animal!")
        poser = args.subject[Poser]
        ctx.get_debug_info_datastore()["photogenicity"] = poser.photogenicity
        ctx.set_utility(poser.photogenicity)
        while True:
            if not poser.is_ready:
                ctx.clear_think_output()
                await poser.ready_to_pose.wait()
            ctx.set_think_output()
            await poser.changed.wait()

    def start(self, ctx: Context[Being], args: Args) -> None:
        """Look once more."""
        if not args.subject[Poser].is_ready:
            ctx.abort("animal stopped being ready to pose by the time the action started")

    async def run(self, ctx: Context[Being], args: Args) -> None:
        """Draw it."""
        poser = args.subject[Poser]
        if not poser.is_ready or not within_reach(ctx, args.subject, 3):
            ctx.abort("animal stopped being ready to pose by the time the action ran")
        ctx.set_status_text_key("colony:status.drawing", subject=args.subject)
        poser.freeze()
        self._frozen = True
        await ctx.execute("agentrt:run_effect", effect=args.effect)
        _finish(ctx, args.subject, f"drew {args.subject.name}")

    def stop(self, ctx: Context[Being], args: Args) -> None:
        """Let the animal go."""
        if self._frozen:
            self._frozen = False
            args.subject[Poser].unfreeze()


class DrawLandscape(Action):
    """Draw the landscape behind the subject, if there is one worth it."""

    does = "colony:paint"
    name = "draw the landscape behind the subject"
    utility = 0.3
    status_text_key = "colony:status.drawing_landscape"
    flags = frozenset({LOOK})

    # All actions of one activity take the same arguments.
    Args = DrawAnimal.Args

    async def think(self, ctx: Context[Being], args: DrawAnimal.Args) -> None:
        """Be ready while the subject poses in front of water or rocks."""
        ground = ctx.entity[Town].ground
        poser, located = args.subject[Poser], args.subject[Located]

        def is_worth_it() -> bool:
            if not poser.is_ready:
                return False
            column, row = located.location
            around = [(column + x, row + y) for x in range(-_VIEW, _VIEW + 1) for y in range(-_VIEW, _VIEW + 1)]
            return any(ground.terrain(cell).name in _SCENERY for cell in around if cell in ground)

        await ready_while(ctx, [poser.changed], is_worth_it)

    async def run(self, ctx: Context[Being], args: DrawAnimal.Args) -> None:
        """Paint it."""
        await ctx.execute("agentrt:run_effect", effect=args.effect)
        _finish(ctx, args.subject, f"painted the landscape behind {args.subject.name}")


def _finish(ctx: Context[Being], subject: Entity, text: str) -> None:
    town = ctx.entity[Town]
    picture = town.item("picture", ctx.entity[Position].location)
    picture[Picture].beauty = int(subject[Poser].photogenicity * 100)
    traits = ctx.entity.get(Traits)
    if traits is not None:
        traits.add_thought(f"drew {subject.name}")
    town.chronicle.note("pictures painted", ctx.entity, text)
