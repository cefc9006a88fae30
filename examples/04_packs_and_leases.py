"""Packs and leases: what agents know comes from a JSON file, and two of them never go for the same tree.

The pack names actions by alias, a manifest says what they are, and a standard pack brings ``agentrt:reserve_entity``:
the lease is taken when the plan starts and given back when it stops. Whoever thinks meanwhile finds another tree.

A simulation never waits, and equal seeds give equal runs: ``digest()`` is a hash of all that happened.
"""

from __future__ import annotations

from pathlib import Path

import agentrt as art
from agentrt.body import LeaseBook
from agentrt.testing import Simulation


class FindTree(art.Action):
    """Any free tree, drawn from the agent's own stream of random numbers."""

    does = "orchard:find_tree"
    utility = 1.0

    class Output(art.ThinkOutput):
        tree: art.Entity

    async def think(self, ctx: art.Context, args: art.ActionArgs) -> None:
        leases = ctx.entity[LeaseBook]
        while not (free := [tree for tree in TREES if leases.can_acquire(tree, ctx.agent)]):
            await leases.changed.wait()
        ctx.set_think_output(tree=ctx.random.choice(free))


class Pick(art.Action):
    """Takes from one to two seconds."""

    does = "orchard:pick"
    utility = 1.0

    class Args(art.ActionArgs):
        tree: art.Entity

    async def run(self, ctx: art.Context, args: Args) -> None:
        await ctx.sleep(ctx.random.uniform(1, 2))
        ctx.set_debug_progress(f"picked {args.tree.name}")


class Harvest(art.CompoundAction):
    """Find a tree, reserve it, pick it."""

    does = art.TOP
    utility = 0.5
    steps = [
        art.step("orchard:find_tree"),
        art.step("agentrt:reserve_entity", entity=art.PREV.tree),
        art.step("orchard:pick", tree=art.BACK(2).tree),
    ]


TREES = [art.Entity("tree", name=name) for name in ("apple", "pear", "plum")]
PACK = Path(__file__).with_name("04_orchard.json")
OURS = {"actions:harvest": Harvest, "actions:find_tree": FindTree, "actions:pick": Pick, "ai_pack:picker": PACK}
REGISTRY = art.Registry.discover(art.Manifest("orchard", OURS))  # and what the installed packages offer


def simulate(seed: int) -> Simulation:
    sim = Simulation(seed)
    for name in ("Kim", "Lou"):
        picker = art.Entity("picker", sim.runtime.leases, name=name)
        sim.add(art.Agent(picker, packs=["orchard:ai_pack:picker"], registry=REGISTRY))
    sim.tick(60)
    sim.close()
    return sim


if __name__ == "__main__":
    first, same, other = simulate(seed=2), simulate(seed=2), simulate(seed=3)
    print(*(record.line() for record in first.trace if record.event in ("reject", "progress")), sep="\n")
    print(f"the same seed: {first.digest() == same.digest()}; another seed: {first.digest() == other.digest()}")
