"""One thread: small tensors gain nothing from more, and threads that wait for each other crawl on a busy machine."""

import os

import torch

torch.set_num_threads(1)
os.environ["OMP_NUM_THREADS"] = "1"
