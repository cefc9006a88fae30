"""Who may look: an inspector shows everything that goes on in a program, so it listens to few.

* It listens on loopback, unless told otherwise; any other address needs a token of at least 16 characters.
* ``Host`` is checked on every request: a page of somebody else's, whose name is made to point at this machine (DNS
  rebinding), has that name in it. On loopback only loopback names are good, elsewhere also numbers, and the names that
  were given.
* ``Origin``, which every browser sends with a WebSocket, has to be the inspector's own page. A program that is no
  browser sends none.
* A token comes in the query (``?token=``) or as ``Authorization: Bearer``, and is compared in constant time. There are
  no cookies, so no page of anybody's can ride on one. The page and its scripts hold no data and need no token; the
  socket and ``/api`` do.
"""

from __future__ import annotations

import hmac
import ipaddress
from collections.abc import Iterable, Mapping
from urllib.parse import urlsplit

from agentrt.errors import InspectorError

SHORTEST_TOKEN = 16


class Doorkeeper:
    """Decides about each request. Address, token and hosts are those of ``Inspector``, which says what is wrong."""

    __slots__ = ("_hosts", "_is_loopback", "_token")

    def __init__(self, address: str, token: str | None, hosts: Iterable[str] = ()) -> None:
        self._is_loopback = is_loopback(address)
        if token is None and not self._is_loopback:
            raise InspectorError(
                f"it is to listen on {address!r}, where others can reach it, and has no token",
                "Give it one: Inspector(..., token=secrets.token_urlsafe()). Or leave the address away, and reach it "
                "from elsewhere by 'ssh -L'.",
            )
        if token is not None and (len(token) < SHORTEST_TOKEN or not token.isascii()):
            raise InspectorError(
                f"its token is not {SHORTEST_TOKEN} ASCII characters long or longer",
                "Make one: secrets.token_urlsafe().",
            )
        self._token = None if token is None else token.encode()
        self._hosts = frozenset(host.casefold() for host in (address, *hosts))

    def admits(self, headers: Mapping[str, str]) -> bool:
        """Whether a request came to the right host, from a page of that host or from no page at all."""
        host = headers.get("host", "")
        if not self._is_ours(_name_of(f"//{host}")):
            return False
        origin = headers.get("origin")
        if origin is None:
            return True
        scheme, _, rest = origin.partition("://")
        return scheme in ("http", "https") and rest.casefold() == host.casefold()

    def knows(self, given: str | None) -> bool:
        """Whether a request knows the token; what came with it, or None."""
        if self._token is None:
            return True
        return hmac.compare_digest((given or "").encode("utf-8", "surrogatepass"), self._token)

    def _is_ours(self, name: str) -> bool:
        if not name or is_loopback(name):
            return bool(name)
        return not self._is_loopback and (name in self._hosts or address_of(name) is not None)


def address_of(name: str) -> ipaddress.IPv4Address | ipaddress.IPv6Address | None:
    """The address that a name is, if it is a number."""
    try:
        return ipaddress.ip_address(name)
    except ValueError:
        return None


def is_loopback(name: str) -> bool:
    """Whether a name means this machine and can be reached from it alone."""
    address = address_of(name)
    return name.casefold() == "localhost" if address is None else address.is_loopback


def _name_of(url: str) -> str:
    """The host's name in a URL, without the port; empty if it is no URL."""
    try:
        parts = urlsplit(url)
        if parts.username is not None or parts.path or parts.query or parts.fragment:
            return ""
        _ = parts.port  # raises if it is no number
        return (parts.hostname or "").casefold()
    except ValueError:
        return ""
