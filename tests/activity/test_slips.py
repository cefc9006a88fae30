"""What looks like a slip and is none, and slips that hide: see agentrt/body/slips.py."""

from __future__ import annotations

import pytest

import agentrt as art
from agentrt.errors import DefinitionError

rustling = art.Signal()


class Motor:
    @staticmethod
    def sleep(seconds):
        return seconds


motor = Motor()


def defined(body):
    """The class of an action with these lines in its body."""
    lines = "\n".join(f"    {line}" for line in body.splitlines())
    code = compile(f"class Walk(art.Action):\n    does = art.TOP\n    utility = 0.5\n{lines}\n", "walk.py", "exec")
    exec(code, names := {"art": art, "rustling": rustling, "motor": motor, "__name__": __name__})
    return names["Walk"]


def run(*lines):
    return "\n".join(("async def run(self, ctx, args):", *(f"    {line}" for line in lines)))


@pytest.mark.parametrize(
    "body",
    [
        run("wait = ctx.sleep(1)", "await wait"),
        run("return ctx.sleep(1)"),
        run("waits = []", "waits.append(ctx.sleep(1))", "await ctx.all(*waits)"),
        run("await ctx.all(*[ctx.sleep(seconds) for seconds in (1, 2)])"),
        run("nap = lambda: ctx.sleep(1)", "await nap()"),
        run("motor.sleep(1)", "self.motor.sleep(1)", "ctx.entity.sleep(1)", "ctx.agent.call(1)"),
        run("ctx.set_think_output(item=1)", "ctx.set_think_output(**{})"),
        "def go(self, engine):\n    engine.sleep(1)\n    self.engine.sleep(1)",  # no hook, no context
        "weights = [1, 2]",
        "priority: int = 3",
        "_priority = 3",
        "@property\ndef priorities(self):\n    return 3",
        "@staticmethod\ndef update(place):\n    return place",
        "priority = 3\n" + run("print(self.priority)"),
        "timeout = 3\n" + run("print(getattr(self, 'timeout'))"),
    ],
)
def test_what_is_an_authors_own_is_left_alone(body):
    assert defined(body).does == art.TOP


@pytest.mark.parametrize(
    ("body", "said"),
    [
        (run("if args:", "    ctx.sleep(1)"), "walk.py:6 calls ctx.sleep"),
        (run("async def nap():", "    ctx.call(print, 1, sep='')", "await nap()"), "walk.py:6 calls ctx.call"),
        (run("ctx.call(*args)"), "walk.py:5 calls ctx.call"),
        (run("ctx.execute('demo:paint', color=[one for one in 'red'])"), "walk.py:5 calls ctx.execute"),
        (run("(ctx", "   .sleep(", "      1))"), "calls ctx.sleep"),
        (run("ctx.next_tick()"), "walk.py:5 calls ctx.next_tick"),
        (run("art.sleep(1)"), "walk.py:5 calls art.sleep"),
        (run("rustling.wait()"), "walk.py:5 calls rustling.wait"),
        ("async def run(self, me, args):\n    me.sleep(1)", "walk.py:5 calls me.sleep"),
        ("def go(self, ctx):\n    ctx.sleep(1)", "walk.py:5 calls ctx.sleep"),
        ("flag = {art.MOVE}", "nobody reads 'flag'. Did you mean 'flags'"),
    ],
)
def test_a_slip_is_told_with_its_line(body, said):
    with pytest.raises(DefinitionError, match=said):
        defined(body)
