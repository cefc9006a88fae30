"""The miner's strategies on a real Minecraft server.

* ``packages`` brings node's packages to this machine;
* ``bridge`` speaks with the process (``bridge/bridge.mjs``) that runs a server and a bot on it;
* ``bot`` makes of that a body, with the interface that the strategies of ``agentrt_examples.miner`` ask for;
* ``python -m agentrt_examples.minecraft`` shows it.

What it needs, what was seen and what does not work on that server stands in the README beside this file.
"""
