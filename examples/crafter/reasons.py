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
from itertools import pairwise
from typing import Final

from rich.text import Text

from agentrt.snapshot import AgentSnapshot, FrameView, ModelView, UnitView
from agentrt.strategy import RequestView, TaskNodeView

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
_ARROW: Final = " \N{RIGHTWARDS ARROW} "
_RUNS: Final = ("started", "running", "finished")
_AHEAD: Final = ("\N{MIDDLE DOT}", _DIM)
_STEPS: Final = {"finished": ("\N{CHECK MARK}", _DONE), "running": (">", _DONE), "switching": (">", _DONE)}
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


def plan_lines(snapshot: AgentSnapshot, intention: str, *, is_short: bool = False) -> list[Text]:
    """What an agent does: its status, its models, and what it solves, the innermost last.

    Args:
        snapshot: of it.
        intention: what its body does in this step.
        is_short: whether only what is under way is told, and neither what is over nor what is expected.
    """
    status = snapshot.status_text or snapshot.summary().doing or "thinking"
    lines = [_line((status, _DOING), (f"  now: {_spaced(intention)}", _DIM))]
    branch = _names(snapshot.plan)
    models = _line(("plan ", _MODEL), (branch or "nothing", "" if branch else _DIM))
    for driver in snapshot.drivers:
        doing = driver.state.doing() if isinstance(driver.state, ModelView) else ""
        models.append_text(_line((f"  {driver.name} ", _MODEL), (doing or "nothing", "" if doing else _DIM)))
    lines.append(models)
    if not is_short:
        lines.extend(_steps(unit) for _, unit in _branch(snapshot.plan) if unit.kind == "compound")
    requests = () if snapshot.strategies is None else snapshot.strategies.requests
    for request in requests:
        lines.extend(_open(request.tree, 0, snapshot.tick, is_short))
        if request.pending:
            lines.append(_line(("came up, and waits: ", _NOT), (", ".join(request.pending), ""), level=1))
    if snapshot.strategies is not None and not requests and not is_short:
        lines.extend(_ended(tree, 0) for tree in snapshot.strategies.finished[-1:])
    if not requests:
        for frame in snapshot.performances:
            lines.append(_line(("beside it ", _MODEL), (_names(frame) or frame.activity, "")))
    return lines


def _steps(unit: UnitView) -> Text:
    """The steps of a compound action, and how far it is."""
    line = _line((f"{_name(unit)} ", _MODEL))
    for number, frame in enumerate(unit.frames):
        mark, style = _STEPS.get(frame.state, _AHEAD)
        name = _spaced(frame.activity.rpartition(":")[2])
        line.append_text(_line(("  " if number else "", ""), (f"{mark} ", style), (name, "")))
    return line


def _names(frame: FrameView | None) -> str:
    """What runs, from the root; what only stands for the next one is told once."""
    names = [_name(unit) for _, unit in _branch(frame)]
    return _ARROW.join(name for name, below in pairwise([*names, ""]) if name != below)


def _name(unit: UnitView) -> str:
    """What an action is called here: a task by what it is about, a group with the task that it would do."""
    name = unit.name.rpartition(":")[2]
    if unit.task is not None and unit.task.args:
        name = " ".join(words for _, words in unit.task.args)
    elif unit.kind == "group" and unit.state == "ready":
        task = next((task for frame in unit.frames for task in frame.units if task.is_elected), None)
        name += "" if task is None else f" ({_name(task)})"
    return _spaced(name)


def _spaced(name: str) -> str:
    return name.replace("_", " ")


def _branch(frame: FrameView | None) -> Iterator[tuple[FrameView, UnitView]]:
    """What runs, from the root: each activity, and the action that performs it."""
    while frame is not None:
        elected = next((unit for unit in frame.units if unit.is_elected and unit.state in _RUNS), None)
        if elected is None:
            return
        yield frame, elected
        frame = next((child for child in elected.frames if child.state in ("running", "switching")), None)


def _open(node: TaskNodeView, level: int, tick: int, is_short: bool) -> Iterator[Text]:
    """A node that is under way, with what is below it. What runs for a dependency is told with it."""
    words, runner = node.label, node
    strategy = _runner(node)
    if node.kind in ("dependency", "option") and strategy is not None:
        words, runner = f"{node.label} by {strategy.label}", strategy
    if node.kind == "interruption":
        words = f"interrupted by {node.label}"
    mark = "=" if runner.outcome == "paused" else ">"
    yield _line((f"{mark} ", _DONE), (_spaced(words), ""), (_lasts(runner, tick), _DIM), level=level)
    over = [child for child in runner.children if not child.is_open]
    ahead = [child for child in runner.children if child.outcome == "planned"]
    for child in () if is_short else over[-_PAST:]:
        yield _ended(child, level + 1)
    for child in runner.children:
        if child.is_under_way:
            yield from _open(child, level + 1, tick, is_short)
    for child in () if is_short else ahead[:_NEXT]:
        about = "" if child.cost is None else f" (about {child.cost:.0f} steps)"
        yield _line((f"{_AHEAD[0]} ", _AHEAD[1]), (f"{_spaced(child.label)}{about}", _DIM), level=level + 1)


def _runner(node: TaskNodeView) -> TaskNodeView | None:
    return next((child for child in reversed(node.children) if child.is_under_way), None)


def _lasts(node: TaskNodeView, tick: int) -> str:
    since = f", {tick - node.began}" if node.began else ""
    if node.cost is None:
        return f"{since} steps" if since else ""
    return f"{since} of about {node.cost:.0f} steps"


def _ended(node: TaskNodeView, level: int) -> Text:
    mark, style = _OVER[node.outcome]
    took = f", {node.ended - node.began} steps" if node.outcome == "done" and node.began else ""
    reason = f": {node.reason}" if node.reason else ""
    return _line((f"{mark} ", style), (f"{_spaced(node.label)}{took}{reason}", _DIM), level=level)


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
    ready = [f"{_name(unit)} {unit.utility:.2f}" for unit in others if unit.state == "ready"]
    worse = [f"{_name(unit)} {unit.high:.2f}" for unit in others if unit.state == "idle"]
    if elected is not None:
        extra = f"+{elected.boosted - elected.utility:.2f}" if elected.boosted != elected.utility else ""
        over = f" over {', '.join((ready + worse)[:_RIVALS])}" if ready or worse else ""
        yield _line((f"{_name(elected)} {elected.utility:.2f}", _DOING), (extra, _DONE), (over, _MODEL))
    yield from _not([_why_not(unit) for unit in others if unit.state in ("thinking", "impossible")], apart)


def _not(reasons: Sequence[str], apart: bool) -> Iterator[Text]:
    for words in reasons if apart else ["; ".join(reasons[:_RIVALS])]:
        if words:
            yield _line(("not ", _NOT), (words, _DIM), level=1)


def _why_not(unit: UnitView) -> str:
    why = unit.reason or unit.progress or ("not ready" if unit.state == "thinking" else "not possible")
    return f"{_name(unit)} {unit.utility:.2f}: {why}"


def _prices(request: RequestView, apart: bool) -> Iterator[Text]:
    """For each thing that is being solved, the innermost first, what the others said that they would cost."""
    for node in reversed(list(request.tree.under_way())):
        runner = _runner(node)
        others = [offer for offer in node.offers if runner is None or offer.strategy != runner.label]
        dearer = [f"{offer.strategy} {offer.cost:.0f}" for offer in others if offer.cost is not None]
        cannot = [f"{offer.strategy}: {offer.reason or 'it cannot'}" for offer in others if offer.cost is None]
        if runner is not None and runner.cost is not None and (dearer or cannot):
            over = f" over {', '.join(dearer[:_RIVALS])}" if dearer else ""
            what = f"  {_spaced(node.label)}"
            yield _line((f"{runner.label} {runner.cost:.0f} steps", _DOING), (over, _MODEL), (what, _DIM))
        yield from _not(cannot, apart)


def _flags(snapshot: AgentSnapshot) -> Iterator[Text]:
    if snapshot.flags:
        held = ", ".join(f"{one.flag} {_who(one.holder)} for {snapshot.tick - one.since}" for one in snapshot.flags)
        yield _line(("flags ", _MODEL), (held, ""))
    for claim in snapshot.waiting:
        yield _line(("waits ", _NOT), (f"{_who(claim.claimant)} for {' and '.join(claim.flags)}", ""))
    for one in snapshot.refusals:
        if one.tick < snapshot.tick - 1:  # it may have wanted nothing since
            continue
        yield _line(("refused ", _NOT), (f"{one.flag} {_who(one.holder)} against {_who(one.claimant)}", _DIM))


def _who(claimant: str) -> str:
    return claimant.rpartition("/")[2]
