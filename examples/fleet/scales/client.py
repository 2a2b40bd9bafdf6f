"""A scale: it learns its folder of class folders (node-config: folder), or its share of the groceries set."""

from flwr.app import Context

from bitreplay import Learner
from bitreplay.adapters.flower import client_app, learned_folder
from bitreplay.adapters.flower.client import device_name
from bitreplay.data.groceries import groceries
from bitreplay.fleet import begun


def own(context: Context) -> Learner:
    device, config = device_name(context), context.run_config
    settings = {"n_components": int(config["components"])}
    if "folder" in context.node_config:
        return learned_folder(str(context.node_config["folder"]), device, str(config["model"]), **settings)
    learner = Learner.from_pretrained(str(config["model"]), strategy="exact", **settings)
    begun(learner, device, 0)
    data, shares = groceries(), int(context.node_config["num-partitions"])
    mine = slice(int(context.node_config["partition-id"]), None, shares)
    learner.learn(data.train_images[mine], [data.class_names[label] for label in data.train_labels[mine]])
    return learner


app = client_app(own, min_pictures=2)
