"""What clients send, within limits: bodies, JSON, forms with pictures. Everything stays in memory, and no name that a
client gives, of a file or of anything else, is a path.
"""

from __future__ import annotations

import io
import json
from collections.abc import AsyncGenerator, AsyncIterator
from contextlib import asynccontextmanager
from math import prod
from typing import Any

import anyio
import numpy as np
from numpy.typing import NDArray
from PIL import Image
from starlette.formparsers import MultiPartException, MultiPartParser
from starlette.requests import ClientDisconnect, Request

from bitreplay.data.pictures import fitting
from bitreplay.data.pictures.formats import format_of, open_picture
from bitreplay.data.pictures.picture import decode
from bitreplay.data.pictures.resize import LARGEST_SIDE, center_square
from bitreplay.serve.album import Shown
from bitreplay.serve.limits import Limits, Refused

THUMBNAIL = 96
DRAINED = 4  # times what is taken
SMALL_BYTES, SMALL_PIXELS = 1 << 16, 1 << 14


class InMemory(MultiPartParser):
    """Files of a form; the body's size is limited before."""

    spool_max_size = 1 << 40


class Uploads:
    """Bodies that are being received have a limit together, so that many clients cannot fill the memory."""

    def __init__(self, limits: Limits) -> None:
        self.limits = limits
        self._bytes = 0
        self._decoding = anyio.Semaphore(2)

    @asynccontextmanager
    async def body(self, request: Request, most: int) -> AsyncIterator[bytes]:
        """All of it, within the time and the bytes that there are."""
        found = bytearray()
        try:
            await self._receive(request, most, found)
            yield bytes(found)
        finally:
            self._bytes -= len(found)

    async def _receive(self, request: Request, most: int, found: bytearray) -> None:
        """What is somewhat too long is read to its end and dropped: many clients read no answer before."""
        claimed = request.headers.get("content-length", "0")
        if not claimed.isdecimal() or int(claimed) > DRAINED * most:
            raise Refused(413, f"At most {most} bytes are taken, got {claimed[:20]}.")
        size = 0
        try:
            with anyio.fail_after(self.limits.body_seconds):
                async for part in request.stream():
                    size += len(part)
                    if size > DRAINED * most:
                        break
                    if size <= most:
                        found += part
                        self._bytes += len(part)
                        if self._bytes > self.limits.all_bytes:
                            raise Refused(429, "Too much is being sent at the same time; try again later.")
        except TimeoutError:
            raise Refused(408, f"The body was not there within {self.limits.body_seconds:g} seconds.") from None
        except ClientDisconnect:
            raise Refused(400, "The body ended before its end.") from None
        if size > most:
            raise Refused(413, f"At most {most} bytes are taken, got more.")

    async def words(self, request: Request, **kinds: type) -> list[Any]:
        """The values of a JSON object that has these names and no others, each of its kind."""
        if _kind(request) != "application/json":
            raise Refused(415, "Expected a JSON object with the content type application/json.")
        async with self.body(request, self.limits.text_bytes) as body:
            try:
                found = json.loads(body, object_pairs_hook=_unique)
            except (ValueError, RecursionError):
                raise Refused(400, "The body is not JSON, or a key stands twice in it.") from None
        fits = isinstance(found, dict) and set(found) == set(kinds)
        if not fits or any(type(found[name]) is not kind for name, kind in kinds.items()):
            names = " and ".join(
                f"{name} ({'text' if kind is str else 'a whole number'})" for name, kind in kinds.items()
            )
            raise Refused(400, f"Expected a JSON object with {names or 'nothing in it'}.")
        return [found[name] for name in kinds]

    async def picture(self, request: Request, side: int) -> NDArray[np.uint8]:
        """The body as a picture, as the network sees it: (side, side, 3)."""
        if not _kind(request).startswith("image/"):
            raise Refused(415, "Expected a picture with a content type such as image/jpeg.")
        async with self.body(request, self.limits.picture_bytes) as body:
            return await self._fitted(body, "The picture", side)

    async def form(self, request: Request, side: int) -> tuple[str, list[Shown]]:
        """A form with one `name`, files `picture`, and as many files `look` to look at, or none."""
        if _kind(request) != "multipart/form-data":
            raise Refused(415, "Expected a form (multipart/form-data) with a name and pictures.")
        async with self.body(request, self.limits.request_bytes) as body:
            names, pictures, looks = await self._parts(request, body)
            if len(names) != 1:
                raise Refused(400, f"Expected one field name, got {len(names)}.")
            if not 1 <= len(pictures) <= self.limits.pictures:
                raise Refused(
                    413 if pictures else 400,
                    f"Expected 1 to {self.limits.pictures} files picture, got {len(pictures)}.",
                )
            if looks and len(looks) != len(pictures):
                raise Refused(400, f"Expected as many files look as pictures, got {len(looks)} and {len(pictures)}.")
            shown = []
            for k, content in enumerate(pictures):
                fitted = await self._fitted(content, f"Picture {k + 1}", side)
                look = await self._limited(_thumbnail, looks[k] if looks else content, f"Picture {k + 1}", self.limits)
                shown.append(Shown(fitted, look))
            return names[0], shown

    async def _parts(self, request: Request, body: bytes) -> tuple[list[str], list[bytes], list[bytes]]:
        async def whole() -> AsyncGenerator[bytes, None]:
            yield body
            yield b""

        limits = self.limits
        try:
            form = await InMemory(
                request.headers, whole(), max_files=2 * limits.pictures, max_fields=1, max_part_size=limits.text_bytes
            ).parse()
        except MultiPartException as error:
            raise Refused(400, f"The form cannot be read: {error.message}") from None
        except (ValueError, KeyError):
            raise Refused(400, "The form cannot be read.") from None
        found: dict[str, list[Any]] = {"name": [], "picture": [], "look": []}
        try:
            for name, value in form.multi_items():
                if name not in found or isinstance(value, str) != (name == "name"):
                    raise Refused(400, "Expected a field name and files picture and look, got something else.")
                found[name].append(value if isinstance(value, str) else await value.read())
        finally:
            await form.close()
        return found["name"], found["picture"], found["look"]

    async def _fitted(self, content: bytes, title: str, side: int) -> NDArray[np.uint8]:
        """A small picture, such as the page sends, is done at once: it waits for no large one."""
        if len(content) <= SMALL_BYTES and prod(_claimed(content, title)) <= SMALL_PIXELS:
            return fitted(content, title, self.limits, side)
        return await self._limited(fitted, content, title, self.limits, side)

    async def _limited(self, act: Any, *words: Any) -> Any:
        """Decoders work away from the loop, two at a time: each may take a hundred megabytes."""
        async with self._decoding:
            return await anyio.to_thread.run_sync(act, *words)


def fitted(content: bytes, title: str, limits: Limits, side: int) -> NDArray[np.uint8]:
    return fitting.fit_pictures(_pixels(content, title, limits, side), side)[0]


def _thumbnail(content: bytes, title: str, limits: Limits) -> bytes:
    """Made anew from its pixels: nothing else of what was sent is kept."""
    square = Image.fromarray(center_square(_pixels(content, title, limits, THUMBNAIL)))
    made = io.BytesIO()
    square.resize((THUMBNAIL, THUMBNAIL)).save(made, "JPEG", quality=80)
    return made.getvalue()


def _pixels(content: bytes, title: str, limits: Limits, side: int) -> NDArray[np.uint8]:
    if len(content) > limits.picture_bytes:
        raise Refused(413, f"{title} has {len(content)} bytes; at most {limits.picture_bytes} are taken.")
    width, height = _claimed(content, title)
    if width * height > limits.pixels:
        raise Refused(413, f"{title} is {width}x{height}; at most {limits.pixels} pixels are taken.")
    try:
        return decode(content, title, side)
    except ValueError as error:
        raise Refused(422, str(error)) from None


def _claimed(content: bytes, title: str) -> tuple[int, int]:
    """The sides that a picture says it has; nothing is decoded yet."""
    try:
        format_of(content)
    except ValueError as error:
        raise Refused(415, f"{title} is no picture: {error}.") from None
    try:
        with open_picture(content, LARGEST_SIDE) as image:
            return image.size
    except Exception as error:  # a decoder may fail in any way on damaged bytes
        why = " ".join(str(error).split()) or type(error).__name__
        raise Refused(422, f"{title} cannot be read as a picture: {why[:200].rstrip('.')}.") from None


def _kind(request: Request) -> str:
    return request.headers.get("content-type", "").partition(";")[0].strip().lower()


def _unique(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    """Readers differ in which of two they take."""
    if len({key for key, _ in pairs}) != len(pairs):
        raise ValueError("a key stands twice")
    return dict(pairs)
