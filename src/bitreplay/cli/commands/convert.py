"""bitreplay convert WEIGHTS: make a model file of trained weights."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated, Any

import typer

from bitreplay import modelfile
from bitreplay.arguments import escaped
from bitreplay.cli import options, show
from bitreplay.cli.torch_extra import need_torch
from bitreplay.modelfile.input_sizes import LARGEST

UNKNOWN_LICENCE = "unknown"
LARGEST_SIZE = 1024


def convert(
    weights: Annotated[Path, typer.Argument(help="Weights of `bitreplay pretrain`, or a Keras file with --larq.")],
    data: Annotated[
        Path, typer.Option(help="Pictures to calibrate with: a folder, groceries, or as for `bitreplay pretrain`.")
    ],
    out: Annotated[Path, typer.Option(help="Model file to write.")],
    larq: Annotated[bool, typer.Option("--larq", help="WEIGHTS are a Keras file of a Larq Zoo model.")] = False,
    size: Annotated[
        int | None, typer.Option(help="Side of the input in pixels.", show_default="as trained; 224 with --larq")
    ] = None,
    sizes: Annotated[
        str | None, typer.Option(help="More sizes to calibrate ranges at, such as 128,160,224.", show_default="none")
    ] = None,
    head: Annotated[
        bool, typer.Option("--head/--no-head", help="Keep the classes that the network was trained on.")
    ] = True,
    class_names: Annotated[Path | None, typer.Option(help="Text file of class names, one per line.")] = None,
    licence: Annotated[str | None, typer.Option(help="Licence of the weights, stored in the file.")] = None,
    replay_layer: Annotated[
        str | None, typer.Option(help="Replay layer to re-estimate for.", show_default="the first")
    ] = None,
    latent_bits: Annotated[int, typer.Option(help="Bits per latent element to re-estimate for.")] = 1,
    reestimate: Annotated[bool, typer.Option(help="Re-estimate the tail's statistics for quantised latents.")] = False,
    images: Annotated[int, typer.Option(help="Calibration images.")] = 500,
    outside: Annotated[float, typer.Option(help="Share of values that ranges cut off at either end.")] = 0.001,
    weight_bits: Annotated[int, typer.Option(help="Bits of real-valued weights in the file: 16 or 8.")] = 16,
    json: options.Json = False,
) -> None:
    """Turn trained weights into a model file."""
    need_torch()
    from bitreplay.torch.convert import convert as convert_module
    from bitreplay.torch.convert.calibration_images import calibration
    from bitreplay.torch.convert.headless import LABEL, headless
    from bitreplay.torch.weights import class_names as known_names
    from bitreplay.torch.weights import load_weights

    _check(images, size, out)
    names = _names_in(class_names) if class_names is not None else []
    module, note = _load_larq(weights, size) if larq else load_weights(weights)
    if not head:
        module, names = headless(module), [LABEL]
    side = size or int(getattr(module, "input_size", 224))
    other_sizes = _sizes(sizes, side)
    pictures, data_names = calibration(data, side, images)
    graph, how = convert_module(
        module,
        pictures,
        class_names=names or known_names(note, data_names),
        replay_layer=replay_layer,
        latent_bits=latent_bits,
        reestimate=reestimate,
        outside=outside,
        weight_bits=weight_bits,
        also=[calibration(data, other, images)[0] for other in other_sizes],
    )
    if larq:
        from bitreplay.torch.convert.fold_normalisation import fold_normalisation

        graph = fold_normalisation(graph)
    replay_layers = sorted(graph.replay_layers)
    digest = modelfile.save(graph, out, _about(out, note, how, licence))
    row = {"file": str(out), "digest": digest, "bytes": out.stat().st_size, "replay_layers": replay_layers}
    if json:
        show.as_json(row)
    else:
        cells = row | {"replay_layers": ", ".join(replay_layers)}
        show.say(show.table("converted", ("", ""), [(key, str(value)) for key, value in cells.items()]))


def _check(images: int, size: int | None, out: Path) -> None:
    if images < 1:
        raise ValueError(f"--images is {images}; expected at least 1.")
    if size is not None and not 8 <= size <= LARGEST_SIZE:
        raise ValueError(f"--size is {size}; expected a number from 8 to {LARGEST_SIZE}.")
    if out.is_dir():
        raise ValueError(f"{out} is a folder; expected a file to write.")


def _about(out: Path, note: dict[str, Any], how: dict[str, Any], licence: str | None) -> dict[str, Any]:
    """What the model file says of its network."""
    training = {key: value for key, value in note.items() if key != "parts"}
    licence = licence or note.get("licence") or UNKNOWN_LICENCE
    return {"name": out.stem.partition("@")[0], "conversion": how, "training": training, "licence": licence}


def _sizes(text: str | None, side: int) -> list[int]:
    words = (text or "").replace(",", " ").split()
    for word in words:
        if not (word.isdecimal() and len(word) < 5 and 8 <= int(word) <= LARGEST):
            raise ValueError(f"--sizes has {escaped(word)}; expected numbers from 8 to {LARGEST}, such as 128,160,224.")
    return sorted({int(word) for word in words} - {side})


def _names_in(path: Path) -> list[str]:
    try:
        names = path.read_text(encoding="utf-8").splitlines()
    except UnicodeDecodeError:
        raise ValueError(f"{path} is not a text file; expected class names, one per line.") from None
    if not names:
        raise ValueError(f"{path} is empty; expected class names, one per line.")
    return names


def _load_larq(weights: Path, size: int | None) -> tuple[Any, dict[str, Any]]:
    try:
        from bitreplay.torch.convert.larq_weights import load_larq
    except ImportError as error:  # it says which extra to install
        raise ValueError(str(error)) from None
    return load_larq(weights) if size is None else load_larq(weights, size)
