"""Task groups: activities that are scheduled from outside of the agents that perform them."""
