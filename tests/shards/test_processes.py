"""Shards in processes and actors: the same digests, and nothing is lost when one of them, or who leads them, is killed."""

from __future__ import annotations

import contextlib
import math
import os
import signal
import socket
import struct
import subprocess
import sys
import threading
from pathlib import Path
from types import SimpleNamespace

import pytest
from children import finding
from strips import world

from agentrt.errors import ShardError, ShardLostError
from agentrt.shards import LocalShards, PipeShards, Shards, cluster
from agentrt.shards.cluster import Tenement

pytestmark = pytest.mark.slow

HERE = Path(__file__).parent
SUPPORT = HERE.parent / "support"
APP = "strips:world"
PATIENCE = 600  # real seconds, which only a failure takes


@pytest.fixture(scope="module")
def undisturbed():
    with Shards(world, 4, seed=3) as run:
        run.run(25)
        return outcome(run)


def outcome(run):
    return run.digest, run.messages, run.measure()


def test_shards_in_processes_of_which_some_are_killed(undisturbed, tmp_path):
    """Two places in processes and one here; a process is killed while all wait, and the other within a window."""
    pipes = [PipeShards(cwd=SUPPORT), PipeShards(cwd=SUPPORT)]
    with Shards(world, 4, seed=3, places=[*pipes, LocalShards()], folder=tmp_path, app=APP) as run:
        run.run(7)
        os.kill(pipes[0].pid, signal.SIGKILL)
        run.run(3)
        ask = pipes[1].ask

        def ask_and_kill(requests):
            ask(requests)
            os.kill(pipes[1].pid, signal.SIGKILL)
            pipes[1].ask = ask

        pipes[1].ask = ask_and_kill
        run.run(15)
        assert run.losses == 2
        assert outcome(run) == undisturbed


class Hangs(PipeShards):
    """Short of time only from when it is stopped until it has come back: a machine may be slow."""

    is_stopped = False

    def stop(self):
        self.is_stopped = True
        os.kill(self.pid, signal.SIGSTOP)

    def start(self, world, tenancy):
        super().start(world, tenancy)
        self.is_stopped = False

    def _timed(self, process):
        return super()._timed(process) if self.is_stopped else contextlib.nullcontext()


def test_a_process_that_hangs_is_ended_and_comes_back(undisturbed, tmp_path):
    pipes = [Hangs(cwd=SUPPORT, limit=0.2), PipeShards(cwd=SUPPORT)]
    with Shards(world, 4, seed=3, places=pipes, folder=tmp_path, app=APP) as run:
        run.run(7)
        pipes[0].stop()
        run.run(18)
        assert run.losses == 1
        assert outcome(run) == undisturbed


def test_a_process_that_hangs_is_named_where_nothing_was_written_down():
    pipes = PipeShards(cwd=SUPPORT, limit=0.2)
    with Shards(world, 1, seed=3, places=[pipes], app=APP) as run:
        os.kill(pipes.pid, signal.SIGSTOP)
        with pytest.raises(ShardLostError, match=r"with shards did not answer within 0.2 s, and was ended"):
            run.run()


LEADER = """
import os, signal
from strips import world
from agentrt.shards import PipeShards, Shards

with Shards(world, 4, seed=3, places=[PipeShards(), PipeShards()], folder="FOLDER", app="strips:world") as run:
    run.run(9)
    run._places[1].ask, ask = lambda requests: os.kill(os.getpid(), signal.SIGKILL), run._places[1].ask
    run.run()
"""


def test_who_leads_the_shards_is_killed_and_another_goes_on(undisturbed, tmp_path):
    """It dies when one place was asked and the other was not; its processes end with it."""
    code = LEADER.replace("FOLDER", str(tmp_path))
    ended = subprocess.run(
        [sys.executable, "-c", code], cwd=SUPPORT, env=finding(SUPPORT), timeout=PATIENCE, check=False
    )
    assert ended.returncode == -signal.SIGKILL
    with Shards(world, 4, seed=3, folder=tmp_path) as run:
        assert run.windows == 10
        run.run(15)
        assert outcome(run) == undisturbed


def test_a_world_that_another_process_does_not_find_is_an_error(tmp_path):
    (tmp_path / "other.py").write_text("from agentrt.worlds import SimpleWorld\nworld = SimpleWorld('strips', None)\n")
    with pytest.raises(ShardError, match="the world 'strips' is a SimpleWorld, and no ShardedWorld"):
        Shards(world, 1, places=[PipeShards(cwd=tmp_path)], app="other:world")


CLUSTER = '''
import os
import signal
import socket
import sys
import time

os.environ |= {"RAY_USAGE_STATS_ENABLED": "0", "RAY_ENABLE_WINDOWS_OR_OSX_CLUSTER": "0", "PYTHONPATH": os.getcwd()}
import ray
from ports import LOOPBACK, listening, ours
from strips import world
from agentrt.errors import ShardError
from agentrt.shards import LocalShards, RayShards, Shards, cluster

ray.init(
    address="local", num_cpus=2, include_dashboard=False, _node_ip_address="127.0.0.1", log_to_driver=False,
    object_store_memory=80_000_000, _system_config={"kill_worker_timeout_milliseconds": 100},  # it would be 5 s
)


class Told(RayShards):
    is_hung = False

    def start(self, world, tenancy):
        super().start(world, tenancy)
        self.is_hung = False

    def _hire(self, tenancy):
        actor = super()._hire(tenancy)
        self.pid = actor.__ray_call__.remote(lambda one: os.getpid())
        return actor

    def _time(self):
        """Only who hangs is short of time: a machine may be slow, and this counts who is lost."""
        return super()._time() if self.is_hung else None

    def _reach(self):
        """Strangers are there first: who are silent, who have half a key, and who have much to say."""
        host, port = ray.get(self._door)
        for said in (b"", b"0123456789abcdef", b"x" * 100_000) * 10:
            strangers.append(connect((host, port), timeout=PATIENCE))
            strangers[-1].sendall(said)
        return super()._reach()


def kill(place):
    """Until it is dead: it may answer for a while after it was told to end."""
    pid = ray.get(place.pid)
    ray.kill(place._actor)
    while lives(pid):
        time.sleep(0.01)


def lives(pid):
    try:
        with open(f"/proc/{pid}/stat") as stat:
            return stat.read().rpartition(")")[2].split()[0] != "Z"
    except (FileNotFoundError, ProcessLookupError):
        return False


def hang(place):
    place.is_hung = True
    os.kill(ray.get(place.pid), signal.SIGSTOP)


def vanish(place):
    """As when its machine goes: nobody ends the connection."""
    held.extend(socket.socketpair())
    held.append(place._way._connection)
    place._way._connection = held[0]
    ray.kill(place._actor)


def break_line(place):
    place._way._connection.shutdown(socket.SHUT_RDWR)


def break_line_in_a_window(place):
    ask = place.ask

    def ask_and_break(requests):
        ask(requests)
        place._way._connection.shutdown(socket.SHUT_RDWR)
        place.ask = ask

    place.ask = ask_and_break


def break_all_lines(place):
    """No other one can be had, either."""
    break_line(place)
    socket.create_connection = no_way
    Told._reach = RayShards._reach


def no_way(*given, **more):
    raise ConnectionRefusedError


def is_over(connection):
    try:
        return connection.recv(1) == b""
    except ConnectionError:
        return True


PATIENCE = 300  # real seconds, which only a failure takes
connect = socket.create_connection
held, strangers, ways = [], [], []
cluster._LOOK_SECONDS = 0.1
places = [RayShards(), Told(limit=0.3), LocalShards()]
with Shards(world, 4, seed=3, places=places, folder=sys.argv[1], app="strips:world") as run:
    run.run(5)
    for disturb in (kill, hang, vanish, break_line_in_a_window, break_all_lines, kill):
        ways.append([type(place._way).__name__ for place in places[:2]])
        disturb(places[1])
        run.run(4 if disturb is not kill else 2)
    print(run.losses, run.digest)
for way in ways:
    print(*way)
print(len(strangers), all(map(is_over, strangers)))
socket.create_connection = connect
cluster._ROOM_SECONDS = 0.2
try:
    Shards(world, 1, places=[RayShards(cpus=64)], app="strips:world")
except ShardError as error:
    print(error.problem)
during = ours()
ray.shutdown()
print(0 < len(during), {address for address, _ in during} <= LOOPBACK, len(listening() & during))
'''


@pytest.mark.skipif(sys.platform != "linux", reason="looks into /proc")
def test_shards_in_actors_of_a_cluster(undisturbed, tmp_path):
    """An actor is lost five times, in another way each time; the last time no line to it can be had, and once more."""
    pytest.importorskip("ray")
    kept = {**finding(SUPPORT), "HOME": str(tmp_path)}  # where Ray keeps what is its own
    ran = subprocess.run(
        [sys.executable, "-c", CLUSTER, str(tmp_path)],
        capture_output=True, text=True, timeout=PATIENCE, env=kept, cwd=SUPPORT, check=False,
    )  # fmt: skip
    assert ran.stdout.splitlines() == [
        f"6 {undisturbed[0]}",
        *["_Line _Line"] * 5,
        "_Line _Calls",
        "150 True",
        "an actor with shards found no room within 0.2 s: it needs 64 CPU for itself, and the cluster has 2 CPU in all. "
        "Have fewer places, let each need less (RayShards(cpus=0.5)), or give the cluster more machines",
        "True True 0",
    ], ran.stderr


@pytest.fixture
def served():
    """An actor that waits for whoever has the key: its address, what it was asked, and the call that it is in."""
    actor, asked = Tenement("{}"), []
    door = actor._door = socket.create_server(("127.0.0.1", 0))
    actor.answer = lambda request: asked.append(request) or "done"
    call = threading.Thread(target=actor.serve, args=("right",), daemon=True)
    address = door.getsockname()
    call.start()
    yield address, asked, call
    call.join(PATIENCE)
    assert not call.is_alive()
    assert actor._door is None
    with pytest.raises(OSError, match="refused"):
        connected(address)


def connected(address):
    return socket.create_connection(address, timeout=PATIENCE)


def is_over(connection):
    """Whether the other end has ended it, or does so in a moment."""
    try:
        return connection.recv(100) == b""
    except ConnectionError:
        return True


def ask_it(address):
    """What the one does that has the key."""
    with connected(address) as line:
        line.sendall(b"right\n[1]\n")
        assert line.recv(100) == b"done\n"


def test_an_actor_answers_whoever_has_the_key_and_only_whole_lines(served):
    address, asked, call = served
    with connected(address) as stranger:
        stranger.sendall(b"wrong\n")
        assert is_over(stranger)
    with connected(address) as line:
        line.sendall(b"ri")
        line.sendall(b"ght\n[1]\n")
        assert line.recv(100) == b"done\n"
        line.sendall(b"[2]")
    call.join(PATIENCE)
    assert asked == [b"[1]\n"]


@pytest.mark.parametrize(
    "said",
    [
        b"wrong\n",
        b"rightly\n",
        b"\n\n\n\n\n\n",
        b"right\r\n",
        b"\x7f\xff\xff\xff\xff\xff\xff\xff",
        b"[1]\n[1]\n",
        b"x" * 9_000_000,
    ],
)
def test_who_says_something_else_is_sent_away_and_asks_nothing(served, said):
    address, asked, _ = served
    with connected(address) as stranger:
        with contextlib.suppress(ConnectionError):  # it hears no more than the key is long
            stranger.sendall(said)
        assert is_over(stranger)
    ask_it(address)
    assert asked == [b"[1]\n"]


@pytest.mark.parametrize("said", [b"", b"r", b"rig", b"right"])
def test_nobody_waits_for_who_says_nothing_or_half(served, said, monkeypatch):
    monkeypatch.setattr(cluster, "_REACH_SECONDS", math.inf)
    address, asked, _ = served
    with contextlib.ExitStack() as stack:
        silent = [stack.enter_context(connected(address)) for _ in range(20)]
        for one in silent:
            one.sendall(said)
        ask_it(address)
        assert all(map(is_over, silent))
    assert asked == [b"[1]\n"]


def test_who_says_a_byte_now_and_then_is_sent_away_when_its_time_is_over(served, monkeypatch):
    now, knocked = [0.0], threading.Event()

    class Heard(cluster._Stranger):
        def __init__(self, connection):
            super().__init__(connection)
            knocked.set()

    monkeypatch.setattr(cluster, "time", SimpleNamespace(monotonic=lambda: now[0]))
    monkeypatch.setattr(cluster, "_Stranger", Heard)
    address, asked, _ = served
    with connected(address) as slow:
        assert knocked.wait(PATIENCE)
        with contextlib.suppress(ConnectionError):
            for byte in b"right"[:-1]:
                now[0] += cluster._REACH_SECONDS / 3
                slow.sendall(bytes([byte]))
        assert is_over(slow)
    ask_it(address)
    assert asked == [b"[1]\n"]


def test_of_many_who_knock_the_first_are_sent_away(served, monkeypatch):
    monkeypatch.setattr(cluster, "_REACH_SECONDS", math.inf)
    address, asked, _ = served
    with contextlib.ExitStack() as stack:
        many = [stack.enter_context(connected(address)) for _ in range(100)]
        assert all(map(is_over, many[:30]))  # 64 are heard at the same time
        ask_it(address)
        assert all(map(is_over, many))
    assert asked == [b"[1]\n"]


def test_who_has_hung_up_before_it_was_heard_is_nobody(served):
    address, asked, _ = served
    for _ in range(50):
        with connected(address) as gone:
            gone.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, struct.pack("ii", 1, 0))  # with a reset
    ask_it(address)
    assert asked == [b"[1]\n"]


@pytest.mark.parametrize("said", [b"{\n", b"\xff\xfe\n", b"5\n", b"[" * 100_000 + b"\n", b"[{}]\n"])
def test_garbage_of_who_has_the_key_ends_the_line(said):
    actor, raised = Tenement("{}"), []
    actor._tenants = object()
    door = actor._door = socket.create_server(("127.0.0.1", 0))
    address = door.getsockname()

    def serve():
        try:
            actor.serve("right")
        except Exception as error:
            raised.append(error)

    call = threading.Thread(target=serve, daemon=True)
    call.start()
    with connected(address) as line:
        line.sendall(b"right\n" + said)
        assert is_over(line)
    call.join(PATIENCE)
    assert (call.is_alive(), len(raised)) == (False, 1)


def test_a_door_that_nobody_uses_is_shut():
    actor = Tenement("{}")
    door = actor._door = socket.create_server(("127.0.0.1", 0))
    actor.shut()
    actor.shut()
    assert (door.fileno(), actor._door) == (-1, None)
