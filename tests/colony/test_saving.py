"""Saving a colony in the middle of its work, and going on."""

from __future__ import annotations

import json

import pytest

from agentrt.errors import RebuildError
from agentrt.testing import TraceDigest
from agentrt_actions import Carrier, Region
from agentrt_examples.colony.acting.needs import BASIC_NEEDS
from agentrt_examples.colony.bodies import Health, Needs, Position, Traits
from agentrt_examples.colony.buffs import Buffs
from agentrt_examples.colony.captain import UNIT_CONTROL
from agentrt_examples.colony.colony import Colony
from agentrt_examples.colony.goods import Goods, Hands, Picture, Shelf
from agentrt_examples.colony.growing import Plot
from agentrt_examples.colony.saving import load, save
from agentrt_examples.colony.town import Town


@pytest.fixture
def reload():
    loaded = []

    def reload(colony):
        loaded.append(load(json.loads(json.dumps(save(colony)))))
        return loaded[-1]

    yield reload
    for colony in loaded:
        colony.runtime.close()


def active(colony):
    """All tasks that somebody created, wherever they are."""
    groups = [*colony.town.groups, *([colony.captain.party] if colony.captain.party is not None else [])]
    for agent in colony.population.agents:
        groups += [group for group in agent.task_groups if group.owner is agent]
    return [
        (
            group.name, group.owner.name if group.owner is not None else "", task.activity, str(task.state),
            sorted((name, getattr(value, "name", value)) for name, value in task.args.items()), task.remaining,
            task.worker_limit, task.annotation, getattr(task.source, "name", None),
        )
        for group in groups
        for task in group.tasks
    ]  # fmt: skip


def of(colony, name):
    return next(agent for agent in colony.population.agents if agent.name == name)


def test_what_was_loaded_is_saved_alike(colony, reload):
    for _ in range(12):
        colony.runtime.step()
    saved = save(colony)
    again = save(reload(colony))
    assert {**again, "seed": colony.seed} == saved
    assert again["seed"] == "7 from tick 12"


def test_the_world_is_as_it_was(colony, reload):
    census = colony.town.census
    plot, shelf = census.find("plot")[3], census.find("shelf")[0]
    plot[Plot].put("planted")
    plot[Plot].due = 777
    picture = colony.town.item("picture", (20, 20))
    picture[Picture].beauty = 91
    other = reload(colony)
    found = other.town.census
    assert (found.find("plot")[3][Plot].state, found.find("plot")[3][Plot].due) == ("planted", 777)
    assert [item.name for item in found.find("shelf")[0][Shelf].items] == [item.name for item in shelf[Shelf].items]
    assert found.find("picture")[0][Picture].beauty == 91
    for tag in ("plot:ripe", "turnip", "loose:turnip", "storage", "being", "prey", "wolf"):
        assert [entity.name for entity in found.find(tag)] == [entity.name for entity in census.find(tag)], tag
    assert other.town.entity("thing", (0, 4)).id == colony.town.entity("thing", (0, 4)).id


def test_those_who_live_there_are_as_they_were(colony, reload):
    ivo = of(colony, "Ivo").entity
    ivo[Health].add(-60)
    ivo[Needs].add(satiety=-123)
    ivo[Traits].add_thought("hungry")
    ivo[Buffs].begin("poisoned")
    colony.town.census.put(ivo, "wounded")
    other = reload(colony)
    found = of(other, "Ivo").entity
    assert (found[Health].points, found[Needs].satiety) == (ivo[Health].points, ivo[Needs].satiety)
    assert (found[Position].location, found[Traits].home) == (ivo[Position].location, ivo[Traits].home)
    assert (found[Traits].thoughts, found[Buffs].until) == (["hungry"], ivo[Buffs].until)
    assert found.id == ivo.id
    assert other.town.census.has(found, "wounded")
    for agent in colony.population.agents:
        twin = of(other, agent.name)
        assert {action.__name__ for action in twin.actions} == {action.__name__ for action in agent.actions}
        assert [group.name for group in twin.task_groups] == [group.name for group in agent.task_groups]
    assert [agent.name for agent in other.captain.soldiers] == ["Jorun", "Kaspar"]


def test_what_is_carried_stays_in_the_hands(colony, reload):
    item = colony.town.census.find("stored:turnip")[0]
    alva = of(colony, "Alva").entity
    assert alva[Carrier].pick_up(item)
    other = reload(colony)
    found = of(other, "Alva").entity
    kept = found[Hands].carrying
    assert (kept.id, kept[Goods].held_by, kept[Position].location) == (item.id, found[Hands], found[Position].location)
    assert other.town.census.tags_of(kept) == ("item", "turnip", "stored:turnip")  # where its plan looks for it
    assert found[Hands].pick_up(kept)
    assert other.town.census.tags_of(kept) == ("item",)
    assert found[Hands].carrying is kept


def test_an_older_save_that_does_not_tell_of_loads_has_them_on_the_ground(colony):
    item = colony.town.census.find("stored:turnip")[0]
    of(colony, "Alva").entity[Hands].pick_up(item)
    saved = json.loads(json.dumps(save(colony)))
    for being in saved["beings"]:
        del being["load"], being["leases"], being["effect"]
    other = load(saved)
    assert of(other, "Alva").entity[Hands].carrying is None
    assert item.id in [one.id for one in other.town.census.find("loose:turnip")]
    other.runtime.close()


def test_what_was_carried_is_let_go_when_its_holder_walks_or_takes_another(colony, reload):
    first, second = colony.town.census.find("stored:turnip")[:2]
    alva = of(colony, "Alva").entity
    alva[Hands].pick_up(first)
    for leaves in (True, False):
        other = reload(colony)
        found = of(other, "Alva").entity
        kept, place = found[Hands].carrying, found[Position].location
        if leaves:
            found[Position].place((place[0] + 1, place[1]))
            assert found[Hands].carrying is None
        else:
            (taken,) = [one for one in other.town.census.find("stored:turnip") if one.id == second.id]
            assert found[Hands].pick_up(taken)
            assert found[Hands].carrying is taken
        assert (kept[Goods].held_by, kept[Position].location) == (None, place)
        assert other.town.census.has(kept, "loose:turnip")
        assert not other.town.census.has(kept, "stored:turnip")


def test_what_nobody_uses_is_taken_out_of_hands_that_only_keep_it(colony, reload):
    item = colony.town.census.find("stored:turnip")[0]
    of(colony, "Alva").entity[Hands].pick_up(item)
    other = reload(colony)
    alva, bruno = of(other, "Alva").entity, of(other, "Bruno").entity
    kept = alva[Hands].carrying
    assert bruno[Hands].pick_up(kept)
    assert (alva[Hands].carrying, bruno[Hands].carrying) == (None, kept)
    assert not alva[Hands].pick_up(kept)


def test_what_was_reserved_is_kept_for_a_while(colony, reload):
    bed, seat = colony.town.census.find("bed")[0], colony.town.fires[0][Region].parts[2]
    leases = colony.runtime.leases
    assert leases.acquire(bed, of(colony, "Alva"))
    assert leases.acquire(seat, of(colony, "Alva"))
    other = reload(colony)
    alva = of(other, "Alva")
    things = other.runtime.leases.reserved_for(alva)
    assert things == (other.town.census.find("bed")[0], other.town.fires[0][Region].parts[2])
    for _ in range(21):
        other.runtime.step()
    assert other.runtime.leases.holder(things[1]) is None


def test_what_was_half_done_is_done_to_its_end_where_it_was_begun(colony, reload):
    dagny = of(colony, "Dagny").entity
    colony.town.effects.play(dagny, "cook", list).due -= 20  # as if it had begun so long ago
    other = reload(colony)
    found = of(other, "Dagny").entity
    tick = other.town.clock.tick
    assert other.town.effects.play(found, "cook", list).due == tick + 30
    assert other.town.effects.play(found, "cook", list).due == tick + 50
    found = of(reload(colony), "Dagny").entity
    place = found[Position].location
    found[Position].place((place[0] + 1, place[1]))
    effects = found[Town].effects
    assert effects.left_of(found) is None
    assert effects.play(found, "cook", list).due == tick + 50


@pytest.mark.states(
    "001: In the colony: A colony is saved in the middle of its work, loaded, and goes on",
    source="Persistence",
)
@pytest.mark.slow
def test_tasks_are_there_again_with_all_that_they_were_told(colony, reload):
    soldier = of(colony, "Jorun")
    order = colony.captain.order(soldier, (20, 10))
    bruno = of(colony, "Bruno").entity
    bruno[Health].add(-60)
    colony.town.census.put(bruno, "wounded")
    colony.town.census.find("wolf")[0][Position].place((20, 12))
    for _ in range(6):
        colony.runtime.step()
    assert not order.is_over
    assert colony.captain.party is not None
    before = active(colony)
    other = reload(colony)
    assert active(other) == before
    assert {row[2] for row in before} >= {"colony:heal", "colony:attack", "colony:move_to", "colony:harvest"}
    (again,) = of(other, "Jorun").get_task_group(UNIT_CONTROL).tasks
    assert again.source is other.captain.me
    for _ in range(200):
        other.runtime.step()
    tallies = other.foreman.tallies
    assert tallies[UNIT_CONTROL].completed == 1  # somebody counts again
    assert tallies["colony:task_groups:healing"].destroyed >= 1


def test_an_observer_takes_the_task_that_came_back_as_its_own(colony, reload):
    alva = of(colony, "Alva")
    alva.entity[Needs].add(satiety=-1000)
    alva.entity[Needs].add(satiety=400)
    for _ in range(3):
        colony.runtime.step()
    other = reload(colony)
    for _ in range(3):
        other.runtime.step()
    eats = [task for task in of(other, "Alva").get_task_group(BASIC_NEEDS).tasks if task.activity == "colony:eat"]
    assert [task.args for task in eats] == [{"food": "meal"}]


def test_another_form_is_refused(colony):
    with pytest.raises(ValueError, match="form 99"):
        load({**save(colony), "version": 99})


def test_what_is_no_longer_there_is_named(colony):
    colony.runtime.step()
    saved = json.loads(json.dumps(save(colony)))
    saved["tasks"]["town"].append(
        {"group": "colony:task_groups:healing", "activity": "colony:heal", "args": {"patient": {"encoded": 99999}}, "state": "started"}
    )  # fmt: skip
    with pytest.raises(RebuildError, match="is gone"):
        load(saved)


@pytest.mark.states("001: In the colony: A colony is saved in the middle of its work, loaded, and goes on ...")
@pytest.mark.slow
@pytest.mark.parametrize("tick", [500, 700], ids=["at-work", "at-night"])
def test_a_colony_goes_on_where_it_was_saved(tick):
    colony = Colony(seed=7)
    for _ in range(tick):
        colony.runtime.step()
    saved = json.loads(json.dumps(save(colony)))
    before = active(colony)
    colony.runtime.close()
    digests = []
    for _ in range(2):
        other = load(saved)
        assert active(other) == before
        digest, heard = TraceDigest(other.runtime.trace), []
        other.runtime.trace.listen(heard.append)
        for _ in range(600):
            other.runtime.step()
        digests.append(digest.hexdigest())
        wrong = [record for record in heard if record.event in ("fault", "killed")]
        counts = other.town.chronicle.counts
        assert wrong == []
        for kind in ("crops harvested", "meals eaten", "pictures painted"):
            assert counts[kind] > saved["world"]["counts"][kind], kind
        assert other.runtime.tick == tick + 600
        other.runtime.close()
    assert digests[0] == digests[1]


def test_tasks_of_who_is_no_more_are_not_saved(colony, reload):
    """A task ends with whom it is about, but not before its workers do; a save may come in between."""
    gone = next(agent.entity for agent in colony.population.agents if agent.entity.kind == "critter")
    healing = colony.town.groups.get_task_group("colony:task_groups:healing")
    healing.create_task("colony:heal", patient=of(colony, "Alva").entity).set_source(gone).start()
    gone.destroy()
    assert [task.activity for task in healing.tasks] == ["colony:heal"]
    assert [task["activity"] for task in save(colony)["tasks"]["town"]] == []
    assert list(reload(colony).town.groups.get_task_group("colony:task_groups:healing").tasks) == []
