"""bitreplay plan: what it prints, proposes and refuses."""

import json

import pytest


def test_the_command(shell):
    code, out, _ = shell("plan", "vgg_small", "--strategy", "replay", "--per-class", "2", "--new", "2", "--json")
    made = json.loads(out)
    assert code == 0 and made["ram"] == sum(item["bytes"] for item in made["items"] if item["where"] == "ram")
    code, out, _ = shell("plan", "vgg_small", "--measure", "--numbers", "conv_5")
    assert code == 0 and "planned and taken" in out
    code, out, _ = shell("plan", "vgg_small", "--budget", "100KB")
    assert code == 0 and out.startswith("Nothing fits: the smallest")
    code, out, _ = shell("plan", "vgg_small", "--budget", "64 MiB", "--flash", "4MB")
    assert code == 0 and "what fits, best first" in out


@pytest.mark.parametrize(
    ("arguments", "says"),
    [
        (("--budget", "2 parsecs"), "budget must be a number of bytes such as 2MB or 512KiB, got '2 parsecs'."),
        (("--bits", "float"), "A plan is for whole numbers, got bits float."),
        (("--strategy", "magic"), "strategy must be one of"),
        (("--level", "attic"), "vgg_small has no level"),
    ],
)
def test_what_is_refused(shell, arguments, says):
    code, out, error = shell("plan", "vgg_small", *arguments)
    assert code == 1 and out == "" and error.startswith(says) and error.count("\n") == 1
