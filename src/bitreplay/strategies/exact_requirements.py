"""What learning by sums needs: planned from settings, and used by a strategy that has learned."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from bitreplay.engine import native_sums
from bitreplay.engine.bit_widths import Bits
from bitreplay.engine.feature_program import compile_features, part_lengths
from bitreplay.engine.mahalanobis import factor_bytes
from bitreplay.engine.native_discriminant import discriminant_of
from bitreplay.engine.program import Program
from bitreplay.engine.projection import Projection
from bitreplay.engine.shrinkage import EXACT
from bitreplay.engine.sums import width
from bitreplay.strategies.requirements import (
    FROZEN_BATCH,
    RAM,
    DevicePrograms,
    Item,
    Requirements,
    program_items,
    used_by_program,
)
from bitreplay.zoo import model_projections

if TYPE_CHECKING:
    from bitreplay.strategies.exact import Exact
    from bitreplay.strategies.strategy import StrategyContext


def features_of(context: StrategyContext) -> tuple[str, Projection | None]:
    """The layers that the features are means of, and their projection, as the settings name them."""
    settings = context.settings
    return model_projections.resolve(context.model, settings.feature_layers, settings.n_components, settings.projection)


def device_programs(context: StrategyContext) -> DevicePrograms:
    """The frozen network that computes features, and the shrinkage of their discriminant if it is one of its own."""
    layers, projection = features_of(context)
    shrinkage = EXACT if projection is None else projection.shrinkage
    own = {} if shrinkage == EXACT else {"shrinkage": np.array(shrinkage.terms, "<u4").tobytes()}
    return DevicePrograms({"features": feature_program(context, layers, projection, 1)}, own)


def feature_program(
    context: StrategyContext, layers: str, projection: Projection | None, max_samples: int
) -> Program:  # fmt: skip
    bits = context.settings.bits
    assert isinstance(bits, Bits)
    return compile_features(context.graph, layers, bits, max_samples, projection)


def planned(context: StrategyContext, classes: int) -> Requirements:
    """For this many classes."""
    network = feature_program(context, *features_of(context), FROZEN_BATCH)
    n_features = sum(part_lengths(network))
    element = width(0).itemsize
    products, sums = element * n_features * (n_features + 1) // 2, classes * (element * n_features + 8)
    class_products = classes * products if context.settings.exact_forget else 0
    items = (
        *program_items("network", network),
        Item(RAM, "sums", f"products of {n_features} numbers", products),
        Item(RAM, "sums", "of the classes, and their counts", sums),
        Item(RAM, "sums", "products of each class", class_products),
        Item(RAM, "answers", "the discriminant", classes * (4 * n_features + 8)),
        Item(RAM, "answers", "the factor of the covariance", factor_bytes(n_features)),
        Item(RAM, "answers", "to make it anew", native_sums.solve_bytes(n_features, classes)),
    )
    return Requirements(items, products + sums + class_products, {"network": network})


def used(strategy: Exact) -> dict[tuple[str, str], int]:
    """Bytes of RAM, as `planned` names them."""
    statistics = strategy.class_statistics.state_dict()
    sums, class_products = strategy.class_statistics.sums, statistics.class_products
    rule = discriminant_of(sums, strategy.features.lengths).solution
    return {
        **used_by_program("network", strategy.features.footprint),
        ("sums", f"products of {sums.n_features} numbers"): sums.products.nbytes,
        ("sums", "of the classes, and their counts"): sums.class_sums.nbytes + sums.counts.nbytes,
        ("sums", "products of each class"): 0 if class_products is None else class_products.nbytes,
        ("answers", "the discriminant"): rule.weights.nbytes + rule.biases.nbytes,
        ("answers", "the factor of the covariance"): factor_bytes(sums.n_features),
    }
