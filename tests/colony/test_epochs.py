"""A colony that is rebuilt in epochs: whoever begins with one of its saves goes on exactly like it."""

from __future__ import annotations

import json

import pytest

from agentrt.testing import TraceDigest
from agentrt.worlds import load_world, make_world, measure_world
from agentrt_examples.colony.goods import Hands


@pytest.mark.slow
def test_a_colony_goes_on_exactly_from_a_save_of_an_epoch():
    world = load_world("colony")
    runtime = make_world(world, seed=7, host="plain", params={"epoch": 60})
    digest, digests = TraceDigest(runtime.trace), {}
    runtime.after_tick(lambda: digests.setdefault(runtime.tick, digest.hexdigest()))
    while runtime.tick < 61:
        runtime.step()
    save = json.loads(runtime.epochs.last)
    while runtime.tick < 100:
        runtime.step()
    again = make_world(world, seed=7, host="plain", params={"epoch": 60})
    goes_on = TraceDigest(again.trace, digests[60])
    again.restore(save)
    while again.tick < 100:
        again.step()
    assert goes_on.hexdigest() == digests[100]
    assert measure_world(world, again) == measure_world(world, runtime)
    again.close()
    runtime.close()


@pytest.mark.slow
def test_a_report_tells_of_the_colony_that_there_is():
    world = load_world("colony")
    told = []
    report = world.run_headless(
        ticks=102, seed=7, host="plain", progress=lambda *what: told.append(what[0]), params={"epoch": 50}
    )
    assert told == [100]
    assert report.title == "colony: 102 ticks, seed 7, plain host, epoch=50"
    assert any("critter" in note for note in report.notes) or report.notes


@pytest.mark.slow
def test_who_cooks_cooks_on_with_the_turnip_in_the_hands():
    """Just before an epoch and just after it: the same turnip, the same hearth, and the rest of the effect."""
    world = load_world("colony")
    runtime = make_world(world, seed=1, host="plain", params={"epoch": 1_000_000})
    town = runtime.game.town
    while not any(one.effect == "cook" for one in town.effects.playing):
        runtime.step()
    for _ in range(20):
        runtime.step()
    (playing, *_) = (one for one in town.effects.playing if one.effect == "cook")
    cook, turnip = playing.entity.name, playing.entity[Hands].carrying.id
    left = playing.due - runtime.tick
    saved = json.loads(json.dumps(runtime.save()))
    runtime.close()
    again = make_world(world, seed=1, host="plain", params={"epoch": 1_000_000})
    again.restore(saved)
    entity = again.find(cook).entity
    assert entity[Hands].carrying.id == turnip
    effects, begun = again.game.town.effects, again.tick
    for _ in range(10):
        again.step()
    (playing,) = (one for one in effects.playing if one.entity is entity)
    assert (playing.effect, entity[Hands].carrying.id) == ("cook", turnip)
    assert begun < playing.due - left <= begun + 10
    again.close()
