"""What a model would answer to the people of the town; and as a program, a server that does, on the port that it is given.

As a process of its own it can be killed.
"""

from __future__ import annotations

import random
import re
import sys
import threading

from model_server import Answer, ModelServer

OPTION = re.compile(r"^- (town:\w+)\((.*?)\)", re.MULTILINE)


def chosen(line):
    activity, args = line
    given = {}
    for arg in filter(None, args.split("; ")):
        name, _, of = arg.partition(": one of ")
        given[name] = random.Random(len(line)).choice(of.split(", "))
    return {"activity": activity, "args": given, "why": "so it is"}


def answers(body):
    """What is answered: by the schema of the tool that is to be called, and the menu in the prompt."""
    wanted = body["tools"][0]["function"]["parameters"]["properties"]
    prompt = body["messages"][-1]["content"]
    if "say" in wanted:
        return {"say": "The servers are busy today.", "is_over": "last one" in prompt}
    if "conclusions" in wanted:
        return {"conclusions": ["Everything is connected."]}
    menu = OPTION.findall(prompt)
    if "steps" in wanted:
        return {"steps": [chosen(line) for line in menu][:3]}
    return chosen(next((line for line in menu if line[0] == "town:chat"), menu[0]))


if __name__ == "__main__":
    with ModelServer(lambda body, number: Answer(answers(body)), port=int(sys.argv[1])) as server:
        sys.stdout.write(f"{server.url}\n")
        sys.stdout.flush()
        threading.Event().wait()
