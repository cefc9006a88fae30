"""A meadow: sheep stray from the fold, and a dog brings them back."""

from __future__ import annotations

from pathlib import Path

import agentrt as art
from agentrt.worlds import SimpleWorld

from mygame import dog, sheep
from mygame.meadow import Body, Meadow
from mygame.program import play

__all__ = ["manifest", "world"]

PACKS = Path(__file__).with_name("packs")

manifest = art.Manifest(
    "mygame",
    {
        "actions:graze": sheep.Graze,
        "actions:run_home": sheep.RunHome,
        "actions:nap": dog.Nap,
        "actions:herd": dog.Herd,
        "ai_pack:sheep": PACKS / "sheep.json",
        "ai_pack:dog": PACKS / "dog.json",
    },
)


def make(*, seed: int, host: str) -> art.Runtime:
    """Make a meadow with four sheep and a dog."""
    runtime = art.Runtime(seed, host=host)
    meadow = Meadow()
    for kind, name in (("sheep", "Ada"), ("sheep", "Bea"), ("sheep", "Cleo"), ("sheep", "Dot"), ("dog", "Rex")):
        body = meadow.add(Body(kind, meadow, name=name))
        runtime.add(art.Agent(body, packs=[f"mygame:ai_pack:{kind}"], registry=world.registry))
    runtime.on_input("thunder", meadow.thunder.emit)  # what may come in from outside, by name
    return runtime


world = SimpleWorld("mygame", make, summary="A dog and its sheep.", manifests=[manifest], live=play)
