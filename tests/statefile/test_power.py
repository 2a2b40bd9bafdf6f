"""Power may fail at any moment: processes are killed, disks are full, folders are read-only, two writers meet.

Children are forked, so that a kill can be placed between two system calls: the child says which call it is at.
"""

import os
import resource
import signal
import stat
import tempfile
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from bitreplay import Learner, StateFileError, StateInUse, statefile
from tests import tiny

FAST: dict[str, Any] = {"learning_rate": 0.3, "memory_per_class": 10}
CALLS = ("fsync", "replace", "link", "unlink", "open", "close")


def begun(path: Path, model: Path, strategy: str = "replay") -> Learner:
    learner = Learner.from_pretrained(model, strategy=strategy, **FAST)
    learner.learn(*tiny.pictures("red", "green", each=12))
    learner.save(path)
    return learner


def work(path: Path, model: Path, say: Callable[[], None]) -> None:
    """What a device does: load, learn one experience, save. `say` is called all along."""
    with statefile.Lock(path) as lock:
        learner = Learner.load(path, model)
        colour = ("blue", "white")[learner.experiences % 2]
        learner.learn(*tiny.pictures(colour, seed=learner.experiences), progress=lambda _: say())
        say()
        learner.save(path, lock=lock)
        say()


def in_child(action: Callable[[], object]) -> int:
    """The process number of a fork that runs `action` and ends without pytest's own clean-up."""
    child = os.fork()
    if child == 0:
        code = 1
        try:
            action()
            code = 0
        finally:
            os._exit(code)
    return child


def succeeds(action: Callable[[], object]) -> bool:
    return os.waitstatus_to_exitcode(os.waitpid(in_child(action), 0)[1]) == 0


def killed_at(moment: int, action: Callable[[Callable[[], None]], object]) -> None:
    """Run `action` in a child that is killed when it calls back for the `moment`th time, unless it ended before."""
    left = [moment]

    def say() -> None:
        left[0] -= 1
        if not left[0]:
            os.kill(os.getpid(), signal.SIGKILL)

    def run() -> None:
        for name in CALLS:
            setattr(os, name, _telling(getattr(os, name), say))
        action(say)

    os.waitpid(in_child(run), 0)


def _telling(function: Callable, say: Callable[[], None]) -> Callable:
    def call(*arguments, **named):
        say()
        result = function(*arguments, **named)
        say()
        return result

    return call


def moments(path: Path, model: Path) -> int:
    """How often an undisturbed run calls back."""
    count = [0]

    def say() -> None:
        count[0] += 1

    saved = {name: getattr(os, name) for name in CALLS}
    try:
        for name in CALLS:
            setattr(os, name, _telling(saved[name], say))
        work(path, model, say)
    finally:
        for name in CALLS:
            setattr(os, name, saved[name])
    return count[0]


@pytest.mark.parametrize("strategy", ["replay", "exact"])
@pytest.mark.parametrize("kills", [24, pytest.param(200, marks=pytest.mark.slow)])
def test_a_kill_at_any_moment_leaves_the_old_or_the_new_state(tmp_path, tiny_model, kills, strategy):
    """And the work, done again, ends in the state that it would have reached undisturbed."""
    path, twin = tmp_path / "state", tmp_path / "twin"
    begun(path, tiny_model, strategy)
    begun(twin, tiny_model, strategy)
    total = moments(twin, tiny_model)
    twin.unlink()
    begun(twin, tiny_model, strategy).save(twin)
    rng = np.random.default_rng(kills + 1)
    found = {"old": 0, "new": 0}
    old = Learner.load(path, tiny_model).state_hash()
    work(twin, tiny_model, lambda: None)
    new = Learner.load(twin, tiny_model).state_hash()
    for number in range(kills):
        # Half of the kills anywhere, half among the last 14 calls, in the middle of which the rename is.
        moment = int(rng.integers(1, total + 1) if number % 2 else rng.integers(total - 14, total + 1))
        killed_at(moment, lambda say: work(path, tiny_model, say))
        state = Learner.load(path, tiny_model).state_hash()
        assert state in (old, new), f"kill {number} at call {moment} of {total}"
        if state == new:
            work(twin, tiny_model, lambda: None)
            old, new = new, Learner.load(twin, tiny_model).state_hash()
            found["new"] += 1
        else:
            found["old"] += 1
        before = path.with_name("state.before")
        assert not before.exists() or Learner.load(before, tiny_model)
    assert found["old"] > kills // 4 and found["new"] > kills // 10, found
    work(path, tiny_model, lambda: None)
    assert Learner.load(path, tiny_model).state_hash() == new
    assert sorted(file.name for file in tmp_path.glob("state*")) == ["state", "state.before", "state.lock"]


@pytest.mark.parametrize("strategy", ["replay", "exact"])
def test_a_killed_forget_can_be_repeated(tmp_path, tiny_model, strategy):
    """At whatever call it is cut off, forgetting again leaves no generation with the class."""
    for moment in range(1, 60, 4):
        path = tmp_path / f"state{moment}"
        learner = begun(path, tiny_model, strategy)
        learner.learn(*tiny.pictures("blue", seed=1))
        learner.save(path)

        def forget(say: Callable[[], None], path: Path = path) -> None:
            learner = Learner.load(path, tiny_model)
            learner.forget("red")
            learner.save(path)

        killed_at(moment, forget)
        learner = Learner.load(path, tiny_model)
        if "red" in learner.labels:
            forget(lambda: None)
        for generation in (path, path.with_name(path.name + ".before")):
            assert set(Learner.load(generation, tiny_model).labels) == {"green", "blue"}, moment


def refused(path: Path, model: Path, sentence: str) -> None:
    """In a child: learn and save, and expect a sentence."""
    learner = Learner.load(path, model)
    learner.learn(*tiny.pictures("blue", seed=1))
    with pytest.raises(StateFileError, match=sentence):
        learner.save(path)


def test_a_full_disk_leaves_the_old_state(tmp_path, tiny_model):
    path = tmp_path / "state"
    learner = begun(path, tiny_model)
    learner.save(path)
    both = path.read_bytes(), path.with_name("state.before").read_bytes()

    def limited() -> None:
        resource.setrlimit(resource.RLIMIT_FSIZE, (2048, 2048))
        refused(path, tiny_model, "cannot be written: File too large. The state on disk is the old one.")

    assert succeeds(limited)
    assert (path.read_bytes(), path.with_name("state.before").read_bytes()) == both
    assert sorted(file.name for file in tmp_path.iterdir()) == ["state", "state.before", "state.lock"]


@pytest.mark.parametrize("call", ["fsync", "replace"])
def test_a_disk_that_fails_leaves_the_old_state(tmp_path, tiny_model, monkeypatch, call):
    path = tmp_path / "state"
    learner = begun(path, tiny_model)
    before = path.read_bytes()

    def fail(*_):
        raise OSError(28, "No space left on device")

    with monkeypatch.context() as patch:
        patch.setattr(os, call, fail)
        with pytest.raises(StateFileError, match="No space left on device"):
            learner.save(path)
    assert path.read_bytes() == before and not list(tmp_path.glob("*.part"))
    learner.save(path)


def test_a_read_only_folder_is_refused_and_can_still_be_read(tiny_model):
    with tempfile.TemporaryDirectory() as folder:
        os.chmod(folder, 0o755)
        path = Path(folder) / "state"
        begun(path, tiny_model)
        path.chmod(0o644)
        before = path.read_bytes()
        os.chmod(folder, stat.S_IRUSR | stat.S_IXUSR | stat.S_IROTH | stat.S_IXOTH)
        content = tiny_model.read_bytes()
        copy = Path(folder).parent / f"{Path(folder).name}.model"
        copy.write_bytes(content)
        try:

            def as_somebody() -> None:
                if os.getuid() == 0:
                    os.setgroups([])
                    os.setgid(65534)
                    os.setuid(65534)
                refused(path, copy, "cannot be written: Permission denied")

            assert succeeds(as_somebody)
        finally:
            copy.unlink()
            os.chmod(folder, 0o755)
        assert path.read_bytes() == before


def test_a_folder_that_does_not_exist_is_refused(tmp_path, tiny_model):
    learner = Learner.from_pretrained(tiny_model, **FAST)
    with pytest.raises(StateFileError, match="cannot be written: No such file or directory"):
        learner.save(tmp_path / "none" / "state")


def test_two_processes_never_lose_what_one_has_learned(tmp_path, tiny_model):
    """The second is refused with a sentence while the first learns; afterwards both may, one after another."""
    path = tmp_path / "state"
    begun(path, tiny_model)
    ready, go = os.pipe(), os.pipe()

    def first() -> None:
        with statefile.Lock(path) as lock:
            os.write(ready[1], b".")
            os.read(go[0], 1)
            learner = Learner.load(path, tiny_model)
            learner.learn(*tiny.pictures("blue", seed=1))
            learner.save(path, lock=lock)

    child = in_child(first)
    os.close(ready[1])
    assert os.read(ready[0], 1) == b"."
    second = Learner.load(path, tiny_model)
    second.learn(*tiny.pictures("white", seed=1))
    with pytest.raises(StateInUse, match="in use by another process; try again when it has finished"):
        second.save(path)
    with pytest.raises(StateInUse), statefile.Lock(path):
        pass
    os.write(go[1], b".")
    assert os.waitpid(child, 0)[1] == 0
    with pytest.raises(StateFileError, match="was changed by another process"):
        second.save(path)
    assert Learner.load(path, tiny_model).labels == ["green", "red", "blue"]
    work(path, tiny_model, lambda: None)
    assert Learner.load(path, tiny_model).experiences == 3


def resident_bytes() -> int:
    return int(Path("/proc/self/statm").read_text().split()[1]) * os.sysconf("SC_PAGE_SIZE")


@pytest.mark.skipif(not Path("/proc/self/statm").exists(), reason="the system does not say how much memory is used")
def test_memory_stays_level_over_a_thousand_experiences(tiny_model, tmp_path):
    learner = Learner.from_pretrained(tiny_model, learning_rate=0.3, memory_per_class=5, min_steps=2, epochs=1)
    replay_layer = 0
    for number in range(1000):
        images, labels = tiny.pictures("red", "blue", each=2, seed=number)
        learner.learn(images, [f"{label}{number % 5}" for label in labels])
        learner.predict(images)
        if number % 50 == 0:
            learner.save(tmp_path / "state")
        if number == 200:
            replay_layer = resident_bytes()
    assert resident_bytes() - replay_layer < 2 << 20
    assert len(tiny.inside(learner).memory) == 50 and (tmp_path / "state").stat().st_size < 64 << 10
