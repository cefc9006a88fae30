"""What only few units have: listeners, protected entities, words for debugging. Made when first needed.

Listeners that were opened while thinking are closed when thinking stops; those that were opened later, when the action
stops. A protection lasts as long as the unit thinks or is started and does not run yet.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from agentrt.activity.backoff import Backoff
from agentrt.activity.protection import watch
from agentrt.kernel.signals import Connection, Signal
from agentrt.kernel.traps import Waiter

if TYPE_CHECKING:
    from agentrt.activity.unit import Unit

__all__ = ["Extras"]


class Extras:
    """The rare possessions of one unit.

    Attributes:
        backoff: for when it refuses to be started.
        progress: what ``set_debug_progress`` said.
        status: the status text key and its arguments, if the action set one.
        debug: the author's own debugging data.
        suspension: the wait of ``suspend``, while it lasts.
        execute: the frame of the activity that ``run`` executes at this moment.
    """

    __slots__ = (
        "_exempt",
        "_protected",
        "_while_running",
        "_while_thinking",
        "backoff",
        "debug",
        "execute",
        "progress",
        "status",
        "suspension",
    )

    def __init__(self) -> None:
        self.progress: str = ""
        self.status: tuple[str, dict[str, Any]] | None = None
        self.debug: dict[str, Any] = {}
        self.suspension: Waiter | None = None
        self.execute: Any = None
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

    def protect(self, unit: Unit, entity: Any) -> None:
        """Watch an entity.

        Args:
            unit: whose extras these are.
            entity: something with a ``destroyed`` signal.
        """
        self._exempt = [kept for kept in self._exempt if kept is not entity]
        destroyed = getattr(entity, "destroyed", None)
        if isinstance(destroyed, Signal) and not any(kept is entity for kept, _ in self._protected):
            self._protected.append((entity, watch(unit.frame, entity, unit)))

    def unprotect(self, entity: Any) -> None:
        """Do not watch it any more.

        Args:
            entity: what was protected, or is an argument of the activity.
        """
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
        if not is_started:
            self._unprotect_all()

    def stopped(self) -> None:
        """Close the rest."""
        self.thinking_stopped(is_started=False)
        for connection in self._while_running:
            connection.close()
        self._while_running.clear()
        self.suspension = None
        self.status = None
        self.progress = ""

    def _unprotect_all(self) -> None:
        for _, connection in self._protected:
            connection.close()
        self._protected.clear()
        self._exempt.clear()
