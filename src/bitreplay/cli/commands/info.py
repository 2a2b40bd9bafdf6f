"""bitreplay info [FILE]: describe a state, a model or this installation."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import asdict
from pathlib import Path
from typing import Annotated, Any

import typer

import bitreplay
from bitreplay import statefile, zoo
from bitreplay.arguments import escaped
from bitreplay.cli import options, show
from bitreplay.engine import machine_pool, native
from bitreplay.engine.graph import Graph
from bitreplay.engine.parameter_counts import parameter_counts, total_parameters
from bitreplay.learning.reports import Stored
from bitreplay.modelfile.container import ContainerError, read_whole, unpack_container
from bitreplay.modelfile.projection_file import KIND, ProjectionFile
from bitreplay.modelfile.schema import stored
from bitreplay.sections import MAGIC
from bitreplay.statefile import MAX_BYTES, StateFileError
from bitreplay.statefile.old import FORMAT
from bitreplay.statefile.reading import checked_start
from bitreplay.statefile.revisions import before_of, real_path
from bitreplay.strategies import STRATEGIES
from bitreplay.zoo.model_projections import companion_of


def info(
    file: Annotated[Path | None, typer.Argument(help="State or model file, or a model's name.")] = None,
    json: options.Json = False,
) -> None:
    """Describe a state or a model; without a file, this installation and the machine's instruction sets."""
    facts = machine() if file is None else state(file) if is_state(file) else model(zoo.find(file), details=True)
    if json:
        show.as_json(facts)
        return
    stored_classes, layers = facts.pop("stored", None), facts.pop("layers", None)
    if "settings" in facts:
        facts["settings"] = _of_strategy(facts["settings"])
    tables = [show.table(str(file or "bitreplay"), ("", ""), [(key, _plain(facts[key])) for key in facts])]
    if stored_classes:
        rows = [(escaped(row["label"]), row["samples"], row["seen"], _plain(row["experiences"]),
                 show.size(row["bytes"])) for row in stored_classes]  # fmt: skip
        tables.append(show.table("stored", ("class", "samples", "seen", "by experience", "bytes"), rows))
    if layers:
        body = [(layer["name"], layer["kind"], layer["weights"], show.size(layer["bytes"])) for layer in layers]
        tables.append(show.table("layers", ("layer", "kind", "weights", "in the file"), body))
    show.say(*tables)


def _of_strategy(settings: dict[str, Any]) -> dict[str, Any]:
    """Without the settings that only other strategies read."""
    used = STRATEGIES[settings["strategy"]].own_settings
    others = {name for kind in STRATEGIES.values() for name in kind.own_settings} - used
    return {name: value for name, value in settings.items() if name not in others}


def shape_text(shape: Sequence[int]) -> str:
    return "x".join(map(str, shape))


def machine() -> dict[str, Any]:
    facts: dict[str, Any] = {"version": bitreplay.__version__, "models": zoo.names()}
    try:
        facts |= {
            "instruction_set_used": native.isa(),
            "instruction_sets_supported": native.available_isas(),
            "instruction_sets_built": native.built_isas(),
        }
    except OSError as error:
        facts["instruction_set_used"] = f"none: the native core cannot be loaded ({error}); NumPy runs instead"
    return facts | {"predictions_at_once": machine_pool.max_concurrent_runs()}


def is_state(file: Path) -> bool:
    if not file.exists() and zoo.knows(str(file)):
        return False
    try:
        data = read_whole(file, MAX_BYTES, checked_start)
        return bytes(data[: len(MAGIC)]) == MAGIC or unpack_container(data, str(file))[1].get("format") == FORMAT
    except ContainerError as error:
        raise StateFileError(f"{error}{statefile.way_back(file, error)}") from None


def state(file: Path) -> dict[str, Any]:
    """Needs no model, so that it works anywhere."""
    content, _ = statefile.load(file)
    learned, strategy = content.state, STRATEGIES[content.settings.strategy]
    sizes = {
        part: sum(array.nbytes for array in part_state.arrays.values()) for part, part_state in learned.parts.items()
    }
    return {
        "classes": [name for name in learned.names if name is not None], **strategy.described(learned),
        "can_roll_back": before_of(real_path(file)).exists(), "state_bytes": file.stat().st_size,
        "part_bytes": sizes, "model": content.model, "strategy": strategy.title,
        "settings": content.settings.to_dict(), "hash": learned.hash(),
        "hash_of_format_2": statefile.hash_of_format_2(learned), "model_checksum": content.digest,
        "stored": [_stored(row) for row in strategy.stored(learned)],
    }  # fmt: skip


def _stored(row: Stored) -> dict[str, Any]:
    experiences = {str(number): count for number, count in row.experiences.items()}
    return asdict(row) | {"ids": list(row.ids), "experiences": experiences}


def model(network: zoo.Model, details: bool = False) -> dict[str, Any]:
    """Facts of a model file and its metadata; with `details` also its recipe, conversion and layers."""
    graph, about = network.graph, network.about
    shipped = zoo.generations(network.name) if network.path.parent == zoo.FOLDER else None
    facts = {
        "name": network.name,
        "input": shape_text(graph.input_shape),
        "bytes": network.path.stat().st_size,
        "weights": total_parameters(graph),
        "top1_integer": _entry(about, "accuracy", "top1_integer"),
        "top1_float": _entry(about, "accuracy", "top1_float"),
        "measured_on": _entry(about, "accuracy", "data"),
        "trained_on": _entry(about, "training", "data"),
        "classes_trained_on": len(graph.labels),
        "licence": about.get("licence", ""),
        "replay_layers": {
            replay_layer: shape_text(graph.shapes[replay_layer]) for replay_layer in network.replay_layers
        },
        "sizes": network.sizes_in_words,
        "calibrated_at": sorted({network.size, *graph.ranges_at}),
        "generations": shipped,
        "date": _entry(about, "training", "date"),
        "epochs": _entry(about, "training", "epochs"),
        "checksum": network.digest,
    }
    if details:
        if network.companion(KIND).exists():
            facts |= {"projection": _projection(companion_of(network))}
        facts |= {"recipe": _entry(about, "training", "recipe"), "conversion": about.get("conversion"),
                 "layers": _layers(graph)}  # fmt: skip
    return {name: value for name, value in facts.items() if value is not None}


def _projection(content: ProjectionFile) -> str:
    projection, components = content.projection, content.default_components
    default = "" if components is None else f", {components} by default"
    return f"{len(projection)} axes{' of roots' if projection.root else ''}{default}"


def _layers(graph: Graph) -> list[dict[str, Any]]:
    counts = parameter_counts(graph)
    return [
        {"name": node.name, "kind": node.kind, "weights": sum(counts[node.name]),
         "bytes": sum(stored(array).nbytes for array in node.arrays.values())}
        for node in graph.nodes
    ]  # fmt: skip


def _entry(about: dict[str, Any], part: str, name: str) -> Any:
    """Metadata may be anything: entries may be missing or of another type."""
    section = about.get(part)
    return section.get(name) if isinstance(section, dict) else None


def _plain(value: Any) -> str:
    if isinstance(value, dict):
        return ", ".join(f"{escaped(key)}: {escaped(part)}" for key, part in value.items())
    return ", ".join(map(escaped, value)) if isinstance(value, list) else escaped(value)
