"""Lines of C and C++ are at most 120 characters wide: clang-format keeps the code, this keeps the comments."""

from pathlib import Path

ROOT = Path(__file__).parents[2]
WIDTH = 120


def sources() -> list[Path]:
    return [
        p
        for folder in ("core", "examples")
        for p in sorted((ROOT / folder).rglob("*"))
        if p.suffix in {".c", ".cc", ".h"}
    ]


def test_no_line_is_too_wide() -> None:
    assert len(sources()) > 200
    wide = [
        f"{path.relative_to(ROOT)}:{number}"
        for path in sources()
        for number, line in enumerate(path.read_text().splitlines(), 1)
        if len(line) > WIDTH
    ]
    assert not wide
