"""Actions that let time pass: wait, stand idle, run an effect.

``agentrt:idle`` is what an agent does that has nothing better to do. It has several implementations of equal
utility; which one runs is drawn by their weights, so that idling agents do not move in step. ``IdleAtTop``
offers it to the root activity at utility 0: everything else is better.

``RunEffect`` is the seed's example for ``suspend`` and ``resume``: the effect player calls back when the
effect has ended, on its own time, and the action sleeps until then. The effect is stopped when the action is
interrupted.
"""

from __future__ import annotations

from agentrt import Action, ActionArgs, CompoundAction, Context, step
from agentrt_actions.protocols import EffectPlayer, PlayedEffect

__all__ = ["IdleAtTop", "RunEffect", "StandIdle", "Wait"]


class Wait(Action):
    """Let a number of game seconds pass."""

    does = "agentrt:wait"
    name = "wait"
    utility = 1.0

    class Args(ActionArgs):
        """What to wait for.

        Attributes:
            seconds: game seconds.
        """

        seconds: float

    async def run(self, ctx: Context, args: Args) -> None:
        """Sleep.

        Args:
            ctx: the context.
            args: how long.
        """
        await ctx.sleep(args.seconds)


class StandIdle(Action):
    """Stand around for one to three seconds."""

    does = "agentrt:idle"
    name = "stand idle"
    utility = 1.0
    weight = 2
    status_text_key = "agentrt:status.idle"

    async def run(self, ctx: Context, args: ActionArgs) -> None:
        """Sleep for a while.

        Args:
            ctx: the context.
            args: none.
        """
        await ctx.sleep(ctx.random.uniform(1.0, 3.0))


class IdleAtTop(CompoundAction):
    """Idle when nothing else is to be done."""

    does = "agentrt:top"
    name = "idle"
    utility = 0.0
    steps = (step("agentrt:idle"),)


class RunEffect(Action):
    """Play an effect and go on when it has ended.

    Source: seed 001, "Executing plans", run_effect; "AI contexts", suspend() and resume().
    """

    does = "agentrt:run_effect"
    name = "run effect"
    utility = 1.0

    class Args(ActionArgs):
        """What to play.

        Attributes:
            effect: the name of the effect.
        """

        effect: str

    def __init__(self) -> None:
        super().__init__()
        self._playing: PlayedEffect | None = None

    async def run(self, ctx: Context, args: Args) -> None:
        """Play it.

        Args:
            ctx: the context.
            args: which effect.
        """
        self._playing = ctx.entity[EffectPlayer].play(ctx.entity, args.effect, ctx.resume)
        await ctx.suspend()

    def stop(self, ctx: Context, args: Args) -> None:
        """End the effect if it still plays.

        Args:
            ctx: the context.
            args: which effect.
        """
        if self._playing is not None:
            self._playing.stop()
            self._playing = None
