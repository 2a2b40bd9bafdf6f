"""The projection of a model, in a companion file beside it: NAME.projection.safetensors."""

from __future__ import annotations

from bitreplay.arguments import escaped
from bitreplay.engine.feature_program import default_feature_layers
from bitreplay.engine.projection import Projection
from bitreplay.modelfile import ModelFileError
from bitreplay.modelfile.projection_file import KIND, load
from bitreplay.zoo import Model, find, names


def of_model(model: Model) -> Projection:
    """The projection with all axes of the file."""
    path = model.companion(KIND)
    if not path.exists():
        raise ModelFileError(
            f"{model.path} has no projection: expected {path.name} beside it. Of those shipped {_with_one()} have one; "
            "feature layers, such as head, need none."
        )
    content = load(path)
    if content.model != model.digest:
        raise ModelFileError(
            f"{path} belongs to the model with checksum {escaped(content.model)[:12]}, not to {model.digest[:12]}."
        )
    return content.projection


def _with_one() -> str:
    return ", ".join(name for name in names() if find(name).companion(KIND).exists())


def resolve(
    model: Model, layers: str | None, components: int | None, digest: str | None
) -> tuple[str, Projection | None]:
    """The layers that the features are means of, and the projection to components, if there is one.

    With a digest, the projection must have it.
    """
    if components is None:
        return layers or default_feature_layers(model.graph), None
    projection = of_model(model)
    if layers not in (None, projection.feature_layers):
        raise ModelFileError(
            f"{model.companion(KIND)} projects {projection.feature_layers}, not {escaped(str(layers))}."
        )
    if components > len(projection):
        raise ModelFileError(f"{model.companion(KIND)} has {len(projection)} components, fewer than {components}.")
    chosen = projection.first(components)
    if digest is not None and chosen.digest() != digest:
        raise ModelFileError(
            f"{model.companion(KIND)} is the projection {chosen.digest()[:12]}, and {escaped(digest)[:12]} was "
            "asked for."
        )
    return projection.feature_layers, chosen
