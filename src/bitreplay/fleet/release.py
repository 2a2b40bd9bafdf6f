"""Merged states released to devices: signed with ed25519, numbered, taken back, on a folder or a web server.

    publish(place, state, private_key)              release-000007.state, release-000007.json, latest.json
    publish_again(place, 5, private_key)            latest.json names release 5 again
    latest(place, public_key), fetched(place, public_key, 5)

A release's manifest says its number, the bytes and sha256 of its state file, its hash, and a serial that rises with
every change of latest.json. A device remembers the highest serial and refuses a lower one: whoever sits between can
withhold a release, but bring back no old one.
"""

from __future__ import annotations

import hashlib
import json
import secrets
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

from bitreplay import statefile
from bitreplay.fleet.places import Place
from bitreplay.statefile import Content
from bitreplay.strategies.exact import statistics_of

LATEST = "latest.json"


class ReleaseError(ValueError):
    """A release that is not taken; one sentence says why."""


@dataclass(frozen=True)
class Manifest:
    version: int
    serial: int
    bytes: int
    sha256: str
    hash: str
    model: str
    pictures: int

    @property
    def file(self) -> str:
        return f"release-{self.version:06}.state"


def new_key(path: Path) -> str:
    """Write a new private key, which only this user may read, and the public one beside it; return the latter."""
    private = secrets.token_bytes(32)
    public = _ed25519().Ed25519PrivateKey.from_private_bytes(private).public_key().public_bytes_raw().hex()
    try:
        path.touch(0o600, exist_ok=False)
    except FileExistsError:
        raise ReleaseError(f"{path} exists.") from None
    path.write_text(private.hex() + "\n")
    path.with_name(path.name + ".pub").write_text(public + "\n")
    return public


def read_key(path: Path) -> bytes:
    """A private or a public key."""
    try:
        key = bytes.fromhex(path.read_text().strip())
    except ValueError:
        key = b""
    if len(key) != 32:
        raise ReleaseError(f"{path} does not hold a key of 64 hexadecimal digits.")
    return key


def publish(place: Place, state: bytes, private: bytes) -> Manifest:
    """Release a state file's bytes under the next number."""
    content = statefile.from_bytes(state, "The state")
    last = _last(place, private)
    version = 1 if last is None else 1 + max(last.version, *_numbers(place), 0)
    manifest = Manifest(version, 1 if last is None else last.serial + 1, len(state), hashlib.sha256(state).hexdigest(),
                        content.state.hash(), content.model, statistics_of(content.state).sums.pictures)  # fmt: skip
    place.write(manifest.file, state)
    _publish(place, manifest, private)
    return manifest


def publish_again(place: Place, version: int, private: bytes) -> Manifest:
    """Go back to an earlier release: latest.json names it, with a higher serial."""
    last, public = _last(place, private), _public(private)
    if last is None:
        raise ReleaseError(f"There is no release at {place.address}.")
    old = _read(place, f"release-{version:06}.json", public)
    manifest = Manifest(**asdict(old) | {"serial": last.serial + 1})
    _publish(place, manifest, private)
    return manifest


def latest(place: Place, public: bytes, lowest_serial: int = 0) -> Manifest:
    """The manifest of the release that devices shall have. ReleaseError if it is not signed, or older than one seen."""
    manifest = _read(place, LATEST, public)
    if manifest.serial < lowest_serial:
        raise ReleaseError(
            f"{place.address} offers serial {manifest.serial}, but {lowest_serial} was seen: an old one came back."
        )
    return manifest


def fetched(place: Place, public: bytes, version: int) -> tuple[Manifest, Content]:
    """A release by its number, checked by signature, sha256 and as a stranger's state."""
    manifest = _read(place, f"release-{version:06}.json", public)
    data = place.read(manifest.file)
    if len(data) != manifest.bytes or hashlib.sha256(data).hexdigest() != manifest.sha256:
        raise ReleaseError(f"{manifest.file} is not what its manifest says.")
    content = statefile.from_bytes(data, manifest.file)
    if content.state.hash() != manifest.hash:
        raise ReleaseError(f"{manifest.file} has another hash than its manifest says.")
    return manifest, content


def _publish(place: Place, manifest: Manifest, private: bytes) -> None:
    text = json.dumps(asdict(manifest), sort_keys=True, separators=(",", ":"))
    signature = _ed25519().Ed25519PrivateKey.from_private_bytes(private).sign(_signed(text))
    data = json.dumps({"manifest": text, "signature": signature.hex()}).encode()
    place.write(f"release-{manifest.version:06}.json", data)
    place.write(LATEST, data)


def _read(place: Place, name: str, public: bytes) -> Manifest:
    from cryptography.exceptions import InvalidSignature

    try:
        file: dict[str, Any] = json.loads(place.read(name))
        text, signature = str(file["manifest"]), bytes.fromhex(file["signature"])
        _ed25519().Ed25519PublicKey.from_public_bytes(public).verify(signature, _signed(text))
        return Manifest(**json.loads(text))
    except InvalidSignature:
        raise ReleaseError(f"{place.address}/{name} is not signed with this key.") from None
    except (KeyError, TypeError, AttributeError, json.JSONDecodeError):
        raise ReleaseError(f"{place.address}/{name} is not a manifest.") from None


def _last(place: Place, private: bytes) -> Manifest | None:
    return _read(place, LATEST, _public(private)) if place.has(LATEST) else None


def _numbers(place: Place) -> list[int]:
    names = [name for name, _ in place.names()]
    return [int(name[8:14]) for name in names if name.startswith("release-") and name[8:14].isdigit()]


def _signed(text: str) -> bytes:
    return b"bitreplay release\n" + text.encode()


def _public(private: bytes) -> bytes:
    return _ed25519().Ed25519PrivateKey.from_private_bytes(private).public_key().public_bytes_raw()


def _ed25519() -> Any:
    try:
        from cryptography.hazmat.primitives.asymmetric import ed25519
    except ImportError:
        raise ReleaseError("Releases need the package cryptography: install bitreplay[fleet].") from None
    return ed25519
