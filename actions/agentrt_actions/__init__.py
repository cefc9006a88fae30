"""The standard action library: actions that any world can use that offers a few small protocols.

Rules: written on the façade ``agentrt`` alone, as anybody's actions are; knows no world, only the protocols
in ``protocols``; offered to packs by ``manifest``, through the entry-point group ``agentrt.actions``.

An action here is whole on its own: it keeps its think output true while the world changes, gives back
whatever it took when it is interrupted, and aborts only when its plan really cannot go on.
"""

from __future__ import annotations

from agentrt import Manifest
from agentrt_actions.carrying import (
    ConsumeCarried,
    PickUp,
    PutDown,
    StoreCarried,
    StoreItem,
    expected_carrying,
    within_reach,
)
from agentrt_actions.moving import (
    ChaseEntity,
    FleeThreats,
    FollowPath,
    GotoEntity,
    GotoLocation,
    IdleWander,
    Wander,
    walk_one,
)
from agentrt_actions.protocols import (
    Carrier,
    Consumable,
    Directory,
    EffectPlayer,
    Located,
    Mover,
    Path,
    PathFinder,
    Place,
    PlayedEffect,
    Storage,
    Threats,
)
from agentrt_actions.reserving import ReserveEntity
from agentrt_actions.searching import (
    FindEntity,
    FindPathToEntity,
    FindPathToLocation,
    FindStorage,
    expected_location,
    nearest,
    nearness,
    own_moves,
)
from agentrt_actions.waiting import IdleAtTop, RunEffect, StandIdle, Wait
from agentrt_actions.watching import keep_looking, ready_while

__all__ = [
    "Carrier",
    "ChaseEntity",
    "ConsumeCarried",
    "Consumable",
    "Directory",
    "EffectPlayer",
    "FindEntity",
    "FindPathToEntity",
    "FindPathToLocation",
    "FindStorage",
    "FleeThreats",
    "FollowPath",
    "GotoEntity",
    "GotoLocation",
    "IdleAtTop",
    "IdleWander",
    "Located",
    "Mover",
    "Path",
    "PathFinder",
    "PickUp",
    "Place",
    "PlayedEffect",
    "PutDown",
    "ReserveEntity",
    "RunEffect",
    "StandIdle",
    "Storage",
    "StoreCarried",
    "StoreItem",
    "Threats",
    "Wait",
    "Wander",
    "expected_carrying",
    "expected_location",
    "keep_looking",
    "manifest",
    "nearest",
    "nearness",
    "own_moves",
    "ready_while",
    "walk_one",
    "within_reach",
]

manifest = Manifest(
    "agentrt",
    {
        "actions:chase_entity": ChaseEntity,
        "actions:consume_carried": ConsumeCarried,
        "actions:find_entity": FindEntity,
        "actions:find_path_to_entity": FindPathToEntity,
        "actions:find_path_to_location": FindPathToLocation,
        "actions:find_storage": FindStorage,
        "actions:flee_threats": FleeThreats,
        "actions:follow_path": FollowPath,
        "actions:goto_entity": GotoEntity,
        "actions:goto_location": GotoLocation,
        "actions:idle_at_top": IdleAtTop,
        "actions:idle_wander": IdleWander,
        "actions:pick_up": PickUp,
        "actions:put_down": PutDown,
        "actions:reserve_entity": ReserveEntity,
        "actions:run_effect": RunEffect,
        "actions:stand_idle": StandIdle,
        "actions:store_carried": StoreCarried,
        "actions:store_item": StoreItem,
        "actions:wait": Wait,
        "actions:wander": Wander,
    },
)
