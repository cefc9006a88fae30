"""The command line: make a project, check it, run a world, look at it, replay it; packs, trees, strategies, errors.

Commands only read options and print; what they print is made below. What ``import agentrt`` does not load (strategies,
recordings, the inspector) is imported when a command runs, so that ``agentrt --help`` is quick.

Rules:

* Results go to standard output, progress and notes to standard error, so that a pipe gets results alone.
* An ``AgentRTError`` is one clean message on standard error and exit code 2, like a wrong option. Exit code 1 says that
  the command worked and did not like what it found.
* ``run`` and ``demo`` without a terminal run headless: a program that pipes it wants the report.
"""

from __future__ import annotations

import click

from agentrt.activity import states
from agentrt.cli.check import check
from agentrt.cli.commands import (
    demo,
    dev,
    diff,
    explain,
    export,
    inspect,
    packs,
    replay,
    resume,
    run,
    selection,
    strategies,
)
from agentrt.cli.groups import Group, tell
from agentrt.cli.new import new
from agentrt.cli.runs import sweep, tune
from agentrt.cli.service import serve
from agentrt.installed import library_version
from agentrt.native import is_compiled

__all__ = ["main"]


def _print_version(ctx: click.Context, _option: click.Parameter, wanted: bool) -> None:
    if wanted:
        tell(f"agentrt {library_version()} ({'compiled' if is_compiled(states) else 'pure Python'})")
        ctx.exit()


@click.group(cls=Group, context_settings={"help_option_names": ["-h", "--help"]})
@click.option(
    "--version", is_flag=True, is_eager=True, expose_value=False, callback=_print_version, help="Show the version."
)
def main() -> None:
    """An agent runtime: game AI as coroutines on a deterministic clock."""


for _command in (
    new,
    check,
    run,
    dev,
    demo,
    serve,
    resume,
    sweep,
    tune,
    inspect,
    replay,
    diff,
    export,
    packs,
    selection,
    strategies,
    explain,
):
    main.add_command(_command)
