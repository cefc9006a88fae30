"""An agent that plays Crafter."""
