"""A campaign of kills: ``python tools/kill_campaign.py [--kills 100] [--ticks 400] [--epoch 90] [--host plain ...]``.

A colony is recorded in a process of its own, which is killed (``kill -9``) at random moments: while it starts, while it
repeats what was recorded, within a tick, within a commit. Each time the next process resumes the recording, until the
run has all its ticks; then another run begins, with the next seed, until there were so many kills.

Deliveries come in from outside, numbered. This process sends them, and sends again to each worker what was not
acknowledged; the colony passes over numbers that it knows. A trader asks the outside for a price again and again; the
outside writes each of these calls and its key into a ledger. With ``--epoch`` the colony is rebuilt of its save after
each so many-th tick, so that a process resumes it from the last one.

In the end it is checked of each run that

* its recording has the digest of the run that nobody disturbed, and on the plain host all its rows;
* whatever was acknowledged is in it, and each delivery came once;
* all calls with one key asked for the same, and each result that came in belongs to a call in the ledger;
* it can be replayed, from its beginning and from each save that it keeps.

On an event loop a call is answered in a tick that depends on the machine, so that two runs differ; there the digest is
compared with that of a replay. The exit code is 1 if anything was wrong.
"""

from __future__ import annotations

import argparse
import contextlib
import json
import logging
import os
import random
import signal
import sqlite3
import subprocess
import sys
import tempfile
import threading
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

from agentrt import Runtime, call_key
from agentrt.cli.groups import HOSTS
from agentrt.record import Recording, replay, resume
from agentrt.record.replay import run_on
from agentrt.record.schema import connect_appender

__all__ = ["Campaign", "main"]

TABLES = ("ticks", "traces", "inputs", "agents", "views", "outlines", "drawings")
LONGEST = 300.0  # real seconds for one process
# What a process has said when the time begins after which it is killed: nothing yet; that it repeats what was recorded;
# that it goes on live, which is what most of them are killed in.
SINCE = ("", "begun", "begun", *["live"] * 7)


# --- the world --------------------------------------------------------------------------------------------------------


class Market:
    """A colony that takes deliveries and asks for prices; with an epoch it is rebuilt after each so many-th tick."""

    def __init__(self, ledger: Path, epoch: int = 0) -> None:
        self._ledger = ledger
        self._epoch = epoch

    def make(self, *, seed: int, host: str) -> Runtime:
        from agentrt_examples.colony.colony import Colony
        from agentrt_examples.colony.saving import found, load, save

        runtime = found(seed, host).runtime
        trade = Trade(runtime, self.price)

        def save_all(runtime: Runtime) -> dict[str, Any]:
            assert isinstance(runtime.game, Colony)
            return {"colony": save(runtime.game), "known": trade.known, "asked": trade.asked}

        def load_all(runtime: Runtime, saved: dict[str, Any]) -> None:
            nonlocal trade
            load(saved["colony"], runtime)
            trade = Trade(runtime, self.price, saved["known"], saved["asked"])

        runtime.rebuild_every(self._epoch, save_all, load_all)
        return runtime

    def price(self, number: int) -> int:
        """The outside: whoever asks the same gets the same."""
        line = json.dumps({"key": call_key(), "number": number})
        with self._ledger.open("a", encoding="ascii") as ledger:
            ledger.write(f"{line}\n")
        return number * 7 % 11


class Trade:
    """What comes from outside into one colony."""

    def __init__(self, runtime: Runtime, price: Callable[[int], int], known: int = 0, asked: int = 0) -> None:
        self.known = known  # the highest number of a delivery
        self.asked = asked  # how many prices are known
        self._runtime = runtime
        self._price = price
        runtime.on_input("deliver", self._deliver)
        runtime.spawn(self._ask)

    def _deliver(self, number: int) -> None:
        if number > self.known:  # whoever sends may send it again
            self.known = number
            self._runtime.note("delivery", number=number)
            self._runtime.intake.inputs["wagon"](kind="turnip", count=1 + number % 3)

    async def _ask(self) -> None:
        from agentrt import sleep_ticks

        while self.asked < 10_000:
            price = await self._runtime.call(self._price, self.asked)
            self._runtime.note("price", number=self.asked, price=price)
            self.asked += 1
            await sleep_ticks(1 + price % 4)


def deliveries(ticks: int) -> dict[int, int]:
    """The number of each delivery, and the tick that it is for."""
    return dict(enumerate(range(5, ticks, 7), 1))


# --- a worker ---------------------------------------------------------------------------------------------------------


def work(task: dict[str, Any]) -> None:
    """Record a run or resume it, up to its last tick; what is in the file is acknowledged on standard output."""
    market, path = Market(Path(task["ledger"]), task["epoch"]), Path(task["path"])
    if path.exists() and path.stat().st_size == 0:  # it was killed before it had a header
        path.unlink()
    due = {int(number): tick for number, tick in task["deliveries"].items()}

    def drive(runtime: Runtime) -> None:
        recorder = runtime.recorder
        assert recorder is not None
        recorder.on_commit(lambda tick: _say(acknowledged=tick))
        _say(live=runtime.tick)

        def send() -> None:
            for number, tick in list(due.items()):
                if tick <= runtime.tick + 1:
                    del due[number]
                    runtime.send("deliver", number=number)

        runtime.after_tick(send)
        send()

    is_there = path.exists()

    async def drive_on() -> None:
        if is_there:
            async with resume(path, market.make) as runtime:
                drive(runtime)
                await runtime.run(task["ticks"] - runtime.tick, speed=float("inf"), restart=None)
        else:
            runtime = market.make(seed=task["seed"], host=task["host"])
            runtime.record(path, durability=task["durability"], commit_every=task["commit_every"])
            drive(runtime)
            async with runtime:
                await runtime.run(task["ticks"], speed=float("inf"), restart=None)

    logging.disable(logging.CRITICAL)
    import agentrt_examples.colony  # before it says that it begins

    _say(begun=len(agentrt_examples.colony.world.name))
    if task["host"] != "plain":
        run_on(task["host"], drive_on)
        return
    with contextlib.ExitStack() as stack:
        if is_there:
            runtime = stack.enter_context(resume(path, market.make))
        else:
            runtime = market.make(seed=task["seed"], host="plain")
            stack.callback(runtime.close)
            runtime.record(path, durability=task["durability"], commit_every=task["commit_every"])
        drive(runtime)
        while runtime.tick < task["ticks"]:
            runtime.step()


def _say(**told: int) -> None:
    os.write(1, json.dumps(told).encode("ascii") + b"\n")


# --- the campaign -----------------------------------------------------------------------------------------------------


class Campaign:
    """Runs, one after the other, each killed again and again.

    Args:
        folder: where the recordings are.
        ticks: of each run.
        host: what it runs on.
        durability, commit_every: how it is recorded.
        epoch: after how many ticks it is rebuilt; 0 for never.
        say: called with a line for people.
    """

    def __init__(
        self, folder: Path, *, ticks: int, host: str = "plain", durability: str = "process", commit_every: int = 1,
        epoch: int = 0, say: Any = print,
    ) -> None:  # fmt: skip
        self.kills: int = 0  # how many processes were killed
        self.early: int = 0  # how many of them before they had anything new
        self.runs: int = 0
        self.again: int = 0  # how many calls were made more than once
        self.problems: list[str] = []
        self._folder = folder
        self._ticks = ticks
        self._host = host
        self._how = {"durability": durability, "commit_every": commit_every, "epoch": epoch}
        self._epoch = epoch
        self.since_save: int = 0  # how many processes began with a save
        self._say = say
        self._took = 0.04 * ticks  # real seconds that a process takes, but for its start, if it is not killed

    def run(self, seed: int, kills: int) -> None:
        """Play one run, with so many kills at most, and check it."""
        dice = random.Random(seed)
        task = self._task(f"run {seed}", seed)
        known = 0  # the last tick that was acknowledged
        while True:
            after = dice.uniform(0.0, 0.5 * self._took) if kills else LONGEST
            left = {number: tick for number, tick in deliveries(self._ticks).items() if tick > known}
            ended, told = self._work({**task, "deliveries": left}, after, since=dice.choice(SINCE))
            known = max([known, *(one["acknowledged"] for one in told if "acknowledged" in one)])
            if ended:
                break
            kills -= 1
            self.kills += 1
            self.early += not any("acknowledged" in one for one in told)
            self._check_acknowledged(Path(task["path"]), known)
        self.runs += 1
        self._check(task, seed)

    def _task(self, name: str, seed: int) -> dict[str, Any]:
        paths = {"path": str(self._folder / f"{name}.sqlite"), "ledger": str(self._folder / f"{name}.ledger")}
        return {**paths, "seed": seed, "ticks": self._ticks, "host": self._host, **self._how}

    def _work(self, task: dict[str, Any], after: float, *, since: str = "begun") -> tuple[bool, list[dict[str, int]]]:
        """One process, which is killed so many seconds after it said something, or was started.

        Returns:
            Whether it came to its end, and what it told.
        """
        worker = subprocess.Popen([sys.executable, __file__, "--worker"], stdin=subprocess.PIPE, stdout=subprocess.PIPE)
        assert worker.stdin is not None
        worker.stdin.write(json.dumps(task).encode("ascii"))
        worker.stdin.close()
        worker.stdin = None
        killing = threading.Timer(after, worker.kill)
        if not since:
            killing.start()
        assert worker.stdout is not None
        told: list[dict[str, int]] = []
        for line in worker.stdout:
            if line.endswith(b"\n"):  # what was not written to its end was never heard
                told.append(json.loads(line))
            if not killing.ident and since in told[-1]:
                killing.start()
        killing.cancel()
        worker.stdout.close()
        if worker.wait() not in (0, -signal.SIGKILL):
            raise SystemExit(f"a worker ended with {worker.returncode}: {task}")
        self._took = next((one["took"] / 1000 for one in told if "took" in one), self._took)
        return worker.returncode == 0, told

    # --- what has to be so --------------------------------------------------------------------------------------------

    def _expect(self, holds: bool, problem: str) -> None:
        if not holds:
            self.problems.append(problem)
            self._say(f"WRONG: {problem}")

    def _check_acknowledged(self, path: Path, known: int) -> None:
        """What was acknowledged is in the file that a kill left behind."""
        if known:
            connect_appender(path).close()  # as whoever resumes it: the kill may have come while its log was taken up
            with Recording.open(path) as recording:
                self._expect(recording.last_tick >= known, f"{path}: tick {known} was acknowledged and is lost")

    def _check(self, task: dict[str, Any], seed: int) -> None:
        path = Path(task["path"])
        with Recording.open(path) as recording:
            notes = [dict(one.detail) for one in recording.records(events=["note"]) if one.agent == ""]
            came = [note["number"] for note in notes if note["text"] == "delivery"]
            self._expect(came == list(deliveries(self._ticks)), f"{path}: the deliveries are {came}")
            self._check_calls(recording, Path(task["ledger"]))
            for since in (None, *recording.saves):
                report = replay(recording, Market(Path(os.devnull), self._epoch).make, since=since)
                self._expect(report.is_same, f"{path}, since {since}: {report.as_text()}")
            resumed = [one["tick"] for one in recording.header("resumed") or ()]
            self.since_save += sum(self._epoch > 0 and tick > self._epoch for tick in resumed)
            digest = recording.digest()
        if self._host == "plain":
            undisturbed = self._task(f"undisturbed {seed}", seed)
            self._work({**undisturbed, "deliveries": deliveries(self._ticks)}, LONGEST)
            with Recording.open(undisturbed["path"]) as recording:
                self._expect(recording.digest() == digest, f"{path}: the digest is {digest}")
            for table in (*TABLES, *(("saves",) if self._epoch else ())):
                same = _rows(path, table) == _rows(Path(undisturbed["path"]), table)
                self._expect(same, f"{path}: other rows in {table}")
        self._say(f"seed {seed}: resumed at {resumed}, digest {digest}, {self.kills} kills so far")

    def _check_calls(self, recording: Recording, ledger: Path) -> None:
        asked: dict[str, list[int]] = {}
        for line in ledger.read_text(encoding="ascii").splitlines():
            one = json.loads(line)
            asked.setdefault(one["key"], []).append(one["number"])
        self._expect(all(len(set(numbers)) == 1 for numbers in asked.values()), f"{ledger}: a key of two calls")
        self.again += sum(len(numbers) > 1 for numbers in asked.values())
        known = {(key.split("-")[1], number) for key, numbers in asked.items() for number in numbers}
        for one in recording.inputs():
            if one.kind == "answered":
                self._expect(any(call == str(one.number) for call, _ in known), f"{ledger}: call {one.number}")


def _rows(path: Path, table: str) -> list[Any]:
    with contextlib.closing(sqlite3.connect(path)) as connection:
        rows = connection.execute(f"SELECT * FROM {table}").fetchall()  # noqa: S608 - one of ours
    # Who was told that a delivery is in the file, and was killed, is sent it again: it comes in, and changes nothing.
    return [row[4:] if table == "inputs" else row for row in rows if table != "inputs" or row[3] != "sent"]


def main(arguments: list[str] | None = None) -> int:
    """Run it; returns the exit code."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--kills", type=int, default=100)
    parser.add_argument("--ticks", type=int, default=400)
    parser.add_argument("--first", type=int, default=1, help="the seed of the first run")
    parser.add_argument("--each", type=int, default=10, help="kills in one run at most")
    parser.add_argument("--host", choices=HOSTS, default="plain")
    parser.add_argument("--power", action="store_true", help="each commit waits for the disk")
    parser.add_argument("--commit-every", type=int, default=1)
    parser.add_argument("--epoch", type=int, default=0, help="rebuild the colony after each so many-th tick")
    parser.add_argument("--worker", action="store_true", help=argparse.SUPPRESS)
    given = parser.parse_args(arguments)
    if given.worker:
        begun = time.monotonic()
        work(json.load(sys.stdin))
        _say(took=int((time.monotonic() - begun) * 1000))
        return 0
    begun = time.monotonic()
    with tempfile.TemporaryDirectory() as folder:
        campaign = Campaign(
            Path(folder), ticks=given.ticks, host=given.host, durability="power" if given.power else "process",
            commit_every=given.commit_every, epoch=given.epoch,
        )  # fmt: skip
        seed = given.first
        while campaign.kills < given.kills:
            campaign.run(seed, min(given.each, given.kills - campaign.kills))
            seed += 1
    print(
        f"{campaign.kills} kills in {campaign.runs} runs of {given.ticks} ticks on {given.host}, {campaign.early} of "
        f"them before anything new was recorded; {campaign.since_save} times a run was resumed after its first epoch; "
        f"{campaign.again} calls were made more than once; "
        f"{len(campaign.problems)} things were wrong; {time.monotonic() - begun:.0f} s"
    )
    return 1 if campaign.problems else 0


if __name__ == "__main__":
    sys.exit(main())
