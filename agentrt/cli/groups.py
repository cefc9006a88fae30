"""What all commands have in common: how they are grouped, and how they fail.

An ``AgentRTError`` is one clean message on standard error and exit code 2, like a wrong option.
"""

from __future__ import annotations

from typing import Any

import click

from agentrt.errors import AgentRTError

__all__ = ["Group"]


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
