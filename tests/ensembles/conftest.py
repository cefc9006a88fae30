"""A project with a world of ducks, which does what a parameter says: raise, hang, die, or swim."""

from __future__ import annotations

import itertools
import sys

import pytest

from agentrt.ensembles.subject import Subject

POND = """
import os
import time
import agentrt as art
from agentrt.worlds import Parameter, SimpleWorld

class Swim(art.Action):
    does = art.TOP
    utility = 0.5

    async def run(self, ctx, args):
        ctx.entity.pond["swims"] += 1
        await ctx.sleep(ctx.random.uniform(0.1, ctx.entity.pond["rest"]))

class Duck:
    def __init__(self, pond):
        self.pond = pond

def make(*, seed, host, params):
    trouble, _, number = params["trouble"].partition(" ")
    if trouble and seed == int(number):
        troubles[trouble]()
    runtime = art.Runtime(seed, host=host)
    if trouble == "gate":
        runtime.gate.pause()
    runtime.game = pond = {"swims": 0, "rest": params["rest"]}
    for number in range(params["ducks"]):
        runtime.add(art.Agent(Duck(pond), name=f"Duck {number}", actions=[Swim]))
    print("the pond is made")
    return runtime

def fail():
    raise ValueError("no water\\nand no \\x1b[31mducks")

def leave():
    raise SystemExit(3)

def interrupt():
    raise KeyboardInterrupt

def hang():
    while True:
        pass

def measure(runtime):
    swims = runtime.game["swims"]
    return {"swims": swims, "each": swims / len(runtime.agents), "mood": "dry" if swims % 2 else "wet"}

def stay():
    if os.fork() == 0:  # a child that holds all that is open here
        time.sleep(1000)

def die_and_stay():
    stay()
    os._exit(7)

def hang_and_stay():
    stay()
    hang()

troubles = {
    "stay": stay, "die+stay": die_and_stay, "hang+stay": hang_and_stay, "interrupt": interrupt, "fail": fail, "leave": leave, "hang": hang, "die": lambda: os._exit(7), "gate": int, "slow": lambda: time.sleep(0.2)
}
world = SimpleWorld(
    "pond",
    make,
    parameters={
        "ducks": Parameter(2, low=1, high=9),
        "rest": Parameter(1.0, low=0.2),
        "trouble": Parameter(""),
        "wet": Parameter(True),
        "kind": Parameter("mallard", choices=("mallard", "teal")),
    },
    measure=measure,
)
"""


NUMBERS = itertools.count()


@pytest.fixture
def pond(tmp_path, monkeypatch):
    """A folder with the project, in which commands are given; its module."""
    folder = tmp_path / "pond"
    folder.mkdir()
    name = f"pond_{next(NUMBERS)}"  # a module of its own for each test
    (folder / "pyproject.toml").write_text(f'[tool.agentrt]\napp = "{name}:world"\n')
    (folder / f"{name}.py").write_text(POND)
    monkeypatch.chdir(folder)
    monkeypatch.setattr(sys, "path", [*sys.path])
    yield folder / f"{name}.py"
    sys.modules.pop(name, None)


@pytest.fixture
def world(pond):
    return Subject.of("pond").world()
