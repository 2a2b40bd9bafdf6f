"""Pictures are read on threads of their own while whoever asked for them works with those before.

    for path, picture in ahead(read, paths):     in the order of the paths
        use(picture())                           what read(path) returned, or the exception that it raised

Pillow's decoders and the core's resizing run without the interpreter's lock. At most AHEAD pictures a thread are begun
or waiting to be asked for. The items are taken on the caller's thread; with one core to use, or one item, so is
everything else. Whoever stops asking, by Ctrl-C too, waits for no more than the pictures that are being read.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Callable, Iterable, Iterator
from functools import partial
from itertools import chain, islice
from typing import TypeVar

from bitreplay.core import cores

T = TypeVar("T")
R = TypeVar("R")
MAX_THREADS = 4  # a decoder may take a hundred megabytes
AHEAD = 8  # of the small squares that they become


def ahead(function: Callable[[T], R], items: Iterable[T]) -> Iterator[tuple[T, Callable[[], R]]]:
    """Each item with a call for function(item), which is made beforehand on as many threads as there are cores."""
    left = iter(items)
    first = list(islice(left, 2))
    threads = min(cores.usable(), MAX_THREADS)
    if threads < 2 or len(first) < 2:
        yield from ((item, partial(function, item)) for item in chain(first, left))
        return
    from concurrent.futures import Future, ThreadPoolExecutor

    pool = ThreadPoolExecutor(threads, "pictures")
    begun: deque[tuple[T, Future[R]]] = deque()
    try:
        for item in chain(first, left):
            begun.append((item, pool.submit(function, item)))
            if len(begun) > AHEAD * threads:
                done, future = begun.popleft()
                yield done, future.result
        while begun:
            done, future = begun.popleft()
            yield done, future.result
    finally:
        pool.shutdown(wait=False, cancel_futures=True)
