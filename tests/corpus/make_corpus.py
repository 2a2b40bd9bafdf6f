"""Writes the corpus of odd state files: python -m tests.corpus.make_corpus.

Each file has a name that says what is odd about it, and a verdict: taken, or refused. Every reader must come to it
(test_corpus.py, tests/wasm/test_wasm_corpus.py), but those that ONLY_PYTHON names: C and JavaScript read what a writer
writes, byte for byte, and refuse other spellings of the same JSON.
"""

from __future__ import annotations

import hashlib
import json
import tempfile
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np

from bitreplay import Learner
from bitreplay.engine.sums import diagonal
from bitreplay.export import image_of
from bitreplay.modelfile.container import pack_container, unpack_container
from bitreplay.statefile import to_bytes
from tests import tiny

HERE = Path(__file__).parent
DIGITS_AT = 8 + len(b'{"__metadata__":{"sha256":"')
ONLY_PYTHON = ("keys_in_another_order", "version_1_without_parts")
Arrays = dict[str, np.ndarray]
Texts = dict[str, str]


def changed(data: bytes, change: Callable[[Arrays, dict[str, Any], Texts], None]) -> bytes:
    """With a checksum that fits; `change` gets arrays, what was learned, and texts."""
    arrays, texts = unpack_container(data, "it")
    del texts["sha256"]
    arrays = {name: array.copy() for name, array in arrays.items()}
    learned = json.loads(texts["learned"])
    change(arrays, learned, texts)
    if texts["learned"] and not texts["learned"].startswith("!"):
        texts["learned"] = json.dumps(learned, sort_keys=True, separators=(",", ":"))
    texts["learned"] = texts["learned"].removeprefix("!")
    return pack_container(arrays, texts)


def sealed(data: bytes) -> bytes:
    zeros = data[:DIGITS_AT] + b"0" * 64 + data[DIGITS_AT + 64 :]
    return data[:DIGITS_AT] + hashlib.sha256(zeros).hexdigest().encode() + data[DIGITS_AT + 64 :]


def corpus() -> tuple[bytes, dict[str, tuple[bytes, str]]]:
    """The model for C and JavaScript, and each file with its verdict."""
    model = tiny.model(Path(tempfile.mkdtemp()))
    x = np.random.default_rng(0).integers(-60, 61, (12, 16)).astype(np.int8)
    ends = np.where(np.random.default_rng(1).integers(0, 2, (40, 16)), 127, -127).astype(np.int8)

    def learner_of() -> Learner:
        return Learner.from_pretrained(model, strategy="exact", feature_layers="head")

    learner = learner_of()
    nothing = to_bytes(learner._content())
    learner.learn_encoded(x, ["a", "b", 7] * 4)
    whole = to_bytes(learner._content())
    few = learner_of()
    few.learn_encoded(ends, ["gone"] * 40)
    few.learn_encoded(x[:1], ["stays"])
    few.forget("gone")
    scatter = to_bytes(few._content())

    def with_array(name: str, place: int, value: int) -> bytes:
        def change(arrays: Arrays, learned: dict[str, Any], texts: Texts) -> None:
            arrays[name].reshape(-1)[place] = value

        return changed(whole, change)

    def with_learned(key: str, value: Any) -> bytes:
        def change(arrays: Arrays, learned: dict[str, Any], texts: Texts) -> None:
            learned[key] = value

        return changed(whole, change)

    def with_text(key: str, old: str, new: str) -> bytes:
        def change(arrays: Arrays, learned: dict[str, Any], texts: Texts) -> None:
            assert old in texts[key]
            texts[key] = ("!" if key == "learned" else "") + texts[key].replace(old, new, 1)

        return changed(whole, change)

    def cut_off(arrays: Arrays, learned: dict[str, Any], texts: Texts) -> None:
        """As 0.2.0 forgot: products at most those of the pictures that stay."""
        most = 127**2 * int(arrays["sums.counts"].sum())
        arrays["sums.products"] = np.clip(arrays["sums.products"], -most, most)

    def at_its_bound(arrays: Arrays, learned: dict[str, Any], texts: Texts) -> None:
        most = 127**2 * int(arrays["sums.counts"].sum()) + int(arrays["sums.products"][diagonal(16)].sum())
        arrays["sums.products"][1] = most

    def three(arrays: Arrays, learned: dict[str, Any], texts: Texts) -> None:
        for name in ("sums.class_sums", "sums.products"):
            arrays[name][:] = 0
        arrays["sums.products"][[0, 2, 5]] = 400
        arrays["sums.products"][[1, 3, 4]] = 360, 360, -360

    def wide(arrays: Arrays, learned: dict[str, Any], texts: Texts) -> None:
        for name in ("sums.class_sums", "sums.products"):
            arrays[name] = arrays[name].astype(np.int64)

    def first_version(arrays: Arrays, learned: dict[str, Any], texts: Texts) -> None:
        texts["version"] = "1"
        del learned["parts"], learned["same"]

    def fewer_rows(arrays: Arrays, learned: dict[str, Any], texts: Texts) -> None:
        arrays["sums.class_sums"] = arrays["sums.class_sums"][:2]

    def another_array(arrays: Arrays, learned: dict[str, Any], texts: Texts) -> None:
        arrays["sums.more"] = np.zeros(3, np.int32)

    header = int.from_bytes(whole[:8], "little")
    twice = whole[8 : 8 + header].rstrip().replace(b'"format":', b'"format":"x","format":', 1)
    twice += b" " * (-len(twice) % 8)
    big, twice_there = (1 << 62) - 1, '"forgotten":0,"forgotten":0'
    files = {
        "whole": (whole, "taken"),
        "nothing_learned": (nothing, "taken"),
        "scatter_of_a_forgotten_class": (scatter, "taken"),
        "scatter_cut_off_as_before": (changed(scatter, cut_off), "taken"),
        "scatter_at_its_bound": (changed(scatter, at_its_bound), "taken"),
        "counter_at_its_end": (with_learned("experiences", big), "taken"),
        "counter_beyond_its_end": (with_learned("experiences", big + 1), "refused"),
        "counter_below_zero": (with_learned("forgotten", -1), "refused"),
        "counter_that_is_a_fraction": (with_text("learned", '"forgotten":0', '"forgotten":0.0'), "refused"),
        "key_twice_in_what_was_learned": (with_text("learned", '"forgotten":0', twice_there), "refused"),
        "key_twice_in_the_settings": (with_text("settings", "{", '{"seed":1,'), "refused"),
        "key_twice_in_the_header": (sealed(len(twice).to_bytes(8, "little") + twice + whole[8 + header :]), "refused"),
        "keys_in_another_order": (
            with_text("learned", '{"experiences":1,"forgotten":0', '{"forgotten":0,"experiences":1'), "taken"),
        "version_1_without_parts": (changed(whole, first_version), "taken"),
        "version_3": (with_text("version", "2", "3"), "refused"),
        "another_format": (with_text("format", "state", "model"), "refused"),
        "truncated": (whole[:-1], "refused"),
        "truncated_and_sealed": (sealed(whole[:-4]), "refused"),
        "bytes_behind_the_end": (sealed(whole + b"\0" * 8), "refused"),
        "a_byte_changed": (whole[:-9] + bytes([whole[-9] ^ 1]) + whole[-8:], "refused"),
        "empty": (b"", "refused"),
        "a_header_of_2_to_the_63": ((1 << 63).to_bytes(8, "little") + whole[8:], "refused"),
        "names_out_of_order": (with_learned("names", ["a", 7, "b"]), "refused"),
        "one_name_twice": (with_learned("names", [7, "a", "a"]), "refused"),
        "a_name_of_no_characters": (with_learned("names", [7, "", "b"]), "refused"),
        "a_free_number": (with_learned("names", [7, None, "b"]), "refused"),
        "fewer_names": (with_learned("names", [7, "a"]), "refused"),
        "a_lineage_of_seven_digits": (with_learned("lineage", "/0123456"), "refused"),
        "a_part_of_another_version": (with_learned("parts", {"digests": 1, "sums": 9}), "refused"),
        "an_array_more": (changed(whole, another_array), "refused"),
        "fewer_rows": (changed(whole, fewer_rows), "refused"),
        "wide_sums_of_few_pictures": (changed(whole, wide), "refused"),
        "a_class_without_pictures": (with_array("sums.counts", 0, 0), "refused"),
        "a_count_below_zero": (with_array("sums.counts", 0, -1), "refused"),
        "counts_that_add_up_to_less_than_they_are": (with_array("sums.counts", 0, (1 << 63) - 1), "refused"),
        "a_sum_beyond_its_pictures": (with_array("sums.class_sums", 0, 127 * 4 + 1), "refused"),
        "a_square_below_zero": (with_array("sums.products", 0, -1), "refused"),
        "a_square_beyond_its_pictures": (with_array("sums.products", 0, 127**2 * 12 + 1), "refused"),
        "squares_below_the_sums": (with_array("sums.products", 2, 1), "refused"),
        "a_pair_beyond_its_squares": (with_array("sums.products", 1, 127**2 * 12), "refused"),
        "three_numbers_that_cannot_vary_so": (changed(whole, three), "refused"),
    }  # fmt: skip
    return image_of(learner_of()), files


def main() -> None:
    model, files = corpus()
    (HERE / "model.bin").write_bytes(model)
    for name, (data, _) in files.items():
        (HERE / "states" / f"{name}.state").write_bytes(data)
    verdicts = {name: verdict for name, (_, verdict) in files.items()}
    (HERE / "verdicts.json").write_text(json.dumps(verdicts, indent=1) + "\n")


if __name__ == "__main__":
    main()
