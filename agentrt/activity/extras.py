"""What only few units have: listeners, protected entities, spawned frames, timers, words. Made when first needed.

Listeners that were opened while thinking are closed when thinking stops; those that were opened later, when the action
stops. A protection lasts as long as the unit thinks or is started and does not run yet. Spawned frames last until the
thinking of an action that is not elected stops, or the action does. What limits thinking ends with it.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from typing import TYPE_CHECKING, Any

from agentrt.activity.backoff import Backoff
from agentrt.activity.protection import first_gone, lost, meant, watch
from agentrt.kernel.signals import Connection
from agentrt.kernel.traps import Waiter

if TYPE_CHECKING:
    from agentrt.activity.frame import Frame
    from agentrt.activity.spawning import SpawnedFrame
    from agentrt.activity.unit import Unit
    from agentrt.kernel.calls import Timer

__all__ = ["Extras", "stop_run"]


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
        unwinding: called when its ``run`` is told to stop, by whoever has it stand still; None for nobody.
    """

    __slots__ = (
        "_exempt",
        "_is_late",
        "_protected",
        "_while_running",
        "_while_thinking",
        "awaits_flags",
        "backoff",
        "candidates",
        "cut_reason",
        "cut_since",
        "cuts",
        "debug",
        "execute",
        "kept_since",
        "progress",
        "reason",
        "resumption",
        "spawned",
        "status",
        "step_timeouts",
        "suspension",
        "timeout",
        "unwinding",
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
        self.unwinding: Callable[[], object] | None = None
        self.backoff: Backoff = Backoff()
        self._while_thinking: list[Connection] = []
        self._while_running: list[Connection] = []
        self._protected: list[tuple[Any, Connection]] = []
        self._exempt: list[Any] = []

    def keep(self, connection: Connection, *, is_thinking: bool) -> None:
        """Close a connection when the unit stops thinking, or when it stops.

        Args:
            connection: what to close.
            is_thinking: which of the two.
        """
        (self._while_thinking if is_thinking else self._while_running).append(connection)

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
    def is_listening(self) -> bool:
        """Whether a function that was connected while thinking may still be called."""
        return bool(self._while_thinking)

    def thinking_stopped(self, *, is_started: bool) -> None:
        """Close what was opened while thinking.

        Args:
            is_started: whether the unit was elected; else its protections end too.
        """
        for connection in self._while_thinking:
            connection.close()
        self._while_thinking.clear()
        self.candidates = None
        self.kept_since = 0
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

    def stopped(self) -> None:
        """Close the rest."""
        self.thinking_stopped(is_started=False)
        for connection in self._while_running:
            connection.close()
        self._while_running.clear()
        self.suspension = None
        self.resumption = None
        self._is_late = False
        self.progress = ""
        self.awaits_flags = False
        self.unwinding = None

    def _unprotect_all(self) -> None:
        for _, connection in self._protected:
            connection.close()
        self._protected.clear()
        self._exempt.clear()


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
