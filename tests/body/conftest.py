"""Runtimes on each host, as the tests of the runtime have them."""

from __future__ import annotations

from players import play, play_loop  # noqa: F401 - fixtures
