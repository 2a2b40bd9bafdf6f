"""Accuracy along a stream: one line per series, percent against the number of experiences."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from bitreplay.arguments import escaped
from bitreplay.plots.figure import figure


def curves(
    series: Mapping[str, Sequence[float]], title: str = "", x_label: str = "experiences learned"
) -> Any:  # fmt: skip
    """Plots accuracies along a stream.

    Parameters
    ----------
    series : mapping of str to sequence of float
        Accuracies from 0 to 1 after each experience, by the name of the line. The legend has names and last values.
    title : str
        Title of the plot.
    x_label : str
        Label of the horizontal axis.

    Returns
    -------
    matplotlib.figure.Figure
        A new figure.

    Raises
    ------
    ValueError
        If there is no series, one is empty, or matplotlib is not installed.

    Examples
    --------
    >>> figure = curves({"exact": [0.2, 0.4], "replay": [0.2, 0.3]}, "groceries")
    >>> [text.get_text() for text in figure.axes[0].get_legend().get_texts()]
    ['exact 40.0 %', 'replay 30.0 %']
    """
    if not series or not all(len(values) for values in series.values()):
        raise ValueError("Curves need at least one series with at least one value.")
    result = figure(7.2, 4.2)
    axes = result.subplots()
    for name, values in series.items():
        steps = range(1, len(values) + 1)
        label = f"{escaped(name)} {100 * values[-1]:.1f} %".replace("$", r"\$")
        axes.plot(steps, [100 * value for value in values], marker="o", markersize=4, linewidth=1.8, label=label)
    axes.set_ylim(0, 100)
    axes.set_xticks(range(1, max(map(len, series.values())) + 1))
    axes.set_xlabel(x_label)
    axes.set_ylabel("accuracy, %")
    axes.set_title(escaped(title).replace("$", r"\$"), loc="left", fontsize=11)
    axes.grid(axis="y", color="#dddddd")
    axes.spines[["top", "right"]].set_visible(False)
    axes.legend(frameon=False, loc="upper left", bbox_to_anchor=(1.0, 1.0), title="after the last one")
    return result
