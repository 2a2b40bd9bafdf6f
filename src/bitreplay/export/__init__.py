"""What a program without Python needs of a model: files for the learner in C (core/include/bitreplay_learner.h)."""

from bitreplay.export.folder import TARGETS, write_folder
from bitreplay.export.image import exact_image, image_of, replay_image

__all__ = ["TARGETS", "exact_image", "image_of", "replay_image", "write_folder"]
