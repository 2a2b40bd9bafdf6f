"""Experiments: a run makes the row it was asked for, rows are not made twice, results are drawn from rows."""

import json
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest

from bitreplay.data.cifar import CIFAR10_MD5

FOLDER = Path(__file__).resolve().parents[2] / "experiments"


@pytest.fixture(autouse=True)
def experiments(monkeypatch):
    monkeypatch.syspath_prepend(str(FOLDER))


@pytest.fixture
def data(tmp_path, monkeypatch):
    """Ten classes, each of one brightness; 5 training images a class, in files of CIFAR-10's layout."""
    folder, rng = tmp_path / "cifar-10-batches-bin", np.random.default_rng(0)
    folder.mkdir()
    for name in CIFAR10_MD5:
        labels = rng.permutation(10)
        noise = rng.integers(0, 12, (10, 3072))
        records = np.concatenate([labels[:, None], 25 * labels[:, None] + noise], axis=1)
        (folder / name).write_bytes(records.astype(np.uint8).tobytes())
    monkeypatch.setenv("BITREPLAY_DATA", str(tmp_path))
    import sources

    sources.pictures.cache_clear()


@pytest.fixture
def make(data, tiny_model, tmp_path):
    from run import Run, row

    def call(**fields):
        return row(Run(model=str(tiny_model), memory_per_class=3).changed(**fields), tmp_path / "codes")

    return call


def test_a_row_names_what_it_was_asked_for(make):
    from grid import run_of
    from run import Run

    result = make(seed=1, images=4)
    requested = run_of(json.loads(json.dumps(result)))
    assert requested == Run(model=requested.model, memory_per_class=3, images=4, seed=1)
    assert len(result["after"]) == 5 and result["after"][-1] == result["final"] and sum(result["classes"]) == 10
    assert result["memory_bytes"] == 10 * 3 * 2 * 2 * 8
    assert make(seed=1, images=4)["hash"] == result["hash"] != make(seed=2, images=4)["hash"]


def test_a_copy_without_git_is_told_its_commit_and_machine(make, monkeypatch):
    monkeypatch.setenv("BITREPLAY_COMMIT", "0f7d23d")
    monkeypatch.setenv("BITREPLAY_MACHINE", "a processor, a GPU")
    result = make(images=4)
    assert (result["commit"], result["machine"]) == ("0f7d23d", "a processor, a GPU")


def test_codes_computed_once_are_those_of_the_pictures(make):
    """Without crops and flips, a run from kept codes and the library's own from pictures end in the same state."""
    from sources import pictures

    from bitreplay.data.dataset import Dataset
    from bitreplay.learner import Learner
    from bitreplay.statefile import hash_of_format_2
    from bitreplay.streams.scenario import new_classes

    result = make(images=None, seed=3)
    here = pictures("cifar10")
    data = Dataset(here.train, here.labels, here.test, here.truth, tuple("abcdefghij"))
    learner = Learner.from_pretrained(result["config"]["model"], memory_per_class=3, seed=3)
    for images, labels in new_classes(data, [2] * 5, np.random.default_rng(3)):
        learner.learn(images, labels)
    assert hash_of_format_2(learner.state())[:12] == result["hash"]


@pytest.mark.parametrize("strategy", ["frozen-tail", "no-consolidation", "past-1", "past-0"])
def test_controls_differ_from_replay_and_store_as_much(make, strategy):
    base, result = make(images=5), make(images=5, strategy=strategy)
    assert result["hash"] != base["hash"] and result["memory_bytes"] == base["memory_bytes"]
    assert result["after"][0] == base["after"][0] or strategy == "frozen-tail"


def test_a_frozen_tail_stays(make, tiny_model, data, tmp_path):
    import run as module

    from bitreplay import zoo

    requested = module.Run(model=str(tiny_model), strategy="frozen-tail", memory_per_class=3)
    strategy = module._strategy(requested, zoo.find(tiny_model), "cpu")
    names = set(strategy.tail.state_dict().arrays)
    assert {name.rpartition(".")[2] for name in names} == {"weights", "active"}, "only the head is learned"


def test_the_float_twin_is_given_the_same_samples(make, monkeypatch):
    pytest.importorskip("torch")
    from bitreplay.parts.tail import Tail
    from bitreplay.torch.twin.float_learner import FloatStepper

    seen: dict[str, list[bytes]] = {}
    for kind in (Tail, FloatStepper):
        original, steps = kind.step, seen.setdefault(kind.__name__, [])

        def step(self, codes, labels, rate, original=original, steps=steps):
            steps.append(codes.tobytes() + labels.tobytes())
            return original(self, codes, labels, rate)

        monkeypatch.setattr(kind, "step", step)
    for bits in ("8/1/16", "float"):
        make(bits=bits, images=None, augment=True)
    assert seen["Tail"] == seen["FloatStepper"] and len(seen["Tail"]) == 5 * 40


def test_rounded_gradients():
    """One scale a tensor loses the small samples; one a sample keeps them."""
    torch = pytest.importorskip("torch")
    from rounded_gradients import rounded

    gradient = torch.tensor([[1.0, -0.5], [1e-4, 5e-5]])
    assert rounded(gradient, 8, "tensor")[1].abs().max() == 0
    assert torch.allclose(rounded(gradient, 8, "sample"), gradient, rtol=0.02, atol=0)


def test_latent_weights_that_start_nearer_flip_more(make):
    """Whatever the start, signs are those of the file; the default keeps every bit of what it was."""
    from controls import DISTANCES, latent_start

    from bitreplay.engine.layers import latent_weights

    scale = np.array([1, 2, 3])
    assert set(DISTANCES["equal"]("a", (5,), 64, 128, scale)) == {64}
    away = DISTANCES["spread"]("a", (3, 1000), 64, 128, scale)
    assert away.min() == 1 and away.max() == 128 and abs(away.mean() - 64.5) < 3
    assert (away == DISTANCES["spread"]("a", (3, 1000), 64, 128, scale)).all()
    away = DISTANCES["magnitude"]("a", (3, 1000), 32, 128, scale)
    assert away.max(axis=1).tolist() == [32, 64, 96] and away.min() == 1
    usual = dict(latent_weights.LATENT_GAIN)
    equal, spread = (make(images=5, bits="8/8/16", latent_start=how, latent_gain=-9) for how in ("equal", "spread"))
    assert equal["flipped"] == 0 < spread["flipped"] and equal["binary_weights"] == spread["binary_weights"]
    with pytest.raises(KeyError), latent_start("thrown", 3):
        pass
    assert usual == latent_weights.LATENT_GAIN and latent_weights.DISTANCES == [latent_weights.equal]


def test_signs_flip_without_latents(make):
    """No more is kept than signs: after a step every latent weight of 4 bits is 0 or -1, and some have flipped."""
    import run as module
    from grid import run_of

    from bitreplay import zoo
    from bitreplay.engine.layers.latent_weights import load_latent

    result = make(images=5, bits="8/4/16", binary="flips", latent_gain=-4)
    still = make(images=5, bits="8/4/16", binary="flips", latent_gain=-40)
    assert result["flipped"] > still["flipped"] == 0
    strategy = module._strategy(run_of(result), zoo.find(result["config"]["model"]), "cpu")
    first = {name: values for name, values in strategy.tail.tensors().items() if name.endswith(".latent")}
    for values in first.values():
        assert set(np.unique(load_latent(values, 2 * values.shape[-1], 4))) == {-1, 0}


@pytest.mark.parametrize("how", ["latents", "flips"])
def test_binary_weights_of_the_float_twin_learn(make, how):
    """At no rate of their own it is the frozen twin, whose rate is below the limit of tails that learn weights; at a
    high one weights flip, and without latents they end as signs."""
    pytest.importorskip("torch")
    frozen = make(images=5, bits="float", gain="1/1000")
    still = make(images=5, bits="float", gain="1/1000", binary=how, latent_gain=-60)
    moved = make(images=5, bits="float", binary=how, latent_start="spread", latent_gain=0)
    assert still["after"] == frozen["after"] and still["flipped"] == 0 and "flipped" not in frozen
    assert moved["flipped"] > 0 and moved["binary_weights"] == still["binary_weights"]


def test_runs_need_numpy_alone():
    """On a host with nothing else installed the runs in whole numbers work: no other package is imported."""
    code = (
        f"import sys; sys.path.insert(0, {str(FOLDER)!r}); import reproduce\n"
        "print(sorted({'PIL', 'typer', 'rich', 'torch', 'safetensors'} & set(sys.modules)))"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True)
    assert done.returncode == 0 and done.stdout.strip() == "[]", done.stderr


def test_held_out_pictures_are_not_learned(make, monkeypatch):
    import sources

    monkeypatch.setitem(sources.HELD, "cifar10", (3, 5))
    result = make(images=None, held=True)
    assert result["memory_bytes"] == 10 * 3 * 2 * 2 * 8 and result["config"]["held"]
    from run import Run

    requested = Run(held=True, images=None)
    usable, held = sources._chosen(requested, *sources._first(requested))
    assert len(usable) == 30 and len(held) == 20 and not set(usable) & set(held)


def test_rows_that_exist_are_not_made_again(make, tmp_path):
    from grid import finish, missing, rows
    from run import Run

    path = tmp_path / "rows.jsonl"
    runs = [Run(model=make(images=1)["config"]["model"], images=1, memory_per_class=3, seed=seed) for seed in (0, 1)]
    assert len(list(finish(runs[:1], path, tmp_path / "codes"))) == 1
    assert missing(runs, path) == runs[1:]
    with path.open("a") as file:
        file.write('{"config": {"da')  # a line that was cut off
    assert len(rows(path)) == 1


def test_several_processes_make_the_same_rows(make, tmp_path):
    from grid import finish
    from run import Run

    model = make(images=1)["config"]["model"]
    runs = [Run(model=model, images=2, memory_per_class=3, seed=seed) for seed in (0, 1)]
    alone = [result["hash"] for result in finish(runs, tmp_path / "alone.jsonl", tmp_path / "codes")]
    together = [result["hash"] for result in finish(runs, tmp_path / "together.jsonl", tmp_path / "codes", jobs=2)]
    assert sorted(alone) == sorted(together)


def test_figures_are_those_of_the_rows():
    from run import Run
    from tables import Rows, Table, render_table

    config = {"data": "cifar10", "scenario": "nc"}
    each = [
        {"weights": "react18@1", "config": config, "seed": seed, "final": final, "after": [20.0, final],
         "classes": [5, 5], "forgetting": 4.0}
        for seed, final in ((0, 50.0), (1, 52.0), (2, 54.0))
    ]  # fmt: skip
    rows = Rows([*each, dict(each[0], weights="react18@2", final=99.0)])
    figures = rows.of(Run())
    assert figures.final == 52.0 and figures.incremental == pytest.approx((40 + 52) / 2) and figures.forgetting == 4.0
    table = Table("Text:", ["one"], {"a": [Run()], "b": [Run()], "left out": [Run(memory_per_class=7)]})
    lines = ["| a | 52.0 ± 2.0 |", "| b | 52.0 ± 2.0 |"]
    assert render_table(table, rows) == ["Text:", "", "|  | one |", "|---|---|", *lines, ""]
    assert render_table(Table("Text:", ["one"], {"a": [Run()], "left out": [Run(memory_per_class=7)]}), rows) == [], (
        "compares nothing"
    )


def test_gains_are_the_best_on_held_out_pictures():
    import tuning
    from grid import rows
    from tables import Rows
    from tuned import GAINS, LATENT_GAINS, LEVEL_GAINS

    result, checked = Rows(rows()), 0
    for runs, seeds in tuning.GRID.values():
        if (best := result.best(runs, seeds)) is not None:
            name = best.data, best.model, best.strategy, best.scenario, best.epochs
            assert GAINS.get(name) == best.gain, name
            checked += 1
    for behind, runs in tuning.REPLAY_LAYERS.items():
        if (best := result.best(runs, (10,))) is not None:
            assert LEVEL_GAINS[behind] == best.gain, behind
            checked += 1
    for (model, bits), runs in (tuning.LATENT | tuning.AGAIN).items():
        figures = {run: result.of(run, (10,)) for run in runs}
        if all(figures.values()):
            driven = {run: f.final for run, f in figures.items() if f.rows[0]["flipped"] >= 1000}
            assert LATENT_GAINS[model, bits] == max(driven, key=lambda run: driven[run]).latent_gain
            checked += 1
    assert checked


def test_no_gain_was_chosen_at_an_end_of_those_that_were_tried():
    import tuning
    from grid import rows
    from tables import Rows

    result, checked = Rows(rows()), 0
    for name, (runs, seeds) in tuning.GRID.items():
        best = result.best(runs, seeds)
        assert best not in (runs[0], runs[-1]), name
        checked += best is not None
    assert checked > 20


def test_the_planner_expects_what_the_rows_say(tmp_path):
    import expected
    from grid import rows

    expected.write(rows(), tmp_path / "expected.csv")
    assert (tmp_path / "expected.csv").read_text() == expected.FILE.read_text(), "run: python experiments/results.py"


def test_the_page_of_results_is_drawn_from_the_rows(tmp_path, monkeypatch):
    import results

    monkeypatch.setattr(results, "DOCS", tmp_path)
    monkeypatch.setattr(results, "write", lambda rows: None)
    results.main()
    for name in ("results.md", "results-tables.md"):
        page = (FOLDER.parent / "docs" / name).read_text()
        assert (tmp_path / name).read_text() == page, "run: python experiments/results.py"
    for chart in (tmp_path / "plots").glob("*.svg"):
        assert chart.read_text() == (FOLDER.parent / "docs" / "plots" / chart.name).read_text()


def test_core50_runs_for_whoever_has_its_images(tmp_path, monkeypatch, tiny_model):
    """Nine experiences of new classes, eight sessions of new instances, the test sessions apart; not among `all`."""
    import core50
    import sources
    from listed import ON_REQUEST
    from run import row

    from tests.data.test_core50 import tree

    tree(tmp_path / "core50_128x128", frames=(0,))
    monkeypatch.setenv("BITREPLAY_DATA", str(tmp_path))
    sources.pictures.cache_clear()
    usual = core50.usual("quicknet", "exact").changed(model=str(tiny_model))
    classes = row(usual, tmp_path / "codes")["classes"]
    assert classes == [10, *[5] * 8] and "core50" in ON_REQUEST
    assert len(row(usual.changed(scenario="ni"), tmp_path / "codes")["after"]) == 8
    held = usual.changed(held=True)
    usable, chosen = sources._chosen(held, *sources._first(held))
    assert len(usable) == 7 * 50 and len(chosen) == 50


def test_no_more_seeds_are_asked_for_than_a_table_takes():
    """CIFAR-100's controls take long: one seed, however many are asked for elsewhere."""
    from reproduce import runs_of

    controls = [run for run in runs_of("worth", 4) if run.strategy == "frozen-tail"]
    seeds = {name: {run.seed for run in controls if run.data == name} for name in ("cifar10", "cifar100")}
    assert seeds == {"cifar10": {0, 1, 2, 3}, "cifar100": {0}}


def test_a_name_that_is_none_is_refused(monkeypatch):
    from bitreplay.cli.commands import reproduce

    with pytest.raises(ValueError, match=r"^There is no experiment 'fig'; expected table1, .* or all\.$"):
        reproduce.reproduce(["fig"])
    monkeypatch.setattr(reproduce, "EXPERIMENTS", FOLDER / "none")
    with pytest.raises(ValueError, match="clone"):
        reproduce.experiments()


def test_quick_keeps_no_rows(data, monkeypatch, capsys):
    import grid
    import reproduce
    from run import Run

    before = grid.ROWS.read_text()
    monkeypatch.setattr(reproduce, "runs_of", lambda name, seeds, quick: [Run(model="bireal18", images=1, tested=1)])
    reproduce.reproduce(["ni"], True, 1, 1, "cpu", print)
    assert "1 of 1" in capsys.readouterr().out and grid.ROWS.read_text() == before


def test_the_chart_of_bytes_is_drawn_from_the_rows():
    import fig_bytes

    assert fig_bytes.chart() == fig_bytes.PLOT.read_text(), "run: python experiments/fig_bytes.py"
