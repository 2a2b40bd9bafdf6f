"""A browser started by its command line, without a driver: it opens a page of a local server, which calls drive.js and
posts the result. Any browser that runs headless will do."""

from __future__ import annotations

import json
import os
import shutil
import signal
import subprocess
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from queue import Empty, Queue
from threading import Thread

from tests.wasm.engines import FOLDER, ROOT, SETS

SECONDS = 240
KINDS = {".js": "text/javascript", ".wasm": "application/wasm"}
PAGE = """<!doctype html><script type="module">
const [module, isa, what, files, numbers] = WORDS;
const post = (path, body) => fetch(path, { method: "POST", body });
try {
  const { Core } = await import("/js/core.js");
  const drive = await import("/tests/wasm/drive.js");
  const read = async (name) => new Uint8Array(await (await fetch(name)).arrayBuffer());
  const core = await Core.open(await read(module));
  core.setIsa(isa);
  await post("/result", await drive[what](core, ...(await Promise.all(files.map(read))), ...numbers));
} catch (error) {
  await post("/error", String(error));
}
</script>"""
COMMANDS = {
    "firefox": ("firefox", "--headless", "--no-remote", "--profile"),
    "chromium": ("chromium", "--headless=new", "--no-sandbox", "--disable-gpu", "--no-first-run"),
}


class Served:
    def __init__(self, name: str, folder: Path) -> None:
        self.name, self.folder = name, folder / f"{name}-profile"

    @staticmethod
    def is_there(name: str) -> bool:
        return shutil.which(COMMANDS[name][0]) is not None

    def call(self, isa: str, what: str, files: list[bytes], arguments: tuple[int, ...] = ()) -> bytes:
        responses = {f"/file{number}": content for number, content in enumerate(files)}
        words = json.dumps([f"/built/{SETS[isa]}", isa, what, list(responses), list(arguments)])
        responses["/"] = PAGE.replace("WORDS", words).encode()
        posts: Queue[tuple[str, bytes]] = Queue()
        server = ThreadingHTTPServer(("127.0.0.1", 0), _handler(responses, posts))
        Thread(target=server.serve_forever, daemon=True).start()
        browser = self._open(f"http://127.0.0.1:{server.server_port}/")
        try:
            path, body = posts.get(timeout=SECONDS)
        except Empty:
            raise AssertionError(f"{self.name} posted nothing for {SECONDS} seconds") from None
        finally:
            os.killpg(browser.pid, signal.SIGKILL)
            browser.wait()
            server.shutdown()
        assert path == "/result", f"{what} on {isa}: {body.decode()}"
        return body

    def _open(self, address: str) -> subprocess.Popen[bytes]:
        self.folder.mkdir(exist_ok=True)
        *command, last = COMMANDS[self.name]
        profile = [last, str(self.folder)] if last == "--profile" else [last, f"--user-data-dir={self.folder}"]
        return subprocess.Popen(
            [*command, *profile, address], env=os.environ | {"HOME": str(self.folder)}, start_new_session=True,
            stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL,
        )  # fmt: skip


def _handler(responses: dict[str, bytes], posts: Queue[tuple[str, bytes]]) -> type[BaseHTTPRequestHandler]:
    class Handler(BaseHTTPRequestHandler):
        def do_GET(self) -> None:
            path = self.path
            if path in responses:
                body = responses[path]
            elif path.startswith("/built/") and "/" not in (name := path.removeprefix("/built/")):
                body = (FOLDER / name).read_bytes()
            elif path.startswith(("/js/", "/tests/wasm/")) and ".." not in path:
                body = (ROOT / path.lstrip("/")).read_bytes()
            else:
                self.send_error(404)
                return
            self.send_response(200)
            self.send_header("Content-Type", KINDS.get(Path(path).suffix, "text/html"))
            self.send_header("Content-Length", str(len(body)))
            self.end_headers()
            self.wfile.write(body)

        def do_POST(self) -> None:
            body = self.rfile.read(int(self.headers["Content-Length"]))
            self.send_response(204)
            self.end_headers()
            posts.put((self.path, body))

        def log_message(self, format: str, *arguments: object) -> None:
            """Logs nothing: the page posts its errors."""

    return Handler
