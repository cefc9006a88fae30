"""What an agent solves, in words: why this strategy, why not the others, what is foreseen, what is interrupted by what.

A request is told along what is under way, from what was asked for down to the strategy that runs innermost. At each
dependency stand the strategies: those that failed and why, the one that runs with a star and what it is expected to
cost, the others with their costs or why they cannot. Below a strategy stands what it needs now, what it is expected to
need next ("perhaps" if only in some branches), and what came up. Then the forecast, if it reaches deeper, and what came
up and has to wait. Of requests that are over only the last is told, while nothing is being solved.

It is the half of ``explain`` that knows strategies, and a module of its own so that who has none does not load them.
Like all explanations it is made of a view and of nothing else.

Source: prismarine-gameplay: "Task Tree", "Heuristic Based Task Selection".explain()`.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Final

from agentrt.strategy.tree import NodeKind, Outcome, seconds
from agentrt.strategy.views import GameplayView, TaskNodeView

__all__ = ["solving_lines"]

_MOST: Final = 8  # strategies of a dependency, and needs of a strategy, that are told


def solving_lines(view: GameplayView, ticks_per_second: int) -> Iterator[str]:
    """What an agent solves, a line for each fact, indented.

    Args:
        ticks_per_second: of its clock; 0 if it has none.
    """
    for request in view.requests:
        tree, times = request.tree, request.attempts
        tried = f", {times} attempt{'s' if times > 1 else ''} so far" if times else ""
        by = f" by {request.asked_by}" if request.asked_by else ""
        paused = ", told to pause" if request.is_paused else ""
        yield f"  asked for {request.wanted}{by}{_since(tree)}{tried}{paused}:"
        yield from _need(tree, 2)
        if request.awaits:
            yield f"    {request.awaits}"
        if any(line.startswith(" " * 6) for line in request.forecast):  # else it says no more than "foreseen"
            yield "    expected from there:"
            for line in request.forecast:
                yield f"      {line}"
        if request.pending:
            yield f"    came up, and waits: {', '.join(request.pending[:_MOST])}"
    if view.finished and not view.requests:
        yield f"  last asked for {_ended(view.finished[-1], ticks_per_second)}"


def _need(node: TaskNodeView, level: int) -> Iterator[str]:
    """A dependency that is being solved, and who solves it."""
    indent = "  " * level
    yield f"{indent}<{node.label}>{_since(node)}{_was_expected(node)}"
    running = _running(node)
    failed = {child.label: child for child in node.children if child.outcome == Outcome.FAILED}
    for child in list(failed.values())[-_MOST:]:
        yield f"{indent}    {child.label}: failed: {child.reason or 'it did not say why'}"
    if running is not None:
        yield from _below(running, level + 1)
    others = [one for one in node.offers if running is None or one.strategy != running.label]
    for offer in others[:_MOST]:
        if offer.cost is None:
            yield f"{indent}    {offer.strategy}: cannot: {offer.reason or 'it did not say why'}"
        else:
            against = "" if running is None or running.cost is None else f" against {seconds(running.cost)}"
            yield f"{indent}    {offer.strategy}: not tried: expected to take {seconds(offer.cost)}{against}"
    if len(others) > _MOST:
        yield f"{indent}    and {len(others) - _MOST} more"


def _strategy(node: TaskNodeView, level: int) -> Iterator[str]:
    """A strategy that runs, with what it has solved at this moment and what it is expected to need."""
    indent = "  " * level
    yield f"{indent}* {node.label}: {node.outcome}{_since(node)}{_was_expected(node)}"
    below = _running(node)
    if below is not None:
        yield from _below(below, level + 2)
    planned = [child for child in node.children if child.outcome == Outcome.PLANNED]
    if planned:
        words = ", ".join(_foreseen(child) for child in planned[:_MOST])
        more = f" and {len(planned) - _MOST} more" if len(planned) > _MOST else ""
        yield f"{indent}    foreseen: {words}{more}"
    for child in node.children:
        if child.kind == NodeKind.OPTION and child.outcome == Outcome.SKIPPED:
            yield f"{indent}    {child.label}: left out: {child.reason or 'it is not worth it'}"


def _below(node: TaskNodeView, level: int) -> Iterator[str]:
    if node.kind == NodeKind.STRATEGY:
        yield from _strategy(node, level)
    elif node.kind == NodeKind.INTERRUPTION:
        yield f"{'  ' * level}interrupted by {node.label}{_since(node)}"
        below = _running(node)
        if below is not None:
            yield from _below(below, level + 1)
    elif node.kind == NodeKind.ACTIVITY:
        yield f"{'  ' * level}executes <{node.label}>{_since(node)}"
    else:
        yield from _need(node, level)


def _running(node: TaskNodeView) -> TaskNodeView | None:
    return next((child for child in reversed(node.children) if child.is_under_way), None)


def _foreseen(node: TaskNodeView) -> str:
    told = [] if node.cost is None else [seconds(node.cost)]
    told += [] if node.probability == 1.0 else [f"{100 * node.probability:.0f} %"]
    words = f" ({', '.join(told)})" if told else ""
    return f"{'perhaps ' if node.is_conditional else ''}{node.label}{words}"


def _since(node: TaskNodeView) -> str:
    return f", since tick {node.began}" if node.began else ""


def _was_expected(node: TaskNodeView) -> str:
    return "" if node.cost is None else f", expected to take {seconds(node.cost)}"


def _ended(node: TaskNodeView, rate: int) -> str:
    took = f" after {(node.ended - node.began) / rate:g} s" if rate and node.began and node.ended else ""
    return f"{node.label}: {node.outcome} in tick {node.ended}{took}" + (f": {node.reason}" if node.reason else "")
