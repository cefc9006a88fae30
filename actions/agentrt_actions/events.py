"""Events: wait for one, trigger one, give the plan up when one comes.

An event is a signal of an entity with a name: ``entity.signal("ready_to_pose")``. It is something that happens and not
something that stays; who does not listen when it comes misses it. So the actions here listen from their start on, and
in a plan all steps are started before the first one runs: an event that comes during an earlier step counts.

Without a source, the entity that acts is meant.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from agentrt import Action, ActionArgs, Context, Entity, Event, Signal, move_on_after

__all__ = ["AbortOnEventTriggered", "TriggerEvent", "WaitForEvent"]


def _signal(ctx: Context[Entity], source: Entity | None, event: str) -> Signal:
    return ctx.signals[event] if source is None else source.signal(event)


class WaitForEvent(Action):
    """Wait until an event comes, or for a time.

    When the source is destroyed the event cannot come any more, and the plan is aborted.
    """

    does = "agentrt:wait_for_event"
    name = "wait for event"
    utility = 1.0
    status_text_key = "agentrt:status.waiting"

    class Args(ActionArgs):
        """What to wait for.

        Attributes:
            event: the name of the event.
            source: whose event it is; None for one's own.
            filter: given the event's value, whether it counts; None for any.
            timeout: how many game seconds to wait at most; 0 for any time.
            required: whether the plan is aborted when the time is over, instead of going on.
        """

        event: str
        source: Entity | None = None
        filter: Callable[[Any], bool] | None = None
        timeout: float = 0.0
        required: bool = False

    def __init__(self) -> None:
        super().__init__()
        self._news: Event = Event()
        self._has_come: bool = False

    def start(self, ctx: Context[Entity], args: Args) -> None:
        """Listen."""
        self._news = Event()
        self._has_come = False

        def come(value: Any) -> None:
            if args.filter is None or args.filter(value):
                self._has_come = True
                self._news.set()

        ctx.listen(_signal(ctx, args.source, args.event), come)
        if args.source is not None and args.event != "destroyed":
            ctx.listen(args.source.destroyed, lambda _gone: self._news.set())

    async def run(self, ctx: Context[Entity], args: Args) -> None:
        """Wait."""
        if args.timeout > 0:
            with move_on_after(args.timeout):
                await self._news.wait()
        else:
            await self._news.wait()
        if self._has_come:
            return
        if args.source is not None and args.source.is_destroyed:
            ctx.abort(f"{args.source.name} was destroyed while its event {args.event!r} was awaited")
        if args.required:
            ctx.abort(f"the event {args.event!r} did not come within {args.timeout:g} seconds")


class TriggerEvent(Action):
    """Let an event happen; it takes no time."""

    does = "agentrt:trigger_event"
    name = "trigger event"
    utility = 1.0

    class Args(ActionArgs):
        """What happens.

        Attributes:
            event: the name of the event.
            source: whose event it is; None for one's own.
            value: what listeners are given.
        """

        event: str
        source: Entity | None = None
        value: Any = None

    async def run(self, ctx: Context[Entity], args: Args) -> None:
        """Tell all who listen."""
        _signal(ctx, args.source, args.event).emit(args.value)


class AbortOnEventTriggered(Action):
    """Abort the plan when an event comes, from the plan's start to its end.

    A step of its own in a compound, anywhere in it: it takes no time and watches over all the others.
    """

    does = "agentrt:abort_on_event_triggered"
    name = "abort on event"
    utility = 1.0

    class Args(ActionArgs):
        """What to watch for.

        Attributes:
            event: the name of the event.
            source: whose event it is; None for one's own.
            filter: given the event's value, whether it counts; None for any.
        """

        event: str
        source: Entity | None = None
        filter: Callable[[Any], bool] | None = None

    def start(self, ctx: Context[Entity], args: Args) -> None:
        """Listen."""

        def come(value: Any) -> None:
            if args.filter is None or args.filter(value):
                ctx.abort(f"the event {args.event!r} was triggered")

        ctx.listen(_signal(ctx, args.source, args.event), come)
