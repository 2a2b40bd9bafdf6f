"""docs/law.md and the registry of operations say the same, and nothing lacks its oracle, vectors or worst case."""

from __future__ import annotations

import re

import pytest

from bitreplay.engine import layers as layers
from bitreplay.engine.operations import OPERATIONS
from tests.engine.law.case import makers
from tests.engine.law.make_vectors import FOLDER
from tests.engine.law.test_extremes import CASES

PAGE = (FOLDER.parent / "law.md").read_text()
SECTION = re.compile(r"^#### (\w+) \((\d+)\)\n\n(.+?)\n\n", re.MULTILINE | re.DOTALL)
SECTIONS = {name: (int(code), " ".join(head.split())) for name, code, head in SECTION.findall(PAGE)}
# These add nothing up: they compare, look up, pack, or round one number.
WITHOUT_SUMS = {"pack_signs", "pack_signs_clipped", "unpack_signs", "latent_signs", "image_table", "encode_latents",
                "decode_latents", "dense_operand"}  # fmt: skip


@pytest.mark.parametrize("name", sorted(OPERATIONS))
def test_an_operation_has_its_section(name):
    entry = OPERATIONS[name]
    attributes = f"attributes `{' '.join(entry.attributes)}`" if entry.attributes else "no attributes"
    head = f"Reads `{' '.join(entry.reads)}`, writes `{' '.join(entry.writes)}`; {attributes}. [{name}.json]"
    assert name in SECTIONS, f"docs/law.md has no section '#### {name} ({entry.code})'"
    assert SECTIONS[name] == (entry.code, f"{head}(law/{name}.json)")


def test_the_page_has_no_operation_that_does_not_exist():
    assert SECTIONS.keys() == OPERATIONS.keys()


def test_every_operation_has_random_cases_and_worst_cases():
    assert makers().keys() == OPERATIONS.keys()
    assert {case.operation for case in CASES} | WITHOUT_SUMS == OPERATIONS.keys()


def test_every_vector_file_is_named_on_the_page_and_every_link_leads_somewhere():
    linked = set(re.findall(r"\]\(law/(\w+\.json)\)", PAGE))
    assert linked == {path.name for path in FOLDER.glob("*.json")}


def test_the_page_names_the_numbers_that_the_code_has():
    from bitreplay.engine.arithmetic import softmax
    from bitreplay.engine.program import DTYPES, LISTS, REGIONS

    assert ", ".join(map(str, softmax.EXP2)) in PAGE and str(softmax.LOG2_E) in PAGE
    flat = " ".join(PAGE.split())
    for names in (REGIONS, LISTS, [dtype.name for dtype in DTYPES]):
        assert ", ".join(f"{number} {name}" for number, name in enumerate(names)) in flat
