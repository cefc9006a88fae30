"""The setting: the numbers that a town can be made with, each with what a command line sees of it.

``WORTH`` has those of its people's rules: what an action is worth to everybody, set by ``Agent.tune``. One that was not
given touches nothing, so that a town of the default setting is the town as ever.
"""

from __future__ import annotations

from typing import Final

from agentrt.worlds import Parameter

__all__ = ["PARAMETERS", "WORTH"]

WORTH: Final = {
    "townsman.eat.utility": "eat",
    "townsman.work.utility": "work",
    "townsman.free_time.utility": "free time",
    "townsman.sleep.utility": "sleep",
}
"""The names of the actions, by those of the parameters."""

PARAMETERS: Final = {
    "people": Parameter(12, "How many live here: the first so many of the twelve.", low=2, high=12),
    "first_wolf": Parameter(500, "The tick from which on the first wolf may come.", low=0, high=1_000_000),
    "wolf_hours": Parameter(24, "After about so many hours the next one comes.", low=1, high=1000),
    "hunger": Parameter(100, "How much hungrier one gets in an hour, in thousandths.", low=0, high=1000),
    "company": Parameter(80, "How much lonelier one gets in an hour, in thousandths.", low=0, high=1000),
    "stock": Parameter(16, "What is in store at first, of grain, flour and bread each.", low=0, high=1000),
    "calls": Parameter(40, "How often each may ask the mind in a minute.", low=1, high=1000),
    "townsman.eat.utility": Parameter(0.66, "What eating is worth to the hungry.", low=0.0, high=1.0),
    "townsman.work.utility": Parameter(0.6, "What work is worth in working hours.", low=0.0, high=1.0),
    "townsman.free_time.utility": Parameter(0.5, "What it is worth to seek company otherwise.", low=0.0, high=1.0),
    "townsman.sleep.utility": Parameter(0.85, "What sleep is worth at night.", low=0.0, high=1.0),
}
