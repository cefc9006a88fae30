"""The body of the bot, with somebody else behind its requests: no process, no server, virtual time."""

from __future__ import annotations

import pytest

import agentrt as art
from agentrt_examples.minecraft.bot import Bot
from agentrt_examples.minecraft.bridge import BridgeEnded, Refused
from agentrt_examples.miner.faults import CannotAct
from agentrt_examples.miner.gatherer import Gatherer

SPAWNED = {"event": "spawned", "place": [0, 5, 0], "health": 20, "food": 18, "items": {"oak_log": 2, "oak_planks": 5}}


class Behind:
    """Answers requests by what a test says, and remembers them with their ticks."""

    def __init__(self, runtime, **answers):
        self.runtime = runtime
        self.answers = answers
        self.asked = []

    async def request(self, do, /, **fields):
        self.asked.append((self.runtime.tick, do, *fields.values()))
        answer = self.answers[do]
        if isinstance(answer, list):
            answer = answer.pop(0)
        if callable(answer):
            answer = answer(**fields)
        if isinstance(answer, Exception):
            raise answer
        return answer


@pytest.fixture
def play():
    """Run a coroutine function with a bot: ``play(scenario, walk={...})`` gives what it returned and what was asked."""

    def run(scenario, **answers):
        runtime = art.Runtime(host="plain")
        bot = Bot(runtime)
        behind = Behind(runtime, **answers)
        bot.join(behind)
        bot.take(SPAWNED)
        results = []

        async def whole():
            try:
                results.append(await scenario(bot))
            except Exception as error:
                results.append(error)

        runtime.spawn(whole)
        for _ in range(400):
            if results:
                break
            runtime.step()
        runtime.close()
        (result,) = results
        return result, behind.asked

    return run


def blocks(**found):
    """An answer to ``find_blocks`` that has these, and nothing of whatever else is asked for."""
    return lambda kinds, within: {"blocks": {kind: found.get(kind, []) for kind in kinds}, "unknown": []}


@pytest.mark.states(
    "003: A real server: The higher-level interface is added to a bot of somebody else: the strategies know an "
    "interface, not the bot",
    source="1. Goals",
)
def test_it_is_a_gatherer_as_the_miner_is():
    bot = Bot(art.Runtime(host="plain"))
    assert bot[Gatherer] is bot
    assert isinstance(bot, Gatherer)


def test_its_state_is_what_was_told_under_our_names():
    bot = Bot(art.Runtime(host="plain"))
    bot.take(SPAWNED)
    assert (bot.place, bot.health, bot.food, bot.stock) == ((0, 5, 0), 20, 18, {"oak_log": 2, "planks": 5})
    bot.take({"event": "health", "health": 12.5, "food": 17})
    bot.take({"event": "moved", "place": [1, 5, 0]})
    bot.take({"event": "inventory", "items": {"stone_pickaxe": 2, "iron_ore": 1}})
    bot.take({"event": "collected", "kind": "iron_ore"})  # nobody minds
    assert (bot.place, bot.health, bot.food) == ((1, 5, 0), 12.5, 17)
    assert (bot.stock, bot.uses) == ({"stone_pickaxe": 2, "raw_iron": 1}, {"stone_pickaxe": 180})
    bot.stock.clear()
    assert bot.stock != {}


def test_what_happens_to_it_is_signaled():
    bot = Bot(art.Runtime(host="plain"))
    bot.take(SPAWNED)
    seen = []
    for name in ("hurt", "inventory", "moved", "died", "destroyed"):
        bot.signal(name).connect(lambda value, name=name: seen.append((name, value)))
    bot.take({"event": "hurt", "by": 3, "health": 17})
    bot.take({"event": "moved", "place": [2, 5, 2]})
    bot.take({"event": "inventory", "items": {"oak_log": 2, "coal": 1}})
    bot.take({"event": "died"})
    bot.take({"event": "ended", "reason": "it ended with code 1"})
    assert seen == [
        ("hurt", 3),
        ("moved", (2, 5, 2)),
        ("inventory", "planks"),
        ("inventory", "coal"),
        ("died", None),
        ("destroyed", bot),
    ]


def test_what_it_saw_is_known_nearest_first_until_it_is_dug_or_shunned(play):
    near, far, equal = (1, 5, 1), (4, 5, 0), (0, 5, 4)

    async def scenario(bot):
        seen = []
        bot.signal("seen").connect(seen.append)
        await bot.look_around()
        await bot.look_around()  # no news
        known = [bot.known("grass", 9), bot.known("oak_log", 9), bot.known("oak_log"), bot.known("diamond_ore")]
        bot.shun(near, 1.0)
        known.append(bot.known("oak_log"))
        await art.sleep(1.0)
        known.append(bot.known("oak_log"))
        await bot.mine(near)
        return seen, known, bot.known("oak_log", 9)

    (seen, known, left), _ = play(
        scenario, find_blocks=blocks(oak_log=[near, far, equal], grass_block=[[0, 4, 0]]), dig={}
    )
    assert seen == ["oak_log", "grass"]
    assert known == [[(0, 4, 0)], [near, equal, far], [near], [], [equal], [near]]
    assert left == [equal, far]


def test_looking_asks_for_landmarks_from_afar_and_for_the_rest_from_near(play):
    _, asked = play(lambda bot: bot.look_around(), find_blocks=blocks())
    (_, _, landmarks, far), (_, _, common, near) = asked
    assert (far, near) == (32, 8)
    assert {"oak_log", "coal_ore", "nether_portal"} <= set(landmarks)
    assert {"stone", "grass_block", "oak_planks"} <= set(common)
    assert set(landmarks).isdisjoint(common)
    assert not {"air", "bedrock", "water"} & {*landmarks, *common}


@pytest.mark.parametrize(
    ("code", "reason"),
    [("no_path", "way"), ("out_of_reach", "reach"), ("nothing_there", "missing"), ("timeout", "blocked")],
)
def test_what_an_act_meets_says_why_in_a_word(play, code, reason):
    async def scenario(bot):
        await bot.go_to((7, 5, 7))

    error, asked = play(scenario, walk=Refused(code, "it is so"))
    assert isinstance(error, CannotAct)
    assert (str(error), error.reason, error.place) == ("cannot walk at 7,5,7: it is so", reason, (7, 5, 7))
    assert asked == [(1, "walk", (7, 5, 7), 0)]


def test_it_approaches_only_what_is_out_of_reach(play):
    async def scenario(bot):
        await bot.approach((0, 8, 2))
        await bot.approach((9, 6, 0))
        return bot.reaches((0, 8, 2)), bot.reaches((0, 9, 3))

    assert play(scenario, walk={}) == ((True, False), [(1, "walk", (9, 6, 0), 3)])


def test_whether_it_has_looked_where_it_stands(play):
    async def scenario(bot):
        said = [bot.has_looked]
        await bot.look_around()
        said.append(bot.has_looked)
        bot.take({"event": "moved", "place": [1, 5, 0]})
        said.append(bot.has_looked)
        await bot.look_around()
        await bot.mine((1, 4, 0))  # and who knows what lies below
        said.append(bot.has_looked)
        return said

    assert play(scenario, dig={}, find_blocks=blocks())[0] == [False, True, False, False]


def test_it_looks_around_by_itself_after_a_longer_way(play):
    async def scenario(bot):
        await bot.look_around()
        for place in ((7, 5, 0), (8, 5, 0), (15, 5, 0), (16, 5, 0)):
            bot.take({"event": "moved", "place": place})
            await bot.go_to(place)

    _, asked = play(scenario, walk={}, find_blocks=blocks())
    assert [do for _, do, *_ in asked] == [
        "find_blocks", "find_blocks", "walk", "walk", "find_blocks", "find_blocks", "walk", "walk", "find_blocks",
        "find_blocks",
    ]  # fmt: skip


@pytest.mark.states(
    "003: A real server: A motion that another one replaced, as while a strategy was paused, is begun again when it "
    "is its turn",
    source="(ours)",
)
def test_a_motion_that_was_replaced_is_begun_again(play):
    async def scenario(bot):
        await bot.go_to((7, 5, 7))

    result, asked = play(scenario, walk=[Refused("replaced", ""), Refused("replaced", ""), {}])
    assert result is None
    assert asked == [(tick, "walk", (7, 5, 7), 0) for tick in (1, 2, 3)]


def test_a_fight_over_the_legs_has_an_end(play):
    async def scenario(bot):
        await bot.mine((1, 4, 0))

    error, asked = play(scenario, dig=Refused("replaced", "the motion was replaced"))
    assert (error.act, error.reason, len(asked)) == ("dig", "blocked", 8)


def test_drops_are_picked_up_nearest_first_and_waited_for(play):
    async def scenario(bot):
        async def collect(tick, items):
            await art.sleep_ticks(tick)
            bot.take({"event": "inventory", "items": items})

        runtime = bot_runtime(bot)
        runtime.spawn(collect, 5, {"coal": 1})
        runtime.spawn(collect, 12, {"coal": 2})
        await bot.pick_up()
        return bot.stock

    lying = [{"kind": "coal", "count": 1, "place": place} for place in ([6, 5, 0], [2, 5, 0])]
    result, asked = play(scenario, drops=[{"drops": lying}, {"drops": lying[:1]}, {"drops": []}], walk={})
    assert result == {"coal": 2}
    assert [each[1:3] for each in asked] == [
        ("drops", 8),
        ("walk", (2, 5, 0)),
        ("drops", 8),
        ("walk", (6, 5, 0)),
        ("drops", 8),
    ]


def bot_runtime(bot):
    return bot._bridge.runtime


def test_what_cannot_be_picked_up_is_left_after_two_rounds(play):
    lying = {
        "drops": [{"kind": "coal", "count": 1, "place": [2, 5, 0]}, {"kind": "coal", "count": 1, "place": [3, 9, 0]}]
    }
    twice = [{}, Refused("no_path", "no way")] * 2

    async def scenario(bot):
        await bot.pick_up()
        return bot_runtime(bot).tick

    result, asked = play(scenario, drops=lying, walk=twice)
    assert [each[:3] for each in asked if each[1] == "walk"] == [
        (1, "walk", (2, 5, 0)),
        (22, "walk", (3, 9, 0)),  # after a second at the first
        (32, "walk", (2, 5, 0)),  # once they have come to rest
        (53, "walk", (3, 9, 0)),
    ]
    assert result == 54


def test_what_rolls_about_for_ever_is_left_as_well(play):
    at = iter(range(1000))

    async def scenario(bot):
        await bot.pick_up()

    _, asked = play(
        scenario,
        drops=lambda within: {"drops": [{"kind": "coal", "count": 1, "place": [next(at), 5, 0]}]},
        walk=Refused("no_path", "no way"),
    )
    assert [do for _, do, *_ in asked].count("walk") == 32


def test_a_bridge_that_is_gone_is_no_obstacle_of_the_game(play):
    async def scenario(bot):
        await bot.go_to((1, 5, 1))

    error, _ = play(scenario, walk=BridgeEnded("the bridge process cannot be used"))
    assert isinstance(error, BridgeEnded)
