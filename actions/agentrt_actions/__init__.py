"""The standard action library: actions that any world can use that offers a few small protocols.

Rules: written on the façade ``agentrt`` alone, as anybody's actions are; knows no world, only the protocols
in ``protocols`` and ``things``; offered to packs by ``manifest``, through the entry-point group ``agentrt.actions``.

An action here is whole on its own: it keeps its think output true while the world changes, gives back
whatever it took when it is interrupted, and aborts only when its plan really cannot go on.

Which modules there are::

    protocols  things                what a world offers
    nearby  searching                the nearest: what is near, and actions that find it
    sieve  ranking  finding  best    the best of many: who passes, in which order, shared; and the action
    moving  pursuing                 legs
    reserving  carrying  bringing    hands
    waiting  events  idling  needs   time, events, leisure, basic needs
    watching                         how a think goes on looking
"""

from __future__ import annotations

from agentrt import Manifest
from agentrt_actions.best import FindBest
from agentrt_actions.bringing import CarryItem, FetchItem, StoreItem
from agentrt_actions.carrying import (
    ConsumeCarried,
    DropCarrying,
    PickUp,
    PutDown,
    StoreCarried,
    StowCarried,
    UnpackItem,
    expected_carrying,
    within_reach,
)
from agentrt_actions.events import AbortOnEventTriggered, TriggerEvent, WaitForEvent
from agentrt_actions.finding import Finder
from agentrt_actions.idling import FreeTimeAtTop, IdleAtTop, IdleEffect, IdleWander, StandIdle, Stroll
from agentrt_actions.moving import FollowPath, GotoEntity, GotoLocation, Patrol, Wander, walk_one, walk_path
from agentrt_actions.nearby import expected_location, nearness, own_moves, self_reserved
from agentrt_actions.needs import (
    BASIC_NEEDS,
    BasicNeeds,
    Eat,
    LieDown,
    RestWhenInjured,
    SleepInBed,
    SleepOnGround,
    observe_hunger,
    observe_sleepiness,
)
from agentrt_actions.protocols import (
    Change,
    Changing,
    Directory,
    Located,
    Mover,
    Path,
    PathFinder,
    Place,
    Surveyor,
    Threats,
)
from agentrt_actions.pursuing import ChaseEntity, FleeThreats, FollowEntity
from agentrt_actions.ranking import Rating
from agentrt_actions.reserving import ReserveEntity, ReserveEntityDestination, entity_key
from agentrt_actions.searching import FindEntity, FindPathToEntity, FindPathToLocation, FindStorage
from agentrt_actions.sieve import Filter
from agentrt_actions.things import (
    Backpacker,
    Carrier,
    Consumable,
    Contents,
    EffectPlayer,
    IdleEffects,
    Needs,
    PlayedEffect,
    Region,
    RegionPart,
    Sleeper,
    Storage,
)
from agentrt_actions.waiting import RunEffect, Wait
from agentrt_actions.watching import Only, keep_looking, ready_while

__all__ = [
    "BASIC_NEEDS",
    "AbortOnEventTriggered",
    "Backpacker",
    "BasicNeeds",
    "Carrier",
    "CarryItem",
    "Change",
    "Changing",
    "ChaseEntity",
    "Consumable",
    "ConsumeCarried",
    "Contents",
    "Directory",
    "DropCarrying",
    "Eat",
    "EffectPlayer",
    "FetchItem",
    "Filter",
    "FindBest",
    "FindEntity",
    "FindPathToEntity",
    "FindPathToLocation",
    "FindStorage",
    "Finder",
    "FleeThreats",
    "FollowEntity",
    "FollowPath",
    "FreeTimeAtTop",
    "GotoEntity",
    "GotoLocation",
    "IdleAtTop",
    "IdleEffect",
    "IdleEffects",
    "IdleWander",
    "LieDown",
    "Located",
    "Mover",
    "Needs",
    "Only",
    "Path",
    "PathFinder",
    "Patrol",
    "PickUp",
    "Place",
    "PlayedEffect",
    "PutDown",
    "Rating",
    "Region",
    "RegionPart",
    "ReserveEntity",
    "ReserveEntityDestination",
    "RestWhenInjured",
    "RunEffect",
    "SleepInBed",
    "SleepOnGround",
    "Sleeper",
    "StandIdle",
    "Storage",
    "StoreCarried",
    "StoreItem",
    "StowCarried",
    "Stroll",
    "Surveyor",
    "Threats",
    "TriggerEvent",
    "UnpackItem",
    "Wait",
    "WaitForEvent",
    "Wander",
    "entity_key",
    "expected_carrying",
    "expected_location",
    "keep_looking",
    "manifest",
    "nearness",
    "observe_hunger",
    "observe_sleepiness",
    "own_moves",
    "ready_while",
    "self_reserved",
    "walk_one",
    "walk_path",
    "within_reach",
]

manifest = Manifest(
    "agentrt",
    {
        "actions:abort_on_event_triggered": AbortOnEventTriggered,
        "actions:carry_item": CarryItem,
        "actions:chase_entity": ChaseEntity,
        "actions:consume_carried": ConsumeCarried,
        "actions:drop_carrying": DropCarrying,
        "actions:eat": Eat,
        "actions:fetch_item": FetchItem,
        "actions:find_best": FindBest,
        "actions:find_entity": FindEntity,
        "actions:find_path_to_entity": FindPathToEntity,
        "actions:find_path_to_location": FindPathToLocation,
        "actions:find_storage": FindStorage,
        "actions:flee_threats": FleeThreats,
        "actions:follow_entity": FollowEntity,
        "actions:follow_path": FollowPath,
        "actions:free_time_at_top": FreeTimeAtTop,
        "actions:goto_entity": GotoEntity,
        "actions:goto_location": GotoLocation,
        "actions:idle_at_top": IdleAtTop,
        "actions:idle_effect": IdleEffect,
        "actions:idle_wander": IdleWander,
        "actions:lie_down": LieDown,
        "actions:patrol": Patrol,
        "actions:pick_up": PickUp,
        "actions:put_down": PutDown,
        "actions:reserve_entity": ReserveEntity,
        "actions:reserve_entity_destination": ReserveEntityDestination,
        "actions:rest_when_injured": RestWhenInjured,
        "actions:run_effect": RunEffect,
        "actions:sleep_in_bed": SleepInBed,
        "actions:sleep_on_ground": SleepOnGround,
        "actions:stand_idle": StandIdle,
        "actions:store_carried": StoreCarried,
        "actions:store_item": StoreItem,
        "actions:stow_carried": StowCarried,
        "actions:stroll": Stroll,
        "actions:trigger_event": TriggerEvent,
        "actions:unpack_item": UnpackItem,
        "actions:wait": Wait,
        "actions:wait_for_event": WaitForEvent,
        "actions:wander": Wander,
        "observers:hunger": observe_hunger,
        "observers:sleepiness": observe_sleepiness,
        "task_groups:solo:basic_needs": BasicNeeds,
    },
)
"""The aliases of the standard actions, observers and task groups."""
