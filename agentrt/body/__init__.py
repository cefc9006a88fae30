"""Floor 2: what all decision models share: entities with components, control flags, leases."""
