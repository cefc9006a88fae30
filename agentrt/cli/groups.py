"""What all commands have in common: how they are grouped, how they fail, and how they say that they go on.

An ``AgentRTError`` is one clean message on standard error and exit code 2, like a wrong option.
"""

from __future__ import annotations

import time
from collections.abc import Callable
from typing import Any

import click

from agentrt.errors import AgentRTError

__all__ = ["HOSTS", "Group", "progress_printer"]

HOSTS = ("plain", "asyncio", "trio")
"""What an option can say that a runtime is to run on; the first is the default."""


class _Failure(click.ClickException):
    exit_code = 2


class Group(click.Group):
    """A group whose commands tell an ``AgentRTError`` as a message."""

    def invoke(self, ctx: click.Context) -> Any:
        """Run the command.

        Args:
            ctx: click's.
        """
        try:
            return super().invoke(ctx)
        except AgentRTError as error:
            notes = "".join(f"\n{note}" for note in getattr(error, "__notes__", ()))
            raise _Failure(f"{error}{notes}") from None


def progress_printer(after: float = 0.0) -> Callable[[int, int, str], None]:
    """Makes what prints a line on standard error at each twentieth of the way, however often it is called.

    Args:
        after: real seconds before which nothing is printed: what is quick needs no words.

    Returns:
        A function of the tick, the number of ticks, and a few words.
    """
    told = -1
    begin = time.monotonic() + after

    def progress(tick: int, ticks: int, text: str) -> None:
        nonlocal told
        step = tick * 20 // max(ticks, 1)
        if step > told and time.monotonic() >= begin:
            told = step
            click.echo(f"tick {tick}/{ticks}{'  ' if text else ''}{text}", err=True)

    return progress
