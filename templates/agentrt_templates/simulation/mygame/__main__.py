"""``python -m mygame``: the study, as a table."""

from __future__ import annotations

import argparse

from agentrt.worlds import table_lines

from mygame.study import study


def main() -> None:
    """Read the options, run the study, print the table."""
    parser = argparse.ArgumentParser(prog="python -m mygame")
    parser.add_argument("--seeds", type=int, default=10, help="how many runs of each shop")
    parser.add_argument("--ticks", type=int, default=12_000, help="how long each is; 20 are a second of the shop")
    options = parser.parse_args()
    report = study(max(1, options.seeds), max(1, options.ticks))
    print(*table_lines(report), f"digest: {report.digest}", sep="\n")


if __name__ == "__main__":
    main()
