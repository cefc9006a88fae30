"""What a selection tree is doing for one agent, as plain values, for snapshots and tools.

Source: seed 004, "No Behavior" in the debug information; design section 7, "Snapshot".
"""

from __future__ import annotations

from dataclasses import dataclass

__all__ = ["NO_BEHAVIOR", "SelectionView"]

NO_BEHAVIOR = "No Behavior"


@dataclass(frozen=True, slots=True)
class SelectionView:
    """What a selection tree is doing for one agent.

    Attributes:
        name: of the driver.
        tree: the name of the tree.
        leaf: the path of the current leaf; empty if there is none.
        behavior: what that leaf selects; ``No Behavior`` if there is no leaf.
        is_registered: whether there is a behavior of that name.
        phase: none, beginning, active or leaving.
        variables: name and value, in the order of declaration.
        flags: the control flags that the behavior holds.
        waits_for: the leaf's behavior that would be selected if its control flags were free; empty if there is none.
        out: behaviors that are out because a callback raised, and the path at which it did.
        routines: what its coroutines are, by their callbacks' names.
    """

    name: str
    tree: str
    leaf: str
    behavior: str
    is_registered: bool
    phase: str
    variables: tuple[tuple[str, bool], ...]
    flags: tuple[str, ...] = ()
    waits_for: str = ""
    out: tuple[tuple[str, str], ...] = ()
    routines: tuple[str, ...] = ()

    def lines(self) -> list[str]:
        """The same in words."""
        what = f"{self.leaf} selects {self.behavior}" if self.leaf else NO_BEHAVIOR
        if self.leaf and not self.is_registered:
            what += f" ({NO_BEHAVIOR}: none is registered under this name)"
        elif self.phase in ("beginning", "leaving"):
            what += f", {self.phase}"
        lines = [f"{self.tree}: {what}"]
        if self.flags:
            lines.append(f"  holds {', '.join(self.flags)}")
        if self.waits_for:
            lines.append(f"  would be {self.waits_for}, whose control flags are held by somebody else")
        true = [name for name, value in self.variables if value]
        if self.variables:
            lines.append(f"  true: {', '.join(true) or 'nothing'}")
        lines.extend(f"  {behavior} is out: it raised at {path}" for behavior, path in self.out)
        return lines
