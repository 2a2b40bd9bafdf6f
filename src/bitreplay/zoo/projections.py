"""The projection of a model: the companion file that lies beside it, NAME.projection.safetensors."""

from __future__ import annotations

from bitreplay.arguments import shown
from bitreplay.engine.features import usual_numbers
from bitreplay.engine.projection import Projection, asked_of
from bitreplay.modelfile import ModelFileError
from bitreplay.modelfile.projection import KIND, load
from bitreplay.zoo import Model, find, names


def of_model(model: Model) -> Projection:
    """All axes that the companion has."""
    path = model.companion(KIND)
    if not path.exists():
        raise ModelFileError(
            f"{model.path} has no projection: expected {path.name} beside it. Of those shipped {_with_one()} have one; "
            "layers, such as head, are numbers that need none."
        )
    found = load(path)
    if found.model != model.digest:
        raise ModelFileError(
            f"{path} belongs to the model with checksum {shown(found.model)[:12]}, not to {model.digest[:12]}."
        )
    return found.projection


def _with_one() -> str:
    return ", ".join(name for name in names() if find(name).companion(KIND).exists())


def asked(model: Model, numbers: str | None, digest: str | None) -> tuple[str, Projection | None]:
    """The layers that numbers of a picture are means of, and what projects them if `numbers` says how many there shall
    be: "128", or "128 of head+add_12". With a digest, the projection must have it."""
    axes, layers = asked_of(numbers) if numbers is not None else (None, None)
    if axes is None:
        return layers or usual_numbers(model.graph), None
    projection = of_model(model)
    if layers not in (None, projection.numbers):
        raise ModelFileError(
            f"{model.companion(KIND)} projects {projection.numbers}, and {shown(str(layers))} were asked for."
        )
    if not 1 <= axes <= len(projection):
        raise ModelFileError(f"{model.companion(KIND)} has {len(projection)} axes, and {axes} were asked for.")
    chosen = projection.first(axes)
    if digest is not None and chosen.digest() != digest:
        raise ModelFileError(
            f"{model.companion(KIND)} is the projection {chosen.digest()[:12]}, and {shown(digest)[:12]} was asked for."
        )
    return projection.numbers, chosen
