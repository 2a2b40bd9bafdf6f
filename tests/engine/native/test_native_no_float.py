"""The compiled core holds no floating-point arithmetic: every instruction of it is disassembled and looked at.

Moves, shuffles and logic on vector registers (movaps, xorps, vandps, unpcklps ...) are not arithmetic: compilers use
them for integers too.
"""

from __future__ import annotations

import re
import shutil
import subprocess

import pytest

from bitreplay.engine import native

FORBIDDEN = {
    "x86-64": re.compile(
        r"^v?("
        r"(add|sub|mul|div|sqrt|min|max|round|rndscale|rcp|rsqrt|hadd|hsub|addsub|dp|cmp\w*|scalef|getexp|getmant|"
        r"fixupimm|range|reduce|fpclass|rcp14|rsqrt14|exp2|rcp28|rsqrt28)([ps][sdh])"
        r"|u?comis[sdh]|cvt\w+|fn?m(add|sub|addsub|subadd)\w*|4?fn?madd\w*|dpbf16ps"
        r")$"
        r"|^f(?!xsave|xrstor|ence)\w+$"
    ),
    "aarch64": re.compile(r"^(f(?!mov)\w+|[su]cvtf|bf\w*(dot|mla\w*|mmla|cvt\w*))$"),
}


def mnemonics(library) -> dict[str, int]:
    text = subprocess.check_output(["objdump", "-d", "--no-show-raw-insn", library], text=True)
    found: dict[str, int] = {}
    for line in text.splitlines():
        match = re.match(r"^\s+[0-9a-f]+:\s+(?:(?:rep\w*|lock|bnd|notrack|data16|cs|ds)\s+)*([a-z0-9_.]+)", line)
        if match:
            found[match[1]] = found.get(match[1], 0) + 1
    return found


def architecture(library) -> str:
    header = subprocess.check_output(["objdump", "-f", library], text=True)
    return "aarch64" if "aarch64" in header else "x86-64"


@pytest.mark.skipif(shutil.which("objdump") is None, reason="objdump is not installed")
def test_the_core_has_no_floating_point_arithmetic():
    kind = architecture(native.LIBRARY)
    found = mnemonics(native.LIBRARY)
    assert sum(found.values()) > 5000, "the disassembly is not the core's"
    assert {name for name in found if FORBIDDEN[kind].match(name)} == set()


@pytest.mark.parametrize(
    "kind, names",
    [
        ("x86-64", "addss subsd mulps divpd sqrtss cvtsi2sd cvttps2dq vaddps vmulpd vfmadd231ps vfnmadd132sd fadd fld "
                   "fild fmulp ucomisd vcmpps vcvtdq2ps maxsd vrndscaleps vdpbf16ps haddps"),
        ("aarch64", "fadd fmul fmadd fcvtzs scvtf ucvtf fcmp fmla fdiv bfdot"),
    ],
)  # fmt: skip
def test_arithmetic_is_recognised(kind, names):
    assert [name for name in names.split() if not FORBIDDEN[kind].match(name)] == []


@pytest.mark.parametrize(
    "kind, names",
    [
        ("x86-64", "movaps movups xorps vandps vxorpd unpcklps shufps movss movsd paddd vpermw vpopcntq movhps andnps "
                   "vinsertf128 vextracti32x4 add sub imul sqr mulx vmovntps vbroadcastss pcmpeqd vpcmpw vpaddw"),
        ("aarch64", "fmov add cnt tbl addv smull"),
    ],
)  # fmt: skip
def test_moves_are_not_arithmetic(kind, names):
    assert [name for name in names.split() if FORBIDDEN[kind].match(name)] == []
