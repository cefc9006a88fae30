"""Who may look: addresses, hosts, origins, tokens."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from agentrt.errors import InspectorError
from agentrt.inspect import Inspector
from agentrt.inspect.doorkeeper import Doorkeeper, is_loopback
from agentrt.inspect.server import HEADERS
from agentrt.runtime.runtime import Runtime

TOKEN = "0123456789abcdef"
EVIL = "http://evil.example"


@pytest.mark.parametrize("name", ["127.0.0.1", "127.9.9.9", "::1", "localhost", "LocalHost"])
def test_loopback(name):
    assert is_loopback(name)
    Doorkeeper(name, None)


@pytest.mark.states("tools: Inspector: Loopback by default; any other address needs a token", source="design 10")
@pytest.mark.parametrize("name", ["0.0.0.0", "::", "192.168.1.4", "example.com", "", "localhost.evil.example", "127.1"])
def test_any_other_address_needs_a_token(name):
    assert not is_loopback(name)
    with pytest.raises(InspectorError, match="where others can reach it, and has no token") as caught:
        Doorkeeper(name, None)
    assert caught.value.code == "ART112"
    Doorkeeper(name, TOKEN)


def test_the_inspector_asks_before_it_begins():
    with pytest.raises(InspectorError, match=r"ART112.*has no token.*secrets\.token_urlsafe"):
        Inspector(Runtime(), address="0.0.0.0")


@pytest.mark.parametrize("token", ["", "short", "0123456789abcde", "ä" * 20])
def test_a_token_that_is_none(token):
    with pytest.raises(InspectorError, match="16 ASCII characters"):
        Doorkeeper("127.0.0.1", token)


@pytest.mark.states("tools: Inspector: Host and Origin are checked", source="design 10")
@pytest.mark.parametrize(
    ("host", "is_ours"),
    [
        ("127.0.0.1:8765", True),
        ("127.0.0.1", True),
        ("localhost:8765", True),
        ("LOCALHOST:1", True),
        ("[::1]:8765", True),
        ("", False),
        ("evil.example", False),
        ("evil.example:8765", False),
        ("127.0.0.1.evil.example", False),
        ("localhost.evil.example", False),
        ("192.168.1.4:8765", False),
        ("127.0.0.1@evil.example", False),
        ("evil.example@127.0.0.1", False),
        ("127.0.0.1/evil", False),
        ("127.0.0.1?x", False),
        ("127.0.0.1#x", False),
        ("127.0.0.1:port", False),
        ("127.0.0.1:99999", False),
        ("[::1", False),
    ],
)
def test_hosts_on_loopback(host, is_ours):
    assert Doorkeeper("127.0.0.1", None).admits({"host": host}) == is_ours
    assert Doorkeeper("127.0.0.1", TOKEN).admits({"host": host}) == is_ours


@pytest.mark.parametrize(
    ("host", "is_ours"),
    [
        ("192.168.1.4:8765", True),
        ("[fe80::1]:8765", True),
        ("game.example:8765", True),
        ("Game.Example", True),
        ("localhost", True),
        ("evil.example", False),
        ("game.example.evil.example", False),
    ],
)
def test_hosts_on_other_addresses(host, is_ours):
    assert Doorkeeper("0.0.0.0", TOKEN, ["game.example"]).admits({"host": host}) == is_ours


@pytest.mark.states("tools: Inspector: Host and Origin are checked ...")
@pytest.mark.parametrize(
    ("origin", "is_ours"),
    [
        ("http://127.0.0.1:8765", True),
        ("https://127.0.0.1:8765", True),
        ("HTTP://127.0.0.1:8765", False),  # no browser writes it so
        ("http://127.0.0.1:8766", False),
        ("http://localhost:8765", False),
        ("http://127.0.0.1", False),
        (EVIL, False),
        ("null", False),
        ("", False),
        ("file://", False),
        ("http://127.0.0.1:8765/", False),
        ("http://127.0.0.1:8765.evil.example", False),
        ("ws://127.0.0.1:8765", False),
    ],
)
def test_origins(origin, is_ours):
    assert Doorkeeper("127.0.0.1", None).admits({"host": "127.0.0.1:8765", "origin": origin}) == is_ours


def test_a_program_has_no_origin():
    assert Doorkeeper("127.0.0.1", None).admits({"host": "127.0.0.1:8765"})


def test_no_host_at_all():
    assert not Doorkeeper("127.0.0.1", None).admits({})


@given(st.text())
def test_nobody_guesses(text):
    keeper = Doorkeeper("127.0.0.1", TOKEN)
    assert keeper.knows(text) == (text == TOKEN)
    keeper.admits({"host": text, "origin": text})
    assert not keeper.admits({"host": f"{text}.example"})


def test_tokens():
    keeper = Doorkeeper("127.0.0.1", TOKEN)
    assert keeper.knows(TOKEN)
    assert not keeper.knows(None)
    assert not keeper.knows(TOKEN + "x")
    assert not keeper.knows("\ud800")
    assert Doorkeeper("127.0.0.1", None).knows(None)


def test_the_policy_lets_nothing_in_from_elsewhere():
    policy = HEADERS["Content-Security-Policy"]
    assert "default-src 'none'" in policy
    assert "frame-ancestors 'none'" in policy
    assert "unsafe" not in policy
    assert "*" not in policy
    assert "http" not in policy


@pytest.mark.parametrize(
    ("options", "url"),
    [
        ({}, "http://127.0.0.1:8765/"),
        ({"port": 99, "address": "::1"}, "http://[::1]:99/"),
        ({"address": "localhost"}, "http://localhost:8765/"),
        (
            {"address": "0.0.0.0", "token": "a&b=c d/e?f#0123"},
            "http://127.0.0.1:8765/?token=a%26b%3Dc%20d%2Fe%3Ff%230123",
        ),
        ({"address": "::", "token": TOKEN}, f"http://[::1]:8765/?token={TOKEN}"),
    ],
)
def test_the_address_of_the_page(options, url):
    inspector = Inspector(Runtime(), **options)
    assert inspector.url == url
    assert repr(inspector) == "<Inspector: not running>"
