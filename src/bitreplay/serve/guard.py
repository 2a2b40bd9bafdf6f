"""Stands before every request: who asks, from which page, by which name; and gives every answer its headers.

Host     a name that an attacker's DNS leads to this address (rebinding) is not ours. Numbers are: no page can have
         another's number as its name.
Origin   a change comes from our own page, or from no page at all
token    where others can reach us; the page's own files, which anybody may have, go without
"""

from __future__ import annotations

import ipaddress
import re
from collections.abc import Iterable

from starlette.datastructures import Headers, MutableHeaders
from starlette.responses import JSONResponse
from starlette.types import ASGIApp, Message, Receive, Scope, Send

from bitreplay.serve.keys import Keys
from bitreplay.serve.limits import Refused

POLICY = (
    "default-src 'none'; script-src 'self' 'wasm-unsafe-eval'; style-src 'self'; img-src 'self' blob:; "
    "media-src 'self' blob:; connect-src 'self'; worker-src 'self'; manifest-src 'self'; base-uri 'none'; "
    "form-action 'none'; frame-ancestors 'none'"
)
HEADERS = {
    "Content-Security-Policy": POLICY,
    "X-Content-Type-Options": "nosniff",
    "X-Frame-Options": "DENY",
    "Referrer-Policy": "no-referrer",
    "Cross-Origin-Opener-Policy": "same-origin",
    "Cross-Origin-Resource-Policy": "same-origin",
    "Permissions-Policy": "camera=(self), microphone=(), geolocation=()",
}
# All of it: what looks like a name, a number in brackets and a port, and nothing behind them.
HOST = re.compile(r"(?:(?P<name>[\w.-]+)|\[(?P<number>[0-9A-Fa-f:.]+)\])(?::(?P<port>[0-9]{0,5}))?", re.ASCII)
READING = ("GET", "HEAD")
GUARDED = ("/api/", "/models.json")


class Guard:
    """`names` are hosts that we are called by, beside numbers; `keys` are None on loopback, where only loopback's own
    numbers are ours."""

    def __init__(self, app: ASGIApp, names: Iterable[str], keys: Keys | None) -> None:
        self._app, self._keys = app, keys
        self._names = {name.lower().rstrip(".") for name in names} | {"localhost"}

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        if scope["type"] != "http":
            await self._app(scope, receive, send)
            return

        async def with_headers(message: Message) -> None:
            if message["type"] == "http.response.start":
                headers = MutableHeaders(scope=message)
                for name, value in HEADERS.items():
                    headers[name] = value
                headers.setdefault("Cache-Control", "no-store")
            await send(message)

        try:
            self._check(scope)
        except Refused as error:
            more = {"WWW-Authenticate": "Bearer"} if error.status == 401 else {}
            answer = JSONResponse({"error": error.sentence}, error.status, more | {"Connection": "close"})
            await answer(scope, receive, with_headers)
        else:
            await self._app(scope, receive, with_headers)

    def _check(self, scope: Scope) -> None:
        headers = Headers(scope=scope)
        hosts = headers.getlist("host")
        if len(hosts) != 1 or not self._ours(hosts[0]):
            raise Refused(403, "This server is not called by that name; start it with --name to add one.")
        if scope["method"] not in READING:
            self._check_origin(headers, f"{scope['scheme']}://{hosts[0]}".lower())
        guarded = any(scope["path"].startswith(start) for start in GUARDED)
        if self._keys is not None and guarded:
            cookies = "; ".join(headers.getlist("cookie"))
            if not self._keys.fits(headers.get("authorization", ""), cookies):
                raise Refused(401, "This needs the token, or the link that was made for you.")

    def _ours(self, host: str) -> bool:
        found = HOST.fullmatch(host)
        if found is None or int(found["port"] or 0) > 65535:
            return False
        name = (found["name"] or found["number"]).lower()
        try:
            number = ipaddress.ip_address(name)
        except ValueError:
            return found["name"] is not None and name.rstrip(".") in self._names
        return number.is_loopback or self._keys is not None

    @staticmethod
    def _check_origin(headers: Headers, own: str) -> None:
        """Browsers name the page that a change comes from; other programs do not."""
        origin, site = headers.get("origin"), headers.get("sec-fetch-site", "same-origin")
        if (origin is not None and origin.lower() != own) or site not in ("same-origin", "none"):
            raise Refused(403, "A change must come from the page of this server.")
