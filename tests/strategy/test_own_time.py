"""What a strategy takes is its own time; corrections converge to that."""

import pytest
from wants import Build, Have, Know, Reach

from agentrt import Action
from agentrt.strategy import Interruptible, Interruption
from agentrt.strategy.ask import Record
from agentrt.strategy.solve import Incident, OwnTime

PAUSE = Interruptible.PAUSE


def took(agent):
    """By strategy, what it took on the average, in ticks."""
    rate = agent.kernel.clock.ticks_per_second
    return {one.strategy: round(one.actual * rate, 6) for one in agent.gameplay.accuracy()}


class Nap(Action):
    does = "game:nap"
    utility = 0.5

    async def run(self, ctx, args):
        await ctx.sleep_ticks(30)


# --- corrections --------------------------------------------------------------------------------------------------------


@pytest.mark.states("003: Heuristic Based Task Selection, 2: One who is always far off can be corrected by what it ...")
@pytest.mark.parametrize(
    ("said", "real"), [(5.0, 20.0), (20.0, 5.0), (1.0, 50.0), (100.0, 1.0), (7.0, 7.0), (0.0, 20.0), (0.05, 0.1)]
)
@pytest.mark.parametrize("is_constant", [True, False])
@pytest.mark.untraced
def test_what_is_expected_converges_to_what_happens(game, way, said, real, is_constant):
    ticks = round(real * game.kernel.clock.ticks_per_second)
    agent = game.add(way("A", Know, cost=said if is_constant else lambda ask, wanted: said, ticks=ticks, quiet=True))
    agent.gameplay.corrects = True
    expected = []
    for number in range(30):
        expected.append(agent.gameplay.cost(Know("x")))
        game.solve(agent, Know(str(number)), ticks=ticks + 3)
    assert expected[0] == said
    assert agent.gameplay.cost(Know("x")) == pytest.approx(real, rel=0.04)
    distances = [abs(one - real) for one in expected]
    assert distances == sorted(distances, reverse=True)


@pytest.mark.untraced
def test_it_converges_with_needs_below(game, way):
    """Each is corrected by what it itself took, and what is corrected below is not corrected above once more."""

    def whole(ask, wanted):
        return 2.0 + ask.cost(Know("x"))

    agent = game.add(
        way("Top", Build, cost=whole, needs=[Know("x")], ticks=40, quiet=True), way("A", Know, cost=5.0, ticks=400)
    )
    agent.gameplay.corrects = True
    for _ in range(40):
        game.solve(agent, Build(), ticks=460)
    game.take_log()
    assert agent.gameplay.cost(Know("x")) == pytest.approx(20.0, rel=0.04)
    assert agent.gameplay.cost(Build()) == pytest.approx(22.0, rel=0.06)


def test_it_follows_when_the_world_changes():
    record = Record()
    for real in (20.0, 2.0):
        for _ in range(60):
            record.add(5.0, real)
        assert record.corrected(5.0) == pytest.approx(real, rel=0.1)


def test_where_looking_ahead_ends_constants_are_corrected_too(game, way):
    agent = game.add(way("A", Know, cost=5.0, ticks=400, quiet=True))
    for number in range(20):
        game.solve(agent, Know(str(number)), ticks=410)
    agent.gameplay.lookahead = 0
    assert agent.gameplay.cost(Know("x")) == 5.0
    agent.gameplay.corrects = True
    assert agent.gameplay.cost(Know("x")) == pytest.approx(20.0, rel=0.04)
    agent.gameplay.corrects = False
    assert agent.gameplay.cost(Know("x")) == 5.0


# --- what counts --------------------------------------------------------------------------------------------------------


@pytest.mark.states(
    "003: Hard Dependencies: What a strategy took is its own time: without waits for flags, for what comes up, and "
    "for what others do (decided)",
    source="Planning Ahead Using Probability",
)
def test_waiting_for_flags_is_nobodys_time(game, way):
    agent = game.add(
        way("Walk", Reach, ticks=50, flags=("MOVE",)),
        way("A", Know, ticks=4, flags=("MOVE",)),
        way("Top", Build, ticks=3, needs=[Know("x")], patience=0.5),
    )
    game.wish(agent.gameplay.reach("hill"))
    game.tick(1)
    wish = game.wish(agent.gameplay.build())
    game.tick(80)
    assert (wish.is_over, wish.error) == (True, None)
    assert took(agent) == {"walk": 50.0, "a": 4.0, "top": 7.0}


@pytest.mark.states("003: Hard Dependencies: What a strategy took is its own time: without waits for flags, for ...")
def test_what_others_do_is_not_its_own_time(game, way):
    async def run(self, ctx, wanted):
        await ctx.sleep_ticks(2)
        if wanted.what == "execute":
            await ctx.execute("game:nap")
        elif wanted.what == "perform":
            await ctx.agent.perform("game:nap")
        elif wanted.what == "using":
            await ctx.agent.gameplay.using(hurry=True).reach("hill")
        elif wanted.what == "solve":
            await ctx.agent.gameplay.reach("hill")
        else:
            request = ctx.agent.gameplay.begin(Reach("hill"))
            await (request if wanted.what == "begin" else request.wait())
        await ctx.sleep_ticks(2)

    for what in ("execute", "perform", "using", "solve", "begin", "wait"):
        agent = game.add(way("A", Know, run=run, patience=0.4), way("Walk", Reach, ticks=30), actions=[Nap], name=what)
        assert game.solve(agent, Know(what)).error is None
        assert took(agent)["a"] == 4.0


def test_what_it_has_solved_is_its_time_and_not_its_patience(game, way):
    agent = game.add(way("Top", Build, ticks=3, needs=[Know("x")], patience=0.5), way("A", Know, ticks=40))
    assert game.solve(agent, Build()).error is None
    assert took(agent) == {"a": 40.0, "top": 43.0}


def test_what_came_up_and_pauses_are_nobodys_time(game, way):
    agent = game.add(
        way("Top", Build, ticks=3, needs=[Know("x")], patience=0.5, interruption=PAUSE),
        way("A", Know, ticks=40, interruption=PAUSE),
        way("Flee", Reach, ticks=100),
    )
    request = agent.gameplay.begin(Build())
    game.tick(4)
    request.pause()
    game.tick(20)
    agent.gameplay.running[0].interruptions.add(Incident(Interruption("attack"), Reach("home")))
    game.tick(30)
    request.resume()
    game.tick(150)
    assert request.is_done
    assert took(agent)["a"] <= 40.0
    assert took(agent)["top"] == took(agent)["a"] + 3.0


def test_reasons_that_overlap_count_once(game):
    kernel, over = game.kernel, []
    outer = OwnTime(kernel, None, lambda: over.append("outer"))
    inner = OwnTime(kernel, outer, lambda: over.append("inner"))
    outer.begin(8)
    outer.lend()
    inner.begin(5)
    game.tick(2)
    inner.stop()
    game.tick(3)
    inner.stop()
    outer.stop()
    game.tick(4)
    inner.go()
    game.tick(5)
    inner.go()
    assert (inner.taken(), outer.taken(), inner.left_out, outer.left_out) == (2, 2, 12, 12)
    game.tick(1)
    outer.go()
    game.tick(1)
    assert (inner.taken(), outer.taken(), over) == (4, 3, [])
    game.tick(1)
    assert over == ["inner"]
    outer.take_back()
    game.tick(7)
    assert over == ["inner"]
    game.tick(1)
    assert over == ["inner", "outer"]


def test_it_still_hangs_by_itself(game, way):
    agent = game.add(way("A", Know, ticks=5000, patience=1.0), way("B", Know, cost=2.0))
    game.solve(agent, Know("x"))
    assert game.tree(agent)[1] == "   A - failed: it ran for more than 1 s by itself; it seems to hang"


def test_what_was_met_without_it_is_no_record(game, way):
    agent = game.add(way("Carve", Have, ticks=4, flags=("MOVE",)))
    for _ in range(2):
        game.wish(agent.gameplay.have("plank"))
    game.tick(12)
    assert [one.count for one in agent.gameplay.accuracy()] == [1]
