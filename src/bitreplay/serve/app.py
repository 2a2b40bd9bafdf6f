"""Routes. Responses are JSON; an error has a status of 4xx or 5xx and {"error": a sentence}.

GET   /, /main.js, ...          the page's files
GET   /models.json              the network that is served
GET   /api/now                  the view: classes, pictures, steps, the state's hash
GET   /api/events               server-sent events: the number of each turn, progress of learning
GET   /api/pictures/N           a thumbnail
GET   /api/state                the state file
POST  /api/predict              a picture; returns the most likely classes
POST  /api/learn                a form with a name and pictures
POST  /api/forget, forget-picture, rename, merge-classes, undo, clear    JSON
POST  /api/open, /api/merge     a state file
POST  /api/link                 a link that works once, for another browser
GET   /enter?key=...            that link
"""

from __future__ import annotations

import html
import json
import sqlite3
import time
from collections.abc import AsyncIterator, Awaitable, Callable, Iterator
from typing import Any

import anyio
from starlette.applications import Starlette
from starlette.exceptions import HTTPException
from starlette.requests import Request
from starlette.responses import JSONResponse, Response, StreamingResponse
from starlette.routing import Route

from bitreplay.serve.events import Events
from bitreplay.serve.files import File
from bitreplay.serve.keys import Keys
from bitreplay.serve.learner_service import LearnerService
from bitreplay.serve.limits import Limits, RequestError
from bitreplay.serve.prediction_queue import PredictionQueue
from bitreplay.serve.uploads import Uploads
from bitreplay.serve.view import View

STATUSES = {404: "There is nothing at this address.", 405: "This address does not support that method."}
CHUNK = 1 << 16  # bytes of a state that wait for a slow reader
ENTERED = """<!doctype html><html lang="en"><head><meta charset="utf-8"><title>bitreplay</title>
<link rel="icon" href="icon.svg"><meta http-equiv="refresh" content="0; url=./"></head><body><p>{}</p></body></html>"""


class App:
    """The routes and what they need; `build` makes the application."""

    def __init__(
        self,
        service: LearnerService,
        predictions: PredictionQueue,
        events: Events,
        files: dict[str, File],
        limits: Limits,
        keys: Keys | None,
    ) -> None:
        self.service, self.predictions, self.events, self.files, self.keys = service, predictions, events, files, keys
        self.limits, self.uploads = limits, Uploads(limits)
        self.side = service.learner.strategy.side

    def build(self) -> Starlette:
        posts: dict[str, Callable[[Request], Awaitable[Response]]] = {
            "predict": self.predict, "learn": self.learn, "forget": self.forget,
            "forget-picture": self.forget_picture, "rename": self.rename, "merge-classes": self.merge_classes,
            "undo": self.undo, "clear": self.clear, "open": self.open, "merge": self.merge, "link": self.link,
        }  # fmt: skip
        gets: dict[str, Callable[[Request], Awaitable[Response]]] = {
            "now": self.now, "events": self.event_stream, "state": self.state, "pictures/{id:int}": self.thumbnail,
        }  # fmt: skip
        routes = [Route(f"/api/{path}", change, methods=["POST"]) for path, change in posts.items()]
        routes += [Route(f"/api/{path}", change, methods=["GET"]) for path, change in gets.items()]
        routes += [Route("/enter", self.enter, methods=["GET"])]
        routes += [Route(path, self.file, methods=["GET"]) for path in self.files]
        handlers: dict[Any, Any] = {
            RequestError: _request_error, HTTPException: _http_error, ValueError: _invalid, sqlite3.Error: _not_stored,
            Exception: _server_error,
        }  # fmt: skip
        application = Starlette(routes=routes, exception_handlers=handlers)
        application.router.redirect_slashes = False
        return application

    # reading

    async def file(self, request: Request) -> Response:
        file = self.files[request.scope["path"]]
        headers = {"ETag": file.etag, "Cache-Control": "no-cache"}
        if request.headers.get("if-none-match") == file.etag:
            return Response(None, 304, headers)
        return Response(file.content, 200, headers, file.content_type)

    async def now(self, request: Request) -> Response:
        return _json(self.service.view.body)

    async def event_stream(self, request: Request) -> Response:
        return StreamingResponse(self.events.stream(self.service.view.turn), media_type="text/event-stream")

    async def thumbnail(self, request: Request) -> Response:
        id = request.path_params["id"]
        jpeg = await anyio.to_thread.run_sync(self.service.store.thumbnail, id) if id < 1 << 62 else None
        if jpeg is None:
            raise RequestError(404, f"There is no picture {str(id)[:20]}.")
        return Response(jpeg, 200, {"Cache-Control": "private, max-age=31536000, immutable"}, "image/jpeg")

    async def state(self, request: Request) -> Response:
        content = await anyio.to_thread.run_sync(self.service.state.read_bytes)
        parts = (content[start : start + CHUNK] for start in range(0, len(content), CHUNK))
        headers = {"Content-Length": str(len(content))}
        return StreamingResponse(_iterate(parts), 200, headers, "application/octet-stream")

    async def predict(self, request: Request) -> Response:
        pixels = await self.uploads.picture(request, self.side)
        return _json(
            json.dumps(await self.predictions.predict(pixels)).encode()
        )  # in ASCII, so that any name can be sent

    # changes; each returns the view after it

    async def learn(self, request: Request) -> Response:
        name, pictures = await self.uploads.form(request, self.side)
        start = time.perf_counter()
        view = await self.service.turn(self.service.learn, name, pictures)
        return _json(view.body, {"Server-Timing": f"learn;dur={1000 * (time.perf_counter() - start):.1f}"})

    async def forget(self, request: Request) -> Response:
        return await self._turn(self.service.forget, *await self.uploads.fields(request, name=str))

    async def forget_picture(self, request: Request) -> Response:
        return await self._turn(self.service.forget_picture, *await self.uploads.fields(request, id=int))

    async def rename(self, request: Request) -> Response:
        return await self._turn(self.service.rename, *await self.uploads.fields(request, old=str, new=str))

    async def merge_classes(self, request: Request) -> Response:
        return await self._turn(self.service.merge_classes, *await self.uploads.fields(request, old=str, new=str))

    async def undo(self, request: Request) -> Response:
        return await self._turn(self.service.undo, *await self.uploads.fields(request, turn=int))

    async def clear(self, request: Request) -> Response:
        return await self._turn(self.service.clear, *await self.uploads.fields(request))

    async def open(self, request: Request) -> Response:
        return await self._with_state(request, self.service.open)

    async def merge(self, request: Request) -> Response:
        return await self._with_state(request, self.service.merge)

    async def _with_state(self, request: Request, change: Callable[[bytes], View]) -> Response:
        if request.headers.get("content-type") != "application/octet-stream":
            raise RequestError(415, "Expected a state file with the content type application/octet-stream.")
        async with self.uploads.body(request, self.limits.state_bytes) as body:
            return await self._turn(change, body)

    async def _turn(self, change: Callable[..., View], *arguments: Any) -> Response:
        return _json((await self.service.turn(change, *arguments)).body)

    # access

    async def link(self, request: Request) -> Response:
        await self.uploads.fields(request)
        if self.keys is None:
            raise RequestError(409, "No link is needed: only this machine can reach this server.")
        return JSONResponse({"path": f"enter?key={self.keys.link()}"})

    async def enter(self, request: Request) -> Response:
        """Sets the cookie with a page that refreshes: after a redirect from another site, browsers would not send a
        strict cookie."""
        if self.keys is None or not self.keys.redeem(request.query_params.get("key", "")):
            raise RequestError(401, "This link was used before or has expired. Ask for another one.")
        headers = {"Set-Cookie": self.keys.set_cookie(request.url.scheme == "https")}
        return Response(ENTERED.format(html.escape("Access granted.")), 200, headers, "text/html; charset=utf-8")


async def _iterate(parts: Iterator[bytes]) -> AsyncIterator[bytes]:
    for part in parts:
        yield part


def _json(body: bytes, headers: dict[str, str] | None = None) -> Response:
    return Response(body, 200, headers, "application/json")


def _error(status: int, message: str) -> Response:
    return Response(json.dumps({"error": message}).encode(), status, media_type="application/json")


async def _request_error(request: Request, error: Exception) -> Response:
    """Closes the connection after a change: the rest of an unread body would be parsed as the next request."""
    assert isinstance(error, RequestError)
    response = _error(error.status, error.message)
    if request.method not in ("GET", "HEAD"):
        response.headers["Connection"] = "close"
    return response


async def _http_error(request: Request, error: Exception) -> Response:
    assert isinstance(error, HTTPException)
    response = _error(error.status_code, STATUSES.get(error.status_code, str(error.detail)))
    response.headers.update(error.headers or {})
    return response


async def _invalid(request: Request, error: Exception) -> Response:
    """The learner's error for a change that it refuses."""
    return _error(422, str(error)[:500])


async def _not_stored(request: Request, error: Exception) -> Response:
    return _error(507, f"Nothing was changed: the pictures cannot be stored ({error}).")


async def _server_error(request: Request, error: Exception) -> Response:
    return _error(500, "Something went wrong in the server; nothing was changed.")
