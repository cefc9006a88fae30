"""Patrols: once, several times, round and round; interrupted, and with places out of reach."""

from __future__ import annotations

from agentrt import TOP, Action, CompoundAction, step
from agentrt_actions import FindPathToLocation, FollowPath, GotoLocation, Located, Patrol

CORNERS = ((2, 0), (2, 2))


def patrols(*after, **args):
    class PatrolAtTop(CompoundAction):
        does = TOP
        utility = 0.5
        steps = (step("agentrt:patrol", **args), *after)

    return PatrolAtTop


def test_a_route_is_walked_once_with_pauses(grid):
    agent = grid.agent(patrols(route=CORNERS, pause=0.5), Patrol, place=(1, 0))
    assert grid.steps(agent, 27) == [(0, (1, 0)), (3, (2, 0)), (15, (2, 1)), (17, (2, 2))]
    assert grid.told("complete") == [(27, "agentrt:top", "complete")]


def test_round_and_round_never_ends(grid):
    agent = grid.agent(patrols(route=CORNERS, rounds=0), Patrol, place=(2, 0))
    assert grid.walk(agent, 17) == [(2, 0), (2, 1), (2, 2), (2, 1), (2, 0), (2, 1), (2, 2), (2, 1), (2, 0)]
    assert grid.told("complete") == []


def test_the_rounds_are_counted(grid):
    agent = grid.agent(patrols(route=CORNERS, rounds=2), Patrol, place=(2, 0))
    assert grid.walk(agent, 13) == [(2, 0), (2, 1), (2, 2), (2, 1), (2, 0), (2, 1), (2, 2)]
    assert grid.told("complete") == [(13, "agentrt:top", "complete")]


def test_a_route_of_one_place_lets_time_pass(grid):
    agent = grid.agent(patrols(route=((2, 0),), rounds=0), Patrol, place=(2, 0))
    assert grid.walk(agent, 5) == [(2, 0)]
    assert agent.is_alive


def test_a_later_step_plans_from_the_last_place(grid):
    back = step("agentrt:goto_location", location=(2, 1))
    agent = grid.agent(patrols(back, route=CORNERS), Patrol, GotoLocation, FindPathToLocation, FollowPath, place=(2, 0))
    grid.sim.tick()
    ready = [
        record for record in grid.sim.trace if record.event == "ready" and record.path.endswith("FindPathToLocation")
    ]
    assert [dict(record.detail)["utility"] for record in ready] == [0.975]  # one step of ten, of 400
    assert grid.walk(agent, 6)[-1] == (2, 1)


def test_an_interrupted_patrol_goes_on_where_it_was(grid):
    class Bell(Action):
        does = TOP
        utility = 0.9

        async def think(self, ctx, args):
            if ctx.clock.tick < 6:
                await ctx.sleep_ticks(6)
                ctx.set_think_output()

        async def run(self, ctx, args):
            await ctx.sleep_ticks(4)

    agent = grid.agent(patrols(route=((2, 0), (2, 4)), rounds=2), Patrol, Bell, place=(1, 0))
    # Interrupted on the way down, it goes on downwards, and not back to the first place.
    assert grid.walk(agent, 17) == [(1, 0), (2, 0), (2, 1), (2, 2), (2, 3), (2, 4), (2, 3)]


def test_places_out_of_reach_are_left_out(grid):
    grid.rooms.closed.append((4, 2))
    agent = grid.agent(patrols(route=((2, 0), (8, 0), (2, 2)), rounds=0), Patrol, place=(2, 1))
    assert grid.walk(agent, 11) == [(2, 1), (2, 0), (2, 1), (2, 2), (2, 1), (2, 0)]
    assert grid.aborts() == []


def test_a_route_out_of_reach_is_not_ready_until_a_way_opens(grid):
    grid.rooms.closed.append((4, 2))
    agent = grid.agent(patrols(route=((8, 0), (8, 2))), Patrol, place=(3, 2))
    assert grid.walk(agent, 5) == [(3, 2)]
    grid.rooms.closed.remove((4, 2))
    grid.rooms.changed.emit()
    assert grid.walk(agent, 5) == [(3, 2), (4, 2), (5, 2)]
    grid.rooms.closed = [(column, row) for column in (3, 6) for row in range(5)]
    grid.sim.tick(6)
    assert grid.aborts() == ["no path leads to (8, 0) any more"]
    assert agent.entity[Located].location == (5, 0)
