"""What a program without Python needs of a model: files for the learner in C (core/include/bitreplay_learner.h)."""

from bitreplay.export.image import exact_image, image_of

__all__ = ["exact_image", "image_of"]
