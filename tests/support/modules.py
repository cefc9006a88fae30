"""Modules that are files and no packages: tools, and what lies beside tests, which are on no path."""

from __future__ import annotations

import importlib.util
import sys
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]


def load(path):
    """A file of the checkout as a module, the same each time.

    Args:
        path: from the root, such as ``"tools/record_docs.py"``.
    """
    name = path.removesuffix(".py").replace("/", "_")
    if name not in sys.modules:
        spec = importlib.util.spec_from_file_location(name, ROOT / path)
        module = importlib.util.module_from_spec(spec)
        sys.modules[name] = module  # first: dataclasses look their module up
        spec.loader.exec_module(module)
    return sys.modules[name]
