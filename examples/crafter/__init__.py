"""An agent that plays Crafter, a published survival game that nobody here wrote.

From below:

* ``ordered`` (equal seeds, equal episodes), ``rules`` (what its player knows about the game), ``eyes`` (what it sees,
  and nothing else);
* ``reach``, ``atlas``, ``sites`` (the map in its head, ways on it, and what is worth going to), ``diary``, ``player``
  (what it has achieved, and is), ``legs``, ``shelter`` (what it can do);
* ``strategies`` (how things are had), ``actions`` (staying alive, and striving), ``reflexes`` (what does not wait for
  thought), ``packs`` (which of these belong together), ``mind`` (the agent);
* ``game`` (an episode), ``score``, ``play`` (what the commands show), ``offer`` (it as a world, for whoever runs
  worlds: ``agentrt run --app examples.crafter:world``).

Run it from a clone: ``python -m examples.crafter play``. It needs the extra ``crafter``.
"""

from __future__ import annotations

from examples.crafter.offer import world

__all__ = ["world"]
