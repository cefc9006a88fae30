"""Explanations: why an agent does what it does, and why not something else, in words.

They are made of a snapshot and of nothing else, so that one out of a recording is explained like the present one. Each
line is one place of a plan, or one fact; places are indented below what they are part of, activities in brackets, the
elected action with a star.

An action that is not elected says why, in this order: it is not possible and what it said about that; it is not ready,
since when, what it waits for, and how often it was stopped before it had an answer; its utility does not reach the bar,
which is the elected one's with its sunk cost; it would, and something keeps it from taking over.

Source: Stonehearth, AI, the AI inspector.explain()`.
"""

from __future__ import annotations

from collections.abc import Iterator

from agentrt.body.views import ModelView
from agentrt.snapshot.views import AgentSnapshot, FrameView, UnitView

__all__ = ["explain"]

_ANYTHING = "for something to happen"  # which says nothing that the reader does not know


def explain(snapshot: AgentSnapshot) -> str:
    """Why an agent does what it does, and why not something else.

    Args:
        snapshot: what it is doing.

    Returns:
        Several lines of text.
    """
    lines = [f"{snapshot.name} at tick {snapshot.tick}: " + (snapshot.running or "runs nothing")]
    if snapshot.error:
        lines.append(f"  {snapshot.error}")
    elif snapshot.is_ending and snapshot.is_alive:
        lines.append("  it was told to end, and cleans up")
    if snapshot.plan is not None:
        lines.extend(_frame(snapshot.plan, 1, snapshot.tick))
    for frame in snapshot.performances:
        lines.append(f"  performed beside the plan, as {frame.path}:")
        lines.extend(_frame(frame, 2, snapshot.tick))
    if snapshot.strategies is not None:
        from agentrt.snapshot.solving_words import solving_lines  # who has no strategies does not load them

        lines.extend(solving_lines(snapshot.strategies, snapshot.ticks_per_second))
    lines.extend(_models(snapshot))
    for flag, holder, since in snapshot.flags:
        lines.append(f"  {flag} is held by {holder} since tick {since}")
    for claim in snapshot.waiting:
        lines.append(f"  {claim.claimant} waits for {' and '.join(claim.flags)} since tick {claim.since}")
    lines.extend(f"  {refusal.text()}" for refusal in snapshot.refusals)
    if snapshot.aborts:
        lines.append(f"  {snapshot.aborts} aborts in a row; the last: {snapshot.abort_reason}")
    if snapshot.again > snapshot.tick:
        lines.append(f"  it plans anew {_in(snapshot.again, snapshot.tick)}")
    return "\n".join(lines)


def _models(snapshot: AgentSnapshot) -> Iterator[str]:
    for driver in snapshot.drivers:
        yield f"  {driver.name}:"
        for line in driver.lines:
            yield f"    {line}"
        if isinstance(driver.state, ModelView):
            for line in driver.state.reasons():
                yield f"    {line}"


def _frame(frame: FrameView, level: int, tick: int) -> Iterator[str]:
    indent = "  " * level
    # No author's activity has a space in its name; see GroupSpec.
    nobody = "no task is started" if frame.activity.startswith("tasks of ") else "no known action performs it"
    limit = f", until tick {frame.until} at most" if frame.until else ""
    yield f"{indent}<{frame.activity}> {frame.state}{limit}" + ("" if frame.units else f": {nobody}")
    elected = next((unit for unit in frame.units if unit.is_elected), None)
    for unit in frame.units:
        yield f"{indent}  {'* ' if unit.is_elected else '  '}{unit.name}: {_why(unit, elected, frame, tick)}"
        if unit.is_elected or unit.state == "thinking":
            for child in unit.frames:
                if child.state != "idle":
                    yield from _frame(child, level + 3, tick)
    if frame.unasked:
        yield f"{indent}    {frame.unasked} more tasks are not asked: {frame.unasked_reason}"


# --- one action -------------------------------------------------------------------------------------------------------


def _why(unit: UnitView, elected: UnitView | None, frame: FrameView, tick: int) -> str:
    words = f": {unit.reason}" if unit.reason else ""
    words += f" ({unit.progress})" if unit.progress else ""
    if unit.is_elected:
        has_rival = any(one.state == "ready" for one in frame.units if one is not unit)
        return f"{unit.state}, utility {_utility(unit)}{words}{_since(unit, has_rival)}"
    if unit.state == "ready" and elected is not None:
        return _why_not_better(unit, elected, frame) + words
    if unit.state == "idle" and elected is not None and not unit.reason:
        return _why_idle(unit, elected, frame) + words + _restarts(unit)
    if unit.state == "thinking":
        until = f", has until tick {unit.until}" if unit.until else ""
        waits = "" if unit.waits in ("", _ANYTHING) else f", waits {unit.waits}"
        return f"not ready since tick {unit.since}{waits}{until}{words}{_again(unit, tick)}{_restarts(unit)}"
    if unit.state == "impossible":
        return f"not possible now{words}{_again(unit, tick)}"
    return f"{unit.state}{words}"


def _utility(unit: UnitView) -> str:
    """A utility, with what sunk cost adds to it."""
    if unit.boosted != unit.utility:
        return f"{unit.utility:g} + {unit.boosted - unit.utility:g} sunk cost"
    return f"{unit.utility:g}"


def _since(unit: UnitView, has_rival: bool) -> str:
    """Since when the elected action runs, what it waits for, and, if that matters, what it will be worth."""
    if unit.state != "running":
        return ""
    waits = "" if unit.waits in ("", _ANYTHING) else f", waits {unit.waits}"
    boost = f", + {unit.boost:g} sunk cost from tick {unit.boost_at} on" if unit.boost_at and has_rival else ""
    return f", since tick {unit.since}{waits}{boost}"


def _why_not_better(unit: UnitView, elected: UnitView, frame: FrameView) -> str:
    if unit.utility > elected.boosted:
        if unit.reason:
            return f"ready, utility {unit.utility:g} against {_utility(elected)}, but it does not take over"
        when = "takes over when the other has stopped" if frame.state == "switching" else "does not take over now"
        return f"ready, utility {unit.utility:g}: it {when}"
    if unit.utility == elected.boosted:
        return f"ready, but its utility {unit.utility:g} is a tie, and a tie changes nothing"
    return f"ready, but its utility {unit.utility:g} does not beat {_utility(elected)}"


def _why_idle(unit: UnitView, elected: UnitView, frame: FrameView) -> str:
    if unit.high <= elected.utility:
        reach = f"{unit.utility:g}" if unit.low == unit.high else f"{unit.low:g} to {unit.high:g}"
        return f"not thinking: its utility {reach} could not beat {elected.utility:g}"
    if frame.state == "finished":
        return f"not thinking: {elected.name} is done"
    if frame.is_fixed:
        return f"not thinking: later steps read the output of {elected.name}, which stays"
    return "not thinking"


def _again(unit: UnitView, tick: int) -> str:
    return f"; it is asked again {_in(unit.again, tick)}" if unit.again > tick else ""


def _restarts(unit: UnitView) -> str:
    """How often and why it did not come to an answer, for who wonders why something slow never happens."""
    if unit.restarts < 2:  # once is nothing to wonder about
        return ""
    times = f"{unit.restarts} times"
    return f"; stopped {times} without an answer since tick {unit.restarts_since}, last because {unit.restart_reason}"


def _in(then: int, tick: int) -> str:
    left = then - tick
    return f"in tick {then}, {left} tick{'s' if left > 1 else ''} from now"
