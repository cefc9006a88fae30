"""Requests that wait for each other: seen, named, and broken by failing the youngest; and nothing else is taken for it."""

import itertools

import pytest
from wants import Build, Know, Reach

from agentrt import Action, fail_after, move_on_after
from agentrt.errors import ActivityAbortedError, DependencyFailedError, RequestDeadlockError
from agentrt.strategy import Dependency, Interruptible, Interruption
from agentrt.strategy.solve import Incident


class Ends:
    """Strategies that await what a test puts here, by the name of what they are run for."""

    def __init__(self, game, way, **options):
        self.awaited, self.heard = {}, []
        self.strategy = way("Join", Know, run=self._run(game), **options)

    def _run(self, game):
        async def run(strategy, ctx, wanted):
            await ctx.sleep_ticks(1)
            request = self.awaited.get(wanted.what)
            if request is not None:
                try:
                    await (request() if callable(request) else request)
                except DependencyFailedError as error:
                    self.heard.append((wanted.what, type(error).__name__))
                    game.note(wanted.what, "heard")
            return wanted.what

        return run


def ask_each_other(game, way, count, **options):
    """A ring of requests, each of another agent, each of which awaits the next."""
    ends = Ends(game, way, **options)
    agents = [game.add(ends.strategy, name=f"agent{number}") for number in range(count)]
    requests = [agent.gameplay.begin(Know(f"k{number}")) for number, agent in enumerate(agents)]
    for number in range(count):
        ends.awaited[f"k{number}"] = requests[(number + 1) % count]
    return ends, agents, requests


@pytest.mark.states(
    "003: Hard Dependencies: Requests that wait for each other are seen, and the youngest fails (ours)",
    source="Task Failure",
)
@pytest.mark.parametrize("count", [1, 2, 3, 7])
def test_a_ring_is_broken_by_failing_the_youngest(game, way, count):
    ends, agents, requests = ask_each_other(game, way, count)
    game.tick(3)
    assert [one.outcome.value for one in requests] == ["done"] * (count - 1) + ["failed"]
    error = requests[-1].error
    assert isinstance(error, RequestDeadlockError)
    assert error.code == "ART321"
    ring = [*requests[-1:], *requests]
    words = [f"{one.tree.label} of 'agent{requests.index(one)}'" for one in ring]
    told = words[0] + " awaits " + ", which awaits ".join(words[1:])
    assert f"{requests[-1].tree.label} could not be solved: a deadlock: {told}. Have what" in str(error)
    assert "a deadlock: " in agents[-1].explain()
    if count > 1:
        assert ends.heard == [(f"k{count - 2}", "RequestDeadlockError")]


def test_it_is_broken_in_the_tick_in_which_it_closes(game, way):
    _, _, requests = ask_each_other(game, way, 2)
    game.tick(2)
    assert requests[1].is_done
    assert requests[1].tree.ended == 2


def test_two_of_one_agent(game, way):
    ends = Ends(game, way)
    agent = game.add(ends.strategy)
    one, two = (agent.gameplay.begin(Know(name)) for name in "ab")
    ends.awaited.update(a=two, b=one)
    game.tick(3)
    assert (one.value, type(two.error)) == ("a", RequestDeadlockError)
    assert "Know [b] of 'a' awaits Know [a] of 'a', which awaits Know [b] of 'a'" in str(two.error)


def test_whoever_began_to_wait_first_the_youngest_fails(game, way):
    for order in itertools.permutations(range(3)):
        waits = {}

        async def run(self, ctx, wanted, waits=waits, order=order):
            mine = int(wanted.what)
            await ctx.sleep_ticks(1 + order.index(mine))
            try:
                await waits[(mine + 1) % 3]
            except DependencyFailedError:
                return wanted.what

        agent = game.add(way("Join", Know, run=run), name=f"a{order}")
        for number in range(3):
            waits[number] = agent.gameplay.begin(Know(str(number)))
        game.tick(6)
        assert [one.outcome.value for one in waits.values()] == ["done", "done", "failed"]


def test_what_is_awaited_within_a_plain_action_and_a_performance_counts(game, way):
    requests = {}

    class Join(Action):
        does = "game:join"
        utility = 0.5

        async def run(self, ctx, args):
            await requests["b"]

    async def execute(self, ctx, wanted):
        await ctx.execute("game:join") if wanted.what == "x" else await ctx.agent.perform("game:join")

    async def back(self, ctx, wanted):
        await requests["a"]

    for what in "xp":
        agent = game.add(way("A", Know, run=execute), way("B", Reach, run=back), actions=[Join], name=what)
        requests["a"] = agent.gameplay.begin(Know(what))
        requests["b"] = agent.gameplay.begin(Reach("b"))
        game.tick(4)
        assert requests["a"].is_done
        assert requests["b"].is_done
        errors = [type(one.error) for one in requests.values()]
        assert errors in ([DependencyFailedError, RequestDeadlockError], [DependencyFailedError, DependencyFailedError])
        game.faults()


def test_flags_that_one_holds_while_it_awaits_who_needs_them(game, way):
    async def hold(self, ctx, wanted):
        try:
            await ctx.agent.gameplay.reach("hill")
        except RequestDeadlockError as error:
            game.note("Hold", str(error).partition(". ")[0])
            raise

    agent = game.add(way("Hold", Know, run=hold, flags=("MOVE",)), way("Walk", Reach, flags=("MOVE",)))
    wish = game.solve(agent, Know("x"))
    assert wish.until == 1
    assert game.log == [
        (
            1,
            "Hold",
            "[ART321] Reach [hill] could not be solved: a deadlock: Reach [hill] of 'a' waits for the control flag MOVE "
            "of Know [x] of 'a', which awaits Reach [hill] of 'a'",
        )
    ]


def test_a_plan_that_holds_what_it_awaits(game, way):
    class Go(Action):
        does = "agent:top"
        utility = 0.5
        flags = ("MOVE",)

        async def run(self, ctx, args):
            try:
                await ctx.agent.gameplay.reach("hill")
            except RequestDeadlockError:
                game.note("Go", "heard")
            await ctx.sleep(100)

    from agentrt import TOP

    Go = type("Go", (Action,), {"does": TOP, "utility": 0.5, "flags": ("MOVE",), "run": Go.run})
    game.add(way("Walk", Reach, flags=("MOVE",)), actions=[Go])
    game.tick(3)
    assert game.log == [(1, "Go", "heard")]


@pytest.mark.states("003: Hard Dependencies: Requests that wait for each other are seen, and the youngest fails ...")
def test_across_flags_of_two_agents(game, way):
    """Each holds its body, and has the other do what needs the body that the other holds."""
    agents = {}

    async def hold(self, ctx, wanted):
        await ctx.sleep_ticks(1)
        try:
            await agents[wanted.what].gameplay.reach("hill")
        except RequestDeadlockError:
            game.note(ctx.agent.name, "heard")

    for name in "ab":
        agents[name] = game.add(
            way("Hold", Know, run=hold, flags=("MOVE",)), way("Walk", Reach, flags=("MOVE",), quiet=True), name=name
        )
    one, two = agents["a"].gameplay.begin(Know("b")), agents["b"].gameplay.begin(Know("a"))
    game.tick(5)
    assert one.is_done
    assert two.is_done
    assert (one.error, two.error) == (None, None)
    assert game.log == [(2, "b", "heard")]


# --- no false alarm -----------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("scope", [move_on_after, fail_after])
def test_a_wait_with_a_deadline_ends_by_itself(game, way, scope):
    requests = {}

    async def run(self, ctx, wanted):
        await ctx.sleep_ticks(1)
        if wanted.what == "a":
            try:
                with scope(1.0):
                    await requests["b"]
            except TimeoutError:
                pass
            game.note("a", "goes on")
        else:
            await requests["a"]

    agent = game.add(way("Join", Know, run=run))
    requests.update({name: agent.gameplay.begin(Know(name)) for name in "ab"})
    game.tick(19)
    assert not any(one.is_done for one in requests.values())
    game.tick(5)
    assert [one.error for one in requests.values()] == [None, None]
    assert game.log == [(22, "a", "goes on")]


def test_a_deadline_further_up_counts(game, way):
    requests = {}

    async def above(self, ctx, wanted):
        with move_on_after(1.0):
            await ctx.solve(Know("a"))

    async def run(self, ctx, wanted):
        await ctx.sleep_ticks(1)
        await requests["b" if wanted.what == "a" else "a"]

    agent = game.add(way("Above", Build, run=above), way("Join", Know, run=run))
    requests["a"] = agent.gameplay.begin(Build())
    requests["b"] = agent.gameplay.begin(Know("b"))
    game.tick(25)
    assert [one.error for one in requests.values()] == [None, None]


def test_a_chain_that_ends_is_none(game, way):
    ends = Ends(game, way)
    agent = game.add(ends.strategy)
    requests = [agent.gameplay.begin(Know(str(number))) for number in range(20)]
    for number in range(19):
        ends.awaited[str(number)] = requests[number + 1]
    game.tick(4)
    assert [one.error for one in requests] == [None] * 20


def test_many_who_wait_for_one_are_none(game, way):
    ends = Ends(game, way)
    agent = game.add(ends.strategy, way("Slow", Reach, ticks=9))
    slow = agent.gameplay.begin(Reach("hill"))
    requests = [agent.gameplay.begin(Know(str(number))) for number in range(20)]
    ends.awaited.update({str(number): slow for number in range(20)})
    game.tick(5)
    assert "awaits Reach [hill] of 'a'" in agent.explain()
    game.tick(7)
    assert [one.error for one in requests] == [None] * 20


def test_one_that_deals_with_something_meanwhile_is_none_until_that_is_over(game, way):
    requests = {}

    async def run(self, ctx, wanted):
        await ctx.sleep_ticks(1 if wanted.what == "a" else 6)
        try:
            await requests["b" if wanted.what == "a" else "a"]
        except DependencyFailedError:
            pass

    agent = game.add(way("Join", Know, run=run, interruption=Interruptible.PAUSE), way("Flee", Reach, ticks=10))
    requests.update({name: agent.gameplay.begin(Know(name)) for name in "ab"})
    game.tick(3)
    requests["a"].solving.interruptions.add(Incident(Interruption("attack"), Reach("home")))
    game.tick(8)
    assert not any(one.is_done for one in requests.values())
    game.tick(5)
    assert [one.outcome.value for one in requests.values()] == ["done", "failed"]


def test_one_that_is_told_to_pause_is_none_until_it_goes_on(game, way):
    _, _, requests = ask_each_other(game, way, 2, interruption=Interruptible.PAUSE)
    requests[0].pause()
    game.tick(5)
    assert not any(one.is_done for one in requests)
    requests[0].resume()
    game.tick(3)
    assert [one.outcome.value for one in requests] == ["done", "failed"]


def test_cancelled_in_time_nobody_fails(game, way):
    requests = {}

    async def run(self, ctx, wanted):
        if wanted.what == "b":
            requests["a"].cancel("no")
        try:
            await requests["b" if wanted.what == "a" else "a"]
        except ActivityAbortedError:
            return "alone"

    agent = game.add(way("Join", Know, run=run))
    requests.update({name: agent.gameplay.begin(Know(name)) for name in "ab"})
    game.tick(4)
    assert requests["a"].outcome.value == "cancelled"
    assert requests["b"].value == "alone"


# --- many ---------------------------------------------------------------------------------------------------------------


class Nth(Dependency[None], activity="want:nth"):
    number: int


@pytest.mark.states(
    "003: Hard Dependencies: Many that want the same control flag cost each the same (ours)",
    source="Task Failure",
)
@pytest.mark.parametrize("is_nested", [False, True])
@pytest.mark.untraced
def test_many_that_want_the_same_flag_cost_each_the_same(stage, ways, is_nested):
    """The calls of the first tick, in which all wait: twice as many requests make twice as many of them, nearly."""
    import sys

    counts = []
    for many in (40, 80, 160):
        game = stage()
        agent = game.add(ways(game, "Make", Nth, flags=("MOVE",), quiet=True))

        async def ask(self, ctx, wanted):
            await ctx.agent.gameplay.nth(int(wanted.what))

        agent.gameplay.add_strategy(ways(game, "Ask", Know, run=ask))
        for number in range(many):
            agent.gameplay.begin(Know(str(number)) if is_nested else Nth(number))
        calls = [0]

        def count(frame, event, arg, calls=calls):
            calls[0] += event == "call"

        sys.setprofile(count)
        try:
            game.tick()
        finally:
            sys.setprofile(None)
        counts.append(calls[0])
        game.close()
    assert counts[1] < 3 * counts[0]
    assert counts[2] < 3 * counts[1]  # each is still told of each that begins; it was eight times as many


def test_all_of_them_are_served_in_turn(game, way):
    agent = game.add(way("Make", Nth, flags=("MOVE",), quiet=True))
    requests = [agent.gameplay.begin(Nth(number)) for number in range(80)]
    game.tick(82)
    assert [one.tree.ended for one in requests] == list(range(2, 82))
