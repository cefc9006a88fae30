"""Actions that think by a language model: ``Consider``, ``Plan``, ``Reflect``.

Each is an action among others. Its thinking takes long, so quick rules run meanwhile; when the answer is there it is
ready, and is elected by its utility as any other. What it chose is an activity of its own agent, thought and performed
as one below it, so that flags, leases, tasks, strategies and explanations hold.

A ``Consider`` thinks in this order::

    look      what the agent declares that it sees, and the menu: what could run now
    ask       the mind; a bad answer once more
    stale?    what was read for it is another now: drop it, ask again, or take it
    can it?   the chosen activity thinks below it, with its arguments; if it cannot run, that is a bad answer as well
    ready     until it is elected, or what it chose is not possible any more

Without an answer it is not ready, says why, and asks again after a time that doubles. It ends in no error: a character
without a thought goes on by its rules.

Source: ours, minds.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterable, Mapping
from contextlib import suppress
from typing import TYPE_CHECKING, Any, ClassVar, Final, Literal, TypeVar

from agentrt.activity.author.action import Action
from agentrt.activity.author.arguments import ThinkOutput
from agentrt.errors import (
    ActivityAbortedError,
    ActivityImpossibleError,
    DefinitionError,
    ThoughtFailedError,
    WrongStateError,
)
from agentrt.minds.asked import MisfitError, ModelRequest
from agentrt.minds.menu import Choice, Menu, Option, check_answer
from agentrt.minds.prompt import RULES, fields_of, filled, rendered
from agentrt.minds.recall import MemoryStream
from agentrt.words import class_name, repr_of

if TYPE_CHECKING:
    from agentrt.activity.author.context import Context
    from agentrt.activity.author.seat import SpawnedFrame
    from agentrt.minds.mind import Mind, Thought

E = TypeVar("E")

_STALE: Final = ("drop", "ask again", "take")
_OUTPACED: Final = ("cancel", "finish")
_MOST_AGAIN: Final = 8.0  # times ``again``: how long it waits at most before it asks once more
_MOST_UNFINISHED: Final = 3  # runs in a row, after which it asks as seldom as it can
_MOST_STALE: Final = 2  # times in a row that it asks again since what it read has changed


class _Standing:
    """What a thought looks like from outside: asked 1.2 s ago, 3rd in the queue."""

    __slots__ = ("_mind", "_thought")

    def __init__(self, mind: Mind, thought: Thought) -> None:
        self._mind = mind
        self._thought = thought

    @property
    def asked(self) -> int:
        return 0 if self._thought.is_over else self._thought.asked

    @property
    def queued(self) -> int:
        return self._mind.place(self._thought)

    def words(self) -> str:
        return self._mind.words(self._thought)


class Minded(Action):
    """What actions have in common that ask a mind. Derive from ``Consider`` or one of its kind.

    Attributes:
        system: who the character is, for the model: a template over what it sees.
        prompt: what is asked: a template over what it sees.
        model: which of the mind's models; the first if empty.
        purpose: which budget of the mind's ``purposes`` it uses, too.
        max_tokens: how long an answer may be.
        outpaced: what becomes of its call when something better takes over: ``"cancel"``, at the server as well, or
            ``"finish"``, so that the answer is in the cache.
        pause: for how many game seconds it stands and waits for an answer while it runs: for its next line, for what to
            do instead of a step that failed.
    """

    system: ClassVar[str] = "You decide for one character of a game."
    prompt: ClassVar[str] = ""
    model: ClassVar[str] = ""
    purpose: ClassVar[str] = ""
    max_tokens: ClassVar[int] = 200
    outpaced: ClassVar[Literal["cancel", "finish"]] = "cancel"
    pause: ClassVar[float] = 10.0

    def __init_subclass__(cls, **kwargs: object) -> None:
        super().__init_subclass__(**kwargs)
        subject = class_name(cls)
        _require_seconds(cls, subject, "pause")
        for what in ("system", "prompt"):
            fields_of(subject, what, getattr(cls, what))
        if cls.outpaced not in _OUTPACED:
            raise DefinitionError(subject, f"outpaced is {repr_of(cls.outpaced, 80)}.", "Write 'cancel' or 'finish'.")
        if type(cls.max_tokens) is not int or cls.max_tokens < 1:
            problem = f"max_tokens is {repr_of(cls.max_tokens, 80)}."
            raise DefinitionError(subject, problem, "Write a whole number from 1 on.")

    def sees(self, ctx: Context[Any], args: Any) -> Mapping[str, Any]:
        """What the agent sees, for the templates: plain values, ``Said`` for words of somebody, lists of them.

        An answer rests on this and on nothing else, so equal ones can be had from the cache.
        """
        return {}

    def _seen(self, ctx: Context[Any], args: Any) -> dict[str, Any]:
        seen: object = self.sees(ctx, args)
        if not isinstance(seen, Mapping):
            problem = f"sees returned {repr_of(seen, 80)}."
            raise DefinitionError(class_name(type(self)), problem, 'Return a mapping: {"hour": 19}.')
        return dict(seen)

    def worth(self, ctx: Context[Any], args: Any) -> float:
        """How useful its thought is, to whom the mind listens first: by default the most that its utility can be."""
        return self.spec.high

    async def ask(
        self,
        ctx: Context[Any],
        args: Any,
        seen: Mapping[str, Any],
        schema: Mapping[str, Any],
        check: Callable[[Any], Any],
        *,
        rules: str = "",
        options: tuple[dict[str, Any], ...] = (),
        is_running: bool = False,
    ) -> Any:
        """Ask the mind of the runtime; see ``Mind.ask``.

        Args:
            ctx, args: of the hook.
            seen: what ``sees`` returned.
            schema: a JSON schema of the answer, an object.
            check: makes what is wanted of an answer, or raises a ``ValueError`` that says what is wrong with it.
            rules: what stands below the prompt.
            options: what may be chosen, for scripted models.
            is_running: whether the agent stands and waits meanwhile; then no longer than ``pause``.

        Raises:
            ThoughtFailedError: there is no answer.
        """
        subject, mind = class_name(type(self)), mind_of(ctx, class_name(type(self)))
        system = f"{filled(subject, 'system', self.system, seen)}\n{RULES}"
        prompt = filled(subject, "prompt", self.prompt, seen)
        request = ModelRequest(system, f"{prompt}\n\n{rules}" if rules else prompt, schema, self.max_tokens, self.model)
        asking = mind.ask(
            ctx.agent, request, check=check, worth=self.worth(ctx, args), purpose=self.purpose, outpaced=self.outpaced,
            path=ctx.path, seen=seen, options=options,
            told=lambda thought: ctx.set_debug_progress(_Standing(mind, thought)),
        )  # fmt: skip
        if not is_running:
            return await asking
        which, answer = await ctx.first(asking, ctx.sleep(self.pause))
        if which:
            reason = f"it had no answer within {self.pause:g} s"
            raise ThoughtFailedError(reason, agent=ctx.agent.name, path=ctx.path, tick=ctx.clock.tick)
        return answer


def _require_seconds(cls: type[Minded], subject: str, *names: str) -> None:
    for what in names:
        value: object = getattr(cls, what)
        if not (isinstance(value, (int, float)) and value > 0):
            raise DefinitionError(subject, f"{what} is {repr_of(value, 80)}.", "Write game seconds above 0.")


def mind_of(ctx: Context[Any], subject: str = "") -> Mind:
    """The mind of an action's runtime.

    Raises:
        DefinitionError: it has none.
    """
    mind: Mind | None = ctx.agent.runtime.mind
    if mind is None:
        raise DefinitionError(
            subject or "ctx", "the runtime has no mind.", 'Make one: Mind(runtime, Model("gpt-5-mini")), or a Scripted.'
        )
    return mind


class Consider(Minded):
    """Choose one of several activities, by a language model, and perform it.

    Attributes:
        menu: the activities it may choose of: their names, or ``Option``s; or write ``options``.
        probes: whether those are left out of the menu that could not run now: they are thought about for a tick.
        reads: the names of what it sees that the answer rests on; None for all. If that has changed when the answer
            comes, it is stale.
        stale: what becomes of a stale answer: ``"drop"``, then it is not ready for a while; ``"ask again"``; or
            ``"take"``.
        again: in how many game seconds it asks again when there was no answer; doubled up to eight times that.
        patience: how many game seconds the chosen activity has to become ready.
    """

    menu: ClassVar[Collection[Any]] = ()
    probes: ClassVar[bool] = True
    reads: ClassVar[Collection[str] | None] = None
    stale: ClassVar[Literal["drop", "ask again", "take"]] = "take"
    again: ClassVar[float] = 5.0
    patience: ClassVar[float] = 1.0
    most: ClassVar[int] = 1  # how many choices an answer has; see ``Plan``

    class Output(ThinkOutput):
        """What was chosen."""

        activity: str  # what was chosen
        why: str  # in the model's words

    def __init_subclass__(cls, **kwargs: object) -> None:
        super().__init_subclass__(**kwargs)
        subject = class_name(cls)
        if cls.stale not in _STALE:
            told = f"Write {', '.join(map(repr, _STALE[:-1]))} or {_STALE[-1]!r}."
            raise DefinitionError(subject, f"stale is {repr_of(cls.stale, 80)}.", told)
        if isinstance(cls.menu, str) or not isinstance(cls.menu, Collection):
            raise DefinitionError(
                subject, f"menu is {repr_of(cls.menu, 80)}.", 'Write menu = ("town:chat", "town:walk").'
            )
        _require_seconds(cls, subject, "again", "patience")

    def options(self, ctx: Context[Any], args: Any) -> Iterable[Option]:
        """What it may choose now: by default its ``menu``."""
        return [one if isinstance(one, Option) else Option(one) for one in self.menu]

    async def think(self, ctx: Context[Any], args: Any) -> None:
        wait, changed = self.again, 0
        if self._unfinished >= _MOST_UNFINISHED:  # what it chooses comes to nothing, again and again
            await ctx.sleep(_MOST_AGAIN * self.again)
        while True:
            try:
                choices = await self._choose(ctx, args)
            except ThoughtFailedError as error:
                ctx.clear_think_output()
                ctx.set_debug_progress(error.reason)
                await ctx.sleep(wait)
                wait = min(2 * wait, _MOST_AGAIN * self.again)
                continue
            if choices is None:  # it is stale
                changed += 1
                ctx.set_debug_progress("what it read has changed while it was asked")
                if self.stale == "drop" or changed > _MOST_STALE:
                    changed = 0
                    await ctx.sleep(wait)
                continue
            wait, changed = self.again, 0
            self._choices = choices
            ctx.set_debug_progress("; ".join(one.words() for one in choices))
            frame = self._frame
            while frame.state == "ready":
                ctx.set_think_output(activity=choices[0].activity, why=choices[0].why)
                while frame.state == "ready":
                    await frame.changed.wait()
                ctx.clear_think_output()  # what it chose is not possible now; perhaps in a moment
                await self._ready_in_time(ctx, frame)
            frame.stop()

    _choices: list[Choice]
    _frame: SpawnedFrame
    _unfinished: int = 0  # runs in a row that did not come to their end

    async def run(self, ctx: Context[Any], args: Any) -> None:
        self._unfinished += 1
        try:
            problem = await self._perform(ctx, args)
        except ActivityImpossibleError:  # somebody else was quicker, in the very tick of its election
            problem = f"{self._choices[0].activity} was not possible any more"
        if problem:
            ctx.set_debug_progress(problem)
            await ctx.next_tick()  # a run that takes no time would count as failing again and again
        else:
            self._unfinished = 0

    async def _perform(self, ctx: Context[Any], args: Any) -> str:
        """Do what was chosen; why it did not come to its end, in words, or nothing."""
        await self._frame.run()
        return ""

    # --- inside -------------------------------------------------------------------------------------------------------

    async def _choose(self, ctx: Context[Any], args: Any) -> list[Choice] | None:
        """Ask, and have the first of what was chosen think; None if the answer is stale."""
        seen = self._seen(ctx, args)
        menu = await self._menu(ctx, args)
        rules, problem = f"{_choosing(self.most)}\n{menu.lines()}", ""
        for _ in range(2):
            choices = await self._ask_menu(ctx, args, seen, menu, rules)
            if self.stale != "take" and self._has_changed(ctx, args, seen):
                return None
            problem = await self._can(ctx, choices[0])
            if not problem:
                return choices
            refused = f"You chose {choices[0].activity}, which cannot be done now: {problem}. Choose something else."
            rules = f"{rules}\n{refused}"
        raise ThoughtFailedError(f"what it chose cannot be done: {problem}", agent=ctx.agent.name, path=ctx.path)

    async def _ask_menu(
        self,
        ctx: Context[Any],
        args: Any,
        seen: Mapping[str, Any],
        menu: Menu,
        rules: str,
        *,
        is_running: bool = False,
    ) -> list[Choice]:
        """Ask for choices from a menu."""
        choices: list[Choice] = await self.ask(
            ctx, args, seen, menu.schema(self.most), lambda answer: _chosen(menu, answer, self.most),
            rules=rules, options=menu.plain(), is_running=is_running,
        )  # fmt: skip
        return choices

    async def _menu(self, ctx: Context[Any], args: Any) -> Menu:
        menu = self._offered(ctx, args)
        if self.probes:
            menu = Menu(class_name(type(self)), await _possible(ctx, menu), _known(ctx))
        if not menu.options:
            raise ThoughtFailedError("nothing of its menu could be done now", agent=ctx.agent.name, path=ctx.path)
        return menu

    def _offered(self, ctx: Context[Any], args: Any) -> Menu:
        given: object = self.options(ctx, args)
        if isinstance(given, str) or not isinstance(given, Iterable):
            problem = f"options returned {repr_of(given, 80)}."
            raise DefinitionError(class_name(type(self)), problem, 'Return a list: [Option("town:walk", where=[...])].')
        offered = [one if isinstance(one, Option) else Option(one) for one in given]
        return Menu(class_name(type(self)), offered, _known(ctx))

    async def _can(self, ctx: Context[Any], choice: Choice) -> str:
        """Have what was chosen think; why it cannot be done, in words, or nothing if it is ready."""
        frame = ctx.spawn(choice.activity, choice.args)
        frame.start_thinking()
        problem = await self._ready_in_time(ctx, frame)
        if problem:
            frame.stop()
        else:
            self._frame = frame
        return problem

    async def _ready_in_time(self, ctx: Context[Any], frame: SpawnedFrame) -> str:
        """Wait until an activity is ready, as long as there is patience; why it is not, or nothing."""
        try:
            which, _ = await ctx.first(_ready(frame), ctx.sleep(self.patience))
        except ActivityImpossibleError:
            return "nothing that it needs for that is there"
        return f"it was not ready within {self.patience:g} s" if which or frame.state != "ready" else ""

    def _has_changed(self, ctx: Context[Any], args: Any, seen: Mapping[str, Any]) -> bool:
        now = self.sees(ctx, args)
        names = set(seen) | set(now) if self.reads is None else self.reads
        return any(now.get(name) != seen.get(name) for name in names)


async def _ready(frame: SpawnedFrame) -> None:
    """Wait until something is ready; or until it is not thought about any more.

    That happens when the thinking above is stopped in the very tick in which it became ready: then this wakes before
    its cancellation is heard of, and what is wrong about that is nobody's fault.
    """
    with suppress(WrongStateError):
        await frame.ready()


def _known(ctx: Context[Any]) -> dict[str, type[Action]]:
    """Who performs what, of the actions that the agent knows: the first of each activity."""
    return {action.spec.activity: action for action in reversed(ctx.agent.actions)}


async def _possible(ctx: Context[Any], menu: Menu) -> list[Option]:
    """Those that could run now: each is thought about, with each of its choices, for a tick."""
    tried = {option: [(given, ctx.spawn(option.activity, given)) for given in menu.samples(option)]
             for option in menu.options}  # fmt: skip
    frames = [frame for one in tried.values() for _, frame in one]
    for frame in frames:
        frame.start_thinking()
    await ctx.next_tick()
    found = []
    for option, samples in tried.items():
        could = [given for given, frame in samples if not frame.is_impossible]
        found += [option.only(could)] if could else [] if samples else [option]
    for frame in frames:
        frame.stop()
    return found


def _choosing(most: int) -> str:
    if most == 1:
        return "Choose one of these, with its arguments, and say why:"
    return f"Plan up to {most} steps, in order, each one of these with its arguments, and say why:"


def _chosen(menu: Menu, answer: object, most: int) -> list[Choice]:
    if most == 1:
        return [menu.choose(answer)]
    steps = answer.get("steps") if isinstance(answer, Mapping) else None
    if not isinstance(steps, list) or not 1 <= len(steps) <= most:
        problem = f"steps is no list of 1 to {most} steps"
        raise MisfitError(problem, problem)
    return [menu.choose(step) for step in steps]


class Plan(Consider):
    """Choose several activities, by a language model, and perform them one after the other.

    When a step fails it thinks again, from what was done so far; so often as ``revisions`` says, then it ends.

    Attributes:
        most: how many steps a plan has at most.
        revisions: how often it may plan anew while it runs.
        probes: no: what is possible only when the first steps are done stands on its menu, too.
    """

    most: ClassVar[int] = 5
    probes: ClassVar[bool] = False
    revisions: ClassVar[int] = 2

    async def _perform(self, ctx: Context[Any], args: Any) -> str:
        done: list[str] = []
        revised = 0
        first: SpawnedFrame | None = self._frame
        steps = list(self._choices)
        while steps:
            step = steps.pop(0)
            left = "".join(f"; then {one.activity}" for one in steps)
            ctx.set_debug_progress(f"{step.words()}{left}")
            try:
                if first is not None:
                    await first.run()
                    first.stop()
                else:
                    await ctx.execute(step.activity, step.args)
            except (ActivityImpossibleError, ActivityAbortedError) as error:
                revised += 1
                if revised > self.revisions:
                    return f"{step.activity} failed, and it was planned anew {self.revisions} times"
                try:
                    steps = await self._revise(ctx, args, done, step, str(error))
                except ThoughtFailedError as failure:
                    return f"{step.activity} failed, and there is no other plan: {failure.reason}"
            else:
                done.append(step.activity)
            first = None
        return ""

    async def _revise(self, ctx: Context[Any], args: Any, done: list[str], failed: Choice, reason: str) -> list[Choice]:
        seen = self._seen(ctx, args)
        menu = self._offered(ctx, args)
        was = f"You have done: {', '.join(done) or 'nothing'}. Then {failed.activity} failed: {rendered(reason)[:200]}."
        rules = f"{was}\n{_choosing(self.most)}\n{menu.lines()}"
        return await self._ask_menu(ctx, args, seen, menu, rules, is_running=True)


class Reflect(Minded):
    """Sum up what was remembered lately, by a language model, and remember that.

    It is ready when enough of importance came in since the last time. Its entity has a ``MemoryStream``.

    Attributes:
        threshold: how much importance, in sum.
        most: how many conclusions it draws.
        purpose: ``"reflect"``: give it a budget of its own.
    """

    system: ClassVar[str] = "You are the memory of one character of a game."
    prompt: ClassVar[str] = "What it remembers, the newest last: {remembered}"
    purpose: ClassVar[str] = "reflect"
    threshold: ClassVar[float] = 3.0
    most: ClassVar[int] = 3

    def sees(self, ctx: Context[Any], args: Any) -> Mapping[str, Any]:
        memory: MemoryStream = ctx.entity[MemoryStream]
        return {"remembered": [one.line() for one in memory.entries[-_MOST_REFLECTED:]]}

    async def think(self, ctx: Context[Any], args: Any) -> None:
        memory: MemoryStream = ctx.entity[MemoryStream]
        while memory.since_reflection < self.threshold:
            await ctx.sleep(1.0)
        ctx.set_think_output()

    async def run(self, ctx: Context[Any], args: Any) -> None:
        memory: MemoryStream = ctx.entity[MemoryStream]
        item = {"type": "string", "maxLength": 300}
        schema = {
            "type": "object",
            "properties": {"conclusions": {"type": "array", "items": item, "minItems": 1, "maxItems": self.most}},
            "required": ["conclusions"],
            "additionalProperties": False,
        }

        def check(answer: object) -> list[str]:
            return [str(one) for one in check_answer(schema, answer, "the answer")["conclusions"]]

        rules = f"Draw up to {self.most} conclusions that matter for what it does next, a sentence each."
        memory.reflected()  # whatever comes of it: who has no answer does not ask on and on
        try:
            found = await self.ask(ctx, args, self._seen(ctx, args), schema, check, rules=rules)
        except ThoughtFailedError as error:
            ctx.set_debug_progress(error.reason)
            await ctx.next_tick()
            return
        for text in found:
            # by itself: it may have been made of what others said, and is quoted as that is
            memory.note(ctx.clock.tick, text, importance=0.8, by=ctx.agent.name, kind="thought")


_MOST_REFLECTED: Final = 40


def consider(
    does: object,
    *,
    utility: float | tuple[float, float],
    menu: Collection[object] = (),
    prompt: str = "",
    name: str = "",
    **attributes: object,
) -> Callable[[Callable[[Context[Any], Any], Mapping[str, Any]]], type[Consider]]:
    """Make a ``Consider`` of a function that says what its agent sees: a decorator.

    ::

        @consider("town:free_time", utility=(0.2, 0.6), menu=("town:chat", "town:walk"), prompt="It is {hour} o'clock.")
        def spend_the_evening(ctx, args):
            return {"hour": ctx.entity[Watch].hour}

    Args:
        does, utility, menu, prompt, name: as attributes of ``Consider``.
        attributes: the others.
    """

    def make(sees: Callable[[Context[Any], Any], Mapping[str, Any]]) -> type[Consider]:
        body: dict[str, Any] = {
            "does": does, "utility": utility, "menu": menu, "prompt": prompt, **attributes,
            "sees": lambda self, ctx, args: sees(ctx, args),
            "__doc__": sees.__doc__, "__module__": sees.__module__, "__qualname__": sees.__qualname__,
        }  # fmt: skip
        if name:
            body["name"] = name
        return type(sees.__name__, (Consider,), body)

    return make
