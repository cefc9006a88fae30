"""A long run of the town needs no more memory than a short one."""

from __future__ import annotations

import gc
from collections import Counter

import pytest

from agentrt_examples.town.hours import DAY

# What fills up to a bound that stands where it is kept: what each remembers, and where ways lead to.
BOUNDED = {"Remembered": 12 * 120, "_Field": 2_000, "_Known": 2_000}
FLUCTUATES = 100


@pytest.mark.slow
def test_another_day_leaves_nothing_behind(watched):
    """Hundreds of thoughts, conversations and plans; one of each kept would be seen."""
    one = watched(seed=5)
    kept = []
    for _ in range(2):
        for _ in range(DAY):
            one.runtime.step()
        one.thoughts.clear()
        one.events.clear()
        gc.collect()
        kept.append(
            Counter(type(thing).__name__ for thing in gc.get_objects() if type(thing).__module__.startswith("agentrt"))
        )
    before, after = kept
    assert one.mind.calls > 400
    grown = {kind: count for kind, count in after.items() if count > before[kind] + FLUCTUATES}
    assert {kind: count for kind, count in grown.items() if count > BOUNDED.get(kind, 0)} == {}
