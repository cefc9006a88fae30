"""The machine that thinks and runs: units and frames, elections, compounds, executions."""
