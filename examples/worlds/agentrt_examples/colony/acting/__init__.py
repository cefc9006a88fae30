"""What the inhabitants of the colony can do beyond the standard actions: one module for each walk of life."""
