"""What an agent does and why, as lines for the live view. Made of its snapshot and of nothing else.

``agent.explain()`` says all of this and more, on as many lines as it takes. Here are few lines, the most telling first,
and whoever draws them cuts off the rest:

* ``plan_lines``: the status text, what runs in each model that drives the agent, and the task tree of what is being
  solved. A dependency and the strategy that runs for it share a line; of what is done below it only the last few are
  shown, and of what is still expected the next few.
* ``why_lines``: for each choice along the running branch, what it was preferred to and why the rest was not possible;
  for what is being solved, what the other strategies would have cost, the innermost first; who has which control flag.

One tick is one step of the game, so times are in steps.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Final

from rich.text import Text

from agentrt import AgentSnapshot, FrameView, UnitView
from agentrt.snapshot import ModelView
from agentrt.strategy import RequestView, TaskView

__all__ = ["plan_lines", "why_lines"]

_DIM: Final = "#7d8590"
_DOING: Final = "bold #e6edf3"
_MODEL: Final = "#79c0ff"
_DONE: Final = "#7ee787"
_NOT: Final = "#ffa657"
_WRONG: Final = "#ff7b72"

_PAST: Final = 2  # nodes of a task tree that are over, shown below each that is not
_NEXT: Final = 3  # nodes that are expected
_RIVALS: Final = 4
_RUNS: Final = ("started", "running", "finished")
_OVER: Final = {"done": ("\N{CHECK MARK}", _DONE), "met": ("\N{CHECK MARK}", _DIM), "failed": ("x", _WRONG),
                "skipped": ("-", _DIM), "cancelled": ("-", _DIM)}  # fmt: skip

Piece = tuple[str, str]
"""Words and their style."""


def _line(*pieces: Piece, level: int = 0) -> Text:
    line = Text("  " * level, end="", no_wrap=True, overflow="ellipsis")
    for words, style in pieces:
        line.append(words, style)
    return line


# --- what it does -----------------------------------------------------------------------------------------------------


def plan_lines(snapshot: AgentSnapshot, intention: str) -> list[Text]:
    """What an agent does.

    Args:
        snapshot: of it.
        intention: what its body does in this step.
    """
    status = snapshot.status_text or snapshot.summary().doing or "thinking"
    lines = [_line((status, _DOING), (f"  {intention.replace('_', ' ')}", _DIM))]
    branch = [unit for _, unit in _branch(snapshot.plan)]
    if branch:
        lines.append(_line(("plan ", _MODEL), (" \N{RIGHTWARDS ARROW} ".join(unit.name for unit in branch), "")))
    for driver in snapshot.drivers:
        doing = driver.state.doing() if isinstance(driver.state, ModelView) else ""
        lines.append(_line((f"{driver.name} ", _MODEL), (doing or "nothing", "" if doing else _DIM)))
    requests = () if snapshot.strategies is None else snapshot.strategies.requests
    for request in requests:
        lines.extend(_request(request, snapshot.tick))
    if not requests:
        for frame in snapshot.performances:
            names = " \N{RIGHTWARDS ARROW} ".join(unit.name for _, unit in _branch(frame))
            lines.append(_line(("beside it ", _MODEL), (names or frame.activity, "")))
    return lines


def _branch(frame: FrameView | None) -> Iterator[tuple[FrameView, UnitView]]:
    """What runs, from the root: each activity, and the action that performs it."""
    while frame is not None:
        elected = next((unit for unit in frame.units if unit.is_elected and unit.state in _RUNS), None)
        if elected is None:
            return
        yield frame, elected
        frame = next((child for child in elected.frames if child.state in ("running", "switching")), None)


def _request(request: RequestView, tick: int) -> Iterator[Text]:
    yield from _open(request.tree, 0, tick)
    if request.pending:
        yield _line(("came up, and waits: ", _NOT), (", ".join(request.pending), ""), level=1)


def _open(node: TaskView, level: int, tick: int) -> Iterator[Text]:
    """A node that is under way, with what is below it. What runs for a dependency is told with it."""
    words, runner = node.label, node
    strategy = _runner(node)
    if node.kind in ("dependency", "option") and strategy is not None:
        words, runner = f"{node.label} by {strategy.label}", strategy
    if node.kind == "interruption":
        words = f"interrupted by {node.label}"
    mark = "=" if runner.outcome == "paused" else ">"
    yield _line((f"{mark} ", _DONE), (words, ""), (_lasts(runner, tick), _DIM), level=level)
    over = [child for child in runner.children if not child.is_open]
    ahead = [child for child in runner.children if child.outcome == "planned"]
    for child in over[-_PAST:]:
        yield _ended(child, level + 1)
    for child in runner.children:
        if child.is_under_way:
            yield from _open(child, level + 1, tick)
    for child in ahead[:_NEXT]:
        about = "" if child.cost is None else f" (about {child.cost:.0f} steps)"
        yield _line(("\N{MIDDLE DOT} ", _DIM), (f"{child.label}{about}", _DIM), level=level + 1)


def _runner(node: TaskView) -> TaskView | None:
    return next((child for child in reversed(node.children) if child.is_under_way), None)


def _lasts(node: TaskView, tick: int) -> str:
    since = f", {tick - node.began}" if node.began else ""
    if node.cost is None:
        return f"{since} steps" if since else ""
    return f"{since} of about {node.cost:.0f} steps"


def _ended(node: TaskView, level: int) -> Text:
    mark, style = _OVER[node.outcome]
    took = f", {node.ended - node.began} steps" if node.outcome == "done" and node.began else ""
    reason = f": {node.reason}" if node.reason else ""
    return _line((f"{mark} ", style), (f"{node.label}{took}{reason}", _DIM), level=level)


# --- and why ----------------------------------------------------------------------------------------------------------


def why_lines(snapshot: AgentSnapshot, *, apart: bool = False) -> list[Text]:
    """Why an agent does what it does, and not something else.

    Args:
        snapshot: of it.
        apart: whether each thing that was not possible gets a line of its own.
    """
    lines = []
    if snapshot.error:
        lines.append(_line((snapshot.error, _WRONG)))
    if snapshot.aborts:
        lines.append(_line((f"{snapshot.aborts} aborts in a row: {snapshot.abort_reason}", _WRONG)))
    if snapshot.plan is not None:
        lines.extend(_choices(snapshot.plan, apart))
    if snapshot.strategies is not None:
        for request in snapshot.strategies.requests:
            lines.extend(_prices(request, apart))
    lines.extend(_flags(snapshot))
    for driver in snapshot.drivers:
        if isinstance(driver.state, ModelView):
            lines.extend(_line((f"{driver.name}: ", _MODEL), (words, _DIM)) for words in driver.state.reasons())
    return lines


def _choices(plan: FrameView, apart: bool) -> Iterator[Text]:
    branch = list(_branch(plan))
    for frame, elected in branch:
        if len(frame.units) > 1:
            yield from _choice(frame.units, elected, apart)
    if not branch:
        yield from _choice(plan.units, None, apart)


def _choice(units: Sequence[UnitView], elected: UnitView | None, apart: bool) -> Iterator[Text]:
    """One choice: a line for what was chosen over what, and what was not to be had."""
    others = sorted((unit for unit in units if unit is not elected), key=lambda unit: -unit.utility)
    ready = [f"{unit.name} {unit.utility:.2f}" for unit in others if unit.state == "ready"]
    worse = [f"{unit.name} {unit.high:.2f}" for unit in others if unit.state == "idle"]
    if elected is not None:
        extra = f"+{elected.boosted - elected.utility:.2f}" if elected.boosted != elected.utility else ""
        over = f" over {', '.join((ready + worse)[:_RIVALS])}" if ready or worse else ""
        yield _line((f"{elected.name} {elected.utility:.2f}", _DOING), (extra, _DONE), (over, _MODEL))
    yield from _not([_why_not(unit) for unit in others if unit.state in ("thinking", "impossible")], apart)


def _not(reasons: Sequence[str], apart: bool) -> Iterator[Text]:
    for words in reasons if apart else ["; ".join(reasons[:_RIVALS])]:
        if words:
            yield _line(("not ", _NOT), (words, _DIM), level=1)


def _why_not(unit: UnitView) -> str:
    why = unit.reason or unit.progress or ("not ready" if unit.state == "thinking" else "not possible")
    return f"{unit.name} {unit.utility:.2f}: {why}"


def _prices(request: RequestView, apart: bool) -> Iterator[Text]:
    """For each thing that is being solved, the innermost first, what the others said that they would cost."""
    for node in reversed(list(request.tree.under_way())):
        runner = _runner(node)
        others = [offer for offer in node.offers if runner is None or offer.strategy != runner.label]
        dearer = [f"{offer.strategy} {offer.cost:.0f}" for offer in others if offer.cost is not None]
        cannot = [f"{offer.strategy}: {offer.reason or 'it cannot'}" for offer in others if offer.cost is None]
        if runner is not None and runner.cost is not None and (dearer or cannot):
            over = f" over {', '.join(dearer[:_RIVALS])}" if dearer else ""
            yield _line((f"{runner.label} {runner.cost:.0f} steps", _DOING), (over, _MODEL), (f"  {node.label}", _DIM))
        yield from _not(cannot, apart)


def _flags(snapshot: AgentSnapshot) -> Iterator[Text]:
    if snapshot.flags:
        held = ", ".join(f"{one.flag} {one.holder} for {snapshot.tick - one.since}" for one in snapshot.flags)
        yield _line(("flags ", _MODEL), (held, ""))
    for claim in snapshot.waiting:
        yield _line((f"{claim.claimant} waits for {' and '.join(claim.flags)}", _NOT))
    for refusal in snapshot.refusals:
        yield _line((refusal.text(), _NOT))
