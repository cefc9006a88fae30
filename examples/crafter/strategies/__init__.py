"""How the player gets what it wants, one small class for each way; they know each other's wants, not each other."""
