"""Pictures are read ahead in order, a few at a time, and fail where they would have failed."""

import signal
import subprocess
import sys
import threading
import time
from collections.abc import Generator
from itertools import count, islice

import numpy as np
import pytest
from PIL import Image

from bitreplay.core import cores
from bitreplay.data.folder import load
from bitreplay.data.pictures import ahead as module
from bitreplay.data.pictures.ahead import AHEAD, ahead
from bitreplay.data.pictures.fitting import fit_pictures
from bitreplay.data.pictures.picture import refuse

CORES = (1, 2, 4)
INTERRUPTED = """
import signal, time
from bitreplay.core import cores
from bitreplay.data.pictures.ahead import ahead
signal.signal(signal.SIGINT, signal.default_int_handler)  # a shell may have started the tests without it
cores.usable = lambda: 2
def read(number):
    time.sleep(0.05)
    return number
try:
    for number, picture in ahead(read, range(10**9)):
        if picture() == 2: print("begun", flush=True)
except KeyboardInterrupt:
    print("stopped", flush=True)
"""


@pytest.fixture(params=CORES)
def usable(request, monkeypatch):
    monkeypatch.setattr(cores, "usable", lambda: request.param)
    return request.param


def test_results_come_in_order_however_long_each_takes(usable):
    def slow_first(number):
        time.sleep(0.03 if number % 5 == 0 else 0)
        return number * number

    assert [(n, picture()) for n, picture in ahead(slow_first, range(30))] == [(n, n * n) for n in range(30)]


def test_an_error_is_raised_where_its_picture_is_asked_for_and_others_go_on(usable):
    def read(number):
        if number % 3 == 1:
            raise ValueError(f"{number} cannot be read.")
        return number

    found = []
    for number, picture in ahead(read, range(7)):
        try:
            found.append(picture())
        except ValueError as error:
            found.append(f"{number}: {error}")
    assert found == [0, "1: 1 cannot be read.", 2, 3, "4: 4 cannot be read.", 5, 6]


def test_no_more_than_a_few_are_begun(usable):
    taken, begun = list[int](), list[int]()

    def items():
        for number in count():
            taken.append(number)
            yield number

    reading = ahead(begun.append, items())
    assert isinstance(reading, Generator)
    for number, picture in islice(reading, 20):
        picture()
        assert len(begun) <= len(taken) <= number + 2 + AHEAD * min(usable, module.MAX_THREADS)
    reading.close()
    before = len(taken)
    time.sleep(0.05)
    assert len(taken) == before


@pytest.mark.parametrize("n_items", [0, 1])
def test_one_picture_takes_no_thread(usable, n_items):
    before = threading.active_count()
    who = [picture() for _, picture in ahead(lambda _: threading.current_thread(), range(n_items))]
    assert who == [threading.main_thread()] * n_items and threading.active_count() == before


def test_threads_are_used_where_there_are_cores(usable):
    def slow(number):
        time.sleep(0.01)
        return threading.get_ident()

    who = {picture() for _, picture in ahead(slow, range(12))}
    assert len(who) == (1 if usable == 1 else usable) and (threading.get_ident() in who) == (usable == 1)


def test_paths_and_arrays_are_fitted_in_their_order(usable, tmp_path):
    generator, images = np.random.default_rng(0), []
    for number in range(12):
        pixels = generator.integers(0, 256, (20 + number, 24, 3), np.uint8)
        Image.fromarray(pixels).save(tmp_path / f"{number:02}.png")
        images.append(pixels if number in (3, 4, 11) else tmp_path / f"{number:02}.png")
    files = sorted(tmp_path.iterdir())
    expected = np.concatenate([fit_pictures(str(file), 16) for file in files])
    assert np.array_equal(fit_pictures(images, 16), expected)
    assert np.array_equal(load(files, 16, refuse)[1], expected)
    files[5].write_text("no picture")
    with pytest.raises(ValueError, match=r"05\.png cannot be read as a picture: its format is unknown"):
        fit_pictures(files, 16)
    errors = list[ValueError]()
    readable, pixels = load(files, 16, errors.append)
    assert readable == files[:5] + files[6:] and np.array_equal(pixels, np.delete(expected, 5, axis=0))
    assert ["05.png" in str(error) for error in errors] == [True]


def test_ctrl_c_stops_it():
    with subprocess.Popen([sys.executable, "-c", INTERRUPTED], stdout=subprocess.PIPE, text=True) as process:
        assert process.stdout is not None and process.stdout.readline() == "begun\n"
        process.send_signal(signal.SIGINT)
        try:
            assert process.communicate(timeout=20)[0].split()[-1:] == ["stopped"] and process.returncode == 0
        finally:
            process.kill()
