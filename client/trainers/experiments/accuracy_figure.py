"""The paper's Figure 2: accuracy against epsilon, as a table and as a picture of the same numbers."""
import chart
import markdown

COLORS = {"FSDP": "#0b6e4f", "DP-SGD": "#1f4e9c"}
# The rows of the table and the lines of the picture.
NAMES = {"FSDP": "sound FSDP", "DP-SGD": "DP-SGD"}


def _series(measured, printed):
    for name, label in NAMES.items():
        points = tuple(chart.Point(epsilon, one.mean, one.spread) for epsilon, one in measured[name].items())
        yield chart.Series(label, points, COLORS[name])
    for name in NAMES:
        points = tuple(chart.Point(epsilon, accuracy) for epsilon, accuracy in printed[name].items())
        yield chart.Series("paper's %s, no proof" % name, points, COLORS[name], printed=True)


def table_and_picture(bench, file, title, measured, printed):
    """Returns a table, and writes the picture `file`, to which the answer has a link.

    measured: {"FSDP": {epsilon: runs.Summary of the accuracy in percent}, "DP-SGD": ...}, equal epsilons
    printed: the paper's, in the same form with plain numbers"""
    rows = []
    for epsilon in sorted(measured["FSDP"]):
        row = [epsilon]
        for name in NAMES:
            number = printed[name].get(epsilon)
            row += [measured[name][epsilon].text(2), "%.2f" % number if number else ""]
        rows.append(row)
    columns = ["epsilon"] + [column for label in NAMES.values() for column in (label, "paper")]
    bench.picture(file, chart.line_chart(title, "epsilon", "held-out accuracy in percent", _series(measured, printed)))
    return markdown.table(columns, rows) + "\n![%s](%s)\n" % (title, file)
