"""All experiments by name, in the order of the page of results."""

from __future__ import annotations

from types import ModuleType

import core50
import fig_accuracy
import fig_backward_bits
import fig_replay_memory
import ni
import pycil
import replay_layers
import samples
import sessions
import table1
import table2
import tuning
import worth

EXPERIMENTS: dict[str, ModuleType] = {
    module.__name__: module
    for module in (
        table1,
        fig_accuracy,
        fig_replay_memory,
        fig_backward_bits,
        table2,
        sessions,
        core50,
        worth,
        ni,
        replay_layers,
        samples,
        pycil,
        tuning,
    )
}
ON_REQUEST = ("core50",)  # `reproduce all` leaves them out: their data is not at hand for everybody
