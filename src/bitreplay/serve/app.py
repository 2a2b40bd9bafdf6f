"""Addresses and what they do. Answers are JSON; what is refused has a status of 4xx and {"error": a sentence}.

GET   /, /main.js, ...          the page's files
GET   /models.json              the one network that is served here
GET   /api/now                  all that is seen: classes, pictures, steps, the state's hash
GET   /api/events               server-sent: the number of each turn, progress of learning
GET   /api/pictures/N           a thumbnail
GET   /api/state                the state file
POST  /api/predict              a picture; the likeliest classes
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

from bitreplay.serve.answering import Answers
from bitreplay.serve.events import Events
from bitreplay.serve.files import File
from bitreplay.serve.keys import Keys
from bitreplay.serve.learner_service import LearnerService
from bitreplay.serve.limits import Limits, Refused
from bitreplay.serve.uploads import Uploads
from bitreplay.serve.view import View

STATUSES = {404: "There is nothing at this address.", 405: "This address does not take that method."}
PART = 1 << 16  # of a state that is given out: so much waits for a slow reader
ENTERED = """<!doctype html><html lang="en"><head><meta charset="utf-8"><title>bitreplay</title>
<link rel="icon" href="icon.svg"><meta http-equiv="refresh" content="0; url=./"></head><body><p>{}</p></body></html>"""


class App:
    """The routes over their parts; `made` is what a server runs."""

    def __init__(
        self,
        desk: LearnerService,
        answers: Answers,
        events: Events,
        files: dict[str, File],
        limits: Limits,
        keys: Keys | None,
    ) -> None:
        self.desk, self.answers, self.events, self.files, self.keys = desk, answers, events, files, keys
        self.limits, self.uploads = limits, Uploads(limits)
        self.side = desk.learner.strategy.side

    def made(self) -> Starlette:
        posts: dict[str, Callable[[Request], Awaitable[Response]]] = {
            "predict": self.predict, "learn": self.learn, "forget": self.forget,
            "forget-picture": self.forget_picture, "rename": self.rename, "merge-classes": self.merge_classes,
            "undo": self.undo, "clear": self.clear, "open": self.open, "merge": self.merge, "link": self.link,
        }  # fmt: skip
        gets: dict[str, Callable[[Request], Awaitable[Response]]] = {
            "now": self.now, "events": self.told, "state": self.state, "pictures/{id:int}": self.thumbnail,
        }  # fmt: skip
        routes = [Route(f"/api/{path}", act, methods=["POST"]) for path, act in posts.items()]
        routes += [Route(f"/api/{path}", act, methods=["GET"]) for path, act in gets.items()]
        routes += [Route("/enter", self.enter, methods=["GET"])]
        routes += [Route(path, self.file, methods=["GET"]) for path in self.files]
        refusals: dict[Any, Any] = {
            Refused: _refused, HTTPException: _http, ValueError: _not_taken, sqlite3.Error: _not_kept,
            Exception: _failed,
        }  # fmt: skip
        made = Starlette(routes=routes, exception_handlers=refusals)
        made.router.redirect_slashes = False
        return made

    # what is seen

    async def file(self, request: Request) -> Response:
        found = self.files[request.scope["path"]]
        headers = {"ETag": found.tag, "Cache-Control": "no-cache"}
        if request.headers.get("if-none-match") == found.tag:
            return Response(None, 304, headers)
        return Response(found.content, 200, headers, found.kind)

    async def now(self, request: Request) -> Response:
        return _json(self.desk.view.body)

    async def told(self, request: Request) -> Response:
        return StreamingResponse(self.events.stream(self.desk.view.turn), media_type="text/event-stream")

    async def thumbnail(self, request: Request) -> Response:
        id = request.path_params["id"]
        found = await anyio.to_thread.run_sync(self.desk.album.thumbnail, id) if id < 1 << 62 else None
        if found is None:
            raise Refused(404, f"There is no picture {str(id)[:20]}.")
        return Response(found, 200, {"Cache-Control": "private, max-age=31536000, immutable"}, "image/jpeg")

    async def state(self, request: Request) -> Response:
        content = await anyio.to_thread.run_sync(self.desk.state.read_bytes)
        parts = (content[start : start + PART] for start in range(0, len(content), PART))
        headers = {"Content-Length": str(len(content))}
        return StreamingResponse(_each(parts), 200, headers, "application/octet-stream")

    async def predict(self, request: Request) -> Response:
        pixels = await self.uploads.picture(request, self.side)
        return _json(json.dumps(await self.answers.ask(pixels)).encode())  # in ASCII: any name can be sent

    # changes: answered with all that is seen then

    async def learn(self, request: Request) -> Response:
        name, shown = await self.uploads.form(request, self.side)
        start = time.perf_counter()
        view = await self.desk.turn(self.desk.learn, name, shown)
        return _json(view.body, {"Server-Timing": f"learn;dur={1000 * (time.perf_counter() - start):.1f}"})

    async def forget(self, request: Request) -> Response:
        return await self._turn(self.desk.forget, *await self.uploads.words(request, name=str))

    async def forget_picture(self, request: Request) -> Response:
        return await self._turn(self.desk.forget_picture, *await self.uploads.words(request, id=int))

    async def rename(self, request: Request) -> Response:
        return await self._turn(self.desk.rename, *await self.uploads.words(request, old=str, new=str))

    async def merge_classes(self, request: Request) -> Response:
        return await self._turn(self.desk.merge_classes, *await self.uploads.words(request, old=str, new=str))

    async def undo(self, request: Request) -> Response:
        return await self._turn(self.desk.undo, *await self.uploads.words(request, turn=int))

    async def clear(self, request: Request) -> Response:
        return await self._turn(self.desk.clear, *await self.uploads.words(request))

    async def open(self, request: Request) -> Response:
        return await self._with_state(request, self.desk.open)

    async def merge(self, request: Request) -> Response:
        return await self._with_state(request, self.desk.merge)

    async def _with_state(self, request: Request, act: Callable[[bytes], View]) -> Response:
        if request.headers.get("content-type") != "application/octet-stream":
            raise Refused(415, "Expected a state file with the content type application/octet-stream.")
        async with self.uploads.body(request, self.limits.state_bytes) as body:
            return await self._turn(act, body)

    async def _turn(self, act: Callable[..., View], *words: Any) -> Response:
        return _json((await self.desk.turn(act, *words)).body)

    # who may look

    async def link(self, request: Request) -> Response:
        await self.uploads.words(request)
        if self.keys is None:
            raise Refused(409, "No link is needed: this server is for this machine alone.")
        return JSONResponse({"path": f"enter?key={self.keys.link()}"})

    async def enter(self, request: Request) -> Response:
        """The cookie with a page that goes on to the next: after a redirect from elsewhere, browsers do not send a
        strict cookie yet."""
        if self.keys is None or not self.keys.opens(request.query_params.get("key", "")):
            raise Refused(401, "This link is used up, or too old. Ask for another one.")
        headers = {"Set-Cookie": self.keys.set_cookie(request.url.scheme == "https")}
        return Response(ENTERED.format(html.escape("You may look.")), 200, headers, "text/html; charset=utf-8")


async def _each(parts: Iterator[bytes]) -> AsyncIterator[bytes]:
    for part in parts:
        yield part


def _json(body: bytes, headers: dict[str, str] | None = None) -> Response:
    return Response(body, 200, headers, "application/json")


def _sentence(status: int, sentence: str) -> Response:
    return Response(json.dumps({"error": sentence}).encode(), status, media_type="application/json")


async def _refused(request: Request, error: Exception) -> Response:
    """A body that was not read to its end would be taken for the next request: the connection ends."""
    assert isinstance(error, Refused)
    answer = _sentence(error.status, error.sentence)
    if request.method not in ("GET", "HEAD"):
        answer.headers["Connection"] = "close"
    return answer


async def _http(request: Request, error: Exception) -> Response:
    assert isinstance(error, HTTPException)
    answer = _sentence(error.status_code, STATUSES.get(error.status_code, str(error.detail)))
    answer.headers.update(error.headers or {})
    return answer


async def _not_taken(request: Request, error: Exception) -> Response:
    """What the learner says to a change that it does not take."""
    return _sentence(422, str(error)[:500])


async def _not_kept(request: Request, error: Exception) -> Response:
    return _sentence(507, f"Nothing was changed: the pictures cannot be kept ({error}).")


async def _failed(request: Request, error: Exception) -> Response:
    return _sentence(500, "Something went wrong in the server; nothing was changed.")
