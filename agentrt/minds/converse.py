"""Conversations: two characters talk, by turns, each line a thought of its own.

Who begins performs ``Converse``; the other one has ``Attend`` among its actions, which becomes ready when somebody
speaks to it, and is elected by its utility as any other. So nobody is held: a wolf comes, and whoever runs from it
leaves the conversation where it is; the other one hears that and goes on with its life.

A line is bounded, is remembered by both if they have a ``MemoryStream``, and is told to whoever listens to
``Talks.said``: what draws balloons, or hears by chance.

Source: ours, minds.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any, ClassVar, Final, NamedTuple
from weakref import WeakKeyDictionary

from agentrt.activity.author.arguments import ActionArgs, ThinkOutput
from agentrt.errors import ThoughtFailedError
from agentrt.kernel.signals import Signal
from agentrt.minds.consider import Minded
from agentrt.minds.menu import check_answer
from agentrt.minds.prompt import Said
from agentrt.minds.recall import MemoryStream

if TYPE_CHECKING:
    from agentrt.activity.author.context import Context
    from agentrt.agent.agent import Agent, AgentRuntime

_MOST_SHOWN: Final = 12  # lines of a conversation in a prompt
_LINE: Final[dict[str, Any]] = {
    "type": "object",
    "properties": {
        "say": {"type": "string", "minLength": 1, "maxLength": 300, "description": "What you say; a sentence or two."},
        "is_over": {"type": "boolean", "description": "Whether that ends the conversation."},
    },
    "required": ["say", "is_over"],
    "additionalProperties": False,
}


class Line(NamedTuple):
    """Something that was said."""

    conversation: Conversation
    speaker: Agent
    text: str


class Conversation:
    """Two agents that talk, or are about to."""

    __slots__ = ("changed", "data", "end", "lines", "members", "present", "topic", "turn")

    def __init__(self, opener: Agent, partner: Agent, topic: str) -> None:
        self.members: tuple[Agent, Agent] = (opener, partner)  # who began, and who was spoken to
        self.present: list[Agent] = [opener]
        self.topic: str = topic
        self.lines: list[Said] = []
        self.turn: Agent = opener
        self.end: str = ""  # why it is over; empty while it is not
        self.changed: Signal = Signal()
        self.data: dict[str, Any] = {}  # what the game keeps about it

    @property
    def is_over(self) -> bool:
        return bool(self.end)

    def partner_of(self, agent: Agent) -> Agent:
        first, second = self.members
        return second if agent is first else first

    def join(self, agent: Agent) -> None:
        self.present.append(agent)
        self.changed.emit()

    def leave(self, agent: Agent) -> None:
        """Somebody goes; then it is over."""
        if agent in self.present:
            self.present.remove(agent)
        self.finish(f"{agent.name} left")

    def say(self, agent: Agent, text: str, *, is_last: bool) -> None:
        self.lines.append(Said(agent.name, text))
        self.turn = self.partner_of(agent)
        if is_last:
            self.finish("they were done")
        else:
            self.changed.emit()

    def finish(self, why: str) -> None:
        if not self.end:
            self.end = why
            self.changed.emit()

    def __repr__(self) -> str:
        return f"<Conversation of {self.members[0].name} and {self.members[1].name}: {self.end or 'goes on'}>"


class Talks:
    """Who talks to whom in one runtime; ``Talks.of(runtime)``."""

    _all: ClassVar[WeakKeyDictionary[AgentRuntime, Talks]] = WeakKeyDictionary()

    def __init__(self) -> None:
        self.said: Signal = Signal()  # emitted with each ``Line``
        self.changed: Signal = Signal()  # emitted when somebody begins to talk, or ends
        self.open: dict[str, Conversation] = {}  # by the name of each member, from the first word on to the last

    @classmethod
    def of(cls, runtime: AgentRuntime) -> Talks:
        """Those of a runtime."""
        found = cls._all.get(runtime)
        if found is None:
            found = cls._all[runtime] = cls()
        return found

    def is_free(self, agent: Agent) -> bool:
        return agent.name not in self.open

    def begin(self, opener: Agent, partner: Agent, topic: str) -> Conversation:
        made = Conversation(opener, partner, topic)
        self.open[opener.name] = self.open[partner.name] = made
        self.changed.emit()
        return made

    def close(self, conversation: Conversation, agent: Agent) -> None:
        """An agent has no part in it any more."""
        conversation.leave(agent)
        is_gone = False
        for member in conversation.members:
            if self.open.get(member.name) is conversation:
                del self.open[member.name]
                is_gone = True
        if is_gone:
            self.changed.emit()

    def __repr__(self) -> str:
        return f"<Talks: {len(set(self.open.values()))} go on>"


class Talking(Minded):
    """What both sides of a conversation have in common.

    Attributes:
        most_lines: how many lines both say together, at most.
        pace: how many characters are spoken in a game second.
    """

    system: ClassVar[str] = "You are {name}, a character of a game, and you talk with {partner}."
    prompt: ClassVar[str] = "It is about: {topic}\nSaid so far: {said}"
    max_tokens: ClassVar[int] = 120
    most_lines: ClassVar[int] = 8
    pace: ClassVar[float] = 30.0

    def about(self, ctx: Context[Any], args: Any) -> str:
        """What the conversation is about, by who begins it."""
        return ""

    async def _talk(self, ctx: Context[Any], args: Any, conversation: Conversation) -> None:
        """Take part, up to the end."""
        me = ctx.agent
        partner = conversation.partner_of(me)
        while not conversation.is_over:
            if conversation.turn is not me:
                await conversation.changed.wait()
                continue
            seen = {
                "name": me.name, "partner": partner.name,
                "topic": Said(conversation.members[0].name, conversation.topic),
                "said": list(conversation.lines[-_MOST_SHOWN:]), **self.sees(ctx, args),
            }  # fmt: skip
            is_last = len(conversation.lines) + 1 >= self.most_lines
            rules = "Say your next line." + (" It is the last one: say good-bye." if is_last else "")
            try:
                said = await self.ask(ctx, args, seen, _LINE, _checked, rules=rules, is_running=True)
            except ThoughtFailedError as error:
                conversation.finish(f"{me.name} has no words: {error.reason}")
                return
            if conversation.end:  # the other one has gone meanwhile
                return
            self._remember(ctx, conversation, me, said["say"])
            await ctx.sleep(len(said["say"]) / self.pace)
            conversation.say(me, said["say"], is_last=is_last or said["is_over"])

    def _remember(self, ctx: Context[Any], conversation: Conversation, me: Agent, text: str) -> None:
        partner = conversation.partner_of(me)
        ctx.set_debug_progress(f"says to {partner.name}: {text}")
        for member in (me, partner):
            memory = member.entity.get(MemoryStream) if hasattr(member.entity, "get") else None
            if memory is not None:
                memory.note(ctx.clock.tick, text, by=me.name, kind="said", importance=0.4)
        assert me.runtime is not None
        Talks.of(me.runtime).said.emit(Line(conversation, me, text))


def _checked(answer: object) -> Mapping[str, Any]:
    return check_answer(_LINE, answer, "the answer")


class Converse(Talking):
    """Begin to talk with somebody, and talk until it is over. It is ready while that one is free.

    Attributes:
        patience: how many game seconds it waits for the other one to listen.
    """

    patience: ClassVar[float] = 5.0

    class Args(ActionArgs):
        """Whom to talk with."""

        who: object  # the entity to talk with

    async def think(self, ctx: Context[Any], args: Any) -> None:
        talks = Talks.of(ctx.agent.runtime)
        while True:
            partner = _agent_of(ctx, args.who)
            if partner is None or partner is ctx.agent:
                ctx.reject("there is nobody to talk with")
            if talks.is_free(partner) and talks.is_free(ctx.agent):
                ctx.set_think_output()
            else:
                ctx.clear_think_output()
            await talks.changed.wait()

    def start(self, ctx: Context[Any], args: Any) -> None:
        talks, partner = Talks.of(ctx.agent.runtime), _agent_of(ctx, args.who)
        if partner is None or not (talks.is_free(partner) and talks.is_free(ctx.agent)):
            ctx.reject("it talks with somebody")
        self._conversation = talks.begin(ctx.agent, partner, self.about(ctx, args))

    _conversation: Conversation | None = None  # none where its start was refused: then it is stopped all the same

    async def run(self, ctx: Context[Any], args: Any) -> None:
        conversation = self._conversation
        assert conversation is not None
        if len(conversation.present) < 2:
            await ctx.first(conversation.changed.wait(), ctx.sleep(self.patience))
        if len(conversation.present) < 2:
            ctx.set_debug_progress("nobody listened")
            return
        await self._talk(ctx, args, conversation)

    def stop(self, ctx: Context[Any], args: Any) -> None:
        if self._conversation is not None:
            Talks.of(ctx.agent.runtime).close(self._conversation, ctx.agent)


class Attend(Talking):
    """Listen to who speaks to one, and talk until it is over. It is ready when somebody does."""

    class Output(ThinkOutput):
        """Who spoke to it."""

        who: str  # the name of who speaks

    async def think(self, ctx: Context[Any], args: Any) -> None:
        talks = Talks.of(ctx.agent.runtime)
        while True:
            found = talks.open.get(ctx.agent.name)
            if found is not None and found.members[1] is ctx.agent and not found.is_over:
                ctx.set_think_output(who=found.members[0].name)
            else:
                ctx.clear_think_output()
            await talks.changed.wait()

    def start(self, ctx: Context[Any], args: Any) -> None:
        found = Talks.of(ctx.agent.runtime).open.get(ctx.agent.name)
        if found is None or found.is_over:
            ctx.reject("nobody speaks to it any more")
        self._conversation = found
        found.join(ctx.agent)

    _conversation: Conversation | None = None  # none where its start was refused: then it is stopped all the same

    async def run(self, ctx: Context[Any], args: Any) -> None:
        assert self._conversation is not None
        await self._talk(ctx, args, self._conversation)

    def stop(self, ctx: Context[Any], args: Any) -> None:
        if self._conversation is not None:
            Talks.of(ctx.agent.runtime).close(self._conversation, ctx.agent)


def _agent_of(ctx: Context[Any], who: object) -> Agent | None:
    found: list[Agent] = [agent for agent in ctx.agent.runtime.agents if agent.entity is who or agent is who]
    return found[0] if found else None
