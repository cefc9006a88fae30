"""What drives those who are not driven by a plan alone: goals of wolves, a tree of drakes, stances of soldiers."""
