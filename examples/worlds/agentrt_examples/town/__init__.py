"""A town whose people think: twelve of them, with needs, jobs, a clock, rumors, quarrels and a party to plan.

For authors of games who want to see what ``agentrt.minds`` is for. From below:

* ``chart`` (the ground), ``hours`` (the clock), ``people`` (who they are), ``town`` (all of it, and what happens by
  itself), ``wolves``;
* ``doing`` (what people do by rules) and ``thinking`` (what they do by thoughts), ``script`` (what answers where no
  language model does), ``game`` (a run of it);
* ``drafter``, ``report`` and ``screen`` only look.

Ground, paths, legs and fear are the colony's. This module offers what the entry point names: ``world``. It imports
nothing that needs the extra ``demo``.
"""

from __future__ import annotations

from agentrt_examples.town.offer import TownWorld

__all__ = ["world"]

world = TownWorld()
