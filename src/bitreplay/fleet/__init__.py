"""Many devices learn together: what each sends, how it is added up exactly, and how the result comes back.

    device      Message, since, begun            its sums since the base, packed (message.py, packing.py)
    server      Gathering                        adds, notices repeats, refuses, withdraws (gathering.py)

docs/fleet.md says what that protects and what it does not.
"""

from __future__ import annotations

from bitreplay.fleet.gathering import Gathering, Verdict
from bitreplay.fleet.message import Message, MessageError
from bitreplay.fleet.since import MIN_PICTURES, begun, need_sendable, since

__all__ = ["MIN_PICTURES", "Gathering", "Message", "MessageError", "Verdict", "begun", "need_sendable", "since"]
