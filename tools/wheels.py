"""sdist and wheels for every system that we build for, on one machine: `make wheels`.

    python tools/wheels.py DIST [SYSTEM...]

The Python files are the same in all wheels, so they are packed once. For each system the core is compiled by zig (PyPI:
ziglang), put beside them, and the wheel gets its tag and a bill of materials. Wheels are py3-none: ctypes loads the
core, so one serves every Python 3. Dates in them are fixed: the same sources give the same bytes.
"""

from __future__ import annotations

import base64
import hashlib
import subprocess
import sys
import tempfile
import zipfile
from dataclasses import dataclass
from importlib.metadata import version
from importlib.util import find_spec
from pathlib import Path

from sbom import NAME, sbom

ROOT = Path(__file__).resolve().parents[1]
LIBRARY = "bitreplay/_lib/libbitreplay_core.so"


@dataclass(frozen=True)
class System:
    """`target` is zig's name, which includes the oldest C library or system that the wheel promises to run on."""

    target: str
    platform: str


SYSTEMS = {
    "linux-x86_64": System("x86_64-linux-gnu.2.17", "manylinux_2_17_x86_64.manylinux2014_x86_64"),
    "linux-aarch64": System("aarch64-linux-gnu.2.17", "manylinux_2_17_aarch64.manylinux2014_aarch64"),
    "linux-armv7": System("arm-linux-gnueabihf.2.17", "manylinux_2_17_armv7l.manylinux2014_armv7l"),
    "musl-x86_64": System("x86_64-linux-musl", "musllinux_1_2_x86_64"),
    "musl-aarch64": System("aarch64-linux-musl", "musllinux_1_2_aarch64"),
    "macos-arm64": System("aarch64-macos.11.0", "macosx_11_0_arm64"),
    "macos-x86_64": System("x86_64-macos.10.15", "macosx_10_15_x86_64"),
}


def main(dist: Path, names: list[str]) -> None:
    unknown = sorted(set(names) - set(SYSTEMS))
    if unknown:
        raise SystemExit(f"There is no system {unknown[0]}; expected one of {', '.join(SYSTEMS)}.")
    dist.mkdir(parents=True, exist_ok=True)
    from scikit_build_core.build import build_sdist

    print(dist / build_sdist(str(dist)))
    files = without_core()
    for name in names or SYSTEMS:
        print(wheel(dist, SYSTEMS[name], dict(files), core(name)))


def without_core() -> dict[str, bytes]:
    """The content of the wheel that has no core: Python files, data, metadata."""
    with tempfile.TemporaryDirectory() as folder:
        subprocess.run(
            [sys.executable, "-m", "pip", "wheel", "--quiet", "--no-deps", "--no-build-isolation",
             "--wheel-dir", folder, "--config-settings=wheel.cmake=false", str(ROOT)],
            check=True,
        )  # fmt: skip
        (path,) = Path(folder).glob("*.whl")
        with zipfile.ZipFile(path) as archive:
            files = {name: archive.read(name) for name in archive.namelist()}
    return {name: data for name, data in files.items() if name != LIBRARY}


def core(name: str) -> bytes:
    """The library for a system, by zig."""
    spec = find_spec("ziglang")
    if spec is None or spec.origin is None:
        raise SystemExit('zig is missing: pip install "bitreplay[wheels]".')
    folder, zig = ROOT / "build" / f"zig-{name}", Path(spec.origin).parent / "zig"
    toolchain = ROOT / "core" / "tools" / "zig.cmake"
    subprocess.run(
        ["cmake", "-S", str(ROOT), "-B", str(folder), "-G", "Ninja", "--log-level=WARNING",
         "-DCMAKE_BUILD_TYPE=Release", f"-DCMAKE_TOOLCHAIN_FILE={toolchain}", f"-DZIG={zig}",
         f"-DZIG_TARGET={SYSTEMS[name].target}"],
        check=True,
    )  # fmt: skip
    subprocess.run(["cmake", "--build", str(folder)], check=True)
    return (folder / "libbitreplay_core.so").read_bytes()


def wheel(dist: Path, system: System, files: dict[str, bytes], library: bytes) -> Path:
    (info,) = {name.split("/")[0] for name in files if name.split("/")[0].endswith(".dist-info")}
    tag = f"py3-none-{system.platform}"
    files[LIBRARY] = library
    tags = "".join(f"Tag: py3-none-{platform}\n" for platform in system.platform.split("."))
    files[f"{info}/WHEEL"] = f"Wheel-Version: 1.0\nGenerator: bitreplay\nRoot-Is-Purelib: false\n{tags}\n".encode()
    del files[f"{info}/RECORD"]
    files[f"{info}/sboms/{NAME}"] = sbom(files, files[f"{info}/METADATA"].decode(), tag, version("ziglang"))
    record = [f"{name},sha256={_base64(data)},{len(data)}" for name, data in sorted(files.items())]
    files[f"{info}/RECORD"] = "\n".join([*record, f"{info}/RECORD,,", ""]).encode()
    path = dist / f"{info.removesuffix('.dist-info')}-{tag}.whl"
    with zipfile.ZipFile(path, "w", zipfile.ZIP_DEFLATED) as archive:
        for name, data in sorted(files.items()):
            entry = zipfile.ZipInfo(name)
            entry.external_attr, entry.compress_type = (0o755 if name == LIBRARY else 0o644) << 16, zipfile.ZIP_DEFLATED
            archive.writestr(entry, data)
    return path


def _base64(data: bytes) -> str:
    return base64.urlsafe_b64encode(hashlib.sha256(data).digest()).decode().rstrip("=")


if __name__ == "__main__":
    main(Path(sys.argv[1]), sys.argv[2:])
