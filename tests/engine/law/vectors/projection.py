"""Inputs of docs/law/projection.json (section 13), in the form of sections.py."""

from __future__ import annotations

from typing import Any

FEW = {"axes": [[127, -3], [2, 127]], "scales": [5, 3], "offsets": [-640, 100], "shift": 6}
ENDS = {"axes": [[127] * 9, [-127] * 9], "scales": [2**31 - 1, 2**31 - 1], "offsets": [2**60, -(2**60)]}
PROJECTION: dict[str, list[tuple[str, str, dict[str, Any]]]] = {
    "projection": [
        ("two axes", "project", {**FEW, "pictures": [[3, 1], [5, 1], [-3, 0], [-5, 2]]}),
        ("ties go away from zero", "project", {"axes": [[1, 0], [0, 1]], "scales": [1, 1], "offsets": [0, 0],
                                               "shift": 1, "pictures": [[1, -1], [3, -3], [2, -2]]}),
        ("127 is the end", "project", {"axes": [[1, 0], [0, 1]], "scales": [2, 2], "offsets": [0, 0], "shift": 0,
                                       "pictures": [[63, -63], [64, -64], [127, -127]]}),
        ("the largest sums", "project", {**ENDS, "shift": 54, "pictures": [[127] * 9, [-127] * 9, [0] * 9]}),
        ("an axis of no scale", "project", {"axes": [[1, 1]], "scales": [0], "offsets": [-3], "shift": 0,
                                            "pictures": [[127, 127], [0, 0]]}),
        ("every root", "roots", {"x": list(range(-127, 128))}),
        ("two axes of roots", "project", {**FEW, "pictures": [[3, 1], [-127, -126], [127, 126]], "rooted": True}),
        ("the largest sums of roots", "project", {**ENDS, "shift": 54, "pictures": [[127] * 9, [-127] * 9, [0] * 9],
                                                  "rooted": True}),
    ],
}  # fmt: skip
