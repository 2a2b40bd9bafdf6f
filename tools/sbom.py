"""The bill of materials of a wheel: CycloneDX 1.6 JSON, `.dist-info/sboms/bitreplay.cdx.json` (PEP 770).

Inside the wheel: the package, its native core by SHA-256, the routines of zig's compiler-rt that are linked into it,
the model files and the photographs. Beside it: what pip installs, by name and range, as pyproject.toml says.
"""

from __future__ import annotations

import hashlib
import json
import re
import uuid
from collections.abc import Mapping
from typing import Any

NAME = "bitreplay.cdx.json"


def sbom(files: Mapping[str, bytes], metadata: str, tag: str, zig: str) -> bytes:
    """`files`: the wheel's content by path. `metadata`: its METADATA."""
    version = _field(metadata, "Version")[0]
    package = {
        "type": "library",
        "bom-ref": f"pkg:pypi/bitreplay@{version}",
        "name": "bitreplay",
        "version": version,
        "purl": f"pkg:pypi/bitreplay@{version}",
        "licenses": [{"license": {"id": "Apache-2.0"}}],
        "properties": [{"name": "wheel:tag", "value": tag}],
    }
    inside = [
        _file(path, data, "machine-learning-model" if "/zoo/" in path else "file")
        for path, data in sorted(files.items())
        if path.endswith((".so", ".safetensors", ".npz", ".webp", ".zip", ".bin"))
    ]
    runtime = {
        "type": "library",
        "bom-ref": f"zig-compiler-rt@{zig}",
        "name": "zig compiler-rt",
        "version": zig,
        "scope": "required",
        "licenses": [{"license": {"id": "MIT"}}],
    }
    needs = [_needed(line) for line in _field(metadata, "Requires-Dist") if "extra ==" not in line]
    tool = {"type": "application", "name": "zig", "version": zig}
    content: dict[str, Any] = {
        "bomFormat": "CycloneDX",
        "specVersion": "1.6",
        "serialNumber": f"urn:uuid:{uuid.UUID(bytes=_digest(files, tag)[:16], version=4)}",
        "version": 1,
        "metadata": {"component": package, "tools": {"components": [tool]}},
        "components": [runtime, *inside, *needs],
        "dependencies": [
            {"ref": package["bom-ref"], "dependsOn": [runtime["bom-ref"], *(need["bom-ref"] for need in needs)]}
        ],
    }
    return (json.dumps(content, indent=1) + "\n").encode()


def _field(metadata: str, name: str) -> list[str]:
    return re.findall(rf"^{name}: (.*)$", metadata.split("\n\n")[0], re.MULTILINE)


def _file(path: str, data: bytes, kind: str) -> dict[str, Any]:
    return {
        "type": kind,
        "bom-ref": path,
        "name": path,
        "hashes": [{"alg": "SHA-256", "content": hashlib.sha256(data).hexdigest()}],
    }


def _needed(line: str) -> dict[str, Any]:
    match = re.fullmatch(r"([\w.-]+)\s*(.*)", line)
    assert match, line
    name, spread = match[1].lower(), match[2].strip()
    properties = [{"name": "pip:range", "value": spread}] if spread else []
    return {"type": "library", "bom-ref": f"pkg:pypi/{name}", "name": name, "purl": f"pkg:pypi/{name}",
            "properties": properties}  # fmt: skip


def _digest(files: Mapping[str, bytes], tag: str) -> bytes:
    total = hashlib.sha256(tag.encode())
    for path, data in sorted(files.items()):
        total.update(path.encode() + hashlib.sha256(data).digest())
    return total.digest()
