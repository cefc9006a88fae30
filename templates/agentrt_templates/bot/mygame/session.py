"""A player's connection to the game: what it saw last, and the move that it makes next.

Here the game is called in each tick. A game on a network would get its moves by a task of its own, and hand in what it
answers with ``runtime.send``; for agents nothing would change.
"""

from __future__ import annotations

import agentrt as art

from mygame.grid import WAYS, Grid, Place, Sight


class Player(art.Entity):
    """The body of an agent: what it sees and does goes through here."""

    def __init__(self, kind: str, *, name: str) -> None:
        super().__init__(kind, name=name)
        self.sight = Sight((0, 0), {})
        self.move = "wait"  # what it does in the next step
        self.saw = art.Signal()  # a step was made

    async def do(self, move: str) -> None:
        """Make a move, and see what comes of it."""
        self.move = move
        await self.saw.wait()

    async def go(self, goal: Place) -> None:
        """Walk to a place."""
        while self.sight.at != goal:
            await self.do(way(self.sight.at, goal))


def way(start: Place, goal: Place) -> str:
    """The next move from one place to another."""
    (x, y), (to_x, to_y) = start, goal
    if x != to_x:
        return "east" if x < to_x else "west"
    return "wait" if y == to_y else "south" if y < to_y else "north"


def distance(start: Place, goal: Place) -> int:
    """How many moves apart two places are."""
    return abs(start[0] - goal[0]) + abs(start[1] - goal[1])


def step_from(start: Place, move: str) -> Place:
    """Where a move leads."""
    east, south = WAYS.get(move, (0, 0))
    return (start[0] + east, start[1] + south)


def connect(runtime: art.Runtime, game: Grid, players: list[Player]) -> None:
    """Begin a game, and make a step of it in each tick, before the agents."""

    def see(sights: dict[str, Sight]) -> None:
        for player in players:
            player.sight = sights[player.name]
            player.saw.emit()

    def step() -> None:
        moves = {player.name: player.move for player in players}
        for player in players:
            player.move = "wait"
        see(game.step(moves))

    see(game.reset([player.name for player in players]))
    runtime.every_tick(step)
