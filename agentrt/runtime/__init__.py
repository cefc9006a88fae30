"""A runtime: agents on one clock, how it is driven, what comes in, what is told."""
