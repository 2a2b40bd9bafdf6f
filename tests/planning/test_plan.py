"""A plan is what is taken: bytes part by part, for every shipped network, and what it proposes fits."""

from typing import Any

import pytest

from bitreplay import zoo
from bitreplay.cli.commands.plan import compare
from bitreplay.engine.bit_widths import Bits
from bitreplay.engine.compile import compile_backbone, compile_tail
from bitreplay.export.targets import BOARDS, CORES, TARGETS, core_of
from bitreplay.lifecycle import assembly
from bitreplay.modelfile import ModelFileError
from bitreplay.planning import work
from bitreplay.planning.budget import proposals
from bitreplay.planning.expected import expected
from bitreplay.planning.high_water import high_water
from bitreplay.planning.measure import measure
from bitreplay.planning.on_device import on_device
from bitreplay.planning.plan import plan
from bitreplay.settings import Settings
from bitreplay.strategies.replay import Replay
from bitreplay.strategies.requirements import FLASH, RAM

MODELS = [name for name in zoo.names() if name != "react_tiny"]
FEW: dict[str, Any] = {"memory_per_class": 2, "batch_size": 2, "replay_batch_size": 3}


def settings(model: zoo.Model) -> dict[str, Settings]:
    """Two of each strategy: other levels, widths, numbers."""
    return {
        "replay, last level": Settings(strategy="replay", **FEW),
        "replay, in parts": Settings(strategy="replay", micro_batch_size=2, **FEW),
        "replay, first level, latent weights": Settings(
            strategy="replay", replay_layer=model.replay_layers[0], bits="8/4/16", latent_bits=2, **FEW
        ),
        "exact": Settings(strategy="exact"),
        "exact, projected": Settings(strategy="exact", n_components=64),
        "exact, one layer, 16 bits": Settings(
            strategy="exact", bits="16/1/16", feature_layers=model.replay_layers[-1], exact_forget=True
        ),
    }


@pytest.mark.parametrize("case", settings(zoo.find("bireal18")))
@pytest.mark.parametrize("name", [pytest.param(n, marks=[pytest.mark.slow] * ("quick" in n)) for n in MODELS])
def test_planned_is_taken(name, case):
    model = zoo.find(name)
    if case == "exact, projected" and not model.companion("projection").exists():
        pytest.skip(f"{name} has no projection")
    if name.startswith("efficientnet") and case == "exact, one layer, 16 bits":  # made for q_f = 8: docs/zoo.md
        with pytest.raises(ModelFileError, match="BatchNorm's mean or beta is too large"):
            plan(model, settings(model)[case], classes=3)
        return
    made = plan(model, settings(model)[case], classes=3)
    taken = measure(model, made)
    different = [row for row in compare(made, taken) if row[2] != row[3]]
    assert different == [] and made.state == taken.state
    assert {item.part for item in made.items if item.where == "ram"} == {part for part, _ in taken.items}


@pytest.mark.parametrize("strategy", ["replay", "exact"])
def test_a_learner_s_own_footprint_is_the_plan_s(strategy):
    """What `bitreplay run` prints holds the programs too: a process has no flash."""
    model = zoo.find("vgg_small")
    chosen = Settings(strategy="replay", **FEW) if strategy == "replay" else Settings(strategy="exact")
    made, told = plan(model, chosen, 10), assembly.build(model, chosen).footprint()
    for part, name in {"replay": (("backbone", "backbone_working_memory"), ("tail", "tail_working_memory")),
                       "exact": (("network", "network_working_memory"),)}[strategy]:  # fmt: skip
        learned = sum(i.bytes for i in made.items if i.part == part and i.where == "ram" and i.what == "what learns")
        without = learned if part == "tail" else 0  # told apart there
        assert told[name] == sum(item.bytes for item in made.items if item.part == part) - without


def test_room_for_classes_doubles():
    model = zoo.find("vgg_small")
    for classes, strategy in ((16, "replay"), (17, "replay"), (17, "cwr")):
        made = plan(model, Settings(strategy=strategy, **FEW), classes)
        assert [row for row in compare(made, measure(model, made)) if row[2] != row[3]] == []
        assert ("memory" in {item.part for item in made.items if item.bytes}) == (strategy == "replay")


def test_work_is_that_of_the_network():
    """Every tap of every output: sixteen convolutions, four at each size, the first from half the channels."""
    graph, binary = zoo.find("bireal18").graph, 0
    for side, channels in ((32, 64), (16, 128), (8, 256), (4, 512)):
        inputs = [channels // 2 if channels > 64 else channels, channels, channels, channels]
        binary += sum(side**2 * channels * 9 * each for each in inputs)
    replay_layer = "add_12"
    backbone = work.count(compile_backbone(graph, replay_layer, Bits(), 1), ("forward",))
    tail = compile_tail(graph, replay_layer, Bits(8, 8, 16), 1, 10)
    forward, backward = work.count(tail, ("forward",)), work.count(tail, ("backward",))
    assert backbone["binary"] + forward["binary"] == binary
    assert forward["whole"] == 512 * 10
    # the level needs no gradient, so the first of three convolutions gives none on; all three have latent weights
    assert forward["binary"] == 3 * 16 * 512 * 9 * 512 and backward["signed"] == 5 * 16 * 512 * 9 * 512


def test_the_high_water_is_within_the_arena():
    graph = zoo.find("bireal18").graph
    few, many = (compile_tail(graph, "add_12", Bits(), samples, 10) for samples in (1, 40))
    for program in (few, many):
        found = high_water(program)
        largest = max(t.bytes(program.max_samples) for t in program.tensors if t.region == "arena")
        assert largest <= found.bytes <= program.arena_bytes
        assert found.bytes > 0.9 * program.arena_bytes, "the layout wastes little, so it is nearly all of it"
    assert high_water(many).operation == "sign_input_grad"


@pytest.fixture(scope="module")
def react18() -> zoo.Model:
    return zoo.find("react18")


def test_what_is_proposed_fits_and_the_best_comes_first(react18):
    whole = proposals(react18, 10, None, None)
    accuracies = [found.measured.accuracy for found in whole if found.measured]
    assert accuracies == sorted(accuracies, reverse=True)
    assert len(accuracies) == len(expected("react18", react18.digest))
    largest = max(found.plan.ram for found in whole)
    replays = [found.plan for found in whole if found.plan.settings.strategy == "replay"]
    replay = next(found for found in replays if found.settings.memory_per_class == 30)
    some = proposals(react18, 10, replay.ram - 1, 2_400_000)
    assert all(found.plan.ram < replay.ram < largest and found.plan.flash <= 2_400_000 for found in some)
    assert 0 < len(some) < len(whole) and replay.settings.batch_size == 32
    parts = {found.plan.settings.micro_batch_size for found in some if found.plan.settings.strategy == "replay"}
    assert parts <= {None, 64} and 64 in parts, "a minibatch as it was measured, in parts"
    (none,) = proposals(react18, 10, 1000, None)
    assert none.short == none.plan.ram - 1000


def test_what_is_proposed_for_a_target_is_the_learner_in_c_and_fits():
    tiny = zoo.find("react_tiny")
    found = proposals(tiny, 10, 300_000, 1_000_000, "cortex-m7")
    assert [each.plan.settings.n_components or each.plan.settings.feature_layers for each in found] == [
        128,
        "head",
        "add_11",
        64,
    ]  # the first two have rows
    assert found[1].plan == on_device(tiny, Settings(strategy="exact", feature_layers="head"), 10, "cortex-m7")
    assert all(each.plan.ram <= 300_000 and each.plan.flash <= 1_000_000 for each in found)
    (none,) = proposals(tiny, 10, 200_000, None, "cortex-m7")
    assert none.short == none.plan.ram - 200_000 and none.plan.ram < 300_000


def test_where_binary_weights_learn_the_minibatch_gets_smaller(react18):
    """They take their steps within the backward pass, so a minibatch cannot pass in parts."""
    learning, frozen = (
        Replay.with_less_memory(Settings(strategy="replay", bits=bits)) for bits in (Bits(8, 8, 16), Bits(8, 1, 16))
    )
    assert {each.micro_batch_size for each in learning} == {None} and [each.batch_size for each in learning][:2] == [
        32,
        16,
    ]
    assert {each.batch_size for each in frozen} == {32} and [each.micro_batch_size for each in frozen][:2] == [None, 64]
    alone, parts = (plan(react18, each, 10) for each in frozen[:2])
    assert parts.ram < alone.ram and parts.step_seconds == 2 * alone.step_seconds


def test_rows_of_other_weights_count_where_the_own_have_none(tmp_path, monkeypatch):
    from bitreplay.planning import expected as module

    old, new = "a" * 12, "b" * 12
    lines = [
        f"net,{old},CIFAR-10,exact,,1,8/1/16,30,,,1,90.0", f"net,{old},CIFAR-10,replay,,1,8/1/16,30,,,3,60.0",
        f"net,{new},CIFAR-10,exact,,1,8/1/16,30,,,1,80.0", f"other,{new},CIFAR-10,cwr,,1,8/1/16,30,,,1,99.0",
    ]  # fmt: skip
    monkeypatch.setattr(module, "FILE", tmp_path / "expected.csv")
    module.FILE.write_text("\n".join([",".join(module.HEADER), *lines]) + "\n")
    found = [(each.strategy, each.digest, each.accuracy) for each in expected("net", new + "c" * 52)]
    assert found == [("exact", new, 80.0), ("replay", old, 60.0)]


def test_a_device_is_planned_as_it_is_exported(tmp_path):
    """And without the copy of weights that vectors want, without seven of eight pictures, it takes less than here."""
    from bitreplay.export import write_folder
    from bitreplay.learner import Learner

    model, chosen = zoo.find("react_tiny"), Settings(strategy="exact", feature_layers="head")
    told = write_folder(Learner.from_pretrained(model, chosen), tmp_path, 16, "cortex-m7")["bytes"]
    made = on_device(model, chosen, 16, "cortex-m7")
    code = {item.where: item.bytes for item in made.items if item.part == "code"}
    assert (made.flash - code[FLASH], made.ram - code[RAM]) == (told["model"], told["learner"])
    linux = on_device(model, chosen, 16, "linux")
    assert all(item.part != "code" for item in linux.items) and linux.flash == told["model"]
    assert made.ram < plan(model, chosen, 16).ram
    with pytest.raises(ValueError, match="target must be one of"):
        on_device(model, chosen, 16, "abacus")
    with pytest.raises(ValueError, match="A plan for a target is for the strategy exact, got replay."):
        on_device(model, Settings(strategy="replay"), 16, "cortex-m7")


@pytest.mark.parametrize("board", BOARDS)
def test_a_board_is_planned_as_its_core_is_with_seconds_of_its_clock(board):
    model, chosen = zoo.find("react_tiny"), Settings(strategy="exact", feature_layers="head")
    made, core = on_device(model, chosen, 4, board), CORES[BOARDS[board].core]
    assert made.picture_instructions == core.instructions, "react_tiny is what was counted"
    assert made.picture_seconds == core.instructions / BOARDS[board].clock
    m7 = on_device(model, chosen, 4, "cortex-m7")
    code, of_m7 = (sum(item.bytes for item in each.items if item.part == "code") for each in (made, m7))
    assert made.ram == m7.ram and made.flash - m7.flash == code - of_m7
    smaller = on_device(model, chosen.changed(size=16), 4, board)
    assert 0.2 < smaller.picture_instructions / made.picture_instructions < 0.3, "a quarter of the pixels"


def test_what_a_board_of_each_core_is_comes_from_one_table():
    assert {BOARDS[name].core for name in BOARDS} <= set(CORES)
    assert set(TARGETS) - {"linux", "wasm"} <= set(CORES) | set(BOARDS)
    assert core_of("linux") is None and core_of("rp2040") == CORES["cortex-m0plus"]
