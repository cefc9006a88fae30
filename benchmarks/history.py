"""What a unit of work took at each step of the project: ``history.json``, and its picture in the docs.

An entry is what was counted at one commit: instructions for a unit of work, ours and the limit, of each row that was
asked for. Instructions depend on the interpreter and on the libraries that it was built with; ratios to the limit,
which ran on the same one, can be compared over years. Entries are added by ``python -m benchmarks --instructions --keep
WORDS`` and never changed.
"""

from __future__ import annotations

import json
import platform
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

from benchmarks.instructions import Counted
from benchmarks.report import commit

if TYPE_CHECKING:
    from matplotlib.axes import Axes

__all__ = ["HISTORY", "PICTURE", "draw", "entries", "keep"]

_ROOT = Path(__file__).resolve().parent.parent
HISTORY = Path(__file__).with_name("history.json")
PICTURE = _ROOT / "docs" / "images" / "speed-history.svg"


def entries(path: Path = HISTORY) -> list[dict[str, Any]]:
    """All entries, the oldest first."""
    return json.loads(path.read_text(encoding="utf-8")) if path.exists() else []


def keep(step: str, counted: Mapping[str, Sequence[Counted]], path: Path = HISTORY) -> None:
    """Add an entry for the tree of now.

    Args:
        step: what the project has come to, in a few words: the label in the picture.
        counted: the sides of each row, ours first.
        path: the file.
    """
    entry = {
        "step": step,
        "commit": commit(_ROOT),
        "python": platform.python_version(),
        "instructions": {
            name: {side.label: round(side.instructions) for side in sides if side.instructions is not None}
            for name, sides in counted.items()
        },
    }
    path.write_text(json.dumps([*entries(path), entry], indent=2) + "\n", encoding="utf-8")


def draw(path: Path = HISTORY, picture: Path = PICTURE) -> None:
    """Draw each row as a multiple of its limit, step by step.

    Raises:
        ModuleNotFoundError: matplotlib is not installed (it comes with the extra ``bench``).
    """
    import matplotlib as mpl
    from matplotlib.figure import Figure

    kept = entries(path)
    mpl.rcParams["svg.hashsalt"] = "agentrt"  # the same figures give the same file
    figure = Figure(figsize=(8, 4.5), layout="constrained")
    axes: Axes = figure.subplots()
    for name in sorted({name for entry in kept for name in entry["instructions"]}):
        steps = [number for number, entry in enumerate(kept) if "agentrt" in entry["instructions"].get(name, ())]
        ratios = [_ratio(kept[number]["instructions"][name]) for number in steps]
        axes.plot(steps, ratios, marker="o", label=name)
    axes.set_xticks(range(len(kept)), [entry["step"] for entry in kept])
    axes.set_ylabel("instructions, as a multiple of the limit by hand")
    axes.set_ylim(bottom=0)
    axes.grid(axis="y", alpha=0.3)
    axes.legend()
    picture.parent.mkdir(parents=True, exist_ok=True)
    figure.savefig(picture, metadata={"Date": None})


def _ratio(sides: Mapping[str, int]) -> float:
    ours, limit, *_ = sides.values()
    return ours / limit
