"""A mind: what all agents of one runtime ask their models by, with one queue, one set of books, one cache.

*Asking takes a tick at least.* What is asked within a tick is served at the next intake, the most useful first, then in
the order of the agents: so the order does not rest on who came to ask first, and a hit in the cache comes no earlier
than it would be asked for. What comes from outside comes in at an intake too; a scripted answer, when its time is over.

*Three things keep a request waiting*, and ``explain`` says which: its place in the queue, budgets that are used up, and
a model that failed. A request that a model could answer later is asked again, after a time that doubles. After three
failures in a row, of whomever, the mind rests, and then tries with one request before it asks for more: a server that
is down costs no budget, and is not asked by everybody at once when it is back.

*Who is outpaced* is cancelled where it waits, as anything that thinks; then its call is cancelled at the server, or
goes on for the cache, as it was asked for. What is reserved in the books for a call that was cancelled stays used.

*An answer is checked before it is taken*, by whoever asked. One that cannot be taken is asked for once more, with what
is wrong; only what was taken is kept in the cache.

Nothing of this is random, and nothing but ``Model.ask`` leaves the game; what comes of that is in a recording, so that
a replay has the same queue, the same books, the same cache. The text of a request is in no trace.

Source: ours, minds.
"""

from __future__ import annotations

from collections import OrderedDict, deque
from collections.abc import Callable, Mapping, Sequence
from contextlib import suppress
from typing import TYPE_CHECKING, Any, Final, Literal, TypeVar

from agentrt.errors import ENDS_PROGRAM, DefinitionError, MissingExtraError, ThoughtFailedError, did_you_mean
from agentrt.kernel.trace import TraceEvent, TraceRecord
from agentrt.kernel.traps import Waiter, at_once, sleep_ticks, suspend_on
from agentrt.minds.accounts import Account, Budget, Spending, check_budgets, too_much, used_up
from agentrt.minds.asked import (
    AGAIN,
    FREE,
    REFUSED,
    Asked,
    MisfitError,
    ModelRequest,
    Reply,
    Usage,
    read_reply,
    tokens_of,
)
from agentrt.minds.menu import load_validator
from agentrt.minds.model import Model, Scripted
from agentrt.snapshot.views import MindView, ThoughtText, ThoughtView
from agentrt.words import counted, error_words, repr_of, type_name, words_of

if TYPE_CHECKING:
    from agentrt.agent.agent import Agent
    from agentrt.kernel.kernel import Timer
    from agentrt.kernel.strand import Strand
    from agentrt.kernel.trace import Detail
    from agentrt.minds.model import AnyModel
    from agentrt.runtime.runtime import Runtime

T = TypeVar("T")

_MOST_KEPT: Final = 64  # thoughts that are over, for who looks
_MANY_FAILURES: Final = 3  # in a row, after which a mind rests
_NOTHING: Final[Mapping[str, Any]] = {}


class Thought:
    """One thing that is asked, until it has an answer or has none."""

    __slots__ = (
        "agent", "asked", "attempts", "began", "bound", "call", "check", "corrections", "ended", "is_from_cache",
        "is_misfit", "key", "model", "not_before", "number", "options", "outpaced", "path", "purpose", "reason",
        "request", "seen", "spendings", "state", "strand", "timer", "untaken", "usage", "used", "value", "waiter",
        "worth",
    )  # fmt: skip

    def __init__(
        self,
        number: int,
        agent: Agent,
        request: ModelRequest,
        model: AnyModel,
        *,
        asked: int,
        path: str,
        purpose: str,
        worth: float,
        outpaced: str,
        check: Callable[[Any], Any] | None,
        seen: Mapping[str, Any],
        options: Sequence[Mapping[str, Any]],
    ) -> None:
        self.number: int = number  # which thought of its mind, from 1
        self.agent: Agent = agent
        self.request: ModelRequest = request  # as it is asked now
        self.key: str = request.key  # of what was asked at first, by which the answer is kept
        self.model: AnyModel = model
        self.asked: int = asked  # the tick in which it was asked
        self.path: str = path  # the place in the plan of who asks
        self.purpose: str = purpose
        self.worth: float = worth  # the most useful is served first
        self.outpaced: str = outpaced  # what becomes of its call when nobody waits any more
        self.check: Callable[[Any], Any] | None = check
        self.bound: int = model.bound(request)  # how many tokens a call can use; told by an author's own function
        self.seen: Mapping[str, Any] = seen  # what it was made of
        self.options: Sequence[Mapping[str, Any]] = options
        self.state: str = "queued"  # queued, called, answered, failed or outpaced
        self.reason: str = ""  # why it waits, or why it has no answer
        self.began: int = 0  # the tick in which its call began; 0 while it has none
        self.ended: int = 0  # the tick in which it was over; 0 before
        self.attempts: int = 0  # how many of its calls failed
        self.corrections: int = 0  # how many answers could not be taken
        self.not_before: int = 0  # the tick from which on it may be asked again
        self.usage: int = 0  # tokens that all its calls have used, or may have
        self.used: Usage = Usage()  # the same as its model said
        self.call: int = -1  # the number of its last call outside; -1 before
        self.value: object = None  # what was answered; plain
        self.untaken: tuple[object, str] | None = None  # the last answer that could not be taken, and why
        self.is_from_cache: bool = False
        self.is_misfit: bool = False  # whether what is kept was good for somebody else, and not for this one
        self.waiter: Waiter | None = Waiter()  # of who asked; None when nobody waits
        self.spendings: list[tuple[Account, Spending]] = []  # of the call that is under way
        self.strand: Strand | None = None  # what waits for a call outside
        self.timer: Timer | None = None  # for a scripted answer

    @property
    def is_over(self) -> bool:
        return self.state not in ("queued", "called")

    def __repr__(self) -> str:
        return f"<Thought {self.number} of {self.agent.name}: {self.state}>"


class Mind:
    """Asks language models for the agents of a runtime. Made once for each; found as ``runtime.mind``.

    Args:
        runtime: whose agents think by it.
        models: a ``Model``, or a ``Scripted`` in place of one; several are told apart by their names, and who says
            nothing means the first.
        budget: what all agents together may use.
        each: what each agent may use.
        purposes: what may be used for a purpose: ``{"reflect": Budget(tokens=20_000, per=3600)}``.
        at_once: how many calls may be under way.
        cache: how many answers are kept, by all that was asked; 0 for none.
        retries: how often a call that failed is made again.
        backoff: after how many game seconds it is, at first and at most; doubled each time.
        delay: in how many game seconds an answer from outside comes at the earliest, be its server as quick as it will.
            On the plain host, where a call is waited for, it is waited for only then: the game goes on meanwhile.
        keep_prompts: whether recordings have what was asked, beside its hash.
        stand_in: answers in a branch of a recording what was never asked in the recorded run; without one such a call
            is an error, or goes to the model if the branch may call the outside.

    Raises:
        DefinitionError: the runtime has a mind already, or one of the arguments does not fit.
    """

    def __init__(
        self,
        runtime: Runtime,
        *models: AnyModel,
        budget: Budget = Budget(),  # noqa: B008 - it is frozen
        each: Budget = Budget(),  # noqa: B008
        purposes: Mapping[str, Budget] = _NOTHING,
        at_once: int = 8,
        cache: int = 512,
        retries: int = 2,
        backoff: tuple[float, float] = (1.0, 60.0),
        delay: float = 0.0,
        keep_prompts: bool = False,
        stand_in: Scripted | None = None,
    ) -> None:
        _check(backoff, delay, at_once=(at_once, 1), cache=(cache, 0), retries=(retries, 0))
        check_budgets(budget, each, purposes)
        self.models: dict[str, AnyModel] = _by_name(models)  # the one that is meant if nobody says first
        _require_mindless(runtime)
        self.runtime: Runtime = runtime
        self.at_once: int = at_once
        self.retries: int = retries
        self.backoff: tuple[float, float] = backoff
        self.delay: float = delay
        self.keep_prompts: bool = keep_prompts
        self.stand_in: Scripted | None = stand_in
        self.each: Budget = each
        clock = runtime.clock
        self.account: Account = Account(budget, clock)  # of all agents together
        self.purposes: dict[str, Account] = {name: Account(one, clock) for name, one in purposes.items()}
        self.accounts: dict[str, Account] = {}  # of each agent that has asked, by name
        self.spent: dict[str, float] = {}  # by agent, by the models' prices
        self.money_of_gone: float = 0.0  # what those spent that are there no more
        self.recent: deque[Thought] = deque(maxlen=_MOST_KEPT)  # what is over, the oldest first
        # in a replay: where a request was another one first (tick and agent), and how often
        self.first_other_prompt: tuple[int, str] | None = None
        self.other_prompts: int = 0
        self.stood_in: int = 0  # calls that the stand-in has answered
        self.calls: int = 0  # that were made
        self.hits: int = 0  # that the cache spared
        self.answers: int = 0  # that were taken, those from the cache included
        self.used: Usage = Usage()  # as those say who answered; of a call that was cancelled nobody knows it
        self.overruns: int = 0  # calls that used more than their bound: a server that does not keep to it
        self._waiting: list[Thought] = []  # in the order of serving, but for those that came in this tick
        self._running: dict[Thought, None] = {}  # in the order of their beginning
        self._cache: OrderedDict[str, object] = OrderedDict()  # the one that was used longest ago first
        self._most_cached = cache
        self._count = 0
        self._is_due, self._is_sorted = False, True
        self._wakes_at = 0
        self._failures = self._rests_until = 0
        self._places: tuple[int, dict[Thought, int]] = (-1, {})
        load_validator()
        runtime.mind = self

    # --- when its world is rebuilt ------------------------------------------------------------------------------------

    def save(self) -> dict[str, Any]:
        """Its books, as plain JSON: what is used of all budgets, and what it has cost; no thoughts, and no answers."""
        tick = self.runtime.tick
        return {
            "thoughts": self._count,
            "counts": [self.calls, self.hits, self.answers, self.overruns, *self.used],
            "spent": dict(self.spent),
            "gone": self.money_of_gone,
            "all": self.account.save(tick),
            "purposes": {name: one.save(tick) for name, one in self.purposes.items()},
            "each": {name: one.save(tick) for name, one in self.accounts.items()},
            "rests": [self._failures, self._rests_until],
        }

    def restore(self, saved: Mapping[str, Any]) -> None:
        """Take up the books of the one before, of the same budgets.

        Raises:
            ValueError, TypeError, KeyError: ``save`` gave nothing like that.
        """
        counts = [saved["thoughts"], *saved["counts"], *saved["rests"]]
        if not all(type(one) is int and one >= 0 for one in counts):
            raise ValueError("what a mind has counted is no number")
        self.account.restore(saved["all"])
        for name, books in saved["purposes"].items():
            if name in self.purposes:
                self.purposes[name].restore(books)
        for name, books in saved["each"].items():
            self.accounts[name] = Account(self.each, self.runtime.clock)
            self.accounts[name].restore(books)
        self.spent = {name: float(money) for name, money in saved["spent"].items()}
        self.money_of_gone = float(saved["gone"])
        self._count = saved["thoughts"]
        self.calls, self.hits, self.answers, self.overruns, read, written = saved["counts"]
        self.used = Usage(read, written)
        self._failures, self._rests_until = saved["rests"]

    # --- asking -------------------------------------------------------------------------------------------------------

    async def ask(
        self,
        agent: Agent,
        request: ModelRequest,
        *,
        check: Callable[[Any], T] | None = None,
        worth: float = 0.0,
        purpose: str = "",
        outpaced: Literal["cancel", "finish"] = "cancel",
        path: str = "",
        seen: Mapping[str, Any] = _NOTHING,
        options: Sequence[Mapping[str, Any]] = (),
        told: Callable[[Thought], object] | None = None,
    ) -> Any:
        """Ask, and wait for the answer.

        Args:
            agent: who asks.
            request: what is asked.
            check: makes what is wanted of an answer, or raises a ``ValueError`` that says what is wrong with it.
            worth: who is worth more is served first.
            purpose: a name of ``purposes``, whose budget it uses too.
            outpaced: what becomes of the call when this wait is cancelled: it is cancelled at the server, or finished
                for the cache.
            path: the place in the plan from which it is asked.
            seen, options: what it was made of, for scripted models.
            told: called with the thought before it waits.

        Returns:
            What ``check`` made of the answer, or the answer.

        Raises:
            ThoughtFailedError: there is none.
        """
        await at_once()
        model = self._meant(request.model, purpose)
        self._count += 1
        thought = Thought(self._count, agent, request, model, asked=self.runtime.tick, purpose=purpose, path=path,
                          worth=worth, outpaced=outpaced, check=check, seen=seen, options=options)  # fmt: skip
        waiter = thought.waiter
        assert waiter is not None
        self._waiting.append(thought)
        self._is_sorted = False
        self._tell(thought, "asked", model=model.label, **({"purpose": purpose} if purpose else {}))
        self.serve_soon()
        if told is not None:
            told(thought)
        try:
            value = await suspend_on(waiter)
        except BaseException:
            self._given_up(thought)
            raise
        if thought.state == "failed":
            raise ThoughtFailedError(thought.reason, agent=agent.name, path=path, tick=self.runtime.tick)
        return value

    def _meant(self, name: str, purpose: str) -> AnyModel:
        """The model of a name; whoever slipped, with that or with the purpose, is told."""
        model = self.models.get(name) if name else next(iter(self.models.values()))
        if model is None:
            hint = did_you_mean(name, self.models)
            raise DefinitionError("Mind", f"it has no model {name!r}.{hint}", f"It has: {', '.join(self.models)}.")
        if purpose and self.purposes and purpose not in self.purposes and purpose not in _PURPOSES:
            hint = did_you_mean(purpose, self.purposes)
            raise DefinitionError("Mind", f"no budget is for {purpose!r}.{hint}", "Name it in Mind(purposes={...}).")
        return model

    # --- serving ------------------------------------------------------------------------------------------------------

    def serve_soon(self) -> None:
        """Look at what waits, at the next intake."""
        if not self._is_due:
            self._is_due = True
            self.runtime.kernel.post(self._serve)

    def _serve(self) -> None:
        self._is_due = False
        tick = self.runtime.tick
        self._sort()
        is_blocked = False  # a budget of all is used up: nobody passes who is worth less
        wakes = self._rests_until if self._rests_until > tick else 0
        for thought in list(self._waiting):
            if thought.key in self._cache and not (thought.attempts or thought.corrections or thought.is_misfit):
                self._from_cache(thought, self._cache[thought.key])
                continue
            if is_blocked or tick < self._rests_until or len(self._running) >= self._most_at_once():
                continue
            if tick < thought.not_before:
                wakes = min(wakes or thought.not_before, thought.not_before)
                continue
            tokens = thought.bound
            accounts = self._accounts(thought)
            never = next((one for one in accounts if not one.could_ever(tokens)), None)
            if never is not None:
                self._fail(thought, too_much(tokens, never.budget))
                continue
            room = [(one, one.room_at(tokens, tick)) for one in accounts]
            short = [(one, when) for one, when in room if when]
            if short:
                when = -1 if any(when < 0 for _, when in short) else max(when for _, when in short)
                thought.reason = used_up(short[0][0], self.account, when, tokens, tick)
                is_blocked = any(one is self.account for one, _ in short)
                if when > 0:
                    wakes = min(wakes or when, when)
                continue
            self._begin(thought, tokens, accounts)
        if wakes:
            self._wake_at(wakes)

    def _sort(self) -> None:
        if not self._is_sorted:
            self._waiting = self._in_order()
            self._is_sorted = True

    def _in_order(self) -> list[Thought]:
        """Who waits, as they are served."""
        order = {agent: place for place, agent in enumerate(self.runtime.agents)}
        last = len(order)
        return sorted(self._waiting, key=lambda one: (-one.worth, order.get(one.agent, last), one.number))

    def _most_at_once(self) -> int:
        return 1 if self._failures >= _MANY_FAILURES else self.at_once

    def _wake_at(self, tick: int) -> None:
        now = self.runtime.tick
        if tick > now and not now < self._wakes_at <= tick:
            self._wakes_at = tick
            if tick - now > 1:
                self.runtime.kernel.call_later(tick - now - 1, self.serve_soon)  # which serves in the tick after
            else:
                self.serve_soon()

    def _accounts(self, thought: Thought) -> list[Account]:
        own = self.accounts.get(thought.agent.name)
        if own is None:
            if len(self.accounts) > 2 * len(self.runtime.agents) + _MOST_KEPT:
                self._forget_who_is_gone()
            own = self.accounts[thought.agent.name] = Account(self.each, self.runtime.clock)
        purpose = self.purposes.get(thought.purpose)
        return [self.account, own] if purpose is None else [self.account, own, purpose]

    def _forget_who_is_gone(self) -> None:
        """An agent that comes again has another name."""
        gone = [name for name in self.accounts if self.runtime.find(name) is None]
        for name in gone:
            del self.accounts[name]
            self.money_of_gone += self.spent.pop(name, 0.0)

    def _from_cache(self, thought: Thought, kept: object) -> None:
        self._cache.move_to_end(thought.key)
        try:
            value = kept if thought.check is None else thought.check(kept)
        except ENDS_PROGRAM:
            raise
        except BaseException:
            thought.is_misfit = True
            return
        self.hits += 1
        thought.is_from_cache = True
        self._answer(thought, kept, value)

    # --- one call -----------------------------------------------------------------------------------------------------

    def _begin(self, thought: Thought, tokens: int, accounts: list[Account]) -> None:
        self._waiting.remove(thought)
        self._running[thought] = None
        self.calls += 1
        thought.state, thought.reason = "called", ""
        thought.began = self.runtime.tick
        thought.spendings = [(one, one.reserve(tokens)) for one in accounts]
        self._tell(thought, "called")
        if isinstance(thought.model, Scripted):
            self._by_script(thought, thought.model)
        else:
            call = self._call(thought, thought.model)
            thought.strand = self.runtime.kernel.spawn(call, f"a thought of {thought.agent.name}")

    def _by_script(self, thought: Thought, model: Scripted) -> None:
        asked = self._asked(thought)
        reply = model.reply(asked)
        try:
            ticks = self.runtime.clock.ticks(model.seconds(asked))
        except ENDS_PROGRAM:
            raise
        except BaseException as error:
            reply, ticks = Reply(kind=REFUSED, text=f"its latency: {error_words(error)}"), 1
        thought.timer = self.runtime.kernel.call_later(max(1, ticks), self._replied, thought, reply)

    def _asked(self, thought: Thought) -> Asked:
        name = thought.agent.name
        random = self.runtime.stream(f"thought {thought.number} of {name}")
        return Asked(name, thought.purpose, self.runtime.tick, thought.request, thought.seen, thought.options, random)

    async def _call(self, thought: Thought, model: Model) -> None:
        fn: Callable[..., Any] = model.ask_here if self.runtime.host == "plain" else model.ask
        data = thought.request.plain()
        answers = self.runtime.calls.answers
        if answers is not None and self.stand_in is not None and not answers.has_answer(fn, data):
            thought.strand, thought.call = None, -1
            self.stood_in += 1
            self._by_script(thought, self.stand_in)
            return
        args: tuple[Any, ...] = (data, self.keep_prompts)
        if self.delay and (self.runtime.calls.recorded_host or self.runtime.host) == "plain":
            # Begun now and collected when it is due; in a replay nothing is begun, and it is answered then.
            if answers is None:
                fn, args = model.collect, (*args, model.begin(*args))
            await self._wait_for_delay(thought, 1)  # what is collected comes in a tick later
        thought.call = self.runtime.calls.count  # which it becomes now
        try:
            reply = read_reply(await self.runtime.call(fn, *args))
            await self._wait_for_delay(thought, 0)
        except Exception as error:
            reply = Reply(kind=REFUSED, text=error_words(error))
        if reply.key and reply.key != data["key"]:
            self.first_other_prompt = self.first_other_prompt or (self.runtime.tick, thought.agent.name)
            self.other_prompts += 1
        thought.strand = None
        self._replied(thought, reply)

    async def _wait_for_delay(self, thought: Thought, less: int) -> None:
        """Sleep until an answer may come, or so many ticks less."""
        since = thought.began if thought.attempts or thought.corrections else thought.asked
        left = since + self.runtime.clock.ticks(self.delay) - less - self.runtime.tick if self.delay else 0
        if left > 0:
            await sleep_ticks(left)

    def _replied(self, thought: Thought, reply: Reply) -> None:
        """A call is over."""
        thought.timer = None
        used = reply.usage.total
        self.used = self.used.plus(reply.usage)
        thought.used = thought.used.plus(reply.usage)
        is_unknown = reply.kind not in FREE if reply.kind else isinstance(thought.model, Model)
        if not used and is_unknown:  # what it used nobody knows, or its server does not say it
            self._settle(thought, None)
        else:
            self._settle(thought, used)
            price = thought.model.price
            cost = (reply.usage.read * price[0] + reply.usage.written * price[1]) / 1e6
            self.spent[thought.agent.name] = self.spent.get(thought.agent.name, 0.0) + cost
        self._running.pop(thought, None)
        self.serve_soon()
        if thought.is_over:
            return  # it was cancelled in the moment in which the answer came
        if reply.kind:
            self._failed(thought, reply)
            return
        self._failures = self._rests_until = 0
        try:
            value = reply.value if thought.check is None else thought.check(reply.value)
        except ValueError as error:
            self._correct(thought, reply.value, error)
        except ENDS_PROGRAM:
            raise
        except BaseException as error:  # of an author's check: it concerns who asked
            thought.untaken = reply.value, error_words(error)
            self._fail(thought, f"{type_name(error)} was raised where its answer is checked")
        else:
            self._keep(thought.key, reply.value)
            self._answer(thought, reply.value, value)

    def _settle(self, thought: Thought, used: int | None) -> None:
        tick = self.runtime.tick
        for account, spending in thought.spendings:
            tokens = spending.tokens if used is None else used
            self.overruns += account is self.account and tokens > spending.tokens
            account.settle(spending, tokens, tick)
        if thought.spendings:
            thought.usage += thought.spendings[0][1].tokens
        thought.spendings = []

    def _failed(self, thought: Thought, reply: Reply) -> None:
        tick, clock = self.runtime.tick, self.runtime.clock
        first, most = self.backoff
        is_resting = tick < self._rests_until  # it was called before that: it tells nothing new
        self._failures += not is_resting
        if self._failures >= _MANY_FAILURES and not is_resting:
            seconds = min(most, first * 2.0 ** min(self._failures - _MANY_FAILURES, 30))
            self._rests_until = tick + max(1, clock.ticks(max(seconds, min(reply.after, most))))
            self._wake_at(self._rests_until)
        thought.attempts += 1
        if reply.kind not in AGAIN or thought.attempts > self.retries or thought.waiter is None:
            self._fail(thought, reply.text)
            return
        seconds = max(min(most, first * 2.0 ** min(thought.attempts - 1, 30)), min(reply.after, most))
        thought.not_before = tick + max(1, clock.ticks(seconds))
        self._again(thought, reply.text)

    def _correct(self, thought: Thought, value: object, misfit: ValueError) -> None:
        error = words_of(misfit)
        # Reasons are seen by whoever looks, and what was answered is not for everybody.
        told = f": {misfit.told}" if isinstance(misfit, MisfitError) and misfit.told else ""
        thought.corrections += 1
        thought.untaken = value, error
        if thought.corrections > 1 or thought.waiter is None:
            self._fail(thought, f"its answer cannot be taken{told}")
            return
        before = tokens_of(thought.request.prompt)
        thought.request = thought.request.corrected(value, error)
        thought.bound += tokens_of(thought.request.prompt) - before
        self._again(thought, f"its answer could not be taken{told}")

    def _again(self, thought: Thought, reason: str) -> None:
        thought.state, thought.reason = "queued", reason
        self._waiting.append(thought)
        self._is_sorted = False
        self._tell(thought, "again", tokens=thought.usage, reason=reason, **_came(thought))
        self.serve_soon()

    def _keep(self, key: str, value: object) -> None:
        if self._most_cached:
            self._cache[key] = value
            self._cache.move_to_end(key)
            if len(self._cache) > self._most_cached:
                self._cache.popitem(last=False)

    # --- how it ends --------------------------------------------------------------------------------------------------

    def _answer(self, thought: Thought, plain: object, value: object) -> None:
        thought.value = plain
        thought.reason = ""
        self.answers += 1
        self._end(thought, "answered", value)

    def _fail(self, thought: Thought, reason: str) -> None:
        thought.reason = reason
        self._end(thought, "failed", None)

    def _end(self, thought: Thought, state: str, value: object) -> None:
        waiter, thought.waiter = thought.waiter, None
        if thought.state == "queued":
            self._waiting.remove(thought)
        if waiter is not None or state == "failed":
            thought.state = state
        else:
            thought.state = "outpaced"
        thought.ended = self.runtime.tick
        self.recent.append(thought)
        told = {"reason": thought.reason} if thought.reason else {}
        self._tell(thought, state, tokens=thought.usage, **told, **_came(thought))
        if waiter is not None:
            waiter.notify(value)

    def _given_up(self, thought: Thought) -> None:
        """Who asked does not wait any more."""
        if thought.waiter is None:
            return  # it was answered in the same moment
        thought.waiter = None
        if thought.state == "called" and thought.outpaced == "finish":
            self._tell(thought, "outpaced", goes_on=True)
            return
        if thought.state == "called":
            self._running.pop(thought, None)
            if thought.timer is not None:
                thought.timer.cancel()
            if thought.strand is not None:
                thought.strand.stop("nobody waits for the answer any more")
            self._settle(thought, None)
        else:
            self._waiting.remove(thought)
        thought.state, thought.ended = "outpaced", self.runtime.tick
        self.recent.append(thought)
        self._tell(thought, "outpaced", tokens=thought.usage, **_used(thought))
        self.serve_soon()

    # --- for people ---------------------------------------------------------------------------------------------------

    def words(self, thought: Thought) -> str:
        """How it stands with a thought: its place in the queue, what it waits for."""
        if thought.state == "called":
            again = f", asked again since {thought.reason}" if thought.reason else ""
            return f"{thought.model.label} was asked{again}"
        if thought.state != "queued":
            return thought.reason or thought.state
        if thought.reason:
            until = f", asked again in tick {thought.not_before}" if thought.not_before > self.runtime.tick else ""
            return f"{thought.reason}{until}"
        if self._rests_until > self.runtime.tick:
            return f"the model fails, it is asked again in tick {self._rests_until}"
        return f"{_ordinal(self.place(thought))} in the queue"

    def place(self, thought: Thought) -> int:
        """Its place in the queue, from 1; 0 if it is called, over, or waits for something else than its turn."""
        if thought.state != "queued" or thought.reason or self._rests_until > self.runtime.tick:
            return 0
        tick, places = self._places
        if tick != self.runtime.tick or thought not in places:
            places = {one: place for place, one in enumerate(self._in_order(), 1)}
            self._places = self.runtime.tick, places
        return places.get(thought, 0)

    @property
    def outside(self) -> tuple[str, ...]:
        """The names of its models that are outside of the game."""
        return tuple(name for name, model in self.models.items() if isinstance(model, Model))

    @property
    def prices(self) -> dict[str, tuple[float, float]]:
        """What a million tokens cost that are read, and that are written, of those models that cost anything."""
        return {name: model.price for name, model in self.models.items() if any(model.price)}

    def notes(self) -> tuple[str, ...]:
        """What a replay is to say of it."""
        told = []
        if self.first_other_prompt is not None:
            tick, name = self.first_other_prompt
            more = self.other_prompts - 1
            and_more = f", and of {counted(more, 'thought')} after that" if more else ""
            told.append(f"the prompt is another now than in the recording: of {name} in tick {tick}{and_more}")
        if self.stand_in is not None and self.stood_in:
            for_whom = ", ".join(self.outside)
            told.append(f"{self.stand_in.label} stood in for {for_whom} in {counted(self.stood_in, 'thought')}")
        return tuple(told)

    def snapshot(self) -> MindView:
        """How it stands, as frozen, plain data."""
        tick = self.runtime.tick
        tokens, calls = self.account.left(tick)
        thoughts = [*self._running, *self._in_order()]
        return MindView(
            models=tuple(self.models),
            at_once=self.at_once,
            running=len(self._running),
            waiting=len(self._waiting),
            calls=self.calls,
            hits=self.hits,
            answers=self.answers,
            tokens=self.account.total_tokens,
            read=self.used.read,
            written=self.used.written,
            tokens_left=tokens,
            calls_left=calls,
            money=round(self.money_of_gone + sum(self.spent.values()), 6),
            rests_until=self._rests_until if self._rests_until > tick else 0,
            overruns=self.overruns,
            by_agent={
                name: {
                    "calls": account.total_calls,
                    "tokens": account.total_tokens,
                    "money": round(self.spent.get(name, 0.0), 6),
                }
                for name, account in self.accounts.items()
            },
            thoughts=tuple(self._view(one) for one in [*thoughts, *reversed(self.recent)]),
        )

    def text_of(self, number: int) -> ThoughtText | None:
        """What was asked and answered, of a thought by its number; None if it is not kept any more.

        It may hold what players wrote: not for everybody who looks.
        """
        known = (*self._running, *self._waiting, *self.recent)
        thought = next((one for one in known if one.number == number), None)
        if thought is None:
            return None
        system, prompt, schema, *_ = thought.request
        untaken, why = thought.untaken or (None, "")
        return ThoughtText(system, prompt, schema, thought.value, untaken, why)

    def _view(self, thought: Thought) -> ThoughtView:
        return ThoughtView(
            number=thought.number,
            agent=thought.agent.name,
            path=thought.path,
            purpose=thought.purpose,
            model=thought.model.label,
            state=thought.state,
            asked=thought.asked,
            began=thought.began,
            ended=thought.ended,
            place=self.place(thought),
            words=self.words(thought),
            tokens=thought.usage,
            is_from_cache=thought.is_from_cache,
        )

    def _tell(self, thought: Thought, became: str, **detail: str | int | float | bool) -> None:
        trace = self.runtime.trace
        if trace.on:
            told: Detail = (("became", became), ("thought", thought.number), *detail.items())
            trace.emit(
                TraceRecord(self.runtime.tick, thought.agent.name, thought.path, TraceEvent.THOUGHT, tuple(told))
            )

    def __repr__(self) -> str:
        return f"<Mind of {', '.join(self.models)}: {len(self._running)} calls, {len(self._waiting)} wait>"


_PURPOSES: Final = frozenset({"reflect"})  # those of the actions here, for which nobody has to have a budget


def _came(thought: Thought) -> dict[str, int | bool]:
    """Where an answer came from, for who reads the trace: which call outside, or the cache."""
    if thought.is_from_cache:
        return {"cached": True}
    return {**({"call": thought.call} if thought.call >= 0 else {}), **_used(thought)}


def _used(thought: Thought) -> dict[str, int]:
    """What its calls have used so far, as its model said; its price is in no trace, which is one of what happened."""
    return {"read": thought.used.read, "written": thought.used.written} if thought.used.total else {}


def _ordinal(place: int) -> str:
    ending = "th" if place % 100 in (11, 12, 13) else _ENDINGS.get(place % 10, "th")
    return f"{place}{ending}"


_ENDINGS: Final = {1: "st", 2: "nd", 3: "rd"}  # codespell:ignore nd


def _by_name(models: Sequence[AnyModel]) -> dict[str, AnyModel]:
    if not models or not all(isinstance(model, (Model, Scripted)) for model in models):
        raise DefinitionError("Mind", "it has no model.", 'Give it one: Mind(runtime, Model("gpt-5-mini")).')
    found: dict[str, AnyModel] = {}
    for model in models:
        with suppress(MissingExtraError):  # a replay needs none of it; whoever asks is told
            model.require()
        if found.setdefault(model.label, model) is not model:
            raise DefinitionError("Mind", f"two models are called {model.label!r}.", "Name them apart.")
    return found


def _require_mindless(runtime: object) -> None:
    if not hasattr(runtime, "kernel"):
        raise DefinitionError("Mind", f"{repr_of(runtime, 80)} is no runtime.", "Write Mind(runtime, model).")
    if getattr(runtime, "mind", None) is not None:
        raise DefinitionError("Mind", "the runtime has one.", "Give it all models: Mind(runtime, first, second).")


def _check(backoff: object, delay: object, **counts: tuple[object, int]) -> None:
    """Refuse what does not fit; ``counts`` are whole numbers, each with the least that it may be."""
    for name, (value, least) in counts.items():
        if type(value) is not int or value < least:
            raise DefinitionError("Mind", f"{name} is {repr_of(value, 80)}.", f"Write a whole number from {least} on.")
    if isinstance(delay, bool) or not isinstance(delay, (int, float)) or not 0 <= delay < float("inf"):
        raise DefinitionError("Mind", f"delay is {repr_of(delay, 80)}.", "Write game seconds from 0 on.")
    numbers = [one for one in backoff if isinstance(one, (int, float))] if isinstance(backoff, tuple) else []
    if len(numbers) != 2 or not 0 < numbers[0] <= numbers[1] < float("inf"):
        problem = f"backoff is {repr_of(backoff, 80)}."
        raise DefinitionError("Mind", problem, "Write game seconds, at first and at most: (1.0, 60.0).")
