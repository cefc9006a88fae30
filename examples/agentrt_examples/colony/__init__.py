"""A colony that lives: about twenty agents of four kinds in a grid world, run by AI packs in JSON.

For authors of games who want to see what it takes. From below: ``terrain`` and ``paths`` (the ground),
``census``, ``chronicle``, ``daylight``, ``effects`` (what the world knows), ``bodies``, ``goods``,
``growing``, ``animals``, ``harm`` (what entities are made of), ``town`` (all of it together), ``acting``
(what can be done), ``population`` (who does it), ``systems`` (what happens by itself), ``colony`` (a run of
it). ``report``, ``picture`` and ``app`` only look.

It is written on the façade ``agentrt`` and on ``agentrt_actions`` alone. This module offers what the entry
points name: ``manifest`` for packs and actions, ``world`` for ``agentrt demo``. It imports nothing that needs
the extra ``demo``.
"""

from __future__ import annotations

from pathlib import Path

from agentrt import Manifest
from agentrt_examples.colony.acting import (
    cooking,
    critters,
    farming,
    hauling,
    healing,
    needs,
    painting,
    top,
    tower,
    wolves,
)
from agentrt_examples.colony.offer import ColonyWorld

__all__ = ["manifest", "world"]

_PACKS = Path(__file__).parent / "packs"

manifest = Manifest(
    "colony",
    {
        "actions:bite": wolves.Bite,
        "actions:cook": cooking.Cook,
        "actions:cook_on_hearth": cooking.CookOnHearth,
        "actions:draw_animal": painting.DrawAnimal,
        "actions:draw_landscape": painting.DrawLandscape,
        "actions:eat": needs.Eat,
        "actions:find_and_paint_subject": painting.FindAndPaintSubject,
        "actions:find_way_out": wolves.FindWayOut,
        "actions:find_willing_painting_subject": painting.FindWillingPaintingSubject,
        "actions:free_time": top.FreeTime,
        "actions:get_herb": healing.GetHerb,
        "actions:get_meal": needs.GetMeal,
        "actions:get_turnip": needs.GetTurnip,
        "actions:graze": critters.Graze,
        "actions:graze_here": critters.GrazeHere,
        "actions:harvest_plot": farming.HarvestPlot,
        "actions:haul_meal": hauling.HaulMeal,
        "actions:haul_picture": hauling.HaulPicture,
        "actions:haul_turnip": hauling.HaulTurnip,
        "actions:heal_adjacent": healing.HealAdjacent,
        "actions:heal_other": healing.HealOther,
        "actions:heal_self": healing.HealSelf,
        "actions:hunt": wolves.Hunt,
        "actions:leave": wolves.Leave,
        "actions:lie_down": top.LieDown,
        "actions:plant_plot": farming.PlantPlot,
        "actions:pose": critters.Pose,
        "actions:rest": needs.Rest,
        "actions:rest_in_bed": needs.RestInBed,
        "actions:run_from_danger": top.RunFromDanger,
        "actions:shoot": tower.Shoot,
        "actions:sleep": needs.Sleep,
        "actions:sleep_in_bed": needs.SleepInBed,
        "actions:tend_plot": farming.TendPlot,
        "actions:till_plot": farming.TillPlot,
        "actions:vanish": wolves.Vanish,
        "actions:work": top.Work,
        **{f"ai_pack:{path.stem}": path for path in sorted(_PACKS.glob("*.json"))},
    },
)

world = ColonyWorld()
