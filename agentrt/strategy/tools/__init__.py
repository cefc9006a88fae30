"""Tools for authors of strategies: stubs for type checkers, and the map of dependencies."""
