"""The server, assembled and run until it is stopped.

SIGTERM, Ctrl-C   no new connections; the current change is finished or undone; streams end; the lock is released
kill -9           learner_service.py says what is on the disk then
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
from bitreplay.engine.machine_pool import max_concurrent_runs
from bitreplay.engine.parameter_counts import total_parameters
from bitreplay.learner import Learner
from bitreplay.serve.app import App
from bitreplay.serve.events import Events
from bitreplay.serve.files import make_file, page_files
from bitreplay.serve.guard import Guard
from bitreplay.serve.keys import Keys
from bitreplay.serve.learner_service import LearnerService
from bitreplay.serve.limits import Limits
from bitreplay.serve.prediction_queue import PredictionQueue
from bitreplay.serve.timeout_protocol import protocol
from bitreplay.statefile import Lock

FLOAT_BYTES = 4
SHUTDOWN_SECONDS = 10
BACKLOG = 256
SEND_BUFFER = 1 << 17  # bytes of a response that the system keeps for a client that does not read


@dataclass(frozen=True)
class Endpoint:
    """Where to listen. A public address needs keys."""

    host: str = "127.0.0.1"
    port: int = 8421
    names: tuple[str, ...] = ()
    cert: Path | None = None
    key: Path | None = None
    limits: Limits = field(default_factory=Limits)

    @property
    def is_public(self) -> bool:
        """Whether other machines can connect."""
        if self.host == "localhost":
            return False
        try:
            return not ipaddress.ip_address(self.host).is_loopback
        except ValueError:
            return True

    @property
    def is_wildcard(self) -> bool:
        """Whether the host stands for all addresses of the machine, so that a browser cannot use it."""
        with suppress(ValueError):
            return ipaddress.ip_address(self.host).is_unspecified
        return False

    @property
    def public_name(self) -> str:
        """The name that browsers use."""
        if self.names or not self.is_wildcard:
            return next(iter(self.names), self.host)
        name = socket.gethostname()
        return name if "." in name else f"{name}.local"

    @property
    def scheme(self) -> str:
        return "http" if self.cert is None else "https"


class _UvicornServer(uvicorn.Server):
    """Ends streams of events with the first signal; uvicorn would wait for their clients."""

    def __init__(self, config: uvicorn.Config, events: Events) -> None:
        super().__init__(config)
        self._events = events

    @contextmanager
    def capture_signals(self) -> Iterator[None]:
        """uvicorn would raise them again when it returns, before we have closed."""
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
        self.stop()

    def stop(self) -> None:
        self.should_exit = True
        self._events.close()


class LearnerServer:
    """Serves a learner and its state at an endpoint. `run` returns when the server has stopped."""

    def __init__(self, learner: Learner, state: Path, lock: Lock, endpoint: Endpoint, keys: Keys | None) -> None:
        if endpoint.is_public and keys is None:
            raise ValueError(f"{endpoint.host} can be reached by others; a token is needed.")
        self.endpoint, limits = endpoint, endpoint.limits
        self.socket = listen(endpoint)
        try:
            self.events = Events(limits.viewers)
            self.service = LearnerService(learner, state, lock, limits, self.events.publish)
            self.predictions = PredictionQueue(learner, lambda: self.service.view, limits, max_concurrent_runs())
            files = page_files() | {"/models.json": make_file(json.dumps([model_row(learner)]).encode(), ".json")}
            app = App(self.service, self.predictions, self.events, files, limits, keys).build()
            config = uvicorn.Config(
                Guard(app, (*endpoint.names, *host_names(endpoint)), keys),
                http=protocol(limits), ws="none", lifespan="off", log_config=None, log_level="error", access_log=False,
                server_header=False, proxy_headers=False, timeout_keep_alive=int(limits.idle_seconds),
                timeout_graceful_shutdown=SHUTDOWN_SECONDS, h11_max_incomplete_event_size=1 << 14,
                ssl_certfile=endpoint.cert, ssl_keyfile=endpoint.key, backlog=BACKLOG,
            )  # fmt: skip
            self._load_config(config)
        except BaseException:
            self.socket.close()
            raise
        self.server = _UvicornServer(config, self.events)

    @staticmethod
    def _load_config(config: uvicorn.Config) -> None:
        try:
            config.load()
        except (ssl.SSLError, OSError) as error:
            raise ValueError(f"The certificate or its key cannot be used: {error}.") from None

    @property
    def port(self) -> int:
        return int(self.socket.getsockname()[1])

    @property
    def address(self) -> str:
        public_name = self.endpoint.public_name
        host = f"[{public_name}]" if ":" in public_name else public_name
        return f"{self.endpoint.scheme}://{host}:{self.port}/"

    def run(self) -> None:
        try:
            asyncio.run(self._run())
        finally:
            self.predictions.close()
            self.service.close()
            self.socket.close()

    async def _run(self) -> None:
        self.events.start(asyncio.get_running_loop())
        await self.server.serve([self.socket])


def listen(endpoint: Endpoint) -> socket.socket:
    """A listening socket, so that the port is known before the address is printed."""
    try:
        family, *_, address = socket.getaddrinfo(endpoint.host, endpoint.port, type=socket.SOCK_STREAM)[0]
        listener = socket.socket(family, socket.SOCK_STREAM)
        try:
            listener.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
            listener.setsockopt(socket.SOL_SOCKET, socket.SO_SNDBUF, SEND_BUFFER)
            listener.bind(address)
            listener.listen(BACKLOG)  # clients wait until the loop runs
        except BaseException:
            listener.close()
            raise
        return listener
    except OSError as error:
        raise ValueError(f"Cannot listen on {endpoint.host}:{endpoint.port}: {error.strerror}.") from None


def host_names(endpoint: Endpoint) -> Iterable[str]:
    """This machine's names if others can reach it."""
    if not endpoint.is_public:
        return ()
    with suppress(OSError):
        name = socket.gethostname()
        return (endpoint.host, name, f"{name}.local")
    return (endpoint.host,)


def model_row(learner: Learner) -> dict[str, object]:
    """A row of models.json. `remote`: the learner is not in the browser."""
    assert learner.model is not None
    graph, footprint = learner.model.graph, learner.strategy.footprint()
    return {
        "name": learner.model.name, "file": "", "bytes": learner.model.path.stat().st_size,
        "floatBytes": FLOAT_BYTES * total_parameters(graph), "remote": True, "side": learner.strategy.side,
        "strategy": learner.strategy.name, "isa": native.isa(),
        "work": footprint.get("network_working_memory", 0) + footprint.get("memory_to_make_it", 0),
    }  # fmt: skip
