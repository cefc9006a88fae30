"""Errors in functions that the kernel calls, and functions that are posted from other threads."""

from __future__ import annotations

import threading

import pytest
from strands import good

from agentrt.kernel.kernel import Kernel
from agentrt.kernel.traps import next_tick


def broken(*args):
    raise ValueError("broken")


class Unprintable:
    def __call__(self):
        raise KeyError("callable object")


@pytest.mark.parametrize(
    ("arrange", "text", "tick"),
    [
        (lambda kernel: kernel.call_soon(broken), "a callback raised: broken", 1),
        (lambda kernel: kernel.call_later(2, broken), "a callback raised: broken", 2),
        (lambda kernel: kernel.post(broken), "a function of the tick raised: broken", 1),
        (lambda kernel: kernel.every_tick(broken), "a function of the tick raised: broken", 1),
        (lambda kernel: kernel.after_tick(broken), "a function of the tick raised: broken", 1),
    ],
    ids=["call_soon", "call_later", "post", "every_tick", "after_tick"],
)
def test_a_function_that_raises_is_reported_and_takes_nobody_with_it(lab, arrange, text, tick):
    kernel = lab.kernel
    lab.spawn(good(lab, "strand"))
    arrange(kernel)
    kernel.post(lab.note, "posted")
    kernel.every_tick(lambda: lab.note("driver"))
    kernel.after_tick(lambda: lab.note("publisher"))
    kernel.call_soon(lab.note, "call")
    lab.tick(2)
    assert lab.log == [
        (1, "posted"),
        (1, "driver"),
        (1, "strand"),
        (1, "call"),
        (1, "publisher"),
        (2, "driver"),
        (2, "strand"),
        (2, "publisher"),
    ]
    lab.close()
    faults, lab.faults = lab.faults, []
    assert faults[0][0].startswith(text)
    assert repr(faults[0][1]) == "ValueError('broken')"


@pytest.mark.parametrize("phase", ["call_soon", "post", "every_tick", "after_tick"])
def test_with_the_default_handler_a_fault_raises_where_the_kernel_is_driven_and_the_next_tick_is_sound(phase):
    kernel = Kernel()
    done = []

    async def strand():
        await next_tick()
        await next_tick()
        done.append(kernel.tick)

    kernel.spawn(strand())
    kernel.step_tick()
    close = getattr(kernel, phase)(broken)
    with pytest.raises(ValueError, match="broken"):
        kernel.step_tick()
    assert not kernel.in_tick
    assert not kernel.draining
    if close is not None:
        close()
    kernel.step_tick()
    kernel.step_tick()
    assert done in ([3], [4])


def test_a_function_that_raises_stop_iteration_is_not_taken_for_the_end_of_a_coroutine():
    def stops():
        raise StopIteration("value")

    kernel = Kernel()
    kernel.call_soon(stops)
    with pytest.raises(RuntimeError, match="a callback raised"):
        kernel.step_tick()


def test_an_interruption_of_the_program_passes_through_a_callback():
    def interrupts():
        raise KeyboardInterrupt

    kernel = Kernel()
    kernel.call_soon(interrupts)
    with pytest.raises(KeyboardInterrupt):
        kernel.step_tick()
    kernel.step_tick()


def test_the_names_of_calls(lab):
    kernel = lab.kernel
    for function, name in [(broken, "broken"), (Unprintable(), "Unprintable"), (lab.note, "Laboratory.note")]:
        timer = kernel.call_later(9, function)
        assert timer.name == name
        timer.cancel()


# --- posting from elsewhere -------------------------------------------------------------------------------------------


def test_posts_from_other_threads_enter_at_an_intake_each_in_its_own_order(lab):
    kernel = lab.kernel
    got = []
    posts_per_thread = 400
    ready = threading.Barrier(5)

    def poster(thread):
        ready.wait()
        for number in range(posts_per_thread):
            kernel.post(lambda number=number: got.append((thread, number, kernel.in_tick, threading.current_thread())))

    threads = [threading.Thread(target=poster, args=(name,)) for name in "abcd"]
    for thread in threads:
        thread.start()
    ready.wait()
    while any(thread.is_alive() for thread in threads):
        lab.tick()
    lab.tick()
    for name in "abcd":
        assert [number for thread, number, *_ in got if thread == name] == list(range(posts_per_thread))
    assert {(in_tick, thread) for *_, in_tick, thread in got} == {(True, threading.main_thread())}


def test_what_is_posted_between_ticks_comes_before_what_is_due(lab):
    async def strand():
        await next_tick()
        lab.note("due")

    lab.spawn(strand())
    lab.tick()
    thread = threading.Thread(target=lab.kernel.post, args=(lab.note, "posted"))
    thread.start()
    thread.join()
    lab.tick()
    assert lab.log == [(2, "posted"), (2, "due")]
