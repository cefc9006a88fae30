"""What is refused at its start, since somebody else was quicker: it is no error, and everybody goes on."""

from __future__ import annotations

from agentrt import TOP, Action
from agentrt.minds import Attend, Consider, Converse, Option, Talks


class Talk(Converse):
    does = "t:talk"
    utility = 0.5
    most_lines = 2


class Listen(Attend):
    does = TOP
    utility = 0.7
    most_lines = 2


class Stand(Action):
    does = TOP
    utility = 0.1

    async def run(self, ctx, args):
        await ctx.sleep(1)


def people(here):
    """Cid, whom both of the others want to talk to, and hear from the mind in the same tick."""
    cid = here.person("Cid", Listen, Stand)

    class Meet(Consider):
        does = TOP
        utility = 0.5

        def options(self, ctx, args):
            return [Option("t:talk", who={"Cid": cid.entity})]

    return [here.person(name, Meet, Talk, Stand) for name in ("Ann", "Bob")]


def both(asked):
    if "say" in asked.request.schema["properties"]:
        return {"say": "well", "is_over": False}
    return {"activity": "t:talk", "args": {"who": "Cid"}, "why": "he is there"}


def test_two_want_to_talk_with_the_same_one_in_the_same_tick(place):
    here = place(both)
    people(here)
    talks, seen = Talks.of(here.runtime), set()
    talks.said.connect(lambda line: seen.add(line.conversation.members[0].name))
    here.tick(300)
    assert here.faults == []
    assert seen == {"Ann", "Bob"}  # the one who was refused asks again, and has his turn
    here.runtime.close()
    assert talks.open == {}
