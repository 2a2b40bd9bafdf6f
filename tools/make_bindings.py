"""Bindings of the C interface, written from core/include: nobody writes down twice how a structure lies in memory.

    python tools/make_bindings.py             writes the files of `OUTPUTS`
    python tools/make_bindings.py --check     exit code 1 if a file is not what the headers say

    src/bitreplay/core/interface.py   ctypes: structures, callbacks, the functions' types, values of enums
    js/interface.js                   where each field of a structure lies in WebAssembly's memory; values of enums
    js/interface.d.ts                 the same for TypeScript, and the functions that `Core.call` has

Understands the C of these headers: fixed-width integers, size_t, pointers, arrays of fixed length, plain structures,
enums that count from 0, integer macros, function types. Anything else is an error, not a guess.
"""

from __future__ import annotations

import re
import sys
import textwrap
from dataclasses import dataclass
from pathlib import Path

ROOT = Path(__file__).resolve().parents[1]
HEADERS = sorted((ROOT / "core/include").glob("*.h"))
WASM_ONLY = ROOT / "core/wasm/state_in_memory.cc"  # functions that the WebAssembly module has in addition

# C: ctypes, bytes in WebAssembly, DataView's name, TypeScript
SCALARS = {
    "char": ("c_char", 1, "Int8", "number"),
    "int": ("c_int", 4, "Int32", "number"),
    "int8_t": ("c_int8", 1, "Int8", "number"),
    "uint8_t": ("c_uint8", 1, "Uint8", "number"),
    "int16_t": ("c_int16", 2, "Int16", "number"),
    "int32_t": ("c_int32", 4, "Int32", "number"),
    "uint32_t": ("c_uint32", 4, "Uint32", "number"),
    "int64_t": ("c_int64", 8, "BigInt64", "bigint"),
    "uint64_t": ("c_uint64", 8, "BigUint64", "bigint"),
    "size_t": ("c_size_t", 4, "Uint32", "number"),
}
POINTER = ("c_void_p", 4, "Uint32", "number")


@dataclass(frozen=True)
class Field:
    """`kind` is a scalar or the name of a structure; `stars` counts pointers; `length` is that of an array, or 0."""

    name: str
    kind: str
    stars: int
    length: int
    constant: bool


@dataclass(frozen=True)
class Function:
    name: str
    result: Field
    arguments: tuple[Field, ...]


class Interface:
    """What the headers declare, in their order."""

    def __init__(self, headers: list[Path], more: Path) -> None:
        self.structures: dict[str, list[Field | Function]] = {}
        self.callbacks: dict[str, Function] = {}
        self.functions: list[Function] = []
        self.values: dict[str, int] = {}
        text = "".join(_plain(path) for path in _in_order(headers))
        for name, value in re.findall(r"^#define (BR_\w+) (\d+)$", text, re.M):
            self.values[name] = int(value)
        for body in re.findall(r"\benum \w+ \{(.*?)\};", text, re.S):
            self.values |= {name.strip(): value for value, name in enumerate(body.split(","))}
        for result, name, arguments in re.findall(r"typedef (\w+) (br_\w+)\(([^;]*)\);", text):
            self.callbacks[name] = Function(name, _field(result), _arguments(arguments))
        for name, body in re.findall(r"typedef struct (br_\w+) \{(.*?)\} \1;", text, re.S):
            self.structures[name] = [field for line in body.split(";") if line.strip() for field in _fields(line)]
        self.functions = _functions(text, ";")
        self.wasm_functions = _functions(_plain(more), r"\s*\{")
        declared = set(re.findall(r"\b(br_\w+)\(", text)) - set(self.callbacks)
        assert declared == {function.name for function in self.functions}, "a function was not understood"


def _in_order(headers: list[Path]) -> list[Path]:
    """A header after those that it includes."""
    order: list[Path] = []
    for path in headers:
        included = re.findall(r'#include "(\w+\.h)"', path.read_text())
        for one in [*_in_order([path.parent / name for name in included]), path]:
            if one not in order:
                order.append(one)
    return order


def _plain(path: Path) -> str:
    text = re.sub(r"/\*.*?\*/|//[^\n]*", "", path.read_text(), flags=re.S)
    return re.sub(r"[ \t]+(?=\n)", "", text)


def _functions(text: str, end: str) -> list[Function]:
    rows = re.findall(rf"BR_API ([\w \*]+?)\b(br_\w+)\(([^)]*)\){end}", text)
    return [Function(name, _field(result), _arguments(arguments)) for result, name, arguments in rows]


def _arguments(text: str) -> tuple[Field, ...]:
    return () if text.strip() == "void" else tuple(_field(one) for one in text.split(","))


def _fields(line: str) -> list[Field | Function]:
    """`uint32_t width, height`, `uint32_t shape[4]`, `int (*read)(void* context)`."""
    if match := re.fullmatch(r"\s*(\w+) \(\*(\w+)\)\((.*)\)\s*", line, re.S):
        return [Function(match[2], _field(match[1]), _arguments(match[3]))]
    first, *others = line.split(",")
    field = _field(first)
    return [field, *(Field(name.strip(), field.kind, field.stars, 0, field.constant) for name in others)]


def _field(text: str) -> Field:
    match = re.fullmatch(r"\s*(const )?(\w+)\s*(\**)\s*(\w*)(?:\[(\d+)\])?\s*", text)
    assert match and (match[2] in SCALARS or match[2] == "void" or match[2].startswith("br_")), text
    return Field(match[4], match[2], len(match[3]), int(match[5] or 0), bool(match[1]))


# Python


def python(interface: Interface) -> str:
    def of(field: Field, argument: bool, counted: bool = False) -> str:
        """Pointers to data are addresses; only arguments say which structure they point to. Text whose length is
        counted does not end with a 0."""
        if field.kind in interface.callbacks:
            return field.kind
        if field.kind == "char" and (field.stars or (field.length and argument)) and not counted:
            return "c_char_p"
        if argument and field.length:
            return "c_void_p"
        if argument and field.stars == 2:
            return "POINTER(c_void_p)"
        if argument and field.stars and field.kind in interface.structures:
            return f"POINTER({field.kind})"
        if field.stars:
            return "c_void_p"
        if field.kind == "void":
            return "None"
        kind = SCALARS[field.kind][0] if field.kind in SCALARS else field.kind
        return f"{kind} * {field.length}" if field.length else kind

    def called(function: Function) -> str:
        return f"CFUNCTYPE({', '.join([of(function.result, False), *(of(one, False) for one in function.arguments)])})"

    lines = [f"{name} = {value}" for name, value in interface.values.items()]
    lines += ["", *(f"{name} = {called(function)}" for name, function in interface.callbacks.items())]
    for name, fields in interface.structures.items():
        counted = any(field.name == "length" for field in fields)
        rows = [
            f'        ("{field.name}", {called(field) if isinstance(field, Function) else of(field, False, counted)}),'
            for field in fields
        ]
        lines += ["", "", f"class {name}(Structure):", "    _fields_ = [", *rows, "    ]"]
    lines += ["", "", "FUNCTIONS: dict[str, tuple[Any, list[Any]]] = {"]
    for function in interface.functions:
        types = ", ".join(of(one, True) for one in function.arguments)
        lines += textwrap.wrap(
            f'"{function.name}": ({of(function.result, True)}, [{types}]),', 112,
            initial_indent="    ", subsequent_indent="        ",
        )  # fmt: skip
    text = "\n".join([*lines, "}"])
    used = sorted(
        set(re.findall(r"\b(c_\w+|CFUNCTYPE|POINTER)\b", text)) | {"Structure"},
        key=lambda name: (not name.isupper(), name[0].islower(), name),
    )
    imported = "\n".join(f"    {name}," for name in used)
    return (
        '"""The C interface of core/include for ctypes, by the names of the headers. '
        "Written by tools/make_bindings.py.\n\n"
        "A pointer to a structure is `POINTER(br_...)`, which takes the structure itself; "
        "any other pointer is an address.\n"
        f'"""\n\n# fmt: off\nfrom ctypes import (\n{imported}\n)\nfrom typing import Any\n\n{text}\n'
    )


# JavaScript


def placed(interface: Interface, name: str) -> tuple[int, int, dict[str, tuple[int, Field | Function]]]:
    """A structure in WebAssembly's memory: its size, its alignment, and where its fields lie."""
    end, widest, places = 0, 1, {}
    for field in interface.structures[name]:
        if isinstance(field, Field) and not field.stars and field.kind in interface.structures:
            size, alignment, _ = placed(interface, field.kind)
        else:
            size = alignment = _scalar(field)[1]
        end = -(-end // alignment) * alignment
        places[field.name] = (end, field)
        end += size * max(1, field.length if isinstance(field, Field) else 0)
        widest = max(widest, alignment)
    return -(-end // widest) * widest, widest, places


def _scalar(field: Field | Function) -> tuple[str, int, str, str]:
    pointer = isinstance(field, Function) or field.stars or field.kind not in SCALARS
    return POINTER if pointer or not isinstance(field, Field) else SCALARS[field.kind]


def javascript(interface: Interface) -> str:
    lines = [
        "/**",
        " * Structures of core/include in WebAssembly's memory: bytes, and of each field its offset and DataView's",
        " * name for its type. Written by tools/make_bindings.py.",
        " */",
        "",
    ]
    for name in interface.structures:
        size, _, places = placed(interface, name)
        fields = ", ".join(f"{field}: [{at}, {_view(interface, kind)}]" for field, (at, kind) in places.items())
        rows = textwrap.wrap(f"fields: {{ {fields} }},", 120, initial_indent="  ", subsequent_indent="    ")
        lines += [f"export const {name} = {{", f"  bytes: {size},", *rows, "};", ""]
    lines += [f"export const {name} = {value};" for name, value in interface.values.items()]
    return "\n".join(lines) + "\n"


def _view(interface: Interface, field: Field | Function) -> str:
    """A structure within a structure stands by its name."""
    inner = isinstance(field, Field) and not field.stars and field.kind in interface.structures
    return field.kind if inner and isinstance(field, Field) else f'"{_scalar(field)[2]}"'


def typescript(interface: Interface) -> str:
    lines = ["// What js/interface.js has, and the functions of the module. Written by tools/make_bindings.py.", ""]
    lines += ["export type Layout = { bytes: number; fields: Record<string, [number, string | Layout]> };", ""]
    lines += [f"export const {name}: Layout;" for name in interface.structures]
    lines += ["", *(f"export const {name}: {value};" for name, value in interface.values.items())]
    lines += ["", "/** Addresses are numbers, 64-bit integers BigInt. */", "export interface CoreFunctions {"]
    for function in [*interface.functions, *interface.wasm_functions]:
        arguments = ", ".join(
            f"{_argument(one, number)}: {_type(one)}" for number, one in enumerate(function.arguments)
        )
        result = "void" if function.result.kind == "void" and not function.result.stars else _type(function.result)
        row = f"{function.name}({arguments}): {result};"
        lines += textwrap.wrap(row, 120, initial_indent="  ", subsequent_indent="    ")
    return "\n".join([*lines, "}"]) + "\n"


def _argument(field: Field, number: int) -> str:
    return field.name or f"argument_{number}"


def _type(field: Field) -> str:
    return POINTER[3] if field.stars or field.length or field.kind not in SCALARS else SCALARS[field.kind][3]


OUTPUTS = {
    "src/bitreplay/core/interface.py": python,
    "js/interface.js": javascript,
    "js/interface.d.ts": typescript,
}


def main() -> int:
    interface = Interface(HEADERS, WASM_ONLY)
    stale = []
    for name, write in OUTPUTS.items():
        path, text = ROOT / name, write(interface)
        if path.exists() and path.read_text() == text:
            continue
        stale.append(name)
        if "--check" not in sys.argv[1:]:
            path.write_text(text)
    for name in stale:
        print(name)
    return int(bool(stale) and "--check" in sys.argv[1:])


if __name__ == "__main__":
    sys.exit(main())
