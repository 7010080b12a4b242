"""The noise that the caps require: finds the smallest noise multiplier with which so many steps fit, by previews."""
from __future__ import annotations

import dataclasses
import math
from typing import Callable

from .errors import Refused, invalid, refused
from .event_json import EventLike, count_json, event_json
from .preview import Preview
from .refusal import Refusal
from .transport import Json

#: The event of one step, as a function of its noise multiplier.
NoisyEvent = Callable[[float], EventLike]

# The answer is above a noise multiplier that is too small by at most this share of the answer.
_WIDTH = 5e-4
# The bounds of the search, as powers of 2.
_LEAST, _MOST = -10, 20
# The refusals that more noise may turn into an acceptance.
_FOR_LACK_OF_ROOM = ("BUDGET_EXHAUSTED", "EVENT_NOT_CHARGEABLE")


def smallest_noise(preview: Callable[[Json], Preview], event: NoisyEvent, count: int) -> float:
    """Returns z for which preview(event(z)) says that `count` single steps fit, and which is at most 5e-4 of z above a
    value for which they do not; 2^-10 if they fit there.

    Previews may take a second each. The search doubles or halves z from 1, in growing strides. Between the two sides it
    interpolates in the logarithms of z and of the steps that fit, and bisects if that was slow. It takes about ten
    previews where the steps are smooth in z, and up to twice as many where they are a staircase.

    BudgetExhausted, or the refusal's own error, if not even z = 2^20 is enough; immediately for a refusal that is not
    for lack of room. InvalidArgument for a count outside [1, 2^53], and for an `event` that returns no event or does
    not depend on z. Errors of `event` are raised."""
    count_json(count)
    if not callable(event):
        raise invalid("event", event, "a function that returns the event of a noise multiplier")

    def probe(noise: float) -> _Probe:
        described = event_json(event(noise), "event(%r)" % noise)
        answer = preview(described)
        if answer.refusal is not None and answer.refusal.reason not in _FOR_LACK_OF_ROOM:
            raise refused(answer.refusal)
        return _Probe(noise, described, answer, answer.steps_that_fit >= count,
                      math.log((answer.steps_that_fit + 0.5) / count))

    exponent, stride = 0, 1
    before = here = probe(1.0)
    more = not here.fits
    while here.fits != more:
        further = min(exponent + stride, _MOST) if more else max(exponent - stride, _LEAST)
        if further == exponent:
            if here.fits:
                return here.noise
            raise _never(here.answer, count)
        exponent, stride = further, 2 * stride
        before, here = here, probe(2.0 ** exponent)
        if before.event == here.event:
            raise invalid("event(%r)" % here.noise, here.event, "another event than event(%r)" % before.noise)
    return _narrowed(*((before, here) if more else (here, before)), probe)


@dataclasses.dataclass(frozen=True)
class _Probe:
    """A noise multiplier and the answer to its preview."""

    noise: float
    event: Json
    answer: Preview
    fits: bool
    #: The logarithm of the steps that fit over those that are wanted; 0 at the edge.
    height: float


def _never(most_noise: Preview, count: int) -> Refused:
    """Returns the error if not even the most noise is enough."""
    # A block of steps may cost less than its steps one by one: then there is no refusal.
    refusal = most_noise.refusal or Refusal(reason="BUDGET_EXHAUSTED", steps_that_fit=most_noise.steps_that_fit)
    return refused(dataclasses.replace(refusal, remedy=(
        "no noise makes %d single steps fit, which cost at least a unit each where units are counted; with the most "
        "noise %d fit" % (count, most_noise.steps_that_fit))))


def _narrowed(low: _Probe, high: _Probe, probe: Callable[[float], _Probe]) -> float:
    """Returns the upper end of a narrow bracket. In (low, high), only the upper end fits."""
    one, other = sorted((low, high), key=_distance)  # the two that are nearest to the edge
    slow = False
    while high.noise > low.noise * (1 + _WIDTH):
        width = math.log(high.noise / low.noise)
        share = 0.5
        slope = (other.height - one.height) / math.log(other.noise / one.noise)
        if slope > 0 and not slow and width > 2 * _WIDTH:
            share = (math.log(one.noise / low.noise) - one.height / slope) / width
            # Goes beyond the edge, as seen from the nearer end, so that the farther one comes near too.
            share += math.copysign(0.4 * _WIDTH / width, 0.5 - share)
            share = min(max(share, 0.01), 0.99)
        between = probe(low.noise * math.exp(share * width))
        one, other = sorted((one, other, between), key=_distance)[:2]
        if between.fits:
            high = between
        else:
            low = between
        slow = not slow and math.log(high.noise / low.noise) > width / 2
    return high.noise


def _distance(probe: _Probe) -> float:
    return abs(probe.height)
