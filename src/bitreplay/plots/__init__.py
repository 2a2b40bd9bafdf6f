"""Plots of results with matplotlib, an extra: pip install 'bitreplay[plot]'.

    from bitreplay import plots
    plots.confusion(learner.evaluate(images, labels)).savefig("confusion.png")
    plots.curves({"exact": [0.2, 0.4], "replay": [0.2, 0.3]}, "groceries").savefig("curves.svg")

Each function returns a new matplotlib Figure; no window is opened and pyplot's global state is not used.
"""

from bitreplay.plots.confusion import confusion
from bitreplay.plots.curves import curves

__all__ = ["confusion", "curves"]
