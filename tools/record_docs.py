"""Run the code of the documentation and of the numbered examples, and record what it prints.

The convention of a page: its ``python`` blocks are executed in order, in one module of the page's own. A ``text``
block between a python block and the next one is what that python block prints, to the letter; a python block without
one prints nothing. Blocks in other languages are not executed: ``py`` is Python for something else than agentrt.

Tests compare what is printed with what is recorded. After a change that is meant, ``python tools/record_docs.py``
records everything again; read the difference before you keep it.
"""

from __future__ import annotations

import contextlib
import io
import os
import re
import sys
import tempfile
import types
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
PAGES = [
    ROOT / "README.md",
    *sorted(page for page in (ROOT / "docs").rglob("*.md") if page.name != "conformance.md"),
]
EXAMPLES = sorted((ROOT / "examples").glob("[0-9][0-9]_*.py"))

_FENCE = re.compile(r"```\{?([\w-]*)\}?")


@dataclass(frozen=True)
class Block:
    """A fenced block of a page.

    Attributes:
        language: what follows the fence.
        line: the number of its first line of code, from 1.
        code: its lines.
    """

    language: str
    line: int
    code: str


def blocks_of(text: str) -> list[Block]:
    """The fenced blocks of a page, in order.

    Args:
        text: the page.

    Raises:
        ValueError: the last block is not closed.
    """
    blocks: list[Block] = []
    opened: tuple[str, int] | None = None
    lines = text.splitlines(keepends=True)
    for number, line in enumerate(lines, 1):
        if opened is None and (fence := _FENCE.fullmatch(line.rstrip())):
            opened = (fence[1], number + 1)
        elif opened is not None and line.rstrip() == "```":
            language, first = opened
            blocks.append(Block(language, first, "".join(lines[first - 1 : number - 1])))
            opened = None
    if opened is not None:
        raise ValueError(f"the block that starts in line {opened[1]} is not closed")
    return blocks


def expected_outputs(blocks: list[Block]) -> list[tuple[Block, Block | None]]:
    """Each python block, with the text block that says what it prints.

    Args:
        blocks: of one page.

    Raises:
        ValueError: a text block has no python block of its own.
    """
    pairs: list[tuple[Block, Block | None]] = []
    for block in blocks:
        if block.language == "python":
            pairs.append((block, None))
        elif block.language == "text":
            if not pairs or pairs[-1][1] is not None:
                raise ValueError(f"line {block.line}: a text block belongs to the one python block before it")
            pairs[-1] = (pairs[-1][0], block)
    return pairs


def run(page: Path) -> Iterator[tuple[Block, str, str]]:
    """Run the code of a page, block by block, in a folder of its own.

    Args:
        page: the file.

    Yields:
        A python block, what it is to print, what it printed.
    """
    pairs = expected_outputs(blocks_of(page.read_text(encoding="utf-8")))
    if not pairs:
        return  # a page about a module may have its name, and is not to take its place
    module = types.ModuleType(page.stem)
    sys.modules[page.stem] = module  # annotations of classes are looked up there
    try:
        with tempfile.TemporaryDirectory() as folder, contextlib.chdir(folder):
            for block, expected in pairs:
                # The line numbers in errors are those of the page.
                code = compile("\n" * (block.line - 1) + block.code, str(page), "exec", dont_inherit=True)
                printed = io.StringIO()
                with contextlib.redirect_stdout(printed):
                    exec(code, module.__dict__)  # noqa: S102 - the documentation is ours
                yield block, "" if expected is None else expected.code, printed.getvalue()
    finally:
        del sys.modules[page.stem]


def recorded(page: Path) -> str:
    """The text of a page with what its code prints now.

    Args:
        page: the file.
    """
    printed = {block: output for block, _, output in run(page)}
    text = page.read_text(encoding="utf-8")
    lines = text.splitlines(keepends=True)
    for block, expected in reversed(expected_outputs(blocks_of(text))):
        if expected is not None:
            first = expected.line - 1
            lines[first : first + expected.code.count("\n")] = [printed[block]]
        elif printed[block]:
            end = block.line + block.code.count("\n")
            lines[end:end] = [f"\n```text\n{printed[block]}```\n"]
    return "".join(lines)


def output_of(example: Path) -> str:
    """What an example prints.

    Args:
        example: the program.
    """
    import subprocess

    done = subprocess.run(
        [sys.executable, "-X", "dev", "-W", "error", str(example)],
        capture_output=True,
        text=True,
        check=False,
        env={**os.environ, "PYTHONHASHSEED": "1"},
    )
    if done.returncode or done.stderr:
        raise ValueError(f"{example.name} failed:\n{done.stderr}")
    return done.stdout


def main() -> None:
    """Record everything."""
    for page in PAGES:
        page.write_text(recorded(page), encoding="utf-8")
    for example in EXAMPLES:
        example.with_suffix(".out").write_text(output_of(example), encoding="utf-8")


if __name__ == "__main__":
    main()
