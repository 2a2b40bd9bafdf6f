"""A fleet in Flower: pip install 'bitreplay[flower]'.

    from bitreplay.adapters.flower import ExactFleet, client_app, learned_folder

    app = client_app(lambda context: learned_folder(context.node_config["folder"], "scale-17", "react_tiny"))

    fleet = ExactFleet(base)                        in a ServerApp
    fleet.gather(grid)                              sums of every device that answers, added up
    fleet.gather_masked(grid, names)                the same, and the server sees only their sum
    fleet.withdraw("scale-17")
    fleet.give_back(grid)                           the merged state to every device

No rounds and rates: whoever answers is added, late ones later, repeats once, and the merged state has the hash of one
learner that saw what arrived. examples/fleet/ is an app for `flwr run`.
"""

from __future__ import annotations

from bitreplay.adapters.flower.client import client_app, learned_folder
from bitreplay.adapters.flower.server import ExactFleet

__all__ = ["ExactFleet", "client_app", "learned_folder"]
