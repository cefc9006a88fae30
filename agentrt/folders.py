"""Folders: which files below one are its author's, by one rule for all that look through a folder.

Passed over is what begins with a dot, what tools keep for themselves (``_OF_TOOLS``), and what a build has left beside
a ``pyproject.toml``: a game may well call a package of its own ``build``.
"""

from __future__ import annotations

import os
from collections.abc import Iterator
from pathlib import Path
from typing import Final

_OF_TOOLS: Final = frozenset(("__pycache__", "node_modules", "site-packages"))
_OF_BUILDS: Final = frozenset(("build", "dist"))


def files_below(folder: Path, suffix: str) -> Iterator[Path]:
    """The files below a folder whose names end in a suffix, such as ``.json``, in order; none of what is unreadable."""
    for place, folders, files in os.walk(folder):
        here = Path(place)
        folders[:] = sorted(one for one in folders if not _is_passed_over(here, one))  # the others are not entered
        for name in sorted(files):
            if name.lower().endswith(suffix) and not _is_passed_over(here, name):
                yield here / name


def is_below(folder: Path, file: Path) -> bool:
    """Whether a file, which may be gone by now, is below a folder and not passed over."""
    try:
        parts = file.relative_to(folder).parts
    except ValueError:
        return False
    here = folder
    for name in parts:
        if _is_passed_over(here, name):
            return False
        here /= name
    return bool(parts)


def _is_passed_over(here: Path, name: str) -> bool:
    return name.startswith(".") or name in _OF_TOOLS or (name in _OF_BUILDS and (here / "pyproject.toml").is_file())
