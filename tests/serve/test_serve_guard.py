"""Who may ask: tokens, links, Host, Origin; and the headers of every answer."""

from __future__ import annotations

import pytest

from bitreplay.serve import guard
from bitreplay.serve.keys import LINK_SECONDS, Keys, load_token
from tests.serve.serving import JSON, Client, colours, served

TOKEN = "a-token-of-the-test-that-nobody-knows"
GUARDED = ("/models.json", "/api/now", "/api/state", "/api/pictures/1", "/api/events", "/api/nothing")
CHANGES = ("predict", "learn", "forget", "forget-picture", "rename", "merge-classes", "undo", "clear", "open", "merge")


@pytest.fixture(scope="module")
def alone(tmp_path_factory):
    with served(tmp_path_factory.mktemp("alone") / "a.state") as client:
        yield client


@pytest.fixture(scope="module")
def shared(tmp_path_factory):
    with served(tmp_path_factory.mktemp("shared") / "a.state", keys=Keys(TOKEN)) as client:
        yield client


def with_token(client: Client, token: str = TOKEN) -> Client:
    return Client(client.port, {"Authorization": f"Bearer {token}"})


@pytest.mark.parametrize(
    "headers",
    [
        {},
        {"Authorization": ""},
        {"Authorization": "Bearer"},
        {"Authorization": "Bearer "},
        {"Authorization": f"Bearer {TOKEN[:-1]}"},
        {"Authorization": f"Bearer {TOKEN}x"},
        {"Authorization": f"Basic {TOKEN}"},
        {"Authorization": TOKEN},
        {"Authorization": "Bearer \xe9\xff"},
        {"Cookie": "bitreplay="},
        {"Cookie": f"bitreplay={TOKEN}"},
        {"Cookie": "bitreplay=\xff; bitreplay"},
        {"Cookie": f"other={Keys(TOKEN).cookie}"},
        {"Cookie": f"bitreplay={Keys('another-token-of-some-length').cookie}"},
        {"X-Token": TOKEN},
    ],
)
def test_without_the_token_nothing_is_told(shared, headers):
    for path in GUARDED:
        answer = Client(shared.port, headers).get(path)
        assert answer.status == 401 and "token" in answer.error, path
    for what in CHANGES:
        answer = Client(shared.port, headers).ask("POST", f"/api/{what}", "{}", JSON)
        assert answer.status == 401, what
    assert Client(shared.port, headers).get("/").status == 200  # the page itself is no secret


def test_the_token_and_the_cookie_open(shared):
    assert with_token(shared).get("/api/now").status == 200
    lower = Client(shared.port, {"Authorization": f"bearer {TOKEN}"})
    assert lower.get("/models.json").status == 200
    cookie = Client(shared.port, {"Cookie": f"theme=dark; bitreplay={Keys(TOKEN).cookie}"})
    assert cookie.get("/api/now").status == 200
    assert cookie.learn("red", list(colours("red", each=2)["red"])).status == 200


def test_the_query_is_no_place_for_a_token(shared):
    assert shared.get(f"/api/now?token={TOKEN}").status == 401


def test_a_link_opens_once(shared):
    assert shared.ask("POST", "/api/link", "{}", JSON).status == 401
    path = with_token(shared).change("link").json()["path"]
    entered = shared.get(f"/{path}")
    assert entered.status == 200 and TOKEN not in entered.body.decode()
    cookie = entered.headers["set-cookie"]
    assert TOKEN not in cookie
    assert {"HttpOnly", "SameSite=Strict", "Path=/"} <= set(cookie.split("; "))
    assert Client(shared.port, {"Cookie": cookie.partition(";")[0]}).get("/api/now").status == 200
    assert shared.get(f"/{path}").status == 401
    for other in ("/enter", "/enter?key=", f"/enter?key={TOKEN}", "/enter?key=%ff", "/enter?key=a&key=b"):
        assert shared.get(other).status == 401


def test_links_end_and_are_few():
    time = 0.0
    keys = Keys(TOKEN, lambda: time)
    first = keys.link()
    time = LINK_SECONDS + 1
    assert not keys.redeem(first)
    many = [keys.link() for _ in range(40)]
    assert [keys.redeem(key) for key in many] == 8 * [False] + 32 * [True]
    assert "Secure" in keys.set_cookie(secure=True) and "Secure" not in keys.set_cookie(secure=False)


def test_a_token_file_is_made_once_and_for_the_owner_alone(tmp_path):
    file = tmp_path / "token"
    token, made = load_token(file)
    assert made and file.stat().st_mode & 0o777 == 0o600 and len(token) >= 40
    assert load_token(file) == (token, False)
    file.chmod(0o644)
    with pytest.raises(ValueError, match="chmod 600"):
        load_token(file)
    for content in ("", "short", "a token\nof two lines that is long"):
        file.write_text(content)
        file.chmod(0o600)
        with pytest.raises(ValueError, match="does not hold a token"):
            load_token(file)
    assert load_token(None)[0] != load_token(None)[0]


OURS = ["localhost", "LOCALHOST:80", "localhost.:1", "127.0.0.1", "127.0.0.1:99", "[::1]", "[::1]:80", "127.1.2.3"]
NOT_OURS = [
    "", "evil.example", "localhost.evil.example", "127.0.0.1.evil.example", "evil.example:8421", "localhost@evil.com",
    "evil.example#localhost", "localhost#x", "localhost?", "localhost?x", "localhost;", "localhost,evil",
    "localhost%00", "127.0.0.1#evil.example", "[localhost]", "[127.0.0.1", "localhost:65536", "localhost:1:1",
    "localhost:port", "localhost:-1", "localhost/evil", "[::1", "0x7f000001.evil", "a b",
    "192.168.1.1.evil", "[::ffff:8.8.8.8", "*", "..",
]  # fmt: skip


def host(client: Client, *names: str) -> bytes:
    lines = "".join(f"Host: {name}\r\n" for name in names)
    return client.raw(f"GET /api/now HTTP/1.1\r\n{lines}Connection: close\r\n\r\n".encode())


@pytest.mark.parametrize("name", OURS)
def test_names_of_this_machine_are_ours(alone, name):
    assert host(alone, name).startswith(b"HTTP/1.1 200 ")


@pytest.mark.parametrize("name", [*NOT_OURS, "192.168.1.1", "8.8.8.8"])
def test_other_names_are_not_ours(alone, name):
    assert host(alone, name)[:12] in (b"HTTP/1.1 403", b"HTTP/1.1 400")


@pytest.mark.parametrize("name", NOT_OURS)
def test_with_a_token_other_names_are_not_ours_either(shared, name):
    assert host(shared, name)[:12] in (b"HTTP/1.1 403", b"HTTP/1.1 400")


def test_numbers_are_ours_where_others_can_reach_us(shared):
    assert host(shared, "192.168.1.1:8421").startswith(b"HTTP/1.1 401 ")


def test_one_host_is_named(alone):
    assert host(alone).startswith(b"HTTP/1.1 400 ")
    assert host(alone, "localhost", "localhost").startswith((b"HTTP/1.1 400 ", b"HTTP/1.1 403 "))
    assert alone.raw(b"GET /api/now HTTP/1.0\r\n\r\n").startswith(b"HTTP/1.1 403 ")
    assert alone.raw(b"GET http://evil.example/api/now HTTP/1.1\r\nHost: evil.example\r\n\r\n").startswith(
        b"HTTP/1.1 403 "
    )


@pytest.mark.parametrize(
    "headers",
    [
        {"Origin": "http://evil.example"},
        {"Origin": "null"},
        {"Origin": ""},
        {"Origin": "http://localhost.evil.example"},
        {"Origin": "http://127.0.0.1"},  # another port
        {"Origin": "https://127.0.0.1:PORT"},
        {"Sec-Fetch-Site": "cross-site"},
        {"Sec-Fetch-Site": "same-site"},
    ],
)
def test_a_change_from_another_page_is_refused(alone, headers):
    headers = {name: value.replace("PORT", str(alone.port)) for name, value in headers.items()}
    before = alone.now()
    for what in CHANGES:
        answer = alone.ask("POST", f"/api/{what}", "{}", JSON | headers)
        assert answer.status == 403 and "from this server" in answer.error
    assert alone.now() == before


def test_a_change_from_our_page_is_taken(alone):
    headers = {"Origin": f"http://127.0.0.1:{alone.port}", "Sec-Fetch-Site": "same-origin"}
    answer = alone.ask("POST", "/api/clear", "{}", JSON | headers)
    assert answer.status == 200


def test_other_pages_may_not_read(alone):
    headers = {"Origin": "http://evil.example", "Access-Control-Request-Method": "POST"}
    for path in ("/", "/api/now", "/api/learn"):
        for method in ("OPTIONS", "GET"):
            answer = alone.ask(method, path, None, headers)
            assert not [name for name in answer.headers if name.startswith("access-control")]
    assert alone.ask("OPTIONS", "/api/learn", None, headers).status == 403


def test_every_answer_has_the_headers(alone, shared):
    answers = [
        alone.get("/"), alone.get("/main.js"), alone.get("/api/now"), alone.get("/no"), alone.change("forget", a=1),
        alone.ask("PUT", "/api/now"), shared.get("/api/now"), alone.ask("GET", "/", None, {"Host": "evil.example"}),
        alone.ask("POST", "/api/open", b"x", {"Content-Type": "text/html"}), alone.get("/api/pictures/77"),
    ]  # fmt: skip
    assert {answer.status for answer in answers} >= {200, 400, 401, 403, 404, 405, 415}
    for answer in answers:
        for name, value in guard.HEADERS.items():
            assert answer.headers[name.lower()] == value
        assert "server" not in answer.headers
    policy = guard.POLICY.split("; ")
    assert {"default-src 'none'", "script-src 'self' 'wasm-unsafe-eval'", "frame-ancestors 'none'"} <= set(policy)
    assert "unsafe-inline" not in guard.POLICY and "'unsafe-eval'" not in guard.POLICY


def test_an_address_for_others_needs_keys(tmp_path):
    with pytest.raises(ValueError, match="a token is needed"), served(tmp_path / "a.state", host="0.0.0.0"):
        pass
