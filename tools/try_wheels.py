"""Wheels of systems whose Python is not at hand: does the core in them learn? `make test-wheels`.

    python tools/try_wheels.py DIST [SYSTEM...]

The core of each wheel in DIST is linked by zig to examples/learn.c, which learns pictures of two classes of groceries,
answers and says its state's hash: under that system's C library (Debian's packages, unpacked into build/, nothing is
installed) and, for another processor, qemu-user. The hash must be that of the learner in Python here.
"""

from __future__ import annotations

import subprocess
import sys
import tempfile
import zipfile
from dataclasses import dataclass
from importlib.util import find_spec
from pathlib import Path

from wheels import LIBRARY, SYSTEMS

from bitreplay import Learner
from bitreplay.data.groceries import groceries

ROOT = Path(__file__).resolve().parents[1]
MODEL, EACH = "react_tiny", 4


@dataclass(frozen=True)
class Tried:
    """Debian's architecture and package of the C library, and what starts a program of it below `root`."""

    architecture: str
    package: str
    emulator: tuple[str, ...]
    loader: str = ""

    def command(self, root: Path) -> list[str]:
        emulator = [*self.emulator, "-L", str(root)] if self.emulator else []
        return emulator + ([str(root / self.loader)] if self.loader else [])


TRIED = {
    "linux-armv7": Tried("armhf", "libc6", ("qemu-arm",)),
    "musl-x86_64": Tried("amd64", "musl", (), "lib/ld-musl-x86_64.so.1"),
}


def main(dist: Path, names: list[str]) -> None:
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        expected = here(folder)
        for system in names or TRIED:
            result = there(system, core_of(dist, system), folder / system, folder)
            print(f"{system}: {result}, {'as here' if result == expected else f'not {expected}'}", flush=True)
            if result != expected:
                raise SystemExit(1)


def here(folder: Path) -> str:
    """The hash of what Python learns from the same pictures, which are written as PPM; model.bin is exported."""
    data = groceries()
    names = [data.class_names[label] for label in data.train_labels]
    learner = Learner.from_pretrained(MODEL)
    for label in data.class_names[:2]:
        (folder / label).mkdir()
        images = data.train_images[[name == label for name in names]][:EACH]
        for number, image in enumerate(images):
            header = f"P6 {image.shape[1]} {image.shape[0]} 255\n".encode()
            (folder / label / f"{number}.ppm").write_bytes(header + image.tobytes())
        learner.learn(images, [label] * EACH)
    words = ["export", MODEL, "--strategy", "exact", "--classes", "4", "--out", str(folder / "model")]
    subprocess.run([sys.executable, "-m", "bitreplay", *words], check=True, capture_output=True)
    return learner.state_hash()


def there(system: str, core: bytes, folder: Path, pictures: Path) -> str:
    """What the program says on that system."""
    folder.mkdir()
    library, program = folder / "libbitreplay_core.so", folder / "learn"
    library.write_bytes(core)
    spec = find_spec("ziglang")
    assert spec is not None and spec.origin is not None, 'zig is missing: pip install "bitreplay[wheels]"'
    zig = Path(spec.origin).parent / "zig"
    subprocess.run(
        [zig, "cc", "-target", SYSTEMS[system].target, "-dynamic", "-O2", f"-I{ROOT / 'core' / 'include'}",
         "-o", program, ROOT / "examples" / "learn.c", library, f"-Wl,-rpath,{folder}"],
        check=True,
    )  # fmt: skip
    tried = TRIED[system]
    start = [
        *tried.command(c_library(tried)),
        str(program),
        str(pictures / "model" / "model.bin"),
        str(folder / "state"),
    ]
    labels = sorted(path.name for path in pictures.iterdir() if (path / "0.ppm").exists())
    for label in labels:
        run([*start, "learn", label, *(str(pictures / label / f"{number}.ppm") for number in range(EACH))])
    answer = run([*start, "predict", str(pictures / labels[0] / "0.ppm")])
    assert labels[0] in answer, answer
    return run([*start, "hash"]).split()[-1]


def run(command: list[str]) -> str:
    return subprocess.run(command, check=True, text=True, stdout=subprocess.PIPE).stdout


def c_library(tried: Tried) -> Path:
    root = ROOT / "build" / f"{tried.package}-{tried.architecture}"
    if not root.exists():
        script = ROOT / "core" / "tools" / "debian_packages.sh"
        subprocess.run([script, root, tried.architecture, tried.package], check=True)
    return root / "root"


def core_of(dist: Path, system: str) -> bytes:
    platform = SYSTEMS[system].platform
    result = sorted(dist.glob(f"bitreplay-*-py3-none-{platform}.whl"))
    if not result:
        raise SystemExit(f"There is no wheel for {platform} in {dist}: make wheels.")
    with zipfile.ZipFile(result[-1]) as archive:
        return archive.read(LIBRARY)


if __name__ == "__main__":
    main(Path(sys.argv[1]), sys.argv[2:])
