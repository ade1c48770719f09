"""The picture of what a purge takes: every square and circle stands where the data says."""

import numpy as np

from mlhpc.storage.picture import plot_taken


def test_taken_and_kept_are_told_apart_by_more_than_colour() -> None:
    figure = plot_taken(
        {
            "tar -x": {"mtime": True, "atime": False, "ctime": False},
            "cp -p": {"mtime": True, "atime": True, "ctime": False},
        }
    )
    (axes,) = figure.axes
    lines = {line.get_label(): line for line in axes.lines}
    points = {label: set(map(tuple, np.asarray(line.get_xydata()))) for label, line in lines.items()}
    assert points == {"taken": {(0, 0), (0, 1), (1, 1)}, "kept": {(1, 0), (2, 0), (2, 1)}}
    assert lines["taken"].get_marker() != lines["kept"].get_marker()
    assert [tick.get_text() for tick in axes.get_yticklabels()] == ["tar -x", "cp -p"]
    assert axes.get_xlabel()
    assert axes.get_ylabel()
