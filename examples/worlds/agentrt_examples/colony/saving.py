"""Saving and loading a colony: the whole state of the world as plain JSON, and the calls that bring its agents back.

What agents think and plan is not saved, and need not be: it follows from the world. What *is* saved of them, by the
calls of ``agentrt.rebuild``, are the tasks that somebody created, who is in which group, and what was taught since.

``load`` follows the order that those calls ask for: the world; its agents, added to the runtime; what they were taught;
jobs and groups; tasks. Then whoever had created a task takes it as its own again (``Foreman.adopt``).

What is lost on purpose:

* Plans, which goals run and which path through a tree is active: all begin anew, in the first tick. What they decide by
  is saved: grudges, stimuli, variables. So is what lets a plan that begins anew go on: what somebody carries, what its
  agent had reserved, how much of an effect is left. The new plan picks up out of its own hands, reserves what is kept
  for it, and plays the rest.
* The course of chance: the runtime of a loaded game has a seed of its own, made of the old one and of the tick, so that
  nobody gets the numbers of the first day again. Two loads of one save are alike, to the last bit.

``found`` makes a colony that is rebuilt like this in epochs: then its runtime stays, and sees to chance itself.

What the chart marks (plots, shelves, beds, hearths, bushes, nests) is built as ever, with the same numbers, and then
put into the state that it had. Everything else is saved with its number.

Source: Stonehearth, AI: "Persistence".
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from agentrt import Agent, Entity, Runtime
from agentrt.behavior import Stimuli
from agentrt.rebuild import (
    Holder,
    restore_groups,
    restore_leases,
    restore_packs,
    restore_tasks,
    save_groups,
    save_leases,
    save_packs,
    save_tasks,
)
from agentrt.worlds import Value
from agentrt_actions import Region, RegionPart
from agentrt_examples.colony.animals import Poser
from agentrt_examples.colony.bodies import Health, Loyalty, Needs, Position, Traits
from agentrt_examples.colony.buffs import Buffs
from agentrt_examples.colony.chronicle import Entry
from agentrt_examples.colony.colony import Colony
from agentrt_examples.colony.foreman import Tally
from agentrt_examples.colony.goods import Backpack, Goods, Hands, Picture, Shelf
from agentrt_examples.colony.growing import Plot
from agentrt_examples.colony.harm import mark
from agentrt_examples.colony.minds.drake_senses import Sense
from agentrt_examples.colony.minds.perception import Perception
from agentrt_examples.colony.nests import Kin, Nest
from agentrt_examples.colony.quarry import Quarry
from agentrt_examples.colony.setting import Setting
from agentrt_examples.colony.terrain import Cell

__all__ = ["VERSION", "found", "load", "save"]

VERSION = 2
"""Of the form of what is saved."""

Json = dict[str, Any]

_GONE = "who is no more"  # stands for an entity that is destroyed


def found(seed: int | str, host: str, params: Mapping[str, Value] | None = None) -> Colony:
    """Make a colony that is rebuilt in epochs, if its setting says so.

    Args:
        seed: of all that is random.
        host: what it runs on.
        params: what of its setting is not as by default.
    """
    colony = Colony(seed, host, params=params)
    epoch = Setting.of(colony.params).epoch
    colony.runtime.rebuild_every(epoch, _save_game, lambda runtime, saved: load(saved, runtime))
    return colony


def _save_game(runtime: Runtime) -> Json:
    assert isinstance(runtime.game, Colony)
    return save(runtime.game)


def save(colony: Colony) -> Json:
    """Write a colony down, between two ticks.

    Args:
        colony: the colony.

    Returns:
        Plain JSON.
    """
    return {
        "version": VERSION,
        "seed": colony.seed,
        "tick": colony.runtime.tick,
        "across": colony.across,
        "down": colony.down,
        "params": dict(colony.params),
        "world": _save_world(colony),
        "beings": [_save_being(colony, agent) for agent in colony.population.agents],
        "tasks": _save_tasks(colony),
    }


def load(saved: Json, runtime: Runtime | None = None) -> Colony:
    """Make a colony of what was saved.

    Args:
        saved: what ``save`` gave, or what JSON made of it.
        runtime: what is rebuilt, and has nothing of a world then; None for a runtime of its own.

    Returns:
        The colony; it goes on with the tick after the one in which it was saved.

    Raises:
        ValueError: it was saved in another form.
        RebuildError: something that it speaks of is not there.
    """
    if saved["version"] != VERSION:
        raise ValueError(f"the save has the form {saved['version']}, this is {VERSION}")
    # A seed is made of the one before and the tick, so that chance goes on and does not begin again.
    seed = f"{saved['seed']} from tick {saved['tick']}"
    # Saves of before there were parameters are of the default setting.
    params = saved.get("params", {})
    if runtime is not None:
        seed = saved["seed"]  # an epoch: the runtime itself sees to it
    colony = Colony(
        seed,
        across=saved["across"],
        down=saved["down"],
        settled=False,
        start_tick=saved["tick"],
        params=params,
        runtime=runtime,
    )
    known = _load_world(colony, saved["world"])
    for being in saved["beings"]:
        known[being["id"]] = _load_body(colony, being)
    for being in saved["beings"]:
        _load_agent(colony, being, known)
    for nest, (_, last) in zip(colony.town.census.find("nest"), saved["world"]["nests"], strict=True):
        nest[Nest].last = None if last is None else known[last]
    _load_tasks(colony, saved["tasks"], known)
    return colony


# --- the world --------------------------------------------------------------------------------------------------------


def _save_world(colony: Colony) -> Json:
    town = colony.town
    census = town.census
    return {
        "number": town.number,
        "deaths": town.deaths,
        "items": [_save_item(item) for item in census.find("item")],
        "plots": [[plot[Plot].state, plot[Plot].due] for plot in census.find("plot")],
        "shelves": [[_number(item) for item in shelf[Shelf].items] for shelf in census.find("shelf")],
        "bushes": [
            [None if bush.herb is None or bush.herb.is_destroyed else bush.herb.id, bush.due] for bush in town.bushes
        ],
        "nests": [[nest[Nest].eggs, _number_of(nest[Nest].last)] for nest in census.find("nest")],
        "counts": dict(town.chronicle.counts),
        "entries": [list(entry) for entry in town.chronicle.entries],
    }


def _save_item(item: Entity) -> Json:
    holder = item[Goods].held_by
    saved: Json = {
        "id": item.id,
        "kind": item.kind,
        "cell": list(item[Position].location if holder is None else holder.location),
    }
    if Picture in item:
        saved["beauty"] = item[Picture].beauty
    return saved


def _load_world(colony: Colony, saved: Json) -> dict[int, Entity]:
    """Put the world into its state; everything in it, by number."""
    town = colony.town
    census = town.census
    known = {
        _number(entity): entity for tag in ("plot", "shelf", "bed", "hearth", "nest") for entity in census.find(tag)
    }
    for item in saved["items"]:
        made = known[item["id"]] = town.item(item["kind"], _cell(item["cell"]), item["id"])
        if "beauty" in item:
            made[Picture].beauty = item["beauty"]
    for plot, (state, due) in zip(census.find("plot"), saved["plots"], strict=True):
        plot[Plot].put(state)
        plot[Plot].due = due
    for shelf, numbers in zip(census.find("shelf"), saved["shelves"], strict=True):
        for number in numbers:
            shelf[Shelf].put(known[number])
    for bush, (herb, due) in zip(town.bushes, saved["bushes"], strict=True):
        bush.herb = None if herb is None else known[herb]
        bush.due = due
    for nest, (eggs, _) in zip(census.find("nest"), saved["nests"], strict=True):
        nest[Nest].put(eggs)
    town.chronicle.counts.update(saved["counts"])
    town.chronicle.entries.extend(Entry(*entry) for entry in saved["entries"])
    town.number = saved["number"]
    town.deaths = saved.get("deaths", 0)
    town.tend_fires()  # they burn or not by the time of day
    return known


# --- who lives there --------------------------------------------------------------------------------------------------


def _save_being(colony: Colony, agent: Agent) -> Json:
    entity: Entity = agent.entity
    needs = entity[Needs]
    saved: Json = {
        "id": entity.id,
        "kind": entity.kind,
        "name": entity.name,
        "agent": agent.name,
        "cell": list(entity[Position].location),
        "health": entity[Health].points,
        "is_down": entity[Health].is_down,
        "needs": [needs.satiety, needs.rest],
        "load": _save_load(entity),
        "effect": _save_effect(colony, entity),
        "leases": save_leases(agent, lambda thing: _encode_leased(colony, thing)),
        "buffs": dict(entity[Buffs].until),
        # Collars, jobs and buffs bring their packs themselves.
        "packs": save_packs(agent, bearers=False),
    }
    traits, poser, loyalty = entity.get(Traits), entity.get(Poser), entity.get(Loyalty)
    if traits is not None:
        saved["traits"] = list(traits.names)
        saved["home"] = None if traits.home is None else list(traits.home)
        saved["thoughts"] = traits.thoughts
        saved["job"] = colony.population.jobs[agent].title
    if poser is not None:
        saved["poser"] = [round(poser.photogenicity * 100), poser.due]
    if loyalty is not None:
        saved["owner"] = _number_of(loyalty.owner)
    if Kin in entity:
        saved["nest"] = _number(entity[Kin].nest)
    if Quarry in entity:
        saved["quarry"] = _save_quarry(entity[Quarry], colony.runtime.tick)
    if Stimuli in entity:
        saved["stimuli"] = [[int(one.token), _number_of(one.data), one.remaining] for one in entity[Stimuli]]
    saved["variables"] = {senses.state.name: senses.save() for senses in _senses_of(colony, agent)}
    return saved


def _save_effect(colony: Colony, entity: Entity) -> list[Any] | None:
    left = colony.town.effects.left_of(entity)
    return None if left is None else list(left)


def _save_load(entity: Entity) -> list[Json]:
    """What somebody carries, first what is in the hands."""
    hands, backpack = entity.get(Hands), entity.get(Backpack)
    carried = [] if hands is None or hands.carrying is None else [hands.carrying]
    packed = [] if backpack is None else list(backpack.items.values())
    return [
        {"item": _number(item), "was_stored": item[Goods].was_stored, "is_packed": index >= len(carried)}
        for index, item in enumerate([*carried, *packed])
    ]


def _encode_leased(colony: Colony, thing: object) -> Any:
    """Something that is reserved, in plain JSON; None for what has no number, as the people outside of the world."""
    if isinstance(thing, RegionPart):
        fires = colony.town.fires
        return next(([index, thing.key] for index, fire in enumerate(fires) if thing in fire[Region].parts), None)
    return thing.id if isinstance(thing, Entity) and not thing.is_destroyed else None


def _decode_leased(colony: Colony, value: Any, known: dict[int, Entity]) -> object:
    if not isinstance(value, list):
        return known[value]
    index, key = value
    return next(part for part in colony.town.fires[index][Region].parts if part.key == key)


def _senses_of(colony: Colony, agent: Agent) -> list[Perception]:
    """What somebody perceives for its selection trees."""
    possession = colony.population.possessions.get(agent)
    senses = colony.captain.senses.get(agent)
    return [*(() if senses is None else (senses,)), *(() if possession is None else (possession.senses,))]


def _save_quarry(quarry: Quarry, tick: int) -> Json:
    awe = [[_number(nest), until] for nest, until in quarry.awe.items() if until > tick]
    return {
        "enemy": _number_of(quarry.enemy_at(tick)),
        "grudge": quarry.grudge,
        "awe": awe,
        "has_bitten": quarry.has_bitten,
    }


def _load_body(colony: Colony, saved: Json) -> Entity:
    entity = colony.population.body(saved["kind"], _cell(saved["cell"]), saved["name"], saved["id"])
    health, needs = entity[Health], entity[Needs]
    health.points, health.is_down = saved["health"], saved["is_down"]
    needs.satiety, needs.rest = saved["needs"]
    entity[Buffs].until.update(saved["buffs"])
    if "traits" in saved:
        entity.add(Traits(*saved["traits"], home=None if saved["home"] is None else _cell(saved["home"])))
        entity[Traits].thoughts = list(saved["thoughts"])
    if "poser" in saved:
        photogenicity, due = saved["poser"]
        entity.add(Poser(photogenicity)).due = due
    mark(colony.town, entity)
    return entity


def _load_memories(saved: Json, known: dict[int, Entity]) -> None:
    """Whom somebody belongs to, and what it has against others."""
    entity = known[saved["id"]]
    if "owner" in saved:
        entity.add(Loyalty(None if saved["owner"] is None else known[saved["owner"]]))
    if "quarry" in saved:
        quarry, memory = entity[Quarry], saved["quarry"]
        quarry.enemy = None if memory["enemy"] is None else known[memory["enemy"]]
        quarry.grudge = memory["grudge"]
        quarry.awe.update({known[nest]: until for nest, until in memory["awe"]})
        quarry.has_bitten = memory["has_bitten"]
    for token, data, remaining in saved.get("stimuli", ()):
        entity[Stimuli].add(Sense(token), None if data is None else known[data], remaining)


def _load_agent(colony: Colony, saved: Json, known: dict[int, Entity]) -> None:
    entity = known[saved["id"]]
    _load_memories(saved, known)
    if "nest" in saved:
        colony.population.bind(entity, known[saved["nest"]])
    agent = colony.population.join(entity, saved["agent"])
    restore_packs(agent, saved["packs"])
    if "job" in saved:
        colony.population.employ(agent, saved["job"])
    for senses in _senses_of(colony, agent):
        senses.restore(saved["variables"][senses.state.name])
    for load in saved.get("load", ()):
        backpack = entity.get(Backpack)
        if backpack is not None or not load["is_packed"]:  # else it was lost with the job, and lies there
            packed_in = backpack if load["is_packed"] else None
            entity[Hands].keep(known[load["item"]], packed_in, was_stored=load["was_stored"])
    if saved.get("effect") is not None:
        effect, left = saved["effect"]
        colony.town.effects.begun[entity] = effect, left, entity[Position].location
    restore_leases(agent, saved.get("leases", []), lambda value: _decode_leased(colony, value, known))


# --- tasks ------------------------------------------------------------------------------------------------------------


def _save_tasks(colony: Colony) -> Json:
    party = colony.captain.party
    tallies = colony.foreman.tallies
    return {
        "groups": save_groups(colony.town.groups),
        "town": _tasks_of(colony.town.groups),
        "own": {agent.name: _tasks_of(agent) for agent in colony.population.agents if agent.task_groups},
        "parties": colony.captain.parties,
        "party": None if party is None else [party.name, _tasks_of(party)],
        "tallies": {name: [one.done, one.completed, one.interrupted, one.destroyed] for name, one in tallies.items()},
    }


def _tasks_of(holder: Holder) -> list[Json]:
    """The tasks of groups, but for those of who is no more: they end when the foreman or the captain looks next."""
    gone = {"encoded": _GONE}
    return [task for task in save_tasks(holder, _encode) if gone not in (task.get("source"), *task["args"].values())]


def _load_tasks(colony: Colony, saved: Json, known: dict[int, Entity]) -> None:
    people = {entity.name: entity for entity in (colony.captain.me, colony.foreman.trader)}

    def decode(value: Any) -> Entity:
        return people[value] if isinstance(value, str) else known[value]

    captain, foreman = colony.captain, colony.foreman
    foreman.tallies.update({name: Tally(*figures) for name, figures in saved["tallies"].items()})
    restore_groups(colony.town.groups, saved["groups"], colony.runtime.agents, decode)
    for task in restore_tasks(colony.town.groups, saved["town"], decode):
        foreman.adopt(task)
    captain.parties = saved["parties"]
    if saved["party"] is not None:
        name, tasks = saved["party"]
        for task in restore_tasks(captain.form_party(name), tasks, decode):
            foreman.watch(task)
    agents = {agent.name: agent for agent in colony.population.agents}
    for name, tasks in saved["own"].items():
        for task in restore_tasks(agents[name], tasks, decode):
            if task.source is captain.me:
                foreman.watch(task)


def _encode(value: Any) -> Any:
    """An entity by its number; who stands outside the world, by name."""
    if not isinstance(value, Entity):
        raise TypeError(f"{value!r} is no entity")
    if value.is_destroyed:
        return _GONE
    return value.name if value.id is None else value.id


def _number_of(entity: Entity | None) -> int | None:
    """The number of an entity; None for nobody, and for who is gone."""
    return None if entity is None or entity.is_destroyed else _number(entity)


def _number(entity: Entity) -> int:
    assert isinstance(entity.id, int)
    return entity.id


def _cell(saved: list[int]) -> Cell:
    return saved[0], saved[1]
