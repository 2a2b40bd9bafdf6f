"""The npm package as a web developer meets it: a tarball, an empty project, a bundler, two browsers.

`make test-npm` packs it and sets BITREPLAY_NPM to the folder of the tarball; without it the tests skip.
"""

from __future__ import annotations

import base64
import functools
import http.server
import io
import json
import os
import re
import shutil
import subprocess
import tarfile
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import numpy as np
import pytest
from PIL import Image

import bitreplay
from bitreplay.data.groceries import groceries
from tests.page.browser import Handler, chromium
from tests.page.test_firefox import firefox

ROOT = Path(__file__).resolve().parents[2]
README = (ROOT / "js" / "README.md").read_text()
pytestmark = pytest.mark.skipif(
    "BITREPLAY_NPM" not in os.environ, reason="The npm package is not packed; `make test-npm` packs it and runs this."
)
# What a reader of the page does: names a class, chooses its files, chooses a file to ask about.
TEACH_AND_ASK = """async (pictures) => {
  const files = ({ texts }) => {
    const data = new DataTransfer();
    for (const text of texts)
      data.items.add(new File([Uint8Array.from(atob(text), (c) => c.charCodeAt(0))], "1.png", { type: "image/png" }));
    return data.files;
  };
  const until = async (test) => { while (!test()) await new Promise((done) => setTimeout(done, 50)); };
  await until(() => document.getElementById("teach").onchange && document.getElementById("ask").onchange);
  const { label, teach, ask, answer } = Object.fromEntries(
    ["label", "teach", "ask", "answer"].map((id) => [id, document.getElementById(id)]));
  for (const { name, texts } of pictures) {
    label.value = name;
    teach.files = files({ texts });
    await teach.onchange();
  }
  ask.files = files(pictures[1]);
  await ask.onchange();
  return JSON.stringify([answer.value, await globalThis.learnerHash()]);
}"""


def block(language: str, number: int = 0) -> str:
    return re.findall(rf"^```{language}\n(.*?)^```$", README, re.DOTALL | re.MULTILINE)[number]


def run(folder: Path, *words: str) -> str:
    done = subprocess.run(words, cwd=folder, capture_output=True, text=True)
    assert done.returncode == 0, done.stdout + done.stderr
    return done.stdout


@pytest.fixture(scope="module")
def tarball() -> Path:
    (path,) = Path(os.environ["BITREPLAY_NPM"]).glob("bitreplay-*.tgz")
    return path


@pytest.fixture(scope="module")
def project(tarball: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """An empty project with the tarball, a bundler and a compiler of types installed."""
    if shutil.which("npm") is None:
        pytest.skip("npm is not installed: its package was not tested.")
    folder = tmp_path_factory.mktemp("project")
    (folder / "package.json").write_text('{ "name": "empty", "private": true, "type": "module" }')
    run(folder, "npm", "install", "--silent", "--no-audit", "--no-fund", str(tarball), "vite", "typescript@5.9")
    # The page of the README, and its learner's hash for this test.
    page = block("html").replace("</script>", "  globalThis.learnerHash = () => learner.hash();\n</script>")
    (folder / "index.html").write_text(page)
    (folder / "vite.config.js").write_text(block("js"))
    return folder


def test_the_package_is_whole(tarball):
    with tarfile.open(tarball) as archive:
        names = {name.removeprefix("package/") for name in archive.getnames()}
        package = json.load(archive.extractfile("package/package.json") or io.BytesIO())
    entry = package["exports"]["."]
    targets = {target.removeprefix("./") for part in entry.values() for target in part.values()}
    targets |= {target.removeprefix("./") for key, target in package["exports"].items() if key != "."}
    assert targets <= names
    assert {"README.md", "LICENSE", "NOTICE", "learner.js", "types/learner.d.ts"} <= names
    assert not names & {"tsconfig.json", "Makefile"}
    assert tarball.stat().st_size < 1_500_000


def test_it_learns_in_node_as_the_readme_says(project):
    (project / "colours.mjs").write_text(block("js", 1))
    answer, digest = run(project, "node", "colours.mjs").split()
    learner = bitreplay.Learner.from_pretrained("efficientnet_tiny")
    learner.learn(np.array([[[[200, 30, 30]]], [[[30, 200, 30]]]], np.uint8), ["red", "green"])
    assert (answer, digest) == ("red", learner.state_hash())
    assert bitreplay.Learner.load(project / "colours.state").labels == ["green", "red"]


def test_its_types_are_found_and_checked(project):
    (project / "typed.ts").write_text(
        'import { openInWorker, open, pictureOf, type Learner } from "bitreplay";\n'
        "const learner: Learner = await open();\n"
        "const name: string | number = learner.predict({ data: new Uint8Array(3), width: 1, height: 1 }).name;\n"
        "const hash: string = await (await openInWorker()).hash();\n"
        "const pixels: ImageData = await pictureOf(new Blob());\n"
        "// @ts-expect-error\nlearner.learn(3);\n"
        "export { name, hash, pixels };\n"
    )
    options = {"noEmit": True, "strict": True, "target": "es2022", "module": "es2022", "moduleResolution": "bundler"}
    options |= {"types": [], "customConditions": ["browser"]}
    (project / "tsconfig.json").write_text(json.dumps({"compilerOptions": options, "files": ["typed.ts"]}))
    run(project, "npx", "tsc", "--project", "tsconfig.json")


def png(image) -> str:
    buffer = io.BytesIO()
    Image.fromarray(image).save(buffer, "png")
    return base64.b64encode(buffer.getvalue()).decode()


@contextmanager
def served(folder: Path) -> Iterator[str]:
    server = http.server.ThreadingHTTPServer(("127.0.0.1", 0), functools.partial(Handler, directory=str(folder)))
    thread = threading.Thread(target=server.serve_forever, daemon=True)
    thread.start()
    yield f"http://localhost:{server.server_port}/"
    server.shutdown()
    thread.join()


@pytest.fixture(scope="module")
def pictures() -> list[dict]:
    data = groceries()
    rows = [data.train_images[data.train_labels == label][:4] for label in (0, 5)]
    return [{"name": name, "images": images} for name, images in zip(("one", "two"), rows, strict=True)]


def expected(pictures: list[dict]) -> list[str]:
    learner = bitreplay.Learner.from_pretrained("efficientnet_tiny")
    for row in pictures:
        learner.learn(row["images"], [row["name"]] * len(row["images"]))
    return ["two", learner.state_hash()]


def as_texts(pictures: list[dict]) -> list[dict]:
    return [{"name": row["name"], "texts": [png(image) for image in row["images"]]} for row in pictures]


@pytest.fixture(scope="module")
def built(project: Path) -> Path:
    run(project, "npx", "vite", "build", "--logLevel", "error", "--target", "es2022")
    return project / "dist"


def test_a_bundled_page_learns_in_chromium(built, pictures):
    with served(built) as address, chromium() as context:
        page, errors = context.new_page(), []
        page.on("pageerror", lambda error: errors.append(str(error)))
        page.goto(address)
        assert json.loads(page.evaluate(TEACH_AND_ASK, as_texts(pictures))) == expected(pictures)
        assert not errors


def test_a_bundled_page_learns_in_firefox(built, pictures, tmp_path):
    profile = tmp_path / "profile"
    profile.mkdir()
    with served(built) as address, firefox(profile) as browser:
        browser.go(address)
        assert browser.run(f"({TEACH_AND_ASK})({json.dumps(as_texts(pictures))})") == expected(pictures)


def test_vite_serves_it_while_it_is_developed(project, pictures):
    words = ["node", "node_modules/vite/bin/vite.js", "--port", "0", "--host", "127.0.0.1", "--clearScreen", "false"]
    with subprocess.Popen(
        words, cwd=project, stdout=subprocess.PIPE, text=True, env=os.environ | {"NO_COLOR": "1"}
    ) as vite:
        try:
            assert vite.stdout is not None
            address = next(
                match[1] for line in vite.stdout if (match := re.search(r"(http://127\.0\.0\.1:\d+/)", line))
            )
            with chromium() as context:
                page = context.new_page()
                page.goto(address)
                assert json.loads(page.evaluate(TEACH_AND_ASK, as_texts(pictures))) == expected(pictures)
        finally:
            vite.terminate()
