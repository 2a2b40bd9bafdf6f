"""The public learner on a tiny model: what it learns, how it grows, what a failed call leaves behind."""

import subprocess
import sys
from fractions import Fraction
from typing import Any

import numpy as np
import pytest

import bitreplay
from bitreplay import Learner, LearningStopped, zoo
from bitreplay.lifecycle import assembly
from bitreplay.strategies.replay import Replay
from tests import tiny

FAST: dict[str, Any] = {"learning_rate": 0.3, "memory_per_class": 10}


@pytest.fixture
def learner(tiny_model):
    return Learner.from_pretrained(tiny_model, **FAST)


def teach(learner: Learner, *groups: tuple[str, ...]) -> Learner:
    for number, group in enumerate(groups):
        learner.learn(*tiny.pictures(*group, each=12, seed=number))
    return learner


PAIRS = (("red", "green"), ("blue", "white"))


def test_it_learns_classes_one_pair_after_another_and_keeps_the_first(learner):
    teach(learner, *PAIRS)
    result = learner.evaluate(*tiny.pictures(*tiny.COLOURS, each=20, seed=9))
    assert result.accuracy > 0.9 and learner.labels == ["green", "red", "blue", "white"]
    assert set(result.per_class) == set(tiny.COLOURS) and result.confusion.sum() == 80


def test_replay_is_what_keeps_them(tiny_model):
    accuracy = {}
    for strategy in ("replay", "naive"):
        learner = teach(Learner.from_pretrained(tiny_model, strategy=strategy, **FAST), *PAIRS)
        accuracy[strategy] = learner.evaluate(*tiny.pictures("red", "green", each=20, seed=9)).accuracy
    assert accuracy["replay"] > accuracy["naive"] + 0.3


@pytest.mark.parametrize("strategy", ["replay", "cwr", "naive"])
@pytest.mark.parametrize("bits", ["8/1/16", "16/1/8", "32/1/32", "8/4/16", "8/8/16"])
def test_every_strategy_and_width_learns_one_pair(tiny_model, strategy, bits):
    learner = teach(Learner.from_pretrained(tiny_model, strategy=strategy, bits=bits, **FAST), ("red", "blue"))
    assert learner.evaluate(*tiny.pictures("red", "blue", each=20, seed=9)).accuracy > 0.9


@pytest.mark.parametrize("latent_bits", [1, 2, 4, 8])
def test_every_code_learns_and_takes_its_bytes(tiny_model, latent_bits):
    learner = teach(Learner.from_pretrained(tiny_model, latent_bits=latent_bits, **FAST), *PAIRS)
    assert learner.evaluate(*tiny.pictures(*tiny.COLOURS, each=20, seed=9)).accuracy > 0.9
    assert tiny.inside(learner).memory.bytes == 4 * 10 * 2 * 2 * 8 * latent_bits


def test_pictures_of_another_size_are_resized_at_the_door(learner, tiny_model):
    large, labels = tiny.pictures("red", "green", side=20)
    from bitreplay.data.pictures.fitting import fit_pictures

    small = Learner.from_pretrained(tiny_model, **FAST)
    learner.learn(large, labels)
    small.learn(fit_pictures(large, tiny.SIDE), labels)
    assert learner.state_hash() == small.state_hash()


def test_labels_of_any_kind_mean_the_same(tiny_model):
    images, labels = tiny.pictures("red", "green")
    hashes = set()
    for form in (labels, tuple(labels), np.array(labels), np.array(labels, object)):
        learner = Learner.from_pretrained(tiny_model, **FAST)
        learner.learn(images, form)
        hashes.add(learner.state_hash())
    assert len(hashes) == 1


def test_numbers_as_labels_come_back_as_numbers(learner):
    images, labels = tiny.pictures("red", "green")
    learner.learn(images, np.array([{"red": 70, "green": 3}[label] for label in labels], np.uint8))
    answers = learner.predict(images)
    assert answers.dtype == np.int64 and set(answers.tolist()) <= {3, 70}


def test_one_name_stands_for_all_pictures_and_one_picture_is_enough(learner):
    images, _ = tiny.pictures("red", "green", each=3)
    learner.learn(images[:3], "red")
    learned = learner.learn(images[3], "green")
    assert learned.new_classes == ["green"] and learned.samples == range(3, 4)
    assert learner.predict(images).tolist() == ["red"] * 3 + ["green"] * 3


def test_a_class_seen_again_and_an_experience_of_known_classes_only(learner):
    teach(learner, *PAIRS)
    learned = learner.learn(*tiny.pictures("red", "blue", each=6, seed=5))
    assert learned.new_classes == [] and learned.experience == 2
    stored = {kept.label: kept for kept in learner.stored()}
    assert stored["red"].seen == 18 and stored["red"].samples == 10 and stored["white"].seen == 12
    assert set(stored["red"].experiences) <= {0, 2} and sum(stored["red"].experiences.values()) == 10
    assert learner.evaluate(*tiny.pictures(*tiny.COLOURS, each=20, seed=9)).accuracy > 0.9


def test_what_is_stored_is_named_by_class_experience_and_sample(learner):
    first = learner.learn(*tiny.pictures("red", "green", each=4))
    learner.learn(*tiny.pictures("red", each=2, seed=1))
    stored = {kept.label: kept for kept in learner.stored()}
    assert stored["red"].experiences == {0: 4, 1: 2} and stored["green"].experiences == {0: 4}
    assert sorted(stored["red"].ids + stored["green"].ids) == list(range(10)) and first.samples == range(8)
    assert sum(kept.bytes for kept in learner.stored()) == tiny.inside(learner).memory.bytes == 10 * 2 * 2 * 8


def test_head_and_tail_grow_as_if_they_had_always_been_large(tiny_model):
    """New names double the capacity; what is learned is the same as in a learner that began with room for all."""
    model = zoo.find(tiny_model)
    roomy = Learner(Replay.with_room(assembly.context_of(model, bitreplay.Settings.of(**FAST)), 64), model)
    growing = Learner.from_pretrained(model, **FAST)
    rng = np.random.default_rng(0)
    for start in range(0, 40, 5):
        images = rng.integers(0, 256, (10, 8, 8, 3), dtype=np.uint8)
        labels = np.repeat(np.arange(start, start + 5), 2)
        for learner in (growing, roomy):
            learner.learn(images, labels)
        assert len(tiny.inside(growing).head.past) == (16 if start + 5 <= 16 else 32 if start + 5 <= 32 else 64)
    assert growing.state_hash() == roomy.state_hash()
    assert np.array_equal(growing.predict(images), roomy.predict(images))


@pytest.mark.parametrize("classes", [1_000, pytest.param(10_000, marks=pytest.mark.slow)])
def test_many_classes(tiny_model, classes):
    learner = Learner.from_pretrained(tiny_model, learning_rate=0.3, memory_per_class=1, epochs=1)
    images = np.random.default_rng(0).integers(0, 256, (classes, 8, 8, 3), dtype=np.uint8)
    learned = learner.learn(images, np.arange(classes))
    assert len(learned.new_classes) == len(learner.labels) == len(learner.stored()) == classes
    assert learner.predict_proba(images[:2]).shape == (2, classes)
    found = learner.evaluate(images[:40], np.arange(40))
    assert found.samples == 40 and len(found.per_class) == 40 and len(found.labels) == classes
    assert learner.learn(images[:40], "one more").new_classes == ["one more"]


def test_settings_may_be_given_whole_and_changed(tiny_model):
    whole = bitreplay.Settings(memory_per_class=7, learning_rate=Fraction(3, 10))
    assert Learner.from_pretrained(tiny_model, whole).settings == whole
    assert Learner.from_pretrained(tiny_model, whole, seed=3).settings == bitreplay.Settings(
        memory_per_class=7, learning_rate=Fraction(3, 10), seed=3
    )
    with pytest.raises(ValueError, match="settings must be Settings, got 7"):
        Learner.from_pretrained(tiny_model, 7)  # type: ignore[arg-type]


def test_a_learner_that_stores_nothing_cannot_answer_unknown(tiny_model):
    learner = teach(Learner.from_pretrained(tiny_model, strategy="cwr", **FAST), ("red", "green"))
    with pytest.raises(ValueError, match="unknown must be 0 with cwr"):
        learner.predict(tiny.pictures("red")[0], unknown=0.1)


def test_a_class_may_keep_its_name(learner):
    teach(learner, ("red", "green"))
    learner.rename("red", "red")
    assert learner.labels == ["green", "red"]


def test_probabilities_agree_with_the_answers(learner):
    teach(learner, *PAIRS)
    images, _ = tiny.pictures(*tiny.COLOURS, seed=3)
    found = learner.predict_proba(images)
    assert found.shape == (32, 4) and np.abs(found.sum(axis=1) - 1).max() < 1e-6
    assert [learner.labels[k] for k in found.argmax(axis=1)] == learner.predict(images).tolist()


def test_evaluate_counts_classes_that_were_never_learned_as_wrong(learner):
    teach(learner, ("red", "green"))
    result = learner.evaluate(*tiny.pictures("red", "green", "blue", each=20, seed=9))
    assert result.per_class["blue"] == 0 and result.seen_accuracy > 0.9
    assert result.accuracy == pytest.approx(result.seen_accuracy * 2 / 3)


def test_an_answer_may_be_unknown(tiny_model):
    """White was never seen: its pictures are refused, those of known colours are not."""
    learner = teach(Learner.from_pretrained(tiny_model, unknown=0.1, **FAST), ("red", "green", "blue"))
    known, _ = tiny.pictures("red", "green", "blue", each=20, seed=9)
    is_ood, _ = tiny.pictures("white", each=60, seed=9)
    refused = [np.mean([answer is None for answer in learner.predict(images)]) for images in (known, is_ood)]
    assert refused[0] < 0.3 and refused[1] > 0.9
    assert None not in learner.predict_encoded(tiny.inside(learner).memory.latents).tolist()
    assert None not in learner.predict(is_ood, unknown=0).tolist()
    never = teach(Learner.from_pretrained(tiny_model, **FAST), ("red", "green", "blue"))
    assert None not in never.predict(is_ood).tolist()
    with pytest.raises(ValueError, match="unknown must be"):
        learner.predict(is_ood, unknown=2)


def test_augmentation_is_deterministic_and_changes_the_result(tiny_model):
    hashes = [
        teach(Learner.from_pretrained(tiny_model, augment=augment, **FAST), *PAIRS).state_hash()
        for augment in (True, True, False)
    ]
    assert hashes[0] == hashes[1] != hashes[2]


def test_augmented_pictures_are_stored_as_they_are_and_no_more_of_them_than_stay(tiny_model, monkeypatch):
    learner, encoded = Learner.from_pretrained(tiny_model, augment=True, **FAST), list[int]()
    encode = tiny.inside(learner).backbone.latents

    def counted(images):
        encoded.append(len(images))
        return encode(images)

    monkeypatch.setattr(tiny.inside(learner).backbone, "latents", counted)
    images, labels = tiny.pictures("red", "green", each=40)
    learned = learner.learn(images, labels)
    assert encoded[learned.steps :] == [2 * FAST["memory_per_class"]] and sum(encoded[: learned.steps]) % 80 == 0
    kept = tiny.inside(learner).memory.reservoirs.values()
    assert all(np.array_equal(reservoir.latents, encode(images[reservoir.ids])) for reservoir in kept)


def test_another_process_with_the_same_seed_ends_in_the_same_state(learner, tiny_model):
    code = (
        "import sys; from bitreplay import Learner; from tests import tiny\n"
        f"learner = Learner.from_pretrained({str(tiny_model)!r}, learning_rate=0.3, memory_per_class=10)\n"
        "for k, pair in enumerate((('red', 'green'), ('blue', 'white'))):\n"
        "    learner.learn(*tiny.pictures(*pair, each=12, seed=k))\n"
        "print(learner.state_hash())"
    )
    other = subprocess.check_output([sys.executable, "-c", code], text=True).strip()
    assert teach(learner, *PAIRS).state_hash() == other


def test_the_caller_s_arrays_are_neither_kept_nor_changed(learner):
    images, labels = tiny.pictures("red", "green")
    before = images.copy()
    learner.learn(images, labels)
    assert np.array_equal(images, before)
    state = learner.state_hash()
    images[...] = 0
    labels[:] = []
    assert learner.state_hash() == state
    for array in learner.state().parts["head"].arrays.values():
        with pytest.raises(ValueError, match="read-only"):
            array[...] = 99


# progress, cancelling, time limits


def test_progress_counts_pictures_and_then_steps(learner):
    seen: list[bitreplay.Progress] = []
    learned = learner.learn(*tiny.pictures("red", "green", each=20), progress=seen.append)
    pictures = [p.done for p in seen if p.part == "pictures"]
    steps = [p.done for p in seen if p.part == "steps"]
    assert pictures == list(range(4, 41, 4)) and steps == list(range(1, learned.steps + 1))
    assert all(p.total == (40 if p.part == "pictures" else learned.steps) for p in seen)


def test_pictures_of_another_size_are_counted_while_they_are_fitted_and_can_be_stopped(learner):
    large = [np.zeros((40, 30, 3), np.uint8)] * 3
    seen: list[bitreplay.Progress] = []
    learner.learn(large, "dark", progress=seen.append)
    assert [(p.done, p.total) for p in seen if p.part == "fitting"] == [(0, 3), (1, 3), (2, 3)]
    before, told = learner.state_hash(), list[bitreplay.Progress]()
    for pictures in (large, np.stack(large)):
        with pytest.raises(LearningStopped, match="cancelled"):
            learner.learn(pictures, "dark", cancel=lambda: True, progress=told.append)
    assert told == [] and learner.state_hash() == before


def after(calls: int):
    """A function that says yes at its n-th call."""
    left = [calls]

    def cancel() -> bool:
        left[0] -= 1
        return left[0] < 0

    return cancel


@pytest.mark.parametrize("calls", [0, 1, 5, 19])
def test_a_cancelled_learn_leaves_everything_as_it_was(learner, tiny_model, calls):
    teach(learner, ("red", "green"))
    before = learner.state_hash()
    images, labels = tiny.pictures("red", "blue", seed=4)
    names = [f"{label}{k}" for k, label in enumerate(labels)] + ["x"] * 8
    with pytest.raises(LearningStopped, match="cancelled; nothing has changed"):
        learner.learn(np.concatenate([images, images[:8]]), names, cancel=after(calls))
    assert learner.state_hash() == learner.strategy.state().hash() == before and learner.labels == ["green", "red"]
    untroubled = teach(Learner.from_pretrained(tiny_model, **FAST), ("red", "green"))
    for other in (learner, untroubled):
        other.learn(images, labels)
    assert learner.state_hash() == untroubled.state_hash()


def test_a_time_limit_stops_and_leaves_everything_as_it_was(learner):
    teach(learner, ("red", "green"))
    before = learner.state_hash()
    with pytest.raises(LearningStopped, match="longer than 0 s"):
        learner.learn(*tiny.pictures("blue"), time_limit=0)
    assert learner.state_hash() == before
    learner.learn(*tiny.pictures("blue"), time_limit=60)
    assert "blue" in learner.labels


@pytest.mark.parametrize("error", [KeyboardInterrupt, MemoryError, ZeroDivisionError])
@pytest.mark.parametrize("at", ["step", "consolidate", "update"])
def test_whatever_fails_inside_leaves_everything_as_it_was(learner, monkeypatch, error, at):
    teach(learner, ("red", "green"))
    before = learner.state_hash()
    inside = tiny.inside(learner)
    place = {"step": inside.tail, "consolidate": inside.head, "update": inside.memory}[at]
    original = getattr(place, at)

    def fail(*arguments):
        original(*arguments)
        raise error

    with monkeypatch.context() as patch:
        patch.setattr(place, at, fail)
        with pytest.raises(error):
            learner.learn(*tiny.pictures("red", "blue", seed=4))
    assert learner.state_hash() == learner.strategy.state().hash() == before


# bad input


BAD = [
    (np.zeros((2, 8, 8, 3)), ["a", "b"], "uint8"),
    (np.zeros((2, 8, 8, 4), np.uint8), ["a", "b"], "shape"),
    (np.zeros((0, 8, 8, 3), np.uint8), [], "no pictures"),
    (np.zeros((2, 8, 8, 3), np.uint8), ["a"], "as many labels as pictures, got 1 and 2"),
    (np.zeros((2, 8, 8, 3), np.uint8), ["a", 1.5], "text or an integer"),
    (np.zeros((2, 8, 8, 3), np.uint8), ["a", None], "text or an integer"),
    (np.zeros((2, 8, 8, 3), np.uint8), np.array([1.0, np.nan]), "text or an integer"),
]


@pytest.mark.parametrize(("images", "labels", "sentence"), BAD)
def test_bad_input_is_refused_in_a_sentence_and_changes_nothing(learner, images, labels, sentence):
    teach(learner, ("red", "green"))
    probe, _ = tiny.pictures("red", "green", seed=8)
    before, answers = learner.state_hash(), learner.predict_proba(probe)
    for call in (learner.learn, learner.evaluate):
        with pytest.raises(ValueError, match=sentence):
            call(images, labels)
    assert learner.state_hash() == before
    assert np.array_equal(learner.predict_proba(probe), answers)


def test_a_learner_that_knows_nothing_says_so(learner):
    images, labels = tiny.pictures("red")
    for call in (learner.predict, learner.predict_proba, lambda x: learner.evaluate(x, labels)):
        with pytest.raises(ValueError, match="Nothing has been learned yet"):
            call(images)


@pytest.mark.parametrize(
    "latents", [np.zeros((2, 2, 2, 1)), np.zeros((2, 2, 3, 1), np.uint64), np.zeros((0, 2, 2, 1), np.uint64), [1, 2]]
)
def test_codes_of_another_kind_are_refused(learner, latents):
    teach(learner, ("red", "green"))
    before = learner.state_hash()
    for call in (lambda: learner.learn_encoded(latents, "red"), lambda: learner.predict_encoded(latents)):
        with pytest.raises(ValueError, match=r"Latents must be uint64 of shape \(n, \*\(2, 2, 1\)\)"):
            call()
    assert learner.state_hash() == before


def test_models_and_levels_that_do_not_exist_are_refused(tiny_model, tmp_path):
    with pytest.raises(ValueError, match="There is no model 'resnet': expected .*bireal18"):
        Learner.from_pretrained("resnet")
    with pytest.raises(ValueError, match="tiny0 has no replay layer 'add_9'; expected add_0"):
        Learner.from_pretrained(tiny_model, replay_layer="add_9")
    with pytest.raises(TypeError, match="unexpected keyword argument 'per_klass'"):
        Learner.from_pretrained(tiny_model, per_klass=3)  # type: ignore[call-arg]
    (tmp_path / "text.safetensors").write_text("not a model")
    with pytest.raises(ValueError, match="not a bitreplay file"):
        Learner.from_pretrained(tmp_path / "text.safetensors")


def test_the_package_has_few_public_names():
    assert set(bitreplay.__all__) == {
        "Bits", "History", "Learner", "LearningStopped", "Progress", "Settings", "StateFileError", "StateInUse",
        "follow", "labelled", "read",
    }  # fmt: skip
    assert all(hasattr(bitreplay, name) for name in bitreplay.__all__)
    with pytest.raises(AttributeError, match="no attribute 'Teacher'"):
        bitreplay.Teacher  # noqa: B018
