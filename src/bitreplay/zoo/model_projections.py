"""The projection of a model, in a companion file beside it: NAME.projection.safetensors."""

from __future__ import annotations

from bitreplay.arguments import escaped
from bitreplay.engine.feature_program import default_feature_layers
from bitreplay.engine.projection import Projection
from bitreplay.modelfile import ModelFileError
from bitreplay.modelfile.projection_file import KIND, ProjectionFile, load
from bitreplay.zoo import Model, find, names


def companion_of(model: Model) -> ProjectionFile:
    """The companion, with all its axes."""
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
    return content


def of_model(model: Model) -> Projection:
    """The projection with all axes of the companion."""
    return companion_of(model).projection


def default_components(model: Model) -> int | None:
    """How many components a learner has that names neither layers nor components; none without such a companion."""
    path = model.companion(KIND)
    if not path.exists():
        return None
    content = load(path)
    return content.default_components if content.model == model.digest else None


def _with_one() -> str:
    return ", ".join(name for name in names() if find(name).companion(KIND).exists())


def resolve(
    model: Model, layers: str | None, components: int | None, digest: str | None
) -> tuple[str, Projection | None]:
    """The layers that the features are means of, and the projection to components, if there is one.

    Where neither is named, the model's companion may say how many components. With a digest, the projection must have
    it.
    """
    if components is None and layers is None:
        components = default_components(model)
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
