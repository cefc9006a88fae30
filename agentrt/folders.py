"""Folders: which files below one are its author's, and how they are read and replaced so that nothing leads elsewhere.

Passed over is what begins with a dot, what tools keep for themselves (``_OF_TOOLS``), and what a build has left beside
a ``pyproject.toml``: a game may well call a package of its own ``build``.

A ``HeldFile`` is reached from its folder by descriptors, so that no link is followed on the way, also if one is
put there meanwhile. ``Inside`` has loaders that know nothing of it, and are given paths, read like that: what a world
reads again while somebody looks on from a page is told to that page, also in the words of an error, and a link that was
put in the place of a file would tell what it leads to. Links that were there from the beginning are the author's own.
"""

from __future__ import annotations

import contextlib
import errno
import os
import stat
from collections.abc import Iterator
from contextvars import ContextVar
from hashlib import blake2b
from pathlib import Path, PurePosixPath
from typing import IO, TYPE_CHECKING, Final, NamedTuple

if TYPE_CHECKING:
    from collections.abc import Generator

_OF_TOOLS: Final = frozenset(("__pycache__", "node_modules", "site-packages"))
_OF_BUILDS: Final = frozenset(("build", "dist"))


def files_below(folder: Path, suffix: str) -> Iterator[Path]:
    """The files below a folder whose names end in a suffix, such as ``.json``, in order; none of what is unreadable."""
    for place, folders, files in os.walk(folder):
        here = Path(place)
        folders[:] = sorted(one for one in folders if not _is_passed_over(here, one))  # the others are not entered
        for name in sorted(files):
            if name.lower().endswith(suffix) and not _is_passed_over(here, name):
                yield here / name


def is_below(folder: Path, file: Path) -> bool:
    """Whether a file, which may be gone by now, is below a folder and not passed over."""
    try:
        parts = file.relative_to(folder).parts
    except ValueError:
        return False
    here = folder
    for name in parts:
        if _is_passed_over(here, name):
            return False
        here /= name
    return bool(parts)


def _is_passed_over(here: Path, name: str) -> bool:
    return name.startswith(".") or name in _OF_TOOLS or (name in _OF_BUILDS and (here / "pyproject.toml").is_file())


# --- one file, and no link on the way ---------------------------------------------------------------------------------


class OnDisk(NamedTuple):
    """A file as it is now."""

    data: bytes
    mode: os.stat_result

    @property
    def version(self) -> str:
        return blake2b(self.data, digest_size=16).hexdigest()


_BY_DESCRIPTOR = {os.open, os.rename, os.unlink} <= os.supports_dir_fd and hasattr(os, "O_NOFOLLOW")
_NOFOLLOW = getattr(os, "O_NOFOLLOW", 0)
_READ = os.O_RDONLY | _NOFOLLOW | getattr(os, "O_NONBLOCK", 0) | getattr(os, "O_BINARY", 0)  # a pipe must not hang it
_MAKE = os.O_WRONLY | os.O_CREAT | os.O_EXCL | _NOFOLLOW | getattr(os, "O_BINARY", 0)


class HeldFile:
    """One file below a folder, held by the folder in which it is; no link was followed on the way there."""

    def __init__(self, root: Path, file: str) -> None:
        *self._above, self._name = PurePosixPath(file).parts
        self._root = root
        self._at: int | None = None
        self._folder = root.joinpath(*self._above)

    def __enter__(self) -> HeldFile:
        if not _BY_DESCRIPTOR:  # no more can be had there
            if Path(os.path.realpath(self._folder)) != self._folder:
                raise OSError("there is a link on the way")
            return self
        flags = os.O_RDONLY | os.O_DIRECTORY | _NOFOLLOW
        at = os.open(self._root, flags)
        try:
            for name in self._above:
                inner = os.open(name, flags, dir_fd=at)
                os.close(at)
                at = inner
        except OSError:
            os.close(at)
            raise
        self._at = at
        return self

    def __exit__(self, *_exc: object) -> None:
        if self._at is not None:
            os.close(self._at)

    def _open(self, name: str, flags: int, mode: int = 0) -> int:
        if self._at is None:
            if (self._folder / name).is_symlink():
                raise OSError("it is a link")
            return os.open(self._folder / name, flags, mode)
        return os.open(name, flags, mode, dir_fd=self._at)

    def read(self, most: int) -> OnDisk:
        """What it holds, and a byte more if that is more than so many."""
        with self.open() as stream:
            return OnDisk(stream.read(most + 1), os.fstat(stream.fileno()))

    def open(self) -> IO[bytes]:
        """The file, opened for reading."""
        descriptor = self._open(self._name, _READ)
        if not stat.S_ISREG(os.fstat(descriptor).st_mode):
            os.close(descriptor)
            raise OSError("it is no regular file")
        return os.fdopen(descriptor, "rb")

    def replace(self, data: bytes, before: OnDisk, word: str) -> bool:
        """Have the file hold other bytes, all or none of them; False if it is not what it was any more.

        Args:
            data: what it is to hold.
            before: what it held.
            word: which nobody can guess; the file that takes its place is made under it.
        """
        fresh = f".{self._name[:100]}.{word}"  # with a dot: who watches the folder passes it over
        descriptor = self._open(fresh, _MAKE, 0o600)
        try:
            with os.fdopen(descriptor, "wb") as stream:
                stream.write(data)
                stream.flush()
                self._be_like(descriptor, fresh, before.mode)
                os.fsync(descriptor)
            if self.read(len(before.data)).version != before.version:
                self._remove(fresh)
                return False
            if self._at is None:
                (self._folder / fresh).replace(self._folder / self._name)
            else:
                os.rename(fresh, self._name, src_dir_fd=self._at, dst_dir_fd=self._at)
        except BaseException:
            self._remove(fresh)
            raise
        return True

    def _be_like(self, descriptor: int, fresh: str, mode: os.stat_result) -> None:
        if hasattr(os, "fchown"):
            with contextlib.suppress(OSError):  # only who may give files away can keep a foreign owner
                os.fchown(descriptor, mode.st_uid, mode.st_gid)
        if hasattr(os, "fchmod"):
            os.fchmod(descriptor, stat.S_IMODE(mode.st_mode))  # after the owner, which takes some bits away
        else:
            (self._folder / fresh).chmod(stat.S_IMODE(mode.st_mode))

    def _remove(self, name: str) -> None:
        with contextlib.suppress(OSError):
            if self._at is None:
                (self._folder / name).unlink()
            else:
                os.unlink(name, dir_fd=self._at)


# --- what loaders read ------------------------------------------------------------------------------------------------

_READING: ContextVar[Inside | None] = ContextVar("agentrt_reading_inside", default=None)


class Inside:
    """A folder from which loaders read, in ``reading()``, without following a link that was put there meanwhile.

    Args:
        folder: an existing one; files elsewhere are read as ever.
    """

    def __init__(self, folder: Path | str) -> None:
        self.folder: Path = Path(os.path.realpath(folder))
        self._names = tuple(dict.fromkeys((str(self.folder), os.path.abspath(folder))))  # noqa: PTH100 - links stay
        self._links = frozenset(_links_below(self.folder))

    @contextlib.contextmanager
    def reading(self) -> Generator[None]:
        """While this is open, ``open_file`` keeps to the folder."""
        token = _READING.set(self)
        try:
            yield
        finally:
            _READING.reset(token)

    def name_of(self, path: str) -> str:
        """A path from the folder on, whatever is there; empty if it is elsewhere, or by a link of the author's."""
        absolute = os.path.abspath(path)  # noqa: PTH100 - ``resolve`` would follow what must not be followed
        above = next((one for one in self._names if absolute.startswith(f"{one}{os.sep}")), "")
        file = Path(absolute).relative_to(above) if above else None
        if file is None or not self._links.isdisjoint((file, *file.parents)):
            return ""
        return file.as_posix() if is_below(self.folder, self.folder / file) else ""


def _links_below(folder: Path) -> Iterator[Path]:
    for above, folders, files in os.walk(folder):
        here = Path(above)
        folders[:] = [one for one in folders if not _is_passed_over(here, one)]
        for name in (*folders, *files):
            if (here / name).is_symlink():
                yield (here / name).relative_to(folder)


def open_file(path: str | os.PathLike[str]) -> IO[bytes]:
    """Open a file for reading; inside of ``Inside.reading()`` without following links that were put there.

    Raises:
        OSError: it cannot be read; its ``strerror`` says so if a link was put in its place.
    """
    inside = _READING.get()
    name = "" if inside is None else inside.name_of(os.fspath(path))
    if inside is None or not name:
        return Path(path).open("rb")
    try:
        with HeldFile(inside.folder, name) as place:
            return place.open()
    except OSError as error:
        if error.errno in (errno.ELOOP, errno.ENOTDIR):
            raise OSError(error.errno, "a link was put in its place since the world began") from None
        raise
