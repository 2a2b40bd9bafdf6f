"""Keys and masks: X25519 and HKDF-SHA256 make a seed of two keys, AES-256 in counter mode makes masks of a seed.

ChaCha20-Poly1305 carries shares from device to device past the server. All of it is the package cryptography's.
"""

from __future__ import annotations

import secrets
from typing import Any

import numpy as np
from numpy.typing import NDArray

NONCE_BYTES = 12


def _primitives() -> Any:
    try:
        from cryptography.hazmat import primitives
        from cryptography.hazmat.primitives import ciphers, hashes, serialization
        from cryptography.hazmat.primitives.asymmetric import x25519
        from cryptography.hazmat.primitives.ciphers import aead, algorithms, modes
        from cryptography.hazmat.primitives.kdf import hkdf
    except ImportError:
        raise ValueError("Masks need the package cryptography: install bitreplay[fleet].") from None
    assert all((ciphers, hashes, serialization, x25519, aead, algorithms, modes, hkdf))
    return primitives


def new_key() -> bytes:
    """A private key."""
    return secrets.token_bytes(32)


def public_key(private: bytes) -> bytes:
    return _primitives().asymmetric.x25519.X25519PrivateKey.from_private_bytes(private).public_key().public_bytes_raw()


def agreed(private: bytes, public: bytes, purpose: bytes) -> bytes:
    """The seed that both sides find: each with its own private key and the other's public one. ValueError for a public
    key that gives everybody the same."""
    crypto = _primitives()
    own = crypto.asymmetric.x25519.X25519PrivateKey.from_private_bytes(private)
    secret = own.exchange(crypto.asymmetric.x25519.X25519PublicKey.from_public_bytes(public))
    return crypto.kdf.hkdf.HKDF(crypto.hashes.SHA256(), 32, None, b"bitreplay masks " + purpose).derive(secret)


def encrypted(key: bytes, text: bytes, about: bytes) -> bytes:
    nonce = secrets.token_bytes(NONCE_BYTES)
    return nonce + _primitives().ciphers.aead.ChaCha20Poly1305(key).encrypt(nonce, text, about)


def decrypted(key: bytes, data: bytes, about: bytes) -> bytes:
    """ValueError for what was changed on the way, or is about something else."""
    from cryptography.exceptions import InvalidTag

    try:
        return _primitives().ciphers.aead.ChaCha20Poly1305(key).decrypt(data[:NONCE_BYTES], data[NONCE_BYTES:], about)
    except InvalidTag:
        raise ValueError("A share was changed on its way.") from None


def mask(seed: bytes, count: int, bits: int) -> NDArray:
    """`count` integers of 32 or 64 bits that nobody can tell from random ones without the seed."""
    ciphers = _primitives().ciphers
    stream = ciphers.Cipher(ciphers.algorithms.AES(seed), ciphers.modes.CTR(bytes(16))).encryptor()
    return np.frombuffer(stream.update(bytes(count * bits // 8)), f"<u{bits // 8}")
