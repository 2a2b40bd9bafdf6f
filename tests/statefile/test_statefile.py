"""State files: what is saved is loaded; what does not fit, or belongs to another model, is refused in one sentence."""

from fractions import Fraction
from typing import Any

import numpy as np
import pytest

from bitreplay import Learner, StateFileError, StateInUse, statefile
from tests import tiny
from tests.statefile.edited import edited

FAST: dict[str, Any] = {"learning_rate": 0.3, "memory_per_class": 10, "seed": 5}


@pytest.fixture
def learner(tiny_model):
    learner = Learner.from_pretrained(tiny_model, **FAST)
    learner.learn(*tiny.pictures("red", "green"))
    return learner


@pytest.fixture
def path(tmp_path):
    return tmp_path / "state.safetensors"


def test_a_loaded_learner_is_the_saved_one_and_goes_on_like_it(learner, path, tiny_model):
    learner.learn(*tiny.pictures("blue", seed=1))
    learner.rename("blue", "sky")
    learner.save(path)
    loaded = Learner.load(path, tiny_model)
    assert loaded.state_hash() == learner.state_hash() and loaded.settings == learner.settings
    probe, _ = tiny.pictures(*tiny.COLOURS, seed=7)
    assert np.array_equal(loaded.predict_proba(probe), learner.predict_proba(probe))
    assert loaded.labels == ["green", "red", "sky"] and loaded.stored() == learner.stored()
    for other in (learner, loaded):
        other.learn(*tiny.pictures("white", seed=2))
    assert loaded.state_hash() == learner.state_hash()


@pytest.mark.parametrize("strategy", ["replay", "cwr", "naive", "exact"])
@pytest.mark.parametrize("bits", ["8/1/16", "8/4/16", "8/16/16"])
def test_every_strategy_and_width_can_be_saved(tiny_model, path, strategy, bits):
    learner = Learner.from_pretrained(tiny_model, strategy=strategy, bits=bits, augment=strategy != "exact", **FAST)
    learner.learn(*tiny.pictures("red", "green"))
    learner.save(path)
    assert Learner.load(path, tiny_model).state_hash() == learner.state_hash()


def test_a_learner_in_floating_point_can_be_saved(tiny_model, path):
    pytest.importorskip("torch")
    learner = Learner.from_pretrained(tiny_model, bits="float", **FAST)
    learner.learn(*tiny.pictures("red", "green"))
    learner.learn(np.zeros((20, 8, 8, 3), np.uint8), list(range(20)))
    learner.save(path)
    loaded = Learner.load(path, tiny_model)
    probe, _ = tiny.pictures("red", "green", seed=7)
    assert np.array_equal(loaded.predict_proba(probe), learner.predict_proba(probe))
    assert loaded.state_hash() == learner.state_hash() and len(tiny.inside(loaded).head.past) == 32


def test_a_state_that_knows_nothing_can_be_saved(tiny_model, path):
    learner = Learner.from_pretrained(tiny_model, **FAST)
    learner.save(path)
    assert Learner.load(path, tiny_model).state_hash() == learner.state_hash()


def test_the_model_is_found_by_checksum_among_those_shipped(path):
    learner = Learner.from_pretrained("bireal18", min_steps=1, epochs=1)
    learner.learn(*tiny.pictures("red", "green", each=1, side=32))
    learner.save(path)
    assert Learner.load(path).state_hash() == learner.state_hash()


def test_a_state_of_another_model_says_so(learner, path, tmp_path):
    learner.save(path)
    with pytest.raises(StateFileError, match="belongs to the model tiny0 with checksum [0-9a-f]{12}, not to tiny1"):
        Learner.load(path, tiny.model(tmp_path, seed=1))
    with pytest.raises(StateFileError, match="not among those shipped; name its file as `model`"):
        Learner.load(path)


def test_a_learner_without_a_model_file_cannot_be_saved(learner, path):
    bare = Learner(learner.strategy)
    with pytest.raises(ValueError, match="not made from a model file"):
        bare.save(path)


# generations


def test_rollback_goes_one_generation_back_and_no_further(learner, path, tiny_model):
    learner.save(path)
    first = learner.state_hash()
    learner.learn(*tiny.pictures("blue", seed=1))
    learner.save(path)
    learner = Learner.rollback(path, tiny_model)
    assert learner.state_hash() == first == Learner.load(path, tiny_model).state_hash()
    with pytest.raises(StateFileError, match="no revision before this one"):
        Learner.rollback(path, tiny_model)
    learner.learn(*tiny.pictures("white", seed=3))
    learner.save(path)
    assert Learner.rollback(path, tiny_model).state_hash() == first


def test_a_damaged_generation_before_is_not_put_back(learner, path, tiny_model):
    learner.save(path)
    learner.save(path)
    before = path.with_name(path.name + ".before")
    before.write_bytes(before.read_bytes()[:-1])
    with pytest.raises(StateFileError, match="truncated or damaged"):
        Learner.rollback(path, tiny_model)
    assert Learner.load(path, tiny_model).state_hash() == learner.state_hash()


def held_bytes(learner: Learner, label: str) -> list[bytes]:
    number = tiny.inside(learner).classes.number(label)
    return [row.tobytes() for row in tiny.inside(learner).memory.reservoirs[number].latents]


def test_forget_rewrites_every_generation(learner, path, tiny_model):
    """No file beside the state holds a forgotten sample, and rollback does not bring it back."""
    learner.save(path)
    learner.learn(*tiny.pictures("blue", seed=1))
    learner.save(path)
    (path.parent / f"{path.name}.4711.part").write_bytes(b"left by a killed process")
    rows = held_bytes(learner, "red")
    assert all(row in path.read_bytes() for row in rows)
    learner = Learner.load(path, tiny_model)
    assert learner.forget("red") is True
    learner.save(path)
    files = [file for file in path.parent.iterdir() if file.suffix != ".lock"]
    assert sorted(file.name for file in files) == [path.name, path.name + ".before"]
    others = {row for label in ("green", "blue") for row in held_bytes(learner, label)}
    gone = [row for row in rows if row not in others]
    assert gone and not any(row in file.read_bytes() for row in gone for file in files)
    back = Learner.rollback(path, tiny_model)
    assert back.labels == ["green", "blue"] and back.state_hash() == learner.state_hash()


def test_after_forgetting_and_saving_generations_are_kept_again(learner, path, tiny_model):
    learner.save(path)
    learner.forget("red")
    learner.save(path)
    kept = learner.state_hash()
    learner.learn(*tiny.pictures("blue", seed=1))
    learner.save(path)
    assert Learner.rollback(path, tiny_model).state_hash() == kept


# forgetting


def test_a_forgotten_class_is_never_answered_and_may_be_learned_anew(learner):
    learner.learn(*tiny.pictures("blue", "white", seed=1))
    learner.forget("red")
    assert learner.labels == ["green", "blue", "white"]
    assert "red" not in learner.predict(tiny.pictures("red", each=20, seed=9)[0])
    assert "red" not in [kept.label for kept in learner.stored()]
    assert learner.predict_proba(tiny.pictures("red")[0]).shape[1] == 3
    with pytest.raises(ValueError, match="There is no class 'red'"):
        learner.forget("red")
    learner.learn(*tiny.pictures("red", seed=2))
    assert learner.evaluate(*tiny.pictures(*tiny.COLOURS, each=20, seed=9)).accuracy > 0.8


def test_a_forgotten_sample_is_gone_and_its_place_is_taken_by_the_next(learner):
    stored = {kept.label: kept for kept in learner.stored()}
    sample = stored["red"].ids[0]
    assert learner.forget(sample=sample) is True
    assert learner.forget(sample=sample) is False
    assert {kept.label: kept.samples for kept in learner.stored()} == {"red": 7, "green": 8}
    learned = learner.learn(*tiny.pictures("red", each=1, seed=3))
    stored = {kept.label: kept for kept in learner.stored()}
    assert stored["red"].samples == 8 and learned.samples[0] in stored["red"].ids


def test_every_class_may_be_forgotten(learner):
    learner.forget("red")
    learner.forget("green")
    with pytest.raises(ValueError, match="Nothing has been learned yet"):
        learner.predict(tiny.pictures("red")[0])
    learner.learn(*tiny.pictures("blue"))
    assert learner.labels == ["blue"]


def test_forget_needs_one_thing_to_forget(learner):
    for arguments in ({}, {"label": "red", "sample": 0}):
        with pytest.raises(ValueError, match="either a label or a sample"):
            learner.forget(**arguments)


# two writers


def test_a_locked_state_is_refused(learner, path):
    learner.save(path)
    before = path.read_bytes()
    with statefile.Lock(path), pytest.raises(StateInUse, match="in use by another process"):
        learner.save(path)
    assert path.read_bytes() == before
    with statefile.Lock(path) as lock:
        learner.save(path, lock=lock)
    with pytest.raises(ValueError, match="lock is not held"):
        learner.save(path, lock=lock)


def test_a_writer_that_comes_late_does_not_undo_another(learner, path, tiny_model):
    learner.save(path)
    late = Learner.load(path, tiny_model)
    learner.learn(*tiny.pictures("blue", seed=1))
    learner.save(path)
    with pytest.raises(StateFileError, match="was changed by another process since it was loaded"):
        late.save(path)
    assert Learner.load(path, tiny_model).state_hash() == learner.state_hash()


def test_a_file_that_is_there_is_not_overwritten_by_a_stranger(learner, path, tiny_model):
    learner.save(path)
    stranger = Learner.from_pretrained(tiny_model, **FAST)
    with pytest.raises(StateFileError, match="holds another state; save with overwrite=True"):
        stranger.save(path)
    stranger.save(path, overwrite=True)
    assert Learner.load(path, tiny_model).state_hash() == stranger.state_hash()


# files that do not fit


def names(*new):
    return lambda arrays, learned, others: learned.update(names=list(new))


def counter(**new):
    return lambda arrays, learned, others: learned.update(new)


def other(name, value):
    return lambda arrays, learned, others: others.update({name: value})


def array(name, change):
    return lambda arrays, learned, others: arrays.update({name: change(arrays)})


CHANGES: dict[str, tuple[Any, str]] = {
    "no model": (lambda a, n, o: o.pop("model/name"), "'model/name' is missing"),
    "no digest": (lambda a, n, o: o.pop("model/digest"), "'model/digest' is missing"),
    "no size": (lambda a, n, o: o.pop("model/size"), "'model/size' is missing"),
    "a size of nothing": (other("model/size", np.int64(0)), "images have the side 0"),
    "a size of another type": (other("model/size", np.uint64(8)), "'model/size' is not an integer"),
    "a digest that is a number": (other("model/digest", np.int64(8)), "'model/digest' is not text"),
    "unknown setting": (other("settings/colour", "red"), "There is no setting 'colour'"),
    "bad setting": (other("settings/memory_per_class", np.uint64(0)), "memory_per_class must be"),
    "a setting too few": (lambda a, n, o: o.pop("settings/epochs"), "'settings/epochs' is missing"),
    "a setting of another type": (other("settings/epochs", np.int64(5)), "'epochs' has a value of no setting's type"),
    "a setting by another spelling": (other("settings/bits", "08/1/16"), "bits' does not have the one form"),
    "a fraction that is too fine": (other("settings/learning_rate", Fraction(1, 3 << 30)), "one form|must be"),
    "a machine's own setting": (other("settings/micro_batch_size", np.uint64(4)), "'settings/micro_batch_size' is not"),
    "fewer per class": (other("settings/memory_per_class", np.uint64(2)), "does not fit its model"),
    "other replay layer": (other("settings/replay_layer", "add_9"), "no replay layer 'add_9'"),
    "newer part": (other("versions/memory", np.int64(2)), "memory has version 2; this program reads versions"),
    "part of version 0": (other("versions/head", np.int64(0)), "head has version 0"),
    "a version too few": (lambda a, n, o: o.pop("versions/head"), "'versions/head' is missing"),
    "versions no numbers": (other("versions/head", "1"), "'versions/head' is not an integer"),
    "a part too many": (array("sums.more", lambda a: a["head.past"]), "'sums' is not known to the strategy"),
    "no counter": (lambda a, n, o: n.pop("experiences"), "'experiences' is missing"),
    "a counter too many": (counter(more=3), "'learned/counters/more' is not known"),
    "a section too many": (other("more", "x"), "'more' is not known"),
    "names twice": (names("a", "a"), "same name"),
    "names no list": (counter(names="a"), "classes are not names"),
    "names too many": (names(*"abcdefghijklmnopqrstuvw"), "does not fit its names"),
    "names too few": (names("a"), "Its head does not fit its names"),
    "negative steps": (counter(steps=-1), "counters are not integers"),
    "steps no number": (counter(steps="many"), "'steps' is missing"),
    "no head": (lambda a, n, o: a.pop("head.past"), "head.past is missing"),
    "head of another dtype": (array("head.past", lambda a: a["head.past"].astype(np.int32)), "another type"),
    "head too wide": (array("head.consolidated_weights", lambda a: np.zeros((16, 3), np.int32)), "not fit"),
    "past below 0": (array("head.past", lambda a: a["head.past"] - 99), "does not fit its names"),
    "memory too short": (array("memory.ids", lambda a: a["memory.ids"][1:]), "do not fit its samples"),
    "sizes below 0": (array("memory.sizes", lambda a: -a["memory.sizes"]), "do not fit its samples"),
    "seen too few": (array("memory.seen", lambda a: a["memory.seen"] * 0), "do not fit its samples"),
    "a class twice": (array("memory.classes", lambda a: a["memory.classes"] * 0), "differ in length"),
    "codes of another shape": (array("memory.codes", lambda a: a["memory.codes"][:, :1]), "not fit its model"),
    "a tensor too many": (array("tail.more", lambda a: a["head.past"]), "does not fit its model"),
    "a tensor too few": (lambda a, n, o: a.pop("tail.add_1.gamma"), "does not fit its model"),
}  # fmt: skip


@pytest.mark.parametrize("name", CHANGES)
def test_a_state_that_does_not_fit_is_refused(learner, path, tiny_model, name):
    change, sentence = CHANGES[name]
    learner.save(path)
    path.write_bytes(edited(path.read_bytes(), change))
    with pytest.raises(ValueError, match=sentence) as found:
        Learner.load(path, tiny_model)
    assert "\n" not in str(found.value)


def test_every_changed_or_missing_byte_is_seen(learner, path, tiny_model):
    learner.save(path)
    whole = path.read_bytes()
    for at in np.random.default_rng(0).integers(0, len(whole), 60):
        path.write_bytes(whole[:at] + bytes([whole[at] ^ 4]) + whole[at + 1 :])
        with pytest.raises(StateFileError):
            Learner.load(path, tiny_model)
        path.write_bytes(whole[:at])
        with pytest.raises(StateFileError):
            Learner.load(path, tiny_model)


def test_a_folder_and_a_missing_file_are_refused(tmp_path):
    with pytest.raises(StateFileError, match="is not a file"):
        Learner.load(tmp_path)
    with pytest.raises(StateFileError, match="No such file"):
        Learner.load(tmp_path / "none")
