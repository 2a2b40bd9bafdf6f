"""Who may ask a server that others can reach: a token, a cookie that follows from it, and links that work once.

token    32 random bytes, or those of a file that only its owner reads; printed when it is made, and never again
cookie   HMAC-SHA256 of the token: who has the one does not have the other, and it survives a restart with the token
link     random, valid once and for ten minutes; whoever opens it gets the cookie
"""

from __future__ import annotations

import hashlib
import hmac
import os
import secrets
import time
from collections.abc import Callable
from pathlib import Path

COOKIE = "bitreplay"
LINK_SECONDS = 600.0
MAX_LINKS = 32
DAYS = 30
LEAST = 16  # characters of a token


class Keys:
    def __init__(self, token: str, clock: Callable[[], float] = time.monotonic) -> None:
        self._token, self._clock = token.encode(), clock
        self._links: dict[str, float] = {}
        self.cookie = hmac.new(self._token, b"bitreplay cookie", hashlib.sha256).hexdigest()

    def fits(self, authorization: str, cookies: str) -> bool:
        """Whether a request with these headers may pass. Compared in constant time."""
        kind, _, given = authorization.partition(" ")
        by_token = hmac.compare_digest(given.strip().encode(), self._token) and kind.lower() == "bearer"
        by_cookie = False
        for part in cookies.split(";"):
            name, _, value = part.strip().partition("=")
            by_cookie |= name == COOKIE and hmac.compare_digest(value.encode(), self.cookie.encode())
        return by_token or by_cookie

    def link(self) -> str:
        """A new key of a link; the oldest ones end when there are many."""
        now = self._clock()
        self._links = {key: end for key, end in self._links.items() if end > now}
        while len(self._links) >= MAX_LINKS:
            del self._links[next(iter(self._links))]
        key = secrets.token_urlsafe(24)
        self._links[key] = now + LINK_SECONDS
        return key

    def opens(self, key: str) -> bool:
        """Whether the link is good; it is used up then."""
        found = [own for own in self._links if hmac.compare_digest(own.encode(), key.encode())]
        return bool(found) and self._links.pop(found[0]) > self._clock()

    def set_cookie(self, secure: bool) -> str:
        return f"{COOKIE}={self.cookie}; HttpOnly; SameSite=Strict; Path=/; Max-Age={DAYS * 86400}" + (
            "; Secure" if secure else ""
        )


def token_of(file: Path | None) -> tuple[str, bool]:
    """The token of a file, and whether it was made just now; without a file a new one."""
    if file is None:
        return secrets.token_urlsafe(32), True
    try:
        token = file.read_text("utf-8").strip()
    except FileNotFoundError:
        token = secrets.token_urlsafe(32)
        with open(os.open(file, os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_CLOEXEC, 0o600), "w") as own:
            own.write(token + "\n")
        return token, True
    except OSError as error:
        raise ValueError(f"{file} cannot be read: {error.strerror}.") from None
    if len(token) < LEAST or not token.isascii() or not token.isprintable():
        raise ValueError(f"{file} holds no token: expected a line of at least {LEAST} printable characters.")
    if file.stat().st_mode & 0o077:
        raise ValueError(f"{file} can be read by others: chmod 600 {file}.")
    return token, False
