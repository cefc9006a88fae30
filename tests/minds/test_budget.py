"""Budgets: what is reserved and used never passes them, whatever is asked, answered and cancelled, and when."""

from __future__ import annotations

import json

import pytest
from hypothesis import given
from hypothesis import strategies as st
from walkers import Idle

from agentrt import TOP, Action, Agent, Entity, Runtime
from agentrt.errors import DefinitionError, EpochError
from agentrt.minds import Budget, Mind, Scripted
from agentrt.minds.accounts import Account
from agentrt.minds.asked import ModelRequest


def anything(asked):
    return {}


QUESTION = ModelRequest(system="", prompt="?", schema={"type": "object"}, max_tokens=10)


CLOCK = Runtime(host="plain").clock


def account(**budget):
    return Account(Budget(**budget), CLOCK)


def test_what_is_reserved_is_gone_until_it_is_settled():
    books = account(tokens=100)
    first = books.reserve(60)
    assert (books.room_at(40, 1), books.room_at(41, 1)) == (0, -1)
    books.settle(first, 10, 5)
    assert (books.room_at(90, 6), books.room_at(91, 6), books.left(6)) == (0, -1, (90, None))


def test_in_any_hour_and_not_only_in_those_that_begin_at_a_full_one():
    books = account(tokens=100, per=1.0)  # 20 ticks
    books.settle(books.reserve(60), 60, 10)
    books.settle(books.reserve(40), 40, 15)
    assert books.room_at(1, 29) == 30
    assert (books.room_at(60, 30), books.room_at(61, 30)) == (0, 35)
    assert books.left(35) == (100, None)


def test_calls_are_counted_too():
    books = account(calls=2)
    books.settle(books.reserve(5), 5, 1)
    assert books.room_at(5, 1) == 0
    books.reserve(5)
    assert books.room_at(0, 1) == -1
    assert (books.could_ever(10**9), account(calls=0).could_ever(1), account(tokens=5).could_ever(6)) == (
        True,
        False,
        False,
    )


@pytest.mark.parametrize(
    ("budget", "said"),
    [({"tokens": -1}, "tokens is -1"), ({"calls": True}, "calls is True"), ({"per": 0}, "per is 0"),
     ({"tokens": 1.5}, "tokens is 1.5")],
)  # fmt: skip
def test_what_is_no_budget(budget, said):
    with pytest.raises(DefinitionError, match=said):
        Budget(**budget)


STEPS = st.lists(
    st.tuples(st.integers(0, 12), st.integers(0, 60), st.integers(0, 60), st.integers(0, 40), st.booleans()),
    max_size=60,
)


@given(STEPS, st.integers(0, 150), st.integers(0, 6), st.sampled_from([None, 0.5, 2.0]))
def test_no_stretch_of_time_has_more_than_its_budget(steps, tokens, calls, per):
    """Random calls of random bounds, each of which uses what it may or less, and ends when it likes."""
    books = account(tokens=tokens, calls=calls, per=per)
    window = None if per is None else int(per * 20)
    tick, used, running = 0, [], []  # used: (begin, end, tokens)
    for wait, bound, use, lasts, cancels in steps:
        tick += wait
        for one in [one for one in running if one[1] <= tick]:
            running.remove(one)
            begun, end, spending, amount = one
            books.settle(spending, amount, end if end > begun else tick)
            used.append((begun, max(end, begun), amount))
        when = books.room_at(bound, tick)
        if when == 0:
            amount = bound if cancels else min(use, bound)
            running.append((tick, tick + lasts, books.reserve(bound), amount))
        else:
            assert when == -1 or when > tick
            assert not books.could_ever(bound) or running or used
        running.sort(key=lambda one: one[1])
    done = [*used, *((begun, end, amount) for begun, end, _, amount in running)]
    for start in {begun for begun, _, _ in done}:
        until = 10**9 if window is None else start + window
        # whatever lies in the window, begun and used in it
        inside = [amount for begun, end, amount in done if start <= begun and end < until]
        assert sum(inside) <= tokens
        assert len(inside) <= calls


# --- epochs -----------------------------------------------------------------------------------------------------------


def reopened(books, tick, **budget):
    """The books of the next world, by way of JSON."""
    again = account(**budget)
    again.restore(json.loads(json.dumps(books.save(tick))))
    return again


def test_what_is_used_stays_used_and_what_is_reserved_is_used():
    books = account(tokens=100, calls=9)
    books.settle(books.reserve(60), 10, 5)
    books.reserve(30)
    again = reopened(books, 8, tokens=100, calls=9)
    assert (again.left(8), again.total_tokens, again.total_calls) == ((60, 7), 40, 2)


def test_within_a_stretch_of_time_each_call_counts_until_its_time_is_over():
    books = account(tokens=100, calls=4, per=1.0)  # 20 ticks
    books.settle(books.reserve(60), 60, 10)
    for tokens in (20, 15):
        books.reserve(tokens)  # under way when the world is rebuilt: as if they were cancelled then
    again = reopened(books, 15, tokens=100, calls=4, per=1.0)
    assert [again.left(tick) for tick in (15, 29, 30, 34, 35)] == [(5, 1), (5, 1), (65, 2), (65, 2), (100, 4)]


@pytest.mark.states(
    "tools: Durable runs: What a mind has used of its budgets stays used when its world is rebuilt, and its thoughts are "
    "numbered on",
)
def test_a_mind_goes_on_with_its_budgets_over_an_epoch():
    def load(runtime, saved):
        mind = Mind(runtime, Scripted(anything, 0.5), each=Budget(calls=3), purposes={"plan": Budget(calls=9)}, cache=0)
        for name in saved:
            runtime.add(Agent(Entity("person", name=name), name=name, actions=[Idle, Asks]))
        assert mind.calls == 0  # it takes up the books of the one before when the world is there

    class Asks(Action):
        does = TOP
        utility = 0.5

        async def run(self, ctx, args):
            await ctx.agent.runtime.mind.ask(ctx.agent, QUESTION, purpose="plan")

    runtime = Runtime(seed=3, host="plain")
    load(runtime, ["Ann"])
    runtime.rebuild_every(15, lambda runtime: [agent.name for agent in runtime.agents], load)
    for _ in range(60):
        runtime.step()
    mind = runtime.mind
    assert (mind.calls, mind.accounts["Ann"].left(60), mind.purposes["plan"].left(60)) == (3, (None, 0), (None, 6))
    assert mind.account.total_calls == 3
    saved = runtime.save()
    for broken in (
        {**saved["mind"], "all": [0, -1, []]}, {**saved["mind"], "each": {"Ann": [1, 2]}},
        {**saved["mind"], "counts": 3}, {**saved["mind"], "rests": [True, 0]}, {},
    ):  # fmt: skip
        other = Runtime(seed=3, host="plain")
        other.rebuild_every(0, dict, load)
        with pytest.raises(EpochError):
            other.restore({**saved, "mind": broken})
    runtime.close()
