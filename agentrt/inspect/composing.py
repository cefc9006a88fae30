"""What a client is told of a runtime that lives: messages composed of what it watches, on the runtime's own thread.

Only what is looked at is composed, and only what has changed since is sent: ``Session.told`` remembers. An agent that
three clients look at is looked at once: a ``Round`` keeps what was composed until the next one.

Reading changes nothing: snapshots, summaries, and figures are all that is asked for.
"""

from __future__ import annotations

from functools import cached_property
from typing import TYPE_CHECKING, Any

from agentrt.inspect.history import History, as_row
from agentrt.inspect.protocol import AgentsQuery, EventsQuery, TimelineQuery
from agentrt.inspect.sessions import Message, Session
from agentrt.inspect.timelines import Timelines, as_span_row
from agentrt.snapshot import AgentSnapshot, explain, outlines, snapshot_agent, summarize

if TYPE_CHECKING:
    from agentrt.agent import Agent
    from agentrt.runtime import Runtime

__all__ = ["Round", "Seen", "compose"]

_LIST_SECONDS = 0.5  # how often a list that nobody touched is made anew
_MOST_SPANS = 3000


class Round:
    """What was composed in one round, for all clients.

    Args:
        runtime: what they look at.
        history: what happened lately.
        timelines: of the agents that are looked at.
        now: real seconds.

    Attributes:
        runtime: as given.
        history: as given.
        timelines: as given.
        now: as given.
    """

    __slots__ = ("_lists", "_seen", "history", "now", "runtime", "timelines")

    def __init__(self, runtime: Runtime, history: History, timelines: Timelines, now: float) -> None:
        self.runtime: Runtime = runtime
        self.history: History = history
        self.timelines: Timelines = timelines
        self.now: float = now
        self._seen: dict[str, Seen] = {}
        self._lists: dict[AgentsQuery, Message] = {}

    def see(self, name: str) -> Seen:
        """What an agent does.

        Args:
            name: the agent's.
        """
        if name not in self._seen:
            agent = self.runtime.find(name)
            self._seen[name] = Seen(agent, None if agent is None else snapshot_agent(agent))
        return self._seen[name]

    def agents(self, query: AgentsQuery) -> Message:
        """The list of agents, as a client looks for them.

        Args:
            query: what it looks for.
        """
        if query not in self._lists:
            self._lists[query] = _agents(self.runtime.agents, query)
        return self._lists[query]


class Seen:
    """An agent that is looked at, and what is made of it when somebody asks.

    Args:
        agent: the agent; None if there is none.
        snapshot: what it does.

    Attributes:
        agent: as given.
        snapshot: as given.
    """

    def __init__(self, agent: Agent | None, snapshot: AgentSnapshot | None) -> None:
        self.agent: Agent | None = agent
        self.snapshot: AgentSnapshot | None = snapshot

    @cached_property
    def data(self) -> Message | None:
        """The snapshot as plain values."""
        return None if self.snapshot is None else self.snapshot.as_json()

    @cached_property
    def text(self) -> str:
        """The snapshot in words."""
        return "" if self.snapshot is None else explain(self.snapshot)


def compose(round_: Round, session: Session) -> list[Message]:
    """What a client is told now, besides the state.

    Args:
        round_: what was composed for others.
        session: the client.
    """
    watch = session.watch
    messages: list[Message] = []
    if watch.agents is not None and session.at_most_every(_LIST_SECONDS, "agents", round_.now):
        _if_changed(messages, session, "agents", round_.agents(watch.agents))
    if watch.agent is not None:
        _compose_agent(messages, round_, session, watch.agent)
    if watch.events is not None:
        _compose_events(messages, round_, session, watch.events)
    if watch.timeline is not None:
        _compose_timeline(messages, round_, session, watch.timeline)
    return messages


def _if_changed(messages: list[Message], session: Session, kind: str, message: Message) -> None:
    if session.told.get(kind) != message:
        session.told[kind] = message
        messages.append(message)


# --- the list of agents -----------------------------------------------------------------------------------------------


def _agents(agents: tuple[Agent, ...], query: AgentsQuery) -> Message:
    """The rows of one page. Only these are composed, unless the query is about what agents do."""
    wanted, kind, running = query.filter.casefold(), query.kind, query.running.casefold()
    found: list[Any] = []
    matching = 0
    for agent in agents:
        its_kind = str(getattr(agent.entity, "kind", "") or "")
        if kind and its_kind != kind:
            continue
        if wanted and wanted not in agent.name.casefold() and wanted not in its_kind.casefold():
            continue
        row: Any = agent
        if running:
            row = summarize(agent)
            if running not in f"{row.running}\n{row.doing}\n{row.status}".casefold():
                continue
        if query.offset <= matching < query.offset + query.limit:
            found.append(row)
        matching += 1
    rows = found if running else [summarize(agent) for agent in found]
    return {
        "is": "agents",
        "total": len(agents),
        "matching": matching,
        "offset": query.offset,
        "rows": [row.as_json() for row in rows],
    }


# --- one agent --------------------------------------------------------------------------------------------------------


def _compose_agent(messages: list[Message], round_: Round, session: Session, name: str) -> None:
    one = round_.see(name)
    seen = (name, None if one.data is None else {**one.data, "tick": 0, "seconds": 0.0})
    if session.told.get("agent") == seen:
        return
    session.told["agent"] = seen
    trees: Message = {}
    if one.agent is not None and one.data is not None:
        known = (name, [(driver["name"], driver["outline"]) for driver in one.data["drivers"]])
        if session.told.get("outlines") != known:
            session.told["outlines"] = known
            trees = {driver: outline.as_json() for driver, outline in outlines(one.agent).items()}
    messages.append(
        {
            "is": "agent",
            "name": name,
            "tick": round_.runtime.tick,
            "snapshot": one.data,
            "explain": one.text,
            "outlines": trees,
        }
    )


# --- events -----------------------------------------------------------------------------------------------------------


def _compose_events(messages: list[Message], round_: Round, session: Session, query: EventsQuery) -> None:
    is_new = session.wants_reset
    told = round_.history.tell(query, session.cursor, is_new=is_new)
    session.cursor = told.cursor
    session.wants_reset = False
    session.missed += told.missed
    if is_new or told.records or told.missed:
        rows = [as_row(record) for record in told.records]
        messages.append({"is": "events", "reset": is_new, "records": rows, "missed": told.missed})


# --- the time line ----------------------------------------------------------------------------------------------------


def _compose_timeline(messages: list[Message], round_: Round, session: Session, query: TimelineQuery) -> None:
    tick = round_.runtime.tick
    rows = [as_span_row(span) for span in round_.timelines.spans(query)[-_MOST_SPANS:]]
    last = tick if query.last is None else query.last
    seen = (query, rows)
    # What is there may be the same while time goes on: the page draws what is open up to ``now``.
    if session.told.get("timeline") != seen or session.at_most_every(_LIST_SECONDS, "timeline", round_.now):
        session.told["timeline"] = seen
        messages.append(
            {
                "is": "timeline",
                "agent": query.agent,
                "first": query.first,
                "last": last,
                "now": tick,
                "spans": rows,
            }
        )
