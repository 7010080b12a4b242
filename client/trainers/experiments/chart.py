"""Line charts as SVG, drawn from numbers alone. The same numbers give the same bytes."""
import dataclasses
import math
import xml.sax.saxutils

WIDTH, HEIGHT = 800, 460
LEFT, RIGHT, TOP, BOTTOM = 64, 240, 48, 56  # margins around the plot; the legend is in the right one
MOST_TICKS = 8


@dataclasses.dataclass(frozen=True)
class Point:
    x: float
    y: float
    spread: float = 0.0  # half the length of the bar through the point; 0: no bar


@dataclasses.dataclass(frozen=True)
class Series:
    name: str
    points: tuple
    color: str
    printed: bool = False  # a number that others printed: hollow points, a dashed line


def _tick_step(low, high):
    """Returns the least of 1, 2, 5 times a power of ten that needs at most MOST_TICKS ticks."""
    power = 10.0 ** math.floor(math.log10((high - low) / MOST_TICKS))
    return next(factor * power for factor in (1, 2, 5, 10, 20) if (high - low) / (factor * power) <= MOST_TICKS - 1)


class _Axis:
    """Maps [low, high], widened to whole ticks, to pixels."""

    def __init__(self, values, first_pixel, last_pixel):
        low, high = min(values), max(values)
        if low == high:
            low, high = low - 1, high + 1
        self._step = _tick_step(low, high)
        self._first_tick = math.floor(low / self._step + 1e-9)
        self._last_tick = math.ceil(high / self._step - 1e-9)
        self._low, self._high = self._first_tick * self._step, self._last_tick * self._step
        self._first, self._last = first_pixel, last_pixel

    def pixel(self, value):
        return self._first + (value - self._low) / (self._high - self._low) * (self._last - self._first)

    def ticks(self):
        return [i * self._step for i in range(self._first_tick, self._last_tick + 1)]


def _text(x, y, text, anchor="middle", size=13, extra=""):
    return '<text x="%.2f" y="%.2f" text-anchor="%s" font-size="%d"%s>%s</text>' % (
        x, y, anchor, size, extra, xml.sax.saxutils.escape(text))


def _line(x1, y1, x2, y2, color, width=1.0, dash=""):
    return '<line x1="%.2f" y1="%.2f" x2="%.2f" y2="%.2f" stroke="%s" stroke-width="%g"%s/>' % (
        x1, y1, x2, y2, color, width, ' stroke-dasharray="%s"' % dash if dash else "")


def _marker(x, y, series):
    return '<circle cx="%.2f" cy="%.2f" r="4" fill="%s" stroke="%s" stroke-width="1.5"/>' % (
        x, y, "#ffffff" if series.printed else series.color, series.color)


def _axes(x_axis, y_axis, x_label, y_label):
    right, bottom = WIDTH - RIGHT, HEIGHT - BOTTOM
    lines = []
    for tick in y_axis.ticks():
        lines.append(_line(LEFT, y_axis.pixel(tick), right, y_axis.pixel(tick), "#dddddd"))
        lines.append(_text(LEFT - 8, y_axis.pixel(tick) + 4, "%g" % tick, "end", extra=' class="y-tick"'))
    for tick in x_axis.ticks():
        lines.append(_line(x_axis.pixel(tick), bottom, x_axis.pixel(tick), bottom + 5, "#333333"))
        lines.append(_text(x_axis.pixel(tick), bottom + 20, "%g" % tick, extra=' class="x-tick"'))
    lines.append(_line(LEFT, bottom, right, bottom, "#333333"))
    lines.append(_line(LEFT, TOP, LEFT, bottom, "#333333"))
    lines.append(_text((LEFT + right) / 2, HEIGHT - 14, x_label))
    middle = (TOP + bottom) / 2
    lines.append(_text(18, middle, y_label, extra=' transform="rotate(-90 18 %.2f)"' % middle))
    return lines


def _drawn(series, x_axis, y_axis):
    places = [(x_axis.pixel(point.x), y_axis.pixel(point.y)) for point in series.points]
    lines = ['<polyline fill="none" stroke="%s" stroke-width="2"%s points="%s"/>' % (
        series.color, ' stroke-dasharray="6 4"' if series.printed else "",
        " ".join("%.2f,%.2f" % place for place in places))]
    for point, (x, _) in zip(series.points, places):
        if point.spread > 0:
            lines.append(_line(x, y_axis.pixel(point.y - point.spread), x, y_axis.pixel(point.y + point.spread),
                               series.color, 1.5))
    return lines + [_marker(x, y, series) for x, y in places]


def _legend(series):
    lines = []
    x = WIDTH - RIGHT + 16
    for number, one in enumerate(series):
        y = TOP + 12 + 24 * number
        lines.append(_line(x, y, x + 28, y, one.color, 2, "6 4" if one.printed else ""))
        lines.append(_marker(x + 14, y, one).replace("<circle", '<circle class="legend"'))
        lines.append(_text(x + 36, y + 4, one.name, "start"))
    return lines


def line_chart(title, x_label, y_label, series):
    """Returns an SVG of the series, points joined in the order of x. A point with a spread s has a bar from y - s to
    y + s. Raises ValueError if there is no point, or one that is not finite or has a negative spread."""
    series = [dataclasses.replace(one, points=tuple(sorted(one.points, key=lambda point: point.x))) for one in series]
    points = [point for one in series for point in one.points]
    if not points:
        raise ValueError("chart: got no point, want at least one")
    for point in points:
        if not (math.isfinite(point.x) and math.isfinite(point.y) and 0 <= point.spread < math.inf):
            raise ValueError("chart: got the point %s, want finite numbers and a spread >= 0" % (point,))
    series = [one for one in series if one.points]
    x_axis = _Axis([point.x for point in points], LEFT, WIDTH - RIGHT)
    y_axis = _Axis([point.y + sign * point.spread for point in points for sign in (-1, 1)], HEIGHT - BOTTOM, TOP)
    lines = ['<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 %d %d" width="%d" height="%d" role="img" '
             'font-family="sans-serif" fill="#222222">' % (WIDTH, HEIGHT, WIDTH, HEIGHT),
             "<title>%s</title>" % xml.sax.saxutils.escape(title),
             '<rect width="%d" height="%d" fill="#ffffff"/>' % (WIDTH, HEIGHT),
             _text(LEFT, 24, title, "start", 15)]
    lines += _axes(x_axis, y_axis, x_label, y_label)
    for one in series:
        lines += _drawn(one, x_axis, y_axis)
    lines += _legend(series) + ["</svg>"]
    return "\n".join(lines) + "\n"
