"""Requests that mean harm. Each is answered with 4xx and a sentence, or its connection is closed; afterwards the state
is the same, the folder has the same files, and the server answers.
"""

from __future__ import annotations

import json
import random
import select
import socket
import struct
import time
import zlib
from dataclasses import replace

import numpy as np
import pytest

from bitreplay import Learner
from bitreplay.serve.limits import Limits
from tests import tiny
from tests.serve.serving import BOUNDARY, JSON, as_file, colours, form, served
from tests.statefile.edited import edited

FORM = {"Content-Type": f"multipart/form-data; boundary={BOUNDARY}"}
IMAGE = {"Content-Type": "image/png"}
LIMITS = Limits(
    picture_bytes=100_000, request_bytes=300_000, state_bytes=200_000, all_bytes=1_000_000, pictures=20, pixels=1 << 20,
    stored_pictures=40, classes=3, viewers=2, connections=40, of_one_address=30, header_seconds=1.0, body_seconds=1.0,
    reading_seconds=1.0, idle_seconds=5.0,
)  # fmt: skip


@pytest.fixture(scope="module")
def server(tmp_path_factory):
    folder = tmp_path_factory.mktemp("hostile")
    with served(folder / "a.state", limits=LIMITS) as client:
        for name, pictures in colours("red", "green", each=10).items():
            assert client.learn(name, list(pictures)).status == 200
        yield client, folder


def seen(client) -> dict:
    """Without what a change that was taken back leaves."""
    return {name: value for name, value in client.now().items() if name not in ("turn", "undo")}


@pytest.fixture
def client(server):
    """What must hold after every request of this file."""
    own, folder = server
    before, files = seen(own), sorted(path.name for path in folder.iterdir())
    yield own
    assert seen(own) == before
    assert sorted(path.name for path in folder.iterdir()) == files
    assert own.predict(colours("red", each=1)["red"][0]).json()["answers"][0]["name"] == "red"


def refused(answer, *statuses: int) -> str:
    assert answer.status in (statuses or range(400, 500)), (answer.status, answer.body[:200])
    return answer.error


def png(width: int, height: int, rows: bytes | None = None, depth: int = 8, colour: int = 2) -> bytes:
    """A PNG that claims these sides, whatever its rows are."""

    def chunk(kind: bytes, data: bytes) -> bytes:
        return struct.pack(">I", len(data)) + kind + data + struct.pack(">I", zlib.crc32(kind + data))

    head = struct.pack(">IIBBBBB", width, height, depth, colour, 0, 0, 0)
    body = zlib.compress(rows if rows is not None else b"\0" * 100, 9)
    return b"\x89PNG\r\n\x1a\n" + chunk(b"IHDR", head) + chunk(b"IDAT", body) + chunk(b"IEND", b"")


PICTURE = np.random.default_rng(0).integers(0, 256, (40, 40, 3), dtype=np.uint8)
NO_PICTURES = {
    "nothing": b"",
    "text": b"hello",
    "html": b"<html><script>alert(1)</script></html>",
    "svg": b'<svg xmlns="http://www.w3.org/2000/svg"><script>alert(1)</script></svg>',
    "pdf": b"%PDF-1.7\n",
    "zip": b"PK\x03\x04" + bytes(100),
    "postscript": b"%!PS-Adobe-3.0 EPSF-3.0\n%%BoundingBox: 0 0 9 9\n",
    "program": b"\x7fELF" + bytes(100),
    "pickle": b"\x80\x04\x95" + bytes(20),
    "zeros": bytes(1000),
    "signature alone": b"\x89PNG\r\n\x1a\n",
    "jpeg's first bytes": b"\xff\xd8\xff\xe0",
    "no pixels": png(0, 0),
    "no height": png(9, 0),
    "sides above all": png(1 << 31, 1 << 31),
    "wide": png(1 << 20, 1),
    "many pixels": png(16_000, 16_000, bytes(16_001) * 1600, 8, 0),
    "a bomb": png(4_000, 4_000, bytes(12_001 * 4_000)),
    "a grey bomb of bits": png(16_384, 16_384, bytes(2_049) * 16_384, 1, 0),
    "too few rows": png(900, 900),
    "16 bits a colour": png(1_100, 1_100, bytes(6_601 * 1_100), 16, 2),
    "bmp of many pixels": b"BM" + struct.pack("<IIIIiiHHI20x", 99, 0, 54, 40, 50_000, 50_000, 1, 24, 0),
    "gif of many pixels": b"GIF89a" + struct.pack("<HH", 65_535, 65_535) + bytes(20),
} | {
    f"half a {kind}": as_file(PICTURE, kind)[: len(as_file(PICTURE, kind)) // 2]
    for kind in ("PNG", "JPEG", "WEBP", "BMP", "GIF", "TIFF")
}  # fmt: skip


@pytest.mark.parametrize("name", NO_PICTURES)
def test_what_is_no_picture_is_neither_answered_nor_learned(client, name):
    content = NO_PICTURES[name]
    assert len(content) <= LIMITS.picture_bytes
    refused(client.predict(content), 413, 415, 422)
    refused(client.learn("red", [content]), 413, 415, 422)
    refused(client.learn("red", [PICTURE, content]), 413, 415, 422)
    body = form(("name", None, b"red"), ("picture", "a", as_file(PICTURE)), ("look", "a", content))
    refused(client.ask("POST", "/api/learn", body, FORM), 413, 415, 422)


def test_sizes_and_counts_are_limited(client):
    big = as_file(np.random.default_rng(0).integers(0, 256, (250, 250, 3), dtype=np.uint8))
    assert len(big) > LIMITS.picture_bytes
    refused(client.predict(big), 413)
    refused(client.learn("red", [big]), 413)
    refused(client.learn("red", 21 * [PICTURE]), 413)
    refused(client.learn("red", 50 * [PICTURE]), 400, 413)
    refused(client.learn("red", [bytes(299_000)]), 413)
    refused(client.learn("red", [bytes(400_000)]), 413)
    refused(client.send("open", bytes(200_001)), 413)
    refused(client.ask("POST", "/api/forget", json.dumps({"name": "x" * 5_000}), JSON), 413)
    message = refused(client.learn("blue", []), 400)
    assert "1 to 20" in message


def test_pictures_and_classes_beside_the_state_are_limited(server):
    client, _ = server
    before = client.now()
    first = client.learn("third", 15 * [PICTURE])
    assert first.status == 200
    assert "At most 40 pictures" in refused(client.learn("red", 6 * [PICTURE]), 409)
    assert "At most 3 classes" in refused(client.learn("fourth", [PICTURE]), 409)
    back = client.change("undo", turn=first.json()["turn"]).json()
    assert back["hash"] == before["hash"] and back["pictures"] == before["pictures"]


def test_classes_are_limited_at_every_door(server, tmp_path):
    client, _ = server
    before = client.now()
    many = Learner.from_pretrained(tiny.model(tmp_path))
    many.learn(np.repeat(PICTURE[None], 5, axis=0), [f"class {k}" for k in range(5)])
    for door in ("open", "merge"):
        assert "At most 3 classes are served, got" in refused(client.send(door, many.to_bytes()), 409)
    assert client.now() == before
    many.save(tmp_path / "many.state")
    with (
        pytest.raises(ValueError, match="At most 3 classes"),
        served(tmp_path / "many.state", limits=Limits(classes=3)),
    ):
        pass


@pytest.mark.parametrize("what", ["predict", "learn", "open", "merge", "forget"])
def test_a_length_above_all_is_refused_before_it_is_sent(client, what):
    kind = {"predict": "image/png", "learn": FORM["Content-Type"], "forget": "application/json"}.get(
        what, "application/octet-stream"
    )
    head = (
        f"POST /api/{what} HTTP/1.1\r\nHost: localhost\r\nContent-Type: {kind}\r\nContent-Length: 99999999999\r\n\r\n"
    )
    assert client.raw(head.encode()).startswith(b"HTTP/1.1 413 ")
    chunks = b"Transfer-Encoding: chunked\r\n\r\n" + 60 * (b"8000\r\n" + bytes(0x8000) + b"\r\n")
    head = f"POST /api/{what} HTTP/1.1\r\nHost: localhost\r\nContent-Type: {kind}\r\n"
    try:
        assert client.raw(head.encode() + chunks)[:12] in (b"HTTP/1.1 413", b"HTTP/1.1 408", b"HTTP/1.1 429")
    except ConnectionError:
        pass  # closed while the body was still being sent


@pytest.mark.parametrize(
    "head",
    [
        b"",
        b"\r\n\r\n",
        b"GET\r\n\r\n",
        b"GET / HTTP/1.1\r\nHost: localhost\r\nContent-Length: -1\r\n\r\n",
        b"GET / HTTP/1.1\r\nHost: localhost\r\nContent-Length: 1\r\nContent-Length: 2\r\n\r\n",
        b"POST /api/clear HTTP/1.1\r\nHost: a\r\nContent-Length: 2\r\nTransfer-Encoding: chunked\r\n\r\n0\r\n\r\n",
        b"POST /api/clear HTTP/1.1\r\nHost: localhost\r\nTransfer-Encoding: chunked\r\n\r\nzz\r\n",
        b"POST /api/clear HTTP/1.1\r\nHost: localhost\r\nTransfer-Encoding: gzip\r\n\r\n",
        b"GET / HTTP/1.1\r\nHost: localhost\r\nA" + b"a" * 100_000 + b": 1\r\n\r\n",
        b"GET / HTTP/1.1\r\nHost: localhost\r\n" + b"A: 1\r\n" * 20_000 + b"\r\n",
        b"GET /" + b"a" * 100_000 + b" HTTP/1.1\r\nHost: localhost\r\n\r\n",
        b"GET / HTTP/1.1\r\nHost: localhost\r\nA: b\0c\r\n\r\n",
        b"PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n",
        b"\x16\x03\x01\x02\x00\x01\x00\x01\xfc\x03\x03" + bytes(200),
        bytes(range(256)) * 10,
    ],
)
def test_what_is_no_http_is_answered_with_400_or_closed(client, head):
    try:
        found = client.raw(head)
    except ConnectionError:
        return
    assert found[:12] in (b"", b"HTTP/1.1 400", b"HTTP/1.1 408", b"HTTP/1.1 403", b"HTTP/1.1 415", b"HTTP/1.1 501"), (
        found
    )


@pytest.mark.parametrize(
    "path",
    [
        "/../a.state", "/..%2fa.state", "/%2e%2e/%2e%2e/etc/passwd", "/%2e%2e%2f%2e%2e%2fetc%2fpasswd", "//etc/passwd",
        "/etc/passwd", "/./../../etc/passwd", "/..\\..\\a.state", "/%5c..%5ca.state", "/a.state", "/a.state.pictures",
        "/%00", "/index.html%00.png", "/index.html/..", "/main.js/", "/MAIN.JS", "/page/main.js", "/file:///etc/passwd",
        "/api", "/api/", "/api/../index.html", "/api/pictures", "/api/pictures/", "/api/pictures/x", "/api/pictures/-1",
        "/api/pictures/0", "/api/pictures/1.5", "/api/pictures/99999", "/api/pictures/" + "9" * 400,
        "/api/pictures/..%2f..%2fa.state", "/api/pictures/1/../../state", "/api/pictures/%31%00", "/enter/../a.state",
        "/%ff%fe", "/worker.js", "/.git/config", "/?/../a.state/%2e", "/" + "a/" * 4_000,
    ],
)  # fmt: skip
def test_no_path_leads_to_the_disk(client, path):
    answer = client.get(path)
    if path.startswith("/?"):
        assert answer.status == 200 and answer.body == client.get("/").body
        return
    refused(answer, 404)


@pytest.mark.parametrize(
    "method", ["PUT", "DELETE", "PATCH", "TRACE", "OPTIONS", "CONNECT", "PROPFIND", "GET", "HEAD", "POST"]
)
def test_methods_that_an_address_does_not_take(client, method):
    reads = ("/", "/main.js", "/models.json", "/api/now", "/api/state", "/api/pictures/1", "/api/events", "/enter")
    changes = tuple(f"/api/{what}" for what in ("predict", "learn", "forget", "undo", "clear", "open", "merge", "link"))
    paths = {"GET": changes, "HEAD": changes, "POST": reads}.get(method, reads + changes)
    for path in paths:
        answer = client.ask(method, path)
        assert answer.status == 405, path
        assert method == "HEAD" or "method" in answer.error


@pytest.mark.parametrize(
    ("what", "body"),
    [
        ("forget", b""),
        ("forget", b"{"),
        ("forget", b"[]"),
        ("forget", b"null"),
        ("forget", b'"red"'),
        ("forget", b"\xff\xfe"),
        ("forget", b"[" * 4_000),
        ("forget", b'{"name":' * 500 + b"1" + b"}" * 500),
        ("forget", b"{}"),
        ("forget", b'{"name": 1}'),
        ("forget", b'{"name": null}'),
        ("forget", b'{"name": ["red"]}'),
        ("forget", b'{"name": ""}'),
        ("forget", b'{"name": "red", "more": 1}'),
        ("forget", b'{"name": "nobody"}'),
        ("forget", b'{"name": "\\ud800"}'),
        ("forget", json.dumps({"name": "x" * 201}).encode()),
        ("forget-picture", b'{"id": "1"}'),
        ("forget-picture", b'{"id": true}'),
        ("forget-picture", b'{"id": 1.0}'),
        ("forget-picture", b'{"id": NaN}'),
        ("forget-picture", b'{"id": -1}'),
        ("forget-picture", b'{"id": 1' + b"0" * 300 + b"}"),
        ("forget-picture", b'{"id": 1' + b"0" * 3_900 + b"}"),
        ("rename", b'{"old": "red"}'),
        ("rename", b'{"old": "red", "new": ""}'),
        ("rename", b'{"old": "red", "new": "green"}'),
        ("rename", b'{"old": "red", "new": "\\udfff"}'),
        ("rename", b'{"old": "nobody", "new": "x"}'),
        ("merge-classes", b'{"old": "red", "new": "red"}'),
        ("merge-classes", b'{"old": "red", "new": "nobody"}'),
        ("undo", b'{"turn": 0}'),
        ("undo", b'{"turn": "2"}'),
        ("clear", b"[]"),
        ("clear", b'{"really": true}'),
        ("link", b"{}"),
    ],
)
def test_words_that_do_not_fit_are_refused(client, what, body):
    refused(client.ask("POST", f"/api/{what}", body, JSON), 400, 404, 409, 413, 422)
    for kind in ("text/plain", "application/x-www-form-urlencoded", "multipart/form-data", ""):
        refused(client.ask("POST", f"/api/{what}", body, {"Content-Type": kind}), 415)


ONE = ("picture", "a.png", as_file(PICTURE))
NAME = ("name", None, b"red")


@pytest.mark.parametrize(
    ("body", "kind"),
    [
        (b"", None),
        (b"hello", None),
        (form(NAME, ONE), "multipart/form-data"),
        (form(NAME, ONE), "multipart/form-data; boundary=another"),
        (form(NAME, ONE), "multipart/form-data; boundary="),
        (form(NAME, ONE), "multipart/form-data; boundary=" + "b" * 5_000),
        (form(NAME, ONE)[:-10], None),
        (form(NAME, ONE)[:80], None),
        (form(NAME), None),
        (form(ONE), None),
        (form(NAME, NAME, ONE), None),
        (form(NAME, ONE, ("more", None, b"x")), None),
        (form(NAME, ("picture", None, b"text")), None),
        (form(("name", "a.txt", b"red"), ONE), None),
        (form(("name", None, b""), ONE), None),
        (form(("name", None, b"x" * 201), ONE), None),
        (form(("name", None, b"x" * 5_000), ONE), None),
        (form(NAME, ONE, ("look", "a", as_file(PICTURE)), ("look", "b", as_file(PICTURE))), None),
        (form(NAME, ("../../a.state", "a", as_file(PICTURE))), None),
        (form(*(5_000 * [("name", None, b"")])), None),
        (form(*(5_000 * [("picture", "a", b"")])), None),
        (form(NAME, ("picture", "a", form(NAME, ONE))), None),
        (form(NAME, ("picture", "a", form(NAME, ("picture", "b", form(NAME, ONE))))), None),
        (form(NAME, ONE).replace(b'name="picture"', b""), None),
        (form(NAME, ONE).replace(b"form-data", b"attachment"), "text/html"),
        (form(NAME, ONE).replace(b"Content-Disposition", b"A: " + b"a" * 200_000 + b"\r\nB"), None),
        (form(NAME, ONE).replace(b"\r\n\r\n", b"\r\nA: b" * 20_000 + b"\r\n\r\n", 1), None),
        (b"\r\n" * 100_000, None),
        (f"--{BOUNDARY}\r\n".encode() * 10_000, None),
    ],
)  # fmt: skip
def test_forms_that_do_not_fit_are_refused(client, body, kind):
    headers = FORM if kind is None else {"Content-Type": kind}
    refused(client.ask("POST", "/api/learn", body, headers), 400, 413, 415, 422)


def test_a_name_is_text_and_no_path(server):
    """Whatever it is called, no file is, and the page gets it as JSON."""
    client, folder = server
    files = sorted(path.name for path in folder.iterdir())
    for name in (
        "../../evil",
        "/etc/passwd",
        "<script>alert(1)</script>",
        "a\0b",
        "'; DROP TABLE labels; --",
        "\u202e",
        "%s%n",
    ):
        learned = client.learn(name, [PICTURE])
        assert learned.status == 200 and name in {one["name"] for one in learned.json()["classes"]}
        assert client.change("undo", turn=learned.json()["turn"]).status == 200
    assert sorted(path.name for path in folder.iterdir()) == files


def test_a_class_whose_name_no_new_class_may_have_is_served_and_can_be_forgotten(tmp_path):
    """Up to 0.2.0 a folder whose name is not UTF-8 became one."""
    half, state, model = b"\xc4pfel".decode("utf-8", "surrogateescape"), tmp_path / "a.state", tiny.model(tmp_path)
    learner = Learner.from_pretrained(model)
    learner.learn(*tiny.pictures("red", "green", each=4))
    learner.save(state)
    state.write_bytes(edited(state.read_bytes(), lambda a, learned, o: learned.update(names=["green", half])))
    with served(state) as client:
        assert [one["name"] for one in client.now()["classes"]] == ["green", half]
        answer = client.predict(tiny.pictures("red", each=1)[0][0])
        assert answer.status == 200 and {one["name"] for one in answer.json()["answers"]} == {"green", half}
        assert "valid Unicode" in client.change("rename", old="green", new=half + "!").error
        renamed = client.change("rename", old=half, new="apple")
        assert {one["name"] for one in renamed.json()["classes"]} == {"green", "apple"}
        assert client.change("undo", turn=renamed.json()["turn"]).status == 200
        assert [one["name"] for one in client.change("forget", name=half).json()["classes"]] == ["green"]


def test_states_that_do_not_fit_are_refused(client, tmp_path):
    own = client.get("/api/state").body
    other = Learner.from_pretrained(tiny.model(tmp_path, seed=1))
    other.learn(PICTURE, "other")
    settings = Learner.from_pretrained(tiny.model(tmp_path), digests=True)
    settings.learn(PICTURE, "other")
    replay = Learner.from_pretrained(tiny.model(tmp_path), strategy="replay")
    flipped = bytearray(own)
    flipped[len(own) // 2] ^= 1
    bad = [b"", b"x", bytes(1000), own[:-1], own + b"x", own[:100], bytes(flipped), as_file(PICTURE)]
    for content in [*bad, other.to_bytes(), settings.to_bytes(), replay.to_bytes()]:
        for what in ("open", "merge"):
            refused(client.send(what, content), 422)
    for kind in ("application/json", "image/png", "multipart/form-data", "text/plain"):
        refused(client.ask("POST", "/api/open", own, {"Content-Type": kind}), 415)


def test_other_kinds_of_content_are_refused(client):
    for kind in ("text/plain", "application/json", "application/octet-stream", "multipart/form-data", "", "video/mp4"):
        refused(client.ask("POST", "/api/predict", as_file(PICTURE), {"Content-Type": kind}), 415)
    packed = zlib.compress(bytes(1_000_000))
    refused(client.ask("POST", "/api/predict", packed, IMAGE | {"Content-Encoding": "deflate"}), 415)


def test_a_body_that_ends_early_or_never_is_given_up(client):
    head = b"POST /api/predict HTTP/1.1\r\nHost: localhost\r\nContent-Type: image/png\r\nContent-Length: 1000\r\n\r\n"
    with socket.create_connection(("127.0.0.1", client.port), timeout=30) as own:
        own.sendall(head + b"half")
        own.shutdown(socket.SHUT_WR)
        assert own.recv(12) in (b"", b"HTTP/1.1 400", b"HTTP/1.1 408")
    start = time.monotonic()
    assert client.raw(head + b"half").startswith(b"HTTP/1.1 408 ")
    assert time.monotonic() - start >= LIMITS.body_seconds / 2


def test_slow_clients_keep_nobody_out(client):
    """Connections that send a byte now and then: each is closed when its time is up; others are answered meanwhile."""
    slow = [socket.create_connection(("127.0.0.1", client.port), timeout=30) for _ in range(12)]
    try:
        for k in range(8):
            for own in slow:
                try:
                    own.sendall(b"GET / HTTP/1.1\r\n"[2 * k : 2 * k + 2])
                except ConnectionError:
                    pass
            assert client.predict(colours("red", each=1)["red"][0]).status == 200
            time.sleep(0.2)
        for own in slow:
            try:
                assert own.recv(100).startswith((b"HTTP/1.1 408", b""))
                assert own.recv(100) == b""
            except ConnectionError:
                pass
    finally:
        for own in slow:
            own.close()


def test_who_does_not_read_the_answer_is_closed(client):
    size = len(client.get("/examples.bin").body)
    with socket.socket() as own:
        own.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, 4096)
        own.settimeout(30)
        own.connect(("127.0.0.1", client.port))
        own.sendall(b"GET /examples.bin HTTP/1.1\r\nHost: localhost\r\n\r\n")
        time.sleep(2.5)
        found = 0
        try:
            while part := own.recv(1 << 16):
                found += len(part)
        except ConnectionError:
            pass
        assert found < size


def test_many_connections_of_one_address_are_closed(client):
    held = [socket.create_connection(("127.0.0.1", client.port), timeout=30) for _ in range(60)]
    closed = 0
    for own in held:
        own.settimeout(0.05)
        try:
            closed += own.recv(1) == b""
        except TimeoutError:
            pass
        except ConnectionError:
            closed += 1
    assert closed >= 60 - LIMITS.of_one_address - 1
    for own in held:
        own.close()
    deadline = time.monotonic() + 30
    while True:
        try:
            assert client.get("/").status == 200
            return
        except ConnectionError:
            assert time.monotonic() < deadline


def test_viewers_are_limited(client):
    streams = []
    for _ in range(LIMITS.viewers):
        own = socket.create_connection(("127.0.0.1", client.port), timeout=30)
        own.sendall(b"GET /api/events HTTP/1.1\r\nHost: localhost\r\n\r\n")
        assert own.recv(12) == b"HTTP/1.1 200"
        while b"event: turn" not in own.recv(1 << 16):
            pass
        streams.append(own)
    refused(client.get("/api/events"), 429)
    for own in streams:
        own.close()


def test_many_uploads_at_once_are_limited(tmp_path):
    """Together they may take `all_bytes`; whoever comes above is told to come again, and the others may go on."""
    kind = f"Content-Type: {FORM['Content-Type']}"
    head = f"POST /api/learn HTTP/1.1\r\nHost: localhost\r\nContent-Length: 300000\r\n{kind}\r\n\r\n".encode()
    with served(tmp_path / "a.state", limits=replace(LIMITS, body_seconds=60.0)) as client:
        senders = [socket.create_connection(("127.0.0.1", client.port), timeout=30) for _ in range(4)]
        for own in senders:
            own.sendall(head + bytes(290_000))
        (above,) = select.select(senders, [], [], 30)[0]
        assert above.recv(12) == b"HTTP/1.1 429"
        for own in senders:
            if own is not above:
                own.sendall(bytes(10_000))
                assert own.recv(12) == b"HTTP/1.1 400"  # whole now, and no form
            own.close()
        assert client.learn("red", [PICTURE]).status == 200


def test_random_requests_do_no_harm(client):
    """Mutations of good requests, in order of a seed."""
    rng = random.Random(7)
    body = form(NAME, ONE)
    good = [
        f"POST /api/learn HTTP/1.1\r\nHost: localhost\r\nContent-Length: {len(body)}\r\nConnection: close\r\n"
        f"Content-Type: {FORM['Content-Type']}\r\n\r\n".encode() + body,
        f"POST /api/predict HTTP/1.1\r\nHost: localhost\r\nContent-Length: {len(ONE[2])}\r\nConnection: close\r\n"
        "Content-Type: image/png\r\n\r\n".encode() + ONE[2],
        b"GET /api/now HTTP/1.1\r\nHost: localhost\r\nConnection: close\r\n\r\n",
    ]  # fmt: skip
    learned = 0
    for number in range(60):
        data = bytearray(good[number % 3])
        for _ in range(rng.randint(1, 6)):
            at = rng.randrange(len(data))
            data[at : at + rng.randint(0, 4)] = rng.randbytes(rng.randint(0, 4))
        turn = client.now()["turn"]
        try:
            with socket.create_connection(("127.0.0.1", client.port), timeout=30) as own:
                own.sendall(data)
                own.shutdown(socket.SHUT_WR)
                assert not own.recv(12).startswith(b"HTTP/1.1 5"), data
        except ConnectionError:
            pass
        refused(
            client.change("forget", name="nobody"), 404
        )  # waits for its turn: a form that is still good was learned
        if client.now()["turn"] != turn:
            learned += 1
            assert client.change("undo", turn=turn + 1).status == 200
    assert learned < 20
