"""The chain: it gathers what the scales have learned, openly or masked, saves the merged state and gives it back."""

import time

from flwr.app import Context
from flwr.serverapp import Grid, ServerApp

from bitreplay import Learner
from bitreplay.adapters.flower import ExactFleet

app = ServerApp()


@app.main()
def main(grid: Grid, context: Context) -> None:
    config = context.run_config
    settings = {"n_components": int(config["components"])}
    base = Learner.load(config["base"]) if config["base"] else Learner.from_pretrained(config["model"], **settings)
    fleet = ExactFleet(base, min_pictures=int(config["min-pictures"]), timeout=float(config["timeout"]))
    while len(list(grid.get_node_ids())) < int(config["least-devices"]):
        time.sleep(0.5)
    if config["masked"]:
        names = str(config["classes"]).split(",") if config["classes"] else None  # None: every scale names its own
        verdicts = fleet.gather_masked(grid, names)
    else:
        verdicts = fleet.gather(grid)
    for verdict in verdicts:
        print(verdict.device, verdict.verdict, verdict.pictures, verdict.reason, flush=True)
    merged = fleet.merged()
    merged.save(str(config["out"]), overwrite=True)
    print(f"{merged!r}, hash {merged.state_hash()[:16]}, on {fleet.give_back(grid)} devices", flush=True)
