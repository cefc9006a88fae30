"""Actions that let time pass: wait, run an effect.

``RunEffect`` is the seed's example for ``suspend`` and ``resume``: the effect player calls back when the effect has
ended, on its own time, and the action sleeps until then. The effect is stopped when the action is interrupted.
"""

from __future__ import annotations

from agentrt import Action, ActionArgs, Context, move_on_after
from agentrt_actions.things import EffectPlayer, PlayedEffect

__all__ = ["RunEffect", "Wait"]


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
        """Sleep."""
        await ctx.sleep(args.seconds)


class RunEffect(Action):
    """Play an effect, once or several times, or for a time, and go on when it has ended.

    Source: Stonehearth, AI: "Executing plans", run_effect; "AI contexts", suspend() and resume().
    """

    does = "agentrt:run_effect"
    name = "run effect"
    utility = 1.0

    class Args(ActionArgs):
        """What to play.

        Attributes:
            effect: the name of the effect.
            times: how often to play it; not looked at if there is a duration.
            duration: for how many game seconds to play it again and again, cutting the last one short; 0 for ``times``.
        """

        effect: str
        times: int = 1
        duration: float = 0.0

    def __init__(self) -> None:
        super().__init__()
        self._playing: PlayedEffect | None = None

    async def run(self, ctx: Context, args: Args) -> None:
        """Play it."""
        if args.duration > 0:
            end = ctx.clock.tick + ctx.clock.ticks(args.duration)
            with move_on_after(args.duration):
                while ctx.clock.tick < end:
                    await self._play(ctx, args.effect)
            self._end()
        else:
            for _ in range(args.times):
                await self._play(ctx, args.effect)

    async def _play(self, ctx: Context, effect: str) -> None:
        self._playing = ctx.entity[EffectPlayer].play(ctx.entity, effect, ctx.resume)
        await ctx.suspend()
        self._playing = None

    def stop(self, ctx: Context, args: Args) -> None:
        """End the effect if it still plays."""
        self._end()

    def _end(self) -> None:
        if self._playing is not None:
            self._playing.stop()
            self._playing = None
