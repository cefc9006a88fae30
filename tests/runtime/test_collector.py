"""The garbage collector while a runtime runs: frozen, thawed when memory grows, and put back as it was found."""

from __future__ import annotations

import subprocess
import sys
import textwrap

import pytest

from agentrt import Runtime
from agentrt.runtime import collector
from agentrt.runtime.collector import LEAST, Collector


class Pretended:
    """A collector of a process, that notes what is asked of it."""

    def __init__(self, *, frozen=0, enabled=True):
        self.asked, self.callbacks, self.frozen, self.enabled = [], [], frozen, enabled
        self.blocks = 10 * LEAST

    def isenabled(self):
        return self.enabled

    def get_freeze_count(self):
        return self.frozen

    def freeze(self):
        self.asked.append("freeze")

    def unfreeze(self):
        self.asked.append("unfreeze")

    def collect(self):
        self.asked.append("collect")
        self.passed(2)

    def passed(self, generation):
        for callback in tuple(self.callbacks):
            callback("start", {"generation": generation})
            callback("stop", {"generation": generation})

    def getallocatedblocks(self):
        return self.blocks


@pytest.fixture
def pretended(monkeypatch):
    def take(**options):
        fake = Pretended(**options)
        monkeypatch.setattr(collector, "gc", fake)
        monkeypatch.setattr(collector, "sys", fake)
        return fake

    return take


def test_the_first_run_freezes_and_the_last_puts_back(pretended):
    gc, one = pretended(), Collector()
    with one.freezing("freeze"):
        with one.freezing("freeze"):
            assert (gc.asked, len(gc.callbacks)) == (["freeze"], 1)
        assert gc.asked == ["freeze"]
    assert (gc.asked, gc.callbacks) == (["freeze", "unfreeze"], [])


def test_it_is_put_back_after_an_error(pretended):
    gc = pretended()
    with pytest.raises(KeyError), Collector().freezing("freeze"):
        raise KeyError
    assert (gc.asked, gc.callbacks) == (["freeze", "unfreeze"], [])


@pytest.mark.parametrize("options", [{"frozen": 1}, {"enabled": False}])
def test_somebody_elses_policy_is_left_alone(pretended, options):
    gc, one = pretended(**options), Collector()
    with one.freezing("freeze"):
        gc.blocks *= 10
        one.between_ticks()
    assert (gc.asked, gc.callbacks) == ([], [])


def test_who_wants_it_left_has_it_left(pretended):
    gc = pretended()
    with Collector().freezing("leave"):
        assert gc.callbacks == []
    assert gc.asked == []


def test_what_the_middle_generation_leaves_is_frozen(pretended):
    gc = pretended()
    with Collector().freezing("freeze"):
        gc.passed(0)
        assert gc.asked == ["freeze"]
        gc.passed(1)
        gc.passed(2)
        assert gc.asked == ["freeze"] * 3


@pytest.mark.parametrize(
    ("blocks", "grown", "is_thawed"),
    [
        (10 * LEAST, 5 * LEAST, False),
        (10 * LEAST, 5 * LEAST + 1, True),
        (LEAST // 2, LEAST, False),
        (LEAST // 2, LEAST + 1, True),
    ],
)
def test_it_is_thawed_when_memory_has_grown_by_half(pretended, blocks, grown, is_thawed):
    gc, one = pretended(), Collector()
    gc.blocks = blocks
    with one.freezing("freeze"):
        gc.blocks += grown
        one.between_ticks()
        assert gc.asked == ["freeze"]  # nothing was collected since, so nothing can have been missed
        gc.passed(1)
        one.between_ticks()
        assert gc.asked[2:] == (["unfreeze", "collect", "freeze"] if is_thawed else [])
        gc.passed(1)
        one.between_ticks()  # compared with what there was then
        assert gc.asked.count("collect") == is_thawed


def _python(code):
    """In a process of its own: that of the tests has frozen what was there."""
    done = subprocess.run([sys.executable, "-c", textwrap.dedent(code)], capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
    return done.stdout.split()


@pytest.mark.slow
@pytest.mark.parametrize("drive", ["asyncio.run(runtime.run(ticks=3, speed=1000))", "step()"])
def test_a_run_freezes_and_puts_back(drive):
    code = """
        import asyncio, gc
        from agentrt import Runtime

        gc.collect()
        runtime = Runtime()
        runtime.every_tick(lambda: print(gc.get_freeze_count() > 10_000, len(gc.callbacks)))

        def step():
            with runtime.freezing():
                for _ in range(3):
                    runtime.step()

        DRIVE
        print(gc.get_freeze_count(), len(gc.callbacks))
    """
    assert _python(code.replace("DRIVE", drive)) == ["True", "1"] * 3 + ["0", "0"]


@pytest.mark.slow
def test_agents_that_ended_are_found_while_it_runs():
    """Agents that end leave cycles; frozen ones are found when memory has grown."""
    code = """
        import gc, weakref
        from agentrt import Agent, Runtime
        from agentrt.runtime import collector

        collector.LEAST = 2_000
        collector.GROWTH = 0.01

        class Entity:
            cycle = None

        runtime = Runtime(host="plain")
        gone = []
        with runtime.freezing():
            for turn in range(200):
                entities = [Entity() for _ in range(20)]
                for entity in entities:
                    entity.cycle = entity
                    runtime.add(Agent(entity))
                gone += map(weakref.ref, entities)
                runtime.step()
                for agent in runtime.agents:
                    runtime.remove(agent)
                del agent, entity, entities
                runtime.step()
            print(sum(ref() is None for ref in gone) > len(gone) / 2)
    """
    assert _python(code) == ["True"]


def test_an_unknown_policy_is_refused():
    with pytest.raises(ValueError, match="collector is 'off': choose one of freeze, leave"):
        Runtime(collector="off")


def test_what_others_have_frozen_is_counted_once_and_not_for_each_run(pretended):
    gc, one = pretended(frozen=3), Collector()
    counted = []
    gc.get_freeze_count = lambda: counted.append(gc.frozen) or gc.frozen
    for _ in range(3):
        with one.freezing("freeze"):
            pass
    assert (counted, gc.asked, gc.callbacks) == ([3], [], [])
