"""An inn over WebSockets: a character for each guest who connects, and an innkeeper who tells the news."""

from __future__ import annotations

from pathlib import Path

import agentrt as art
from agentrt.worlds import SimpleWorld

from mygame import guest, keeper
from mygame.courier import Courier
from mygame.inn import Inn

__all__ = ["manifest", "world"]

PACKS = Path(__file__).with_name("packs")

manifest = art.Manifest(
    "mygame",
    {
        "actions:linger": guest.Linger,
        "actions:obey": guest.Obey,
        "actions:polish": keeper.Polish,
        "actions:tell_news": keeper.TellNews,
        "actions:serve_guest": keeper.ServeGuest,
        "ai_pack:guest": PACKS / "guest.json",
        "ai_pack:keeper": PACKS / "keeper.json",
    },
)


def make(*, seed: int, host: str) -> art.Runtime:
    """Make an inn with its keeper; guests come over the network."""
    # A mistake in an action costs nobody else anything. Whoever fails ten times in a row begins again after a second,
    # then after two, four, and so on.
    runtime = art.Runtime(seed, host=host, restart=art.Restart(first=1.0, factor=2.0, most=60.0))
    inn = Inn(runtime, world.registry)
    inn.open(Courier())
    return runtime


async def serve(runtime: art.Runtime, speed: float = 1.0) -> None:
    """Serve it. Only this needs the package websockets: simulations and tests of the game go without."""
    try:
        from mygame import server
    except ImportError as error:
        raise SystemExit(f"the inn stays shut: {error}. Install what it needs: pip install -e .") from None
    await server.serve(runtime, speed)


world = SimpleWorld("mygame", make, summary="An inn over WebSockets.", manifests=[manifest], live=serve)
