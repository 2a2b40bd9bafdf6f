"""Is there room for a program? Its working memory is known before any of it is taken, so a vast one is refused."""

from __future__ import annotations

import os

from bitreplay.engine.program import Program, ProgramError


def check_room(program: Program) -> None:
    """Refuse a program that works in more memory than this machine has."""
    have = os.sysconf("SC_PAGE_SIZE") * os.sysconf("SC_PHYS_PAGES")
    if program.arena_bytes > have:
        raise ProgramError(
            f"it needs {program.arena_bytes >> 20} MiB with minibatches of {program.max_samples}, and this machine "
            f"has {have >> 20} MiB"
        )
