"""One character's life: what it knows, has and does, and the drivers that make it act. Knows no runtime."""
