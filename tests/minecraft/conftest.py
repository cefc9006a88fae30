from __future__ import annotations

import os
import sys
from pathlib import Path

import pytest

from agentrt_examples.minecraft.bridge import Bridge
from agentrt_examples.minecraft.packages import BRIDGE, Unavailable, modules, node

FAKE = Path(__file__).parent / "fake_bridge.py"


@pytest.fixture
def fake():
    """Make a bridge to a process that plays the part of the real one."""

    def make(on_event=lambda event: None, way="plays", **options):
        return Bridge([sys.executable, "-I", "-S", FAKE, way], on_event, **options)

    return make


@pytest.fixture(scope="session")
def real(request):
    """The command that starts a bridge with the real server; its packages are installed if they are not there yet."""
    if "AGENTRT_MINECRAFT" not in os.environ:
        pytest.skip("needs a real server: run by 'make test-minecraft'")
    capture = request.config.pluginmanager.getplugin("capturemanager")
    with capture.global_and_fixture_disabled():  # an installation is seen to go on, and why it failed
        try:
            return [node(), BRIDGE / "bridge.mjs", modules(print), "7"]
        except Unavailable as error:
            sys.stderr.write(f"{error}\n")
            pytest.skip(str(error).partition("\n")[0])
