"""What a façade offers, so that its test holds the literal list of names."""

from __future__ import annotations

import types


def offered(facade):
    """The names that somebody finds on a façade: not what is private, and no modules."""
    return {
        name
        for name, value in vars(facade).items()
        if not name.startswith("_") and not isinstance(value, types.ModuleType) and name != "annotations"
    }
