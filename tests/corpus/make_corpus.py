"""Writes the corpus of odd state files of format 3: python -m tests.corpus.make_corpus.

Each file has a name that says what is odd about it, and a verdict: taken, or refused. Every reader must come to it
(test_corpus.py, tests/wasm/test_wasm_corpus.py). `states-2` and `verdicts-2.json` are the same of formats 1 and 2:
bytes that versions up to 0.2 wrote, which stay as they are.
"""

from __future__ import annotations

import hashlib
import json
import struct
import tempfile
from collections.abc import Callable
from fractions import Fraction
from pathlib import Path
from typing import Any

import numpy as np

from bitreplay import Learner
from bitreplay.engine.sums import diagonal
from bitreplay.export import image_of
from bitreplay.sections import reference
from bitreplay.statefile import to_bytes
from tests import tiny
from tests.statefile.edited import Arrays, edited, opened, sealed

HERE = Path(__file__).parent
HEAD = 48
FORGOTTEN, COUNTS, UNKNOWN = b"learned/counters/forgotten", b"learned/parts/sums.counts", b"settings/unknown"


def signed(body: bytes, version: int = 3, magic: bytes = b"BITSTATE") -> bytes:
    """A file of these bytes behind its head."""
    return magic + struct.pack("<Q", version) + hashlib.sha256(body).digest() + body


def cut(data: bytes) -> dict[bytes, bytes]:
    """The bytes of each section, by its name."""
    found = list(reference.sections(memoryview(data)))
    starts = [HEAD, *(section.offset + -(-section.size // 8) * 8 for section in found)]
    return {s.name.encode(): data[starts[i] : starts[i + 1]] for i, s in enumerate(found)}


def raw(name: bytes, kind: int, shape: tuple[int, ...], content: bytes, zeros: bytes | None = None) -> bytes:
    """A section, whatever it says."""
    start = struct.pack("<BBH", kind, len(shape), len(name)) + name
    start += bytes(-len(start) % 8) + struct.pack(f"<{len(shape)}Q", *shape)
    return start + content + (bytes(-len(content) % 8) if zeros is None else zeros)


def odd_forms(whole: bytes) -> dict[str, bytes]:
    """The same content in other bytes, and bytes without content."""
    parts = cut(whole)
    names = list(parts)

    def joined(order: list[bytes] = names, **changed: bytes) -> bytes:
        return signed(b"".join({**parts, **{k.encode(): v for k, v in changed.items()}}[name] for name in order))

    def replaced(name: bytes, section: bytes) -> bytes:
        return signed(b"".join(section if each == name else parts[each] for each in names))

    swapped = names.copy()
    swapped[2], swapped[3] = swapped[3], swapped[2]
    twice = names[:2] + names[1:]
    count = struct.pack("<3q", 4, 4, 4)
    classes = reference.names_to_bytes((7, "a", "b"))
    text, far = b"8/1/16", struct.pack("<Bq", 1, 1 << 53) + classes[9:]
    flag, fraction, kind_text, kind_names = reference.FLAG, reference.FRACTION, reference.TEXT, reference.NAMES
    return {
        "sections_in_another_order": joined(swapped),
        "a_section_twice": joined(twice),
        "a_section_missing": joined([name for name in names if name != FORGOTTEN]),
        "a_section_more": signed(b"".join(parts.values()) + raw(b"zzz", 3, (), bytes(8))),
        "the_first_section_alone": joined(names[:1]),
        "no_section": signed(b""),
        "zeros_between_sections": replaced(FORGOTTEN, parts[FORGOTTEN] + bytes(8)),
        "padding_of_a_name_that_is_not_zero": replaced(
            UNKNOWN, parts[UNKNOWN].replace(UNKNOWN + bytes(4), UNKNOWN + b"\0\0\0\1")),
        "padding_of_a_content_that_is_not_zero": replaced(
            b"settings/bits", raw(b"settings/bits", kind_text, (6,), text, b"\0\1")),
        "no_padding": replaced(b"settings/bits", raw(b"settings/bits", kind_text, (6,), text, b"")),
        "more_padding": replaced(b"settings/bits", raw(b"settings/bits", kind_text, (6,), text, bytes(10))),
        "bytes_behind_the_end": signed(whole[HEAD:] + bytes(8)),
        "one_byte_behind_the_end": signed(whole[HEAD:] + b"\0"),
        "truncated_and_sealed": signed(whole[HEAD:-8]),
        "truncated_in_a_head": signed(whole[HEAD:-18]),
        "another_magic": signed(whole[HEAD:], magic=b"BITSTATF"),
        "version_0": signed(whole[HEAD:], version=0),
        "version_4": signed(whole[HEAD:], version=4),
        "version_3_in_its_upper_half_too": signed(whole[HEAD:], version=3 | 1 << 32),
        "a_type_that_does_not_exist": replaced(FORGOTTEN, raw(FORGOTTEN, 11, (), bytes(8))),
        "a_rank_of_seven": replaced(COUNTS, raw(COUNTS, 3, (3, 1, 1, 1, 1, 1, 1), count)),
        "a_counter_as_an_array": replaced(FORGOTTEN, raw(FORGOTTEN, 3, (1,), bytes(8))),
        "a_counter_without_a_sign": replaced(FORGOTTEN, raw(FORGOTTEN, 6, (), bytes(8))),
        "counts_without_a_sign": replaced(COUNTS, raw(COUNTS, 6, (3,), count)),
        "counts_of_32_bits": replaced(COUNTS, raw(COUNTS, 2, (3,), struct.pack("<3i", 4, 4, 4))),
        "counts_in_two_dimensions": replaced(COUNTS, raw(COUNTS, 3, (3, 1), count)),
        "a_dimension_of_2_to_the_64": replaced(COUNTS, raw(COUNTS, 3, ((1 << 64) - 1,), count)),
        "dimensions_that_overflow_to_three": replaced(COUNTS, raw(COUNTS, 3, (1 << 32, (1 << 32) + 3), count)),
        "dimensions_of_nothing_that_overflow": replaced(COUNTS, raw(COUNTS, 3, (0,) + ((1 << 31) - 1,) * 5, b"")),
        "a_dimension_beyond_the_file": replaced(COUNTS, raw(COUNTS, 3, (1 << 20,), count)),
        "a_name_of_no_bytes": signed(raw(b"", 3, (), bytes(8)) + whole[HEAD:]),
        "a_name_of_256_bytes": signed(raw(b"a" * 256, 3, (), bytes(8)) + whole[HEAD:]),
        "a_name_with_a_zero": signed(raw(b"a\0b", 3, (), bytes(8)) + whole[HEAD:]),
        "a_name_that_is_not_utf_8": signed(raw(b"a\xff", 3, (), bytes(8)) + whole[HEAD:]),
        "a_fraction_that_is_not_reduced": replaced(UNKNOWN, raw(UNKNOWN, fraction, (), struct.pack("<2q", 2, 40))),
        "a_zero_of_two_halves": replaced(UNKNOWN, raw(UNKNOWN, fraction, (), struct.pack("<2q", 0, 2))),
        "a_fraction_of_minus_one": replaced(UNKNOWN, raw(UNKNOWN, fraction, (), struct.pack("<2q", 0, -1))),
        "a_fraction_by_zero": replaced(UNKNOWN, raw(UNKNOWN, fraction, (), struct.pack("<2q", 1, 0))),
        "a_fraction_of_one_number": replaced(UNKNOWN, raw(UNKNOWN, 3, (), bytes(8))),
        "a_flag_of_two": replaced(b"settings/augment", raw(b"settings/augment", flag, (), b"\2")),
        "a_flag_as_a_number": replaced(b"settings/augment", raw(b"settings/augment", 4, (), b"\0")),
        "a_text_that_is_not_utf_8": replaced(b"model/name", raw(b"model/name", kind_text, (5,), b"tin\xc3(")),
        "a_text_that_is_longer_than_needed": replaced(b"model/name", raw(b"model/name", kind_text, (2,), b"\xc1\xa1")),
        "a_text_with_half_a_character": replaced(b"model/name", raw(b"model/name", kind_text, (4,), b"tin\xc3")),
        "a_text_with_a_surrogate": replaced(b"model/name", raw(b"model/name", kind_text, (3,), b"\xed\xa0\x80")),
        "a_text_of_another_spelling": replaced(b"settings/bits", raw(b"settings/bits", kind_text, (7,), b"08/1/16")),
        "names_of_an_unknown_tag": replaced(
            b"learned/classes", raw(b"learned/classes", kind_names, (len(classes),), b"\3" + classes[1:])),
        "names_that_are_cut_off": replaced(
            b"learned/classes", raw(b"learned/classes", kind_names, (len(classes) - 1,), classes[:-1])),
        "names_as_text": replaced(b"learned/classes", raw(b"learned/classes", kind_text, (1,), b"a")),
        "an_integer_beyond_2_to_the_53": replaced(
            b"learned/classes", raw(b"learned/classes", kind_names, (17,), far)),
        "a_name_as_two_surrogates": replaced(
            b"learned/classes",
            raw(b"learned/classes", kind_names, (22,), classes[:9] + b"\2\6\0\xed\xa0\xbc\xed\xbd\x8e" + classes[13:])),
    }  # fmt: skip


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

    def of_arrays(data: bytes, change: Callable[[Arrays], object]) -> bytes:
        return edited(data, lambda arrays, learned, others: change(arrays))

    def with_array(name: str, place: int, value: int) -> bytes:
        return of_arrays(whole, lambda arrays: arrays[name].reshape(-1).__setitem__(place, value))

    def with_learned(key: str, value: Any) -> bytes:
        return edited(whole, lambda arrays, learned, others: learned.update({key: value}))

    def with_section(name: str, value: Any) -> bytes:
        return sealed(opened(whole) | {name: value})

    def cut_off(arrays: Arrays) -> None:
        """As 0.2.0 forgot: products at most those of the pictures that stay."""
        most = 127**2 * int(arrays["sums.counts"].sum())
        arrays["sums.products"] = np.clip(arrays["sums.products"], -most, most)

    def at_its_bound(arrays: Arrays) -> None:
        most = 127**2 * int(arrays["sums.counts"].sum()) + int(arrays["sums.products"][diagonal(16)].sum())
        arrays["sums.products"][1] = most

    def three(arrays: Arrays) -> None:
        for name in ("sums.class_sums", "sums.products"):
            arrays[name][:] = 0
        arrays["sums.products"][[0, 2, 5]] = 400
        arrays["sums.products"][[1, 3, 4]] = 360, 360, -360

    def wide(arrays: Arrays) -> None:
        for name in ("sums.class_sums", "sums.products"):
            arrays[name] = arrays[name].astype(np.int64)

    big, nobody = (1 << 62) - 1, np.zeros(0, np.uint64)
    files = {
        "whole": (whole, "taken"),
        "nothing_learned": (nothing, "taken"),
        "scatter_of_a_forgotten_class": (scatter, "taken"),
        "scatter_cut_off_as_before": (of_arrays(scatter, cut_off), "taken"),
        "scatter_at_its_bound": (of_arrays(scatter, at_its_bound), "taken"),
        "counter_at_its_end": (with_learned("experiences", big), "taken"),
        "a_name_of_one_surrogate": (with_learned("names", [7, "a", "\ud800"]), "taken"),
        "other_settings_of_replay": (with_section("settings/epochs", np.uint64(1 << 20)), "taken"),
        "a_share_of_a_third": (with_section("settings/unknown", Fraction(1, 3)), "taken"),
        "counter_beyond_its_end": (with_learned("experiences", big + 1), "refused"),
        "counter_below_zero": (with_learned("forgotten", -1), "refused"),
        "truncated": (whole[:-1], "refused"),
        "a_byte_changed": (whole[:-9] + bytes([whole[-9] ^ 1]) + whole[-8:], "refused"),
        "empty": (b"", "refused"),
        "the_magic_alone": (whole[:8], "refused"),
        "names_out_of_order": (with_learned("names", ["a", 7, "b"]), "refused"),
        "one_name_twice": (with_learned("names", [7, "a", "a"]), "refused"),
        "a_name_of_no_characters": (with_learned("names", [7, "", "b"]), "refused"),
        "a_name_of_201_characters": (with_learned("names", [7, "a", "b" * 201]), "refused"),
        "a_free_number": (with_learned("names", [7, None, "b"]), "refused"),
        "fewer_names": (with_learned("names", [7, "a"]), "refused"),
        "a_lineage_of_numbers_with_a_sign": (with_section("notes/lineage.since", np.zeros(1, np.int64)), "refused"),
        "a_lineage_out_of_order": (with_section("notes/lineage.merged", np.array([2, 1], np.uint64)), "refused"),
        "a_lineage_of_1025_experiences": (with_section("notes/lineage.since", np.zeros(1025, np.uint64)), "refused"),
        "a_note_more": (with_section("notes/lineage.then", nobody), "refused"),
        "a_counter_more": (with_section("learned/counters/more", np.int64(0)), "refused"),
        "a_part_of_another_version": (with_section("versions/sums", np.int64(9)), "refused"),
        "a_part_more": (with_section("versions/more", np.int64(1)), "refused"),
        "a_setting_more": (with_section("settings/colour", "red"), "refused"),
        "a_setting_beyond_its_end": (with_section("settings/epochs", np.uint64((1 << 20) + 1)), "refused"),
        "a_setting_below_its_end": (with_section("settings/epochs", np.uint64(0)), "refused"),
        "a_setting_with_a_sign": (with_section("settings/epochs", np.int64(5)), "refused"),
        "a_share_of_one": (with_section("settings/unknown", Fraction(1)), "refused"),
        "a_share_below_zero": (with_section("settings/unknown", Fraction(-1, 3)), "refused"),
        "a_share_that_is_too_fine": (with_section("settings/unknown", Fraction(1, (1 << 30) + 1)), "refused"),
        "three_bits": (with_section("settings/latent_bits", np.uint64(3)), "refused"),
        "a_projection_in_capitals": (with_section("settings/projection", "A" * 64), "refused"),
        "images_of_no_size": (with_section("model/size", np.int64(0)), "refused"),
        "an_array_more": (with_section("learned/parts/sums.more", np.zeros(3, np.int32)), "refused"),
        "fewer_rows": (of_arrays(whole, lambda a: a.update({"sums.class_sums": a["sums.class_sums"][:2]})), "refused"),
        "wide_sums_of_few_pictures": (of_arrays(whole, wide), "refused"),
        "a_class_without_pictures": (with_array("sums.counts", 0, 0), "refused"),
        "a_count_below_zero": (with_array("sums.counts", 0, -1), "refused"),
        "counts_that_add_up_to_less_than_they_are": (with_array("sums.counts", 0, (1 << 63) - 1), "refused"),
        "a_sum_beyond_its_pictures": (with_array("sums.class_sums", 0, 127 * 4 + 1), "refused"),
        "a_square_below_zero": (with_array("sums.products", 0, -1), "refused"),
        "a_square_beyond_its_pictures": (with_array("sums.products", 0, 127**2 * 12 + 1), "refused"),
        "squares_below_the_sums": (with_array("sums.products", 2, 1), "refused"),
        "a_pair_beyond_its_squares": (with_array("sums.products", 1, 127**2 * 12), "refused"),
        "three_numbers_that_cannot_vary_so": (of_arrays(whole, three), "refused"),
        **{name: (data, "refused") for name, data in odd_forms(whole).items()},
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
