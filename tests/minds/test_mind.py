"""The queue of a mind: its order, its ticks, its cache, what becomes of failures, and who is outpaced."""

from __future__ import annotations

import pytest
from walkers import Flee, Ponder, Walk, note

from agentrt import TOP, Action, Agent, Entity, Event, Runtime
from agentrt.errors import DefinitionError, ThoughtFailedError
from agentrt.minds import Budget, Mind, Model, ModelRequest, Scripted
from agentrt.record import Recording

REQUEST = ModelRequest("rules", "what now?", {"type": "object"}, 50)


def asks(worth=0.0, request=REQUEST, **more):
    """An action that asks its mind once, and notes what came."""

    class Asks(Action):
        does = TOP
        utility = 0.9

        async def run(self, ctx, args):
            mind = ctx.agent.runtime.mind
            own = request._replace(prompt=f"{request.prompt} {ctx.entity.name}") if more.get("own") else request
            try:
                value = await mind.ask(ctx.agent, own, worth=worth, path=ctx.path, purpose=more.get("purpose", ""))
            except ThoughtFailedError as error:
                note(ctx, f"has none: {error.reason}")
            else:
                note(ctx, f"has {value}")
            await ctx.sleep(1000)

    return Asks


# --- ticks and order --------------------------------------------------------------------------------------------------


def test_asked_served_answered(place):
    here = place(lambda asked: {"n": asked.tick}, latency=0.5)
    here.person("Ann", asks())
    here.tick(20)
    assert here.thoughts == [(1, "Ann", "asked"), (2, "Ann", "called"), (12, "Ann", "answered")]
    assert here.did == [(12, "Ann", "has {'n': 2}")]


def test_the_most_useful_first_then_in_the_order_of_the_agents(place):
    here = place(lambda asked: {}, at_once=1, latency=0.1)
    for name, worth in (("Ann", 0.2), ("Bob", 0.9), ("Cyd", 0.2), ("Dan", 0.5)):
        here.person(name, asks(worth, own=True))
    here.tick(20)
    called = [who for _, who, what in here.thoughts if what == "called"]
    assert called == ["Bob", "Dan", "Ann", "Cyd"]
    assert here.mind.snapshot().running == 0


def test_no_more_at_once_than_allowed(place):
    here = place(lambda asked: {}, at_once=3, latency=1.0)
    for name in "ABCDEFGH":
        here.person(name, asks(own=True))
    most = 0
    for _ in range(120):
        here.tick()
        most = max(most, here.mind.snapshot().running)
    assert most == 3
    assert len([one for one in here.did if "has" in one[2]]) == 8


def test_explain_says_the_place_in_the_queue_and_since_when(place):
    here = place(at_once=1, latency=10.0)
    people = [here.person(name, Ponder) for name in ("Ann", "Bob", "Cyd")]
    here.tick(25)
    assert "(asked 1.2 s ago, scripted was asked)" in people[0].explain()
    assert "(asked 1.2 s ago, 1st in the queue)" in people[1].explain()
    assert "(asked 1.2 s ago, 2nd in the queue)" in people[2].explain()


def test_a_recording_says_no_place_in_the_queue_since_others_change_it(place, tmp_path):
    here = place(at_once=1, latency=10.0)
    for name in ("Ann", "Bob", "Cyd"):
        here.person(name, Ponder)
    with here.runtime.record(tmp_path / "queue.sqlite"):
        here.tick(25)
    with Recording.open(tmp_path / "queue.sqlite") as recording:
        assert "(asked 1.2 s ago, scripted was asked)" in recording.explain("Ann", 25)
        assert "(asked 1.2 s ago, in the queue)" in recording.explain("Cyd", 25)


# --- the cache --------------------------------------------------------------------------------------------------------


def test_a_hit_comes_a_tick_later_and_costs_nothing(place):
    here = place(lambda asked: {"n": asked.tick}, latency=0.5)
    here.person("Ann", asks())
    here.tick(12)
    here.person("Bob", asks())
    here.tick(5)
    assert here.became("Bob") == [(13, "asked"), (14, "answered")]
    assert here.did[-1] == (14, "Bob", "has {'n': 2}")
    view = here.mind.snapshot()
    assert (view.calls, view.hits, view.by_agent["Bob"]["tokens"] if "Bob" in view.by_agent else 0) == (1, 1, 0)


def test_the_cache_is_bounded_and_forgets_what_was_used_longest_ago(place):
    here = place(lambda asked: {}, cache=2, latency=0.05)
    for name in ("Ann", "Bob", "Cyd"):
        here.person(name, asks(own=True))
        here.tick(4)
    keys = list(here.mind._cache)
    assert len(keys) == 2
    assert REQUEST._replace(prompt="what now? Ann").key not in keys


def test_equal_requests_have_equal_keys_and_others_have_others():
    keys = {
        REQUEST.key,
        REQUEST._replace(prompt="").key,
        REQUEST._replace(system="").key,
        REQUEST._replace(max_tokens=51).key,
        REQUEST._replace(model="other").key,
        REQUEST._replace(schema={"type": "array"}).key,
    }
    assert len(keys) == 6
    assert ModelRequest("a", "b", {"x": 1, "y": 2}, 3).key == ModelRequest("a", "b", {"y": 2, "x": 1}, 3).key
    assert REQUEST.key == "a09f3509d3bab32156f615d580a0c781"  # the same on every machine


# --- failures ---------------------------------------------------------------------------------------------------------


def broken(*ticks):
    def answer(asked):
        if asked.tick < ticks[0]:
            raise OSError("no line")
        return {"n": asked.tick}

    return answer


def test_it_is_asked_again_after_a_time_that_doubles(place):
    here = place(broken(60), latency=0.05, retries=5, backoff=(0.5, 60.0))
    here.person("Ann", asks())
    here.tick(120)
    called = [tick for tick, what in here.became("Ann") if what == "called"]
    assert called == [2, 13, 34, 75]
    assert here.did == [(76, "Ann", "has {'n': 75}")]


def test_after_some_times_it_has_none_and_says_why(place):
    here = place(broken(10**9), latency=0.05, retries=2, backoff=(0.1, 60.0))
    here.person("Ann", asks())
    here.tick(40)
    assert [what for _, what in here.became("Ann")] == [
        "asked",
        "called",
        "again",
        "called",
        "again",
        "called",
        "failed",
    ]
    assert here.did == [(11, "Ann", "has none: scripted: OSError: no line")]
    assert here.faults == []


def test_after_three_failures_in_a_row_it_rests_and_tries_with_one(place):
    here = place(broken(40), latency=0.05, retries=9, backoff=(2.0, 60.0), at_once=8)
    for name in "ABCDE":
        here.person(name, asks(own=True))
    here.tick(3)
    assert here.mind.snapshot().rests_until == 43  # five failed: two of them after it was to rest already
    here.tick(41)
    called = [(tick, who) for tick, who, what in here.thoughts if what == "called"]
    assert called == [(2, name) for name in "ABCDE"] + [(43, "A")]
    here.tick(60)
    assert sorted(what for _, _, what in here.did) == sorted(f"has {{'n': {n}}}" for n in (43, 45, 45, 45, 45))


def test_a_bad_answer_is_asked_for_once_more_with_the_error(place):
    prompts = []

    def answer(asked):
        prompts.append(asked.request.prompt)
        return {"activity": "t:fly", "args": {}, "why": ""} if len(prompts) == 1 else walk

    walk = {"activity": "t:walk", "args": {"where": "mill"}, "why": "work"}
    here = place(answer, latency=0.05)
    here.person("Ann", Ponder)
    here.tick(30)
    assert [what for _, what in here.became("Ann")][:5] == ["asked", "called", "again", "called", "answered"]
    assert "activity is 't:fly', and not one of t:walk" in prompts[1]
    assert (5, "Ann", "walks to the mill") in here.did


def test_a_second_bad_answer_is_not_ready_with_the_reason(place):
    here = place(lambda asked: {"activity": "t:walk", "args": {"where": "sea"}, "why": ""}, latency=0.05)
    ann = here.person("Ann", Ponder)
    here.tick(30)
    assert "its answer cannot be taken: args of t:walk/where is none of what was offered" in ann.explain()
    assert {what for _, _, what in here.did} == {"idles"}
    assert here.faults == []


def test_what_cannot_be_taken_is_not_kept(place):
    answers = iter([{"activity": "x"}, {"activity": "x"}])
    good = {"activity": "t:walk", "args": {"where": "mill"}, "why": ""}
    here = place(lambda asked: next(answers, good), latency=0.05)
    here.person("Ann", type("Ponders", (Ponder,), {"again": 1.0}))
    here.tick(40)
    assert "walks to the mill" in {what for _, _, what in here.did}


# --- budgets ----------------------------------------------------------------------------------------------------------


def test_a_budget_that_is_used_up_is_no_error(place):
    here = place(budget=Budget(tokens=2_000))
    ann = here.person("Ann", type("Ponders", (Ponder,), {"prompt": "{n}", "sees": lambda s, c, a: {"n": c.clock.tick}}))
    here.tick(400)
    view = here.mind.snapshot()
    assert 0 < view.tokens <= 2_000
    assert "no tokens left: it may use up to" in ann.explain()
    assert here.faults == []
    assert here.did[-1][2] == "idles"


def test_it_goes_on_when_there_are_tokens_again(place):
    here = place(lambda asked: {}, budget=Budget(calls=1, per=2.0), latency=0.05)
    for name in ("Ann", "Bob"):
        here.person(name, asks(own=True))
    here.tick(20)
    assert here.mind.words(next(iter(here.mind._waiting))) == "no calls left, more from tick 43 on"
    here.tick(60)
    assert here.did == [(3, "Ann", "has {}"), (44, "Bob", "has {}")]


def test_an_agent_s_own_budget_keeps_nobody_else(place):
    here = place(lambda asked: {}, each=Budget(calls=1), latency=0.05)

    class Twice(Action):
        does = TOP
        utility = 0.9

        async def run(self, ctx, args):
            for number in range(2):
                await ctx.agent.runtime.mind.ask(ctx.agent, REQUEST._replace(prompt=f"{ctx.entity.name}{number}"))
                note(ctx, f"has {number}")

    here.person("Ann", Twice)
    here.person("Bob", asks(own=True))
    here.tick(40)
    assert [one[1:] for one in here.did] == [("Ann", "has 0"), ("Bob", "has {}")]
    waits = here.mind.snapshot().thoughts[0]
    assert (waits.agent, waits.state, waits.words) == ("Ann", "queued", "no calls of its own left")


def test_what_can_never_fit_says_so_at_once(place):
    here = place(lambda asked: {}, budget=Budget(tokens=300))
    here.person("Ann", asks())
    here.tick(5)
    assert here.did == [(2, "Ann", "has none: it may use up to 338 tokens, and its whole budget is 300")]


def test_a_purpose_has_a_budget_of_its_own(place):
    here = place(lambda asked: {}, purposes={"plan": Budget(calls=0), "talk": Budget(calls=1)}, latency=0.05)
    here.person("Ann", asks(purpose="plan"))
    here.person("Bob", asks(purpose="talk"))
    here.person("Cyd", asks(purpose="tlak"))
    here.tick(10)
    assert here.did[:2] == [(2, "Ann", "has none: its budget allows no call"), (3, "Bob", "has {}")]
    assert "no budget is for 'tlak'. Did you mean 'talk'?" in str(here.faults[0].error)


# --- who is outpaced --------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("outpaced", ["cancel", "finish"])
def test_a_better_one_takes_over_and_the_call_is_cancelled_or_finished(place, outpaced):
    here = place(latency=1.0)
    ponders = type("Ponders", (Ponder,), {"outpaced": outpaced})
    ann = here.person("Ann", ponders, Flee)
    here.tick(8)
    ann.entity.signal("wolf").emit()
    here.tick(40)
    assert (9, "Ann", "flees") in here.did
    if outpaced == "cancel":
        assert here.became("Ann")[:3] == [(1, "asked"), (2, "called"), (9, "outpaced")]
        reserved = here.mind.recent[0].usage
        assert reserved == here.mind.recent[0].request.bound()  # what its server made of it nobody knows
    else:
        assert here.became("Ann")[:4] == [(1, "asked"), (2, "called"), (9, "outpaced"), (22, "answered")]
        assert here.mind.recent[0].state == "outpaced"
        assert here.mind.snapshot().hits >= 1  # the next one had it from the cache
    assert here.faults == []


def test_who_waits_in_the_queue_leaves_it(place):
    here = place(at_once=1, latency=5.0)
    here.person("Ann", Ponder)
    bob = here.person("Bob", Ponder, Flee)
    here.tick(8)
    assert here.mind.snapshot().waiting == 1
    bob.entity.signal("wolf").emit()
    here.tick(1)
    assert here.mind.snapshot().waiting == 0
    assert here.became("Bob") == [(1, "asked"), (9, "outpaced")]


def test_an_agent_that_is_removed_takes_its_thought_along(place):
    here = place(latency=5.0)
    ann = here.person("Ann", Ponder)
    here.tick(8)
    here.runtime.remove(ann, "gone")
    here.tick(2)
    view = here.mind.snapshot()
    assert (view.running, view.waiting, view.thoughts[0].state) == (0, 0, "outpaced")
    here.runtime.close()


# --- what is no mind --------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("options", "said"),
    [({"at_once": 0}, "at_once is 0"), ({"cache": -1}, "cache is -1"), ({"retries": True}, "retries is True"),
     ({"delay": -1}, "delay is -1"), ({"delay": "x"}, "delay is 'x'"), ({"budget": 3}, "budget is 3"),
     ({"each": None}, "each is None"), ({"purposes": [1]}, r"purposes is \[1\]"), ({"purposes": {"x": 3}}, "x is 3"),
     ({"backoff": 3}, "backoff is 3"), ({"backoff": (5, 1)}, r"backoff is \(5, 1\)")],
)  # fmt: skip
def test_options_that_do_not_fit(options, said):
    with pytest.raises(DefinitionError, match=said):
        Mind(Runtime(host="plain"), Scripted(dict), **options)


def test_a_runtime_has_one_mind_and_a_mind_has_models():
    runtime = Runtime(host="plain")
    with pytest.raises(DefinitionError, match="it has no model"):
        Mind(runtime)
    with pytest.raises(DefinitionError, match="two models are called 'scripted'"):
        Mind(runtime, Scripted(dict), Scripted(list))
    assert runtime.mind is None
    Mind(runtime, Scripted(dict))
    with pytest.raises(DefinitionError, match="the runtime has one"):
        Mind(runtime, Scripted(dict))
    with pytest.raises(DefinitionError, match="'world' is no runtime"):
        Mind("world", Scripted(dict))


@pytest.mark.parametrize(
    ("options", "said"),
    [({"name": ""}, "name is ''"), ({"key": "sk-verysecret"}, "key is no name of an environment variable"),
     ({"key": None}, "key is no name"), ({"price": (-1, 2)}, r"price is \(-1, 2\)"), ({"price": 3}, "price is 3"),
     ({"base_url": "localhost:80"}, "base_url is no address"), ({"base_url": 3}, "base_url is no address"),
     ({"base_url": "http://me:verysecret@host/v1"}, "base_url is no address of a server, or one with a password"),
     ({"timeout": 0}, "timeout is 0"), ({"output": "xml"}, "output is 'xml'")],
)  # fmt: skip
def test_what_is_no_model(options, said):
    with pytest.raises(DefinitionError, match=said) as caught:
        Model(**{"name": "m", **options})
    assert "verysecret" not in str(caught.value)


@pytest.mark.parametrize("tokens", [-1_000_000, "x", None, 1.5])
def test_a_count_that_is_none_makes_no_room_in_a_budget(tokens):
    with pytest.raises(DefinitionError, match="count gave"):
        Model("m", count=lambda request: tokens).bound(ModelRequest("", "", {}, 10))


@pytest.mark.parametrize(
    ("hooks", "said"),
    [({"options": None}, "options returned None"), ({"options": "t:walk"}, "options returned 't:walk'"),
     ({"sees": None}, "sees returned None")],
)  # fmt: skip
def test_what_an_author_s_hook_returns_is_told(place, hooks, said):
    body = {name: lambda self, ctx, args, value=value: value for name, value in hooks.items()}
    here = place()
    here.person("Ann", type("Slip", (Ponder,), body))
    here.tick(3)
    assert said in str(here.faults[0].error)
    here.runtime.close()


def test_a_name_on_a_menu_is_an_option(place):
    here = place()
    here.person("Ann", type("Short", (Ponder,), {"options": lambda self, ctx, args: ["t:walk"]}))
    here.tick(20)
    assert ("Ann", "answered") in [(who, became) for _, who, became in here.thoughts]
    assert here.faults == []
    here.runtime.close()


def test_who_asks_without_a_mind_is_told_once():
    runtime = Runtime(host="plain")
    faults = []
    runtime.on_fault(faults.append)
    runtime.add(Agent(Entity("person"), actions=[Walk, Ponder]))
    for _ in range(20):
        runtime.step()
    assert len(faults) == 1
    assert "the runtime has no mind. Make one: Mind(runtime, Model(" in str(faults[0].error)


def test_a_model_that_is_not_there(place):
    here = place(lambda asked: {})
    here.person("Ann", asks(request=REQUEST._replace(model="scriptd")))
    here.tick(3)
    assert "it has no model 'scriptd'. Did you mean 'scripted'? It has: scripted." in str(here.faults[0].error)


def test_an_event_of_the_game_is_no_thought(place):
    """A mind that nobody asks has nothing in the trace and does nothing."""
    here = place()
    here.person("Ann")
    bell = Event()
    bell.set()
    here.tick(20)
    assert here.thoughts == []
    assert here.mind.snapshot().calls == 0
