"""Draw the dependency map of docs/tutorials/strategies.md from the strategies of the miner.

The map stands between two marks, ``<!-- the dependency map of the miner -->`` and ``<!-- end -->``; what is between
them is replaced, the rest of the page is left alone. Run it after a change of those strategies: ``python
tools/strategies_diagram.py``. A test compares the page with what this script would write.
"""

from __future__ import annotations

from pathlib import Path

from agentrt.packs.closure import closure_of
from agentrt.packs.registry import Registry
from agentrt.strategy.tools import DependencyMap
from agentrt_examples.miner import manifest
from marks import put

PAGE = Path(__file__).resolve().parent.parent / "docs" / "tutorials" / "strategies.md"
PACK = "miner:ai_pack:miner"


def updated(page: str) -> str:
    """Put the map into a page.

    Args:
        page: its text.

    Returns:
        The text with a fresh map.

    Raises:
        ValueError: the page does not have the marks exactly once.
    """
    registry = Registry([manifest])
    strategies = [registry.get(alias) for alias in closure_of([PACK], registry).strategies]
    diagram = "\n".join(DependencyMap(strategies).as_mermaid())  # type: ignore[arg-type]
    return put(page, "picture", "the dependency map of the miner", f"```mermaid\n{diagram}\n```\n")


if __name__ == "__main__":
    PAGE.write_text(updated(PAGE.read_text(encoding="utf-8")), encoding="utf-8")
