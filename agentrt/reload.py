"""Hot reload: code, packs and selection trees that were edited are taken up while the world runs.

    reloader = Reloader(runtime, "mygame")
    reloader.reload(["mygame/wolves.py"])

Whoever drives it says which files changed: a test at an exact tick, or ``watching``, a thread that looks at the folder.
All of it happens in one call at one intake. Either all of it is taken or nothing: whatever is wrong (a syntax error, an
import that fails, an action that its checks refuse, a pack that names what is not there, a selection tree that means
nothing) is undone, reported, and the old code goes on. A reload is an input: a recording notes it, and a replay ends
there. While the world is paused there is no intake: what was edited then is ``waiting``, and whoever shows the world
tells of it.

Of a selection tree, which is read with all of its folder, only mistakes that are new refuse an edit: those of a file
that is refused already refuse no edit of another one.

*Only what changed is run.* A module is compared statement by statement with what it was. A statement runs again, in the
namespace of its module, if its text is new, or if it was made with something that is another thing now:

* a class, if what it names where it is defined (bases, decorators, values in its body) was read anew;
* another statement, if what it names is another object now, or it calls a function of its own module, or an imported
  one, that reads otherwise;
* an import, if what it imports is another object now.

What stands in functions is looked up when they are called, so it needs nothing. A statement that is an expression, and
``x += ...``, run again only if their text is new or that on which they work is another object.

*Things stay what they are.* A class that was read again is not another class: the old one takes over what the new one
has (``_renew``), and so do functions, behavior trees and declared activities. So all that anybody holds goes on, with
its state, by the new code: instances, components by their type, packs and lists of classes, signals that lead to
functions. What cannot be made the same (a layout of ``__slots__``, bases that do not fit) is an error; a member of an
``Enum`` and a plain value are other objects.

*What runs is revoked*, as by an injection that is revoked and another one that is given at the same moment: the actions
of the class that run are stopped, the others of the plan go on. So are goals, the paths of behavior trees and the
behaviors of selection trees; observers begin anew. Personal and shared task groups keep the tasks that they still
declare. Each model knows by itself how to do that (``reloaded``, ``Knowledge.relearn``, ``TaskGroup.redeclare``).

What a module says, how one thing takes over what another one is, and the reload itself stand in one file: each knows
what the others leave behind when nothing is taken.

Rejected: loading modules beside the old ones and swapping classes for others, everywhere where somebody may hold one:
components are found by their type, functions have the namespace of the old module, and what a program keeps in its
modules would begin anew.
"""

from __future__ import annotations
import __future__

import ast
import contextlib
import importlib.util
import linecache
import os
import sys
import traceback
from collections import Counter, deque
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass, field
from enum import EnumMeta
from functools import cache
from hashlib import blake2b
from pathlib import Path
from types import CellType, FunctionType, MemberDescriptorType, ModuleType
from typing import TYPE_CHECKING, Any, Final

from agentrt.activity.author.arguments import Activity
from agentrt.agent.knowledge import Renewed, forget_indexes
from agentrt.behavior.tree import BehaviorTree
from agentrt.body.slips import functions_in
from agentrt.errors import ENDS_PROGRAM, AgentRTError, DefinitionError, InvalidSelectionError, MissingExtraError
from agentrt.folders import Inside, is_below, open_file
from agentrt.packs.registry import Manifest, Registry, default_registry
from agentrt.runtime.intake import Reloaded
from agentrt.selection.library import Reread, SelectionLibrary
from agentrt.selection.state import SelectionState
from agentrt.words import error_words, printable_lines

if TYPE_CHECKING:
    from collections.abc import Generator

    from agentrt.activity.tasks.group import TaskGroup
    from agentrt.runtime.runtime import Runtime

__all__ = ["Reloaded", "Reloader"]

SUFFIXES: Final = (".py", ".json", ".xml")
"""What is looked at: code, packs and documents of task groups, selection trees."""

_MOST_TOLD: Final = 20  # mistakes of selection trees in one report

_ABSENT: Final = object()
_PLAIN = (int, float, str, bytes, bool, type(None))
_PASSED = ("__dict__", "__weakref__", "_abc_impl", "__slots__")


# --- what a module says -----------------------------------------------------------------------------------------------


class _NamesOf(ast.NodeVisitor):
    """The names that one statement binds in its module, loads while it runs, and calls then."""

    def __init__(self, statement: ast.stmt) -> None:
        self.binds: dict[str, None] = {}
        self.loads: set[str] = set()
        self.calls: set[str] = set()
        self._depth = 0  # of classes and comprehensions, whose names are their own
        self.visit(statement)

    def visit_Name(self, node: ast.Name) -> None:
        if isinstance(node.ctx, ast.Load):
            self.loads.add(node.id)
        elif not self._depth:
            self.binds[node.id] = None

    def visit_Call(self, node: ast.Call) -> None:
        root = _root(node.func)
        if root:
            self.calls.add(root)
        self.generic_visit(node)

    def visit_FunctionDef(self, node: ast.FunctionDef | ast.AsyncFunctionDef) -> None:
        self._bind(node.name)
        for one in (*node.decorator_list, node.args, *([node.returns] if node.returns else [])):
            self.visit(one)

    visit_AsyncFunctionDef = visit_FunctionDef  # noqa: N815 - as ``ast`` calls it

    def visit_Lambda(self, node: ast.Lambda) -> None:
        self.visit(node.args)

    def visit_ClassDef(self, node: ast.ClassDef) -> None:
        self._bind(node.name)
        self._inner(node)

    def _inner(self, node: ast.AST) -> None:
        self._depth += 1
        self.generic_visit(node)
        self._depth -= 1

    visit_ListComp = visit_SetComp = visit_DictComp = visit_GeneratorExp = _inner  # noqa: N815

    def visit_Import(self, node: ast.Import | ast.ImportFrom) -> None:
        for one in node.names:
            self._bind(one.asname or one.name.partition(".")[0])

    visit_ImportFrom = visit_Import  # noqa: N815

    def _bind(self, name: str) -> None:
        if not self._depth:
            self.binds[name] = None


def _root(node: ast.expr) -> str:
    """The name with which ``a.b[c](d)`` begins."""
    while isinstance(node, (ast.Attribute, ast.Subscript, ast.Call)):
        node = node.func if isinstance(node, ast.Call) else node.value
    return node.id if isinstance(node, ast.Name) else ""


class _Statement:
    """One statement of a module."""

    def __init__(self, node: ast.stmt) -> None:
        names = _NamesOf(node)
        self.node = node
        self.text = ast.dump(node)  # without lines: what moved is the same
        self.binds = tuple(names.binds)
        self.loads, self.calls = names.loads, names.calls
        self.imports = [one for one in ast.walk(node) if isinstance(one, (ast.Import, ast.ImportFrom))]
        self.is_class = isinstance(node, ast.ClassDef)
        self.is_main = isinstance(node, ast.If) and "__name__" in names.loads  # ``if __name__ == "__main__":``
        # Of what works on something: what that is.
        self.works_on = ""
        if isinstance(node, ast.Expr):
            self.works_on = _root(node.value)
        elif isinstance(node, ast.AugAssign):
            self.works_on = _root(node.target)
        self.only_works = isinstance(node, (ast.Expr, ast.AugAssign))


class _Source:
    """The text of a module, as it was read last."""

    def __init__(self, module: ModuleType, data: bytes) -> None:
        self.module = module
        self.data = data
        self.file = str(module.__file__)
        text = importlib.util.decode_source(data)
        tree = ast.parse(text, self.file)
        self.statements = [_Statement(node) for node in tree.body]
        self.flags = 0
        for node in tree.body:
            if isinstance(node, ast.ImportFrom) and node.module == "__future__":
                for one in node.names:
                    self.flags |= getattr(__future__, one.name).compiler_flag
        # The whole, since some mistakes are found by the compiler alone; then each by itself.
        compile(tree, self.file, "exec", self.flags, dont_inherit=True)
        self.package = module.__name__ if hasattr(module, "__path__") else module.__name__.rpartition(".")[0]

    def run(self, statement: _Statement) -> None:
        part = ast.Module([statement.node], [])
        exec(compile(part, self.file, "exec", self.flags, dont_inherit=True), vars(self.module))  # noqa: S102

    def imported(self, statement: _Statement) -> Iterator[tuple[str, str, str]]:
        """What it imports: the module, the name in there or nothing, and the name here."""
        for node in statement.imports:
            if isinstance(node, ast.Import):
                for one in node.names:
                    yield one.name, "", one.asname or one.name.partition(".")[0]
                continue
            name = "." * node.level + (node.module or "")
            with contextlib.suppress(ImportError):  # running it tells what is wrong with it
                base = importlib.util.resolve_name(name, self.package) if node.level else name
                for one in node.names:
                    yield base, one.name, one.asname or one.name
                    yield f"{base}.{one.name}", "", one.asname or one.name


# --- taking over what was read anew -----------------------------------------------------------------------------------

_Undo = list[Callable[[], object]]


def _set(thing: object, name: str, value: object, undo: _Undo) -> None:
    """Set or delete an attribute, so that it can be undone."""
    before = thing.__dict__.get(name, _ABSENT) if isinstance(thing, type) else getattr(thing, name)
    if value is before:
        return

    def put(what: object) -> None:
        if what is _ABSENT:
            delattr(thing, name)
        else:
            setattr(thing, name, what)

    put(value)
    undo.append(lambda: put(before))


_OF_FUNCTIONS = ("__code__", "__defaults__", "__kwdefaults__", "__annotations__", "__doc__", "__dict__")


def _renew_function(old: FunctionType, new: FunctionType, undo: _Undo) -> bool:
    """Have a function do what another one does; False if it cannot."""
    if old.__code__.co_freevars != new.__code__.co_freevars or old.__globals__ is not new.__globals__:
        return False
    for name in _OF_FUNCTIONS:
        _set(old, name, getattr(new, name), undo)
    for free, ours, theirs in zip(old.__code__.co_freevars, old.__closure__ or (), new.__closure__ or (), strict=True):
        if free != "__class__":
            with contextlib.suppress(ValueError):  # it is empty
                _set(ours, "cell_contents", theirs.cell_contents, undo)
    return True


def _renew_class(old: type, new: type, undo: _Undo) -> bool:
    """Have a class be what another one is; False if it has to be another object."""
    if isinstance(old, EnumMeta) or isinstance(new, EnumMeta) or type(old) is not type(new):
        return False
    if old.__dict__.get("__slots__") != new.__dict__.get("__slots__"):
        raise _does_not_fit(old, "its __slots__ are others now, and what is there has no room for them.")
    if old.__bases__ != new.__bases__:
        before = old.__bases__
        try:
            old.__bases__ = new.__bases__
        except TypeError as error:
            raise _does_not_fit(old, f"its bases do not fit what is there: {error}.") from None
        undo.append(lambda: setattr(old, "__bases__", before))
    ours, theirs = dict(old.__dict__), dict(new.__dict__)
    for cell in _class_cells(theirs.values()):
        cell.cell_contents = old
    for name in ours.keys() - theirs.keys():
        if name not in _PASSED:
            _set(old, name, _ABSENT, undo)
    for name, value in theirs.items():
        if name not in _PASSED and not isinstance(value, MemberDescriptorType):
            _renew_attribute(old, new, name, ours.get(name, _ABSENT), value, undo)
    return True


def _renew_attribute(old: type, new: type, name: str, before: object, value: object, undo: _Undo) -> None:
    if isinstance(before, FunctionType) and isinstance(value, FunctionType) and _renew_function(before, value, undo):
        return
    if getattr(value, "cls", None) is new:  # what agentrt made of the class when it was defined
        setattr(value, "cls", old)  # noqa: B010 - of any of its kinds
    _set(old, name, value, undo)


def _does_not_fit(cls: type, problem: str) -> DefinitionError:
    return DefinitionError(f"{cls.__module__}.{cls.__qualname__}", problem, "Begin the run again.")


def _class_cells(values: Iterable[object]) -> Iterator[CellType]:
    """Where functions of a class find that class, for ``super()``."""
    for value in values:
        for function in functions_in(value):
            for free, cell in zip(function.__code__.co_freevars, function.__closure__ or (), strict=True):
                if free == "__class__":
                    yield cell


@dataclass(slots=True)
class _Change:
    """What one reload does: so far, and how it is undone."""

    undo: _Undo = field(default_factory=list)
    renewed: dict[str, dict[str, object]] = field(default_factory=dict)  # by module: what is the same, and reads anew
    rebound: dict[str, set[str]] = field(default_factory=dict)  # by module: names of other objects
    manifests: list[tuple[Manifest, Manifest]] = field(default_factory=list)
    removed: dict[type, None] = field(default_factory=dict)
    names: dict[str, str] = field(default_factory=dict)  # of what changed, for people; and what each of it is

    @property
    def things(self) -> list[object]:
        """All that is the same object, and reads otherwise now."""
        return [one for of in self.renewed.values() for one in of.values()]


class _ModuleChange:
    """One module is read again."""

    def __init__(self, change: _Change, old: _Source | None, new: _Source) -> None:
        self._change = change
        self._new = new
        self._module = new.module
        self._before = Counter() if old is None else Counter(one.text for one in old.statements)
        self._bound = set() if old is None else {name for one in old.statements for name in one.binds}
        self._renewed = change.renewed.setdefault(self._module.__name__, {})
        self._rebound = change.rebound.setdefault(self._module.__name__, set())

    def run(self) -> None:
        names = vars(self._module)
        kept = dict(names)

        def put_back() -> None:
            names.clear()
            names.update(kept)

        self._change.undo.append(put_back)
        for statement in self._new.statements:
            is_same = self._before[statement.text] > 0
            self._before[statement.text] -= is_same
            self._mark_imports(statement)
            if not statement.is_main and not (is_same and self._is_fine(statement)):
                self._run(statement)
        now = {name for one in self._new.statements for name in one.binds}
        for name in self._bound - now:
            gone = names.pop(name, None)
            self._rebound.add(name)
            if isinstance(gone, type) and gone.__module__ == self._module.__name__:
                self._change.removed[gone] = None

    def _mark_imports(self, statement: _Statement) -> None:
        """Names here of what changed in modules that it imports."""
        change = self._change
        for module, name, here in self._new.imported(statement):
            renewed, rebound = change.renewed.get(module, {}), change.rebound.get(module, set())
            if name == "*":
                self._renewed.update(renewed)
                self._rebound |= rebound
            elif name:
                if name in renewed:
                    self._renewed[here] = renewed[name]
                if name in rebound:
                    self._rebound.add(here)
            elif rebound:
                self._rebound.add(here)
            elif renewed:
                self._renewed[here] = sys.modules.get(module)

    def _is_fine(self, statement: _Statement) -> bool:
        """Whether a statement that reads as before has nothing else to say now."""
        if statement.only_works:
            return statement.works_on not in self._rebound
        if statement.imports:
            return not any(name in self._rebound for name in statement.binds) and "*" not in statement.binds
        if statement.loads & self._rebound:
            return False
        if statement.is_class:
            return not statement.loads & self._renewed.keys()
        if statement.loads & self._renewed.keys() and any(
            isinstance(vars(self._module).get(name), Activity) for name in statement.binds
        ):
            return False  # its actions have to hear that its arguments, or its output, are others
        return not any(isinstance(self._renewed.get(name), FunctionType) for name in statement.calls)

    def _run(self, statement: _Statement) -> None:
        names = vars(self._module)
        before = {name: names.get(name, _ABSENT) for name in statement.binds}
        self._new.run(statement)
        for name, old in before.items():
            new = names.get(name, _ABSENT)
            if new is old and new is not _ABSENT:
                continue
            if self._renew(name, old, new):
                names[name] = old
                self._renewed[name] = old
                self._change.names[getattr(old, "__qualname__", name)] = _kind_of(old)
            elif not (type(new) is type(old) and isinstance(new, _PLAIN) and new == old):
                self._rebound.add(name)
                self._change.names[name] = _kind_of(new)

    def _renew(self, name: str, old: object, new: object) -> bool:
        """Whether what a name stood for could take over what it stands for now."""
        undo = self._change.undo
        if isinstance(old, BehaviorTree) and isinstance(new, BehaviorTree):
            undo.append(old.take_over(new))
            return True
        if isinstance(old, Activity) and isinstance(new, Activity):
            for slot in ("name", "args", "output"):
                _set(old, slot, getattr(new, slot), undo)
            return True
        if isinstance(old, Manifest) and isinstance(new, Manifest):
            self._change.manifests.append((old, new))
            return False
        own = self._module.__name__
        if getattr(old, "__module__", "") != own or getattr(new, "__module__", "") != own:
            return False  # it was imported
        if isinstance(old, FunctionType) and isinstance(new, FunctionType):
            return _renew_function(old, new, undo)
        return isinstance(old, type) and isinstance(new, type) and _renew_class(old, new, undo)


def _kind_of(thing: object) -> str:
    """What a thing is, in one word, as a page shows it."""
    kinds = ((type, "class"), (FunctionType, "function"), (BehaviorTree, "tree"), (Manifest, "manifest"))
    return next((kind for base, kind in kinds if isinstance(thing, base)), "value")


# --- the reloader -----------------------------------------------------------------------------------------------------


@cache
def _real_path(file: str) -> str:
    """Of the file of a module: there are thousands of them, and asking the disk for each takes a while."""
    return os.path.realpath(file)


class Reloader:
    """Takes up what was edited, while a runtime runs.

    Args:
        runtime: whose agents take it up.
        folder: of the project; modules, packs and trees below it are looked at, and nothing else. What begins with a
            dot, ``site-packages`` and the like are passed over: see ``agentrt.folders``.
        registries: where packs are looked up, besides the registries of the agents that are there: the world's.

    Source: ours; CryEngine, selection trees, Overview ('ai_reload').
    """

    def __init__(self, runtime: Runtime, folder: str | Path, *, registries: Iterable[Registry] = ()) -> None:
        self.runtime: Runtime = runtime
        self.inside: Inside = Inside(folder)
        self.folder: Path = self.inside.folder
        # What came of the last ones, the oldest first; the runtime keeps it, since its inspectors show it.
        self.reports: deque[Reloaded] = runtime.reloads
        self._refused: set[str] = set()  # files of which something else runs than what stands in them
        self._registries = tuple(registries)
        self._told: list[Callable[[Reloaded], object]] = []
        self._posted: deque[tuple[str, ...]] = deque()  # what waits for an intake, in that order; threads append to it
        self._seen: dict[str, bytes] = {}  # of documents, digests of what was read, so that nothing is taken up twice
        self._sources: dict[str, _Source] = {}  # by the name of the module
        self._files: dict[str, str] = {}  # by the name of a module: where it lies
        self._paths: dict[str, str] = {}  # by the file of any module: its real path if it is ours, else nothing
        self._read_new()

    def on_reload(self, callback: Callable[[Reloaded], object]) -> Callable[[], None]:
        """Call a plain function with what came of each reload, at its intake; returns a function that ends it."""
        self._told.append(callback)

        def close() -> None:
            if callback in self._told:
                self._told.remove(callback)

        return close

    def reload(self, paths: Iterable[str | Path]) -> None:
        """Take up files that changed, at the next intake. Safe from any thread.

        Nothing in a file is raised: what is wrong stands in the report.

        Args:
            paths: of files below the folder; others, and those of which nothing is known, are passed over.
        """
        self._post(paths, is_watched=False)

    def _post(self, paths: Iterable[str | Path], *, is_watched: bool) -> None:
        found = tuple(os.path.realpath(path) for path in paths)
        self._posted.append(found)
        self.runtime.kernel.post(self._take, found, is_watched)

    @property
    def waiting(self) -> tuple[str, ...]:
        """Files that were edited and are taken up with the next tick, from the folder on; asked from any thread."""
        paths = dict.fromkeys(path for paths in tuple(self._posted) for path in paths)
        return self._shown(path for path in paths if self._is_ours(path))

    @property
    def registries(self) -> tuple[Registry, ...]:
        """Where the agents that are there look up packs."""
        return self._known_registries()

    @property
    def libraries(self) -> dict[SelectionLibrary, tuple[SelectionState, ...]]:
        """The libraries of selection trees that agents use, with their states."""
        found: dict[SelectionLibrary, list[SelectionState]] = {}
        for agent in self.runtime.agents:
            for state in agent.drivers.all:
                if isinstance(state, SelectionState) and isinstance(state.tree.library, SelectionLibrary):
                    found.setdefault(state.tree.library, []).append(state)
        return {library: tuple(states) for library, states in found.items()}

    def place_of(self, thing: object) -> tuple[str, int] | None:
        """Where a class, a function or a thing of a module is written: the file, from the folder on, and the line.

        Nothing of the thing is called. None if it is not of a module below the folder.
        """
        if isinstance(thing, (type, FunctionType)):
            return self._place(thing.__module__, thing.__qualname__.split("."))
        for module, source in self._sources.items():
            for name, value in vars(source.module).items():
                if value is thing and any(name in one.binds and not one.imports for one in source.statements):
                    return self._place(module, [name])
        return None

    def _place(self, module: str, names: list[str]) -> tuple[str, int] | None:
        source = self._sources.get(module)
        if source is None:
            return None
        found = [one.node for one in source.statements if names[0] in one.binds]
        if not found:
            return None
        node: ast.stmt = found[-1]  # the last one counts, as it did when the module was run
        for name in names[1:]:
            inner = [one for one in getattr(node, "body", ()) if getattr(one, "name", "") == name]
            if not inner:
                break
            node = inner[-1]
        return self._shown([self._files[module]])[0], node.lineno

    @contextlib.contextmanager
    def watching(self, debounce: float = 0.2) -> Generator[None]:
        """Look at the folder from a thread, and take up what changes there, until the context is left.

        Args:
            debounce: real seconds in which changes are gathered; files that are saved together are taken together.

        Raises:
            MissingExtraError: the extra ``watch`` is not installed.
        """
        try:
            import watchfiles
        except ImportError:
            raise MissingExtraError("watch", "watchfiles") from None
        import threading

        over = threading.Event()

        def look() -> None:
            for found in watchfiles.watch(
                self.folder,
                watch_filter=lambda _change, path: self._is_ours(path),
                debounce=int(debounce * 1000),
                stop_event=over,
                raise_interrupt=False,
                ignore_permission_denied=True,
            ):
                self._post(sorted(path for _, path in found), is_watched=True)

        thread = threading.Thread(target=look, name="agentrt reload", daemon=True)
        thread.start()
        try:
            yield
        finally:
            over.set()
            thread.join()

    # --- which files --------------------------------------------------------------------------------------------------

    def _is_ours(self, path: str) -> bool:
        return path.endswith(SUFFIXES) and is_below(self.folder, Path(os.path.realpath(path)))

    def _modules(self) -> Iterator[tuple[ModuleType, str]]:
        folder = os.path.normcase(os.path.join(self.folder, ""))  # noqa: PTH118 - with its separator
        for name, module in tuple(sys.modules.items()):
            file = getattr(module, "__file__", None)
            if not isinstance(file, str) or not file.endswith(".py"):
                continue
            path = self._paths.get(file)
            if path is None:
                path = _real_path(file)
                is_ours = os.path.normcase(path).startswith(folder) and is_below(self.folder, Path(path))
                path = self._paths[file] = path if is_ours else ""
            if path and name.partition(".")[0] != "agentrt" and getattr(module, "__name__", "") == name:
                yield module, path

    def _read_new(self) -> None:
        """Read the modules that were imported since: what they say now is what they were made of."""
        for module, path in self._modules():
            if self._files.get(module.__name__) is None:
                self._files[module.__name__] = path
                with contextlib.suppress(OSError, SyntaxError, ValueError):  # it is run whole when it changes
                    self._sources[module.__name__] = _Source(module, Path(path).read_bytes())

    # --- one reload ---------------------------------------------------------------------------------------------------

    def _take(self, paths: tuple[str, ...], is_watched: bool) -> None:
        self._posted.popleft()  # posts are taken in their order
        # Who writes a document and says so is seen by who watches, too.
        paths = tuple(path for path in dict.fromkeys(paths) if self._is_ours(path) and self._is_news(path, is_watched))
        if not paths:
            return
        # What was refused with another file may be fine now that this one is mended; if it is not, it waits on.
        waiting = tuple(path for path in sorted(self._refused) if path not in paths)
        report, error = self._attempt((*waiting, *paths))
        if waiting and report is not None and report.error:
            report, error = self._attempt(paths)
        else:
            paths = (*waiting, *paths)
        if error is not None:
            self.runtime.trace.report(str(report), error)
        mended = self._refused.intersection(paths)
        if report is None and mended:  # an edit was taken back: whoever was told of its error is to know that
            report = Reloaded(self.runtime.tick, self._shown(paths), (), (), ())
        if report is not None:
            self._refused = (self._refused | set(paths)) if report.error else (self._refused - set(paths))
            if report.changes_code or report.error or mended:
                self._keep(report, paths)
            self.reports.append(report)
            for told in tuple(self._told):
                told(report)

    def _is_news(self, path: str, is_watched: bool) -> bool:
        if path.endswith(".py"):
            return True  # it is compared with what was run
        with contextlib.suppress(OSError):
            digest = blake2b(Path(path).read_bytes(), digest_size=16).digest()
            before, self._seen[path] = self._seen.get(path), digest
            return not is_watched or before != digest
        return True

    def _attempt(self, paths: tuple[str, ...]) -> tuple[Reloaded | None, BaseException | None]:
        """Take up files, or nothing of them; what came of it, if anything did, and what was raised."""
        change = _Change()
        modules_before = set(sys.modules)
        try:
            with self.inside.reading():
                return self._taken(paths, change), None
        except ENDS_PROGRAM:
            raise
        except BaseException as error:  # whatever a module raises when it is run
            for one in reversed(change.undo):
                one()
            for name in sys.modules.keys() - modules_before:
                if self._is_ours(getattr(sys.modules[name], "__file__", None) or ""):
                    del sys.modules[name]
            forget_indexes(tuple(one for one in change.things if isinstance(one, type)))
            return Reloaded(self.runtime.tick, self._shown(paths), (), (), (), self._where(error)), error

    def _taken(self, paths: tuple[str, ...], change: _Change) -> Reloaded | None:
        sources, notes = self._run_modules(paths, change)
        registries = self._known_registries()
        files = frozenset(path for path in paths if path.endswith(".json") and self._is_read(path, registries))
        groups = self._refresh(registries, files, change)
        things = change.things
        classes = frozenset(one for one in things if isinstance(one, type))
        forget_indexes(tuple(classes))
        renewed = Renewed(
            classes=classes,
            functions=frozenset(one for one in things if isinstance(one, FunctionType)),
            removed=frozenset(change.removed),
            files=files,
            has_packs=bool(files or change.manifests),
        )
        reread = self._read_trees(paths)
        took = self._take_up(renewed, groups, change)
        self._sources.update(sources)
        self._take_trees(reread, change, took)
        self._read_new()
        changed = (*change.names, *self._shown(sorted(files)))
        if not (sources or changed):
            return None
        report = Reloaded(
            tick=self.runtime.tick,
            files=self._shown(paths),
            changed=changed,
            removed=tuple(one.__qualname__ for one in change.removed),
            agents=tuple(agent.name for agent in self.runtime.agents if agent.name in took),
            notes=tuple(notes),
            kinds=(*change.names.values(), *("pack" for _ in files)),
        )
        if report.changes_code:
            self.runtime.note(str(report).partition("\n")[0], reloaded=", ".join(report.files))
        return report

    def _take_up(self, renewed: Renewed, groups: dict[type, type], change: _Change) -> dict[str, None]:
        """Have all agents take up what was read again, if all of them can; the names of those for whom it matters."""
        # All are asked before anybody changes.
        commits = {agent.name: agent.relearn(renewed) for agent in self.runtime.agents}
        shared = self._groups(groups, renewed)
        trees = frozenset(one for one in change.things if isinstance(one, BehaviorTree))
        for tree in {tree: None for tree in self._trees() if tree in trees or tree.uses(renewed.classes)}:
            change.undo.append(tree.take_over(tree))
            trees |= {tree}
        # From here on nothing is undone, and nothing is expected to raise.
        took = {name: None for name, commit in commits.items() if commit is not None and commit()}
        for group, action in shared.items():
            group.redeclare(action)
            took.update(dict.fromkeys(member.name for member in group.members))
        self._tell_models(renewed.classes, trees, took)
        return took

    def _tell_models(self, classes: frozenset[type], trees: frozenset[object], took: dict[str, None]) -> None:
        """Have what drives agents, and their gameplay, take up what reads otherwise."""
        for agent in self.runtime.agents:
            for driver in agent.drivers.all:
                renew = getattr(driver, "reloaded", None)  # a driver of an author's need not have it
                if renew is not None and renew(classes, trees):
                    took[agent.name] = None
            if agent.gameplay_if_made is not None and agent.gameplay_if_made.reloaded():
                took[agent.name] = None

    def _keep(self, report: Reloaded, paths: tuple[str, ...]) -> None:
        """Have a recording keep it, also if nothing changed: that is no part of the run, but of what is shown of it."""
        journal = self.runtime.journal
        if journal is not None:
            digests = {}
            for path, name in zip(paths, report.files, strict=True):
                data = Path(path).read_bytes() if Path(path).is_file() else b""
                digests[name] = blake2b(data, digest_size=16).hexdigest()
            journal.reloaded(report, digests)

    def _shown(self, paths: Iterable[str]) -> tuple[str, ...]:
        return tuple(Path(os.path.relpath(path, self.folder)).as_posix() for path in paths)

    def _where(self, error: BaseException) -> str:
        """An error in words, with the file and the line below the folder in which it came up."""
        if isinstance(error, SyntaxError) and error.filename:
            return f"{self._shown([error.filename])[0]}:{error.lineno}: {error.msg}"
        frames = [one for one in traceback.extract_tb(error.__traceback__) if self._is_ours(one.filename)]
        place = f"{self._shown([frames[-1].filename])[0]}:{frames[-1].lineno}: " if frames else ""
        words = str(error) if isinstance(error, AgentRTError) else error_words(error)
        words = words.replace(f"{self.folder}{os.sep}", "")
        return printable_lines(f"{place}{words}")

    # --- modules ------------------------------------------------------------------------------------------------------

    def _run_modules(self, paths: tuple[str, ...], change: _Change) -> tuple[dict[str, _Source], list[str]]:
        """Run what changed in modules, and in those that import them; returns what was read."""
        self._read_new()
        by_path = {path: name for name, path in self._files.items()}
        notes: list[str] = []
        fresh: dict[str, _Source] = {}
        for path in paths:
            name = by_path.get(path, "")
            module = sys.modules.get(name)
            if module is None:
                continue
            linecache.checkcache(path)
            if not Path(path).is_file():
                notes.append(f"{self._shown([path])[0]} is gone: what is in it stays until the run ends")
                continue
            with open_file(path) as stream:
                data = stream.read()
            old = self._sources.get(name)
            if not data.strip() and old is not None and old.data.strip():
                raise DefinitionError(self._shown([path])[0], "it is empty, as if half written.", "Save it again.")
            if old is None or old.data != data:
                fresh[name] = _Source(module, data)
        if not fresh:
            return {}, notes
        for name in self._in_order({**self._sources, **fresh}):
            old = self._sources.get(name)
            new = fresh.get(name, old)
            assert new is not None
            if name in fresh or any(name in change.renewed for name, _, _ in _imports(new)):
                _ModuleChange(change, old, new).run()
        return fresh, notes

    @staticmethod
    def _in_order(sources: dict[str, _Source]) -> list[str]:
        """Names of modules, each after those that it imports, as far as they do not import each other."""
        found: dict[str, None] = {}
        seen: set[str] = set()
        for first in sorted(sources):
            stack: list[tuple[str, Iterator[tuple[str, str, str]]]] = []
            upcoming = first
            while True:
                if upcoming not in seen:
                    seen.add(upcoming)
                    stack.append((upcoming, _imports(sources[upcoming])))
                while stack:
                    name, inner = stack[-1]
                    upcoming = next((one for one, _, _ in inner if one in sources and one not in seen), "")
                    if upcoming:
                        break
                    found[name] = None
                    stack.pop()
                if not stack:
                    break
        return list(found)

    # --- packs and trees ----------------------------------------------------------------------------------------------

    def _known_registries(self) -> tuple[Registry, ...]:
        shared = [default_registry()] if default_registry.cache_info().currsize else []  # of agents that have none
        of_agents = [agent.registry_if_known for agent in self.runtime.agents]
        return tuple(dict.fromkeys(one for one in (*self._registries, *shared, *of_agents) if one is not None))

    def _is_read(self, path: str, registries: Iterable[Registry]) -> bool:
        """Whether somebody has a pack from a file; a game may write others into its folder all the time."""
        return any(path in one.files() for one in registries) or any(
            path in agent.pack_files() for agent in self.runtime.agents
        )

    @staticmethod
    def _refresh(registries: Iterable[Registry], files: frozenset[str], change: _Change) -> dict[type, type]:
        """Have registries read again what they read from files; which class of a task group stands for which now."""
        groups: dict[type, type] = {}
        if files or change.manifests:
            for registry in registries:
                undo, found = registry.refresh(files, change.manifests)
                change.undo.append(undo)
                groups.update(found)
        return groups

    def _groups(self, found: dict[type, type], renewed: Renewed) -> dict[TaskGroup, Any]:
        """The task groups whose class is another one now, or reads anew."""
        groups = dict.fromkeys(group for agent in self.runtime.agents for group in agent.task_groups)
        changed: dict[TaskGroup, Any] = {}
        for group in groups:
            action = found.get(group.action, group.action)
            if action is not group.action or renewed.touches(action):
                changed[group] = action
        return changed

    def _trees(self) -> Iterator[BehaviorTree]:
        for agent in self.runtime.agents:
            for driver in agent.drivers.all:
                tree = getattr(driver, "tree", None)
                if isinstance(tree, BehaviorTree):
                    yield tree

    def _read_trees(self, paths: tuple[str, ...]) -> dict[SelectionLibrary, Reread]:
        """Read selection trees again; nothing changes yet.

        Raises:
            InvalidSelectionError: something is wrong in a file of the paths, or wherever nothing was wrong before.
        """
        if not any(path.endswith(".xml") for path in paths):
            return {}
        elsewhere = self._refused.difference(paths)
        found = {library: library.read_again() for library in self.libraries}
        wrong: list[tuple[str, int, str]] = []
        for library, reread in found.items():
            files = {name: os.path.realpath(path) for name, path in library.files.items()}
            for one in reread.problems:
                path = files.get(one.file, "")
                is_new = path in paths or one not in library.problems
                if one.is_error and is_new and path not in elsewhere:
                    wrong.append((self._shown([path])[0] if path else one.file, one.line, one.text))
        if wrong:
            told = tuple(dict.fromkeys(wrong))
            raise InvalidSelectionError(told[:_MOST_TOLD], omitted=len(told[_MOST_TOLD:]))
        return found

    def _take_trees(self, reread: dict[SelectionLibrary, Reread], change: _Change, took: dict[str, None]) -> None:
        """Have libraries be what was read; who uses a tree that changed takes it over when it drives the next time."""
        users = self.libraries if reread else {}
        for library, read in reread.items():
            report = read.commit()
            change.names.update(dict.fromkeys((*report.changed, *report.added), "tree"))
            states = [state for state in users.get(library, ()) if state.tree.name in report.changed]
            took.update(
                dict.fromkeys(
                    agent.name
                    for agent in self.runtime.agents
                    if any(driver is state for driver in agent.drivers.all for state in states)
                )
            )


def _imports(source: _Source) -> Iterator[tuple[str, str, str]]:
    for statement in source.statements:
        yield from source.imported(statement)
