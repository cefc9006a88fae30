"""What a drawn case says of itself: the fields that are not what they are anyway.

hypothesis prints the smallest case that fails a test. A reader looks for what is peculiar about it, and a dozen
defaults beside that are in the way. What is printed can be put into ``@example(...)`` as it is.
"""

from __future__ import annotations

from dataclasses import MISSING, fields
from typing import Any

__all__ = ["Brief"]


class Brief:
    """The base of the dataclasses of this package that say only what differs from their defaults."""

    def __repr__(self) -> str:
        this: Any = self
        said = []
        for one in fields(this):
            value = getattr(self, one.name)
            default = one.default if one.default_factory is MISSING else one.default_factory()
            if value != default:
                said.append(f"{one.name}={value!r}")
        return f"{type(self).__name__}({', '.join(said)})"
