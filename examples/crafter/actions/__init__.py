"""What the player does to stay alive, and what it does when nothing presses: actions for its plan."""
