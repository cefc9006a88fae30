"""A crew of workers that die, hang and lie: what becomes of their runs. The workers are stubs that answer at once."""

from __future__ import annotations

import os
import sys
from concurrent.futures import BrokenExecutor, Future

import pytest

from agentrt.ensembles import workers
from agentrt.ensembles.design import Run
from agentrt.ensembles.subject import Subject
from agentrt.ensembles.workers import Cluster, Crew, ProcessWorker, RunResult, carry_out
from agentrt.errors import EnsembleError, MissingExtraError

RUNS = [Run("{}", seed, 5) for seed in range(5)]


def answered(value):
    future = Future()
    if isinstance(value, BaseException):
        future.set_exception(value)
    elif value is not None:  # else it is never answered
        future.set_result(value)
    return future


class Office:
    """Hires stub workers, and keeps a list of what happens. What a run answers is by its seed, the next one each time."""

    def __init__(self, subject, answers=None, ready=()):
        self.subject = subject
        self.log = []
        self.hired = 0
        self.answers = answers or {}
        self.ready = list(ready)

    def hire(self, subject):
        self.hired += 1
        return Stub(self, self.hired)

    def work(self, *, workers=1, time_limit=None, runs=RUNS):
        taken = {}
        crew = Crew(self.subject, self.hire, workers, time_limit)
        try:
            crew.carry_out(runs, lambda run, result: taken.setdefault(run.seed, []).append(result))
        finally:
            crew.close()
        return {seed: result.error or result.digest for seed, (result,) in taken.items()}


class Stub:
    def __init__(self, office, number):
        self.office, self.number = office, number
        self.ready = answered(office.ready.pop(0) if office.ready else office.subject.code())

    def begin(self, run):
        self.office.log.append((self.number, run.seed))
        answers = self.office.answers.get(run.seed, [])
        return answered(answers.pop(0) if answers else RunResult(f"d{run.seed}", 0, {}, "", 0.1))

    def end(self):
        self.office.log.append((self.number, "ended"))


@pytest.fixture
def subject(pond):
    return Subject.of("pond")


HANGS = None
DIES = BrokenExecutor("gone")


def test_runs_are_begun_in_order_and_a_worker_is_kept(subject):
    office = Office(subject)
    assert office.work() == {seed: f"d{seed}" for seed in range(5)}
    assert office.log == [(1, 0), (1, 1), (1, 2), (1, 3), (1, 4), (1, "ended")]


def test_no_more_workers_than_runs(subject):
    office = Office(subject)
    office.work(workers=8, runs=RUNS[:2])
    assert office.log == [(1, 0), (2, 1), (1, "ended"), (2, "ended")]


def test_a_run_that_hangs_costs_itself_and_its_worker(subject):
    office = Office(subject, {1: [HANGS], 4: [HANGS]})
    assert office.work(time_limit=0.01) == {
        0: "d0", 1: "it did not end within 0.01 s of real time", 2: "d2", 3: "d3",
        4: "it did not end within 0.01 s of real time",
    }  # fmt: skip
    assert office.log == [
        (1, 0), (1, 1), (1, "ended"), (2, 2), (2, 3), (2, 4), (2, "ended"),
    ]  # fmt: skip


def test_a_run_whose_worker_dies_is_tried_once_more(subject):
    office = Office(subject, {1: [DIES], 3: [DIES, DIES]})
    assert office.work() == {0: "d0", 1: "d1", 2: "d2", 3: "its process died, 2 times", 4: "d4"}
    assert office.log == [
        (1, 0), (1, 1), (1, "ended"), (2, 1), (2, 2), (2, 3), (2, "ended"), (3, 3), (3, "ended"), (4, 4), (4, "ended"),
    ]  # fmt: skip


def test_workers_that_die_before_they_begin(subject):
    office = Office(subject, ready=[DIES, DIES, subject.code(), DIES, DIES])
    assert office.work(runs=RUNS[:1]) == {0: "d0"}
    office = Office(subject, ready=[DIES] * 3)
    with pytest.raises(EnsembleError, match='they end before they have begun. .*if __name__ == "__main__":'):
        office.work()
    assert office.log == [(1, "ended"), (2, "ended"), (3, "ended")]


def test_workers_that_do_not_come_up_are_given_up_like_those_that_die(subject, monkeypatch):
    monkeypatch.setattr(workers, "_LONGEST_START", 0.02)

    class Slow(Office):
        def hire(self, subject):
            stub = super().hire(subject)
            if self.hired < 3:
                stub.ready = Future()
            return stub

    office = Slow(subject)
    assert office.work(runs=RUNS[:1], time_limit=0.01) == {0: "d0"}
    assert office.log == [(1, "ended"), (2, "ended"), (3, 0), (3, "ended")]


def test_a_process_that_died_while_it_was_idle_is_a_death_as_any_other(subject):
    class Broken:
        def submit(self, *_):
            raise DIES

    worker = ProcessWorker.__new__(ProcessWorker)
    worker._subject, worker._pool = subject, Broken()
    assert worker.begin(RUNS[0]).exception() is DIES


def test_workers_of_other_code(subject):
    office = Office(subject, ready=["1+other"])
    with pytest.raises(EnsembleError, match=r"the code of the world is 1\+other there, and .* here. Install the same"):
        office.work()
    assert office.log == [(1, "ended")]


def test_what_else_goes_wrong_there_is_raised_here(subject):
    office = Office(subject, {2: [LookupError("no such thing")]})
    with pytest.raises(LookupError):
        office.work(workers=2)
    assert office.log[-1] == (2, "ended")


def test_a_crew_works_again(subject):
    office, taken = Office(subject), []
    crew = Crew(subject, office.hire, 2, None)
    crew.carry_out(RUNS[:2], lambda run, result: taken.append(run.seed))
    crew.carry_out(RUNS[2:], lambda run, result: taken.append(run.seed))
    crew.carry_out([], lambda run, result: taken.append(run.seed))
    crew.close()
    assert (taken, office.hired) == ([0, 1, 2, 3, 4], 2)


def test_ray_is_an_extra(monkeypatch):
    monkeypatch.setitem(sys.modules, "ray", None)
    with pytest.raises(MissingExtraError) as raised:
        Cluster("local", 2)
    assert raised.value.extra == "ray"


@pytest.mark.skipif(not hasattr(os, "fork"), reason="nothing forks here")
@pytest.mark.filterwarnings("ignore:.*fork:DeprecationWarning")  # a Python with threads says that it is dangerous
def test_a_child_that_a_world_forks_ends_with_its_run(monkeypatch):
    children = []

    def forking(subject, run):
        if child := os.fork():
            children.append(child)
        return "digest", 0, {}

    monkeypatch.setattr(workers, "_run", forking)
    assert carry_out(Subject("pond", "", ""), RUNS[0]).digest == "digest"
    assert [os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]) for child in children] == [0]
