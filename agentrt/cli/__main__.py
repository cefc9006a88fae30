"""``python -m agentrt.cli``: the same as the command ``agentrt``."""

from agentrt.cli import main

if __name__ == "__main__":
    main()
