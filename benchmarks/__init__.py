"""What agentrt costs, measured beside a limit and beside its peers.

``python -m benchmarks`` from the root of the project. A *row* is one piece of work. It is done by *ours*
(agentrt), by the *limit* (the same work written by hand, with nothing that the work itself does not need) and
by *peers* (other people's libraries), in the same run and in turn. A figure alone says more about the machine
than about the code, so a target is a ratio. README.md says what the targets are, and which are not met.

    harness.py   sides, rows, gauges; how a row is measured
    report.py    the table and the JSON document
    alone.py         one side of one row in a process of its own
    instructions.py  how many instructions a unit of work takes (valgrind)
    compare.py       this tree and another commit, in turn
    history.py       what was counted at each step: history.json and its picture
    cli.py           the command line
    wheel.py     the hand-written scheduler that several limits share
    rows/        one module for each row, or for a family of rows that share their code
"""
