"""The state of a gameplay, as data: what one agent knows of its strategies, how it is set, and how well that went.

Estimating, solving and looking ahead work on a ``State`` and know nothing of ``agent.gameplay``, which is the door for
authors, checks what they set, and stands above them all. It has these parts:

* *The catalog.* For each class of dependencies there is one list, open to everybody: a strategy joins the lists of what
  it provides, and whoever needs the dependency considers all that are in the list at that moment, in the order of
  loading, which breaks ties of cost. What is loaded several times (by two packs, say) is one entry as long as one of
  them holds it. Injection lists are narrower: a strategy names lists of its own (``Smelt.fuels``), others join them by
  that name (``injects``), and the owner has a say in who is tried.
* *Topics*, the words by which what was found out is tied to what changes. ``reads = {"stock"}`` and
  ``agent.gameplay.changed("stock")`` meet by a word that nobody declares. A slip would make no error, but estimates
  that hold for ever. So each word is looked at when it is first used, and refused if nothing is called so and something
  is called nearly so: for who reads it, the fields of CURRENT, what has changed before, and what the library tells of;
  for who changes it, what anybody reads.
* *Versions*: how many changes each topic had; and the *stamp*, how many there were in all, so that where nothing at all
  has changed nobody compares topics. They change in ``count_change`` and nowhere else.
* *Records*: what strategies said that they would cost, beside what they took of their own time. Old ones fade: each new
  one takes a tenth of the weight. From that comes a correction of estimates (``corrects``). What a strategy said is
  what it said by itself: beside the corrected cost, what is left of the mistake would be taken for all of it, and the
  correction would stay half-way for ever. It moves slowly at first, because one bad day says little: three attempts
  that took what was said are assumed besides, which fade sooner than others. Who says 0 is corrected by adding, all
  others by a factor, in sixteenths, so that estimates hold while nothing much happens.

Source: prismarine-gameplay: "Hard Dependencies", "Global Dependency Lists"; "Heuristic Based Task Selection", questions
2 and 3.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterable, Iterator
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Final, NamedTuple, Protocol, TypeVar

from agentrt.activity.author.expected import Current, CurrentFields, StateReader
from agentrt.activity.plan.tree import Unit
from agentrt.errors import ENDS_PROGRAM, ArgumentError, DefinitionError, did_you_mean
from agentrt.kernel.signals import Signal
from agentrt.strategy.declare import Order, Provider, Strategy, StrategySpec
from agentrt.words import error_words, repr_of

if TYPE_CHECKING:
    from agentrt.activity.author.action import Action
    from agentrt.activity.plan.tree import Planner
    from agentrt.body.budget import SearchWork
    from agentrt.body.flags import FlagLedger
    from agentrt.kernel.kernel import Kernel
    from agentrt.strategy.dependency import Dependency

T = TypeVar("T")

# --- the agent --------------------------------------------------------------------------------------------------------


class GameplayOwner(Protocol):
    """The agent, as its gameplay sees it."""

    name: str
    entity: Any
    expected: type[CurrentFields] | None
    planner: Planner | None
    flags: FlagLedger

    @property
    def kernel(self) -> Kernel | None:
        """Who keeps its time; None while it is in no runtime."""
        ...

    @property
    def search(self) -> SearchWork | None:
        """The think budget that it shares with all others; None outside a runtime."""
        ...

    @property
    def read_state(self) -> StateReader:
        """How to read a field of the entity's state."""
        ...

    def fault(self, path: str, hook: str, error: BaseException) -> None:
        """A hook of a strategy raised: report it once."""

    def require_life(self, activity: str) -> Planner:
        """Its planner; raises if it is in no runtime."""
        ...

    def post(self, fn: Callable[..., object], *args: Any) -> None:
        """Call a function at the next intake of its runtime; from any thread."""

    def signal(self, name: str) -> Signal:
        """A signal of the entity."""
        ...

    async def wait_outside(self, connect: Callable[[Callable[[], None]], object]) -> None:
        """Wait in a task of an event loop, until the function that ``connect`` is given is called; from any thread."""

    def learn_solver(self, action: type[Action]) -> Callable[[], None]:
        """Have its plan know how to perform the activity of a dependency; returns how to undo that."""
        ...


# --- topics -----------------------------------------------------------------------------------------------------------

_OWN: Final = ("strategies", "requests", "accuracy")  # what the library tells of by itself
_LONG: Final = 8  # letters from which on two may be wrong


def near(word: str, known: Iterable[str]) -> list[str]:
    """Which known words somebody may have meant who wrote another one; none that differs in digits only."""
    one_each = dict.fromkeys(known)
    return [one for one in one_each if one != word and _bare(one) != _bare(word) and _is_slip(word, one)]


def _bare(word: str) -> str:
    return "".join(letter for letter in word if not letter.isdigit())


def _is_slip(word: str, other: str) -> bool:
    """Whether a letter, or two in a long word, is too many, missing, exchanged or swapped (Damerau, Levenshtein)."""
    most = 2 if min(len(word), len(other)) >= _LONG else 1
    if abs(len(word) - len(other)) > most or min(len(word), len(other)) < 3:
        return False
    above: list[int] = []
    row = list(range(len(other) + 1))
    for i, letter in enumerate(word, 1):
        above, before, row = row, above, [i]
        for j, there in enumerate(other, 1):
            cost = min(above[j] + 1, row[j - 1] + 1, above[j - 1] + (letter != there))
            if i > 1 and j > 1 and letter == other[j - 2] and word[i - 2] == there:
                cost = min(cost, before[j - 2] + 1)
            row.append(cost)
    return row[-1] <= most


class Topics:
    """The words that one agent's gameplay knows."""

    __slots__ = ("_changed", "_fields", "_read", "_said")

    def __init__(self, fields: Callable[[], Iterable[str]]) -> None:
        self._fields = fields  # gives the names of the fields of its entity
        self._said: set[str] = set(_OWN)
        self._read: dict[str, None] = {}
        self._changed: dict[str, None] = {}

    def add(self, topics: Iterable[str]) -> None:
        """Take words as they are."""
        for topic in topics:
            _require("gameplay.add_topics", topic)
            self._said.add(topic)

    def is_read(self, topics: Iterable[str]) -> str:
        """Somebody reads topics; says what is wrong with one of them, and what may be meant; or nothing."""
        for topic in topics:
            given: object = topic
            if not isinstance(given, str):
                return f"{repr_of(given, 200)} is no word."
            if topic not in self._read:
                known = self._said | self._changed.keys()
                if topic not in known:
                    fields = list(self._fields())
                    meant = [] if topic in fields else near(topic, [*fields, *sorted(known)])
                    if meant:
                        return f"the topic {topic!r} is nothing that changes. {_meant(topic, meant)}"
                self._read[topic] = None
        return ""

    def changes(self, topics: Iterable[str]) -> None:
        """Topics changed; ``ArgumentError`` if nobody reads one, and somebody reads one that is called nearly so."""
        for topic in topics:
            _require("gameplay.changed", topic)
            if topic not in self._changed:
                meant = [] if topic in self._read or topic in self._said else near(topic, self._read)
                if meant:
                    told = f"is a topic that nobody reads. {_meant(topic, meant)}"
                    raise ArgumentError("gameplay.changed", repr(topic), told)
                self._changed[topic] = None


def _require(method: str, topic: object) -> None:
    if not isinstance(topic, str) or not topic:
        raise ArgumentError(method, "topics", f"takes words, not {repr_of(topic, 200)}. Write 'stock', 'place'.")


def _meant(topic: str, meant: list[str]) -> str:
    words = " or ".join(repr(one) for one in meant[:3])
    return f"Did you mean {words}? If it is right as it is, say so first: agent.gameplay.add_topics({topic!r})."


# --- the catalog ------------------------------------------------------------------------------------------------------


class Catalog:
    """The strategies of one agent."""

    def __init__(self) -> None:
        self.reserved: frozenset[str] = frozenset()  # what no call may be called: the gameplay has something there
        self.topics: Topics | None = None  # the words that are known; None if nobody minds
        self.providers: tuple[Provider, ...] = ()  # all of them, in the order of loading
        # the classes of dependencies that anybody provides, in the order in which they were first loaded
        self.dependencies: tuple[type[Dependency[Any]], ...] = ()
        self._providers: dict[type[Strategy], Provider] = {}
        self._by_dependency: dict[type[Dependency[Any]], tuple[Provider, ...]] = {}
        self._by_name: dict[str, Provider] = {}
        self._lists: dict[str, tuple[Provider, ...]] = {}
        self._counter = 0

    def add(self, cls: type[Strategy]) -> Provider:
        """Load a strategy, or hold it once more. One whose name is taken, or reserved, is a ``DefinitionError``."""
        provider = self._providers.get(cls)
        if provider is None:
            spec = self._checked(cls)
            self._counter += 1  # and not how many there are: who comes back is the last, and no two have one number
            try:
                provider = Provider(spec, self._counter)
            except ENDS_PROGRAM:
                raise
            except BaseException as error:
                what = f"it cannot be made: {error_words(error)}."
                raise DefinitionError(spec.subject, what, "Give it no arguments.") from error
            self._providers[cls] = provider
            self._changed()
        provider.holds += 1
        return provider

    def check(self, strategies: Iterable[type[Strategy]], without: Collection[type[Strategy]] = ()) -> None:
        """Find out whether strategies can be loaded, when others will have been let go of once; nothing changes."""
        trial = Catalog()
        trial.reserved, trial.topics = self.reserved, self.topics
        trial._providers = {cls: one for cls, one in self._providers.items() if cls not in without or one.holds > 1}
        trial._changed()
        for cls in strategies:
            if cls not in trial._providers:
                trial.add(cls)

    def _checked(self, cls: type[Strategy]) -> StrategySpec:
        spec: StrategySpec | None = getattr(cls, "spec", None)
        if spec is None or spec.cls is not cls:
            subject = f"{getattr(cls, '__module__', '')}.{getattr(cls, '__qualname__', cls)}"
            raise DefinitionError(subject, "it is no strategy.", "Subclass Strategy and say what it 'provides'.")
        for what, instead in self._clashes(spec):
            raise DefinitionError(spec.subject, what, instead)
        return spec

    def _clashes(self, spec: StrategySpec) -> Iterator[tuple[str, str]]:
        """What does not go with what is here already, and what to write instead."""
        other = self._by_name.get(spec.name)
        if other is not None:
            yield f"{other.spec.subject} is called {spec.name!r}, too.", "Give it a 'name' of its own."
        for name in (spec.name, *(wanted.call for wanted in spec.provides)):
            if name in self.reserved:
                instead = "Give it another name; or another activity, of which the last word is the call."
                yield f"its call would be 'agent.gameplay.{name}', which is something else.", instead
        known = (*self._by_dependency, *spec.provides)
        for wanted in spec.provides:
            for one in known:
                if one.call == wanted.call and one is not wanted:
                    instead = "Give one of them another activity: class Collect(Dependency, activity='mine:collect')."
                    yield f"{wanted.__qualname__} and {one.__qualname__} are both called {wanted.call!r}.", instead
        # The last: a word that is right is known from then on, and who is refused must leave nothing behind.
        for reads in (spec.cls.reads, *(wanted.reads for wanted in spec.provides)):
            wrong = "" if self.topics is None else self.topics.is_read(reads or ())
            if wrong:
                yield f"of what it reads, {wrong}", "Write the word that is changed."

    def remove(self, cls: type[Strategy]) -> None:
        """Let go of a strategy once; when nobody holds it any more, it is not considered from then on."""
        provider = self._providers.get(cls)
        if provider is not None:
            provider.holds -= 1
            if provider.holds <= 0:
                del self._providers[cls]
                self._changed()

    def _changed(self) -> None:
        lists: dict[type[Dependency[Any]], list[Provider]] = {}
        joined: dict[str, list[Provider]] = {}
        for provider in self._providers.values():
            for wanted in provider.spec.provides:
                lists.setdefault(wanted, []).append(provider)
            for name in provider.spec.cls.injects:
                joined.setdefault(name, []).append(provider)
        self._by_dependency = {wanted: tuple(found) for wanted, found in lists.items()}
        self._by_name = {provider.spec.name: provider for provider in self._providers.values()}
        self._lists = {name: tuple(found) for name, found in joined.items()}
        self.providers, self.dependencies = tuple(self._providers.values()), tuple(lists)

    # --- looking up ---------------------------------------------------------------------------------------------------

    def of(self, wanted: type[Dependency[Any]]) -> tuple[Provider, ...]:
        """Who provides a dependency, in the order of loading."""
        return self._by_dependency.get(wanted, ())

    def named(self, name: str) -> Provider | None:
        """The strategy of a name; None if there is none."""
        return self._by_name.get(name)

    def chosen(self, among: str | Iterable[type[Strategy]], wanted: type[Dependency[Any]]) -> list[Provider]:
        """Who may provide a dependency: those who joined a list, or some strategies, as far as they are loaded."""
        if isinstance(among, str):
            return [one for one in self._joined(among) if wanted in one.spec.provides]
        method = "ctx.solve"
        given: object = among
        if isinstance(given, type) or not isinstance(given, Iterable):
            told = repr_of(given, 200)
            raise ArgumentError(method, "among", f"takes a list of strategies, not {told}. Write [Mine].")
        found: list[Provider] = []
        for cls in among:
            one: object = cls
            spec: StrategySpec | None = getattr(one, "spec", None) if isinstance(one, type) else None
            if spec is None or spec.cls is not cls:
                meant = ""
                if isinstance(one, str):
                    named = self._by_name.get(one)
                    known = did_you_mean(one, self._by_name)
                    meant = known if named is None else f" Write the class: {named.spec.cls.__name__}."
                raise ArgumentError(method, "among", f"has {repr_of(one, 200)}, which is no strategy.{meant}")
            if wanted not in spec.provides:
                provides = ", ".join(one.__qualname__ for one in spec.provides)
                told = f"has {cls.__qualname__}, which provides {provides} and not {wanted.__qualname__}."
                raise ArgumentError(method, "among", told)
            if cls in self._providers:  # one that is not may be so later: that is no mistake
                found.append(self._providers[cls])
        return found

    def _joined(self, name: str) -> tuple[Provider, ...]:
        """Who joined a list; nobody, if its name is not just a slip."""
        found = self._lists.get(name, ())
        meant = near(name, () if found else self._lists)
        if meant:
            known = " or ".join(repr(one) for one in meant)
            raise ArgumentError("ctx.solve", "among", f"{name!r} is a list that nobody joins. Did you mean {known}?")
        return found


# --- how well it went -------------------------------------------------------------------------------------------------

_FADE: Final = 0.9  # of the weight of all before, with each attempt
_DOUBT: Final = 3  # attempts as expected that are assumed besides those that were seen
_DOUBT_FADES: Final = 0.7
_MOST: Final = 1000.0  # times what it says, and its inverse: more says that it means something else
_STEP: Final = 16.0  # of a second, or of one time longer: finer steps would empty the memo with each attempt


@dataclass(frozen=True, slots=True)
class Accuracy:
    """What a strategy said and took."""

    strategy: str  # its name
    count: int  # how many attempts were completed
    expected: float  # the mean of what it said, in game seconds; the newest count most
    actual: float  # the mean of what it took, in game seconds
    ratio: float  # how many times longer it took than it said; 1 if it said 0


@dataclass(slots=True)
class _Record:
    """What is known of one strategy: sums, in which older attempts weigh less."""

    count: int = 0  # how many attempts there were
    weight: float = 0.0  # of all of them
    expected: float = 0.0  # what it said
    actual: float = 0.0  # what it took
    doubt: float = float(_DOUBT)  # the weight of attempts as expected that are assumed besides
    factor: float = 1.0  # how what it says is corrected: times this
    more: float = 0.0  # and then so much more

    def add(self, said: float, actual: float) -> bool:
        """One more; returns whether it is corrected otherwise now."""
        self.count += 1
        if self.count > _DOUBT:
            self.doubt *= _DOUBT_FADES
        self.weight = self.weight * _FADE + 1.0
        self.expected = self.expected * _FADE + said
        self.actual = self.actual * _FADE + actual
        before = (self.factor, self.more)
        if self.expected > 0:  # of sums, and not the mean of ratios: a short attempt that took long would rule them all
            doubt = self.doubt * self.expected / self.weight
            self.factor, self.more = _stepped((self.actual + doubt) / (self.expected + doubt)), 0.0
        else:
            self.more = int(self.actual / (self.weight + self.doubt) * _STEP + 0.5) / _STEP
        return (self.factor, self.more) != before


def _stepped(factor: float) -> float:
    """A factor in steps of a sixteenth; one below 1 in steps of its inverse."""
    factor = max(1.0 / _MOST, min(_MOST, factor))
    return int(factor * _STEP + 0.5) / _STEP if factor >= 1 else _STEP / int(_STEP / factor + 0.5)


class Records:
    """The records of one agent."""

    __slots__ = ("_records",)

    def __init__(self) -> None:
        self._records: dict[StrategySpec, _Record] = {}

    def add(self, spec: StrategySpec, said: float, actual: float) -> bool:
        """An attempt was completed, which said and took so much; returns whether that changes the correction."""
        return self._records.setdefault(spec, _Record()).add(said, actual)

    def corrected(self, spec: StrategySpec, said: float) -> float:
        """What a strategy says, corrected; as it is, if it was never completed."""
        record = self._records.get(spec)
        return said if record is None else said * record.factor + record.more

    def all(self) -> tuple[Accuracy, ...]:
        """What is known of each strategy, in the order in which they were first completed."""
        found: list[Accuracy] = []
        for spec, record in self._records.items():
            ratio = record.actual / record.expected if record.expected > 0 else 1.0
            means = (record.expected / record.weight, record.actual / record.weight)
            found.append(Accuracy(spec.name, record.count, *means, ratio))
        return tuple(found)


class ForesightCounts(NamedTuple):
    """How far what was foreseen came true, for one agent."""

    hits: int = 0  # how many times the likeliest branch came true
    others: int = 0  # how many times another branch that was foreseen
    misses: int = 0  # how many times something that nobody had foreseen
    prepared: int = 0  # how many decisions were made in advance
    taken: int = 0  # how many times the world turned out as it was assumed, so that a decision had been made already

    def __repr__(self) -> str:
        return (
            f"<{self.hits} hits, {self.others} others, {self.misses} misses; {self.prepared} decisions prepared, "
            f"{self.taken} taken>"
        )


# --- the state --------------------------------------------------------------------------------------------------------


class State:
    """What one agent's gameplay knows, and how it is set."""

    def __init__(self, agent: GameplayOwner) -> None:
        self.agent: GameplayOwner = agent
        self.topics: Topics = Topics(self._field_names)
        self.catalog: Catalog = Catalog()
        self.catalog.topics = self.topics
        self.changes: Signal = Signal()  # emitted whenever something changed that estimates rest on
        self.versions: dict[str, int] = {}  # topic to the number of its changes
        self.stamp: int = 0  # how many changes there were
        self.records: Records = Records()
        self.foreseen: ForesightCounts = ForesightCounts()
        # the settings, which ``Gameplay`` explains and checks
        self.lookahead: int = 4
        self.most_asks: int = 4_000
        self.prepare_asks: int = 32
        self.corrects: bool = False
        self.takes_options: bool = True
        self.order: Order = Order.CHEAPEST

    def _field_names(self) -> list[str]:
        """The names of the fields of the entity, as far as they are known."""
        entity, expected = self.agent.entity, self.agent.expected
        names = dict.fromkeys(() if expected is None else expected.field_names())
        names.update(dict.fromkeys(getattr(entity, "__dict__", ())))
        names.update((one, None) for one in dir(type(entity)) if isinstance(getattr(type(entity), one, None), property))
        return [one for one in names if not one.startswith("_")]

    # --- what changes -------------------------------------------------------------------------------------------------

    def count_change(self, *topics: str) -> None:
        """What was read of some topics does not hold any more."""
        for topic in topics:
            self.versions[topic] = self.versions.get(topic, 0) + 1
        self.stamp += 1

    def took(self, spec: StrategySpec, said: float, actual: float) -> None:
        """A strategy was completed, in so many game seconds of its own time; what it said is not corrected yet."""
        # A correction that moved by less than a step is none: or all estimates would be made anew after each attempt.
        if self.records.add(spec, said, actual) and self.corrects:
            self.count_change("accuracy")

    def count(self, name: str) -> None:
        """One more of what came of foresight."""
        self.foreseen = self.foreseen._replace(**{name: getattr(self.foreseen, name) + 1})

    # --- the agent ----------------------------------------------------------------------------------------------------

    @property
    def kernel(self) -> Kernel:
        """Who keeps the time; the agent is part of a runtime."""
        kernel = self.agent.kernel
        assert kernel is not None
        return kernel

    @property
    def tick(self) -> int:
        """The tick that it is; 0 while the agent is in no runtime."""
        kernel = self.agent.kernel
        return 0 if kernel is None else kernel.clock.tick

    def held_by(self) -> list[Unit]:
        """The actions that hold control flags of the agent."""
        owners = [hold.owner for hold in self.agent.flags.holds().values()]
        return [owner for owner in owners if isinstance(owner, Unit)]

    def layer(self, below: Current | None) -> Current:
        """A new layer of CURRENT on another one, or on the entity as it is."""
        return Current(below, self.agent.entity, self.agent.read_state, self.agent.expected)

    def spare(self, units: int) -> bool:
        """Take units of the think budget of the runtime for work that can wait; says whether they were there."""
        search, planner = self.agent.search, self.agent.planner
        return search is None or planner is None or search.spare(planner, units)

    def contained(self, place: str, hook: str, otherwise: T, call: Callable[..., T], *args: object) -> T:
        """What a hook gives; one that raises is reported, and something else counts."""
        try:
            return call(*args)
        except ENDS_PROGRAM:
            raise
        except BaseException as error:
            self.fault(place, hook, error)
            return otherwise

    def fault(self, place: str, hook: str, error: BaseException) -> None:
        """A hook of a strategy or a dependency raised: report it once."""
        self.agent.fault(f"gameplay/{place}", hook, error)
