"""Import agentrt in a fresh process.

One unit is one process that imports it and ends. The limit is a process that imports what agentrt imports of the
standard library and nothing of agentrt: what is above it is our own modules. Beside them stand a process that imports
nothing, and one that imports trio, a library of a like kind.
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
    "array, ast, bisect, collections, contextlib, copy, dataclasses, difflib, enum, fnmatch, functools, hashlib, "
    "heapq, importlib, inspect, ipaddress, itertools, json, math, operator, pathlib, re, reprlib, signal, textwrap, "
    "threading, traceback, types, typing, urllib.parse, warnings, weakref, xml.parsers.expat"
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
    what="start a process that imports agentrt, beside one that imports the same of the standard library",
    gauge="seconds",
    ours=Side("agentrt", ours),
    limit=Side("standard library", standard),
    at_most_times=2.8,
    peers=(Peer(Side("empty process", empty)), Peer(Side("trio", with_trio))),
    size=Size(3),
    quick=Size(1),
)
