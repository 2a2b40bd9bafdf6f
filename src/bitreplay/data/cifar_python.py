"""CIFAR's "Python version": dictionaries that Python 2 pickled. They are read here without unpickling.

A pickle is a program for a stack machine whose instructions may call anything. This reader knows only those that build
plain values. The three functions that the files name are not imported: a call of one is recorded with its arguments.
Everything else is refused.
"""

from __future__ import annotations

import pickletools
from collections.abc import Callable
from typing import Any

import numpy as np

RECONSTRUCT = ("numpy.core.multiarray _reconstruct", "numpy._core.multiarray _reconstruct")
KNOWN = (*RECONSTRUCT, "numpy ndarray", "numpy dtype", "_codecs encode")
# Instructions that push their argument.
PLAIN = ("BININT", "BININT1", "BININT2", "LONG1", "SHORT_BINSTRING", "BINSTRING", "BINUNICODE", "SHORT_BINUNICODE",
         "SHORT_BINBYTES", "BINBYTES")  # fmt: skip
PIXELS = 3072
# The published files have up to 310,000 instructions. One makes a value of some hundred bytes at most, or text that is
# in the file; only "encode" and arrays copy text, which may be in the file once and be used often.
MAX_INSTRUCTIONS = 1 << 20


class Call:
    """A call that is not made: its name, its arguments, and the state that its result would have been given."""

    def __init__(self, name: str, arguments: tuple[Any, ...]) -> None:
        self.name, self.arguments = name, arguments
        self.state: Any = None


def parse_pickle(content: bytes, title: str) -> Any:
    """The value of a pickle of dictionaries, lists, tuples, numbers, text, bytes and arrays of bytes."""
    try:
        return Machine(len(content)).run(content)
    except Exception as error:
        raise ValueError(f"{title} is not one of CIFAR's files: {' '.join(str(error).split())[:100]}.") from None


class Machine:
    """The stack machine; `max_encoded` limits the bytes that are made of text in all."""

    def __init__(self, max_encoded: int) -> None:
        self.stack: list[Any] = []
        self.marks: list[int] = []  # the height of the stack at each mark
        self.encodable = max_encoded

    def run(self, content: bytes) -> Any:
        memo: dict[Any, Any] = {}
        for count, (opcode, argument, _) in enumerate(pickletools.genops(content)):
            name = opcode.name
            if count == MAX_INSTRUCTIONS:
                raise ValueError(f"it has more than {MAX_INSTRUCTIONS} instructions")
            if name == "PROTO":
                continue
            if name == "STOP":
                return self.stack.pop()
            if name in ("BINPUT", "LONG_BINPUT"):
                memo[argument] = self.stack[-1]
            elif name in ("BINGET", "LONG_BINGET"):
                self.stack.append(memo[argument])
            elif name == "MARK":
                self.marks.append(len(self.stack))
            elif name in PLAIN:
                self.stack.append(argument)
            elif name in VALUES:
                self.stack.append(VALUES[name](argument))
            elif name in CHANGES:
                CHANGES[name](self)
            else:
                raise ValueError(f"it holds the instruction {name}")
        raise ValueError("it ends too early")

    def pop_marked(self) -> list[Any]:
        """Pop everything above the last mark."""
        at = self.marks.pop()
        values = self.stack[at:]
        del self.stack[at:]
        return values

    def encoded(self, text: str) -> bytes:
        self.encodable -= len(text)
        if self.encodable < 0:
            raise ValueError("it makes more bytes than it has")
        return text.encode("latin1")

    def append(self) -> None:
        value = self.stack.pop()
        self._list().append(value)

    def appends(self) -> None:
        values = self.pop_marked()
        self._list().extend(values)

    def item(self) -> None:
        value, key = self.stack.pop(), self.stack.pop()
        self._set([key, value])

    def items(self) -> None:
        self._set(self.pop_marked())

    def tuple_of(self, count: int) -> None:
        self.stack[len(self.stack) - count :] = [tuple(self.stack[len(self.stack) - count :])]

    def call(self) -> None:
        arguments, name = self.stack.pop(), self.stack.pop()
        if type(arguments) is not tuple or len(arguments) > 3:
            raise ValueError("it calls something with unusual arguments")
        if name == "_codecs encode":  # how Python 3 writes bytes for Python 2
            text, encoding = arguments
            if encoding != "latin1":
                raise ValueError(f"it is encoded as {encoding!s:.20}")
            self.stack.append(self.encoded(text))
        else:
            self.stack.append(Call(_word(name), arguments))

    def build(self) -> None:
        """The state of an array: version, shape, type, order, bytes."""
        state, call = self.stack.pop(), self.stack.pop()
        call.state = state
        self.stack.append(self._array(call) if call.name in RECONSTRUCT else call)

    def _array(self, call: Call) -> np.ndarray:
        _, shape, dtype, fortran, data = call.state
        if not isinstance(dtype, Call) or dtype.name != "numpy dtype" or dtype.arguments[0] not in ("u1", b"u1"):
            raise ValueError("its array is not of bytes")
        content = data if isinstance(data, bytes) else self.encoded(data)
        return np.frombuffer(content, np.uint8).reshape(shape, order="F" if fortran else "C")

    def _list(self) -> list[Any]:
        if type(self.stack[-1]) is not list:
            raise ValueError("it appends to something that is not a list")
        return self.stack[-1]

    def _set(self, pairs: list[Any]) -> None:
        """Keys must be text: hashing nested tuples would have no limit."""
        if type(self.stack[-1]) is not dict or not all(isinstance(key, str | bytes) for key in pairs[::2]):
            raise ValueError("it has keys that are not text")
        self.stack[-1].update(zip(pairs[::2], pairs[1::2], strict=True))


def _word(argument: str) -> str:
    if not isinstance(argument, str) or argument not in KNOWN:
        raise ValueError(f"it names {argument!s:.60}")
    return argument


VALUES: dict[str, Any] = {
    "EMPTY_DICT": lambda _: {}, "EMPTY_LIST": lambda _: [], "EMPTY_TUPLE": lambda _: (), "NONE": lambda _: None,
    "NEWTRUE": lambda _: True, "NEWFALSE": lambda _: False, "GLOBAL": _word,
}  # fmt: skip
CHANGES: dict[str, Callable[[Machine], None]] = {
    "APPEND": Machine.append, "APPENDS": Machine.appends, "SETITEM": Machine.item, "SETITEMS": Machine.items,
    "TUPLE": lambda machine: machine.stack.append(tuple(machine.pop_marked())), "REDUCE": Machine.call,
    "TUPLE1": lambda machine: machine.tuple_of(1), "TUPLE2": lambda machine: machine.tuple_of(2),
    "TUPLE3": lambda machine: machine.tuple_of(3), "BUILD": Machine.build,
}  # fmt: skip


def parse_batch(content: bytes, name: str, labels: str) -> tuple[np.ndarray, np.ndarray]:
    """Images (n, 32, 32, 3) and labels of one file; `labels` is their key."""
    value = parse_pickle(content, name)
    pixels: Any = value.get("data") if isinstance(value, dict) else None
    numbers: Any = value.get(labels) if isinstance(value, dict) else None
    fits = isinstance(pixels, np.ndarray) and isinstance(numbers, list) and pixels.shape == (len(numbers), PIXELS)
    if not fits or not all(type(number) is int and 0 <= number < 256 for number in numbers):
        raise ValueError(f"{name} does not have {PIXELS} bytes per image and as many {labels}.")
    images = pixels.reshape(-1, 3, 32, 32).transpose(0, 2, 3, 1)
    return np.ascontiguousarray(images), np.array(numbers, np.int64)
