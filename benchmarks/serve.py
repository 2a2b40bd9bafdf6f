"""Fifty clients ask `bitreplay serve` while somebody teaches it, on one machine, the clients' own work included.

    python -m benchmarks.serve [--models react_tiny,react18] [--pauses 150,0] [--seconds 15]    writes results/serve.csv

Each client has a connection of its own and asks as the page does: a picture of 32x32 as a BMP, then a pause, then the
next. The pause of the page is 150 ms; without a pause the line is as long as there are clients. Meanwhile one more
client teaches, 20 pictures at a time, class after class, as quickly as they are acknowledged. Milliseconds are from the
first byte of a question to the last of its answer, by the wall clock of the client.
"""

from __future__ import annotations

import argparse
import asyncio
import csv
import json
import os
import platform
import re
import subprocess
import sys
import tempfile
import time
from pathlib import Path

import numpy as np

from bitreplay.core.cores import usable
from tests.serve.serving import BOUNDARY, as_file, form

RESULTS = Path(__file__).parent / "results" / "serve.csv"
CLIENTS, SIDE, CLASSES, EACH = 50, 32, 10, 20
HEAD = "POST /api/{} HTTP/1.1\r\nHost: localhost\r\nContent-Type: {}\r\nContent-Length: {}\r\n\r\n"


def pictures(number: int, count: int) -> list[np.ndarray]:
    """Noise around a colour of its class."""
    rng = np.random.default_rng(number)
    colour = np.random.default_rng(number % CLASSES).integers(0, 256, 3)
    return [np.clip(colour + rng.integers(-60, 60, (SIDE, SIDE, 3)), 0, 255).astype(np.uint8) for _ in range(count)]


class Connection:
    def __init__(self, port: int) -> None:
        self.port = port

    async def open(self) -> None:
        self.reader, self.writer = await asyncio.open_connection("127.0.0.1", self.port)

    async def ask(self, what: str, kind: str, body: bytes) -> dict:
        self.writer.write(HEAD.format(what, kind, len(body)).encode() + body)
        head = await self.reader.readuntil(b"\r\n\r\n")
        length = re.search(rb"content-length: (\d+)", head)
        assert length, head
        answer = json.loads(await self.reader.readexactly(int(length[1])))
        if not head.startswith(b"HTTP/1.1 200 "):
            raise RuntimeError(answer["error"])
        return answer


async def teach(port: int, until: float, first: int) -> int:
    connection, number = Connection(port), first
    await connection.open()
    while time.monotonic() < until:
        body = form(
            ("name", None, f"class {number % CLASSES}".encode()),
            *(("picture", "x", as_file(one, "BMP")) for one in pictures(number, EACH)),
        )
        await connection.ask("learn", f"multipart/form-data; boundary={BOUNDARY}", body)
        number += 1
        if time.monotonic() > until + 60:
            break
    return number - first


async def look(port: int, number: int, until: float, pause: float, times: list[float], errors: list[str]) -> None:
    connection, files = Connection(port), [as_file(one, "BMP") for one in pictures(1000 + number, 4)]
    await connection.open()
    await asyncio.sleep(pause * number / CLIENTS)
    turn = 0
    while time.monotonic() < until:
        start = time.perf_counter()
        try:
            answer = await connection.ask("predict", "image/bmp", files[turn % len(files)])
            assert answer["answers"][0]["name"].startswith("class ")
        except Exception as error:
            errors.append(repr(error))
            return
        times.append(1000 * (time.perf_counter() - start))
        turn += 1
        await asyncio.sleep(pause)


async def measured(port: int, seconds: float, pause: float) -> dict[str, object]:
    await teach(port, time.monotonic() + 0.01, 0)
    for k in range(1, CLASSES):
        await teach(port, time.monotonic() + 0.01, k)
    times: list[float] = []
    errors: list[str] = []
    until = time.monotonic() + seconds
    taught, *_ = await asyncio.gather(
        teach(port, until, CLASSES), *(look(port, k, until, pause, times, errors) for k in range(CLIENTS))
    )
    for error in errors[:3]:
        print(error, file=sys.stderr)
    p50, p95, p99 = np.percentile(times, [50, 95, 99])
    return {
        "answers": len(times), "errors": len(errors), "answers a second": round(len(times) / seconds),
        "experiences of 20 learned": taught, "p50 ms": round(p50, 1), "p95 ms": round(p95, 1), "p99 ms": round(p99, 1),
        "most ms": round(max(times), 1),
    }  # fmt: skip


def row(model: str, pause: int, seconds: float) -> dict[str, object]:
    with tempfile.TemporaryDirectory() as folder:
        words = ["serve", str(Path(folder) / "a.state"), "--model", model, "--port", "0"]
        server = subprocess.Popen([sys.executable, "-m", "bitreplay", *words], stdout=subprocess.PIPE, text=True)
        try:
            assert server.stdout is not None
            port = re.search(r":(\d+)/", server.stdout.readline())
            assert port
            load = os.getloadavg()[0]
            answer = asyncio.run(measured(int(port[1]), seconds, pause / 1000))
        finally:
            server.terminate()
            server.wait()
    about = {"model": model, "clients": CLIENTS, "pause ms": pause, "seconds": seconds}
    return about | answer | {"cpu": cpu(), "cores": usable(), "load before": round(load, 1)}


def cpu() -> str:
    lines = Path("/proc/cpuinfo").read_text().splitlines() if Path("/proc/cpuinfo").exists() else []
    return next((line.partition(": ")[2] for line in lines if line.startswith("model name")), platform.machine())


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--models", default="react_tiny,react18,bireal18,vgg_small")
    parser.add_argument("--pauses", default="150,0")
    parser.add_argument("--seconds", type=float, default=15.0)
    parser.add_argument("--results", type=Path, default=RESULTS)
    args = parser.parse_args()
    rows = []
    for model in args.models.split(","):
        for pause in map(int, args.pauses.split(",")):
            rows.append(row(model, pause, args.seconds))
            print(json.dumps(rows[-1]), flush=True)
            with args.results.open("w", newline="") as file:
                writer = csv.DictWriter(file, rows[0], lineterminator="\n")
                writer.writeheader()
                writer.writerows(rows)


if __name__ == "__main__":
    main()
