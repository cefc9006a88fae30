"""The standard AI packs: which of the standard actions belong together.

Each pack is a JSON file in this folder; this table gives it its alias. The packs come to agentrt through the
entry-point group ``agentrt.packs``, exactly as a third party's would: the library does not know this package.

A file is only what the table names. To add a pack, add the file and its line.
"""

from __future__ import annotations

from pathlib import Path

from agentrt import Manifest

__all__ = ["manifest"]

_FOLDER = Path(__file__).parent

manifest = Manifest(
    "agentrt",
    {
        "ai_pack:core": _FOLDER / "core.json",
        "ai_pack:movement": _FOLDER / "movement.json",
        "ai_pack:pursuit": _FOLDER / "pursuit.json",
        "ai_pack:carrying": _FOLDER / "carrying.json",
        "ai_pack:idling": _FOLDER / "idling.json",
        "ai_pack:free_time": _FOLDER / "free_time.json",
        "ai_pack:basic_needs": _FOLDER / "basic_needs.json",
    },
)
"""The aliases of the standard packs."""
