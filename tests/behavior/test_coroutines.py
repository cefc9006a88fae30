"""Coroutine behaviors on all hosts: one literal log, orderly ends, and awaiting what the host offers."""

from __future__ import annotations

import asyncio

import pytest
import trio

from agentrt import Agent, CancelScope, sleep_ticks
from agentrt.behavior import SEQUENTIAL, Behavior, BehaviorTree, behavior, decider, group, reference
from agentrt.body.flags import MOVE


class Being:
    name = "ann"

    def __init__(self, world):
        self.world = world


class World:
    """One agent with one tree; a log of (tick, words); ``wants`` can change by tick."""

    def __init__(self, play, root, wants=(), ticks_per_second=20, every=1, **options):
        self.play = play
        self.log = []
        self.wants = set(wants)
        self.plan = {}
        self.entity = Being(self)
        self.tree = BehaviorTree(root, **options)
        self.memory = self.tree.memory()
        self.agent = Agent(self.entity)
        self.attachment = self.agent.attach(self.memory, every=every)
        self.runtime = play.runtime(ticks_per_second=ticks_per_second)
        self.runtime.every_tick(self._change)
        self.runtime.add(self.agent)

    def _change(self):
        for change in self.plan.get(self.runtime.tick, ()):
            change()

    def write(self, words):
        self.log.append((self.runtime.tick, words))

    def at(self, tick, change):
        self.plan.setdefault(tick, []).append(change)

    def want(self, tick, name):
        self.at(tick, lambda: self.wants.add(name))

    def ticks(self, ticks):
        self.play.ticks(self.runtime, ticks)
        return self.log


def wants(name):
    return lambda memory: name in memory.agent.world.wants


def world(at):
    return at.agent.world


class Walks(Behavior):
    """Walks for ever, writes its beginning, each second tick, and its end."""

    name = "WALK"

    async def run(self, at):
        write = world(at).write
        write("begins")
        try:
            while True:
                await sleep_ticks(2)
                write("walks")
        finally:
            write("ends")


class Notes(Behavior):
    def activate(self, at):
        world(at).write(f"{self.name} activate")

    def tick(self, at):
        world(at).write(f"{self.name} tick")

    def deactivate(self, at):
        world(at).write(f"{self.name} deactivate")


def notes(name, **options):
    options.setdefault("decide", wants(name))
    return decider(name, Notes(name), **options)


@pytest.mark.states(
    "002: Ours: A behavior may be one coroutine; it is cancelled when it is interrupted, and its clean-up ends before "
    "the successor begins (ours)",
    source="S08",
)
def test_the_same_log_on_all_hosts(play):
    here = World(play, group("ROOT")[notes("FLEE"), decider("WALK", Walks)])
    here.want(5, "FLEE")
    assert here.ticks(6) == [
        (1, "begins"),
        (3, "walks"),
        (5, "ends"),
        (5, "FLEE activate"),
        (5, "FLEE tick"),
        (6, "FLEE tick"),
        (7, "FLEE deactivate"),
    ]


def test_a_runtime_that_is_closed_ends_it(play):
    here = World(play, group("ROOT")[decider("WALK", Walks)])
    log = here.ticks(2)
    assert [words for _, words in log] == ["begins", "ends"]
    assert here.memory.active_path == ()


def test_when_run_returns_the_behavior_has_ended(play):
    async def once(at):
        world(at).write("once")
        await sleep_ticks(1)

    here = World(play, group("ROOT")[decider("ONCE", once, decide=wants("ONCE")), notes("REST", decide=None)], ["ONCE"])
    here.at(2, lambda: here.wants.clear())
    assert here.ticks(3)[:4] == [(1, "once"), (3, "REST activate"), (3, "REST tick"), (4, "REST deactivate")]


@pytest.mark.states("002: Ours: A behavior may be one coroutine; it is cancelled when it is interrupted, and its ...")
def test_clean_up_ends_before_deactivate_and_before_the_successor(play):
    class Slow(Behavior):
        def activate(self, at):
            world(at).write("activate")

        async def run(self, at):
            try:
                await sleep_ticks(100)
            finally:
                with CancelScope(shield=True):
                    await sleep_ticks(2)
                world(at).write("cleaned up")

        def deactivate(self, at):
            world(at).write("deactivate")

    here = World(play, group("ROOT")[notes("FLEE"), decider("SLOW", Slow)])
    here.want(3, "FLEE")
    log = here.ticks(7)
    assert log[:5] == [
        (1, "activate"),
        (5, "cleaned up"),
        (5, "deactivate"),
        (6, "FLEE activate"),  # the choice of tick 3 was stale
        (6, "FLEE tick"),
    ]


@pytest.mark.states("002: Ours: activate, tick and deactivate may be coroutines (ours)", source="S08")
def test_activate_may_be_a_coroutine_for_which_children_wait(play):
    class Opens(Notes):
        async def activate(self, at):
            world(at).write("opening")
            await sleep_ticks(2)
            world(at).write("open")

    here = World(play, group("ROOT")[group("SHOP", behavior=Opens("SHOP"))[notes("SELL", decide=None)]])
    log = here.ticks(4)
    assert log == [
        (1, "opening"),
        (3, "open"),
        (4, "SHOP tick"),
        (4, "SELL activate"),
        (4, "SELL tick"),
        (5, "SELL deactivate"),
        (5, "SHOP deactivate"),
    ]


def test_an_activate_that_answers_false_fails_in_the_next_tick_without_deactivate(play):
    class Fails(Notes):
        async def activate(self, at):
            world(at).write("tries")
            return False

    here = World(
        play, group("ROOT")[decider("TRY", Fails("TRY"), decide=wants("TRY")), notes("REST", decide=None)], ["TRY"]
    )
    log = here.ticks(2)
    assert log == [(1, "tries"), (2, "REST activate"), (2, "REST tick"), (3, "REST deactivate")]


def test_an_activate_that_comes_to_its_end_although_it_is_interrupted_has_a_deactivate(play):
    class Opens(Notes):
        async def activate(self, at):
            with CancelScope(shield=True):
                await sleep_ticks(2)
            world(at).write("open")

    here = World(play, group("ROOT")[notes("FLEE"), decider("OPEN", Opens("OPEN"))])
    here.want(2, "FLEE")
    assert here.ticks(4)[:3] == [(3, "open"), (3, "OPEN deactivate"), (4, "FLEE activate")]


def test_an_activate_that_is_interrupted_has_no_deactivate(play):
    class Opens(Notes):
        async def activate(self, at):
            try:
                await sleep_ticks(100)
            finally:
                world(at).write("given up")

    here = World(play, group("ROOT")[notes("FLEE"), decider("OPEN", Opens("OPEN"))])
    here.want(3, "FLEE")
    assert here.ticks(3)[:3] == [(3, "given up"), (3, "FLEE activate"), (3, "FLEE tick")]


@pytest.mark.states("002: Ours: activate, tick and deactivate may be coroutines (ours) ...")
def test_ticks_may_be_coroutines_one_at_a_time(play):
    class Ponders(Notes):
        async def tick(self, at):
            world(at).write("ponders")
            await sleep_ticks(2)
            return "STOP" not in world(at).wants

    here = World(
        play,
        group("ROOT")[
            decider("PONDER", Ponders("P"), decide=lambda memory: "STOP" not in memory.agent.world.wants),
            notes("REST", decide=None),
        ],
    )
    here.want(4, "STOP")
    assert here.ticks(7)[:6] == [
        (1, "P activate"),
        (1, "ponders"),
        (4, "ponders"),
        (7, "P deactivate"),
        (7, "REST activate"),
        (7, "REST tick"),
    ]


@pytest.mark.states("002: Ours: activate, tick and deactivate may be coroutines (ours) ...")
def test_deactivate_may_be_a_coroutine(play):
    class Closes(Notes):
        async def deactivate(self, at):
            world(at).write("closing")
            await sleep_ticks(0)
            world(at).write("closed")

    here = World(
        play, group("ROOT")[notes("FLEE"), group("SHOP", behavior=Closes("SHOP"))[decider("SELL", Closes("SELL"))]]
    )
    here.want(2, "FLEE")
    log = here.ticks(2)
    assert [one for one in log if one[0] == 2] == [
        (2, "closing"),
        (2, "closed"),
        (2, "closing"),
        (2, "closed"),
        (2, "FLEE activate"),
        (2, "FLEE tick"),
    ]


def test_leaf_first_when_a_group_and_its_child_are_coroutines(play):
    here = World(
        play,
        group("ROOT")[
            notes("FLEE"),
            group("G", behavior=_ends("group"))[decider("A", _ends("child"))],
        ],
    )
    here.want(3, "FLEE")
    assert here.ticks(3)[:3] == [(3, "child ends"), (3, "group ends"), (3, "FLEE activate")]


def _ends(name):
    async def run(at):
        try:
            await sleep_ticks(100)
        finally:
            world(at).write(f"{name} ends")

    return behavior(name, run=run)


@pytest.mark.parametrize("hook", ["activate", "tick", "run"])
def test_a_coroutine_that_raises_disables_its_decider(play, hook, logged):
    async def raises(at):
        await sleep_ticks(1)
        raise ValueError(hook)

    here = World(play, group("ROOT")[decider("BAD", behavior("BAD", **{hook: raises})), notes("REST", decide=None)])
    assert here.ticks(3)[:2] == [(3, "REST activate"), (3, "REST tick")]
    assert here.memory.disabled == ("tree/ROOT/BAD",)
    assert len(logged()) == 1


def test_detaching_waits_for_the_clean_up(play):
    here = World(play, group("ROOT")[decider("WALK", Walks)])
    here.at(3, here.attachment.detach)
    log = here.ticks(5)
    assert log[-1] == (4, "ends")  # it takes effect at the next intake
    assert here.memory.strands() == []


def test_it_holds_its_flags_until_it_has_cleaned_up(play):
    async def walk(at):
        try:
            await sleep_ticks(100)
        finally:
            with CancelScope(shield=True):
                await sleep_ticks(2)

    here = World(play, group("ROOT")[decider("WALK", walk, flags={MOVE})])
    seen = []
    here.at(3, here.attachment.detach)
    for tick in range(2, 8):
        here.at(tick, lambda: seen.append(sorted(here.agent.flags.holds())))
    here.ticks(8)
    assert seen == [["MOVE"], ["MOVE"], ["MOVE"], ["MOVE"], ["MOVE"], []]


def test_a_jump_below_a_group_whose_activate_is_a_coroutine(play):
    class Opens(Notes):
        async def activate(self, at):
            world(at).write("opening")
            await sleep_ticks(1)

    here = World(
        play,
        group("ROOT")[
            reference("R", "LAST"),
            group("SHOP", behavior=Opens("SHOP"))[notes("FIRST", decide=None), notes("LAST", decide=None)],
        ],
    )
    assert here.ticks(3)[:4] == [(1, "opening"), (3, "SHOP tick"), (3, "LAST activate"), (3, "LAST tick")]


@pytest.mark.states("002: Ours: They may await what the host offers (ours)", source="S08")
def test_it_awaits_what_the_host_offers(play_loop):
    async def asks(at):
        await play_loop.sleep(0.1)
        world(at).write("answered")
        await play_loop.sleep(1000)

    here = World(play_loop, group("ROOT")[notes("FLEE"), decider("ASK", asks)], ticks_per_second=10)
    cancelled = []

    async def main():
        await here.runtime.run(4)
        await here.runtime.aclose()

    play_loop(main)
    assert [words for _, words in here.log] == ["answered"]
    assert cancelled == []


def test_cancelled_while_it_waits_for_the_host(play_loop):
    async def asks(at):
        try:
            await play_loop.sleep(1000)
        except (asyncio.CancelledError, trio.Cancelled):
            world(at).write("cancelled")
            raise

    here = World(play_loop, group("ROOT")[notes("FLEE"), decider("ASK", asks)])
    here.want(3, "FLEE")
    assert [one for one in here.ticks(4) if "deactivate" not in one[1]][:2] == [(3, "cancelled"), (3, "FLEE activate")]


def test_without_a_kernel_a_coroutine_is_a_fault():
    reports = []
    from agentrt.body.driver import LoneBody

    async def run(at):
        await sleep_ticks(1)

    tree = BehaviorTree(group("ROOT")[decider("RUN", run), decider("REST", lambda at: True)])
    memory = tree.memory(body=LoneBody(report=lambda *report: reports.append(report)))
    memory.tick(0.1)
    assert memory.active_path == ("ROOT", "REST")
    assert [(path, hook, error.code) for path, hook, error in reports] == [("tree/ROOT/RUN", "run", "ART105")]


class Lingers(Notes):
    """Its clean-up takes two ticks."""

    async def run(self, at):
        try:
            await sleep_ticks(100)
        finally:
            with CancelScope(shield=True):
                await sleep_ticks(2)
            world(at).write(f"{self.name} cleaned up")

    def tick(self, at):
        return self.name not in world(at).wants


def test_a_sequence_goes_on_after_a_clean_up_that_took_time(play):
    root = group("ROOT")[
        group("ALL", SEQUENTIAL)[decider("A", Lingers("A")), notes("B", decide=None), notes("C", decide=None)]
    ]
    here = World(play, root)
    here.want(2, "A")
    assert here.ticks(6)[:5] == [
        (1, "A activate"),
        (4, "A cleaned up"),
        (4, "A deactivate"),
        (5, "B activate"),
        (5, "B tick"),
    ]


def test_a_stale_choice_is_dropped_even_if_the_tree_ticks_seldom(play):
    here = World(play, group("ROOT")[notes("FLEE"), decider("A", Lingers("A"))], every=10)
    here.want(11, "FLEE")
    log = [words for _, words in here.ticks(34)]
    assert log[:4] == ["A activate", "A cleaned up", "A deactivate", "FLEE activate"]
    ticks = [tick for tick, words in here.log[:4]]
    assert ticks[3] == ticks[0] + 20


def test_leaving_while_something_cleans_up_ends_the_rest_after_it(play):
    root = group("ROOT")[group("G", behavior=Notes("G"))[notes("FLEE"), decider("A", Lingers("A"))]]
    here = World(play, root)
    here.want(2, "FLEE")
    here.at(2, here.attachment.detach)  # in force at the next intake
    log = [one for one in here.ticks(6) if "tick" not in one[1]]
    assert log == [
        (1, "G activate"),
        (1, "A activate"),
        (4, "A cleaned up"),
        (4, "A deactivate"),
        (4, "G deactivate"),
    ]


class Opens(Notes):
    async def activate(self, at):
        await sleep_ticks(3)
        world(at).write("open")


def test_another_jump_below_a_group_that_is_not_open_yet_takes_the_place_of_the_first(play):
    root = group("ROOT")[
        reference("R2", "FIRST", decide=wants("R2")),
        reference("R1", "LAST", decide=wants("R1")),
        group("SHOP", behavior=Opens("SHOP"))[
            notes("MIDDLE"), notes("FIRST", flags={MOVE}), notes("LAST", flags={"LOOK"})
        ],
    ]
    here = World(play, root, ["R1"])
    seen = []
    here.at(2, here.wants.clear)
    here.want(2, "R2")
    for tick in (2, 3):
        here.at(tick, lambda: seen.append(sorted(here.agent.flags.holds())))
    assert [one for one in here.ticks(5) if "SHOP" not in one[1]][:3] == [
        (4, "open"),
        (5, "FIRST activate"),
        (5, "FIRST tick"),
    ]
    assert seen == [["LOOK"], ["MOVE"]]


def test_who_was_to_be_activated_below_gives_its_flags_back(play):
    root = group("ROOT")[
        notes("FLEE"),
        reference("R", "LAST"),
        group("SHOP", behavior=Opens("SHOP"))[notes("LAST", flags={"LOOK"}, decide=None)],
    ]
    here = World(play, root)
    seen = []
    here.want(3, "FLEE")
    for tick in (3, 4):
        here.at(tick, lambda: seen.append(sorted(here.agent.flags.holds())))
    here.ticks(4)
    assert seen == [["LOOK"], []]
