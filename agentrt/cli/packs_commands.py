"""``agentrt packs``: check AI packs, and list what they can refer to."""

from __future__ import annotations

import sys
from pathlib import Path

import click

from agentrt.cli.groups import Group, known_registry, tell, tell_json, tell_text

__all__ = ["packs"]


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
    from agentrt.packs.check import check_files, find_files

    registry = known_registry()
    for alias, file in aliases:
        registry.register(alias, file, origin="--alias")
    report = check_files(find_files(paths), registry, allow_unresolved=allow_unresolved)
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
    from agentrt.packs.schema import schema_text

    tell_text(schema_text(kind))


@packs.command(name="list")
@click.option(
    "--kind", help="Only aliases of this kind: actions, observers, components, task_groups, strategies, ai_pack."
)
@click.option("--origin", is_flag=True, help="Show where each alias comes from.")
def list_aliases(*, kind: str | None, origin: bool) -> None:
    """List the aliases that packs can refer to here."""
    from agentrt.errors import did_you_mean
    from agentrt.packs.alias import KINDS

    if kind is not None and kind not in KINDS:
        raise click.BadParameter(
            f"there is no kind '{kind}'.{did_you_mean(kind, KINDS)} The kinds are {', '.join(KINDS)}.",
            param_hint="--kind",
        )
    registry = known_registry()
    for alias in registry.aliases(kind or ""):
        tell(f"{alias}  from {registry.origin(alias)}" if origin else alias)
