"""What authors of actions write and are given: actions, arguments, steps, contexts."""
