"""bitreplay fleet COMMAND: devices join a fleet and send what they learned; a server merges and releases it."""

from __future__ import annotations

from dataclasses import asdict
from json import dumps
from pathlib import Path
from typing import Annotated, Any

import typer

from bitreplay import statefile
from bitreplay.cli import options, show
from bitreplay.cluster import tasks_on
from bitreplay.fleet import release
from bitreplay.fleet.device import Device
from bitreplay.fleet.places import Place
from bitreplay.fleet.since import MIN_PICTURES
from bitreplay.fleet.tree import FILES_A_TASK, merge_tree, one_after_another
from bitreplay.statefile import Lock, Origin

At = Annotated[str, typer.Argument(help="A folder, or an address such as https:// (read only) or s3:// (by fsspec).")]
State = Annotated[Path, typer.Argument(help="State file of the device.", show_default=False)]
Private = Annotated[Path, typer.Option("--key", help="File of the private key.", show_default=False)]
Public = Annotated[Path, typer.Option("--key", help="File of the fleet's public key.", show_default=False)]


def key(path: Annotated[Path, typer.Argument(help="New file of the private key.")], json: options.Json = False) -> None:
    """Make a key to sign releases with; PATH.pub is the public one, which devices need."""
    public = release.new_key(path)
    _say({"private": str(path), "public": public}, f"{path} signs releases; devices check them with {path}.pub.", json)


def join(
    state: State,
    device: Annotated[str, typer.Option(help="Name of this device, another for each.", show_default=False)],
    json: options.Json = False,
) -> None:
    """Make a state file that of a device of a fleet; what it knows now is its base."""
    Device.joined(state, device)
    _say({"state": str(state), "device": device}, f"{state} is the device {device} of a fleet.", json)


def send(
    state: State,
    place: At,
    min_pictures: Annotated[int, typer.Option(min=1, help="Send a class from so many pictures on.")] = MIN_PICTURES,
    json: options.Json = False,
) -> None:
    """Write what a device learned since its base into a folder; what has not arrived yet is written again."""
    device, folder = Device(state), Place(place)
    new = device.message(min_pictures)
    messages = device.unanswered()
    for number, data in enumerate(messages):
        folder.write(f"{device.record.device}-{device.record.lot}-{number}.message", data)
    sent = sum(map(len, messages))
    _say(
        {"device": device.record.device, "new": new is not None, "messages": len(messages), "bytes": sent},
        f"{show.counted(len(messages), 'message', 'messages')} of {device.record.device}, {sent:,} bytes, in {place}.",
        json,
    )


def merge(
    folder: At,
    out: Annotated[Path, typer.Option(help="File of the merged state.", show_default=False)],
    base: Annotated[Path | None, typer.Option(help="The state that all devices began as.")] = None,
    work: Annotated[Path | None, typer.Option(help="Folder of partial sums.", show_default="OUT.work")] = None,
    report: Annotated[Path | None, typer.Option(help="File for a line of JSON for each file of the folder.")] = None,
    ray: Annotated[str | None, typer.Option(help="Address of a Ray cluster, or auto.")] = None,
    files_a_task: Annotated[int, typer.Option(min=1, help="Files that one task reads.")] = FILES_A_TASK,
    overwrite: Annotated[bool, typer.Option("--overwrite", help="Replace the file if it exists.")] = False,
    json: options.Json = False,
) -> None:
    """Merge all messages, or all states, of a folder; what was merged before a stop is not read again."""
    with Lock(out) as lock, show.bar(quiet=json) as bar:
        if out.exists() and not overwrite:
            raise ValueError(f"{out} exists; --overwrite replaces it.")
        merged = merge_tree(
            folder, work or f"{out}.work", None if base is None else statefile.load(base)[0], files_a_task,
            one_after_another if ray is None else tasks_on(ray), lambda done, total: bar.part("merging", done, total),
        )  # fmt: skip
        if report is not None:
            report.write_text("".join(f"{dumps(asdict(line))}\n" for line in merged.report))
        statefile.save(out, merged.content, Origin(), lock, overwrite)
    verdicts = [line.verdict for line in merged.report]
    counts = {name: verdicts.count(name) for name in dict.fromkeys(["counted", "refused", *verdicts])}
    refused = [f"{line.name}: {line.reason}" for line in merged.report if line.verdict == "refused"]
    _say(
        {"state": str(out), **counts, "hash": merged.content.state.hash(), "reasons": refused},
        f"{out}: " + ", ".join(f"{count} {name}" for name, count in counts.items())
        + f", hash {merged.content.state.hash()[:16]}." + "".join(f"\n{line}" for line in refused[:10]),
        json,
    )  # fmt: skip


def push(
    place: At,
    key: Private,
    state: Annotated[Path | None, typer.Option(help="State file to release.")] = None,
    back_to: Annotated[int | None, typer.Option(help="Go back to an earlier release.", min=1)] = None,
    json: options.Json = False,
) -> None:
    """Release a state, signed and numbered, or go back to an earlier release."""
    if (state is None) == (back_to is None):
        raise ValueError("Name either --state, to release it, or --back-to, to go back to a release.")
    private, folder = release.read_key(key), Place(place)
    if state is not None:
        manifest = release.publish(folder, statefile.to_bytes(statefile.load(state)[0]), private)
    else:
        assert back_to is not None
        manifest = release.publish_again(folder, back_to, private)
    _say(
        asdict(manifest),
        f"Release {manifest.version} of {manifest.pictures:,} pictures is the latest in {place}.",
        json,
    )


def pull(
    state: State,
    place: At,
    key: Public,
    version: Annotated[int | None, typer.Option(help="This release instead of the latest.", min=1)] = None,
    json: options.Json = False,
) -> None:
    """Go on from the latest release, which is checked; what is not in it yet stays in the device's state."""
    device, public, folder = Device(state), release.read_key(key), Place(place)
    newest = release.latest(folder, public, device.record.serial)
    manifest, content = release.fetched(folder, public, newest.version if version is None else version)
    arrived = device.receive(content, newest.serial, manifest.version)
    waiting = len(device.unanswered())
    _say(
        {
            "state": str(state),
            "version": manifest.version,
            "serial": newest.serial,
            "arrived": arrived,
            "waiting": waiting,
        },
        f"{state} goes on from release {manifest.version}; {arrived} of its messages are in it, {waiting} are not yet.",
        json,
    )


def status(
    state: State,
    place: Annotated[str | None, typer.Option(help="Folder or address of releases.")] = None,
    key: Annotated[Path | None, typer.Option("--key", help="File of the fleet's public key.")] = None,
    json: options.Json = False,
) -> None:
    """Say which release a device has, what it has not sent, and what is offered."""
    device = Device(state)
    record, learned = device.record, device.learned()
    counts = dict(
        zip(map(str, learned.state.names), learned.state.parts["sums"].arrays["counts"].tolist(), strict=True)
    )
    found: dict[str, Any] = {"device": record.device, "version": record.version, "serial": record.serial,
                             "waiting": len(record.sent), "not_sent": counts}  # fmt: skip
    sentence = f"{record.device} has release {record.version}, {len(record.sent)} messages on their way"
    sentence += f" and {sum(counts.values())} pictures not sent."
    if place is not None:
        if key is None:
            raise ValueError("--place needs --key, the fleet's public key.")
        newest = release.latest(Place(place), release.read_key(key), record.serial)
        found["latest"] = newest.version
        sentence += f" The latest is release {newest.version}."
    _say(found, sentence, json)


def _say(values: dict[str, Any], sentence: str, json: bool) -> None:
    if json:
        show.as_json(values)
    else:
        show.say(sentence)
