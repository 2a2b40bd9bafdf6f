"""Access to a server that others can reach: a token, a cookie derived from it, and links that work once.

token    32 random bytes, or the content of a file that only its owner can read; printed once, when it is created
cookie   HMAC-SHA256 of the token: it does not reveal the token, and survives a restart with the same token
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
MIN_LENGTH = 16  # characters of a token


class Keys:
    def __init__(self, token: str, clock: Callable[[], float] = time.monotonic) -> None:
        self._token, self._clock = token.encode(), clock
        self._links: dict[str, float] = {}
        self.cookie = hmac.new(self._token, b"bitreplay cookie", hashlib.sha256).hexdigest()

    def allows(self, authorization: str, cookies: str) -> bool:
        """Whether a request with these headers may pass. Compared in constant time."""
        kind, _, credentials = authorization.partition(" ")
        by_token = hmac.compare_digest(credentials.strip().encode(), self._token) and kind.lower() == "bearer"
        by_cookie = False
        for part in cookies.split(";"):
            name, _, value = part.strip().partition("=")
            by_cookie |= name == COOKIE and hmac.compare_digest(value.encode(), self.cookie.encode())
        return by_token or by_cookie

    def link(self) -> str:
        """The key of a new link; beyond MAX_LINKS the oldest are dropped."""
        now = self._clock()
        self._links = {key: end for key, end in self._links.items() if end > now}
        while len(self._links) >= MAX_LINKS:
            del self._links[next(iter(self._links))]
        key = secrets.token_urlsafe(24)
        self._links[key] = now + LINK_SECONDS
        return key

    def redeem(self, key: str) -> bool:
        """Whether the link is valid; it works once."""
        matches = [known for known in self._links if hmac.compare_digest(known.encode(), key.encode())]
        return bool(matches) and self._links.pop(matches[0]) > self._clock()

    def set_cookie(self, secure: bool) -> str:
        return f"{COOKIE}={self.cookie}; HttpOnly; SameSite=Strict; Path=/; Max-Age={DAYS * 86400}" + (
            "; Secure" if secure else ""
        )


def load_token(file: Path | None) -> tuple[str, bool]:
    """The token in a file, or a new one, and whether it is new."""
    if file is None:
        return secrets.token_urlsafe(32), True
    try:
        token = file.read_text("utf-8").strip()
    except FileNotFoundError:
        token = secrets.token_urlsafe(32)
        with open(os.open(file, os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_CLOEXEC, 0o600), "w") as known:
            known.write(token + "\n")
        return token, True
    except OSError as error:
        raise ValueError(f"{file} cannot be read: {error.strerror}.") from None
    if len(token) < MIN_LENGTH or not token.isascii() or not token.isprintable():
        raise ValueError(
            f"{file} does not hold a token; expected one line of at least {MIN_LENGTH} printable characters."
        )
    if file.stat().st_mode & 0o077:
        raise ValueError(f"{file} can be read by others: chmod 600 {file}.")
    return token, False
