"""Peak memory of some work in a process of its own."""

import json
import os
import subprocess
import sys
from collections.abc import Sequence
from pathlib import Path

ROOT = Path(__file__).resolve().parents[3]
BEGIN = "import json, sys\nfrom benchmarks.bench.resident import peak, restart_peak\n"
END = """
peaks = []
for arguments in json.loads(sys.argv[1]):
    base = restart_peak()
    work(*arguments)
    peaks.append(peak() - base)
print(json.dumps(peaks))
"""


def peaks_above_base(code: str, calls: Sequence[Sequence[object]]) -> list[int]:
    """Bytes above what the process held before each call of the function `work` that the code defines."""
    arguments = json.dumps([[value if isinstance(value, int) else str(value) for value in call] for call in calls])
    process = subprocess.run(
        [sys.executable, "-c", BEGIN + code + END, arguments], capture_output=True, text=True, timeout=600,
        env=os.environ | {"PYTHONPATH": f"{ROOT}{os.pathsep}{ROOT / 'src'}", "OMP_NUM_THREADS": "1"},
    )  # fmt: skip
    assert process.returncode == 0, process.stderr
    return json.loads(process.stdout)
