"""What clients send, within limits: bodies, JSON, forms with pictures. Everything stays in memory, and no name that a
client sends is used as a path.
"""

from __future__ import annotations

import asyncio
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
from bitreplay.serve.limits import Limits, RequestError
from bitreplay.serve.picture_store import Picture

THUMBNAIL_SIDE = 96
DRAIN_FACTOR = 4  # a body of up to this many times the limit is read to its end
SMALL_BYTES, SMALL_PIXELS = 1 << 16, 1 << 14


class InMemoryParser(MultiPartParser):
    """Keeps a form's files in memory; the size of the body is limited before."""

    spool_max_size = 1 << 40


class Uploads:
    """All bodies that are being received share one limit, so that many clients cannot fill the memory."""

    def __init__(self, limits: Limits) -> None:
        self.limits = limits
        self._bytes = 0
        self._decoding = anyio.Semaphore(2)

    @asynccontextmanager
    async def body(self, request: Request, limit: int) -> AsyncIterator[bytes]:
        """The whole body, within the limits of time and bytes."""
        content = bytearray()
        try:
            await self._receive(request, limit, content)
            yield bytes(content)
        finally:
            self._bytes -= len(content)

    async def _receive(self, request: Request, limit: int, content: bytearray) -> None:
        """A body that is somewhat too long is read to its end and dropped: many clients read no response before."""
        claimed = request.headers.get("content-length", "0")
        if not claimed.isdecimal() or int(claimed) > DRAIN_FACTOR * limit:
            raise RequestError(413, f"At most {limit} bytes are accepted, got {claimed[:20]}.")
        size = 0
        try:
            with anyio.fail_after(self.limits.body_seconds):
                async for part in request.stream():
                    size += len(part)
                    if size > DRAIN_FACTOR * limit:
                        break
                    if size <= limit:
                        content += part
                        self._bytes += len(part)
                        if self._bytes > self.limits.all_bytes:
                            raise RequestError(429, "Too many bytes are being sent at the same time; try again later.")
        except TimeoutError:
            raise RequestError(408, f"The body did not arrive within {self.limits.body_seconds:g} seconds.") from None
        except ClientDisconnect:
            raise RequestError(400, "The body is incomplete.") from None
        if size > limit:
            raise RequestError(413, f"At most {limit} bytes are accepted, got more.")

    async def fields(self, request: Request, **kinds: type) -> list[Any]:
        """The values of a JSON object that has exactly these fields, each of its type."""
        if _content_type(request) != "application/json":
            raise RequestError(415, "Expected a JSON object with the content type application/json.")
        async with self.body(request, self.limits.text_bytes) as body:
            try:
                values = json.loads(body, object_pairs_hook=_unique)
            except (ValueError, RecursionError):
                raise RequestError(400, "The body is not JSON, or has a key twice.") from None
        fits = isinstance(values, dict) and set(values) == set(kinds)
        if not fits or any(type(values[name]) is not kind for name, kind in kinds.items()):
            names = " and ".join(f"{name} ({'text' if kind is str else 'an integer'})" for name, kind in kinds.items())
            raise RequestError(400, f"Expected a JSON object with {names or 'no fields'}.")
        return [values[name] for name in kinds]

    async def picture(self, request: Request, side: int) -> NDArray[np.uint8]:
        """The body as a picture at the network's size (side, side, 3)."""
        if not _content_type(request).startswith("image/"):
            raise RequestError(415, "Expected a picture with a content type such as image/jpeg.")
        async with self.body(request, self.limits.picture_bytes) as body:
            return await self._fit(body, "The picture", side)

    async def form(self, request: Request, side: int) -> tuple[str, list[Picture]]:
        """A form with one field `name`, files `picture`, and as many thumbnails in files `look`, or none."""
        if _content_type(request) != "multipart/form-data":
            raise RequestError(415, "Expected a form (multipart/form-data) with a name and pictures.")
        async with self.body(request, self.limits.request_bytes) as body:
            names, contents, thumbnails = await self._parts(request, body)
            if len(names) != 1:
                raise RequestError(400, f"Expected one field `name`, got {len(names)}.")
            if not 1 <= len(contents) <= self.limits.pictures:
                raise RequestError(
                    413 if contents else 400,
                    f"Expected 1 to {self.limits.pictures} files `picture`, got {len(contents)}.",
                )
            if thumbnails and len(thumbnails) != len(contents):
                counts = f"{len(thumbnails)} and {len(contents)}"
                raise RequestError(400, f"Expected as many files `look` as `picture`, got {counts}.")
            shown = thumbnails or contents
            reading = (self._read(f"Picture {k + 1}", contents[k], shown[k], side) for k in range(len(contents)))
            pictures = await asyncio.gather(*reading, return_exceptions=True)
            if errors := [each for each in pictures if isinstance(each, BaseException)]:
                raise errors[0]
            return names[0], [each for each in pictures if isinstance(each, Picture)]

    async def _read(self, title: str, content: bytes, shown: bytes, side: int) -> Picture:
        """Pictures of a form are read beside each other, as far as `_in_thread` lets them."""
        pixels = await self._fit(content, title, side)
        return Picture(pixels, await self._in_thread(_thumbnail, shown, title, self.limits))

    async def _parts(self, request: Request, body: bytes) -> tuple[list[str], list[bytes], list[bytes]]:
        async def chunks() -> AsyncGenerator[bytes, None]:
            yield body
            yield b""

        limits = self.limits
        try:
            form = await InMemoryParser(
                request.headers, chunks(), max_files=2 * limits.pictures, max_fields=1, max_part_size=limits.text_bytes
            ).parse()
        except MultiPartException as error:
            raise RequestError(400, f"The form cannot be read: {error.message}") from None
        except (ValueError, KeyError):
            raise RequestError(400, "The form cannot be read.") from None
        values: dict[str, list[Any]] = {"name": [], "picture": [], "look": []}
        try:
            for name, value in form.multi_items():
                if name not in values or isinstance(value, str) != (name == "name"):
                    raise RequestError(400, "Expected a field `name` and files `picture` and `look`, got another.")
                values[name].append(value if isinstance(value, str) else await value.read())
        finally:
            await form.close()
        return values["name"], values["picture"], values["look"]

    async def _fit(self, content: bytes, title: str, side: int) -> NDArray[np.uint8]:
        """A small picture, such as the page sends, is decoded at once: it does not wait for large ones."""
        if len(content) <= SMALL_BYTES and prod(_claimed_size(content, title)) <= SMALL_PIXELS:
            return fit_bytes(content, title, self.limits, side)
        return await self._in_thread(fit_bytes, content, title, self.limits, side)

    async def _in_thread(self, function: Any, *fields: Any) -> Any:
        """Decoders run in threads, two at a time: each may take a hundred megabytes."""
        async with self._decoding:
            return await anyio.to_thread.run_sync(function, *fields)


def fit_bytes(content: bytes, title: str, limits: Limits, side: int) -> NDArray[np.uint8]:
    return fitting.fit_pictures(_pixels(content, title, limits, side), side)[0]


def _thumbnail(content: bytes, title: str, limits: Limits) -> bytes:
    """Encoded anew from its pixels: nothing else of what was sent is stored."""
    square = Image.fromarray(center_square(_pixels(content, title, limits, THUMBNAIL_SIDE)))
    jpeg = io.BytesIO()
    square.resize((THUMBNAIL_SIDE, THUMBNAIL_SIDE)).save(jpeg, "JPEG", quality=80)
    return jpeg.getvalue()


def _pixels(content: bytes, title: str, limits: Limits, side: int) -> NDArray[np.uint8]:
    if len(content) > limits.picture_bytes:
        raise RequestError(413, f"{title} has {len(content)} bytes; at most {limits.picture_bytes} are accepted.")
    width, height = _claimed_size(content, title)
    if width * height > limits.pixels:
        raise RequestError(413, f"{title} is {width}x{height}; at most {limits.pixels} pixels are accepted.")
    try:
        return decode(content, title, side)
    except ValueError as error:
        raise RequestError(422, str(error)) from None


def _claimed_size(content: bytes, title: str) -> tuple[int, int]:
    """The size that a picture claims to have, before it is decoded."""
    try:
        format_of(content)
    except ValueError as error:
        raise RequestError(415, f"{title} is not a picture: {error}.") from None
    try:
        with open_picture(content, LARGEST_SIDE) as image:
            return image.size
    except Exception as error:  # a decoder may fail in any way on damaged bytes
        reason = " ".join(str(error).split()) or type(error).__name__
        raise RequestError(422, f"{title} cannot be read as a picture: {reason[:200].rstrip('.')}.") from None


def _content_type(request: Request) -> str:
    return request.headers.get("content-type", "").partition(";")[0].strip().lower()


def _unique(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    """Refuses duplicate keys: readers differ in which of two they use."""
    if len({key for key, _ in pairs}) != len(pairs):
        raise ValueError("duplicate key")
    return dict(pairs)
