"""``python -m examples.crafter``: watch the agent play, or score it.

The commands are in ``play.py`` and ``score.py``. They are imported when they are wanted, and only if what they need is
installed: otherwise one sentence says how to install it.
"""

from __future__ import annotations

import importlib
import importlib.util
from typing import Final

import click

from agentrt.cli.groups import Group

__all__ = ["main"]

_COMMANDS: Final = ("play", "score")
_PACKAGES: Final = ("crafter", "numpy", "PIL", "rich", "tcod")


class MissingExtra(click.ClickException):
    """What the example needs is not installed.

    Args:
        packages: what is missing.
    """

    exit_code = 2

    def __init__(self, packages: list[str]) -> None:
        what = f"package{'s' if len(packages) > 1 else ''} {', '.join(packages)}"
        super().__init__(f"this needs the {what}. In the folder of the clone, run: pip install -e '.[crafter]'")


class _Commands(Group):
    def list_commands(self, ctx: click.Context) -> list[str]:
        return list(_COMMANDS)

    def get_command(self, ctx: click.Context, cmd_name: str) -> click.Command | None:
        if cmd_name not in _COMMANDS:
            return None
        missing = [package for package in _PACKAGES if importlib.util.find_spec(package) is None]
        if missing:
            raise MissingExtra(missing)
        command: click.Command = getattr(importlib.import_module(f"examples.crafter.{cmd_name}"), cmd_name)
        return command


@click.group(cls=_Commands, context_settings={"help_option_names": ["-h", "--help"]})
def main() -> None:
    """An agent plays Crafter, a published survival benchmark: 22 achievements, 10,000 steps in an episode.

    It sees what a player sees, and remembers it. Times are in steps of the game; 300 steps are a day.
    """


if __name__ == "__main__":
    main(prog_name="python -m examples.crafter")
