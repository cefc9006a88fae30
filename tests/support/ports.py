"""At which addresses this process and its children listen, and no others: another cluster may come and go meanwhile."""

from __future__ import annotations

import contextlib
import os
from pathlib import Path

LOOPBACK = {"0100007F", "0000000000000000FFFF00000100007F"}  # as the kernel writes it, of both kinds


def listening() -> set[tuple[str, str]]:
    """The addresses of all sockets of TCP that somebody listens at, each with the number of the socket."""
    lines = [
        line.split() for kind in ("tcp", "tcp6") for line in Path(f"/proc/net/{kind}").read_text().splitlines()[1:]
    ]
    return {(line[1].partition(":")[0], line[9]) for line in lines if line[3] == "0A"}


def ours() -> set[tuple[str, str]]:
    """Those of this process and its children, and of theirs."""
    parents = {process: _parent(process) for process in Path("/proc").iterdir() if process.name.isdigit()}
    names = {str(os.getpid())}
    for _ in range(10):  # generations
        names |= {process.name for process, parent in parents.items() if parent in names}
    sockets = {_name(fd) for process in parents if process.name in names for fd in _files(process)}
    return {(address, number) for address, number in listening() if f"socket:[{number}]" in sockets}


def _parent(process: Path) -> str:
    with contextlib.suppress(OSError):  # it has ended
        return (process / "stat").read_text().rpartition(")")[2].split()[1]
    return ""


def _files(process: Path) -> list[Path]:
    with contextlib.suppress(OSError):
        return list((process / "fd").iterdir())
    return []


def _name(fd: Path) -> str:
    with contextlib.suppress(OSError):  # it was closed meanwhile
        return str(fd.readlink())
    return ""
