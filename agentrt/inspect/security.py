"""Who may talk to an inspector. It shows everything that goes on in a program, so it listens to few.

* It listens on loopback, unless told otherwise; any other address needs a token of at least 16 characters.
* ``Host`` is checked on every request: a page of somebody else's, whose name is made to point at this machine (DNS
  rebinding), has that name in it. On loopback only loopback names are good, elsewhere also numbers, and the names that
  were given.
* ``Origin``, which every browser sends with a WebSocket, has to be the inspector's own page. A program that is no
  browser sends none.
* A token comes in the query (``?token=``) or as ``Authorization: Bearer``, and is compared in constant time. There are
  no cookies, so no page of anybody's can ride on one. The page and its scripts hold no data and need no token; the
  socket and ``/api`` do.
* Pages are sent with a policy that lets them load from here alone and be framed nowhere.

Source: design section 10.
"""

from __future__ import annotations

import hmac
import ipaddress
from collections.abc import Iterable, Mapping
from urllib.parse import urlsplit

from agentrt.errors import InspectorError

__all__ = ["HEADERS", "Doorkeeper"]

SHORTEST_TOKEN = 16

HEADERS: Mapping[str, str] = {
    "Content-Security-Policy": (
        "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self' data:; font-src 'self'; "
        "connect-src 'self'; base-uri 'none'; form-action 'none'; frame-ancestors 'none'"
    ),
    "Cross-Origin-Opener-Policy": "same-origin",
    "Cross-Origin-Resource-Policy": "same-origin",
    "Referrer-Policy": "no-referrer",
    "X-Content-Type-Options": "nosniff",
    "X-Frame-Options": "DENY",
    "Cache-Control": "no-store",
}
"""What every answer carries."""


class Doorkeeper:
    """Decides about each request.

    Args:
        address: what the inspector listens on: a number, or ``localhost``.
        token: what clients have to know; None for nothing.
        hosts: further names by which the machine is called.

    Raises:
        InspectorError: the address is no loopback address and there is no token, or it is too short.
    """

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
        """Whether a request came to the right host, from a page of that host or from no page at all.

        Args:
            headers: of the request, names in lower case.
        """
        host = headers.get("host", "")
        if not self._is_ours(_name_of(f"//{host}")):
            return False
        origin = headers.get("origin")
        if origin is None:
            return True
        scheme, _, rest = origin.partition("://")
        return scheme in ("http", "https") and rest.casefold() == host.casefold()

    def knows(self, given: str | None) -> bool:
        """Whether a request knows the token.

        Args:
            given: the token that came with it, or None.
        """
        if self._token is None:
            return True
        return hmac.compare_digest((given or "").encode("utf-8", "surrogatepass"), self._token)

    def _is_ours(self, name: str) -> bool:
        if not name:
            return False
        if is_loopback(name):
            return True
        return not self._is_loopback and (name in self._hosts or _is_number(name))


def is_loopback(name: str) -> bool:
    """Whether a name means this machine and can be reached from it alone.

    Args:
        name: an address, or a name.
    """
    if name.casefold() == "localhost":
        return True
    try:
        return ipaddress.ip_address(name).is_loopback
    except ValueError:
        return False


def _is_number(name: str) -> bool:
    try:
        ipaddress.ip_address(name)
    except ValueError:
        return False
    return True


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
