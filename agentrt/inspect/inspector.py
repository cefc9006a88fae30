"""An inspector: a page in the browser that shows what a runtime does, or what a recording holds.

    async with Inspector(runtime) as inspector:
        print(inspector.url)
        await runtime.run()

It can be put around a runtime at any time, before its first tick or in the middle of a run, and taken away again; the
run is the same with it and without it. ``with`` does the same for programs that step their runtime themselves.

Begin and end it on the thread that drives the runtime, between two ticks (in a coroutine beside ``runtime.run()`` that
is always so). The server has a thread of its own; see ``server`` for that and for who may look, ``live`` for what
happens on the runtime's thread.

Several inspectors of one runtime do not disturb each other, and each has its own port.
"""

from __future__ import annotations

from collections.abc import Iterable
from os import PathLike, fspath
from types import ModuleType
from typing import TYPE_CHECKING
from urllib.parse import quote

import anyio

from agentrt.errors import InspectorError, MissingExtraError
from agentrt.inspect.breakpoints import BreakpointFile
from agentrt.inspect.doorkeeper import Doorkeeper, address_of
from agentrt.inspect.editing import Workbench
from agentrt.inspect.live import LiveSource
from agentrt.inspect.recorded import RecordedSource
from agentrt.inspect.sessions import Inspectable, Source
from agentrt.record.schema import is_number
from agentrt.runtime.runtime import Runtime

if TYPE_CHECKING:
    from agentrt.inspect.server import Server
    from agentrt.reload import Reloader


DEFAULT_PORT = 8765
MOST_PAST = 1_000_000  # ticks


class Inspector:
    """Shows a runtime or a recording in the browser.

    Args:
        subject: a runtime, the path of a recording, or all shards of a world (``agentrt.shards.Shards``).
        port: where to listen; 0 for any port that is free.
        address: what to listen on. Loopback by default; any other needs a token.
        token: what clients have to know, at least 16 characters; ``url`` contains it. None for nothing.
        controls: whether clients may pause, step, set breakpoints, and change what lives; of a recording, which can
            always be moved in, whether they may run branches of it: each runs the world that it names in a process of
            its own.
        title: what the page calls it.
        hosts: names by which this machine is called, besides its address.
        max_clients: how many may look at the same time.
        branches: the folder where branches of a recording are kept; None for a temporary one, which goes in the end.
        breakpoints: the file where breakpoints of a runtime are kept, which need controls; None for nowhere.
        app: where the world of a recording is, if it is that of a project; see ``agentrt.worlds.project_world``.
        editing: takes up what clients save, who then may edit the packs, documents of task groups and selection trees
            below its folder that the world has loaded, if they have ``controls``. None: they may not.
        editor: how the page links to a line of a Python file, as an address with ``{path}``, or ``{file}`` (from that
            folder on), and ``{line}``: ``"vscode://file/{path}:{line}"``. Empty: the place is a text to be copied.
        past: how many of its last ticks clients can go back to while it runs. None: 2,000, from when somebody begins
            to look. A number: so many, from the beginning on, also while nobody looks. 0: none. They take 64 MB at
            most.

    Raises:
        InspectorError: the address needs a token, the token is too short, the past is out of its range, the editor is
            no address, or what takes up edits is of another runtime.
        RecordingError: there is no recording at that path.

    Source: ours; Stonehearth, AI, the AI inspector.
    """

    def __init__(
        self,
        subject: Runtime | Inspectable | str | PathLike[str],
        *,
        port: int = DEFAULT_PORT,
        address: str = "127.0.0.1",
        token: str | None = None,
        controls: bool = False,
        title: str = "",
        hosts: Iterable[str] = (),
        max_clients: int = 16,
        branches: str | PathLike[str] | None = None,
        breakpoints: str | PathLike[str] | None = None,
        app: str = "",
        past: int | None = None,
        editing: Reloader | None = None,
        editor: str = "",
    ) -> None:
        if past is not None and not (is_number(past, 0) and past <= MOST_PAST):
            raise InspectorError(
                f"its past is {past!r}", f"Give it a whole number of ticks, from 0 to {MOST_PAST}, or None."
            )
        self._doorkeeper = Doorkeeper(address, token, hosts)
        self._address = address
        self.port: int = port  # on which it listens; the one that was asked for, before it does
        self._token = token
        self._max_clients = max_clients
        self._server: Server | None = None
        self._source: Source
        if breakpoints is not None and (not controls or not isinstance(subject, Runtime)):
            raise InspectorError("breakpoints are kept of a runtime, with controls", "Give controls=True.")
        if editing is not None and editing.runtime is not subject:
            raise InspectorError(
                "its reloader is of another runtime",
                "Make one for this: Inspector(runtime, editing=Reloader(runtime, …)).",
            )
        if isinstance(subject, Runtime):
            self._source = LiveSource(
                subject,
                title or "agentrt",
                controls=controls,
                past=past,
                breakpoints=None if breakpoints is None else BreakpointFile(fspath(breakpoints)),
                workbench=Workbench(editing, controls=controls, editor=editor),
            )
        elif not isinstance(subject, (str, PathLike)):
            self._source = subject.source(title or "agentrt", controls=controls)
        else:
            folder = None if branches is None else fspath(branches)
            self._source = RecordedSource(fspath(subject), title, controls=controls, branches=folder, app=app)

    # --- what it is ---------------------------------------------------------------------------------------------------

    @property
    def is_running(self) -> bool:
        """Whether it serves."""
        return self._server is not None

    @property
    def url(self) -> str:
        """The address of the page, with the token if there is one."""
        host, number = self._address, address_of(self._address)
        if number is not None and number.is_unspecified:
            host = "127.0.0.1" if number.version == 4 else "::1"
        if number is not None and number.version == 6:
            host = f"[{host}]"
        token = "" if self._token is None else f"?token={quote(self._token, safe='')}"
        return f"http://{host}:{self.port}/{token}"

    # --- beginning and end --------------------------------------------------------------------------------------------

    def start(self) -> None:
        """Begin; on the thread that drives the runtime, between two ticks. ``with`` does it.

        Raises:
            InspectorError: the port is in use, or it runs already.
            MissingExtraError: the extra ``inspect`` is not installed.
            RecordingError: there is no recording at that path, or it cannot be read.
            DataFault: the file of breakpoints cannot be read, or is wrong.
        """
        if self._server is not None:
            raise InspectorError("it runs already", "Make another one.")
        server_module = _load()
        self._source.attach()  # before there is a server: a client that comes at once finds something to look at
        try:
            listener = server_module.bind(self._address, self.port)
            server = server_module.Server(self._source, self._doorkeeper, listener, self._max_clients)
            server.start()
        except BaseException:
            self._source.detach()
            raise
        self.port = int(listener.getsockname()[1])
        self._server = server

    def stop(self) -> None:
        """End; on the thread that drives the runtime, between two ticks. ``with`` does it.

        A second call does nothing.
        """
        server = self._end()
        if server is not None:
            server.join()

    def pause(self) -> None:
        """Pause what lives before its next tick, for whoever looks from the beginning; nothing for a recording."""
        self._source.pause()

    def __enter__(self) -> Inspector:
        self.start()
        return self

    def __exit__(self, *_exc: object) -> None:
        self.stop()

    async def __aenter__(self) -> Inspector:
        await anyio.to_thread.run_sync(_load)  # it imports a lot, and the game goes on meanwhile
        self.start()
        return self

    async def __aexit__(self, *_exc: object) -> None:
        server = self._end()
        if server is not None:
            with anyio.CancelScope(shield=True):
                await anyio.to_thread.run_sync(server.join)

    def _end(self) -> Server | None:
        """Leave the runtime, and tell the server to end."""
        server, self._server = self._server, None
        if server is not None:
            self._source.detach()
            server.leave()
        return server

    def __repr__(self) -> str:
        return f"<Inspector: {self.url.partition('?')[0] if self.is_running else 'not running'}>"


def _load() -> ModuleType:
    """Import the server, which nothing else does: only it needs the extra, and half a second."""
    try:
        from agentrt.inspect import server
    except ModuleNotFoundError as error:
        raise MissingExtraError("inspect", error.name or "starlette") from error
    return server
