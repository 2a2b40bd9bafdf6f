"""Servers on loopback that answer anything: each ends in one sentence, bounded, and nothing takes the target's name."""

import hashlib
import os
import socket
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from types import SimpleNamespace

import numpy as np
import pytest

from bitreplay.data import fetch as fetching
from bitreplay.data.fetch import Archive, fetch

CONTENT = np.random.default_rng(0).bytes(50_000)
MD5 = hashlib.md5(CONTENT).hexdigest()
MOST = 1 << 20
OK = b"HTTP/1.1 200 OK\r\n"


@contextmanager
def serving(*answers: bytes, endless: bytes = b"") -> Iterator[tuple[str, list[bytes]]]:
    """Answers connection after connection with the bytes given, the last for all that follow; then `endless`, again
    and again, until the client has gone. Yields the address and the requests."""
    requests: list[bytes] = []
    listener = socket.create_server(("127.0.0.1", 0))

    def serve() -> None:
        while True:
            try:
                connection, _ = listener.accept()
            except OSError:
                return
            with connection:
                try:
                    requests.append(connection.recv(1 << 16))
                    connection.sendall(answers[min(len(requests), len(answers)) - 1])
                    while endless:
                        connection.sendall(endless)
                except OSError:
                    continue

    thread = threading.Thread(target=serve, daemon=True)
    thread.start()
    yield f"http://127.0.0.1:{listener.getsockname()[1]}/set.zip", requests
    listener.close()


def length(count: object) -> bytes:
    return b"Content-Length: %s\r\n" % str(count).encode()


WHOLE = OK + length(len(CONTENT)) + b"\r\n" + CONTENT
BROKEN = {
    "nothing": b"",
    "noise": CONTENT,
    "no status": b"\r\n\r\n",
    "another protocol": b"SSH-2.0-OpenSSH_9.2\r\n",
    "a long status": b"HTTP/1.1 " + b"2" * 100_000,
    "a status of letters": b"HTTP/1.1 abc OK\r\n\r\n",
    "a long header": OK + b"A: " + b"b" * 100_000 + b"\r\n\r\n",
    "many headers": OK + b"A: b\r\n" * 500 + b"\r\n",
    "a cut body": OK + length(len(CONTENT) + 1) + b"\r\n" + CONTENT,
    "a cut chunk": OK + b"Transfer-Encoding: chunked\r\n\r\nffff\r\nabc",
    "chunks of letters": OK + b"Transfer-Encoding: chunked\r\n\r\nxyz\r\nabc\r\n",
    "a negative chunk": OK + b"Transfer-Encoding: chunked\r\n\r\n-5\r\nabc\r\n",
    "a long chunk size": OK + b"Transfer-Encoding: chunked\r\n\r\n" + b"f" * 100_000 + b"\r\n",
    "to no port": b"HTTP/1.1 302 Found\r\nLocation: http://127.0.0.1:999999/\r\n\r\n",
    "to a port of letters": b"HTTP/1.1 302 Found\r\nLocation: http://127.0.0.1:x/\r\n\r\n",
    "to no address": b"HTTP/1.1 302 Found\r\nLocation: http://[::1/\r\n\r\n",
    "to a file": b"HTTP/1.1 302 Found\r\nLocation: file:///etc/passwd\r\n\r\n",
    "to itself": b"HTTP/1.1 302 Found\r\nLocation: /set.zip\r\n\r\n",
    "with control signs": b"HTTP/1.1 302 Found\r\nLocation: http://127.0.0.1/\x01 \x7f\r\n\r\n",
    "not found": b"HTTP/1.1 404 Not\r\n\r\n",
    "nothing left of nothing": b"HTTP/1.1 416 Range\r\n\r\n",
}


@pytest.mark.parametrize("name", BROKEN)
def test_a_broken_answer_gives_a_sentence(tmp_path, name):
    with serving(BROKEN[name]) as (url, _), pytest.raises(OSError) as error:
        fetch(Archive(url, MD5, MOST), tmp_path)
    message = str(error.value)
    assert message.startswith(f"{url} could not be downloaded: ") and message.endswith(".") and "\n" not in message
    assert len(message) < 400 and {path.name for path in tmp_path.iterdir()} <= {"set.zip.part"}


@pytest.mark.parametrize("text", ["", "abc", "-5", "1e3", "50000, 50000", "0x10", "9" * 30, "٣", " ", "1.5"])
def test_an_odd_length_is_no_length(tmp_path, text):
    answer = OK + length("").replace(b"\r\n", text.encode() + b"\r\n") + b"\r\n" + CONTENT
    seen: list[tuple[int, int]] = []
    with serving(answer) as (url, _):
        path = fetch(Archive(url, MD5, MOST), tmp_path, lambda done, total: seen.append((done, total)))
    assert path.read_bytes() == CONTENT and seen[-1] == (len(CONTENT), 0)


@pytest.mark.parametrize("body", [b"\r\n", b"Transfer-Encoding: chunked\r\n\r\n"])
def test_an_endless_body_ends_at_the_most_that_the_archive_may_have(tmp_path, body):
    piece = b"10000\r\n" + b"x" * (1 << 16) + b"\r\n"
    with serving(OK + body, endless=piece) as (url, _):
        with pytest.raises(OSError, match=f"the server sends more than {MOST} bytes; nothing is kept"):
            fetch(Archive(url, MD5, MOST), tmp_path)
    assert list(tmp_path.iterdir()) == []


def test_a_length_beyond_the_archive_is_refused_at_once(tmp_path):
    with serving(OK + length(1 << 50) + b"\r\n" + CONTENT) as (url, _):
        with pytest.raises(OSError, match="the server sends more than 1048576 bytes; nothing is kept"):
            fetch(Archive(url, MD5, MOST), tmp_path)
    assert list(tmp_path.iterdir()) == []


def part(first: int, content: bytes = CONTENT, **header: int) -> bytes:
    begin = header.get("begin", first)
    about = b"Content-Range: bytes %d-%d/%d\r\n" % (begin, len(content) - 1, len(content))
    return b"HTTP/1.1 206 Partial\r\n" + about + length(len(content) - first) + b"\r\n" + content[first:]


def test_a_part_goes_on_where_it_stopped_and_another_part_is_refused(tmp_path):
    with serving(WHOLE[:-20_000], part(30_000, begin=7), part(30_000)) as (url, requests):
        archive = Archive(url, MD5, MOST)
        with pytest.raises(OSError, match="the connection ended after 30000 of 50000 bytes; the next try"):
            fetch(archive, tmp_path)
        with pytest.raises(OSError, match="the server did not resume at byte 30000; the next try resumes"):
            fetch(archive, tmp_path)
        assert (tmp_path / "set.zip.part").stat().st_size == 30_000
        assert fetch(archive, tmp_path).read_bytes() == CONTENT
    assert b"Range: bytes=30000-" in requests[1] and b"Range: bytes=30000-" in requests[2]


def test_a_server_that_begins_anew_replaces_what_was_there(tmp_path):
    (tmp_path / "set.zip.part").write_bytes(b"x" * 60_000)
    with serving(WHOLE) as (url, _):
        assert fetch(Archive(url, MD5, MOST), tmp_path).read_bytes() == CONTENT


@pytest.mark.parametrize("inside", ["kept", "nowhere"])
def test_a_link_in_place_of_the_part_is_not_followed(tmp_path, inside):
    (tmp_path / "kept").write_bytes(b"mine")
    folder = tmp_path / "in"
    folder.mkdir()
    (folder / "set.zip.part").symlink_to(tmp_path / inside)
    with serving(WHOLE) as (url, requests):
        with pytest.raises(ValueError, match="set.zip.part is in the way: it is a link, or cannot be written"):
            fetch(Archive(url, MD5, MOST), folder)
    assert (tmp_path / "kept").read_bytes() == b"mine" and not (tmp_path / "nowhere").exists() and requests == []


@pytest.mark.parametrize("make", [os.mkfifo, os.mkdir])
@pytest.mark.parametrize("name", ["set.zip.part", "set.zip"])
def test_what_is_no_file_is_in_the_way(tmp_path: Path, make, name):
    make(tmp_path / name)
    with serving(WHOLE) as (url, _), pytest.raises(ValueError, match=f"{name} is in the way: it is "):
        fetch(Archive(url, MD5, MOST), tmp_path)


def test_a_download_that_never_ends_is_given_up_and_goes_on_later(tmp_path, monkeypatch):
    """A clock that jumps: the server itself would send its bytes for hours."""
    ticks = iter(range(1000))
    half = OK + length(len(CONTENT)) + b"\r\n" + CONTENT[:20_000]
    rest = b"HTTP/1.1 206 Partial Content\r\n" + length(len(CONTENT) - 20_000) + b"\r\n" + CONTENT[20_000:]
    with serving(half, rest) as (url, requests):
        with monkeypatch.context() as patch:
            patch.setattr(fetching, "time", SimpleNamespace(monotonic=lambda: float(next(ticks))))
            with pytest.raises(OSError, match="the time limit was reached after [0-9]+ bytes; the next try resumes"):
                fetch(Archive(url, MD5, MOST), tmp_path, time_limit=1.5)
        partial_bytes = (tmp_path / "set.zip.part").stat().st_size
        assert 0 < partial_bytes <= 20_000 and not (tmp_path / "set.zip").exists()
        (tmp_path / "set.zip.part").write_bytes(CONTENT[:20_000])
        assert fetch(Archive(url, MD5, MOST), tmp_path).read_bytes() == CONTENT
        assert b"Range: bytes=20000-" in requests[1]
