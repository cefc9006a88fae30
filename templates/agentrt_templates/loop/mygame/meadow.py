"""The game itself. It knows nothing of agents: it has bodies, and tells what happens to them."""

from __future__ import annotations

import agentrt as art

FAR = 3  # steps from the fold


class Meadow:
    """Who is on it, and what happens there."""

    def __init__(self) -> None:
        self.bodies: list[Body] = []
        self.moved = art.Signal()  # somebody is somewhere else
        self.thunder = art.Signal()

    def add(self, body: Body) -> Body:
        """Put somebody onto the meadow."""
        self.bodies.append(body)
        return body

    def strayed(self) -> Body | None:
        """The sheep that is farthest from the fold, if any is too far."""
        far = [body for body in self.bodies if body.kind == "sheep" and body.steps >= FAR]
        return max(far, key=lambda body: body.steps, default=None)


class Body(art.Entity):
    """A sheep or a dog, so many steps from the fold."""

    def __init__(self, kind: str, meadow: Meadow, *, name: str) -> None:
        super().__init__(kind, name=name)
        self.meadow = meadow
        self.steps = 0

    def go(self, steps: int) -> None:
        """Be elsewhere."""
        self.steps = steps
        self.meadow.moved.emit()
