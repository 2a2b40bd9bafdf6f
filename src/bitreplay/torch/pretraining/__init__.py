"""Pre-training of backbones and their teachers: `pretrain` is the door, `loop` the training."""
