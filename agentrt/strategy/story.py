"""The story of a failure: what was tried for a dependency, and what became of it, in one error.

The sentence names who failed and who cannot, with their reasons; the story is the task tree below the dependency. A
tree may be long, an error is read by people: the middle of a long story is left out. The cause of the error is what
went wrong underneath, and not the failures in between, which the story tells already.

Source: seed 003, "Task Failure".
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any, Final

from agentrt.errors import DependencyFailedError
from agentrt.strategy.tree import Outcome, TaskNode

if TYPE_CHECKING:
    from agentrt.activity.unit import Unit
    from agentrt.strategy.attempt import Attempt
    from agentrt.strategy.catalog import Provider
    from agentrt.strategy.dependency import Dependency
    from agentrt.strategy.offers import Offer

__all__ = ["failure_of"]

_MOST_TOLD: Final = 80  # lines of a story


def failure_of(
    unit: Unit,
    wanted: Dependency[Any],
    node: TaskNode,
    offers: Sequence[Offer],
    failed: Mapping[Provider, Attempt],
) -> DependencyFailedError:
    """A dependency could not be solved: end its node, and make the error.

    Args:
        unit: below which action of the plan.
        wanted: the dependency.
        node: its node.
        offers: what those said who are left; nobody of them can.
        failed: the attempts of those who were tried.

    Returns:
        The error, with the story.
    """
    planner = unit.frame.planner
    clock = planner.kernel.clock
    if not offers and not failed:
        reason = "no strategy provides it"
    else:
        told = [f"{provider.spec.label} failed ({attempt.reason})" for provider, attempt in failed.items()]
        told += [f"{offer.provider.spec.label} cannot ({offer.reason})" for offer in offers]
        reason = "; ".join(told)
    node.end(Outcome.FAILED, clock.tick, reason)
    failure = DependencyFailedError(
        wanted,
        reason,
        label=wanted.label(),
        story=_shortened(node.render(clock.ticks_per_second)),
        agent=planner.name,
        path=unit.path(),
        tick=clock.tick,
    )
    causes = [_cause(attempt.cause) for attempt in failed.values()]
    failure.__cause__ = next((one for one in reversed(causes) if one is not None), None)
    return failure


def _cause(error: BaseException | None) -> BaseException | None:
    """What went wrong underneath: the story tells of the failures in between already."""
    return error.__cause__ if isinstance(error, DependencyFailedError) else error


def _shortened(story: str) -> str:
    """A story of which the middle is left out, if it is too long to be read."""
    lines = story.splitlines()
    left_out = len(lines) - _MOST_TOLD
    if left_out <= 0:
        return story
    return "\n".join((*lines[: _MOST_TOLD // 2], f"... {left_out} lines", *lines[-_MOST_TOLD // 2 :]))
