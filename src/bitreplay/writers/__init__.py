"""Writers of a stream's figures, step by step: to a CSV file or to TensorBoard's event files (an extra).

    with CsvWriter("rows.csv") as rows, TensorBoardWriter("logs") as board:
        History(follow(learner, stream, test_images, test_labels, metrics=[rows, board]))

A writer is any function of a Step; `figures` returns the numbers of a step by name.
"""

from bitreplay.writers.csv_writer import CsvWriter
from bitreplay.writers.figures import figures
from bitreplay.writers.tensorboard_writer import TensorBoardWriter

__all__ = ["CsvWriter", "TensorBoardWriter", "figures"]
