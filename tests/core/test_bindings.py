"""Bindings are what the headers say, and lie in memory as the compiler lays them out."""

from __future__ import annotations

import ctypes
import importlib.util
import re
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

from bitreplay.core import interface, library

ROOT = Path(__file__).resolve().parents[2]
SPEC = importlib.util.spec_from_file_location("make_bindings", ROOT / "tools" / "make_bindings.py")
assert SPEC is not None and SPEC.loader is not None
make_bindings = sys.modules["make_bindings"] = importlib.util.module_from_spec(SPEC)
SPEC.loader.exec_module(make_bindings)
STRUCTURES = {name: kind for name, kind in vars(interface).items() if hasattr(kind, "_fields_") and name[:3] == "br_"}


def written(text: str, tmp_path: Path) -> object:
    header = tmp_path / "bitreplay.h"
    header.write_text(text)
    return make_bindings.Interface([header], make_bindings.WASM_ONLY)


@pytest.mark.parametrize("name", make_bindings.OUTPUTS)
def test_bindings_are_those_of_the_headers(name):
    headers = make_bindings.Interface(make_bindings.HEADERS, make_bindings.WASM_ONLY)
    fresh = (ROOT / name).read_text() == make_bindings.OUTPUTS[name](headers)
    assert fresh, f"{name} is not what core/include says; run python tools/make_bindings.py"


def test_every_function_and_structure_of_the_headers_is_there():
    text = "".join(path.read_text() for path in make_bindings.HEADERS)
    assert set(re.findall(r"BR_API [^(]*?\b(br_\w+)\(", text)) == set(interface.FUNCTIONS)
    assert set(re.findall(r"^\} (br_\w+);", text, re.M)) == set(STRUCTURES)
    assert all(hasattr(library(), name) for name in interface.FUNCTIONS)


def test_structures_lie_as_the_compiler_lays_them_out(tmp_path):
    """Sizes and offsets of every field, printed by a program that includes the headers."""
    if shutil.which("cc") is None:
        pytest.skip("There is no C compiler: the structures were not compared.")
    includes = "".join(f'#include "{path.name}"\n' for path in make_bindings.HEADERS)
    rows = [f'P("{name}", sizeof({name}));' for name in STRUCTURES]
    rows += [
        f'P("{name}.{field[0]}", offsetof({name}, {field[0]}));'
        for name, kind in STRUCTURES.items()
        for field in kind._fields_
    ]
    source, binary = tmp_path / "layout.c", tmp_path / "layout"
    source.write_text(f'#include <stdio.h>\n{includes}#define P(n, v) printf("%s %zu\\n", n, v)\n'
                      f"int main(void) {{ {' '.join(rows)} return 0; }}\n")  # fmt: skip
    subprocess.run(["cc", f"-I{ROOT / 'core' / 'include'}", source, "-o", binary], check=True)
    lines = subprocess.run([binary], capture_output=True, text=True, check=True).stdout.splitlines()
    printed = dict(line.split() for line in lines)
    for name, kind in STRUCTURES.items():
        assert ctypes.sizeof(kind) == int(printed[name]), name
        for field in kind._fields_:
            assert getattr(kind, field[0]).offset == int(printed[f"{name}.{field[0]}"]), (name, field)


def test_fields_are_aligned_in_webassembly(tmp_path):
    text = "typedef struct br_inner {\n  char* text;\n  int64_t number;\n} br_inner;\n"
    text += "typedef struct br_outer {\n  uint8_t first;\n  br_inner inner;\n  uint32_t more[3], last;\n} br_outer;\n"
    size, alignment, places = make_bindings.placed(written(text, tmp_path), "br_outer")
    assert {name: at for name, (at, _) in places.items()} == {"first": 0, "inner": 8, "more": 24, "last": 36}
    assert (size, alignment) == (40, 8)


def test_a_new_function_and_a_new_field_reach_every_language(tmp_path):
    structure = "typedef struct br_new {\n  uint64_t field;\n} br_new;\n"
    headers = written(f"{structure}BR_API int64_t br_made(const br_new* it, size_t n);\n", tmp_path)
    assert '"br_made": (c_int64, [POINTER(br_new), c_size_t]),' in make_bindings.python(headers)
    assert "  br_made(it: number, n: number): bigint;" in make_bindings.typescript(headers)
    assert '  fields: { field: [0, "BigUint64"] },' in make_bindings.javascript(headers)


@pytest.mark.parametrize(
    "text",
    [
        "BR_API float br_made(void);\n",
        "BR_API int br_made(unsigned int n);\n",
        "typedef struct br_new {\n  double field;\n} br_new;\n",
        "BR_API int br_made(int (*call)(void));\n",
    ],
)
def test_what_is_not_understood_is_an_error(text, tmp_path):
    with pytest.raises(AssertionError):
        written(text, tmp_path)
