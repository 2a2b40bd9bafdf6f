"""The app of a device: it answers a server's questions with its sums since the base, open or masked.

    query.sums      its message (fleet/message.py)
    query.ready     marks of what it would send, and its classes where the round has none yet
    query.join, .shares, .masked, .unmask      the four answers of a masked round (fleet/masking/device.py)
    query.merged    the merged state comes back

What it cannot answer, it says in one sentence. Between answers of a round it keeps its secrets in its own context.
"""

from __future__ import annotations

import hashlib
from collections.abc import Callable
from pathlib import Path
from typing import Any

from flwr.app import ConfigRecord, Context, Message, RecordDict
from flwr.clientapp import ClientApp

from bitreplay.data.labelled import labelled
from bitreplay.fleet.masking.device import MaskedDevice
from bitreplay.fleet.masking.terms import Terms
from bitreplay.fleet.message import Message as FleetMessage
from bitreplay.fleet.since import MIN_PICTURES, begun
from bitreplay.learner import Learner

RECORD = "bitreplay"


def device_name(context: Context) -> str:
    """The name in the node's configuration (`device`), or one made of its partition or its number."""
    config = context.node_config
    return str(config.get("device", f"node-{config.get('partition-id', context.node_id)}"))


def learned_folder(folder: str | Path, device: str, model: str | Path, lot: int = 0, **settings: Any) -> Learner:
    """A learner that knows a folder of class folders and nothing else, marked as this device's lot."""
    learner = Learner.from_pretrained(model, strategy="exact", **settings)
    begun(learner, device, lot)
    learner.learn(*labelled(folder))
    return learner


def client_app(
    own: Callable[[Context], Learner],
    base: Callable[[Context], Learner | None] = lambda context: None,
    received: Callable[[Context, bytes], None] = lambda context, state: None,
    min_pictures: int = MIN_PICTURES,
    mods: Any = None,
) -> ClientApp:
    """A ClientApp for one device.

    Parameters
    ----------
    own : callable
        The learner of this device, of what it learned since the last base; `learned_folder` makes one of a folder.
    base : callable, optional
        The learner that it began as; by default it knew nothing.
    received : callable, optional
        Is given the merged state as the bytes of a state file.
    min_pictures : int
        A class is sent from so many pictures on.
    mods : list, optional
        Flower's mods.
    """
    app = ClientApp(mods=mods)

    def message_of(context: Context) -> FleetMessage:
        return FleetMessage.of(device_name(context), own(context), base(context), min_pictures)

    def answering(action: str, answer: Callable[[Context, Any], dict[str, Any]]) -> None:
        def handle(message: Message, context: Context) -> Message:
            try:
                values = answer(context, message.content.config_records.get(RECORD, ConfigRecord()))
            except ValueError as error:
                values = {"refused": str(error), "device": device_name(context)}
            return Message(RecordDict({RECORD: ConfigRecord(values)}), reply_to=message)

        app.query(action)(handle)

    def sums(context: Context, asked: Any) -> dict[str, Any]:
        return {"message": message_of(context).to_bytes()}

    def ready(context: Context, asked: Any) -> dict[str, Any]:
        message = message_of(context)
        context.state[RECORD] = ConfigRecord({"message": message.to_bytes()})
        names = [f"{type(name).__name__} {name}" for name in message.content.state.names] if asked["names"] else []
        marks = [f"{mark:016x}" for mark in sorted(message.marks)]
        return {"device": message.device, "marks": marks, "names": names}

    def join(context: Context, asked: Any) -> dict[str, Any]:
        terms = Terms.from_json(str(asked["terms"]))
        if terms.min_pictures < min_pictures:
            raise ValueError(f"This device sends a class from {min_pictures} pictures on, not {terms.min_pictures}.")
        kept = context.state[RECORD]
        device = MaskedDevice.joining(terms, FleetMessage.from_bytes(kept["message"]).content)
        keys = device.public_keys()
        _keep(context, device)
        return {"keys": list(keys)}

    def shares(context: Context, asked: Any) -> dict[str, Any]:
        device = _kept(context)
        keys = {place: (asked["keys"][2 * k], asked["keys"][2 * k + 1]) for k, place in enumerate(asked["places"])}
        given = device.shares(int(asked["place"]), keys)
        _keep(context, device)
        return {"places": list(given), "shares": list(given.values())}

    def masked(context: Context, asked: Any) -> dict[str, Any]:
        device = _kept(context)
        vector = device.masked(dict(zip(asked["places"], asked["shares"], strict=True)))
        _keep(context, device)
        return {"vector": vector, "sha256": hashlib.sha256(vector).digest()}  # damage on the way is noticed

    def unmask(context: Context, asked: Any) -> dict[str, Any]:
        device = _kept(context)
        seeds, keys = device.unmasking(list(asked["survivors"]), list(asked["dropped"]))
        _keep(context, device)
        return {"seed_places": list(seeds), "seeds": list(seeds.values()), "key_places": list(keys),
                "keys": list(keys.values())}  # fmt: skip

    def merged(context: Context, asked: Any) -> dict[str, Any]:
        received(context, bytes(asked["state"]))
        return {}

    for action, answer in (("sums", sums), ("ready", ready), ("join", join), ("shares", shares), ("masked", masked),
                           ("unmask", unmask), ("merged", merged)):  # fmt: skip
        answering(action, answer)
    return app


def _keep(context: Context, device: MaskedDevice) -> None:
    context.state[RECORD] = ConfigRecord({"masked": device.to_bytes()})


def _kept(context: Context) -> MaskedDevice:
    if "masked" not in context.state.config_records.get(RECORD, {}):
        raise ValueError("This device takes part in no masked round.")
    return MaskedDevice.from_bytes(context.state[RECORD]["masked"])
