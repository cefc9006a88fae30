"""Shards on a cluster: each place is an actor of Ray, on whichever machine Ray puts it.

Whoever runs the shards connects to a cluster first (``ray.init``) and lets go of it afterwards, for it may have more to
do. What Ray guarantees is not enough by itself, and here is what is made of it:

* An actor takes calls in order from *one* submitter. There is one: whoever waits at the barrier asks each actor once in
  a window, and not again before it has answered.
* A call is made at most once (``max_task_retries=0``): whether one that was lost has run is for the journal to say.
* An actor that is started anew by Ray has run its constructor and nothing else (hence ``max_restarts=0``). A place that
  is lost gets a new actor here, whose shards come back by their journals.

Journals lie in a folder that all machines see. Requests and answers are the lines that a pipe would have, so nothing
of the game is ever unpickled.
"""

from __future__ import annotations

import contextlib
import importlib.util
import json
from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

from agentrt.errors import AgentRTError, MissingExtraError, ShardError, ShardLostError
from agentrt.shards.pipes import answered, checked_limit, failure, found_world
from agentrt.shards.places import ShardAnswer, ShardRequest, Tenancy, Tenants
from agentrt.words import error_words

if TYPE_CHECKING:
    from ray import ObjectRef
    from ray.actor import ActorHandle

    from agentrt.shards.shard import ShardedWorld


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
        self._placed: ObjectRef[None] | None = None  # until it was seen that it lives
        self._asked: ObjectRef[str] | None = None

    def start(self, world: ShardedWorld, tenancy: Tenancy) -> None:
        """See ``ShardPlace``."""
        import ray

        if not ray.is_initialized():
            raise ShardError(None, "there is no cluster. Connect to one first: ray.init(...)")
        self._kill()
        self._actor = self._hire(json.dumps(tenancy))
        self._placed = self._actor.lives.remote()

    def _hire(self, tenancy: str) -> ActorHandle[Any]:
        import ray

        options = ray.remote(num_cpus=self._cpus, resources=self._resources, max_restarts=0, max_task_retries=0)
        # Ray's types promise the class that was given, whose methods have no ``remote``.
        return options(Tenement).remote(tenancy)  # type: ignore[return-value]

    def ask(self, requests: Sequence[ShardRequest]) -> None:
        """See ``ShardPlace``."""
        assert self._actor is not None, "it was not started"
        self._is_timed = all(one["inbound"] is not None for one in requests)
        self._asked = self._actor.answer.remote(json.dumps(list(requests))) if requests else None

    def answers(self) -> list[ShardAnswer]:
        """See ``ShardPlace``."""
        import ray
        from ray.exceptions import GetTimeoutError, RayError, RayTaskError

        asked, self._asked = self._asked, None
        if asked is None:
            return []
        self._require_room()
        try:
            told = json.loads(ray.get(asked, timeout=self._limit if self._is_timed else None))
        except RayTaskError:  # a bug of ours: it would come again
            raise
        except GetTimeoutError:
            self._kill()
            problem = f"an actor with shards did not answer within {self._limit:g} s, and was ended"
            raise ShardLostError(None, problem) from None
        except RayError as error:
            raise ShardLostError(None, f"an actor with shards is gone: {error_words(error, 400)}") from None
        if isinstance(told, dict):
            raise ShardError(told["shard"], told["error"])
        return list(told)

    def _require_room(self) -> None:
        """An actor for which no machine has room waits for ever, and Ray tells nobody here."""
        import ray

        placed, self._placed = self._placed, None
        if placed is None or ray.wait([placed], timeout=_ROOM_SECONDS)[0]:
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

        if self._actor is not None and self._placed is None and ray.is_initialized():
            with contextlib.suppress(RayError):
                ray.get(self._actor.close.remote())
        self._kill()

    def _kill(self) -> None:
        """End the actor, also one that only does not answer: two may not write to one journal."""
        import ray

        actor, self._actor = self._actor, None
        if actor is not None and ray.is_initialized():
            ray.kill(actor)


_ROOM_SECONDS = 60.0  # real ones; to start a process takes some


class Tenement:
    """What the actor is: the shards of its place. Its constructor does nothing that can fail."""

    def __init__(self, tenancy: str) -> None:
        self._tenancy: Tenancy = json.loads(tenancy)
        self._tenants: Tenants | None = None

    def lives(self) -> None:
        """Whoever waits for the answer knows that it has found a machine."""

    def answer(self, requests: str) -> str:
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
