"""The options of both commands that say whether a player thinks, and who answers.

``--thoughts`` alone takes the script of this example, ``--model`` a language model; the others go with these. A mistake
is told before a world is made: a model that cannot be asked, a folder that cannot be written.
"""

from __future__ import annotations

import os
from collections.abc import Callable
from pathlib import Path
from typing import Any, Final, TypeVar

import click

from agentrt.errors import AgentRTError
from agentrt.minds import Model
from examples.crafter.thoughts import TOKENS, Thoughts

__all__ = ["thinking_options", "thoughts_of"]

_Command = TypeVar("_Command", bound=Callable[..., Any])
_KEY: Final = "OPENAI_API_KEY"
_OPTIONS: Final = (
    click.option(
        "--thoughts", "thinks", is_flag=True, help="Have a mind choose what to strive for, by the example's own script."
    ),
    click.option("--model", metavar="NAME", help="Have a language model choose it, such as openai:gpt-5-mini."),
    click.option(
        "--base-url", metavar="URL", help="With --model: where its server is; any that speaks OpenAI's protocol."
    ),
    click.option(
        "--price",
        type=(click.FloatRange(min=0), click.FloatRange(min=0)),
        metavar="IN OUT",
        help="With --model: what a million tokens cost that are read, and that are written.",
    ),
    click.option(
        "--answers",
        type=click.Path(file_okay=False, path_type=Path),
        metavar="FOLDER",
        help="With --model: keep its answers in FOLDER, and take from there what was asked before.",
    ),
    click.option(
        "--tokens", type=click.IntRange(min=1), metavar="N", help=f"How many an episode may use.  [default: {TOKENS}]"
    ),
    click.option(
        "--delay",
        type=click.IntRange(min=0),
        metavar="STEPS",
        help="The rules go on for so many steps before an answer counts; then a server is waited for.  [default: 0]",
    ),
)


def thinking_options(command: _Command) -> _Command:
    """Give a command the options of thoughts; its function takes them as ``thinking``, by their names.

    Args:
        command: the function.
    """
    for option in reversed(_OPTIONS):
        command = option(command)
    return command


def thoughts_of(
    *,
    thinks: bool,
    model: str | None,
    base_url: str | None,
    price: tuple[float, float] | None,
    answers: Path | None,
    tokens: int | None,
    delay: int | None,
) -> Thoughts | None:
    """What the options ask for; None for rules alone.

    Raises:
        click.UsageError: they do not go together, or the model cannot be asked.
    """
    for name, value in (("--base-url", base_url), ("--price", price), ("--answers", answers)):
        if value is not None and model is None:
            raise click.UsageError(f"{name} goes with --model.")
    for name, number in (("--tokens", tokens), ("--delay", delay)):
        if number is not None and not (thinks or model is not None):
            raise click.UsageError(f"{name} goes with --thoughts or --model.")
    if model is None:
        return Thoughts(None, delay or 0, tokens or TOKENS) if thinks else None
    if not base_url and not os.environ.get(_KEY):
        raise click.UsageError(f"--model asks OpenAI: set {_KEY}, or say where another server is with --base-url.")
    try:
        made = Model(model, base_url or "", price=price or (0.0, 0.0))
        made.require()
    except AgentRTError as error:
        raise click.UsageError(str(error)) from None
    if answers is not None:
        try:
            answers.mkdir(parents=True, exist_ok=True)
        except OSError as error:
            raise click.BadParameter(f"{answers} cannot be made: {error.strerror}.", param_hint="--answers") from None
    return Thoughts(made, delay or 0, tokens or TOKENS, answers)
