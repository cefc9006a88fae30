"""Farming: till, plant, harvest. One plot at a time; whoever is nearest takes it.

The three works differ only in the plot that they look for and in what is done there, so ``TendPlot`` does all
three. What comes out of a change of state, a crop that grows or a turnip that lies there, is the doing of
whoever makes the change.

When there is something to till, to plant, to harvest, the foreman starts a task for it in the group of the farmers
(see ``foreman``); these actions say how it is done.
"""

from __future__ import annotations

from typing import NamedTuple

from agentrt import OUT, PREV, Action, ActionArgs, CompoundAction, Context, Entity, step
from agentrt_actions import within_reach
from agentrt_examples.colony.bodies import Being, Position
from agentrt_examples.colony.growing import Plot
from agentrt_examples.colony.town import GROWTH, Town

__all__ = ["HarvestPlot", "PlantPlot", "TendPlot", "TillPlot"]


class _Labor(NamedTuple):
    effect: str
    kind: str
    text: str


# What is done to a plot in each state, and how it is told.
_LABORS: dict[str, _Labor] = {
    "bare": _Labor("till", "plots tilled", "tilled a plot"),
    "tilled": _Labor("plant", "plots planted", "planted turnips"),
    "ripe": _Labor("harvest", "crops harvested", "harvested turnips"),
}


class TillPlot(CompoundAction):
    """Till the nearest bare plot."""

    does = "colony:till"
    name = "till"
    utility = 1.0
    steps = (
        step("agentrt:find_entity", tag="plot:bare", name="plot"),
        step("agentrt:reserve_entity", entity=PREV.entity),
        step("agentrt:goto_entity", entity=OUT["plot"].entity),
        step("colony:tend_plot", plot=OUT["plot"].entity, state="bare"),
    )


class PlantPlot(CompoundAction):
    """Plant the nearest tilled plot."""

    does = "colony:plant"
    name = "plant"
    utility = 1.0
    steps = (
        step("agentrt:find_entity", tag="plot:tilled", name="plot"),
        step("agentrt:reserve_entity", entity=PREV.entity),
        step("agentrt:goto_entity", entity=OUT["plot"].entity),
        step("colony:tend_plot", plot=OUT["plot"].entity, state="tilled"),
    )


class HarvestPlot(CompoundAction):
    """Harvest the nearest ripe plot."""

    does = "colony:harvest"
    name = "harvest"
    utility = 1.0
    steps = (
        step("agentrt:find_entity", tag="plot:ripe", name="plot"),
        step("agentrt:reserve_entity", entity=PREV.entity),
        step("agentrt:goto_entity", entity=OUT["plot"].entity),
        step("colony:tend_plot", plot=OUT["plot"].entity, state="ripe"),
    )


class TendPlot(Action):
    """Do to a plot what its state asks for."""

    does = "colony:tend_plot"
    name = "tend plot"
    utility = 1.0

    class Args(ActionArgs):
        """Which plot.

        Attributes:
            plot: the plot.
            state: the state that it is in.
        """

        plot: Entity
        state: str

    async def run(self, ctx: Context[Being], args: Args) -> None:
        """Work on it."""
        labor = _LABORS[args.state]
        town = ctx.entity[Town]
        plot = args.plot[Plot]
        ctx.set_status_text_key(f"colony:status.{labor.effect}")
        await ctx.execute("agentrt:run_effect", effect=labor.effect)
        if plot.state != args.state or not within_reach(ctx, args.plot):
            ctx.abort(f"{args.plot.name} is {plot.state} and not {args.state} any more")
        plot.advance(args.state)
        town.chronicle.note(labor.kind, ctx.entity, labor.text)
        if plot.state == "planted":
            plot.due = ctx.clock.tick + town.random.between(*GROWTH)
        elif plot.state == "bare":
            town.item("turnip", args.plot[Position].location)
