"""``python -m agentrt_examples.minecraft``: a bot on a real server collects something, is hurt on its way, and goes on.

It installs the packages if need be, starts a server on loopback, has the bot collect what it is asked for, and has the
server hurt it once, as soon as it has walked a little. What happens is printed with the game time; at the end there is
the task tree. Then everything is stopped.
"""

from __future__ import annotations

import asyncio

import click

from agentrt import Runtime
from agentrt.cli.groups import tell, tell_text
from agentrt.errors import DependencyFailedError
from agentrt.words import printable_lines
from agentrt_examples.minecraft.bot import Bot, connected
from agentrt_examples.minecraft.bridge import BridgeEnded
from agentrt_examples.minecraft.packages import BRIDGE, Unavailable, modules, node
from agentrt_examples.minecraft.player import player
from agentrt_examples.miner.strategies.needs import Collect

_STEPS = 4  # before it is hurt


def _tell(runtime: Runtime, text: str) -> None:
    tell(f"{runtime.tick / runtime.clock.ticks_per_second:6.2f} s  {text}")


def _report(runtime: Runtime, bot: Bot) -> None:
    """Tell what happens to the bot."""

    def carries(item: str) -> None:
        _tell(runtime, f"at {bot.place} it carries {bot.stock.get(item, 0)} {item}")

    def hurt(points: float) -> None:
        _tell(runtime, f"at {bot.place} it is hurt: {points:g} points, {bot.health:g} left")

    bot.signal("inventory").connect(carries)
    bot.signal("hurt").connect(hurt)
    bot.signal("destroyed").connect(lambda _bot: _tell(runtime, "the server is gone"))


async def _play(command: list[str], item: str, count: int) -> None:
    runtime = Runtime(ticks_per_second=20)
    async with connected(runtime, command) as bot:
        _tell(runtime, f"the bot stands at {bot.place}")
        _report(runtime, bot)
        agent = runtime.add(player(bot))

        async def hurt() -> None:
            for _ in range(_STEPS):
                await bot.signal("moved").wait()
            await bot.server("hurt", amount=3)

        async def collect() -> None:
            try:
                had = await agent.gameplay.solve(Collect(item, count))
                _tell(runtime, f"it has {had} {item}")
            except DependencyFailedError as failure:
                _tell(runtime, f"it could not be done: {failure.reason}")
            for tree in agent.gameplay.finished:
                tell_text(f"{tree.render()}\n")
            runtime.stop()

        runtime.spawn(hurt)
        runtime.spawn(collect)
        bot.destroyed.connect(lambda _bot: runtime.stop())
        await runtime.run()


@click.command()
@click.argument("item", default="oak_log")
@click.argument("count", default=2)
@click.option("--seed", default=7, show_default=True, help="Of the world.")
def main(item: str, count: int, seed: int) -> None:
    """Have a bot on a real server collect COUNT of ITEM."""
    try:
        command = [node(), str(BRIDGE / "bridge.mjs"), str(modules(lambda text: tell(text, err=True))), str(seed)]
        asyncio.run(_play(command, item, count))
    except (Unavailable, BridgeEnded) as error:
        raise click.ClickException(printable_lines(str(error))) from None


if __name__ == "__main__":
    main(prog_name="python -m agentrt_examples.minecraft")
