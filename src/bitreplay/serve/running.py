"""The server: parts put together, run until it is told to end.

SIGTERM, Ctrl-C   no new connections; the change at work ends or is stopped whole; streams end; the lock is freed
kill -9           desk.py says what is on the disk then
"""

from __future__ import annotations

import asyncio
import ipaddress
import json
import signal
import socket
import ssl
import threading
from collections.abc import Iterable, Iterator
from contextlib import contextmanager, suppress
from dataclasses import dataclass, field
from pathlib import Path
from types import FrameType

import uvicorn

from bitreplay.engine import native
from bitreplay.engine.machine_pool import most_at_once
from bitreplay.engine.parameter_counts import total_parameters
from bitreplay.learner import Learner
from bitreplay.serve.answering import Answers
from bitreplay.serve.app import App
from bitreplay.serve.events import Events
from bitreplay.serve.files import file, page_files
from bitreplay.serve.guard import Guard
from bitreplay.serve.keys import Keys
from bitreplay.serve.learner_service import LearnerService
from bitreplay.serve.limits import Limits
from bitreplay.serve.timeout_protocol import protocol
from bitreplay.statefile import Lock

FLOAT_BYTES = 4
END_SECONDS = 10
BACKLOG = 256
UNREAD = 1 << 17  # bytes of an answer that the system keeps for a client that does not read


@dataclass(frozen=True)
class Place:
    """Where to listen. An address that others can reach needs keys."""

    host: str = "127.0.0.1"
    port: int = 8421
    names: tuple[str, ...] = ()
    cert: Path | None = None
    key: Path | None = None
    limits: Limits = field(default_factory=Limits)

    @property
    def for_others(self) -> bool:
        """Whether anybody but this machine can connect."""
        if self.host == "localhost":
            return False
        try:
            return not ipaddress.ip_address(self.host).is_loopback
        except ValueError:
            return True

    @property
    def on_all_interfaces(self) -> bool:
        """Whether the host stands for all addresses of the machine, and is none that a browser can ask for."""
        with suppress(ValueError):
            return ipaddress.ip_address(self.host).is_unspecified
        return False

    @property
    def called(self) -> str:
        """What a browser calls it."""
        if self.names or not self.on_all_interfaces:
            return next(iter(self.names), self.host)
        name = socket.gethostname()
        return name if "." in name else f"{name}.local"

    @property
    def scheme(self) -> str:
        return "http" if self.cert is None else "https"


class Server(uvicorn.Server):
    """Streams of events end with the first signal; uvicorn would wait for their clients."""

    def __init__(self, config: uvicorn.Config, events: Events) -> None:
        super().__init__(config)
        self._events = events

    @contextmanager
    def capture_signals(self) -> Iterator[None]:
        """uvicorn would raise them again at its end, before ours."""
        if threading.current_thread() is not threading.main_thread():
            yield
            return
        before = {sig: signal.signal(sig, self.handle_exit) for sig in (signal.SIGINT, signal.SIGTERM)}
        try:
            yield
        finally:
            for sig, handler in before.items():
                signal.signal(sig, handler)

    def handle_exit(self, sig: int, frame: FrameType | None) -> None:
        super().handle_exit(sig, frame)
        self.end()

    def end(self) -> None:
        self.should_exit = True
        self._events.tell_end()


class Served:
    """A learner and its state at a place. `run` returns when the server has ended."""

    def __init__(self, learner: Learner, state: Path, lock: Lock, place: Place, keys: Keys | None) -> None:
        if place.for_others and keys is None:
            raise ValueError(f"{place.host} can be reached by others: a token is needed.")
        self.place, limits = place, place.limits
        self.socket = listening(place)
        try:
            self.events = Events(limits.viewers)
            self.desk = LearnerService(learner, state, lock, limits, self.events.tell)
            self.answers = Answers(learner, lambda: self.desk.view, limits, most_at_once())
            files = page_files() | {"/models.json": file(json.dumps([about(learner)]).encode(), ".json")}
            app = App(self.desk, self.answers, self.events, files, limits, keys).made()
            config = uvicorn.Config(
                Guard(app, (*place.names, *own_names(place)), keys),
                http=protocol(limits), ws="none", lifespan="off", log_config=None, log_level="error", access_log=False,
                server_header=False, proxy_headers=False, timeout_keep_alive=int(limits.idle_seconds),
                timeout_graceful_shutdown=END_SECONDS, h11_max_incomplete_event_size=1 << 14,
                ssl_certfile=place.cert, ssl_keyfile=place.key, backlog=BACKLOG,
            )  # fmt: skip
            self._load(config)
        except BaseException:
            self.socket.close()
            raise
        self.server = Server(config, self.events)

    @staticmethod
    def _load(config: uvicorn.Config) -> None:
        try:
            config.load()
        except (ssl.SSLError, OSError) as error:
            raise ValueError(f"The certificate or its key cannot be used: {error}.") from None

    @property
    def port(self) -> int:
        return int(self.socket.getsockname()[1])

    @property
    def address(self) -> str:
        called = self.place.called
        host = f"[{called}]" if ":" in called else called
        return f"{self.place.scheme}://{host}:{self.port}/"

    def run(self) -> None:
        try:
            asyncio.run(self._run())
        finally:
            self.answers.close()
            self.desk.close()
            self.socket.close()

    async def _run(self) -> None:
        self.events.start(asyncio.get_running_loop())
        await self.server.serve([self.socket])


def listening(place: Place) -> socket.socket:
    """A socket at the place, so that its port is known before anything is said."""
    try:
        family, *_, address = socket.getaddrinfo(place.host, place.port, type=socket.SOCK_STREAM)[0]
        own = socket.socket(family, socket.SOCK_STREAM)
        try:
            own.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
            own.setsockopt(socket.SOL_SOCKET, socket.SO_SNDBUF, UNREAD)
            own.bind(address)
            own.listen(BACKLOG)  # who comes before the loop runs waits for it
        except BaseException:
            own.close()
            raise
        return own
    except OSError as error:
        raise ValueError(f"{place.host}:{place.port} cannot be listened at: {error.strerror}.") from None


def own_names(place: Place) -> Iterable[str]:
    """What this machine is called, where others can reach it."""
    if not place.for_others:
        return ()
    with suppress(OSError):
        name = socket.gethostname()
        return (place.host, name, f"{name}.local")
    return (place.host,)


def about(learner: Learner) -> dict[str, object]:
    """A row of models.json. `remote` tells the page that the learner is not in the browser."""
    assert learner.model is not None
    graph, taken = learner.model.graph, learner.strategy.footprint()
    return {
        "name": learner.model.name, "file": "", "bytes": learner.model.path.stat().st_size,
        "floatBytes": FLOAT_BYTES * total_parameters(graph), "remote": True, "side": learner.strategy.side,
        "strategy": learner.strategy.name, "isa": native.isa(),
        "work": taken.get("network_working_memory", 0) + taken.get("memory_to_make_it", 0),
    }  # fmt: skip
