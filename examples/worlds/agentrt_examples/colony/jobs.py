"""Jobs, equipment, and what each kind of being knows: data in JSON, read once.

A job's description names its abilities (a thing that bears AI) and the task groups of the town that whoever has the job
is put into; equipment bears AI in one of its components. What a kind of being knows is its ``entity_data``.

Source: Stonehearth, AI: "Injecting actions"; "Town task groups", farmer_description.json.
"""

from __future__ import annotations

import json
from collections.abc import Mapping
from pathlib import Path
from typing import Any

__all__ = ["COLLAR", "GROUPS", "JOBS", "KINDS"]

_DATA = Path(__file__).parent / "data"


def _read(folder: str) -> dict[str, Mapping[str, Any]]:
    return {path.stem: json.loads(path.read_text(encoding="utf-8")) for path in sorted((_DATA / folder).glob("*.json"))}


JOBS: Mapping[str, Mapping[str, Any]] = _read("jobs")
"""The descriptions of jobs, by name."""

COLLAR: Mapping[str, Any] = _read("equipment")["pet_collar"]
"""What a pet wears."""

GROUPS = _DATA / "groups" / "town.json"
"""The task groups of the town."""

KINDS: Mapping[str, Mapping[str, Any]] = {
    kind: {"colony:ai_packs": [f"colony:ai_pack:{kind}"]}
    for kind in ("hearthling", "critter", "pet", "wolf", "drake", "turret")
}
"""The entity data of each kind of being."""
