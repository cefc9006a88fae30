"""What only few units have: listeners, protected entities, spawned frames, timers, words. Made when first needed.

Listeners and timers that were opened while thinking are closed when thinking stops; those that were opened later, when
the action stops. While one of the former is open, or a spawned frame thinks, a think that has returned may still be
answered for. A protection lasts as long as the unit thinks or is started and does not run yet. Spawned frames last
until the thinking of an action that is not elected stops, or the action does. What limits thinking ends with it.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from typing import TYPE_CHECKING, Any

from agentrt.activity.backoff import Backoff
from agentrt.activity.protection import first_gone, lost, meant, watch
from agentrt.kernel.signals import Connection, Signal
from agentrt.kernel.traps import Waiter

if TYPE_CHECKING:
    from agentrt.activity.frame import Frame
    from agentrt.activity.performing import Performance
    from agentrt.activity.spawning import SpawnedFrame
    from agentrt.activity.unit import Unit
    from agentrt.body.leases import Place, Refusal
    from agentrt.kernel.calls import Timer

__all__ = ["Alarm", "Extras", "Listener", "stop_run"]


class Listener(Connection):
    """A function of an action that is connected to a signal. Closing it twice does nothing.

    Args:
        signal: what it listens to.
        function: what is called.
        unit: whose it is.
    """

    __slots__ = ("_unit",)

    def __init__(self, signal: Signal, function: Callable[[Any], object], unit: Unit) -> None:
        super().__init__(signal, function)
        self._unit = unit

    def close(self) -> None:
        """Do not call the function any more."""
        super().close()
        self._unit.own_extras().let_go(self._unit, self)

    words: tuple[str, str] = "a listener", "listeners"


class Alarm:
    """A function of an action that is called once, later. Closing it after that does nothing.

    Args:
        unit: whose it is.
        function: what is called.
    """

    __slots__ = ("_function", "_timer", "_unit")

    words: tuple[str, str] = "a timer", "timers"

    def __init__(self, unit: Unit, function: Callable[[], object]) -> None:
        self._unit = unit
        self._function = function
        self._timer: Timer | None = None

    def set(self, ticks: int) -> None:
        """Have it called.

        Args:
            ticks: how many ticks from now.
        """
        self._timer = self._unit.frame.planner.kernel.call_later(ticks, self._ring)

    def _ring(self) -> None:
        self._timer = None
        self._function()
        self.close()  # after the call: what it answers is not the end of what may still answer

    def close(self) -> None:
        """Do not call the function any more."""
        if self._timer is not None:
            self._timer.cancel()
            self._timer = None
        self._unit.own_extras().let_go(self._unit, self)


class Extras:
    """The rare possessions of one unit.

    Attributes:
        backoff: for when it refuses to be started.
        progress: what ``set_debug_progress`` said.
        reason: why it is not possible now, unless it rejected or just found nothing; empty otherwise.
        status: the status text key and its arguments, if the action set one.
        debug: the author's own debugging data.
        suspension: the wait of ``suspend``, while it lasts.
        resumption: what the next wait returns at once, because ``resume`` came before it.
        execute: the spawned frame whose end ``run`` awaits at this moment.
        spawned: the spawned frames that think or run; None while there never was one.
        candidates: the choices that are left of ``ctx.candidates``.
        timeout: the limit of its thinking.
        step_timeouts: the limits of steps that think, by number; None while there never was one.
        cuts: how often its thinking was stopped before it had an answer, since it had one.
        cut_reason: why, the last time.
        cut_since: the tick in which the first of these thoughts began.
        kept_since: the tick in which the thinking began that was kept over the end of a plan; 0 for no such.
        awaits_flags: whether it runs, but waits for its control flags.
        place: its place in the line for a lease, while it waits in one.
        refusal: the lease because of which it rejected its arguments, until it stops thinking; None if it was not that.
        was_kept_waiting: whether it runs now, and had to wait for them.
        awaits: the performance of which ``run`` awaits the end at this moment.
        unwinding: called when its ``run`` is told to stop, by whoever has it stand still; None for nobody.
    """

    __slots__ = (
        "_exempt",
        "_is_late",
        "_protected",
        "_while_running",
        "_while_thinking",
        "awaits",
        "awaits_flags",
        "backoff",
        "candidates",
        "cut_reason",
        "cut_since",
        "cuts",
        "debug",
        "execute",
        "kept_since",
        "place",
        "progress",
        "reason",
        "refusal",
        "resumption",
        "spawned",
        "status",
        "step_timeouts",
        "suspension",
        "timeout",
        "unwinding",
        "was_kept_waiting",
    )

    def __init__(self) -> None:
        self.progress: str = ""
        self.reason: str = ""
        self.status: tuple[str, dict[str, Any]] | None = None
        self.debug: dict[str, Any] = {}
        self.suspension: Waiter | None = None
        self.resumption: tuple[Any] | None = None
        self._is_late = False  # whether the last wait was given up: its resume may still come
        self.execute: Frame | None = None
        self.spawned: list[SpawnedFrame] | None = None
        self.candidates: Iterator[Mapping[str, Any]] | None = None
        self.timeout: Timer | None = None
        self.step_timeouts: dict[int, Timer] | None = None
        self.cuts: int = 0
        self.cut_reason: str = ""
        self.cut_since: int = 0
        self.kept_since: int = 0
        self.awaits_flags: bool = False
        self.was_kept_waiting: bool = False
        self.awaits: Performance | None = None
        self.unwinding: Callable[[], object] | None = None
        self.place: Place | None = None
        self.refusal: Refusal | None = None
        self.backoff: Backoff = Backoff()
        self._while_thinking: list[Listener | Alarm] = []
        self._while_running: list[Listener | Alarm] = []
        self._protected: list[tuple[Any, Connection]] = []
        self._exempt: list[Any] = []

    def keep(self, opened: Listener | Alarm, *, is_thinking: bool) -> None:
        """Close something when the unit stops thinking, or when it stops.

        Args:
            opened: what to close.
            is_thinking: which of the two.
        """
        (self._while_thinking if is_thinking else self._while_running).append(opened)

    def let_go(self, unit: Unit, opened: Listener | Alarm) -> None:
        """Something was closed before.

        Args:
            unit: whose extras these are.
            opened: it.
        """
        for kept in (self._while_thinking, self._while_running):
            if opened in kept:
                kept.remove(opened)
                unit.something_closed()

    def protect(self, unit: Unit, value: Any) -> None:
        """Watch an entity; one that is gone already is lost at once.

        Args:
            unit: whose extras these are.
            value: an entity, something that holds some, or the name of an argument.
        """
        entities = meant(unit.frame, value)
        for entity in entities:
            self._exempt = [kept for kept in self._exempt if kept is not entity]
        gone = first_gone(entities)
        if gone is not None:
            lost(unit.frame, gone, unit)
            return
        for entity in entities:
            if not any(kept is entity for kept, _ in self._protected):
                self._protected.append((entity, watch(unit.frame, entity, unit)))

    def unprotect(self, unit: Unit, value: Any) -> None:
        """Do not watch it any more.

        Args:
            unit: whose extras these are.
            value: an entity, something that holds some, or the name of an argument.
        """
        for entity in meant(unit.frame, value):
            self._exempt.append(entity)
            for kept, connection in self._protected:
                if kept is entity:
                    connection.close()
            self._protected = [(kept, connection) for kept, connection in self._protected if kept is not entity]

    def is_unprotected(self, entity: Any) -> bool:
        """Whether protection was taken from an entity.

        Args:
            entity: an argument of the activity.
        """
        return any(kept is entity for kept in self._exempt)

    # --- suspend and resume -------------------------------------------------------------------------------------------

    def suspend(self) -> Waiter:
        """A wait of ``suspend`` begins."""
        self._is_late = False
        self.suspension = waiter = Waiter()
        return waiter

    def unsuspend(self, waiter: Waiter) -> None:
        """It is over.

        Args:
            waiter: the wait.
        """
        if self.suspension is waiter:
            self.suspension = None
            self._is_late = not waiter.was_notified

    def resume(self, value: Any) -> bool:
        """End the wait, or the next one before it begins.

        Args:
            value: what the wait returns.

        Returns:
            Whether there was, or will be, something to end.
        """
        if self.suspension is not None:
            return self.suspension.notify(value)
        if self._is_late or self.resumption is not None:
            self._is_late = False
            return False
        self.resumption = (value,)
        return True

    # --- spawned frames -----------------------------------------------------------------------------------------------

    def frames(self) -> tuple[Frame, ...]:
        """The spawned frames that think or run."""
        return () if self.spawned is None else tuple(one.frame for one in self.spawned)

    def _stop_spawned(self) -> None:
        if self.spawned:
            for one in self.spawned[::-1]:
                one.end()

    # --- the end ------------------------------------------------------------------------------------------------------

    @property
    def may_answer(self) -> bool:
        """Whether something that was opened while thinking may still make the action ready, or take that back."""
        return bool(self._while_thinking) or any(not one.is_hopeless for one in self.spawned or ())

    def waits(self) -> str:
        """What was opened while thinking and may still answer, in words."""
        found: dict[tuple[str, str], int] = {}
        for one in self._while_thinking:
            found[one.words] = found.get(one.words, 0) + 1
        frames = sum(not one.is_hopeless for one in self.spawned or ())
        if frames:
            found["an activity that it spawned", "activities that it spawned"] = frames
        return " and ".join(one if count == 1 else f"{count} {many}" for (one, many), count in found.items())

    def thinking_stopped(self, *, is_started: bool) -> None:
        """Close what was opened while thinking.

        Args:
            is_started: whether the unit was elected; else its protections end too.
        """
        _close(self._while_thinking)
        self.candidates = None
        self.kept_since = 0
        self.leave_line()
        if self.timeout is not None:
            self.timeout.cancel()
            self.timeout = None
        if self.step_timeouts:
            for limit in self.step_timeouts.values():
                limit.cancel()
            self.step_timeouts.clear()
        if not is_started:
            self._stop_spawned()
            self._unprotect_all()
            self.status = None

    def leave_line(self) -> None:
        """Give up its place in the line for a lease, if it has one."""
        if self.place is not None:
            self.place.close()
            self.place = None

    def stopped(self) -> None:
        """Close the rest."""
        self.thinking_stopped(is_started=False)
        _close(self._while_running)
        self.suspension = None
        self.resumption = None
        self._is_late = False
        self.progress = ""
        self.awaits_flags = self.was_kept_waiting = False
        self.unwinding = None

    def _unprotect_all(self) -> None:
        for _, connection in self._protected:
            connection.close()
        self._protected.clear()
        self._exempt.clear()


def _close(kept: list[Listener | Alarm]) -> None:
    opened = kept[:]
    kept.clear()  # first: nothing may still answer, and nobody is to be told that it may not any more
    for one in opened:
        one.close()


def stop_run(unit: Unit, reason: str) -> None:
    """Have the strand of a unit's ``run`` end; whoever has it stand still lets it go.

    What it executes was stopped before. Behind a shield it would wait for that for ever: it is told.

    Args:
        unit: the unit.
        reason: why, in words.
    """
    if unit.running is not None:
        unit.running.stop(reason)
    extras = unit.extras
    if extras is not None:
        if extras.unwinding is not None:
            extras.unwinding()
        for one in extras.spawned or ():
            if one.frame is extras.execute:
                one.lost()
