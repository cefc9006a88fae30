"""What the compiler is told of a class, in the wheels whose core is compiled (see ``tools/compile_core.py``).

The source is the same for both builds, and the pure one knows no compiler: there this decorator does nothing. The
compiler never calls it: it reads it in the source, by the name that it has in ``mypy_extensions``.
"""

from __future__ import annotations

from types import ModuleType
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from mypy_extensions import mypyc_attr
else:

    def mypyc_attr(**_settings: bool) -> object:
        """How a class is compiled."""
        return lambda cls: cls


__all__ = ["is_compiled", "mypyc_attr"]


def is_compiled(module: ModuleType) -> bool:
    return not str(module.__file__).endswith((".py", ".pyc"))
