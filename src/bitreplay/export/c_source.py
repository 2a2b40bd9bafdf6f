"""Files for the build of a device: the model as a C array, and the operations that it uses."""

from __future__ import annotations

from bitreplay.engine.program import Program

_UNUSUAL = {"rprelu": "RPReLU", "rsign": "RSign"}
_A_LINE = 24


def operations_header(*programs: Program) -> str:
    """The list that core/src/machine/operation_list.h uses in place of its own.

    >>> from bitreplay.engine.program import Record
    >>> class OfTwo: records = [Record("rprelu", "forward", (), ()), Record("binary_conv", "forward", (), ())]
    >>> print(operations_header(OfTwo()))
    /* The operations that the exported program uses. */
    #define BR_OPERATIONS(EACH) EACH(kBinaryConv) EACH(kRPReLU)
    <BLANKLINE>
    """
    used = {record.operation for program in programs for record in program.records}
    words = " ".join(sorted(f"EACH({symbol(operation)})" for operation in used))
    return f"/* The operations that the exported program uses. */\n#define BR_OPERATIONS(EACH) {words}\n"


def symbol(operation: str) -> str:
    first, *rest = operation.split("_")
    return "k" + _UNUSUAL.get(first, first.capitalize()) + "".join(word.capitalize() for word in rest)


def c_array(image: bytes, name: str) -> str:
    """The bytes as a C array, aligned as the learner needs it."""
    lines = [
        "    " + ",".join(map(str, image[start : start + _A_LINE])) + "," for start in range(0, len(image), _A_LINE)
    ]
    return (
        f"/* A model for the learner in C: {len(image)} bytes. */\n"
        f"const unsigned char {name}[{len(image)}] __attribute__((aligned(64))) = {{\n" + "\n".join(lines) + "\n};\n"
    )
