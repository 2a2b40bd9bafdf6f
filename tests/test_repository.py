"""Workflows, templates and the citation: they parse, and call what there is."""

from __future__ import annotations

import re
from pathlib import Path
from typing import Any

import pytest

yaml = pytest.importorskip("yaml")

ROOT = Path(__file__).parents[1]
FILES = sorted([*(ROOT / ".github").rglob("*.yml"), ROOT / "CITATION.cff"])
WORKFLOWS = sorted((ROOT / ".github" / "workflows").glob("*.yml"))


def commands(workflow: dict[str, Any]) -> list[str]:
    """What the steps run; a matrix of targets is filled in."""
    found = []
    for job in workflow["jobs"].values():
        targets = job.get("strategy", {}).get("matrix", {}).get("target", [""])
        for step in job["steps"]:
            found += [step["run"].replace("${{ matrix.target }}", target) for target in targets if "run" in step]
    return found


@pytest.mark.parametrize("path", FILES, ids=lambda path: path.name)
def test_it_is_yaml_with_something_in_it(path):
    assert isinstance(yaml.safe_load(path.read_text()), dict)


@pytest.mark.parametrize("path", WORKFLOWS, ids=lambda path: path.name)
def test_a_workflow_calls_targets_that_exist_and_asks_for_little(path):
    workflow = yaml.safe_load(path.read_text())
    targets = set(re.findall(r"^([a-z][a-z-]*):", (ROOT / "Makefile").read_text(), re.MULTILINE))
    called = {word for command in commands(workflow) for word in re.findall(r"(?:^|&& )make ([a-z-]+)", command)}
    assert called <= targets and workflow["permissions"] == {"contents": "read"}
    assert workflow[True], "YAML reads the key `on` as true"  # when it runs
    for command in commands(workflow):
        script = re.search(r"(\.ci/\w+)", command)
        assert script is None or (ROOT / script[1]).is_file()


def test_the_citation_names_the_software_and_the_paper():
    cited = yaml.safe_load((ROOT / "CITATION.cff").read_text())
    assert cited["title"] == "bitreplay" and cited["license"] == "Apache-2.0"
    (paper,) = cited["references"]
    assert paper["title"] in (ROOT / "docs" / "method.md").read_text()
    assert all(author["family-names"] in (ROOT / "docs" / "method.md").read_text() for author in paper["authors"])
