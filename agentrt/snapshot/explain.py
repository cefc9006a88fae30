"""Explanations: why an agent does what it does, and why not something else, in words.

They are made of a snapshot and of nothing else, so that one out of a recording is explained like the present one. Each
line is one place of a plan, or one fact; places are indented below what they are part of, activities in brackets, the
elected action with a star.

What an agent solves is told along what is under way, from what was asked for down to the strategy that runs innermost,
the one with the star. Of requests that are over only the last is told, while nothing is being solved.

Source: Stonehearth, AI, the AI inspector; prismarine-gameplay: "Task Tree", "Heuristic Based Task Selection".
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import TYPE_CHECKING, NamedTuple

from agentrt.body.views import ModelView
from agentrt.snapshot.views import AgentSnapshot, FrameView, UnitView
from agentrt.words import counted, few, seconds

if TYPE_CHECKING:
    from agentrt.snapshot.html import Line
    from agentrt.strategy.views import GameplayView, TaskNodeView


_ANYTHING = "for something to happen"  # which says nothing that the reader does not know
_MOST_TOLD = 8  # strategies of a dependency, and needs of a strategy

Places = Mapping[str, str]


class _Now(NamedTuple):
    """The moment that is explained."""

    tick: int
    rate: int  # ticks in a game second; 0 without a clock
    places: Places


class Explanation(str):
    """What ``explain`` says: a text, which a notebook shows with its lines."""

    __slots__ = ()

    def _repr_html_(self) -> str:
        from agentrt.snapshot.html import box

        title, *lines = self.split("\n")
        return box(title, "", map(_html_line, lines))


def _html_line(text: str) -> Line:
    words = text.lstrip(" ")
    is_elected = words.startswith("* ")
    return (len(text) - len(words)) // 2 + is_elected, words.removeprefix("* "), "", "active" if is_elected else ""


def explain(snapshot: AgentSnapshot, places: Places | None = None) -> str:
    """Why an agent does what it does, and why not something else: several lines of text, an ``Explanation``.

    Args:
        snapshot: what it did at a moment.
        places: where in its author's code each action that thinks waits, by its path; known of what lives alone, since
            it is none of the run.
    """
    now = _Now(snapshot.tick, snapshot.ticks_per_second, places or {})
    lines = [f"{snapshot.name} at tick {snapshot.tick}: " + (snapshot.running or _otherwise(snapshot))]
    if snapshot.error:
        lines.append(f"  {snapshot.error}")
    elif snapshot.is_ending and snapshot.is_alive:
        lines.append("  it was told to end, and cleans up")
    if snapshot.plan is not None and not _is_idle_beside_models(snapshot):
        lines.extend(_frame(snapshot.plan, 1, now))
    for frame in snapshot.performances:
        lines.append(f"  performed beside the plan, as {frame.path}:")
        lines.extend(_frame(frame, 2, now))
    if snapshot.strategies is not None:
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
    return Explanation("\n".join(lines))


def _is_idle_beside_models(snapshot: AgentSnapshot) -> bool:
    """Whether it has other models and no action for a plan: that it plans nothing is no news then."""
    return bool(snapshot.drivers) and snapshot.plan is not None and not snapshot.plan.units


def _otherwise(snapshot: AgentSnapshot) -> str:
    """What it does if its plan runs nothing: what its other models do, in words."""
    return snapshot.summary().doing or "does nothing" if _is_idle_beside_models(snapshot) else "runs nothing"


def _models(snapshot: AgentSnapshot) -> Iterator[str]:
    for driver in snapshot.drivers:
        yield f"  {driver.name}:"
        for line in driver.lines:
            yield f"    {line}"
        if isinstance(driver.state, ModelView):
            for line in driver.state.reasons():
                yield f"    {line}"


def _frame(frame: FrameView, level: int, now: _Now) -> Iterator[str]:
    indent = "  " * level
    # No author's activity has a space in its name; see GroupSpec.
    nobody = "no task is started" if frame.activity.startswith("tasks of ") else "no known action performs it"
    limit = f", until tick {frame.until} at most" if frame.until else ""
    yield f"{indent}<{frame.activity}> {frame.state}{limit}" + ("" if frame.units else f": {nobody}")
    elected = next((unit for unit in frame.units if unit.is_elected), None)
    for unit in frame.units:
        yield f"{indent}  {'* ' if unit.is_elected else '  '}{unit.name}: {_why(unit, elected, frame, now)}"
        if unit.is_elected or unit.state == "thinking":
            for child in unit.frames:
                if child.state != "idle":
                    yield from _frame(child, level + 3, now)
    if frame.unasked:
        yield f"{indent}    {frame.unasked} more tasks are not asked: {frame.unasked_reason}"


# --- one action -------------------------------------------------------------------------------------------------------


def _why(unit: UnitView, elected: UnitView | None, frame: FrameView, now: _Now) -> str:
    tick = now.tick
    words = f": {unit.reason}" if unit.reason else ""
    asked = f"asked {seconds((tick - unit.asked) / now.rate)} ago" if unit.asked and now.rate else ""
    about = ", ".join(word for word in (asked, unit.progress) if word)
    words += f" ({about})" if about else ""
    if unit.is_elected:
        has_rival = any(one.state == "ready" for one in frame.units if one is not unit)
        return f"{unit.state}, utility {_utility(unit)}{_made_of(unit)}{words}{_since(unit, has_rival)}"
    if unit.state == "ready" and elected is not None:
        return _why_not_better(unit, elected, frame) + _made_of(unit) + words
    if unit.state == "idle" and elected is not None and not unit.reason:
        return _why_idle(unit, elected, frame) + words + _restarts(unit)
    if unit.state == "thinking":
        until = f", has until tick {unit.until}" if unit.until else ""
        waits = "" if unit.waits in ("", _ANYTHING) else f", waits {unit.waits}"
        where = now.places.get(unit.path, "")
        waits = f"{waits or ', waits'} at {where}" if where else waits
        return f"not ready since tick {unit.since}{waits}{until}{words}{_again(unit, tick)}{_restarts(unit)}"
    if unit.state == "impossible":
        return f"not possible now{words}{_again(unit, tick)}"
    return f"{unit.state}{_made_of(unit) if unit.state == 'ready' else ''}{words}"


def _utility(unit: UnitView) -> str:
    """A utility, with what sunk cost adds to it."""
    if unit.boosted != unit.utility:
        return f"{unit.utility:g} + {unit.boosted - unit.utility:g} sunk cost"
    return f"{unit.utility:g}"


def _made_of(unit: UnitView) -> str:
    """What its utility is made of, with the values."""
    if not unit.made_of:
        return ""
    words = [
        f"{name} {'is not offered' if value is None else f'{value:g}' if isinstance(value, float) else value}"
        for name, value in list(unit.made_of.items())[:_MOST_TOLD]
    ]
    return f" (of {', '.join(words)})"


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
    return f"in tick {then}, {counted(then - tick, 'tick')} from now"


# --- what it solves ---------------------------------------------------------------------------------------------------


def solving_lines(view: GameplayView, ticks_per_second: int) -> Iterator[str]:
    """What an agent solves, a line for each fact, indented; without a clock there are 0 ticks in a second."""
    for request in view.requests:
        tree, times = request.tree, request.attempts
        tried = f", {counted(times, 'attempt')} so far" if times else ""
        by = f" by {request.asked_by}" if request.asked_by else ""
        paused = ", told to pause" if request.is_paused else ""
        yield f"  asked for {request.wanted}{by}{_began(tree)}{tried}{paused}:"
        yield from _need(tree, 2)
        if request.awaits:
            yield f"    {request.awaits}"
        if any(line.startswith(" " * 6) for line in request.forecast):  # else it says no more than "foreseen"
            yield "    expected from there:"
            for line in request.forecast:
                yield f"      {line}"
        if request.pending:
            yield f"    came up, and waits: {', '.join(request.pending[:_MOST_TOLD])}"
    if view.finished and not view.requests:
        yield f"  last asked for {_ended(view.finished[-1], ticks_per_second)}"


def _need(node: TaskNodeView, level: int) -> Iterator[str]:
    """A dependency that is being solved, and who solves it."""
    indent = "  " * level
    yield f"{indent}<{node.label}>{_began(node)}{_was_expected(node)}"
    running = _running(node)
    failed = {child.label: child for child in node.children if child.outcome == "failed"}
    for child in list(failed.values())[-_MOST_TOLD:]:
        yield f"{indent}    {child.label}: failed: {child.reason or 'it did not say why'}"
    if running is not None:
        yield from _below(running, level + 1)
    others = [one for one in node.offers if running is None or one.strategy != running.label]
    for offer in others[:_MOST_TOLD]:
        if offer.cost is None:
            yield f"{indent}    {offer.strategy}: cannot: {offer.reason or 'it did not say why'}"
        else:
            against = "" if running is None or running.cost is None else f" against {seconds(running.cost)}"
            yield f"{indent}    {offer.strategy}: not tried: expected to take {seconds(offer.cost)}{against}"
    if len(others) > _MOST_TOLD:
        yield f"{indent}    and {len(others) - _MOST_TOLD} more"


def _strategy(node: TaskNodeView, level: int) -> Iterator[str]:
    """A strategy that runs, with what it has solved at this moment and what it is expected to need."""
    indent = "  " * level
    yield f"{indent}* {node.label}: {node.outcome}{_began(node)}{_was_expected(node)}"
    below = _running(node)
    if below is not None:
        yield from _below(below, level + 2)
    planned = [child for child in node.children if child.outcome == "planned"]
    if planned:
        yield f"{indent}    foreseen: {few([_foreseen(child) for child in planned], _MOST_TOLD)}"
    for child in node.children:
        if child.kind == "option" and child.outcome == "skipped":
            yield f"{indent}    {child.label}: left out: {child.reason or 'it is not worth it'}"


def _below(node: TaskNodeView, level: int) -> Iterator[str]:
    if node.kind == "strategy":
        yield from _strategy(node, level)
    elif node.kind == "interruption":
        yield f"{'  ' * level}interrupted by {node.label}{_began(node)}"
        below = _running(node)
        if below is not None:
            yield from _below(below, level + 1)
    elif node.kind == "activity":
        yield f"{'  ' * level}executes <{node.label}>{_began(node)}"
    else:
        yield from _need(node, level)


def _running(node: TaskNodeView) -> TaskNodeView | None:
    return next((child for child in reversed(node.children) if child.is_under_way), None)


def _foreseen(node: TaskNodeView) -> str:
    told = [] if node.cost is None else [seconds(node.cost)]
    told += [] if node.probability == 1.0 else [f"{100 * node.probability:.0f} %"]
    words = f" ({', '.join(told)})" if told else ""
    return f"{'perhaps ' if node.is_conditional else ''}{node.label}{words}"


def _began(node: TaskNodeView) -> str:
    return f", since tick {node.began}" if node.began else ""


def _was_expected(node: TaskNodeView) -> str:
    return "" if node.cost is None else f", expected to take {seconds(node.cost)}"


def _ended(node: TaskNodeView, rate: int) -> str:
    took = f" after {(node.ended - node.began) / rate:g} s" if rate and node.began and node.ended else ""
    return f"{node.label}: {node.outcome} in tick {node.ended}{took}" + (f": {node.reason}" if node.reason else "")
