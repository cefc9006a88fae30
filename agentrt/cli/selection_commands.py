"""``agentrt selection``: check selection trees."""

from __future__ import annotations

import sys
from pathlib import Path

import click

from agentrt.cli.groups import Group, tell, tell_json

__all__ = ["selection"]


@click.group(cls=Group)
def selection() -> None:
    """Check selection trees."""


@selection.command(name="check")
@click.argument("path", metavar="PATH", type=click.Path(path_type=Path))
@click.option("--compatible", is_flag=True, help="For old files: what can be left out or ignored is a warning.")
@click.option("--json", "as_json", is_flag=True, help="Print the report as JSON.")
def check_selection(*, path: Path, compatible: bool, as_json: bool) -> None:
    """Check the selection trees and blocks in all *.xml below the folder PATH, or in one file.

    Reports everything that is wrong, with file and line. Exit code 1 if there is an error; warnings are no errors.
    """
    from agentrt.selection.check import check_path

    report = check_path(path, "compatible" if compatible else "strict")
    if as_json:
        tell_json(report.as_json())
    else:
        for line in report.as_text():
            tell(line)
    if not report.ok:
        sys.exit(1)
