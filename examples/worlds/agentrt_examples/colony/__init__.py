"""A colony that lives: twenty-five agents of six kinds in a grid world, run by AI packs and tasks, most of it data.

For authors of games who want to see what it takes. From below:

* ``terrain``, ``paths``, ``survey`` (the ground), ``census``, ``chronicle``, ``daylight``, ``effects`` (what the world
  knows), ``bodies``, ``goods``, ``seats``, ``growing``, ``nests``, ``animals``, ``buffs``, ``harm`` (what entities are
  made of), ``jobs`` (the data of jobs, equipment, kinds), ``town`` (all of it), ``quarry`` (what hunters know);
* ``acting`` (what can be done by plan), ``minds`` (the other models: goal selectors of wolves, a behavior tree of
  drakes, selection trees of soldiers, and somebody who has them all), ``foreman`` and ``captain`` (what somebody wants
  to be done), ``petitions`` (what comes in from outside), ``population`` (who does it), ``systems`` (what happens by
  itself), ``colony`` (a run of it), ``saving`` (a run of it that goes on tomorrow);
* ``models`` and ``decisions`` (what is seen of the models), ``report``, ``picture``, ``views`` and ``app`` only look.

It is written on the façades of ``agentrt`` and on ``agentrt_actions``. This module offers what the entry points name:
``manifest`` for packs and actions, ``world`` for ``agentrt demo``. It imports nothing that needs the extra ``demo``.
"""

from __future__ import annotations

from pathlib import Path

from agentrt import Action, Manifest
from agentrt_examples.colony import bodies, goods
from agentrt_examples.colony.acting import (
    cooking,
    critters,
    evenings,
    farming,
    hauling,
    healing,
    needs,
    painting,
    pets,
    soldiers,
    top,
    tower,
)
from agentrt_examples.colony.offer import ColonyWorld

__all__ = ["manifest", "world"]

_HERE = Path(__file__).parent

_ACTIONS: tuple[type[Action], ...] = (
    cooking.Cook,
    cooking.CookOnHearth,
    critters.Graze,
    critters.GrazeHere,
    critters.Pose,
    evenings.EnjoyFire,
    evenings.Sing,
    evenings.SitByFire,
    evenings.TellStory,
    farming.HarvestPlot,
    farming.PlantPlot,
    farming.TendPlot,
    farming.TillPlot,
    hauling.HaulMeal,
    hauling.HaulPicture,
    hauling.HaulTurnip,
    hauling.HaulTwoTurnips,
    healing.GetHerb,
    healing.HealAdjacent,
    healing.HealOther,
    healing.HealSelf,
    needs.ChooseBed,
    needs.Eat,
    needs.Rest,
    needs.RestInBed,
    needs.Sleep,
    needs.SleepInBed,
    painting.AdmirePicture,
    painting.DrawAnimal,
    painting.DrawLandscape,
    painting.FindAndPaintSubject,
    painting.FindWillingPaintingSubject,
    painting.PaintCommission,
    pets.BeGlad,
    pets.BeSick,
    pets.FindOwner,
    soldiers.Attack,
    soldiers.ChooseRound,
    soldiers.Guard,
    soldiers.MoveTo,
    soldiers.StandFast,
    soldiers.Strike,
    top.FreeTime,
    top.LieDown,
    top.RunFromDanger,
    top.Work,
    tower.Shoot,
)


def _alias(action: type[Action]) -> str:
    return "actions:" + "".join(f"_{letter.lower()}" if letter.isupper() else letter for letter in action.__name__)[1:]


manifest = Manifest(
    "colony",
    {
        **{_alias(action): action for action in _ACTIONS},
        **{f"ai_pack:{path.stem}": path for path in sorted((_HERE / "packs").glob("*.json"))},
        "components:backpack": goods.Backpack,
        "components:habits": bodies.Habits,
        "components:training": pets.Training,
        "observers:hunger": needs.observe_hunger,
        "observers:loneliness": pets.observe_loneliness,
        "observers:sleepiness": needs.observe_sleepiness,
        "observers:starvation": needs.observe_starvation,
        "task_groups:solo:basic_needs": needs.SoloBasicNeeds,
        "task_groups:solo:pet": _HERE / "data" / "groups" / "pet.json",
        "task_groups:solo:unit_control": _HERE / "data" / "groups" / "solo.json",
    },
    mixins={
        "colony:ai_pack:critter": _HERE / "data" / "mixins" / "fidgeting.json",
        "colony:ai_pack:hearthling": _HERE / "data" / "mixins" / "looking.json",
    },
)

world = ColonyWorld()
