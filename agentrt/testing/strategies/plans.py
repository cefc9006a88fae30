"""Plans at random: actions on levels, where a compound has only steps of deeper levels, so that no plan is endless.

The activities are ``top``, ``high`` and ``low``. Every activity has at least one action, and the root has one that is
always possible and takes time, so that an agent is neither stuck nor spinning. Among the others are some that think for
a while, end badly, or refuse to be started.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from hypothesis import strategies as st

from agentrt.testing.strategies.schedules import Brief
from agentrt.testing.stubs import Outcome, stub_action, stub_plan

if TYPE_CHECKING:
    from agentrt.activity.author.action import Action

__all__ = ["StubActionSpec", "PlanCase", "plans"]

_LEVELS = ("top", "high", "low")
_BROKEN = "it broke"


@dataclass(frozen=True, repr=False)
class StubActionSpec(Brief):
    """One action of a case."""

    label: str
    does: str
    utility: float
    steps: tuple[str, ...] = ()  # the activities of its steps; empty for a leaf
    takes: int = 1  # how many ticks a leaf runs
    thinks: int | None = None  # how many ticks a leaf thinks; None for one that is ready at once
    fails: tuple[Outcome, ...] = ()  # how its run ends, time after time; of a compound, its start
    fails_in: str = "run"  # in which hook of a leaf it fails

    def action(self) -> type[Action]:
        """The class, made anew."""
        said: dict[str, Any] = {"utility": self.utility, "fails": self.fails, "label": self.label}
        if self.steps:
            return stub_plan(self.does, *self.steps, **said)
        return stub_action(self.does, takes=self.takes, thinks=self.thinks, fails_in=self.fails_in, **said)


@dataclass(frozen=True, repr=False)
class PlanCase(Brief):
    """What an agent knows."""

    specs: tuple[StubActionSpec, ...]
    top: str = _LEVELS[0]  # the activity that it performs all the time

    def actions(self) -> list[type[Action]]:
        """The action classes, made anew, for ``Agent(actions=...)``."""
        return [spec.action() for spec in self.specs]


def plans(*, max_actions: int = 3, may_fail: bool = True) -> st.SearchStrategy[PlanCase]:
    """What agents could know.

    Args:
        max_actions: of one activity, besides those that are always there.
        may_fail: whether runs may abort and starts refuse.
    """
    words = st.sampled_from([None, _BROKEN]) if may_fail else st.none()
    ends = st.lists(words, max_size=3).map(tuple)
    parts = {level: _parts(ends, _LEVELS[number + 1 :]) for number, level in enumerate(_LEVELS)}

    @st.composite
    def cases(draw: st.DrawFn) -> PlanCase:
        specs = [StubActionSpec("Idle", "top", 0.0, takes=3)]
        for level in _LEVELS:
            least = 0 if level == "top" else 1
            for index, made in enumerate(draw(st.lists(parts[level], min_size=least, max_size=max_actions))):
                specs.append(StubActionSpec(f"{level.title()}{index}", level, **made))
        return PlanCase(tuple(specs))

    return cases()


def _parts(ends: st.SearchStrategy[tuple[Outcome, ...]], below: tuple[str, ...]) -> st.SearchStrategy[dict[str, Any]]:
    """What an action is beside its name and its activity."""
    utility = st.sampled_from([0.5, 0.2, 0.8])
    leaf = st.fixed_dictionaries(
        {
            "utility": utility,
            "takes": st.integers(1, 4),
            "thinks": st.one_of(st.none(), st.integers(0, 3)),
            "fails": ends,
            "fails_in": st.sampled_from(["run", "start"]),
        }
    )
    if not below:
        return leaf
    steps = st.lists(st.sampled_from(below), min_size=1, max_size=3).map(tuple)
    return st.one_of(leaf, st.fixed_dictionaries({"utility": utility, "steps": steps, "fails": ends}))
