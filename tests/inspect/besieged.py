"""Worlds with inspectors, in a process of their own, that tell what was done to them: ``python besieged.py FOLDER``.

``tools/inspector_campaign.py`` starts it, and plays the hostile client. There are five doors, each on a port of its
own: a world that may be changed (``open``), one that may only be looked at (``looking``), one with a token
(``locked``), and a recording with and without branches (``recording``, ``shown``). A line of JSON tells the ports;
from then on each line of standard input (``calm``, ``look``, ``end``) is answered with one that tells how it stands:

* ``found``: what was written where nothing may be, was run, or was reached for, as the audit hooks of Python tell;
* ``errors``: what was logged as an error, or ended a thread;
* ticks, threads, descriptors, memory, and whether the world that is only looked at is the one that nobody saw.

Beside the worlds lies what nobody may see: files with a word in them (``CANARY``) that must be in no answer, and
modules that must not be imported.
"""

from __future__ import annotations

import contextlib
import hashlib
import json
import logging
import os
import resource
import sys
import tempfile
import threading
import time
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
CANARY = "canary-5b0a2e-nobody-may-see-this"
TOKEN = "a-token-of-the-siege-0123456789"
HOSTILE = "<img src=x onerror=alert(1)>"
WRITES = os.O_WRONLY | os.O_RDWR | os.O_CREAT | os.O_TRUNC | os.O_APPEND
# What changes files, and which of its arguments are paths and descriptors of folders.
CHANGES = {
    "os.rename": ((0, 2), (1, 3)), "os.remove": ((0, 1),), "os.mkdir": ((0, 2),), "os.rmdir": ((0, 1),),
    "os.link": ((0, 2), (1, 3)), "os.symlink": ((1, 2),), "os.chmod": ((0, 2),), "os.chown": ((0, 3),),
    "os.truncate": ((0, None),), "os.utime": ((0, 3),), "os.setxattr": ((0, None),), "shutil.rmtree": ((0, 1),),
}  # fmt: skip
RUNS = (
    "os.system", "os.exec", "os.posix_spawn", "os.fork", "os.forkpty", "os.startfile", "pty.spawn", "ctypes.dlopen",
    "pickle.find_class", "webbrowser.open", "urllib.Request", "socket.connect", "code.__new__",
)  # fmt: skip


class Watchman:
    """Hears what the process does, as Python's audit hooks tell it."""

    def __init__(self, may_write):
        self.found = {}
        self.is_awake = False
        self._may_write = [os.path.realpath(one) + os.sep for one in may_write]
        sys.addaudithook(self._heard)

    def _heard(self, event, args):
        if not self.is_awake:
            return
        if event == "open":
            path, _, flags = args
            if isinstance(path, (str, bytes)) and flags & WRITES:
                self._written("open", path, None)
        elif event in CHANGES:
            for path, at in CHANGES[event]:
                self._written(event, args[path], None if at is None else args[at])
        elif event == "sqlite3.connect" and "mode=ro" not in str(args[0]):
            self._written(event, args[0], None)
        elif event == "subprocess.Popen":
            if "agentrt.inspect.child" not in args[1]:
                self._tell(event, args[1])
        elif event in RUNS or (event in ("exec", "compile") and not self._is_import()):
            self._tell(event, args)

    def _written(self, event, path, at):
        if isinstance(path, int):
            return  # a descriptor of what was opened before
        path = os.fsdecode(path)
        if at is not None and at >= 0:
            path = str(Path(f"/proc/self/fd/{at}").readlink() / path)
        elif event == "open" and os.sep not in path:
            return  # by a descriptor, which the hook is not told; whoever looks at the folders afterwards sees it
        if path != os.devnull and not f"{os.path.realpath(path)}{os.sep}".startswith(tuple(self._may_write)):
            self._tell(event, path)

    def _is_import(self):
        """Whether a module is imported, which those of the library itself are when they are needed."""
        frame = sys._getframe(2)
        while frame is not None:
            if frame.f_code.co_filename.startswith("<frozen importlib"):
                return True
            frame = frame.f_back
        return False

    def _tell(self, event, what):
        frame = sys._getframe(3)
        where = f"{Path(frame.f_code.co_filename).name}:{frame.f_lineno}"
        if len(self.found) < 100:
            self.found.setdefault(f"{event} {str(what)[:200]} at {where}", time.monotonic())


class Complaints(logging.Handler):
    """Errors that were logged, and those that ended a thread."""

    def __init__(self):
        super().__init__(logging.ERROR)
        self.texts = {}
        logging.getLogger().addHandler(self)
        threading.excepthook = lambda told: self.add(f"a thread ended by {told.exc_value!r}")

    def emit(self, record):
        error = record.exc_info and record.exc_info[1]
        place = error and error.__traceback__
        while place is not None and place.tb_next is not None:
            place = place.tb_next
        where = "" if not place else f" at {Path(place.tb_frame.f_code.co_filename).name}:{place.tb_lineno}"
        self.add(f"{record.name}: {record.getMessage()} {error!r}{where}"[:500])

    def add(self, text):
        if len(self.texts) < 100:
            self.texts[text] = self.texts.get(text, 0) + 1


def lay_bait(folder):
    """Put what nobody may see beside the worlds."""
    outside = folder / "outside"
    outside.mkdir()
    (outside / "secret.json").write_text(json.dumps({"actions": [CANARY]}))
    (outside / "secret.txt").write_text(f"{CANARY}\n")
    (outside / "secret.xml").write_text(f"<SelectionTrees>{CANARY}</SelectionTrees>")
    for name in ("evil.py", "mod.py", "antigravity2.py"):
        (outside / name).write_text(f"import os\nos.environ['EVIL'] = '{CANARY}'\n")
    os.chdir(outside)
    sys.path.insert(0, str(outside))
    return outside


def make_den(folder):
    """A world whose folder has ways that lead outside, and whose people and things have names that are markup."""
    from edited import Den

    from agentrt import Agent, Entity
    from agentrt.drawing import Drawing, Mark

    folder.mkdir()
    den = Den(folder / "game", folder)
    outside = folder.parent / "outside"
    (folder / "game/packs/link.json").symlink_to(outside / "secret.json")
    (folder / "game/packs/door").symlink_to(outside)
    (folder / "game/notes.txt").write_text(CANARY)
    runtime = den.runtime
    loud = Agent(Entity(HOSTILE, name=HOSTILE), actions=list(den.agent.actions))
    loud.values = lambda: {"hunger": runtime.tick % 50 / 50, HOSTILE: {"name": HOSTILE, "__proto__": runtime.tick}}
    runtime.add(loud)
    runtime.on_input("knock", lambda who="", times=1: None)
    runtime.drawing = lambda: Drawing(
        9, 6, None, {"wolf": Mark(runtime.tick % 9, 2, "W", agent="Akela"), HOSTILE: Mark(1, 1, "<", label=HOSTILE)}
    )
    return den


def record(path):
    """A recording of an installed world, so that branches of it can be run."""
    from agentrt_examples.colony import world

    runtime = world.make(seed=3, host="plain")
    runtime.log_level = "off"
    with runtime.record(path, world="colony"):
        for _ in range(60):
            runtime.step()
    runtime.close()


class Besieged:
    """All that stands behind the doors."""

    def __init__(self, folder):
        from agentrt.inspect import Inspector
        from agentrt.kernel.trace import TraceDigest

        os.environ["TMPDIR"] = tempfile.tempdir = str(folder / "tmp")
        for name in ("tmp", "state", "branches"):
            (folder / name).mkdir()
        lay_bait(folder)
        self.folder = folder
        self.dens = {name: make_den(folder / name) for name in ("open", "looking", "locked", "unseen")}
        self.digests = {name: TraceDigest(den.runtime.trace) for name, den in self.dens.items()}
        path = folder / "run.sqlite"
        record(path)
        of = {name: (den.runtime, {"editing": den.reloader}) for name, den in self.dens.items()}
        self.doors = {
            "open": Inspector(
                of["open"][0], port=0, controls=True, breakpoints=folder / "state/breakpoints.json", **of["open"][1]
            ),
            "looking": Inspector(of["looking"][0], port=0, **of["looking"][1]),
            "locked": Inspector(of["locked"][0], port=0, controls=True, token=TOKEN, **of["locked"][1]),
            "recording": Inspector(path, port=0, controls=True, branches=folder / "branches"),
            "shown": Inspector(path, port=0),
        }
        games = [folder / name / "game" for name in ("open", "locked")]
        self.watchman = Watchman([*games, *(folder / name for name in ("tmp", "state", "branches"))])
        self.complaints = Complaints()
        self.is_over = threading.Event()
        self.asked = []

    def run(self):
        """Run the worlds on this thread, for as long as whoever started it wants."""
        threading.Thread(target=self._listen, daemon=True).start()
        with contextlib.ExitStack() as stack:
            for door in self.doors.values():
                stack.enter_context(door)
            self._tell({name: door.port for name, door in self.doors.items()})
            self.watchman.is_awake = True
            while not self.is_over.wait(0.002):
                for name, den in self.dens.items():
                    if name != "unseen":
                        den.runtime.step()
                while self.asked:
                    self._answer(self.asked.pop(0))

    def _tell(self, what):
        sys.stdout.write(f"{json.dumps(what)}\n")
        sys.stdout.flush()

    def _listen(self):
        for line in sys.stdin:
            self.asked.append(line.strip())
        self.is_over.set()

    def _answer(self, line):
        from agentrt.inspect import server

        if line == "calm":  # what comes now is not about rates
            server._PER_SECOND, server._AT_ONCE = 1e6, 1e6
            server._EDITS_PER_SECOND, server._EDITS_AT_ONCE = 1e6, 1e6
        elif line == "strict":
            server._PER_SECOND, server._AT_ONCE = 50.0, 200.0
            server._EDITS_PER_SECOND, server._EDITS_AT_ONCE = 20.0, 40.0
        self._tell(self.look())

    def look(self):
        """How it stands."""
        looking = self.dens["looking"].runtime
        while self.dens["unseen"].runtime.tick < looking.tick:
            self.dens["unseen"].runtime.step()
        below = str(self.folder)
        modules = [name for name, one in sys.modules.items() if str(getattr(one, "__file__", "")).startswith(below)]
        return {
            "found": list(self.watchman.found) + [f"imported {name}" for name in modules if name != "__main__"],
            "errors": self.complaints.texts,
            "tick": {name: den.runtime.tick for name, den in self.dens.items()},
            "is_same": self.digests["looking"].hexdigest() == self.digests["unseen"].hexdigest(),
            "threads": threading.active_count(),
            "descriptors": len(list(Path("/proc/self/fd").iterdir())),
            "clients": {name: len(door._source._open) for name, door in self.doors.items()},
            "memory": resident(),
            "peak": resource.getrusage(resource.RUSAGE_SELF).ru_maxrss * 1024,
        }


def resident():
    """Bytes of memory that the process has."""
    return int(Path("/proc/self/statm").read_text().split()[1]) * os.sysconf("SC_PAGE_SIZE")


def fingerprint(folder, without=()):
    """What lies in a folder: of each file its kind, its bytes and its permissions, by path."""
    found = {}
    for path in sorted(folder.rglob("*")):
        name = path.relative_to(folder).as_posix()
        if name.startswith(tuple(without)):
            continue
        if path.is_symlink():
            found[name] = f"link to {path.readlink()}"
        elif path.is_file():
            found[name] = f"{path.stat().st_mode:o} {hashlib.sha256(path.read_bytes()).hexdigest()}"
    return found


if __name__ == "__main__":
    sys.path[:0] = [str(ROOT / "tests/support")]
    Besieged(Path(sys.argv[1]).resolve()).run()
