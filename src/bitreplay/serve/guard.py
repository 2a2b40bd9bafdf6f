"""Checks every request and adds headers to every response.

Host     must be one of our names: an attacker's DNS may lead a name to this address (rebinding). IP addresses are ours,
since no other page can have one as its name. Origin   a change must come from our own page, or from no page at all
token    needed where others can reach us, except for the page's files, which are public
"""

from __future__ import annotations

import ipaddress
import re
from collections.abc import Iterable

from starlette.datastructures import Headers, MutableHeaders
from starlette.responses import JSONResponse
from starlette.types import ASGIApp, Message, Receive, Scope, Send

from bitreplay.serve.keys import Keys
from bitreplay.serve.limits import RequestError

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
# A name or an IP address, or an IPv6 address in brackets, then perhaps a port.
HOST = re.compile(r"(?:(?P<name>[\w.-]+)|\[(?P<number>[0-9A-Fa-f:.]+)\])(?::(?P<port>[0-9]{0,5}))?", re.ASCII)
SAFE_METHODS = ("GET", "HEAD")
PROTECTED = ("/api/", "/models.json")


class Guard:
    """`names` are our host names, beside IP addresses; `keys` are None on loopback, where only loopback addresses are
    ours."""

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
        except RequestError as error:
            extra = {"WWW-Authenticate": "Bearer"} if error.status == 401 else {}
            answer = JSONResponse({"error": error.message}, error.status, extra | {"Connection": "close"})
            await answer(scope, receive, with_headers)
        else:
            await self._app(scope, receive, with_headers)

    def _check(self, scope: Scope) -> None:
        headers = Headers(scope=scope)
        hosts = headers.getlist("host")
        if len(hosts) != 1 or not self._is_ours(hosts[0]):
            raise RequestError(403, "This server does not have that name; start it with --name to add one.")
        if scope["method"] not in SAFE_METHODS:
            self._check_origin(headers, f"{scope['scheme']}://{hosts[0]}".lower())
        guarded = any(scope["path"].startswith(start) for start in PROTECTED)
        if self._keys is not None and guarded:
            cookies = "; ".join(headers.getlist("cookie"))
            if not self._keys.allows(headers.get("authorization", ""), cookies):
                raise RequestError(401, "This needs the token or a link.")

    def _is_ours(self, host: str) -> bool:
        match = HOST.fullmatch(host)
        if match is None or int(match["port"] or 0) > 65535:
            return False
        name = (match["name"] or match["number"]).lower()
        try:
            address = ipaddress.ip_address(name)
        except ValueError:
            return match["name"] is not None and name.rstrip(".") in self._names
        return address.is_loopback or self._keys is not None

    @staticmethod
    def _check_origin(headers: Headers, own_origin: str) -> None:
        """Browsers send the page that a change comes from; other programs do not."""
        origin, site = headers.get("origin"), headers.get("sec-fetch-site", "same-origin")
        if (origin is not None and origin.lower() != own_origin) or site not in ("same-origin", "none"):
            raise RequestError(403, "A change must come from this server's page.")
