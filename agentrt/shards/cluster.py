"""Shards on a cluster: each place is an actor of Ray, on whichever machine Ray puts it.

Whoever runs the shards connects to a cluster first (``ray.init``) and lets go of it afterwards, for it may have more to
do. What Ray guarantees is not enough by itself, and here is what is made of it:

* An actor takes calls in order from *one* submitter. There is one: whoever waits at the barrier asks each actor once in
  a window, and not again before it has answered.
* A call is made at most once (``max_task_retries=0``): whether one that was lost has run is for the journal to say.
* An actor that is started anew by Ray has run its constructor and nothing else (hence ``max_restarts=0``). A place that
  is lost gets a new actor here, whose shards come back by their journals.

A call of Ray costs who leads 0.6 ms of a processor, the actor half a millisecond more than its work, and goes through
threads of both. So what is asked goes over a *line*, a connection of TCP to the actor, who is in one long call
meanwhile (``serve``); that costs who leads 0.1 ms. Ray still finds the machine, and says how an actor has died. A line
that breaks is a place that is lost. Where no line is possible (see ``_way_to``) the same requests go as calls.

The port is open from when the actor is there until who leads has come, and then no more. Whoever finds it meanwhile
has no key, is heard for some seconds and for as many bytes as a key has, and holds up nobody.

Journals lie in a folder that all machines see. Requests and answers are the lines that a pipe would have, so nothing
of the game is ever unpickled.

Rejected: compiled graphs of Ray (``experimental_compile``). An actor that waits for one polls, with a third of a
processor; and one that dies fills the output with the errors of the graph.
"""

from __future__ import annotations

import contextlib
import hmac
import importlib.util
import json
import math
import os
import secrets
import socket
import time
from collections.abc import Callable, Sequence
from multiprocessing.connection import wait
from typing import TYPE_CHECKING, Any, TypeVar

from agentrt.errors import AgentRTError, MissingExtraError, ShardError, ShardLostError
from agentrt.shards.pipes import answered, checked_limit, failure, found_world
from agentrt.shards.places import ShardAnswer, ShardRequest, Tenancy, Tenants
from agentrt.words import error_words

if TYPE_CHECKING:
    from io import BufferedReader

    from ray import ObjectRef
    from ray.actor import ActorHandle

    from agentrt.shards.shard import ShardedWorld

T = TypeVar("T")

_ROOM_SECONDS = 60.0  # real ones; to start a process takes some
_REACH_SECONDS = 5.0  # until somebody at the other end of a line has to answer
_LOOK_SECONDS = 1.0  # how often Ray is asked whether an actor that says nothing is alive
_PART = 1 << 16  # bytes that are read at once
_MOST_STRANGERS = 64  # who are heard at the same time before one of them has the key


class RayShards:
    """Shards in an actor of a Ray cluster; several of these work at the same time.

    Args:
        cpus: how many processors Ray is to reserve for it.
        resources: what else the machine has to offer, by name; see Ray's ``resources``.
        limit: real seconds that it has for one window of all its shards; see ``PipeShards``. Without one, an actor that
            is alive and silent is waited for, for ever.

    Raises:
        MissingExtraError: Ray is not installed.
        DefinitionError: the limit is no number of seconds.
    """

    def __init__(
        self, *, cpus: float = 1, resources: dict[str, float] | None = None, limit: float | None = None
    ) -> None:
        self._limit = checked_limit("RayShards", limit)
        self._is_timed = False  # whether what was asked are windows
        if importlib.util.find_spec("ray") is None:
            raise MissingExtraError("ray", "ray")
        self._cpus = cpus
        self._resources = resources or {}
        self._actor: ActorHandle[Any] | None = None
        self._door: ObjectRef[tuple[str, int]] | None = None  # until it was seen that the actor lives
        self._way: _Calls | _Line | None = None  # to it, from then on
        self._is_asked = False
        self._lost: ShardLostError | None = None  # that it was lost before it was asked

    def start(self, world: ShardedWorld, tenancy: Tenancy) -> None:
        """See ``ShardPlace``."""
        import ray

        if not ray.is_initialized():
            raise ShardError(None, "there is no cluster. Connect to one first: ray.init(...)")
        self._kill()
        self._actor = self._hire(json.dumps(tenancy))
        self._door = self._actor.listen.remote()

    def _hire(self, tenancy: str) -> ActorHandle[Any]:
        import ray

        options = ray.remote(num_cpus=self._cpus, resources=self._resources, max_restarts=0, max_task_retries=0)
        # Ray's types promise the class that was given, whose methods have no ``remote``.
        return options(Tenement).remote(tenancy)  # type: ignore[return-value]

    def ask(self, requests: Sequence[ShardRequest]) -> None:
        """See ``ShardPlace``; the first time it waits until the actor has found a machine."""
        from ray.exceptions import RayError, RayTaskError

        self._is_timed = all(one["inbound"] is not None for one in requests)
        self._is_asked, self._lost = bool(requests), None
        if not requests:
            return
        try:
            if self._way is None:
                self._way = self._reach()
            self._way.post(json.dumps(list(requests)), self._time())
        except RayTaskError:
            raise
        except RayError as error:  # whoever waits for the answers is told
            self._lost = _gone(error)

    def _time(self) -> float | None:
        return self._limit if self._is_timed else None

    def answers(self) -> list[ShardAnswer]:
        """See ``ShardPlace``."""
        from ray.exceptions import GetTimeoutError, RayError, RayTaskError

        if not self._is_asked:
            return []
        self._is_asked = False
        if self._lost is not None:
            raise self._lost
        assert self._way is not None, "it was not started"
        try:
            told = json.loads(self._way.fetch(self._time()))
        except RayTaskError:  # a bug of ours: it would come again
            raise
        except GetTimeoutError:
            self._kill()
            problem = f"an actor with shards did not answer within {self._limit:g} s, and was ended"
            raise ShardLostError(None, problem) from None
        except RayError as error:
            raise _gone(error) from None
        if isinstance(told, dict):
            raise ShardError(told["shard"], told["error"])
        return list(told)

    def _reach(self) -> _Calls | _Line:
        """The way to the actor, as soon as that lives."""
        assert self._actor is not None, "it was not started"
        assert self._door is not None
        self._require_room(self._door)
        return _way_to(self._actor, self._door)

    def _require_room(self, door: ObjectRef[tuple[str, int]]) -> None:
        """An actor for which no machine has room waits for ever, and Ray tells nobody here."""
        import ray

        if ray.wait([door], timeout=_ROOM_SECONDS)[0]:
            return
        self._kill()
        needs = ", ".join(f"{count:g} {name}" for name, count in {"CPU": self._cpus, **self._resources}.items())
        there: dict[str, float] = ray.cluster_resources()  # type: ignore[no-untyped-call]
        has = ", ".join(f"{there.get(name, 0.0):g} {name}" for name in ("CPU", *self._resources))
        problem = f"an actor with shards found no room within {_ROOM_SECONDS:g} s: it needs {needs} for itself"
        remedy = "Have fewer places, let each need less (RayShards(cpus=0.5)), or give the cluster more machines"
        raise ShardError(None, f"{problem}, and the cluster has {has} in all. {remedy}")

    def close(self) -> None:
        """See ``ShardPlace``."""
        import ray
        from ray.exceptions import RayError

        if self._actor is not None and self._way is not None and ray.is_initialized():
            self._way.close()
            with contextlib.suppress(RayError):
                ray.get(self._actor.close.remote(), timeout=self._limit)  # to close takes no longer than a window
        self._kill()

    def _kill(self) -> None:
        """End the actor, also one that only does not answer: two may not write to one journal."""
        import ray

        way, self._way = self._way, None
        actor, self._actor = self._actor, None
        if way is not None:
            way.close()
        if actor is not None and ray.is_initialized():
            ray.kill(actor)


def _gone(error: Exception) -> ShardLostError:
    return ShardLostError(None, f"an actor with shards is gone: {error_words(error, 400)}")


# --- the way to an actor ----------------------------------------------------------------------------------------------


def _way_to(actor: ActorHandle[Any], door: ObjectRef[tuple[str, int]]) -> _Calls | _Line:
    """A line, or calls where there can be none.

    That is from outside of the cluster (``ray://``), where Ray encrypts what it sends (``RAY_USE_TLS``), and where the
    machines do not let it through.
    """
    import ray
    from ray.util.client import ray as client

    host, port = ray.get(door)
    is_encrypted = os.environ.get("RAY_USE_TLS", "0").lower() in ("1", "true")
    is_outside: bool = client.is_connected()  # type: ignore[no-untyped-call]
    if not host or is_encrypted or is_outside:
        return _Calls(actor)
    key = secrets.token_hex(16)
    try:
        connection = socket.create_connection((host, port), timeout=_REACH_SECONDS)
        connection.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
        connection.sendall(key.encode("ascii") + b"\n")
    except OSError:
        return _Calls(actor)
    return _Line(connection, actor.serve.remote(key))


class _Calls:
    """A call of Ray for each request."""

    def __init__(self, actor: ActorHandle[Any]) -> None:
        self._actor = actor
        self._asked: ObjectRef[str] | None = None
        actor.shut.remote()

    def post(self, text: str, limit: float | None) -> None:
        """Send a request."""
        self._asked = self._actor.answer.remote(text)

    def fetch(self, limit: float | None) -> str | bytearray:
        """The answer to it."""
        import ray

        asked, self._asked = self._asked, None
        assert asked is not None, "nothing was asked"
        return ray.get(asked, timeout=limit)

    def close(self) -> None:
        """Ask nothing more."""


class _Line:
    """A connection to an actor, who reads requests there and writes answers, a line of text each.

    When the actor dies the connection ends, at once. When its whole machine goes, nobody ends it: then Ray knows, and
    is asked whenever nothing has come for a while.

    Args:
        connection: to it.
        serving: the call that it is in as long as there is this line.
    """

    def __init__(self, connection: socket.socket, serving: ObjectRef[None]) -> None:
        self._connection = connection
        self._serving = serving
        self._is_late = False

    def post(self, text: str, limit: float | None) -> None:
        """Send a request, and leave it to ``fetch`` to tell that it could not be sent."""
        from ray.exceptions import GetTimeoutError

        left = memoryview(text.encode("ascii") + b"\n")
        last = _last(limit)
        try:
            while left:
                left = left[self._patiently(self._connection.send, left, last) :]
        except GetTimeoutError:
            self._is_late = True
        except OSError:
            pass

    def fetch(self, limit: float | None) -> str | bytearray:
        """The answer to it.

        Raises:
            GetTimeoutError: its time is over.
            RayError: the actor is gone.
            ShardLostError: the line is.
        """
        import ray
        from ray.exceptions import GetTimeoutError

        found, last = bytearray(), _last(limit)
        if self._is_late:
            raise GetTimeoutError
        try:
            while not found.endswith(b"\n"):
                part = self._patiently(self._connection.recv, _PART, last)
                if not part:
                    raise ConnectionError
                found += part
            return found
        except GetTimeoutError:
            raise
        except OSError:
            with contextlib.suppress(GetTimeoutError):
                ray.get(self._serving, timeout=_REACH_SECONDS)
            raise ShardLostError(None, "the line to an actor with shards has ended") from None

    def _patiently(self, step: Callable[[Any], T], given: object, last: float) -> T:
        """Do something that may have to wait.

        Raises:
            GetTimeoutError: its time is over.
            OSError: the line has ended, or Ray says that the actor has.
        """
        import ray
        from ray.exceptions import GetTimeoutError

        while (left := last - time.monotonic()) > 0:
            self._connection.settimeout(min(left, _LOOK_SECONDS))
            try:
                return step(given)
            except TimeoutError:
                if ray.wait([self._serving], timeout=0)[0]:
                    raise ConnectionError from None
        raise GetTimeoutError

    def close(self) -> None:
        """End it: the actor is out of its call then, and takes others."""
        self._connection.close()


def _last(limit: float | None) -> float:
    return math.inf if limit is None else time.monotonic() + limit


# --- the other end ----------------------------------------------------------------------------------------------------


class Tenement:
    """What the actor is: the shards of its place. Its constructor does nothing that can fail."""

    def __init__(self, tenancy: str) -> None:
        self._tenancy: Tenancy = json.loads(tenancy)
        self._tenants: Tenants | None = None
        self._door: socket.socket | None = None

    def listen(self) -> tuple[str, int]:
        """Where a line to it can be had; ``""`` if it can not. Whoever has the answer knows that it has a machine."""
        import ray

        host: str = ray.util.get_node_ip_address()  # type: ignore[no-untyped-call]
        family = socket.AF_INET6 if ":" in host else socket.AF_INET
        try:
            self._door = socket.create_server((host, 0), family=family)
        except OSError:
            return "", 0
        return host, self._door.getsockname()[1]

    def shut(self) -> None:
        """Nobody comes that way: what is asked are calls."""
        if self._door is not None:
            self._door.close()
            self._door = None

    def serve(self, key: str) -> None:
        """Answer what is asked on the line of whoever has the key, until that ends it."""
        assert self._door is not None, "nobody was told where it is"
        with self._door:
            line, requests = _admitted(self._door, key.encode("ascii"))
        self._door = None
        with contextlib.suppress(OSError), line, requests:
            while (request := requests.readline()).endswith(b"\n"):  # half of one is none
                line.sendall(self.answer(request).encode("ascii") + b"\n")

    def answer(self, requests: str | bytes) -> str:
        """Do what is asked."""
        try:
            if self._tenants is None:
                self._tenants = Tenants(found_world(self._tenancy), self._tenancy)
        except AgentRTError as error:
            return json.dumps(failure(None, error))
        return json.dumps(answered(self._tenants, json.loads(requests)))

    def close(self) -> None:
        """Close its journals."""
        if self._tenants is not None:
            self._tenants.close()


def _admitted(door: socket.socket, key: bytes) -> tuple[socket.socket, BufferedReader]:
    """The connection of whoever has the key, and what comes in there; others who knock are sent away.

    All of them are heard at the same time, and each has some seconds in all: nobody waits for one who says nothing, or
    a byte now and then. When too many have knocked, the first of them is sent away: whoever has the key says it at
    once, and is heard before the next one is let in.
    """
    waiting: list[_Stranger] = []  # in the order in which they knocked
    door.setblocking(False)
    try:
        while True:
            until = waiting[0].until if waiting else math.inf
            left = None if until == math.inf else max(0.0, until - time.monotonic())
            wait([door, *(one.connection for one in waiting)], left)
            for one in tuple(waiting):
                if one.has_said(key + b"\n"):
                    waiting.remove(one)
                    one.connection.setblocking(True)
                    one.connection.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
                    return one.connection, one.connection.makefile("rb")
            with contextlib.suppress(BlockingIOError, ConnectionError):  # nobody knocked, or is not there any more
                waiting.append(_Stranger(door.accept()[0]))
            for one in tuple(waiting):
                if one.is_done or len(waiting) > _MOST_STRANGERS:
                    waiting.remove(one)
                    one.connection.close()
    finally:
        for one in waiting:
            one.connection.close()


class _Stranger:
    """Somebody who has knocked."""

    def __init__(self, connection: socket.socket) -> None:
        connection.setblocking(False)
        self.connection = connection
        self.until = time.monotonic() + _REACH_SECONDS
        self._said = b""
        self._is_wrong = False  # whether it has hung up, or said something else

    @property
    def is_done(self) -> bool:
        """Whether there is nothing to be had from it any more."""
        return self._is_wrong or time.monotonic() >= self.until

    def has_said(self, wanted: bytes) -> bool:
        """Hear what has come in, and not more than that: what follows it is for whoever reads requests."""
        try:
            part = self.connection.recv(len(wanted) - len(self._said))
        except BlockingIOError:
            return False
        except OSError:
            part = b""
        self._said += part
        is_whole = len(self._said) == len(wanted)
        is_right = is_whole and hmac.compare_digest(self._said, wanted)
        self._is_wrong = not part or (is_whole and not is_right)
        return is_right
