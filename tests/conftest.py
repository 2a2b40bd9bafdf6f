from collections import Counter

import pytest

from bitreplay.engine import native
from tests import tiny


@pytest.fixture(scope="session")
def tiny_model(tmp_path_factory):
    """The path of a tiny model file."""
    return tiny.model(tmp_path_factory.mktemp("model"))


def pytest_terminal_summary(terminalreporter):
    """Say which instruction sets were covered and what was measured: tests record them as "path" and "figure"."""
    passed: Counter[str] = Counter()
    others: Counter[str] = Counter()
    figures = []
    for outcome, reports in terminalreporter.stats.items():
        for report in reports:
            recorded = report.user_properties if getattr(report, "when", "") in ("call", "setup") else []
            (passed if outcome == "passed" else others).update(value for name, value in recorded if name == "path")
            figures += [value for name, value in recorded if name == "figure"]
    if figures:
        terminalreporter.section("figures")
        terminalreporter.write("".join(f"{figure}\n" for figure in sorted(figures)))
    if not passed and not others:
        return
    found = {*passed, *others}
    built = native.built_isas() if found & {"scalar"} else []
    terminalreporter.section("instruction sets")
    for path in [*built, *sorted(found - {*built})]:
        lacking = ", which this CPU lacks" if path in built and path not in native.available_isas() else ""
        other = f", {others[path]} skipped or failed" if others[path] else ""
        terminalreporter.line(f"{path}{lacking}: {passed[path]} tests passed{other}")
    if not any(path.startswith("neon") for path in passed):
        terminalreporter.line("neon: not covered by this run; `make test-arm` tests it under qemu-user")
