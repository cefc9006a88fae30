"""Two pictures beside each other: what was measured here, and from which work on a cluster pays, on paper.

The paper model is one line. A window in which each shard works for ``w`` milliseconds takes ``w + c``, where ``c`` is
what a barrier costs: so the efficiency is ``w / (w + c)``, however many shards there are, as long as they have about as
much to do. It leaves out that all wait for the slowest, and that who leads them goes through what passes the borders:
some 5 µs for each agent or message that does.
"""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Final

__all__ = ["BARRIERS", "draw"]

# ms: what a window takes in the world of the row shards_pipes if its two shards have no work at all. A quarter of 1,000
# windows took less, in turn, on two cores that others used, too. With work, to wait for the slowest comes on top.
BARRIERS: Final = {"processes": 1.0, "actors of Ray": 1.1, "calls of Ray": 3.4}


def draw(measured: Mapping[str, Mapping[int, float]], out: Path) -> None:
    """Draw both.

    Args:
        measured: agent-ticks a second, by where the shards live and how many there are.
        out: the file.
    """
    from matplotlib.figure import Figure

    figure = Figure(figsize=(9, 3.6), layout="constrained")
    left, right = figure.subplots(1, 2)
    for kind, points in measured.items():
        left.plot(list(points), [value / 1000 for value in points.values()], marker="o", label=kind)
    left.set(xlabel="shards", ylabel="thousand agent-ticks a second", title="Measured: 4,000 agents in two places")
    left.set_xscale("log", base=2)
    left.set_xticks([1, 2, 4, 8], ["1", "2", "4", "8"])
    left.set_ylim(bottom=0)
    work = [0.25 * 1.1**step for step in range(66)]
    for kind, cost in BARRIERS.items():
        right.plot(work, [w / (w + cost) for w in work], label=f"{kind}: {cost:g} ms")
    right.axhline(0.8, color="gray", linewidth=0.8, linestyle="--")
    right.set(
        xlabel="work of each shard in a window (ms)",
        ylabel="efficiency",
        title="On paper, by what a barrier costs",
        ylim=(0, 1),
    )
    right.set_xscale("log")
    for axes in (left, right):
        axes.legend(frameon=False, loc="lower right")
    figure.savefig(out)
