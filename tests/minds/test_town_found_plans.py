"""Plans whose later steps are possible only when the first ones are done, and such as cannot be carried out."""

from __future__ import annotations

from agentrt import TOP, Action
from agentrt.minds import Option, Plan


class Stand(Action):
    does = TOP
    utility = 0.1

    async def run(self, ctx, args):
        await ctx.sleep(1)


class Book(Action):
    does = "t:book"
    utility = 1.0

    async def run(self, ctx, args):
        await ctx.next_tick()
        if ctx.entity.kind == "person":
            ctx.entity.kind = "host"


class Invite(Action):
    does = "t:invite"
    utility = 1.0

    async def think(self, ctx, args):
        if ctx.entity.kind != "host":
            ctx.reject("there is no place yet")
        ctx.set_think_output()

    async def run(self, ctx, args):
        await ctx.next_tick()
        ctx.entity.kind = "person with guests"


class Fails(Action):
    does = "t:fails"
    utility = 1.0

    async def think(self, ctx, args):
        ctx.reject("never")


class Party(Plan):
    does = TOP
    utility = 0.5
    most = 3

    def options(self, ctx, args):
        return [Option("t:book"), Option("t:invite"), Option("t:fails")]


def step(activity):
    return {"activity": activity, "args": {}, "why": "so it is"}


def test_what_is_possible_later_stands_on_the_menu_of_a_plan(place):
    menus = []

    def answer(asked):
        menus.append([one["activity"] for one in asked.options])
        return {"steps": [step("t:book"), step("t:invite")]}

    here = place(answer)
    ann = here.person("Ann", Party, Stand, Book, Invite, Fails)
    here.tick(40)
    assert menus[0] == ["t:book", "t:invite", "t:fails"]
    assert ann.entity.kind == "person with guests"
    assert here.faults == []


def test_a_plan_that_cannot_be_carried_out_ends_and_is_no_fault(place):
    here = place(lambda asked: {"steps": [step("t:book"), step("t:fails")]})
    told = []

    def hear(record):
        if record.event == "progress":
            told.append(dict(record.detail)["text"])

    here.runtime.trace.listen(hear)
    ann = here.person("Ann", Party, Stand, Book, Invite, Fails)
    here.tick(60)
    assert here.faults == []
    assert "t:fails failed, and it was planned anew 2 times" in told
    assert ann.is_alive
