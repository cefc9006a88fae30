"""A campaign of hostile clients: ``python tools/inspector_campaign.py [--messages 20000] [--seed 0] [--branches 8]``.

Worlds and a recording stand behind inspectors in a process of their own (``tests/inspect/besieged.py``), some with
controls, some without, one with a token. This process is the client that nobody wants. From a seed it makes

* messages of every kind of the protocol over the socket, well formed or with fields that are of another type, size or
  meaning, torn apart, nested, or no text at all; and floods of them;
* edits of files: names that lead elsewhere, links that are put in the place of a file meanwhile, texts that name files
  of others, markup, bombs;
* requests with hosts, origins, tokens, methods and paths of others;
* connections that begin and never end, frames that are none, and clients that never read.

What has to hold: each answer is one of the protocol and bounded; nothing is run, imported or written but in the folder
of a world that may be changed (the audit hooks of Python tell that, and a look at all folders); no answer has a word of
what lies beside; a world that is only looked at is the one that nobody saw, to the digest; the next client is served;
threads, descriptors and memory come back. The exit code is 1 if anything did not.
"""

from __future__ import annotations

import argparse
import base64
import contextlib
import http.client
import importlib
import json
import os
import random
import socket
import string
import struct
import subprocess
import sys
import tempfile
import threading
import time
from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path
from typing import Any

from websockets.exceptions import WebSocketException
from websockets.sync.client import ClientConnection, connect

from agentrt.inspect.protocol import BREAK_KINDS, GROUPS, SORTS, STATES

__all__ = ["Siege", "main"]

ROOT = Path(__file__).resolve().parent.parent
HOST = ROOT / "tests/inspect/besieged.py"
PATIENCE = 10.0  # real seconds in which whoever means well has to be answered
IN_ONE_GO = 150  # messages over one connection
LARGEST_ANSWER = 8 * 1024 * 1024  # bytes
LARGEST_FILE = 64 * 1024 * 1024  # bytes
MEMORY_LEFT = 400 * 1024 * 1024  # bytes above what there was at first
ANSWERS = frozenset((
    "hello", "state", "agents", "agent", "events", "timeline", "drawing", "drawn", "pins", "hands", "offers", "hand",
    "files", "places", "crowd", "heat", "reading", "mind", "thought", "thoughts", "branches", "branched", "branch",
    "sides", "inputs", "reloads", "just_now", "error", "pin", "past",
))  # fmt: skip

MARKUP = "<img src=x onerror=alert(1)>"
LEADING = (
    "../outside/secret.json", "packs/../../outside/secret.json", "packs/door/secret.json", "packs/link.json",
    "/etc/passwd", "//etc/passwd", "packs//wolf.json", "./packs/wolf.json", "packs/wolf.json/", "packs/wolf.json\0",
    "packs\\wolf.json", "file:///etc/passwd", "C:\\windows\\win.ini", "packs/wolf.json::$DATA", ".", "..", "", "packs",
    "notes.txt", "~/.bashrc", "/proc/self/environ", "packs/%2e%2e/secret.json", "PACKS/WOLF.JSON",
    "packs/wolf.json.bak",
)  # fmt: skip
FILES = ("packs/wolf.json", "packs/base.json", "packs/groups.json", "trees/wolf.xml")
NAMES = (
    "Akela", MARKUP, "Mallory", "__proto__", "constructor", "__class__", "agentrt:hand", "knock", "Howl", "Nap", "Wolf",
    "Sleep", "Late", "os.system", "__import__('os').system('id')", "{0.__class__}", "%s%n", "${7*7}", "a" * 499,
    "\u202egnp.exe", "\ud800", "\0", "'; DROP TABLE ticks; --", "../../etc/passwd", "mod:ai_pack:wolf", "mod:evil:evil",
    "Jorun", "colony:work", "", " ",
)  # fmt: skip
EXPRESSIONS = (
    "hunger > 0.5", "hunger", "1 +", "__import__('os').system('id')", "().__class__.__bases__", "2 ** 99999999",
    "'a' * 999999999", "(" * 300, "lambda: 0", "[x for x in hunger]", "hunger if 1 else 2", "open('/etc/passwd')",
    "hunger and hunger or " * 40, "-" * 400 + "1", "9" * 499, "1e999", MARKUP, "hunger[0]", "hunger.real", "not " * 120,
)  # fmt: skip


class Maker:
    """Makes what a hostile client sends, from a seed."""

    def __init__(self, seed: int) -> None:
        self.rng: random.Random = random.Random(seed)

    def pick(self, of: Sequence[Any]) -> Any:
        return self.rng.choice(of)

    def nasty(self, depth: int = 0) -> Any:
        """A value that nobody asked for."""
        rng = self.rng
        makers: tuple[Callable[[], Any], ...] = (
            lambda: self.pick((None, True, False, 0, -1, 1, 2**31, 2**53, 2**63, -(2**63), 10**400, 1e308, -0.0, 0.5)),
            lambda: self.pick((float("inf"), float("nan"), 1e-320, 1.0, 200.0)),
            lambda: self.pick(NAMES),
            lambda: self.pick(EXPRESSIONS),
            lambda: self.pick(LEADING),
            lambda: rng.choice(string.printable + "é\ud83d\U0001f600") * rng.choice((1, 499, 501, 5000, 30_000)),
            lambda: [self.nasty(depth + 1) for _ in range(rng.choice((0, 1, 3, 201)))],
            lambda: {str(self.pick(NAMES)): self.nasty(depth + 1) for _ in range(rng.choice((0, 1, 5)))},
            lambda: self._nested(rng.choice((30, 200))),
        )
        return self.pick(makers[:6] if depth > 1 else makers)()

    def _nested(self, depth: int) -> Any:
        value: Any = 0
        for _ in range(depth):
            value = [value] if self.rng.random() < 0.5 else {"a": value}
        return value

    def spoiled(self, value: Any) -> Any:
        """The same with one thing in it that is another."""
        rng = self.rng
        if not isinstance(value, (dict, list)) or not value or rng.random() < 0.1:
            return self.nasty()
        if isinstance(value, list):
            at = rng.randrange(len(value))
            return [self.spoiled(one) if index == at else one for index, one in enumerate(value)]
        key = self.pick(list(value))
        how = rng.random()
        if how < 0.15:
            return {name: one for name, one in value.items() if name != key}
        if how < 0.3:
            return {**value, str(self.pick(NAMES)): self.nasty(1)}
        return {**value, key: self.spoiled(value[key])}

    def torn(self, text: str) -> str | bytes:
        """What is no message any more."""
        rng, data = self.rng, bytearray(text.encode("utf-8", "surrogatepass"))
        how = rng.randrange(5)
        if how == 0:
            return text[: rng.randrange(len(text) + 1)]
        if how == 1:
            return text + text
        if how == 2:
            return "[" * rng.choice((10, 60_000)) + text
        for _ in range(rng.randrange(1, 6)):
            data[rng.randrange(len(data))] = rng.randrange(256)
        return bytes(data) if how == 3 else data.decode("utf-8", "replace")

    # --- messages -----------------------------------------------------------------------------------------------------

    def message(self, *, may_branch: bool) -> str | bytes:
        """What is sent over the socket."""
        whole = self._command(may_branch=may_branch)
        for _ in range(self.pick((0, 0, 0, 1) if may_branch else (0, 0, 1, 1, 2, 4))):
            spoiled = self.spoiled(whole)
            whole = spoiled if isinstance(spoiled, dict) else whole
        if not may_branch and whole.get("do") == "branch":
            whole["edits"] = 0
        text = json.dumps(whole)[: 64 * 1024 - 1]
        return self.torn(text) if self.rng.random() < 0.08 else text

    def _command(self, *, may_branch: bool) -> dict[str, Any]:
        tick, number = self.pick((0, 1, 5, 40, 10**6, 2**53)), self.rng.randrange(5)
        commands: tuple[dict[str, Any], ...] = (
            *([self._watch()] * 4),
            {"do": self.pick(("pause", "resume", "play", "live"))},
            {"do": "step", "ticks": self.pick((-5, -1, 1, 3, 100_000))},
            {"do": "speed", "speed": self.pick((0.01, 1, 1000))},
            {"do": "break", "kind": self.pick(BREAK_KINDS), "name": self._name(), "agent": self.pick(NAMES)},
            {"do": "arm", "id": number, "on": self.pick((True, False))},
            {"do": "unbreak", "id": number},
            *([{"do": "hand", "id": number, "edit": self._hand()}] * 3),
            {"do": "thought", "id": number + 1},
            {"do": "at", "tick": tick},
            {"do": "unbranch", "id": number},
        )
        if may_branch:
            hands = [self.pick(({"send": "noise", "args": {}}, self._hand())) for _ in range(self.rng.randrange(3))]
            edits = [{"tick": self.pick((11, 12, 60)), **one} for one in hands]
            return {"do": "branch", "at": self.pick((0, 10, 59)), "ticks": self.pick((None, 1, 20)), "edits": edits}
        return dict(self.pick(commands))

    def _name(self) -> str:
        return str(self.pick((*NAMES, *EXPRESSIONS, "5", "1e9")))

    def _watch(self) -> dict[str, Any]:
        name, rng = self.pick(NAMES), self.rng
        agents = {
            "filter": self.pick(NAMES), "kind": self.pick(("", "wolf", MARKUP)), "offset": self.pick((0, 1, 10**7)),
            "limit": self.pick((0, 1, 200)), "states": [self.pick(STATES)], "doing": self.pick((None, "", name)),
            "group": self.pick(GROUPS), "sort": self.pick(SORTS), "down": True, "value": self.pick(EXPRESSIONS),
            "folded": [self.pick(NAMES)], "running": name,
        }  # fmt: skip
        whole: dict[str, Any] = {
            "agents": {key: one for key, one in agents.items() if rng.random() < 0.5},
            "agent": name,
            "events": {"agent": self.pick((None, name)), "events": ["run", MARKUP], "text": self.pick(NAMES)},
            "timeline": {"agent": name, "first": self.pick((0, 2**53)), "last": self.pick((None, 0, 40))},
            "drawing": True,
            "pins": [{"agent": self.pick(NAMES), "text": self.pick(EXPRESSIONS)} for _ in range(rng.randrange(26))],
            "branches": True, "branch": rng.randrange(4), "hands": True, "editing": True, "thoughts": True,
            "crowd": {"kind": self.pick(("", "wolf", MARKUP)), "heat": self.pick((True, False))},
        }  # fmt: skip
        return {"do": "watch", **{key: one for key, one in whole.items() if rng.random() < 0.6}}

    def _hand(self) -> dict[str, Any]:
        agent, of = self.pick(("", "Akela", MARKUP, "nobody")), self.pick(NAMES)
        kind = self.pick(("action", "goal", "decider", "leaf", "os", MARKUP))
        return dict(
            self.pick((
                {self.pick(("disable", "force", "free")): kind, "of": of, "agent": agent},
                {"set": self.pick(("utility", "variable", "stimulus", "priority")), "of": of, "to": self.nasty(1),
                 "agent": agent},
                {self.pick(("inject", "revoke")): self.pick((*NAMES, *LEADING)), "agent": agent},
                {"abort": "plan", "agent": agent},
                {"send": self.pick(NAMES), "args": {"who": self.nasty(1), "times": self.nasty(2)}},
            ))
        )  # fmt: skip

    # --- edits --------------------------------------------------------------------------------------------------------

    def asked(self, version: str, text: str, file: str) -> bytes:
        """The body of a request for an edit."""
        rng = self.rng
        if rng.random() < 0.05:
            return bytes(rng.randrange(256) for _ in range(rng.randrange(200)))
        whole: Any = {
            "do": self.pick(("open", "check", "check", "save", "save")),
            "file": file if rng.random() < 0.7 else self.pick((*FILES, *LEADING)),
            "text": self._text(text),
            "version": version if rng.random() < 0.8 else self.nasty(1),
        }
        if rng.random() < 0.2:
            whole = self.spoiled(whole)
        return json.dumps(whole).encode()

    def _text(self, text: str) -> str:
        rng = self.rng
        if rng.random() < 0.25:
            return str(self.pick(BOMBS))
        at = rng.randrange(len(text) + 1) if text else 0
        many = rng.randrange(12)
        put = str(self.pick((MARKUP, "\r\n", "\0", '"', "}", "]", "<!--", "&lol;", *LEADING, *NAMES)))
        return text[:at] + put * rng.choice((0, 1, 1, 50)) + text[at + many :]


BOMBS = (
    "", "{", "[" * 50_000, '{"actions": ["os:system"]}', '{"actions": ["mod:file(../outside/secret.json)"]}',
    '{"ai_packs": ["file(../outside/secret.json)"]}', '{"ai_packs": ["../outside/secret.json"]}',
    '{"ai_packs": ["mod:ai_pack:outside"]}', '{"actions": ["evil:evil"]}', '{"actions": ["evil:actions:evil"]}',
    '{"mixins": "../outside/secret.json"}', '{"$ref": "file:///etc/passwd"}', '{"actions": [' + '"a",' * 60_000 + "0]}",
    '{"_about": "' + MARKUP + '", "actions": []}', '{"actions": [], "actions": []}', '{"actions": NaN}',
    '{"task_groups": {"mod:task_groups:chores": {"does": "evil:evil", "tasks": [{"activity": "evil:evil"}]}}}',
    '<!DOCTYPE a [<!ENTITY b SYSTEM "file:///etc/passwd">]><SelectionTrees>&b;</SelectionTrees>',
    '<!DOCTYPE a [<!ENTITY b "bbbb"><!ENTITY c "&b;&b;&b;&b;">]><SelectionTrees>&c;&c;</SelectionTrees>',
    '<a xmlns:xi="http://www.w3.org/2001/XInclude"><xi:include href="../outside/secret.xml"/></a>',
    '<?xml-stylesheet href="http://127.0.0.1:9/x.xsl"?><SelectionTrees/>', "<a>" * 20_000, "x" * 300_000, "\ud800",
    '<SelectionTrees><SelectionTree name="' + MARKUP + '" type="BehaviorSelectionTree"/></SelectionTrees>',
)  # fmt: skip


# --- the siege --------------------------------------------------------------------------------------------------------


class Siege:
    """One round against one process of worlds.

    Args:
        seed: makes all that is sent.
        messages: how many go over sockets; of edits and requests there are in proportion.
        branches: how many messages may begin a branch, each of which is a process.
        floods: at how many doors.

    Attributes:
        counts: what was sent and what came of it.
        findings: what must not be.
    """

    def __init__(self, seed: int, messages: int, branches: int = 0, floods: int = 4) -> None:
        self.make = Maker(seed)
        self.messages = messages
        self.branches = branches
        self.floods = floods
        self.counts: Counter[str] = Counter()
        self.findings: dict[str, None] = {}
        self.ports: dict[str, int] = {}
        support: Any = importlib.import_module("besieged")
        self.canary: str = support.CANARY
        self.token: str = support.TOKEN
        self.fingerprint: Callable[..., dict[str, str]] = support.fingerprint
        self._process: subprocess.Popen[str] | None = None

    def run(self) -> None:
        """Besiege once, from the first message to the last look."""
        with tempfile.TemporaryDirectory(prefix="siege-") as name:
            folder = Path(name)
            self._begin(folder)
            try:
                before = self.fingerprint(folder, ALLOWED)
                first = self._ask("calm")
                self._talk()
                self._edit(folder)
                self._request()
                self._ask("strict")
                self._crowd()
                self._settle(first)
                after = self.fingerprint(folder, ALLOWED)
                for path in before.keys() | after.keys():
                    if before.get(path) != after.get(path):
                        self._found(f"{path} was {before.get(path)} and is {after.get(path)}")
                self._look_at_what_may_change(folder)
            finally:
                self._end()

    def _found(self, words: str) -> None:
        self.findings[words[:600]] = None

    # --- the process --------------------------------------------------------------------------------------------------

    def _begin(self, folder: Path) -> None:
        self._process = subprocess.Popen(
            [sys.executable, str(HOST), str(folder)], stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True
        )
        assert self._process.stdout is not None
        self.ports = json.loads(self._process.stdout.readline())

    def _ask(self, what: str) -> dict[str, Any]:
        process = self._process
        assert process is not None
        assert process.stdin is not None
        assert process.stdout is not None
        try:
            process.stdin.write(f"{what}\n")
            process.stdin.flush()
            told: dict[str, Any] = json.loads(process.stdout.readline())
        except (OSError, ValueError):
            raise SystemExit(f"the besieged process has ended: {process.wait(PATIENCE)}") from None
        for words in told["found"]:
            self._found(words)
        for words, times in told["errors"].items():
            self._found(f"logged {times} times: {words}")
        if not told["is_same"]:
            self._found("the world that is only looked at is another one")
        return told

    def _end(self) -> None:
        process = self._process
        assert process is not None
        assert process.stdin is not None
        assert process.stdout is not None
        process.stdin.close()
        try:
            if process.wait(PATIENCE):
                self._found(f"the besieged process ended with {process.returncode}")
        except subprocess.TimeoutExpired:
            self._found("the besieged process does not end")
            process.kill()
            process.wait()
        process.stdout.close()

    # --- over sockets -------------------------------------------------------------------------------------------------

    def _socket(self, door: str, **options: Any) -> ClientConnection:
        query = f"?token={self.token}" if door == "locked" else ""
        url = f"ws://127.0.0.1:{self.ports[door]}/ws{query}"
        ws: ClientConnection = connect(url, open_timeout=PATIENCE, close_timeout=1, max_size=LARGEST_ANSWER, **options)
        return ws

    def _talk(self) -> None:
        """Messages over all doors, and now and then somebody who means well."""
        doors = ("open", "looking", "recording", "open", "shown", "locked")
        for turn in range(max(len(doors), self.messages // IN_ONE_GO)):
            door = doors[turn % len(doors)]
            try:
                with self._socket(door) as ws:
                    for _ in range(IN_ONE_GO):
                        may_branch = self.branches > 0 and door == "recording" and self.make.rng.random() < 0.05
                        self.branches -= may_branch
                        ws.send(self.make.message(may_branch=may_branch))
                        self.counts["messages"] += 1
                    self._hear(ws)
            except (WebSocketException, OSError, TimeoutError):
                self.counts["connections that were closed"] += 1
            self._mean_well(door)

    def _hear(self, ws: ClientConnection, seconds: float = 0.1) -> None:
        end = time.monotonic() + seconds
        with contextlib.suppress(TimeoutError):
            while True:
                self._answered(ws.recv(timeout=max(0.01, end - time.monotonic())))

    def _answered(self, text: str | bytes) -> dict[str, Any]:
        """Look at one answer."""
        self.counts["answers"] += 1
        if self.canary in (text if isinstance(text, str) else text.decode("utf-8", "replace")):
            self._found(f"an answer has a word of what lies beside: {text[:300]!r}")
        try:
            message: dict[str, Any] = json.loads(text, parse_constant=_no_constant)
            if message["is"] not in ANSWERS:
                self._found(f"an answer of an unknown kind: {message['is']}")
        except (ValueError, KeyError, TypeError):
            self._found(f"an answer is none: {text[:300]!r}")
            return {}
        if message["is"] == "error":
            self.counts[f"refused: {message['code']}"] += 1
            if message["code"] == "failed":
                self._found(f"failed: {message['message']}")
        return message

    def _mean_well(self, door: str) -> None:
        """The next client has to be served."""
        begin = time.monotonic()
        try:
            with self._socket(door) as ws:
                for what in (
                    {"do": "resume"},
                    {"do": "speed", "speed": 1},
                    {"do": "live"},
                    {"do": "watch", "agents": {}},
                ):
                    ws.send(json.dumps(what))
                while self._answered(ws.recv(timeout=PATIENCE)).get("is") != "agents":
                    pass
        except (WebSocketException, OSError, TimeoutError) as error:
            self._found(f"{door}: the next client is not served: {error!r}")
        self.counts["well-meaning clients"] += 1
        name = f"slowest answer of {door}, ms"
        self.counts[name] = max(self.counts[name], round((time.monotonic() - begin) * 1000))

    # --- edits --------------------------------------------------------------------------------------------------------

    def _post(self, door: str, path: str, body: bytes, **headers: str) -> tuple[int, bytes]:
        told = {"Content-Type": "application/json", **headers}
        if door == "locked":
            told.setdefault("Authorization", f"Bearer {self.token}")
        return self._ask_http(door, "POST", path, body, told)

    def _ask_http(
        self, door: str, method: str, path: str, body: bytes | None = None, headers: dict[str, str] | None = None
    ) -> tuple[int, bytes]:
        connection = http.client.HTTPConnection("127.0.0.1", self.ports[door], timeout=PATIENCE)
        try:
            connection.request(method, path, body=body, headers=headers or {})
            answer = connection.getresponse()
            data = answer.read()
        except (OSError, http.client.HTTPException, ValueError):
            return 0, b""
        finally:
            connection.close()
        if self.canary.encode() in data:
            self._found(f"{method} {path}: an answer has a word of what lies beside: {data[:300]!r}")
        self.counts[f"{method} with status {answer.status}"] += 1
        return answer.status, data

    def _edit(self, folder: Path) -> None:
        """Edits, while somebody with an account of his own puts links in the place of a file."""
        with self._socket("open") as one, self._socket("locked") as other, self._socket("looking") as third:
            for ws in (one, other, third):
                ws.send('{"do":"watch","editing":true}')
                self._hear(ws, 1.0)
            with _swapping(folder / "open/game/packs/base.json", folder / "outside/secret.json"):
                for turn in range(self.messages // 10):
                    door = ("open", "open", "locked", "looking", "recording")[turn % 5]
                    self._edit_once(door)
                    if turn % 50 == 0:
                        for ws in (one, other, third):
                            self._hear(ws, 0.02)

    def _edit_once(self, door: str) -> None:
        file = self.make.pick(FILES)
        asked = json.dumps({"do": "open", "file": file}).encode()
        status, data = self._post(door, "/api/edit", asked)
        opened = json.loads(data) if status == 200 else {}
        body = self.make.asked(str(opened.get("version", "")), str(opened.get("text", "")), file)
        status, data = self._post(door, "/api/edit", body)
        self.counts["edits"] += 1
        if status not in (200, 403, 413):
            self._found(f"an edit is answered with {status}: {body[:200]!r}")
        if status not in (200, 403):
            return
        told = json.loads(data)
        self.counts[f"edit: {told['is']} {told.get('code', '')}".strip()] += 1
        if told.get("status") == 500:
            self._found(f"an edit failed: {told['message']}: {body[:300]!r}")
        if door in ("looking", "recording") and told["is"] != "refusal":
            self._found(f"{door}: {told['is']} without controls")

    def _look_at_what_may_change(self, folder: Path) -> None:
        """In the folders that may be written there is no file that was not there, but for what is kept for a time."""
        there = set(self.fingerprint(folder / "unseen/game"))
        for name in ("open", "locked"):
            for path in set(self.fingerprint(folder / name / "game")) ^ there:
                self._found(f"{name}: {path} has come or gone")
        for file in folder.rglob("*"):
            if file.parent.name in ("state", "tmp", "branches") and file.stat().st_size > LARGEST_FILE:
                self._found(f"{file.name} has {file.stat().st_size} bytes")

    # --- requests -----------------------------------------------------------------------------------------------------

    def _request(self) -> None:
        make = self.make
        for _ in range(self.messages // 10):
            door, path = make.pick(tuple(self.ports)), make.pick(PATHS)
            port = self.ports[door]
            ours = f"http://127.0.0.1:{port}"
            headers = {
                "Host": make.pick((f"127.0.0.1:{port}", "evil.example", f"127.0.0.1:{port}@evil.example", "", "[::1")),
                "Origin": make.pick(
                    (ours, "http://evil.example", "null", f"{ours}.evil.example", f"{ours}/", "file://")
                ),
                "Sec-Fetch-Site": make.pick(("same-origin", "cross-site", "same-site", "none", MARKUP)),
                "Authorization": make.pick(("Bearer x", "Basic eDp4", f"Bearer {self.token}x", "Bearer " + "a" * 5000)),
                "Content-Type": make.pick(("application/json", "text/plain", "multipart/form-data; boundary=x", "")),
                "X-Forwarded-For": "127.0.0.1",
                "X-HTTP-Method-Override": "POST",
            }
            headers = {name: one for name, one in headers.items() if make.rng.random() < 0.6}
            method = make.pick(("GET", "POST", "PUT", "DELETE", "OPTIONS", "HEAD", "TRACE", "PATCH"))
            body = make.asked("", "{}", make.pick(FILES)) if make.rng.random() < 0.5 else None
            status, data = self._ask_http(door, method, path, body, headers)
            self.counts["requests"] += 1
            is_foreign = headers.get("Host", f"127.0.0.1:{port}") != f"127.0.0.1:{port}"
            is_foreign = is_foreign or headers.get("Origin", ours) != ours
            if status >= 500 or (is_foreign and status == 200):
                self._found(f"{method} {path} with {headers} is answered with {status}: {data[:100]!r}")
            if door == "locked" and path.startswith("/api") and status == 200:
                self._found(f"{method} {path} with {headers} needs no token: {data[:100]!r}")

    # --- connections --------------------------------------------------------------------------------------------------

    def _crowd(self) -> None:
        """Connections that never end, frames that are none, floods, and clients that never read."""
        open_ones: list[socket.socket] = []
        with contextlib.ExitStack() as stack:
            lazy = [self._lazy(stack, door) for door in ("open", "looking", "recording")]
            self.counts["clients that never read"] += sum(lazy)
            for _ in range(max(20, min(200, self.messages // 50))):
                door = self.make.pick(tuple(self.ports))
                with contextlib.suppress(OSError):
                    sock = stack.enter_context(
                        socket.create_connection(("127.0.0.1", self.ports[door]), timeout=PATIENCE)
                    )
                    sock.sendall(self._beginning(door))
                    open_ones.append(sock)
                    self.counts["connections that are none"] += 1
            for door in ("open", "looking", "locked", "shown")[: self.floods]:
                self._flood(door)
        time.sleep(0.5)  # until it is heard that they have gone: there are so many clients at most
        for door in self.ports:
            self._mean_well(door)

    def _beginning(self, door: str) -> bytes:
        """The beginning of something that never comes to its end, or never was anything."""
        rng = self.make.rng
        host = f"Host: 127.0.0.1:{self.ports[door]}\r\n"
        token = f"?token={self.token}" if door == "locked" else ""
        upgrade = (
            f"GET /ws{token} HTTP/1.1\r\n{host}Upgrade: websocket\r\nConnection: Upgrade\r\n"
            "Sec-WebSocket-Version: 13\r\n"
            f"Sec-WebSocket-Key: {base64.b64encode(rng.randbytes(16)).decode()}\r\n\r\n"
        ).encode()
        frames = (
            b"\x81\x05hello",  # not masked
            b"\x81\xff" + struct.pack(">Q", 2**62) + b"abcd",  # as long as it says
            b"\x01\x80abcd" * 500,  # a message that goes on and on
            b"\x89\x80abcd" * 2000,  # pings
            b"\xf1\x80abcd", b"\x83\x80abcd", b"\x88\x81abcd\x00", b"\x81\x84\0\0\0\0\xff\xfe\xfd\xfc",
            b"\x81\xfe\xff\xff\0\0\0\0" + b"[" * 65535,
            rng.randbytes(2000),
        )  # fmt: skip
        beginnings: tuple[bytes, ...] = (
            b"", b"G", b"GET / HTTP/1.1\r\n", b"GET / HTTP/1.1\r\nHost: " + b"a" * 60_000, rng.randbytes(3000),
            f"POST /api/edit HTTP/1.1\r\n{host}Content-Type: application/json\r\n"
            "Content-Length: 999999999\r\n\r\n{".encode(),
            f"POST /api/edit HTTP/1.1\r\n{host}Transfer-Encoding: chunked\r\n\r\nfffffffffff\r\n{{".encode(),
            f"GET / HTTP/1.1\r\n{host}Content-Length: 5\r\nTransfer-Encoding: chunked\r\n\r\n0\r\n\r\nGET /x".encode(),
            f"GET /static/app.js HTTP/1.1\r\n{host}\r\n".encode() * 200,
            *(upgrade + frame for frame in frames),
        )  # fmt: skip
        return rng.choice(beginnings)

    def _lazy(self, stack: contextlib.ExitStack, door: str) -> int:
        with contextlib.suppress(WebSocketException, OSError, TimeoutError):
            ws = stack.enter_context(self._socket(door, max_queue=1))
            ws.send(json.dumps({"do": "watch", "agents": {}, "events": {}, "drawing": True, "crowd": {"heat": True}}))
            return 1
        return 0

    def _flood(self, door: str) -> None:
        """So many subscriptions in one go that it is sent away."""
        try:
            with self._socket(door) as ws:
                for _ in range(3000):
                    ws.send(json.dumps(self.make._watch()))
                    self.counts["messages of floods"] += 1
                self._hear(ws, PATIENCE)
            self._found(f"{door}: a flood of 3,000 messages is taken")
        except (WebSocketException, OSError):
            self.counts["floods that were ended"] += 1

    def _settle(self, first: dict[str, Any]) -> None:
        """Everybody has gone: what they took has to come back."""
        end = time.monotonic() + 4 * PATIENCE
        while True:
            told = self._ask("look")
            threads, descriptors = (told[name] - first[name] for name in ("threads", "descriptors"))
            if not any(told["clients"].values()) and threads <= SPARE_THREADS and descriptors <= SPARE_DESCRIPTORS:
                break
            if time.monotonic() > end:
                self._found(f"left over: {threads} threads, {descriptors} descriptors, clients {told['clients']}")
                break
            time.sleep(0.2)
        self.counts["memory above the first, MB"] = max(0, told["memory"] - first["memory"]) >> 20
        if told["memory"] - first["memory"] > MEMORY_LEFT:
            self._found(f"left over: {told['memory'] - first['memory']} bytes")
        for name, tick in told["tick"].items():
            if tick <= first["tick"][name]:
                self._found(f"{name}: the world stands still")


# What may change while a siege goes on: the folders of worlds with controls, and what is kept for a time.
ALLOWED = ("open/game/", "locked/game/", "tmp/", "state/", "branches/", "run.sqlite", "outside/__pycache__")
SPARE_THREADS = 48  # those of the pools of the server, and of the past
SPARE_DESCRIPTORS = 24
PATHS = (
    "/", "/ws", "/api/hello", "/api/edit", "/api/past", "/api/past?ticks=5", "/api/past?ticks=-1",
    "/api/past?ticks=9e9", "/api/file", "/api/file?first=1&last=5", "/api/file?first=-1&last=%00",
    "/api/file?pins=%5B%7B%7D%5D",
    "/api/file?pins=" + "%5B" * 3000, "/api/edit?token=x", "/api/hello?token=" + "x" * 10_000, "/static/app.js",
    "/static/../server.py", "/static/%2e%2e/server.py", "/static/..%2f..%2f..%2foutside%2fsecret.txt",
    "/static//etc/passwd", "/static/a%00.js", "/outside/secret.txt", "/..%2foutside/secret.txt", "//evil.example/",
    "/api/branches", "/metrics",
)  # fmt: skip


@contextlib.contextmanager
def _swapping(path: Path, outside: Path) -> Iterator[None]:
    """A file is a link that leads elsewhere, and then a file again, again and again."""
    is_over = threading.Event()
    content = path.read_bytes()

    def swap() -> None:
        fresh = path.with_name(".fresh")
        while not is_over.wait(0.001):
            with contextlib.suppress(OSError):
                fresh.symlink_to(outside)
                fresh.replace(path)
            is_over.wait(0.001)
            fresh.write_bytes(content)
            fresh.replace(path)

    swapper = threading.Thread(target=swap)
    swapper.start()
    try:
        yield
    finally:
        is_over.set()
        swapper.join()


def _no_constant(name: str) -> None:
    raise ValueError(f"{name} is no JSON")


def main(args: Sequence[str] | None = None) -> int:
    """Run a campaign.

    Args:
        args: of the command line.

    Returns:
        The exit code: 1 if anything did not hold.
    """
    parser = argparse.ArgumentParser(description="Besiege the inspector.")
    parser.add_argument("--messages", type=int, default=20_000, help="how many go over sockets")
    parser.add_argument("--seed", type=int, default=0, help="makes all that is sent")
    parser.add_argument("--branches", type=int, default=8, help="how many branches may be begun")
    chosen = parser.parse_args(args)
    began = time.monotonic()
    siege = Siege(chosen.seed, chosen.messages, chosen.branches)
    siege.run()
    print(f"seed {chosen.seed}, {time.monotonic() - began:.0f} s:")
    for name, count in sorted(siege.counts.items()):
        print(f"  {count:>8,} {name}")
    for words in siege.findings:
        print(f"found: {words}")
    print(f"{len(siege.findings)} findings")
    return 1 if siege.findings else 0


if __name__ == "__main__":
    sys.path[:0] = [str(HOST.parent), str(ROOT / "tests/support")]
    os.environ.setdefault("PYTHONDONTWRITEBYTECODE", "1")
    sys.exit(main())
