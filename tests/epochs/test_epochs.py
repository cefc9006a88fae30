"""A world is rebuilt of its save inside of its runtime, and whoever begins with such a save goes on exactly like it."""

from __future__ import annotations

import json
import math
import os
import subprocess
import sys
from pathlib import Path

import pytest
from modules import load
from players import HOSTS, play_on

from agentrt import TOP, Action, Agent, Entity, Runtime, sleep_ticks
from agentrt.errors import EpochError, RebuildError, WrongStateError
from agentrt.kernel.strand import CancelScope
from agentrt.kernel.trace import TraceDigest
from agentrt.testing import StubOutside

mill = load("tests/epochs/mill.py")


class Heir(Action):
    """Runs for as long as it may, and says when it stops."""

    does = TOP
    utility = 0.5

    async def run(self, ctx, args):
        told = ctx.entity.told
        told.append(f"runs at {ctx.clock.tick}")
        try:
            await ctx.sleep_ticks(1000)
        finally:
            told.append(f"stops at {ctx.clock.tick}")


class Soul:
    name = "Ida"

    def __init__(self, told):
        self.told = told


class Hall:
    """A world of one agent; its save is how often it was rebuilt."""

    def __init__(self, every=3, host="plain", action=Heir, save=None, load=None):
        self.told = []
        self.ticks = []
        self.action = action
        self.runtime = Runtime(1, host=host)
        self.fill(self.runtime, 0)
        self.runtime.rebuild_every(every, save or self.save, load or self.fill)

    def fill(self, runtime, times):
        runtime.game = times
        runtime.add(Agent(Soul(self.told), actions=[self.action]))
        runtime.every_tick(lambda: self.ticks.append((runtime.tick, times)))
        runtime.on_input("call", lambda number: self.told.append(f"called {number} in {times}"))

    def save(self, runtime):
        return runtime.game + 1


def run(runtime, ticks):
    async def main():
        await runtime.run(ticks, speed=math.inf, blocking_ms=None)
        await runtime.aclose()

    play_on(runtime.host, main)


@pytest.mark.parametrize("host", HOSTS)
def test_all_of_a_world_ends_and_is_made_again_after_each_so_many_th_tick(host):
    hall = Hall(host=host)
    seen = []
    hall.runtime.after_tick(lambda: seen.append(hall.runtime.tick))
    run(hall.runtime, 7)
    assert hall.told == [
        "runs at 1", "stops at 4",  # the clean-up takes a tick that is no part of the run
        "runs at 4", "stops at 7",
        "runs at 7", "stops at 8",
    ]  # fmt: skip
    assert hall.ticks == [(1, 0), (2, 0), (3, 0), (4, 1), (5, 1), (6, 1), (7, 2), (8, 2)]
    assert seen[:7] == [1, 2, 3, 4, 5, 6, 7]


def test_nobody_hears_of_the_clean_up():
    hall = Hall()
    records = []
    hall.runtime.trace.listen(lambda record: records.append((record.tick, record.agent, record.event.value)))
    for _ in range(4):
        hall.runtime.step()
    since = records.index((3, "", "epoch"))
    assert [record for record in records[:since] if record[2] in ("stop", "removed")] == []
    assert records[since : since + 2] == [(3, "", "epoch"), (4, "Ida", "added")]
    assert hall.runtime.find("Ida").is_alive
    assert hall.runtime.tick == 4
    hall.runtime.close()


def test_what_is_sent_meanwhile_is_taken_once_and_what_was_posted_is_the_old_world_s():
    hall = Hall()
    for _ in range(2):
        hall.runtime.step()
    posted = []
    hall.runtime.after_tick(lambda: hall.runtime.tick == 3 and hall.runtime.send("call", number=1))
    hall.runtime.after_tick(lambda: hall.runtime.tick == 3 and hall.runtime.post(posted.append, 1))
    hall.runtime.step()
    hall.runtime.send("call", number=2)
    hall.runtime.step()
    assert [words for words in hall.told if "called" in words] == ["called 1 in 1", "called 2 in 1"]
    assert posted == [1]  # the old world took it, while it ended
    hall.runtime.close()


def test_nothing_that_was_reserved_or_given_is_left_but_names():
    hall = Hall()
    runtime = hall.runtime
    late = []
    runtime.kernel.call_later(5, late.append, "a timer of the old world")
    stone = Entity("stone")
    assert runtime.leases.acquire(stone, "somebody") is not None
    numbers = [runtime.stream("wind").bits(), runtime.find("Ida").random.bits()]
    runtime.remove(runtime.add(Agent(Entity("guest", name="Guest"))))
    for _ in range(3):
        runtime.step()
    assert len(runtime.leases) == 0
    assert [runtime.stream("wind").bits(), runtime.find("Ida").random.bits()] != numbers
    assert runtime.add(Agent(Entity("guest", name="Guest"))).name == "Guest 2"
    assert runtime.add(Agent(Entity("heir", name="Ida"))).name == "Ida 2"
    for _ in range(4):
        runtime.step()
    assert late == []
    runtime.close()


def test_an_own_seed_gives_other_numbers_after_an_epoch_too():
    def fill(runtime, times):
        runtime.game = times
        runtime.add(Agent(Entity("heir", name="Ida"), seed=7))

    hall = Hall(load=fill)
    hall.runtime.step()
    hall.runtime.step()
    hall.runtime.step()
    first = hall.runtime.find("Ida").random.bits()
    for _ in range(3):
        hall.runtime.step()
    assert hall.runtime.find("Ida").random.bits() != first
    hall.runtime.close()


@pytest.mark.parametrize("host", HOSTS)
def test_nobody_outside_is_called_by_the_clean_up(host):
    called = []

    async def caller(runtime):
        try:
            await sleep_ticks(1000)
        finally:
            with CancelScope(shield=True):
                await runtime.call(called.append, runtime.tick)

    def fill(runtime, times):
        hall.fill(runtime, times)
        if times < 2:
            runtime.spawn(caller, runtime)

    hall = Hall(host=host, load=fill)
    faults = []
    hall.runtime.on_fault(lambda fault: faults.append(str(fault.error)))
    run(hall.runtime, 9)
    assert called == []
    assert len(faults) == 1
    assert "its world is being rebuilt, and list.append would be asked twice" in faults[0]


def test_a_stub_that_keeps_an_answer_back_forgets_it_with_the_world_that_asked():
    class Asker(Heir):
        async def run(self, ctx, args):
            ctx.entity.told.append(await ctx.call(price))

    def price():
        raise AssertionError

    hall = Hall(action=Asker)
    with StubOutside(hall.runtime) as outside:
        outside.answer(price, 7, after=None)
        for _ in range(3):
            hall.runtime.step()
        assert outside.release() == 0
        hall.runtime.step()
        assert outside.release() == 1
        hall.runtime.step()
    assert hall.told == [7]
    hall.runtime.close()


def test_a_run_that_is_stopped_at_an_epoch_is_not_rebuilt_for_nothing():
    hall = Hall()
    hall.runtime.after_tick(lambda: hall.runtime.tick == 3 and hall.runtime.stop())
    run(hall.runtime, None)
    assert hall.runtime.game == 0


@pytest.mark.parametrize("host", HOSTS)
def test_who_begins_with_a_save_goes_on_exactly_like_the_run_that_wrote_it(host):
    """The very steps of the run, on each host, from any epoch, of a save that went through JSON."""
    saves, whole = {}, mill.make(seed=3, host=host)
    digest = TraceDigest(whole.trace)

    def look():
        saves[whole.tick] = digest.hexdigest()
        if whole.tick == 170:
            digest.close()

    whole.after_tick(look)
    kept = {}

    def between(runtime):
        if runtime.tick and runtime.kernel.rebuilt == runtime.tick:
            kept[runtime.tick] = runtime.epochs.last
        if host == "plain":  # elsewhere a thread answers when it likes: see the replays
            mill.windy(runtime)

    whole.calls.answers = AtOnce(whole)
    mill.drive(whole, 170, between)
    assert list(kept) == [50, 100, 150]
    for tick, save in kept.items():
        again = mill.make(seed=3, host=host)
        again.calls.answers = AtOnce(again)
        goes_on = TraceDigest(again.trace, saves[tick])
        again.after_tick(lambda again=again, goes_on=goes_on: again.tick == 170 and goes_on.close())
        again.restore(json.loads(save))
        assert again.tick == tick
        mill.drive(again, 170, between if host == "plain" else lambda runtime: None)
        assert goes_on.hexdigest() == digest.hexdigest()


class AtOnce:
    """Answers each call in the next intake, on every host alike."""

    def __init__(self, runtime):
        self.runtime = runtime

    def has_answer(self, fn, *args):
        return True

    def asked(self, call):
        self.runtime.kernel.post(call.deliver, call.request(), None)
        return True

    def rebuilt(self):
        pass


@pytest.mark.slow
def test_in_a_process_of_its_own_with_other_hashes():
    runtime, kept, digests = mill.make(seed=3, host="plain"), {}, {}
    digest = TraceDigest(runtime.trace)
    runtime.after_tick(lambda: digests.setdefault(runtime.tick, digest.hexdigest()))

    def between(runtime):
        if runtime.tick and runtime.kernel.rebuilt == runtime.tick:
            kept[runtime.tick] = runtime.epochs.last
        mill.windy(runtime)

    mill.drive(runtime, 130, between)
    program = [sys.executable, str(Path(__file__).with_name("mill.py")), "plain", "130", digests[100]]
    env = {**os.environ, "PYTHONHASHSEED": "77"}
    done = subprocess.run(program, input=kept[100], text=True, capture_output=True, env=env, timeout=300, check=False)
    assert done.stdout == digests[130], done.stderr


def test_a_world_without_epochs_is_as_ever():
    without = mill.make(seed=3, host="plain", every=0)
    assert mill.digest_of(without, 120) == "2c00081798e0d09dae34357f5ae46cba"
    assert without.kernel.rebuilt == 0


# --- what does not fit ------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("saved", "words"),
    [
        ((1,), "save failed: at / there is (1,), a tuple, which JSON cannot say."),
        ({"a": {3: 1}}, "save failed: at /a there is the key 3, which JSON would make a text of."),
        ({"a": [0, {1}]}, "save failed: at /a/1 there is {1}, a set, which JSON cannot say."),
        (
            [10**600],
            "save failed: at /0 there is a whole number of more than 600 digits, which not every Python reads.",
        ),
        (math.nan, "save failed: at / there is nan, a float, which JSON cannot say."),
        (KeyError("stone"), "save failed: KeyError: 'stone'."),
    ],
)
def test_a_save_that_is_none_ends_the_run_with_words(saved, words):
    def save(runtime):
        if isinstance(saved, Exception):
            raise saved
        return saved

    hall = Hall(save=save)
    hall.runtime.step()
    hall.runtime.step()
    with pytest.raises(EpochError) as caught:
        hall.runtime.step()
    assert words in str(caught.value)
    assert str(caught.value).endswith("(at tick 3)")
    with pytest.raises(EpochError):
        hall.runtime.step()  # nor does it go on as if nothing had been
    assert hall.runtime.tick == 3
    hall.runtime.close()


def test_a_load_that_fails_ends_the_run_with_words():
    hall = Hall(load=lambda runtime, saved: saved["heirs"])
    with pytest.raises(EpochError, match=r"load failed: TypeError: .*left over from before\. \(at tick 3\)"):
        hall.runtime.step(1.0)
    with pytest.raises(EpochError, match="load failed"):
        hall.runtime.step()
    hall.runtime.close()


@pytest.mark.parametrize("host", ["asyncio", "trio"])
def test_on_an_event_loop_it_ends_what_drives(host):
    hall = Hall(host=host, load=lambda runtime, saved: saved["heirs"])
    with pytest.raises(EpochError, match="load failed"):
        run(hall.runtime, 5)


def changed(**entries):
    return lambda saved: {**saved, **entries}


@pytest.mark.parametrize(
    ("change", "words"),
    [
        (lambda saved: None, "nothing that runtime.save gave"),
        (lambda saved: {}, "nothing that runtime.save gave"),
        (changed(form=9), "its form is 9, and not 1"),
        (changed(seed=2), "it is of a run with the seed 2, and here it is 1"),
        (changed(tick=-1), "its 'tick' is -1"),
        (changed(tick=True), "its 'tick' is True"),
        (changed(calls="x"), "its 'calls' is 'x'"),
        (changed(names={"hashes": [2, 1]}), "this is nothing that Names.save gave"),
        (lambda saved: {key: value for key, value in saved.items() if key != "game"}, "there is no world in it"),
        (lambda saved: {"x": {1, 2}}, "nothing that runtime.save gave"),
    ],
)
def test_what_is_no_save_is_refused_and_changes_nothing(change, words):
    hall = Hall(every=0)
    with pytest.raises(RebuildError) as caught:
        hall.runtime.restore(change(hall.runtime.save()))
    assert words in str(caught.value)
    run(hall.runtime, 4)
    assert hall.told == ["runs at 1", "stops at 5"]


def test_it_is_said_when_nobody_knows_how():
    runtime = Runtime(1, host="plain")
    with pytest.raises(WrongStateError, match="its world never said how it is saved"):
        runtime.save()
    with pytest.raises(WrongStateError, match="its world never said how"):
        runtime.restore({})
    hall = Hall()
    hall.runtime.every_tick(hall.runtime.save)
    faults = []
    hall.runtime.on_fault(lambda fault: faults.append(str(fault.error)))
    hall.runtime.step()
    assert "a tick runs" in faults[0]
    hall.runtime.close()


@pytest.mark.parametrize("ticks", [-1, True, 2.0, "3", None])
def test_a_number_of_ticks_that_is_none_is_refused(ticks):
    with pytest.raises(ValueError, match="it takes a whole number of ticks, or 0 for never"):
        Runtime(1, host="plain").rebuild_every(ticks, lambda runtime: 1, lambda runtime, saved: None)
    with pytest.raises(ValueError, match="load is a int: it takes a plain function"):
        Runtime(1, host="plain").rebuild_every(3, lambda runtime: 1, 4)


def test_a_world_that_runs_can_be_restored_and_saved_at_any_tick():
    hall = Hall(every=0)
    hall.runtime.step()
    saved = hall.runtime.save()
    for _ in range(4):
        hall.runtime.step()
    hall.runtime.restore(saved)
    assert (hall.runtime.tick, hall.runtime.game) == (1, 1)
    hall.runtime.step()
    assert hall.told == ["runs at 1", "stops at 6", "runs at 2"]
    hall.runtime.close()
