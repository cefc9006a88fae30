"""A bridge process without a server, for the tests of the client. What it does follows from its argument and its requests.

The argument: ``plays`` plays along, ``mute`` never says that it is ready, ``dies`` ends at once, ``stubborn`` survives the
end of its input.
"""

import json
import sys
import time

HELD = []


def write(text):
    sys.stdout.write(text + "\n")
    sys.stdout.flush()


def tell(**message):
    write(json.dumps(message))


def hold(number, request):
    """Answer backwards, all at once, when three are held."""
    HELD.append(number)
    if len(HELD) == 3:
        for each in reversed(HELD):
            tell(id=each, ok={"number": each})


def events(number, request):
    for event in request["events"]:
        tell(**event)
    tell(id=number, ok={})


def late(number, request):
    tell(id=request["of"], ok={"late": True})
    tell(id=number, ok={})


def die(number, request):
    sys.stderr.write("something broke\n")
    sys.exit(4)


REQUESTS = {
    "echo": lambda number, request: tell(id=number, ok=request),
    "refuse": lambda number, request: tell(id=number, error={"code": "no_path", "text": "no way leads there"}),
    "nothing": lambda number, request: None,
    "write": lambda number, request: write(request["text"] * request.get("times", 1)),
    "cancel": lambda number, request: tell(event="canceled", of=request["of"]),
    "hold": hold,
    "events": events,
    "late": late,
    "die": die,
}


def main(way):
    if way == "dies":
        sys.stderr.write("one line\nno server here\n")
        sys.exit(3)
    if way != "mute":
        tell(event="spawned", place=[0, 5, 0], health=20, food=20, items={}, held=None)
    for line in sys.stdin:
        request = json.loads(line)
        REQUESTS[request["do"]](request["id"], request)
    if way == "stubborn":
        time.sleep(60)


main(sys.argv[1])
