"""Peak memory of a piece of work in a process of its own."""

import os
import subprocess
import sys
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
BEGIN = "from bitreplay.bench.resident import peak, restart_peak; import sys\n"


def peak_above_base(loading: str, work: str, *arguments: object) -> int:
    """Bytes above what the process held after `loading` while it did `work`; `arguments` are sys.argv[1:]."""
    code = f"{BEGIN}{loading}\nbase = restart_peak()\n{work}\nprint(peak() - base)"
    told = subprocess.run(
        [sys.executable, "-c", code, *map(str, arguments)], capture_output=True, text=True, check=True, timeout=300,
        env=os.environ | {"PYTHONPATH": str(ROOT / "src"), "OMP_NUM_THREADS": "1"},
    )  # fmt: skip
    return int(told.stdout.split()[-1])
