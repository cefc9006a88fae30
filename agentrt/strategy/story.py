"""The story of a failure: what was tried for a dependency, and what became of it, in one error.

The sentence names who failed and who cannot, with their reasons; and before them the circle of needs, or the endless
regress, if there was nothing else that kept them. The story is the task tree below the dependency. A
tree may be long, an error is read by people: the middle of a long story is left out. The cause of the error is what
went wrong underneath, and not the failures in between, which the story tells already.

Source: seed 003, "Task Failure".
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any, Final

from agentrt.errors import DependencyFailedError
from agentrt.strategy.dependency import label_of
from agentrt.strategy.tree import NodeKind, Outcome, TaskNode

if TYPE_CHECKING:
    from agentrt.activity.unit import Unit
    from agentrt.strategy.attempt import Attempt
    from agentrt.strategy.catalog import Provider
    from agentrt.strategy.dependency import Dependency
    from agentrt.strategy.offers import Offer

__all__ = ["failure_of", "regress_of", "told_path"]

_MOST_TOLD: Final = 80  # lines of a story
_MOST_NEEDS: Final = 6  # of a path
_REGRESS: Final = 3  # times that a strategy is run for the same kind of thing within itself, each time for another one


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
    circles = [attempt.circle for attempt in failed.values()] + [offer.circle for offer in offers]
    circle = circles[0] if circles and all(circles) else ""
    node.end(Outcome.FAILED, clock.tick, reason)
    failure = DependencyFailedError(
        wanted,
        reason,
        label=node.label if node.wanted is wanted and node.kind is NodeKind.DEPENDENCY else label_of(wanted),
        circle=circle,
        story=_shortened(node.render(clock.ticks_per_second)),
        agent=planner.name,
        path=unit.path(),
        tick=clock.tick,
    )
    causes = [_cause(attempt.cause) for attempt in failed.values()]
    failure.__cause__ = next((one for one in reversed(causes) if one is not None), None)
    return failure


def told_path(path: Sequence[Dependency[Any]]) -> str:
    """Needs in words, each of the one before it: "Have [plank] needs Have [log]".

    Args:
        path: the needs, the outermost first.
    """
    told = [label_of(one) for one in path[:_MOST_NEEDS]]
    if len(path) > _MOST_NEEDS:
        told += ["...", label_of(path[-1])] if path[-1] in path[:_MOST_NEEDS] else ["..."]
    return " needs ".join(told)


def regress_of(chain: Sequence[tuple[Provider, Dependency[Any]]]) -> str:
    """Whether strategies need each other again and again, each time for something new, which nothing stops but depth.

    Args:
        chain: who is run, for what, the outermost first.

    Returns:
        The regress in words; empty if there is none.
    """
    kinds = [(provider, type(wanted)) for provider, wanted in chain]
    for index, kind in enumerate(kinds):
        if kinds.count(kind) >= _REGRESS:
            depth = len(kinds) - index
            return f"an endless regress, {depth} needs deep: {told_path([wanted for _, wanted in chain[index:]])}"
    return ""


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
