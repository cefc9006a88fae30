"""Make the recordings that the tests replay on every change: ``tests/data/recordings/*.sqlite``.

They are what a change of behavior is noticed by. A replay of each has to give the recorded digests; if it does not,
then equal seeds and inputs give another run than before. If that is meant, make them again and say so in the changelog.

* ``yard``: a world of the tests on asyncio. Its clerks ask the outside in threads, which answer in an order that nobody
  knew before, and it is sent inputs. This recording is another one each time that it is made.
* ``colony``: the colony with wolves and orders from outside.
"""

from __future__ import annotations

import sys
from pathlib import Path
from types import ModuleType
from typing import Any

ROOT = Path(__file__).resolve().parent.parent
FOLDER = ROOT / "tests" / "data" / "recordings"

COLONY_TICKS = 60
COLONY_INPUTS: dict[int, tuple[str, dict[str, Any]]] = {
    10: ("wolves", {"count": 2}),
    20: ("wagon", {"kind": "turnip", "count": 3}),
    30: ("order", {"soldier": "Jorun", "x": 3, "y": 3}),
    40: ("wagon", {"kind": "no such thing"}),
}


def make_yard(path: Path) -> None:
    """Record the yard.

    Args:
        path: where to.
    """
    yard = ModuleType("yard")
    exec((ROOT / "tests" / "replay" / "yard.py").read_text(encoding="utf-8"), yard.__dict__)  # noqa: S102 - it is ours
    runtime = yard.Yard(clerks=3)(seed=3, host="asyncio")
    runtime.record(path)
    yard.drive(runtime, 70, between=yard.ringing, speed=20.0)


def make_colony(path: Path) -> None:
    """Record the colony.

    Args:
        path: where to.
    """
    from agentrt.worlds import load_world

    runtime = load_world("colony").make(seed=11, host="plain")
    with runtime.record(path, world="colony", views="none"):
        for tick in range(1, COLONY_TICKS + 1):
            if tick in COLONY_INPUTS:
                name, args = COLONY_INPUTS[tick]
                runtime.send(name, **args)
            runtime.step()
    runtime.close()


MAKERS = {"yard": make_yard, "colony": make_colony}


def main(names: list[str]) -> None:
    """Make the recordings of some names, or all."""
    unknown = [name for name in names if name not in MAKERS]
    if unknown:
        sys.exit(f"there is no recording {unknown[0]!r}: choose among {', '.join(MAKERS)}, or none of them for all")
    FOLDER.mkdir(parents=True, exist_ok=True)
    for name in names or list(MAKERS):
        path = FOLDER / f"{name}.sqlite"
        path.unlink(missing_ok=True)
        MAKERS[name](path)
        print(f"{path.relative_to(ROOT)}: {path.stat().st_size} bytes")


if __name__ == "__main__":
    main(sys.argv[1:])
