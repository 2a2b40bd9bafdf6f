"""CIFAR's "Python version": dictionaries that Python 2 pickled. They are read here without unpickling.

A pickle is a program for a stack machine whose instructions may call anything. This reader knows only those that build
plain values, and treats the three names that stand in the files as words: a "call" of them is kept as what was
given, and nothing is imported or called. Everything else is refused.
"""

from __future__ import annotations

import pickletools
from typing import Any

import numpy as np

RECONSTRUCT = ("numpy.core.multiarray _reconstruct", "numpy._core.multiarray _reconstruct")
KNOWN = (*RECONSTRUCT, "numpy ndarray", "numpy dtype", "_codecs encode")
# Instructions that put their own argument on the stack.
PLAIN = ("BININT", "BININT1", "BININT2", "LONG1", "SHORT_BINSTRING", "BINSTRING", "BINUNICODE", "SHORT_BINUNICODE",
         "SHORT_BINBYTES", "BINBYTES")  # fmt: skip
PIXELS = 3072
MARK = object()


class Call:
    """What would have been called with what, and the state that it would have been given."""

    def __init__(self, name: str, arguments: tuple[Any, ...]) -> None:
        self.name, self.arguments = name, arguments
        self.state: Any = None


def plain(content: bytes, title: str) -> Any:
    """The value of a pickle that is made of dictionaries, lists, tuples, numbers, text, bytes and arrays of bytes."""
    try:
        return _run(content)
    except Exception as error:
        raise ValueError(f"{title} is not one of CIFAR's files: {' '.join(str(error).split())[:100]}.") from None


def _run(content: bytes) -> Any:
    stack: list[Any] = []
    memo: dict[Any, Any] = {}
    for opcode, argument, _ in pickletools.genops(content):
        name = opcode.name
        if name == "PROTO":
            continue
        if name == "STOP":
            return stack.pop()
        if name in ("BINPUT", "LONG_BINPUT"):
            memo[argument] = stack[-1]
        elif name in ("BINGET", "LONG_BINGET"):
            stack.append(memo[argument])
        elif name in PLAIN:
            stack.append(argument)
        elif name in VALUES:
            stack.append(VALUES[name](argument))
        elif name in CHANGES:
            CHANGES[name](stack)
        else:
            raise ValueError(f"it holds the instruction {name}")
    raise ValueError("it ends too early")


def _word(argument: str) -> str:
    if argument not in KNOWN:
        raise ValueError(f"it names {argument[:60]}")
    return argument


def _marked(stack: list[Any]) -> list[Any]:
    """What lies above the last mark, which goes."""
    at = max(k for k, value in enumerate(stack) if value is MARK)
    found = stack[at + 1 :]
    del stack[at:]
    return found


def _items(stack: list[Any]) -> None:
    pairs = _marked(stack)
    stack[-1].update(zip(pairs[::2], pairs[1::2], strict=True))


def _item(stack: list[Any]) -> None:
    value, key = stack.pop(), stack.pop()
    stack[-1][key] = value


def _append(stack: list[Any]) -> None:
    value = stack.pop()
    stack[-1].append(value)


def _tuple(count: int) -> Any:
    def change(stack: list[Any]) -> None:
        stack[len(stack) - count :] = [tuple(stack[len(stack) - count :])]

    return change


def _call(stack: list[Any]) -> None:
    arguments, name = stack.pop(), stack.pop()
    if name == "_codecs encode":  # how Python 3 writes bytes for Python 2
        text, encoding = arguments
        if encoding != "latin1":
            raise ValueError(f"it is encoded as {encoding}")
        stack.append(text.encode("latin1"))
    else:
        stack.append(Call(_word(name), tuple(arguments)))


def _build(stack: list[Any]) -> None:
    """The state of an array: version, shape, type, order, bytes."""
    state = stack.pop()
    call = stack.pop()
    call.state = state
    stack.append(_array(call) if call.name in RECONSTRUCT else call)


def _array(call: Call) -> np.ndarray:
    _, shape, dtype, fortran, data = call.state
    if not isinstance(dtype, Call) or dtype.name != "numpy dtype" or dtype.arguments[0] not in ("u1", b"u1"):
        raise ValueError("its array is not of bytes")
    content = data if isinstance(data, bytes) else data.encode("latin1")
    return np.frombuffer(content, np.uint8).reshape(shape, order="F" if fortran else "C")


VALUES: dict[str, Any] = {
    "EMPTY_DICT": lambda _: {}, "EMPTY_LIST": lambda _: [], "EMPTY_TUPLE": lambda _: (), "MARK": lambda _: MARK,
    "NONE": lambda _: None, "NEWTRUE": lambda _: True, "NEWFALSE": lambda _: False, "GLOBAL": _word,
}  # fmt: skip
CHANGES: dict[str, Any] = {
    "APPEND": _append, "APPENDS": lambda stack: stack[-1].extend(found) if (found := _marked(stack)) else None,
    "SETITEM": _item, "SETITEMS": _items, "TUPLE": lambda stack: stack.append(tuple(_marked(stack))),
    "TUPLE1": _tuple(1), "TUPLE2": _tuple(2), "TUPLE3": _tuple(3), "REDUCE": _call, "BUILD": _build,
}  # fmt: skip


def batch(content: bytes, name: str, labels: str) -> tuple[np.ndarray, np.ndarray]:
    """Images (n, 32, 32, 3) and labels of one file; `labels` is their key."""
    found = plain(content, name)
    pixels: Any = found.get("data") if isinstance(found, dict) else None
    numbers: Any = found.get(labels) if isinstance(found, dict) else None
    fits = isinstance(pixels, np.ndarray) and isinstance(numbers, list) and pixels.shape == (len(numbers), PIXELS)
    if not fits or not all(type(number) is int for number in numbers):
        raise ValueError(f"{name} has no data of {PIXELS} bytes an image with as many {labels}.")
    images = pixels.reshape(-1, 3, 32, 32).transpose(0, 2, 3, 1)
    return np.ascontiguousarray(images), np.array(numbers, np.int64)
