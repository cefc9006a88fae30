"""Processes that tests start."""

from __future__ import annotations

import os
from pathlib import Path


def finding(folder: Path) -> dict[str, str]:
    """The environment of a process that finds the modules of a folder, also where Python does not look there itself."""
    before = os.environ.get("PYTHONPATH")
    return {**os.environ, "PYTHONPATH": os.pathsep.join([str(folder), *([before] if before else [])])}
