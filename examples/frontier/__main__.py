"""``python -m examples.frontier``: run the frontier in shards, or measure what they bring.

Real time is measured, so leave the machine alone meanwhile.
"""

from __future__ import annotations

import contextlib
import logging
import os
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import click

from agentrt.cli.groups import Group
from agentrt.shards import LocalShards, PipeShards, RayShards, ShardPlace, Shards
from examples.frontier import world

__all__ = ["main"]

APP = "examples.frontier:world"
ROOT = Path(__file__).parent.parent.parent
SIZES = {  # the whole map; a cluster has room for more
    "small": {"columns": 16, "rows": 8, "caravans": 240, "bands": 10},
    "normal": {},
    "storm": {"columns": 32, "rows": 32, "road": 3},
    "large": {"columns": 512, "rows": 64, "caravans": 120_000, "bands": 8_000},
}


@click.group(cls=Group, context_settings={"help_option_names": ["-h", "--help"]})
def main() -> None:
    """Caravans, villages and robbers on a map that is cut into shards."""


@main.command()
@click.option("--size", type=click.Choice(list(SIZES)), default="normal", show_default=True, help="Of the map.")
@click.option("--shards", type=click.IntRange(1), default=4, show_default=True, help="Into how many it is cut.")
@click.option("--pipes", type=click.IntRange(0), default=0, help="So many places are processes of this machine.")
@click.option("--ray", type=click.IntRange(0), default=0, help="So many places are actors of Ray.")
@click.option("--address", default="auto", show_default=True, help="Of the cluster; local makes one.")
@click.option("--windows", type=click.IntRange(1), default=20, show_default=True, help="How many are run.")
@click.option("--seed", type=int, default=1, show_default=True)
@click.option("--folder", type=click.Path(path_type=Path), help="Where journals are kept; goes on with those there.")
@click.option(
    "--inspect",
    is_flag=True,
    help="Show them in the browser, whatever --windows says; begins paused, ends with Ctrl-C.",
)
@click.option("--port", type=click.IntRange(0, 65535), default=8765, show_default=True, help="Of that page; 0: any.")
def run(
    size: str,
    shards: int,
    pipes: int,
    ray: int,
    address: str,
    windows: int,
    seed: int,
    folder: Path | None,
    inspect: bool,
    port: int,
) -> None:
    """Run it, and tell what happened in each shard. Without --pipes and --ray it runs in this process."""
    places: list[ShardPlace] = [PipeShards(cwd=ROOT) for _ in range(pipes)]
    places += [RayShards() for _ in range(ray)]
    with (
        _connected(address, ray) if ray else contextlib.nullcontext(),
        Shards(world, shards, seed=seed, params=SIZES[size], places=places, folder=folder, app=APP) as run,
    ):
        if inspect:
            _show(run, port)
            return
        begun, moved = time.perf_counter(), 0
        for _ in range(windows):
            run.run()
            moved += run.moving
        took = time.perf_counter() - begun
        rows = run.measure()
        for number, row in enumerate(rows):
            click.echo(f"shard {number}: " + ", ".join(f"{value} {name}" for name, value in row.items()))
        click.echo(f"{moved / windows:.0f} of {run.agents} agents moved in a window; messages: {run.messages}")
        click.echo(f"gold in all: {sum(int(row['gold']) for row in rows)}")
        click.echo(f"{1000 * took / windows:.1f} ms a window, {run.losses} places were lost and came back")
        click.echo(f"digest: {run.digest}")


@contextlib.contextmanager
def _connected(address: str, actors: int) -> Iterator[None]:
    """Connect to a cluster of Ray; ``local`` makes one with room for so many, on loopback alone, and ends it."""
    os.environ.setdefault("RAY_USAGE_STATS_ENABLED", "0")
    options: dict[str, Any] = {"address": address, "runtime_env": {"env_vars": {"PYTHONPATH": str(ROOT)}}}
    if address == "local":
        os.environ.setdefault("RAY_ENABLE_WINDOWS_OR_OSX_CLUSTER", "0")  # read when Ray is imported
        options |= {"num_cpus": actors, "include_dashboard": False, "_node_ip_address": "127.0.0.1"}
    import ray

    try:
        ray.init(log_to_driver=False, logging_level=logging.ERROR, **options)
    except (ConnectionError, ValueError, RuntimeError) as error:
        remedy = "Make one (ray start --head), say where one is, or say --address local for one of this machine."
        raise click.ClickException(f"there is no cluster: {error} {remedy}") from None
    try:
        yield
    finally:
        ray.shutdown()


def _show(run: Shards, port: int) -> None:
    """Show them in the browser, until Ctrl-C."""
    from agentrt.inspect import Inspector

    with (
        contextlib.suppress(KeyboardInterrupt),
        Inspector(run, title="frontier", controls=True, port=port) as inspector,
    ):
        inspector.pause()
        click.echo(f"{inspector.url}  (paused: press Resume there; Ctrl-C ends it)")
        while True:
            run.run()
    click.echo(f"{run.windows} windows; digest: {run.digest}")


@main.command()
@click.option(
    "--windows",
    type=click.IntRange(1),
    default=10,
    show_default=True,
    help="Measured of each, three times: the best counts.",
)
@click.option("--out", type=click.Path(path_type=Path), required=True, help="The picture, as SVG or PNG.")
def throughput(windows: int, out: Path) -> None:
    """Measure how many agents run how many ticks in a second, by shards and places, and draw it. Needs matplotlib."""
    from examples.frontier.picture import draw

    settled = 6  # windows in which the first caravans come to a border
    kinds: dict[str, type[LocalShards] | type[PipeShards]] = {"here": LocalShards, "processes": PipeShards}
    measured: dict[str, dict[int, float]] = {kind: {} for kind in kinds}
    for shards in (1, 2, 4, 8):
        for kind, place in kinds.items():
            places: list[ShardPlace] = [place() for _ in range(min(shards, 2))]
            with Shards(world, shards, seed=1, places=places, app=APP) as run:
                run.run(settled)
                took = min(_took(run, windows) for _ in range(3))
            measured[kind][shards] = run.agents * windows * world.window / took
            click.echo(f"{shards} shards, {kind}: {measured[kind][shards]:,.0f} agent-ticks a second")
    draw(measured, out)


def _took(run: Shards, windows: int) -> float:
    begun = time.perf_counter()
    run.run(windows)
    return time.perf_counter() - begun


if __name__ == "__main__":
    main(prog_name="python -m examples.frontier")
