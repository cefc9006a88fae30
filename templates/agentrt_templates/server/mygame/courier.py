"""A service outside of the game: a database, a web service, a language model. It takes time, and fails now and then."""

from __future__ import annotations


class Courier:
    """Knows what happened in the world, and does not come through every third time.

    ``fetch`` is a plain function: on an event loop it is called in a thread of its own, in a simulation on the spot. A
    coroutine function would do as well, on an event loop.
    """

    NEWS = ("it rains in the hills", "the bridge is open again", "the duke has lost his hat")

    def __init__(self) -> None:
        self.journeys = 0

    def fetch(self) -> str:
        """What happened last."""
        self.journeys += 1
        if self.journeys % 3 == 1:
            raise ConnectionError("the courier did not come through")
        return self.NEWS[self.journeys % len(self.NEWS)]
