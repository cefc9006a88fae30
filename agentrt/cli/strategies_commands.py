"""``agentrt strategies``: what is installed, what may need what, and types for the generated calls."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING

import click

from agentrt.cli.groups import Group, known_registry, tell, tell_json, tell_text

if TYPE_CHECKING:
    from agentrt.strategy.dependency_map import DependencyMap
    from agentrt.strategy.strategy import Strategy

__all__ = ["strategies"]

_which = click.argument("aliases", nargs=-1, metavar="[ALIAS]...")


@click.group(cls=Group)
def strategies() -> None:
    """List strategies, draw what may need what, write types for the generated calls.

    Each command is about the strategies that the ALIASes name, of strategies or of packs with all that these require;
    without any, about all that the installed packages register.
    """


@strategies.command(name="list")
@_which
@click.option("--json", "as_json", is_flag=True, help="Print it as JSON.")
def list_strategies(*, aliases: tuple[str, ...], as_json: bool) -> None:
    """List dependencies, each with its call and who provides it."""
    from agentrt.strategy.dependency_map import DependencyMap

    found = _found(aliases)
    drawn = DependencyMap(found.values())
    if as_json:
        told = drawn.as_json()
        for alias, strategy in found.items():
            told["strategies"][strategy.spec.subject]["alias"] = alias
        tell_json(told)
        return
    for line in _listed(drawn, {strategy: alias for alias, strategy in found.items()}):
        tell(line)


@strategies.command(name="map")
@_which
@click.option(
    "--as", "form", type=click.Choice(["text", "mermaid", "json"]), default="text", show_default=True,
    help="A tree, a flow chart for mermaid.js.org, or JSON.",
)  # fmt: skip
def draw_map(*, aliases: tuple[str, ...], form: str) -> None:
    """Draw the dependency map: who provides what, and what each strategy may need.

    It is read from the code of the strategies, and none of them is run: it shows the dependencies that stand in the
    code, and not those that are computed.
    """
    from agentrt.strategy.dependency_map import DependencyMap

    drawn = DependencyMap(_found(aliases).values())
    if form == "json":
        tell_json(drawn.as_json())
        return
    for line in drawn.as_mermaid() if form == "mermaid" else drawn.as_text():
        tell(line)


@strategies.command(name="calls")
@_which
@click.option("--name", default="GameplayCalls", show_default=True, help="The name of the class.")
def write_calls(*, aliases: tuple[str, ...], name: str) -> None:
    """Print a Python module with the types of the generated calls, for mypy and pyright.

    Redirect it into a module of your own, and write: calls = cast(GameplayCalls, agent.gameplay)
    """
    from agentrt.strategy.stubs import calls_module

    if not name.isidentifier():
        raise click.BadParameter(f"'{name}' is no name of a class.", param_hint="--name")
    tell_text(calls_module(_found(aliases).values(), name))


def _found(aliases: tuple[str, ...]) -> dict[str, type[Strategy]]:
    """The strategies by alias, in the order in which an agent that takes all of them would load them."""
    from agentrt.injection import strategy_of
    from agentrt.packs.alias import kind_of
    from agentrt.packs.closure import closure_of
    from agentrt.packs.loader import load_pack

    registry = known_registry()
    wanted = aliases or registry.aliases("strategies")
    packs = [one if kind_of(one) != "strategies" else load_pack({"strategies": [one]}) for one in wanted]
    return {alias: strategy_of(alias, registry) for alias in closure_of(packs, registry).strategies}


def _listed(drawn: DependencyMap, aliases: dict[type[Strategy], str]) -> Iterator[str]:
    from agentrt.strategy.stubs import signature_of

    for wanted, providers in drawn.providers.items():
        yield f"{wanted.activity}  {signature_of(wanted)}"
        for strategy in providers:
            needs = ", ".join(need.call for need in drawn.needs[strategy])
            joins = ", ".join(strategy.injects)
            told = f"; may need {needs}" if needs else ""
            yield f"  {aliases[strategy]}{told}{f'; joins {joins}' if joins else ''}"
    for wanted in drawn.missing:
        yield f"{wanted.activity}  {signature_of(wanted)}"
        yield "  nobody provides it"
    if not drawn.strategies:
        yield "no strategies are installed"
