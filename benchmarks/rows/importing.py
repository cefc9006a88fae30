"""Import agentrt in a fresh process.

One unit is one process that imports it and ends. The limit is a process that imports nothing. Beside them stand one
that imports what agentrt imports of the standard library and nothing of agentrt, so that what is above it is our own
modules; and one that imports trio, a library of a like kind.
"""

from __future__ import annotations

import os
import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager

from benchmarks.harness import Peer, Row, Side, Size, Work

__all__ = ["IMPORTING"]

STANDARD = (
    "array, bisect, collections, contextlib, copy, dataclasses, dis, enum, functools, gc, hashlib, heapq, importlib, "
    "inspect, itertools, math, operator, re, reprlib, signal, threading, types, typing, warnings, weakref"
)


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
def standard(size: Size) -> Iterator[Work]:
    """Processes that import what agentrt needs of the standard library."""
    yield from _python(f"import {STANDARD}", size)


@contextmanager
def with_trio(size: Size) -> Iterator[Work]:
    """Processes that import trio."""
    import trio  # noqa: F401 - so that the side is left out where it is not installed

    yield from _python("import trio", size)


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
    at_most_times=8,
    peers=(Peer(Side("standard library", standard)), Peer(Side("trio", with_trio))),
    size=Size(3),
    quick=Size(1),
)
