"""The whole agent in short episodes: it is the same every time, sees what a player sees, and leaves nothing behind."""

from __future__ import annotations

import json
from collections import Counter

import pytest
from modules import load

pytest.importorskip("crafter")

from agentrt.strategy.ask import Outcome
from agentrt.testing import TraceDigest, check_trace
from agentrt.testing.invariants import Leaks
from examples.crafter import legs
from examples.crafter.actions import feeding, striving
from examples.crafter.eyes import Eyes
from examples.crafter.faults import Faults
from examples.crafter.game import Episode
from examples.crafter.strategies import gathering

scenes = load("tests/crafter/scenes.py")
sights = load("tests/crafter/test_eyes.py")

pytestmark = pytest.mark.slow

SEEDS = (4, 8)
OPEN = (Outcome.PLANNED, Outcome.RUNNING, Outcome.PAUSED)
LENGTH = 250  # a day with its night


class Played:
    """An episode that was watched from outside, step by step, to its end and beyond it.

    Attributes:
        digest: of what was done and of the world.
        trace: a digest of the runtime's trace.
        achieved: what it believed to have achieved when the episode was over.
        records: the trace.
        faults: what the runtime told of.
        on_lava: the steps after which the player stood on lava.
        lost: the steps after which it did not know where it was.
        false: what it believed to have achieved, and had not.
        violations: what was left in the books when it was removed, and when the runtime was closed.
        episode: it.
    """

    def __init__(self, seed, eyes=Eyes, length=LENGTH):
        self.records, self.on_lava, self.lost, self.false = [], [], [], set()
        with scenes.worlds_are_remembered(), Episode(seed, length) as self.episode:
            self.faults = Faults(self.episode.runtime)
            leaks = Leaks(self.episode.runtime)
            try:
                self._play(eyes, leaks)
            finally:
                leaks.stop()
        self.violations = [str(one) for one in leaks.violations]
        self.digest = self.episode.digest

    def _play(self, eyes, leaks):
        episode, runtime = self.episode, self.episode.runtime
        episode._eyes = eyes()
        digest = TraceDigest(runtime.trace)
        runtime.trace.listen(self.records.append)
        while not episode.is_over:
            self._advance()
            leaks.look()
        self.trace, self.achieved = digest.hexdigest(), dict(episode.player.diary.achieved)
        runtime.remove(episode.agent, "it is over")
        for _ in range(10):
            runtime.step()
            leaks.look()
        self.left = [*runtime.agents, *episode.agent.gameplay.running]
        runtime.close()
        leaks.closed()

    def _advance(self):
        """One step. The player takes in what came of it at the beginning of the next one."""
        episode, game = self.episode, self.episode._game
        place = tuple(int(number) + start - 32 for number, start in zip(game._player.pos, scenes.START, strict=True))
        episode.advance()
        player = episode.player
        if player.place != place:
            self.lost.append(episode.step)
        if game._world[game._player.pos][0] == "lava":
            self.on_lava.append(episode.step)
        self.false |= set(player.diary.achieved) - set(episode.achieved)

    def counted(self, *events):
        """How often something happened, by the words of the trace."""
        found = Counter(record.event.value for record in self.records)
        return [found[event] for event in events]


@pytest.fixture(scope="module")
def played():
    return {seed: Played(seed) for seed in SEEDS}


# --- it plays ---------------------------------------------------------------------------------------------------------


@pytest.mark.states(
    "003: Crafter: Strategies, needs and reflexes play a game that was not written for them; it takes nothing but the "
    "game's own loop, one tick a step",
    source="1. Goals; design 6",
)
@pytest.mark.parametrize("seed", SEEDS)
def test_it_gets_somewhere_in_a_day(played, seed):
    """Which is why the other tests of this file say something."""
    one = played[seed]
    assert one.episode.step == LENGTH
    assert {"collect_wood", "place_table", "make_wood_pickaxe", "collect_stone", "collect_drink"} <= set(
        one.episode.achieved
    )
    assert one.faults.count == 0, one.faults.first


@pytest.mark.states("003: Crafter: The agent knows what a player sees and nothing else; where it stands and what ...")
@pytest.mark.parametrize("seed", SEEDS)
def test_it_knows_where_it_is_and_what_it_has_done(played, seed):
    assert played[seed].lost == []
    assert played[seed].false == set()


@pytest.mark.parametrize("seed", SEEDS)
def test_it_never_steps_on_lava(played, seed):
    assert played[seed].on_lava == []


def test_there_was_lava_to_step_on(played):
    ground = played[8].episode.player.atlas.ground
    assert (ground == scenes.MATERIALS["lava"]).any()


# --- equal seeds, equal episodes --------------------------------------------------------------------------------------


@pytest.mark.states(
    "003: Crafter: The agent knows what a player sees and nothing else; where it stands and what it has achieved it "
    "works out",
    source="(ours)",
)
@pytest.mark.parametrize("seed", SEEDS[:1])
def test_garbage_outside_its_view_changes_nothing(played, seed):
    """Played again with a world that is false wherever it does not look: the same steps, the same thoughts."""
    again = Played(seed, sights.Blinkered)
    assert again.digest == played[seed].digest
    assert again.trace == played[seed].trace
    assert again.episode.player.diary.achieved == played[seed].episode.player.diary.achieved
    assert (again.episode.player.atlas.ground == played[seed].episode.player.atlas.ground).all()


class Blind(Eyes):
    """Eyes that take trees for grass."""

    def see(self, picture, info):
        sight = super().see(picture, info)
        sight.cells[sight.cells == scenes.MATERIALS["tree"]] = scenes.MATERIALS["grass"]
        return sight


@pytest.mark.states("003: Crafter: The agent knows what a player sees and nothing else; where it stands and what ...")
def test_what_is_in_its_view_does_change_something():
    """So the test above can fail."""
    assert Played(SEEDS[0], Blind, 60).digest != Played(SEEDS[0], Eyes, 60).digest


ALONE = """
import json
from agentrt.testing import TraceDigest
from examples.crafter.game import Episode
with Episode(4, 80) as episode:
    trace = TraceDigest(episode.runtime.trace)
    episode.play()
    print(json.dumps([episode.digest, trace.hexdigest(), episode.player.diary.achieved]))
"""


@pytest.mark.states(
    "003: Crafter: Equal seeds give equal runs in other processes, with other hash seeds, of an agent that plays a "
    "game it does not own",
    source="design 2, 6",
)
def test_it_is_the_same_in_other_processes(root):
    running = scenes.in_two_processes(root, ALONE)
    here = Played(4, Eyes, 80)
    told = [one.communicate(timeout=100) for one in running]
    assert [error for _, error in told] == ["", ""]
    for out, _ in told:
        assert json.loads(out) == [here.digest, here.trace, here.achieved]


# --- nothing is left --------------------------------------------------------------------------------------------------


@pytest.mark.states("003: Crafter: Every strategy that begins ends, and an agent that is removed leaves nothing ...")
@pytest.mark.parametrize("seed", SEEDS)
def test_the_trace_is_sound(played, seed):
    """Whatever thinks, starts or is tried comes to its end, once, in order, the agent's removal in the middle included."""
    assert [str(one) for one in check_trace(played[seed].records, "player")] == []


@pytest.mark.states(
    "003: Crafter: Every strategy that begins ends, and an agent that is removed leaves nothing behind",
    source="design 6",
)
@pytest.mark.parametrize("seed", SEEDS)
def test_every_strategy_that_begins_ends(played, seed):
    """Requests are over, and so is every node of their task trees: done, failed or cancelled."""
    begun, solved = played[seed].counted("try", "solved")
    assert begun > 20
    assert solved > 15
    assert played[seed].left == []
    finished = played[seed].episode.agent.gameplay.finished
    assert finished
    assert [node.label for root in finished for node in walk(root) if node.outcome in OPEN] == []


def walk(node):
    yield node
    for child in node.children:
        yield from walk(child)


@pytest.mark.states("003: Crafter: Every strategy that begins ends, and an agent that is removed leaves nothing ...")
@pytest.mark.parametrize("seed", SEEDS)
def test_nothing_is_left_in_the_books(played, seed):
    """No flag is held, nothing is solved or listened to, no strand, timer or lease is there any more."""
    assert played[seed].violations == []
    assert played[seed].episode.agent.flags.is_free


# --- mistakes ---------------------------------------------------------------------------------------------------------


class Mistakes:
    """Has a coroutine function raise the first few times that it is called."""

    def __init__(self, monkeypatch, owner, name, times=2):
        self.made = 0
        original = getattr(owner, name)

        async def mistaken(*args, **more):
            if self.made < times:
                self.made += 1
                raise ZeroDivisionError("a mistake of its author")
            return await original(*args, **more)

        monkeypatch.setattr(owner, name, mistaken)


@pytest.mark.states(
    "003: Crafter: A mistake in an action, a strategy or what they call costs that attempt and not the agent",
    source="2.2. Plugins, error handling",
)
@pytest.mark.parametrize(
    ("owner", "name"),
    [
        (striving.Strive, "run"),
        (striving.Strive, "think"),
        (gathering.Gather, "run"),
        (feeding.Sip, "run"),
        (legs, "approach"),
    ],
    ids=lambda one: one if isinstance(one, str) else one.__name__,
)
def test_a_mistake_in_one_place_does_not_end_the_episode(monkeypatch, owner, name):
    mistakes = Mistakes(monkeypatch, owner, name)
    one = Played(4, Eyes, 130)
    assert mistakes.made == 2
    assert one.episode.step == 130
    assert one.faults.count >= 1
    assert "a mistake of its author" in one.faults.first
    assert len(one.episode.achieved) >= 5
    assert one.violations == []
    assert [str(violation) for violation in check_trace(one.records, "player")] == []
