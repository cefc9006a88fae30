"""One side of one row, in a process of its own: ``python alone.py TREE ROW SIDE [COUNT ROUNDS]`` prints JSON.

It is a script and imports nothing of this folder by itself, so that it can measure the tree of another commit, which
may not have it: the rows, and agentrt with all its packages, come from ``TREE``. SIDE is a number: 0 for ours, then the
limit and the peers. Without COUNT and ROUNDS the size is that of the row; with 0 ROUNDS it prepares and does no work.
The collector is off while the work is done, as in ``harness.py``.
"""

from __future__ import annotations

import gc
import json
import sys
import time
from pathlib import Path

if sys.platform != "win32":
    import resource

PACKAGES = ("", "actions", "packs", "examples/worlds")  # where a tree keeps what it would install


def processor_time() -> float:
    """Of this process, and of those that it started and waited for."""
    if sys.platform == "win32":  # where nobody tells of children
        return time.process_time()
    children = resource.getrusage(resource.RUSAGE_CHILDREN)  # ``os.times`` counts in hundredths of a second
    return time.process_time() + children.ru_utime + children.ru_stime


def main() -> None:
    """Do the work once and print how many units it was, and the seconds that it took."""
    tree, name, side, *size = sys.argv[1:]
    root = Path(tree).resolve()
    sys.path[:1] = [str(root / folder) for folder in PACKAGES]
    from benchmarks.harness import Size
    from benchmarks.rows import ROWS

    row = next((row for row in ROWS if row.name == name), None)
    if row is None:
        print(json.dumps({"absent": f"no row is called {name} there"}))
        return
    asked = Size(*(int(number) for number in size)) if size else row.size
    gc.collect()
    gc.freeze()
    gc.disable()
    try:
        with row.sides()[int(side)].prepare(asked) as work:
            before = processor_time()
            units = work() if asked.rounds else 0
            seconds = processor_time() - before
    except ModuleNotFoundError as missing:
        print(json.dumps({"absent": f"{missing.name} is not installed"}))
        return
    print(json.dumps({"units": units, "seconds": seconds}))


if __name__ == "__main__":
    main()
