"""Kill shards, and who leads them: ``python tools/shard_campaign.py [--kills 50] [--leaders 10] [--epoch 0] [--ray]``.

A storm of travelers on the frontier runs in two processes of shards, led by a third, which tells their numbers.
This process kills (``kill -9``) one of the two or the leader at a random moment, and starts a leader anew that was
killed; so it goes on, run after run with the next seed, until there were so many kills of each kind. With ``--ray`` the
two are actors of a Ray cluster on loopback, which outlives the leaders.

Of each run it is checked that it ends with the digest, the agents, the messages and the measures of the run that nobody
disturbed. The library itself checks at every barrier that no agent and no message is lost or doubled. The exit code is
1 if anything was wrong.
"""

from __future__ import annotations

import argparse
import contextlib
import json
import logging
import os
import random
import signal
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

from agentrt.shards import PipeShards, RayShards, Shards

__all__ = ["main"]

ROOT = Path(__file__).parent.parent
STORM = {"columns": 8, "rows": 32, "caravans": 950, "bands": 50, "road": 2}
SHARDS = 4
LONGEST = 1.5  # real seconds from one kill to the next, at most


class Actor(RayShards):
    """A place in an actor, that knows which process that is."""

    def _hire(self, tenancy: str) -> Any:
        actor: Any = super()._hire(tenancy)
        self._pid: Any = actor.__ray_call__.remote(lambda _: os.getpid())
        return actor

    @property
    def pid(self) -> int:
        """The number of its process."""
        import ray

        found: int = ray.get(self._pid)
        return found


@contextlib.contextmanager
def cluster(address: str) -> Iterator[str]:
    """Connect to a cluster, or have one of one's own (``"local"``); its address."""
    os.environ |= {"RAY_USAGE_STATS_ENABLED": "0", "RAY_ENABLE_WINDOWS_OR_OSX_CLUSTER": "0"}  # on loopback alone
    import ray

    own: dict[str, Any] = {"num_cpus": 2, "include_dashboard": False} if address == "local" else {}
    environment = {"env_vars": {"PYTHONPATH": str(ROOT)}}
    ray.init(
        address,
        _node_ip_address="127.0.0.1",
        log_to_driver=False,
        logging_level=logging.ERROR,
        runtime_env=environment,
        **own,
    )
    try:
        yield ray.get_runtime_context().gcs_address
    finally:
        ray.shutdown()


def lead(
    seed: int, windows: int, epoch: int, places: list[PipeShards | Actor], folder: str | None, tell: bool
) -> dict[str, Any]:
    """Run to the end, from wherever the folder stands; what came of it."""
    from examples.frontier import world

    params = {**STORM, "epoch": epoch}
    app = "examples.frontier:world"
    with Shards(world, SHARDS, seed=seed, params=params, places=places, folder=folder, app=app) as run:
        moved = 0
        while run.windows < windows:
            if tell:
                pids = [place.pid for place in places]
                print(json.dumps({"pids": pids, "windows": run.windows, "losses": run.losses}), flush=True)
            run.run()
            moved += run.moving
        outcome = {"digest": run.digest, "agents": run.agents, "messages": run.messages, "measures": run.measure()}
        return {"outcome": outcome, "moved": moved}


class Campaign:
    """Kills until there were enough."""

    def __init__(self, kills: int, leaders: int, windows: int, epoch: int, address: str) -> None:
        self.left = {"shards": kills, "leader": leaders}
        self.windows = windows
        self.epoch = epoch
        self.address = address  # of the cluster; "" for none
        self.random = random.Random(1)
        self.losses = 0  # that a leader told of
        self.wrong = 0

    def run(self, seed: int) -> None:
        """One run, with its kills."""
        wanted = lead(seed, self.windows, self.epoch, [], None, tell=False)
        begun, kills = time.monotonic(), sum(self.left.values())
        with tempfile.TemporaryDirectory() as folder:
            while (told := self._leader(seed, folder)) is None:
                pass
        kills -= sum(self.left.values())
        is_same = told == wanted["outcome"]
        self.wrong += not is_same
        print(
            f"seed {seed}: {kills} kills, {wanted['moved'] / self.windows:.0f} departures a window, "
            f"{time.monotonic() - begun:.0f} s: {'the same' if is_same else 'ANOTHER'} {told['digest']}",
            flush=True,
        )

    def _leader(self, seed: int, folder: str) -> dict[str, Any] | None:
        """One leader, until it is killed or has come to the end."""
        command = [sys.executable, __file__, "--lead", str(seed), "--windows", str(self.windows)]
        command += ["--epoch", str(self.epoch), "--folder", folder, "--cluster", self.address]
        process = subprocess.Popen(command, cwd=ROOT, stdout=subprocess.PIPE, text=True)
        assert process.stdout is not None
        due = time.monotonic() + self.random.random() * LONGEST
        is_killed = False
        losses = 0
        for line in process.stdout:
            if not line.startswith("{"):  # Ray says there who has died
                continue
            told = json.loads(line)
            if "outcome" in told:
                self.losses += losses
                process.wait()
                return told["outcome"] if not is_killed else None
            losses = told["losses"]
            if time.monotonic() >= due and (kind := self._choose()):
                time.sleep(self.random.random() * 0.2)  # within the window, or within its barrier
                pid = process.pid if kind == "leader" else self.random.choice(told["pids"])
                with contextlib.suppress(ProcessLookupError):
                    os.kill(pid, signal.SIGKILL)
                    self.left[kind] -= 1
                is_killed = kind == "leader"
                due = time.monotonic() + self.random.random() * LONGEST
        self.losses += losses
        if process.wait() != -signal.SIGKILL:
            raise SystemExit(f"the leader ended with {process.returncode}")
        return None

    def _choose(self) -> str:
        """What is to be killed: each as likely as so many of it are left."""
        kinds = [kind for kind, left in self.left.items() for _ in range(left)]
        return self.random.choice(kinds) if kinds else ""


def main() -> None:
    """Run the campaign."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--kills", type=int, default=50, help="of processes with shards")
    parser.add_argument("--leaders", type=int, default=10, help="kills of the process that leads them")
    parser.add_argument("--windows", type=int, default=20, help="of each run")
    parser.add_argument("--epoch", type=int, default=0, help="ticks after which shards are rebuilt; 0 for never")
    parser.add_argument("--lead", type=int, help=argparse.SUPPRESS)
    parser.add_argument("--folder", help=argparse.SUPPRESS)
    parser.add_argument("--ray", action="store_true", help="in actors of Ray, in place of processes over pipes")
    parser.add_argument("--cluster", default="", help=argparse.SUPPRESS)
    given = parser.parse_args()
    sys.path.insert(0, str(ROOT))
    with contextlib.ExitStack() as stack:
        if given.lead is not None:
            if given.cluster:
                stack.enter_context(cluster(given.cluster))
            make: Callable[[], PipeShards | Actor] = Actor if given.cluster else PipeShards
            places = [make(), make()]
            told = lead(given.lead, given.windows, given.epoch, places, given.folder, tell=True)
            print(json.dumps(told), flush=True)
            return
        address = stack.enter_context(cluster("local")) if given.ray else ""
        campaign = Campaign(given.kills, given.leaders, given.windows, given.epoch, address)
        seed = 0
        while sum(campaign.left.values()):
            seed += 1
            campaign.run(seed)
    print(f"{given.kills} kills of shards, {given.leaders} of leaders, in {seed} runs: {campaign.wrong} wrong")
    raise SystemExit(1 if campaign.wrong else 0)


if __name__ == "__main__":
    main()
