"""The packages of the bridge: installed from the npm registry on first use, into a cache.

What is installed is what ``bridge/package-lock.json`` says, to the last version and checksum, so a change of that file
is a new folder and nothing is ever updated in place. Packages are installed without running their install scripts. The
folder appears under its name only when it is complete: it is made beside it and renamed, so two programs may begin at
the same time, and one that was interrupted leaves nothing that looks finished.

The cache is ``$AGENTRT_CACHE``, else ``agentrt`` in ``$XDG_CACHE_HOME``, else in ``~/.cache``. It is not the folder of
the example: that one may be read-only, and every tool that walks the tree would walk three hundred megabytes more.
"""

from __future__ import annotations

import hashlib
import os
import shutil
import subprocess
import tempfile
from collections.abc import Callable
from pathlib import Path

__all__ = ["BRIDGE", "OLDEST_NODE", "Unavailable", "modules", "node"]

BRIDGE = Path(__file__).parent / "bridge"
"""The folder of the bridge's own scripts."""

OLDEST_NODE = 18
"""The oldest major version of node that the pinned packages run on."""

_PINNED = ("package.json", "package-lock.json")
_RETRIES = ("--fetch-retry-mintimeout=1000", "--fetch-retry-maxtimeout=5000")  # milliseconds
_PATIENCE = 600  # seconds for an installation, which takes about half a minute on a usual line
_ROUND = 10  # seconds from one sign of life to the next


class Unavailable(Exception):
    """The real server cannot be run on this machine; the text says what is missing and what to do."""


def node() -> str:
    """The program that runs the bridge.

    Returns:
        Its path.

    Raises:
        Unavailable: there is no node here, or it is too old.
    """
    found = shutil.which("node")
    if found is None:
        raise Unavailable(f"node is not installed: the real server needs Node.js {OLDEST_NODE} or later on the PATH")
    asked = subprocess.run([found, "--version"], capture_output=True, text=True, check=False)  # noqa: S603  what PATH says
    said = asked.stdout.strip()
    major = said.removeprefix("v").partition(".")[0]
    if not major.isdecimal() or int(major) < OLDEST_NODE:
        raise Unavailable(f"{found} says it is {said or 'nothing'}: the real server needs {OLDEST_NODE} or later")
    return found


def modules(say: Callable[[str], object]) -> Path:
    """The folder that holds ``node_modules``; the packages are installed if they are not there yet.

    Args:
        say: is told, in words, that an installation begins, how long it has taken, and that it is done.

    Returns:
        The folder.

    Raises:
        Unavailable: npm is missing, or it could not install them.
    """
    content = b"".join((BRIDGE / name).read_bytes() for name in _PINNED)
    cache = _cache()
    folder = cache / f"minecraft-{hashlib.sha256(content).hexdigest()[:12]}"
    if folder.is_dir():
        return folder
    npm = shutil.which("npm")
    if npm is None:
        raise Unavailable("npm is not installed: it comes with Node.js, and installs the packages of the real server")
    say(f"installing the packages of the Minecraft bridge into {folder} (about 320 MB, once)")
    try:
        cache.mkdir(parents=True, exist_ok=True)
        with tempfile.TemporaryDirectory(prefix="minecraft-", dir=cache, ignore_cleanup_errors=True) as made:
            new = Path(made) / "new"
            new.mkdir()
            for name in _PINNED:
                shutil.copy(BRIDGE / name, new)
            _install(npm, new, say)
            new.rename(folder)
    except OSError as error:
        if not folder.is_dir():  # else somebody was quicker
            raise Unavailable(f"cannot write to {cache}: {error}. Set AGENTRT_CACHE to a folder of yours.") from error
    say("installed")
    return folder


def _cache() -> Path:
    own = os.environ.get("AGENTRT_CACHE")
    if own:
        return Path(own)
    return Path(os.environ.get("XDG_CACHE_HOME") or Path.home() / ".cache") / "agentrt"


def _install(npm: str, folder: Path, say: Callable[[str], object]) -> None:
    command = [npm, "ci", "--ignore-scripts", "--no-audit", "--no-fund", *_RETRIES]
    with (
        tempfile.TemporaryFile("w+", encoding="utf-8", errors="replace") as said,
        subprocess.Popen(command, cwd=folder, stdin=subprocess.DEVNULL, stdout=said, stderr=said) as process,  # noqa: S603
    ):
        try:
            for waited in range(1, round(_PATIENCE / _ROUND) + 1):
                try:
                    process.wait(_ROUND)
                    break
                except subprocess.TimeoutExpired:
                    say(f"still installing ({waited * _ROUND} s)")
            else:
                raise Unavailable(f"'npm ci' did not end within {_PATIENCE} s")
        finally:
            if process.poll() is None:
                process.kill()
        if process.returncode:
            said.seek(0)
            last = "\n  ".join(said.read().strip().splitlines()[-8:])
            raise Unavailable(f"'npm ci' failed: is the npm registry reachable?\n  {last}")
