"""Data sets, one file each: a path goes in, uint8 NHWC images and int64 labels come out."""

from bitreplay.data.dataset import Dataset

__all__ = ["Dataset"]
