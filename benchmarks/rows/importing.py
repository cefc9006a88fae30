"""Import agentrt in a fresh process.

One unit is one process that imports it and ends; what a process costs that imports nothing is the limit beside it.
The target is the difference between the two that design allows, plus what the empty process takes, so it is set for
the whole.
"""

from __future__ import annotations

import os
import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager

from benchmarks.harness import Row, Side, Size, Work

__all__ = ["IMPORTING"]


def _python(code: str, size: Size) -> Iterator[Work]:
    # Compiled modules are kept, as on any user's machine; the first process, which compiles them, is not measured.
    environment = {name: value for name, value in os.environ.items() if name != "PYTHONDONTWRITEBYTECODE"}
    command = [sys.executable, "-c", code]
    subprocess.run(command, check=True, env=environment)

    def work() -> int:
        for _ in range(size.count):
            subprocess.run(command, check=True, env=environment)
        return size.count

    yield work


@contextmanager
def ours(size: Size) -> Iterator[Work]:
    """Processes that import agentrt."""
    yield from _python("import agentrt", size)


@contextmanager
def empty(size: Size) -> Iterator[Work]:
    """Processes that import nothing."""
    yield from _python("pass", size)


IMPORTING = Row(
    name="importing",
    what="start a process that imports agentrt, beside one that imports nothing",
    gauge="seconds",
    ours=Side("agentrt", ours),
    limit=Side("empty process", empty),
    at_most=0.15,
    size=Size(3),
    quick=Size(1),
)
