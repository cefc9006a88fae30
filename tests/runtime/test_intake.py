"""What comes in from outside: inputs by name, posts, results of calls; and the journal that hears of them."""

from __future__ import annotations

import threading

import pytest
from hypothesis import given
from hypothesis import strategies as st

from agentrt import TOP, Action, Runtime
from agentrt.errors import InputError, WrongStateError


class Notes:
    """A journal that writes down what it is told, with tick and place."""

    def __init__(self, runtime):
        self.kernel = runtime.kernel
        self.lines = []
        runtime.journal = self

    def _add(self, *words):
        self.lines.append((self.kernel.tick, self.kernel.taking, *words))

    def sent(self, name, args):
        self._add("sent", name, args)

    def answered(self, number, what, value, error):
        self._add("answered", number, what, value, error)

    def posted(self, what):
        self.lines.append((self.kernel.tick, "posted", what))

    def restarting(self, restart):
        pass

    def closing(self, reason):
        self.lines.append((self.kernel.tick, "closing", reason))


@pytest.fixture
def runtime():
    runtime = Runtime(host="plain")
    yield runtime
    runtime.close()


# --- inputs by name -----------------------------------------------------------------------------------------------------


@pytest.mark.states(
    "tools: Intake: Inputs are taken at the next intake, in order of arrival, from any thread",
    source="design 2, a tick",
)
def test_what_is_sent_is_taken_at_the_next_intake_in_order_of_arrival(play):
    runtime = play.runtime()
    log = []
    runtime.on_input("open", lambda door: log.append((runtime.tick, "open", door)))
    runtime.on_input("shut", lambda: log.append((runtime.tick, "shut")))
    runtime.send("open", door="east")
    runtime.send("shut")
    runtime.send("open", door=["west", {"lock": None}])
    assert log == []
    play.ticks(runtime, 2)
    assert log == [(1, "open", "east"), (1, "shut"), (1, "open", ["west", {"lock": None}])]


@pytest.mark.states("tools: Intake: Inputs by name are plain values; anything else, and a name that nobody takes ...")
def test_what_nobody_takes_is_an_error_that_knows_the_next_name(runtime):
    runtime.on_input("door_opened", print)
    with pytest.raises(
        InputError, match=r"the input 'door_open': nobody takes it. Did you mean 'door_opened'\?"
    ) as info:
        runtime.send("door_open")
    assert info.value.code == "ART111"
    assert runtime.inputs == ("door_opened",)


@pytest.mark.states(
    "tools: Intake: Inputs by name are plain values; anything else, and a name that nobody takes, is an error where "
    "it is sent",
)
@pytest.mark.parametrize(
    ("value", "words"),
    [
        (object(), r"door is a object, which is no plain value"),
        ([1, (2,)], r"door\[1\] is a tuple"),
        ({"a": {"b": {1}}}, r"door\['a'\]\['b'\] is a set"),
        ({1: 2}, r"door is a dict"),
        (b"x", r"door is a bytes"),
    ],
)
def test_only_plain_values_are_taken(runtime, value, words):
    runtime.on_input("open", lambda door: None)
    with pytest.raises(InputError, match=words):
        runtime.send("open", door=value)


def test_a_value_that_contains_itself_is_refused(runtime):
    runtime.on_input("open", lambda door: None)
    ring = []
    ring.append(ring)
    with pytest.raises(InputError, match="is a list, which is no plain value"):
        runtime.send("open", door=ring)


def test_there_is_one_function_for_each_name_until_it_is_taken_down(runtime):
    close = runtime.on_input("open", print)
    with pytest.raises(WrongStateError, match="there is a function for 'open'"):
        runtime.on_input("open", print)
    close()
    close()
    runtime.on_input("open", len)
    close()  # the first one's: it does not take down the second
    assert runtime.inputs == ("open",)


def test_an_input_whose_function_was_taken_down_is_reported(runtime, logged):
    records = []
    runtime.trace.listen(records.append)
    close = runtime.on_input("open", print)
    runtime.send("open")
    close()
    runtime.step()
    assert [record.event.value for record in records] == ["fault"]
    assert "nobody takes it any more" in dict(records[0].detail)["error"]


def test_a_function_that_raises_is_reported_and_the_next_input_is_taken(runtime, logged):
    log = []
    runtime.on_input("bad", lambda: 1 / 0)
    runtime.on_input("good", lambda: log.append(runtime.tick))
    runtime.send("bad")
    runtime.send("good")
    runtime.step()
    assert log == [1]


@pytest.mark.states("tools: Intake: Inputs are taken at the next intake, in order of arrival, from any thread ...")
def test_what_is_sent_from_another_thread_comes_in(runtime):
    log = []
    runtime.on_input("open", lambda: log.append(runtime.tick))
    notes = Notes(runtime)
    thread = threading.Thread(target=runtime.send, args=("open",))
    thread.start()
    thread.join()
    runtime.step()
    assert log == [1]
    assert notes.lines == [(1, 0, "sent", "open", {})]


# --- the journal --------------------------------------------------------------------------------------------------------


@pytest.mark.states(
    "tools: Intake: The journal hears of what comes from outside with its tick and place, and of nothing that the run "
    "does itself",
    source="design 7",
)
def test_the_journal_hears_of_inputs_with_their_places(runtime):
    """What the run itself posts has places too, and is not told."""
    notes = Notes(runtime)
    runtime.on_input("open", lambda door: None)
    runtime.every_tick(lambda: runtime.post(lambda: None))
    runtime.send("open", door=1)
    runtime.step()
    runtime.send("open", door=2)
    runtime.step()
    assert notes.lines == [(1, 0, "sent", "open", {"door": 1}), (2, 1, "sent", "open", {"door": 2})]


@pytest.mark.states("tools: Intake: The journal hears of what comes from outside with its tick and place, and of ...")
def test_what_the_run_itself_sends_is_no_input(runtime):
    log = []
    notes = Notes(runtime)
    runtime.on_input("open", lambda: log.append(runtime.tick))
    runtime.every_tick(lambda: runtime.send("open"))
    runtime.step()
    runtime.step()
    assert log == [2]
    assert notes.lines == []


def test_what_is_posted_from_outside_is_told_because_it_cannot_be_kept(runtime):
    notes = Notes(runtime)
    runtime.post(print)
    runtime.every_tick(lambda: runtime.post(len, ""))
    runtime.step()
    runtime.post(len, "")
    assert notes.lines == [(0, "posted", "print"), (1, "posted", "len")]


def test_the_end_is_told_before_it_begins(play, being, actions):
    runtime = play.runtime()
    agent = runtime.add(being([actions.Work]))
    notes = Notes(runtime)
    play.ticks(runtime, 1)
    assert notes.lines == [(1, "closing", "the runtime was closed")]
    assert agent.entity.diary[-1] == (2, "stop")


def fetch(number):
    if number == 2:
        raise ValueError("no two")
    return number * 10


@pytest.mark.states("tools: Intake: The journal hears of what comes from outside with its tick and place, and of ...")
def test_results_of_calls_are_told_when_they_are_taken(play, being):
    class Ask(Action):
        does = TOP
        utility = 0.5

        async def run(self, ctx, args):
            for number in (1, 2, 3):
                try:
                    await ctx.call(fetch, number)
                except ValueError:
                    ctx.entity.diary.append((0, "refused"))
            ctx.agent.runtime.stop()
            await ctx.sleep_ticks(1000)

    runtime = play.runtime()
    notes = Notes(runtime)
    agent = runtime.add(being([Ask]))
    play(lambda: runtime.run(speed=float("inf") if play.host == "plain" else 1.0))
    told = [line[2:] for line in notes.lines if line[2] == "answered"]
    assert [(number, what, value, repr(error)) for _, number, what, value, error in told] == [
        (0, "fetch", 10, "None"),
        (1, "fetch", None, "ValueError('no two')"),
        (2, "fetch", 30, "None"),
    ]
    assert agent.entity.diary == [(0, "refused")]


def test_somebody_else_can_answer_calls(runtime, being):
    """Then nothing is called; a result comes in where whoever answers puts it."""

    class Answers:
        def __init__(self):
            self.calls = []

        def asked(self, call):
            self.calls.append((runtime.tick, call.number, call.what))
            runtime.kernel.post(call.deliver, f"answer {call.number}", None)
            return True

    class Ask(Action):
        does = TOP
        utility = 0.5

        async def run(self, ctx, args):
            for _ in range(2):
                answer = await ctx.call(fail)
                ctx.entity.diary.append((ctx.clock.tick, answer))
            await ctx.sleep_ticks(1000)

    def fail():
        raise AssertionError("it was called")

    answers = runtime.calls.answers = Answers()
    agent = runtime.add(being([Ask]))
    for _ in range(4):
        runtime.step()
    name = "test_somebody_else_can_answer_calls.<locals>.fail"
    assert answers.calls == [(1, 0, name), (2, 1, name)]
    assert agent.entity.diary == [(2, "answer 0"), (3, "answer 1")]


@pytest.mark.states("tools: Intake: What came in, handed in again at its places, gives the same run", source="design 7")
@given(st.lists(st.tuples(st.booleans(), st.integers(0, 2)), max_size=30))
def test_handing_the_journal_in_again_gives_the_same_run(script):
    """Inputs among posts of the run's own: each at its place, the order is the same."""

    def play(inputs, replayed):
        runtime = Runtime(host="plain")
        log = []
        runtime.on_input("push", lambda number: log.append((runtime.tick, "push", number)))
        runtime.every_tick(
            lambda: [
                runtime.post(lambda n=n: log.append((runtime.tick, "own", n))) for n in range(1 + runtime.tick % 3)
            ]
        )
        notes = Notes(runtime)
        for tick, (does_send, extra) in enumerate(inputs):
            if replayed is None:
                for number in range(extra if does_send else 0):
                    runtime.send("push", number=number)
            else:
                for place, args in replayed.get(tick + 1, ()):
                    runtime.kernel.inbox.insert(place, (runtime.intake.take, ("push", args, True)))
            runtime.step()
        runtime.close()
        return log, notes.lines[:-1]

    log, notes = play(script, None)
    by_tick = {}
    for tick, place, _, _, args in notes:
        by_tick.setdefault(tick, []).append((place, args))
    assert play(script, by_tick) == (log, notes)


async def _coroutine_function():
    pass


@pytest.mark.parametrize("give", [lambda runtime, fn: runtime.post(fn), lambda runtime, fn: runtime.on_input("x", fn)])
def test_what_no_intake_could_call_is_refused_where_it_is_given(give):
    runtime = Runtime()
    with pytest.raises(TypeError, match=r"^runtime\.(post|on_input): None is no function\. Give a function, and what"):
        give(runtime, None)
    with pytest.raises(
        TypeError, match=r"_coroutine_function is a coroutine function, which nobody would await\. Give"
    ):
        give(runtime, _coroutine_function)
    runtime.close()
