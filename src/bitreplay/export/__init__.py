"""What a program without Python needs of a model: files for the learner in C (core/include/bitreplay_learner.h)."""

from bitreplay.export.c_learners import c_learner_of, c_learners
from bitreplay.export.folder import write_folder
from bitreplay.export.image import image_of, model_image, programs_of
from bitreplay.export.targets import TARGETS

__all__ = ["TARGETS", "c_learner_of", "c_learners", "image_of", "model_image", "programs_of", "write_folder"]
