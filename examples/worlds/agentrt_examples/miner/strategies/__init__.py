"""The strategies of the miner. ``needs`` are the words that they share; no strategy imports another."""
