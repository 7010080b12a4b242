"""How a session's epsilon has grown, step by step, and how it would go on."""
from __future__ import annotations

import dataclasses
import datetime
from typing import Any, List, Optional, Tuple

from .html import escaped, table, titled
from .rounded import rounded_down, rounded_up
from .transport import Json

_SHOWN_POINTS = 8


@dataclasses.dataclass(frozen=True)
class SeriesPoint:
    """epsilon >= the true epsilon at the series' delta after so many steps."""

    steps: int
    #: None if no accountant knows an event of the session.
    epsilon: Optional[float]
    #: When the charge was made that the step belongs to; None at 0 steps and for steps that are still ahead.
    time: Optional[datetime.datetime]

    @classmethod
    def from_json(cls, message: Json) -> "SeriesPoint":
        """Reads an epsledger.v1.SeriesPoint."""
        upper = (message.get("epsilon") or {}).get("upper")
        return cls(steps=int(message.get("steps", 0)), epsilon=None if upper is None else float(upper),
                   time=time_of(message.get("time")))


@dataclasses.dataclass(frozen=True, repr=False)
class Series:
    """Epsilon at `delta` against steps. In an ADAPTIVE session these are readings: the caps decide."""

    delta: float
    points: Tuple[SeriesPoint, ...]
    #: What would follow if the event that was charged last is charged until it is refused. Composed, not extrapolated.
    ahead: Tuple[SeriesPoint, ...]
    #: How many steps are charged.
    steps: int
    #: The smallest epsilon among the caps on the way up that are stated at this delta; None if there is none. Other
    #: sessions spend of it too.
    epsilon_cap: Optional[float]

    @classmethod
    def from_json(cls, message: Json, delta: float) -> "Series":
        """Reads an epsledger.v1.GetSessionSeriesResponse."""
        cap = message.get("epsilonCap")
        return cls(delta=delta, points=tuple(map(SeriesPoint.from_json, message.get("points", []))),
                   ahead=tuple(map(SeriesPoint.from_json, message.get("ahead", []))),
                   steps=int(message.get("steps", 0)), epsilon_cap=None if cap is None else float(cap))

    def rows(self) -> List[Json]:
        """Returns one dict per point: steps, epsilon, time, and whether the point is ahead."""
        return [{"steps": point.steps, "epsilon": point.epsilon, "time": point.time, "ahead": ahead}
                for points, ahead in ((self.points, False), (self.ahead, True)) for point in points]

    def to_pandas(self) -> Any:
        """Returns the rows as a pandas.DataFrame. Needs pandas."""
        import pandas

        return pandas.DataFrame(self.rows(), columns=["steps", "epsilon", "time", "ahead"])

    def plot(self, axes: Any = None) -> Any:
        """Draws the series, what is ahead (dashed) and the cap on matplotlib axes, new ones by default, and returns
        them. Needs matplotlib: pip install 'epsledger[plot]'."""
        if axes is None:
            from matplotlib import pyplot

            axes = pyplot.figure().add_subplot()
        for points, style, label in ((self.points, "-", "spent"), (self.points[-1:] + self.ahead, "--", "ahead")):
            known = [(point.steps, point.epsilon) for point in points if point.epsilon is not None]
            if len(known) > 1 or label == "spent":
                axes.plot([steps for steps, _ in known], [epsilon for _, epsilon in known], style, label=label)
        if self.epsilon_cap is not None:
            axes.axhline(self.epsilon_cap, linestyle=":", color="gray", label="cap")
        axes.set_xlabel("steps")
        axes.set_ylabel("epsilon at delta %.15g, at most" % self.delta)
        axes.legend()
        return axes

    def __repr__(self) -> str:
        last = self.points[-1].epsilon if self.points else None
        return "<series of %d points over %d steps: epsilon %s at delta %.15g%s>" % (
            len(self.points), self.steps, "is not known" if last is None else rounded_up(last), self.delta,
            "" if self.epsilon_cap is None else ", of a cap of " + rounded_down(self.epsilon_cap))

    def _repr_html_(self) -> str:
        stride = max(1, len(self.points) // _SHOWN_POINTS)
        shown = self.points[:-1:stride] + self.points[-1:]
        rows = [("%d" % point.steps, "not known" if point.epsilon is None else rounded_up(point.epsilon),
                 "" if point.time is None else point.time.strftime("%Y-%m-%d %H:%M")) for point in shown]
        return titled("Epsilon by step, at delta %.15g" % self.delta,
                      table(("steps", "epsilon, at most", "time (UTC)"), rows), escaped(repr(self)))


def time_of(text: object) -> Optional[datetime.datetime]:
    """Returns the time of a proto3 JSON Timestamp, to the microsecond; None for none."""
    if not isinstance(text, str) or not text:
        return None
    seconds, _, fraction = text.rstrip("Z").partition(".")
    return datetime.datetime.strptime(seconds, "%Y-%m-%dT%H:%M:%S").replace(
        microsecond=int((fraction + "000000")[:6]), tzinfo=datetime.timezone.utc)
