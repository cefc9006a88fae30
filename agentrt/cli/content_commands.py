"""What authors bring: ``agentrt packs``, ``agentrt selection`` and ``agentrt strategies``."""

from __future__ import annotations

import sys
from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING

import click

from agentrt.agent.knowledge import strategy_of
from agentrt.cli.groups import Group, known_registry, tell, tell_json, tell_text
from agentrt.errors import did_you_mean
from agentrt.packs.alias import KINDS, kind_of
from agentrt.packs.closure import CheckReport, check_files, closure_of, find_files
from agentrt.packs.loader import load_pack
from agentrt.packs.schema import schema_text
from agentrt.selection.library import SelectionReport, check_path

if TYPE_CHECKING:
    from agentrt.strategy.declare import Strategy
    from agentrt.strategy.tools import DependencyMap

__all__ = ["packs", "selection", "strategies"]


@click.group(cls=Group)
def packs() -> None:
    """Check AI packs, and list what they can refer to."""


def _alias_option(_ctx: click.Context, _option: click.Parameter, values: tuple[str, ...]) -> list[tuple[str, Path]]:
    pairs = []
    for value in values:
        alias, equals, file = value.partition("=")
        if not (alias and equals and file):
            raise click.BadParameter(f"'{value}' is not ALIAS=FILE, as in my_mod:ai_pack:core=packs/core.json.")
        pairs.append((alias, Path(file)))
    return pairs


@packs.command()
@click.argument("paths", nargs=-1, required=True, metavar="PATH...", type=click.Path(path_type=Path))
@click.option("--allow-unresolved", is_flag=True, help="List aliases that nobody registered without failing.")
@click.option(
    "--alias", "aliases", multiple=True, metavar="ALIAS=FILE", callback=_alias_option,
    help="Register a pack file for this check, so that others can require it. May be repeated.",
)  # fmt: skip
@click.option("--json", "as_json", is_flag=True, help="Print the report as JSON.")
def check(*, paths: tuple[Path, ...], allow_unresolved: bool, aliases: list[tuple[str, Path]], as_json: bool) -> None:
    """Check files of packs and of task groups, or all *.json below a folder.

    Reports for each file its actions, its dependencies, everything that it holds together with them (its closure), and
    the aliases that nobody registered. Exit code 1 if anything is wrong.
    """
    registry = known_registry()
    for alias, file in aliases:
        registry.register(alias, file, origin="--alias")
    _tell_report(check_files(find_files(paths), registry, allow_unresolved=allow_unresolved), as_json)


def _tell_report(report: CheckReport | SelectionReport, as_json: bool) -> None:
    if as_json:
        tell_json(report.as_json())
    else:
        for line in report.as_text():
            tell(line)
    if not report.ok:
        sys.exit(1)


@packs.command(name="schema")
@click.argument("kind", type=click.Choice(["ai_pack", "task_groups"]), default="ai_pack")
def print_schema(*, kind: str) -> None:
    """Print the JSON Schema of packs, or of task groups."""
    tell_text(schema_text(kind))


@packs.command(name="list")
@click.option(
    "--kind", help="Only aliases of this kind: actions, observers, components, task_groups, strategies, ai_pack."
)
@click.option("--origin", is_flag=True, help="Show where each alias comes from.")
def list_aliases(*, kind: str | None, origin: bool) -> None:
    """List the aliases that packs can refer to here."""
    if kind is not None and kind not in KINDS:
        raise click.BadParameter(
            f"there is no kind '{kind}'.{did_you_mean(kind, KINDS)} The kinds are {', '.join(KINDS)}.",
            param_hint="--kind",
        )
    registry = known_registry()
    for alias in registry.aliases(kind or ""):
        tell(f"{alias}  from {registry.origin(alias)}" if origin else alias)


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
    _tell_report(check_path(path, "compatible" if compatible else "strict"), as_json)


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
    from agentrt.strategy.tools import DependencyMap

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
    from agentrt.strategy.tools import DependencyMap

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
    from agentrt.strategy.tools import calls_module

    if not name.isidentifier():
        raise click.BadParameter(f"'{name}' is no name of a class.", param_hint="--name")
    tell_text(calls_module(_found(aliases).values(), name))


def _found(aliases: tuple[str, ...]) -> dict[str, type[Strategy]]:
    """The strategies by alias, in the order in which an agent that takes all of them would load them."""
    registry = known_registry()
    wanted = aliases or registry.aliases("strategies")
    packs = [one if kind_of(one) != "strategies" else load_pack({"strategies": [one]}) for one in wanted]
    return {alias: strategy_of(alias, registry) for alias in closure_of(packs, registry).strategies}


def _listed(drawn: DependencyMap, aliases: dict[type[Strategy], str]) -> Iterator[str]:
    from agentrt.strategy.tools import signature_of

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
