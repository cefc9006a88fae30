"""Agents with behavior trees on each host, as the tests of the runtime have them."""

from __future__ import annotations

from cast import logged  # noqa: F401 - a fixture
from players import play, play_loop  # noqa: F401 - fixtures
