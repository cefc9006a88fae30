"""What is said of solving in a test: which strategies were tried for a dependency, what became of them, in which order.

Like all matchers these read a trace and nothing else, and raise ``TraceMismatch`` with the nearest records:

* ``solved``    a dependency was met; by this strategy
* ``failed``    a strategy failed for it; for this reason
* ``tried``     which strategies were tried for it, in order, for literal comparison
* ``course``    all of it as lines that are indented as the task tree is, for literal comparison

A dependency is named as task trees name it (``"Collect [diamond, 7]"``), by the dependency itself, or by its class for
any of its values. A strategy is named as task trees name it, or by its class.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any, TypeAlias

from agentrt.kernel.trace import TraceRecord
from agentrt.strategy.dependency import Dependency, words
from agentrt.strategy.strategy import Strategy
from agentrt.testing.matchers import Pattern, Trace, happened, records_of

__all__ = ["By", "Wanted", "course", "failed", "solved", "tried"]

Wanted: TypeAlias = "Dependency[Any] | type[Dependency[Any]] | str"
"""A dependency, in one of the ways to name it."""

By: TypeAlias = "type[Strategy] | str"
"""A strategy, in one of the ways to name it."""

_EVENTS = ("try", "solved", "failed")


def _wanted(wanted: Wanted) -> str | Callable[[Any], bool]:
    if isinstance(wanted, str):
        return wanted
    if isinstance(wanted, Dependency):
        return wanted.label()
    label = words(wanted.__name__)

    def is_one(value: Any) -> bool:
        return str(value) == label or str(value).startswith(f"{label} [")

    is_one.__name__ = label  # which is what a claim that fails calls it
    return is_one


def _by(by: By) -> str:
    return by if isinstance(by, str) else by.spec.label


def solved(
    trace: Trace, wanted: Wanted, *, by: By | None = None, times: int | None = None, **fields: Any
) -> TraceRecord:
    """A dependency was met.

    Args:
        trace: where to look.
        wanted: the dependency.
        by: which strategy provided it; the empty text if it held already; None for anybody.
        times: how many times; None for at least once.
        fields: the other fields of a ``Pattern``: ``agent``, ``tick``...

    Returns:
        The first record that says so.

    Raises:
        TraceMismatch: it was not, or another number of times.
    """
    __tracebackhide__ = True
    more: dict[str, Any] = {} if by is None else {"by": _by(by)}
    return happened(trace, Pattern("solved", wanted=_wanted(wanted), **more, **fields), times=times)


def failed(
    trace: Trace,
    wanted: Wanted,
    *,
    by: By | None = None,
    reason: str = "",
    times: int | None = None,
    **fields: Any,
) -> TraceRecord:
    """A strategy failed to provide a dependency.

    Args:
        trace: where to look.
        wanted: the dependency.
        by: which strategy; None for any.
        reason: a part of what it said.
        times: how many times; None for at least once.
        fields: the other fields of a ``Pattern``.

    Returns:
        The first record that says so.

    Raises:
        TraceMismatch: none did, or another number of times.
    """
    __tracebackhide__ = True
    more: dict[str, Any] = {} if by is None else {"by": _by(by)}
    if reason:
        more["reason"] = _containing(reason)
    return happened(trace, Pattern("failed", wanted=_wanted(wanted), **more, **fields), times=times)


def _containing(part: str) -> Callable[[Any], bool]:
    def contains(value: Any) -> bool:
        return part in str(value)

    contains.__name__ = f"…{part}…"
    return contains


def tried(trace: Trace, wanted: Wanted, *, agent: str | None = None) -> list[str]:
    """Which strategies were tried for a dependency.

    Args:
        trace: where to look.
        wanted: the dependency.
        agent: of this one alone.

    Returns:
        What task trees call them, in order; the same one again if it began again.
    """
    pattern = Pattern("try", agent=agent, wanted=_wanted(wanted))
    return [str(dict(record.detail)["by"]) for record in records_of(trace) if pattern.matches(record)]


def course(trace: Trace, *, agent: str | None = None) -> list[str]:
    """What was tried and what became of it.

    Args:
        trace: where to look.
        agent: of this one alone.

    Returns:
        A line for each attempt and for each end of one, in order, indented by how deep it lies:
        ``"2 try Collect [diamond] by Mine"``, ``"  9 solved Find [diamond] by Look"``.
    """
    return list(_course(record for record in records_of(trace) if agent in (None, record.agent)))


def _course(records: Iterator[TraceRecord]) -> Iterator[str]:
    for record in records:
        if record.event.value in _EVENTS:
            detail = dict(record.detail)
            by = f" by {detail['by']}" if detail["by"] else ""
            reason = f": {detail['reason']}" if "reason" in detail else ""
            indent = "  " * max(0, record.path.count("/") // 2 - 1)
            yield f"{indent}{record.tick} {record.event.value} {detail['wanted']}{by}{reason}"
