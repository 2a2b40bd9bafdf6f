"""bitreplay plan: what it prints, proposes and refuses."""

import json

import pytest


def test_the_command(shell):
    code, out, _ = shell(
        "plan", "vgg_small", "--strategy", "replay", "--memory-per-class", "2", "--batch-size", "2", "--json"
    )
    made = json.loads(out)
    assert code == 0 and made["ram"] == sum(item["bytes"] for item in made["items"] if item["where"] == "ram")
    code, out, _ = shell("plan", "vgg_small", "--measure", "--feature-layers", "conv_5")
    assert code == 0 and "planned and measured" in out
    code, out, err = shell("plan", "vgg_small", "--budget", "100KB")
    assert code == 1 and not out and "Nothing fits: the smallest" in err
    code, out, _ = shell("plan", "vgg_small", "--budget", "100KB", "--json")
    assert code == 1 and json.loads(out)[0]["short"] > 0
    code, out, _ = shell("plan", "vgg_small", "--budget", "64 MiB", "--flash", "4MB")
    assert code == 0 and "what fits, best first" in out


def test_a_budget_for_a_microcontroller_is_that_of_the_learner_in_c(shell, monkeypatch):
    monkeypatch.setenv("COLUMNS", "200")
    code, out, _ = shell("plan", "react_tiny", "--budget", "300KB", "--flash", "1MB", "--target", "cortex-m7")
    assert code == 0 and "exact, 128 components" in out and "exact, feature layers head" in out and "replay" not in out


def test_what_fits_a_board_in_c_alone_is_not_said_to_fit_none(shell, monkeypatch):
    monkeypatch.setenv("COLUMNS", "400")
    code, _, err = shell("plan", "react_tiny", "--budget", "300KB", "--flash", "1MB")
    assert code == 1 and "Nothing fits in Python" in err
    assert "The learner in C fits: --target cortex-m0plus or cortex-m4 or cortex-m7" in err


def test_proposals_name_their_parts_and_older_weights(shell, monkeypatch, tmp_path):
    from bitreplay.planning import expected

    rows = [
        "vgg_small,000000000000,CIFAR-10,exact,,1,8/1/16,30,conv_5,,1,70.0",
        "vgg_small,b0acc438c77b,groceries,replay,,1,8/1/16,30,,,3,60.0",
    ]
    monkeypatch.setattr(expected, "FILE", tmp_path / "expected.csv")
    expected.FILE.write_text("\n".join([",".join(expected.HEADER), *rows]) + "\n")
    monkeypatch.setenv("COLUMNS", "200")
    code, out, _ = shell("plan", "vgg_small@1", "--budget", "20MB")
    assert code == 0 and "70.0 (CIFAR-10, older weights)" in out and "60.0 (groceries)" in out
    assert "Accuracies on different sets" in out and "With a micro-batch size, a minibatch passes in parts" in out
    result = json.loads(shell("plan", "vgg_small@1", "--budget", "20MB", "--json")[1])
    assert all(each["micro_batch_size"] for each in result if each["strategy"] == "replay")
    assert len(result) == 2, "what was measured is not proposed once more as not measured"


@pytest.mark.parametrize(
    ("arguments", "says"),
    [
        (("--budget", "2 parsecs"), "budget must be a number of bytes such as 2MB or 512KiB, got '2 parsecs'."),
        (
            ("--budget", "2MB", "--feature-layers", "head"),
            "--budget and --flash choose the settings:",
        ),
        (("--budget", "2MB", "--target", "abacus"), "target must be one of linux, wasm, cortex-m0plus"),
        (("--bits", "float"), "A plan counts integer arithmetic, got bits float."),
        (("--strategy", "magic"), "strategy must be one of"),
        (("--replay-layer", "attic"), "vgg_small has no replay layer"),
    ],
)
def test_what_is_refused(shell, arguments, says):
    code, out, error = shell("plan", "vgg_small", *arguments)
    assert code == 1 and out == "" and error.startswith(says) and error.count("\n") == 1


def test_a_board_by_its_name_says_what_fits_and_estimates_seconds(shell, monkeypatch):
    monkeypatch.setenv("COLUMNS", "200")
    code, out, _ = shell("plan", "react_tiny", "--target", "rp2040", "--classes", "4")
    assert code == 0 and "what fits, best first" in out and "exact, 64 components" in out and "256 comp" not in out
    assert "With exact, 128 components: It fits Raspberry Pi Pico: 34,112 bytes of RAM" in out
    assert "4.1 s at one a cycle of its clock; not measured on a board." in out
    code, out, _ = shell("plan", "react_tiny", "--target", "rp2040", "--feature-layers", "head", "--classes", "64")
    assert code == 0 and "It does not fit Raspberry Pi Pico: its RAM has 270,336 bytes in one piece, 67,520 too" in out
    code, out, _ = shell("plan", "react_tiny", "--target", "esp32", "--feature-layers", "head")
    assert code == 0 and "It fits ESP32-CAM in its PSRAM alone: its RAM has 180,736 bytes in one piece." in out
    code, _, err = shell("plan", "quicknet", "--target", "rp2040")
    assert code == 1 and "Nothing fits" in err
    code, out, _ = shell("plan", "vgg_small", "--target", "nrf52840", "--feature-layers", "conv_5")
    assert code == 0 and "It does not fit Arduino Nano 33 BLE: its" in out
