"""The registry of layers: one line each. A layer's operations register themselves when its file is imported.

The files lie beside one another, in no folders: each is named like the kind of its node, which is what one looks for.
"""

from __future__ import annotations

from bitreplay.engine.layers import gradient_sum as gradient_sum
from bitreplay.engine.layers.add import Add
from bitreplay.engine.layers.average_pool import AveragePool
from bitreplay.engine.layers.batchnorm import BatchNorm
from bitreplay.engine.layers.binary_conv import BinaryConv
from bitreplay.engine.layers.blur_pool import BlurPool
from bitreplay.engine.layers.clip import Clip
from bitreplay.engine.layers.concat import Concat
from bitreplay.engine.layers.cross_entropy import CrossEntropy
from bitreplay.engine.layers.dense import Dense
from bitreplay.engine.layers.depthwise_conv import DepthwiseConv
from bitreplay.engine.layers.image import Image
from bitreplay.engine.layers.integer_conv import IntegerConv
from bitreplay.engine.layers.latent_code import DecodeLatents, EncodeLatents
from bitreplay.engine.layers.layer import Layer
from bitreplay.engine.layers.max_pool import MaxPool
from bitreplay.engine.layers.relu import ReLU
from bitreplay.engine.layers.rprelu import PReLU, RPReLU
from bitreplay.engine.layers.rsign import RSign
from bitreplay.engine.layers.sign import Sign

LAYERS: dict[str, type[Layer]] = {
    "image": Image,
    "integer_conv": IntegerConv,
    "depthwise_conv": DepthwiseConv,
    "binary_conv": BinaryConv,
    "batchnorm": BatchNorm,
    "sign": Sign,
    "rsign": RSign,
    "rprelu": RPReLU,
    "prelu": PReLU,
    "relu": ReLU,
    "clip": Clip,
    "add": Add,
    "concat": Concat,
    "max_pool": MaxPool,
    "average_pool": AveragePool,
    "blur_pool": BlurPool,
    "dense": Dense,
    "cross_entropy": CrossEntropy,
    "encode_latents": EncodeLatents,
    "decode_latents": DecodeLatents,
}
