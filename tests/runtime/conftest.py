"""A runtime on each host (see ``players``), and agents that keep a diary."""

from __future__ import annotations

import pytest
from cast import Being, logged  # noqa: F401 - a fixture
from crowd import traces, unchanged, world_of  # noqa: F401 - fixtures
from players import Player, asyncio_player, plain, play, play_loop  # noqa: F401 - fixtures

from agentrt import TOP, Action, Agent


@pytest.fixture(scope="session")
def player_for():
    return Player


class Work(Action):
    """Takes three ticks, again and again; writes into the diary of its entity, or of its world."""

    does = TOP
    utility = 0.5
    ticks = 3

    def write(self, ctx, word):
        ctx.entity.diary.append((ctx.clock.tick, word))

    def start(self, ctx, args):
        self.write(ctx, "start")

    async def run(self, ctx, args):
        self.write(ctx, "run")
        await ctx.sleep_ticks(self.ticks)
        self.write(ctx, "done")

    def stop(self, ctx, args):
        self.write(ctx, "stop")


class Forever(Work):
    """Runs until it is stopped."""

    utility = 0.5
    ticks = 10**6


class Failing(Action):
    """Aborts in every run: the planner gives up after ten ticks."""

    does = TOP
    utility = 0.5

    async def run(self, ctx, args):
        ctx.abort("no luck")


@pytest.fixture(scope="session")
def being():
    """Makes an agent: ``being(actions, name)``; its entity keeps a diary."""

    def make(actions, name="being", **options):
        return Agent(Being(name), actions=actions, **options)

    return make


@pytest.fixture(scope="session")
def actions():
    """The actions by name."""

    class Actions:
        pass

    for action in (Work, Forever, Failing):
        setattr(Actions, action.__name__, action)
    return Actions
