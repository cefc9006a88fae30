"""Processes that play one seed after the other: who is heard, who dies, what is left behind."""

from __future__ import annotations

import multiprocessing
import os
import signal
import subprocess
import sys
from pathlib import Path

import pytest

pytest.importorskip("crafter")

import crafter_tasks

from examples.crafter import workers
from examples.crafter.workers import News

ROOT = Path(__file__).resolve().parents[2]


def heard(task, seeds, jobs):
    news = []
    workers.run(task, seeds, jobs, news.append)
    return news


def by_seed(news):
    return sorted((item for item in news if item.lost or item.result is not None), key=lambda item: item.seed)


def test_alone_it_is_done_here_and_in_order():
    assert heard(crafter_tasks.square, [3, 1], 1) == [
        News(3, 0.5),
        News(3, 1.0, 9),
        News(1, 0.5),
        News(1, 1.0, 1),
    ]
    assert [item.result for item in heard(crafter_tasks.process_of, [1, 2], 1)] == [os.getpid()] * 2
    assert multiprocessing.active_children() == []


@pytest.mark.slow
def test_several_processes_do_all_seeds_and_go():
    news = heard(crafter_tasks.square, range(7), 2)
    assert by_seed(news) == [News(seed, 1.0, seed * seed) for seed in range(7)]
    assert [item.share for item in news if item.seed == 4] == [0.5, 1.0]
    assert multiprocessing.active_children() == []


@pytest.mark.slow
def test_a_process_that_is_killed_costs_its_own_seed_alone():
    assert by_seed(heard(crafter_tasks.die_of_three, range(6), 2)) == [
        News(seed, 1.0, lost="its process ended with exit code -9") if seed == 3 else News(seed, 1.0, seed)
        for seed in range(6)
    ]


@pytest.mark.slow
def test_a_task_that_raises_costs_its_own_seed_alone(capfd):
    news = by_seed(heard(crafter_tasks.raise_at_three, range(5), 2))
    assert [item.seed for item in news if not item.lost] == [0, 1, 2, 4]
    assert [item.lost for item in news if item.lost] == ["its process ended with exit code 1"]
    assert "ValueError: three" in capfd.readouterr().err


@pytest.mark.slow
def test_ctrl_c_ends_all_processes_at_once():
    pids = []

    def hear(news):
        pids.append(int(news.share))
        if len(pids) == 2:
            raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        workers.run(crafter_tasks.sleep_long, range(4), 2, hear)
    assert len(set(pids)) == 2
    for pid in pids:
        with pytest.raises(ProcessLookupError):
            os.kill(pid, 0)


@pytest.mark.slow
def test_ctrl_c_does_not_reach_the_processes():
    before = signal.getsignal(signal.SIGINT)
    assert [item.result for item in by_seed(heard(crafter_tasks.is_deaf, range(2), 2))] == [(True, True)] * 2
    assert signal.getsignal(signal.SIGINT) is before


@pytest.mark.slow
def test_a_real_ctrl_c_of_a_terminal_leaves_nothing_behind():
    """It is sent to the whole group of processes, as a terminal does."""
    code = (
        "import crafter_tasks\n"
        "from examples.crafter import workers\n"
        "try: workers.run(crafter_tasks.sleep_long, range(4), 2, lambda news: print(int(news.share), flush=True))\n"
        "except KeyboardInterrupt: print('stopped')\n"
    )
    with subprocess.Popen(
        [sys.executable, "-c", code],
        cwd=ROOT,
        env={**os.environ, "PYTHONPATH": f"{ROOT}{os.pathsep}{ROOT / 'tests' / 'support'}"},
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
        start_new_session=True,
    ) as process:
        pids = [int(process.stdout.readline()) for _ in range(2)]
        os.killpg(process.pid, signal.SIGINT)
        assert process.communicate(timeout=100) == ("stopped\n", "")
    for pid in pids:
        with pytest.raises(ProcessLookupError):
            os.kill(pid, 0)
