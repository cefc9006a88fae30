"""The state of one agent: its variables, and the behavior that it is in.

All that the tree knows about an agent is one integer with a bit for each variable. Who sets a variable (a signal, a
behavior, the game) only marks the state as *stale*; the tree is evaluated at the next ``drive``, and only then: an
update after which nothing changed costs one comparison.

A decision is a leaf, and what counts is the behavior that it selects. If that is the current one, nothing happens.
Otherwise the current one leaves, then the next begins; how, is in ``stage``. This module is what others see of it: the
driver of a body, and what behaviors and the game call.

Rejected: evaluating whenever a variable is set (a signal that sets two of them would pass through a state that nobody
meant).

Source: seed 004, "Behavior Selection Tree Evaluation".
"""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Mapping
from typing import TYPE_CHECKING, Any, ClassVar

from agentrt.body.driver import SELECTION, Body, give, number_in
from agentrt.errors import DefinitionError, WrongStateError
from agentrt.selection.leaf import Behaviors, LeafBehavior
from agentrt.selection.stage import Phase, Stage
from agentrt.selection.view import NO_BEHAVIOR, SelectionView, passed_over
from agentrt.words import repr_of, type_name

if TYPE_CHECKING:
    from agentrt.body.model_views import Outline
    from agentrt.kernel.strand import Strand
    from agentrt.selection.tree import SelectionTree

__all__ = ["SelectionState"]

_NOTHING: Behaviors = {}


class SelectionState(Stage):
    """The variables and the behavior of one agent; the driver of its body. Made by ``SelectionTree.state``.

    Args:
        tree: the tree.
        behaviors: what the leaves select, by name; kept, not copied.
        body: whom it drives, at once; None if it joins one later.
        name: begins the paths of its leaves.
        precedence: of its claims for control flags.

    Attributes:
        rank: where it stands in a tick.
        view_type: what ``view`` returns.

    Raises:
        DefinitionError: something in ``behaviors`` is neither a behavior nor makes one.

    Source: seed 004, "each AI instance gets a copy of the selection variables".
    """

    __slots__ = ()

    rank = SELECTION
    view_type: ClassVar[type[SelectionView]] = SelectionView

    def __init__(
        self,
        tree: SelectionTree,
        behaviors: Behaviors | None = None,
        *,
        body: Body | None = None,
        name: str = "selection",
        precedence: int = 0,
    ) -> None:
        given: object = _NOTHING if behaviors is None else behaviors
        if not isinstance(given, Mapping):
            raise DefinitionError(
                "SelectionTree.state",
                f"its behaviors are {repr_of(given, 80)}.",
                'Give a mapping of their names: tree.state({"Idle": Idle}). An agent attaches the state: '
                "agent.attach(tree.state(...)).",
            )
        number_in(precedence, "SelectionTree.state", "precedence")
        super().__init__(tree, given, name, precedence)
        for key, source in self.behaviors.items():
            if not isinstance(source, LeafBehavior) and not callable(source):
                raise DefinitionError(
                    f"behaviors[{repr_of(key, 80)}]",
                    f"it is a {type_name(source)}.",
                    "Give an instance or a class derived from LeafBehavior, or a function that makes one.",
                )
        if body is not None:
            self.join(body)

    # --- the driver of a body -----------------------------------------------------------------------------------------

    def join(self, body: Body) -> None:
        """Begin to drive a body. Nothing is decided before the first ``drive``; variables stay as they are.

        Args:
            body: whom.

        Raises:
            WrongStateError: it drives one already.
        """
        if self._body is not None:
            raise WrongStateError(
                "SelectionState.join", "it drives a body", "Make a state for each agent: tree.state()."
            )
        give(self, body, "SelectionState.join")
        self._body = body
        self._stale = True
        self._out = self._lost = None

    @property
    def given_to(self) -> Body | None:
        """Whose it is: whom it drives, or will drive as soon as that one lives.

        Set by ``agentrt.body.driver.give`` and ``take`` alone.
        """
        return self._given

    @given_to.setter
    def given_to(self, body: Body | None) -> None:
        self._given = body

    def drive(self) -> None:
        """Evaluate the tree if a variable or the tree changed, and change the behavior if another one is selected.

        Raises:
            WrongStateError: it drives nobody.

        Source: seed 004, "On each AI system update of an AI".
        """
        if self._stale or self._program is not self.tree.program:
            self._update()

    def leave(self, reason: str, then: Callable[[], object]) -> None:
        """Stop for good, or until it joins a body again: the behavior leaves.

        Args:
            reason: why, in words.
            then: called when all has ended; at once if no coroutine runs.
        """
        if self._body is None:
            then()
            return
        before = self._leaving
        if before is not None:
            told = before[1]
            self._leaving = (before[0], lambda: (told(), then()))
        else:
            self._leaving = (reason, then)
        self.forget_target()
        if self._flags is not None:
            self._flags.drop()
        self._settle()

    def strands(self) -> list[Strand]:
        """The strands of its coroutines that have not ended, in the order in which they began."""
        return [routine.strand for routine in self._routines or ()]

    def view(self) -> SelectionView:
        """What it is doing, as plain values."""
        leaf = self._leaf
        held = waiting = None
        if self._flags is not None:
            held, waiting = self._flags.held, self._flags.waiting
        return SelectionView(
            name=self.name,
            tree=self.tree.name,
            leaf="" if leaf is None else leaf.path,
            behavior=NO_BEHAVIOR if leaf is None else leaf.behavior or "",
            is_registered=self._behavior is not None,
            phase=str(self.phase),
            variables=tuple(self.variables.items()),
            flags=() if held is None else held.flags,
            waits_for="" if waiting is None else waiting.behavior,
            out=tuple((self._out or {}).items()),
            routines=tuple(routine.hook for routine in self._routines or ()),
            failed=passed_over(self._program, self._bits, leaf, self.name),
            version=self.tree.version,
        )

    def outline(self) -> Outline:
        """The whole tree as its file has it, with the paths that this state gives it; made once for each version."""
        return self.tree.outline(self.name)

    # --- for behaviors and for the game -------------------------------------------------------------------------------

    @property
    def entity(self) -> Any:
        """The entity of the body."""
        return self.body.entity

    @property
    def leaf(self) -> str:
        """The path of the current leaf from the root on, such as ``Root/Combat/Attack``; empty if there is none."""
        return "" if self._leaf is None else self._leaf.path

    @property
    def behavior(self) -> str | None:
        """The name of the current behavior, after translation; None if no leaf is selected."""
        return None if self._leaf is None else self._leaf.behavior

    def signal(self, name: str, /, **data: Any) -> bool:
        """Tell it that something happened.

        First the signal variables are set, in the order of the file, then the current behavior is told.

        Args:
            name: of the signal; case counts.
            data: for the behavior.

        Returns:
            Whether anybody took notice.

        Source: seed 004, "Signal Variables", "Behavior Selection Tree Evaluation".
        """
        effects = self._adopt().signals.get(name, ())
        for effect in effects:
            self._put(effect.mask, effect.test(self._bits), name)
        behavior = self._behavior
        if self.phase is not Phase.ACTIVE or behavior is None:
            return bool(effects)
        kind = type(behavior)
        if name not in kind.signals and kind.on_signal is LeafBehavior.on_signal:
            return bool(effects)
        self._call(name, behavior.on_signal, self, name, data)
        self._settle()
        return True

    def perform(self, activity: str, **args: Any) -> Awaitable[Any]:
        """Perform an activity of the agent's planner from within a coroutine of the behavior, with its control flags.

        Args:
            activity: what to perform.
            args: its arguments.
        """
        return self.body.perform(activity, args, None if self._flags is None else self._flags.held)

    def __repr__(self) -> str:
        return f"<SelectionState {self.tree.name}: {self.leaf or NO_BEHAVIOR}, {self.phase}>"
