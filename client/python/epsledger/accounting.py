"""Certified privacy accounting in this process, without a server: the engine by which the ledger decides.

    from epsledger import accounting
    from epsledger.events import Gaussian, PoissonSampled

    step = PoissonSampled(sampling_probability=0.01, event=Gaussian(noise_multiplier=1.0))
    accounting.epsilon(step, count=10_000, delta=1e-5)

Upper bounds are never below the truth, rounding included, and lower ones never above it. Needs the compiled
module: pip install epsledger[fast].

`events` is one event (`count` uses of it), or a history: CountedEvent, or (event, count), in sequence. Every function
has the options `accountant`, "BEST" by default (CLT answers are approximations: see Bound.kind); `relation`, the
neighboring relation, "ADD_OR_REMOVE_ONE" by default; and `group_size`, the size of the group that is protected.
ValueError names the field, what it got and what it wants; NotImplementedError says that no proved bound of such events
is known.
"""
from __future__ import annotations

import dataclasses
import json
from typing import Any, Dict, Iterable, List, Optional, Tuple, Union

from .event_json import EventLike, count_json, event_json, plain_json
from .events import CountedEvent
from .guarantees import Reading
from .rounded import rounded_up
from .transport import Json

#: One event, or what was released in sequence.
Events = Union[EventLike, Iterable[Union[CountedEvent, Tuple[EventLike, int]]]]


class Bound(float):
    """A number >= the truth where `kind` is "UPPER_BOUND": the float itself."""

    #: <= the truth; None if the accountant gives no lower bound.
    lower: Optional[float]
    #: "UPPER_BOUND", "LOWER_BOUND", or "APPROXIMATION": neither.
    kind: str
    #: The accountant; for "BEST", the one whose bound it is.
    accountant: str
    theorem: str
    #: The history holds an unverified claim: the number is only as good as the claim.
    contains_unverified_claim: bool

    @classmethod
    def from_json(cls, answer: Json) -> "Bound":
        """Reads an epsledger.v1.ComputeResponse, or a Guarantee."""
        bound = cls(answer["upper"])
        bound.lower = float(answer["lower"]) if "lower" in answer else None
        bound.kind = answer.get("kind", "")
        bound.accountant = answer.get("accountant", "")
        bound.theorem = answer.get("theorem", "")
        bound.contains_unverified_claim = answer.get("containsUnverifiedClaim", False)
        return bound

    def __repr__(self) -> str:
        return "<%s%s by %s%s>" % (
            "about " if self.kind == "APPROXIMATION" else "at most ", rounded_up(self), self.accountant,
            "; it rests on an unverified claim" if self.contains_unverified_claim else "")


@dataclasses.dataclass(frozen=True)
class Calibration:
    """A parameter on the safe side of the target."""

    #: The noise multiplier, count or sampling probability of the first event.
    value: float
    #: What the history then costs, at most the target.
    epsilon: float
    delta: float


@dataclasses.dataclass(frozen=True)
class GaussianSummary:
    """A trade-off curve in one number."""

    #: At least the smallest mu of the range. Its kind is "APPROXIMATION" unless every event is Gaussian: outside the
    #: range nothing is said, so the events are not proved to be mu-GDP.
    mu: Bound
    #: How far the curve must be moved, in both errors, until that of mu covers it. None if the accountant has no curve.
    regret: Optional[float]


@dataclasses.dataclass(frozen=True)
class TradeOffPoint:
    """What an attacker can do who sees the output of one of two neighboring data sets.

    No test with this type I error (false positive rate) has a type II error (false negative rate) below
    type_two_error_lower, or a true positive rate above true_positive_rate_upper; some test reaches the other two."""

    type_one_error: float
    #: See Bound.kind.
    kind: str
    type_two_error_lower: float
    type_two_error_upper: Optional[float]
    true_positive_rate_lower: Optional[float]
    true_positive_rate_upper: float


def epsilon(events: Events, *, delta: float, count: int = 1, **options: Any) -> Bound:
    """Returns epsilon >= the smallest at which all events together are (epsilon, delta)-DP. delta in [0, 1]."""
    return _compute(events, count, {"epsilonAtDelta": delta}, options)


def delta(events: Events, *, epsilon: float, count: int = 1, **options: Any) -> Bound:
    """Returns delta >= the smallest at which all events together are (epsilon, delta)-DP. epsilon finite."""
    return _compute(events, count, {"deltaAtEpsilon": epsilon}, options)


def calibrate(events: Events, *, epsilon: float, delta: float, variable: str = "NOISE_MULTIPLIER", count: int = 1,
              **options: Any) -> Calibration:
    """Returns the smallest noise multiplier, the largest "COUNT" or the largest "SAMPLING_PROBABILITY" of the first
    event with which all events together are (epsilon, delta)-DP, on the safe side. The search begins at the value in
    the event."""
    answer = _call("Compute", _request(events, count, options, query={
        "calibrate": {"epsilon": epsilon, "delta": delta, "variable": variable}}))
    return Calibration(value=float(answer["value"]), epsilon=float(answer["upper"]), delta=delta)


def trade_off_curve(events: Events, *, type_one_errors: Iterable[float], count: int = 1,
                    **options: Any) -> List[TradeOffPoint]:
    """Returns the trade-off function of all events together at up to 1,000 type I errors in [0, 1]."""
    answer = _call("GetTradeOffCurve", _request(events, count, options, typeOneErrors=list(type_one_errors)))
    return [_trade_off_point(point) for point in answer.get("points", [])]


def privacy_profile(events: Events, *, epsilons: Iterable[float], count: int = 1,
                    **options: Any) -> List[Tuple[float, Bound]]:
    """Returns (epsilon, delta >= the smallest at this epsilon) at up to 1,000 finite epsilons."""
    answer = _call("GetPrivacyProfile", _request(events, count, options, epsilons=list(epsilons)))
    return [(float(point.get("epsilon", 0.0)), Bound.from_json(point["delta"])) for point in answer.get("points", [])]


def advantage(events: Events, *, count: int = 1, **options: Any) -> Bound:
    """Returns at least the largest true minus false positive rate of a membership test on the outputs of all events
    together: delta at epsilon 0, the total variation distance."""
    return _compute(events, count, {"advantage": {}}, options)


def true_positive_rate(events: Events, *, false_positive_rate: float, count: int = 1, **options: Any) -> Bound:
    """Returns at least the largest true positive rate of a membership test with this false positive rate, in
    [0, 1]."""
    return _compute(events, count, {"truePositiveRateAt": false_positive_rate}, options)


def bayes_success(events: Events, *, prior: float, count: int = 1, **options: Any) -> Bound:
    """Returns at least the largest probability with which a membership attack is right, if the record is in the data
    set with probability `prior`, in (0, 1). 1 minus it is the Bayes risk."""
    return _compute(events, count, {"bayesSuccessAt": prior}, options)


def reconstruction_success(events: Events, *, baseline: float, count: int = 1, **options: Any) -> Bound:
    """Returns at least the largest probability with which an attacker who knows all other records reconstructs one, or
    infers an attribute of it. baseline, in [0, 1]: the largest probability with which any guess succeeds without the
    output; for an attribute the prior probability of its most likely value."""
    return _compute(events, count, {"reconstructionSuccessAt": baseline}, options)


def gaussian_summary(events: Events, *, alpha_min: float, count: int = 1, **options: Any) -> GaussianSummary:
    """Returns the smallest mu of which the Gaussian trade-off curve lies below that of all events together for type I
    errors in [alpha_min, 1 - alpha_min], and what is lost by stating it. alpha_min in (0, 1/2)."""
    answer = _call("Compute", _request(events, count, options, query={"gaussianDpMu": {"alphaMin": alpha_min}}))
    return GaussianSummary(mu=Bound.from_json(answer), regret=float(answer["regret"]) if "regret" in answer else None)


def compare(events: Events, *, delta: float, count: int = 1, relation: str = "ADD_OR_REMOVE_ONE",
            group_size: int = 1) -> List[Reading]:
    """Returns epsilon at `delta`, in (0, 1), under every accountant, or the reason why it has none. BEST last."""
    request = _request(events, count, {"relation": relation, "group_size": group_size}, delta=delta)
    del request["accountant"]
    return [Reading.from_json(reading) for reading in _call("CompareAccountants", request)["readings"]]


def _compute(events: Events, count: int, query: Json, options: Dict[str, Any]) -> Bound:
    return Bound.from_json(_call("Compute", _request(events, count, options, query=query)))


def _request(events: Events, count: int, options: Dict[str, Any], **fields: Any) -> Json:
    return dict(_options(**options), events=_counted(events, count), **fields)


def _options(*, accountant: str = "BEST", relation: str = "ADD_OR_REMOVE_ONE", group_size: int = 1) -> Json:
    return {"accountant": accountant, "neighboringRelation": relation, "groupSize": count_json(group_size)}


def _counted(events: Any, count: int) -> List[Json]:
    if isinstance(events, dict) or hasattr(events, "to_json"):
        if isinstance(events, CountedEvent):
            events = [events]
        else:
            return [{"event": event_json(events), "count": count_json(count)}]
    if count != 1:
        raise ValueError("count: got %r beside a history, want 1: its events have counts of their own" % count)
    return [{"event": event_json(event), "count": count_json(uses)} for event, uses in events]


def _trade_off_point(point: Json) -> TradeOffPoint:
    def number(field: str) -> Optional[float]:
        return float(point[field]) if field in point else None

    error = point.get("typeTwoError", {})
    return TradeOffPoint(
        type_one_error=float(point.get("typeOneError", 0.0)), kind=error.get("kind", ""),
        type_two_error_lower=float(error.get("lower", 0.0)),
        type_two_error_upper=float(error["upper"]) if "upper" in error else None,
        true_positive_rate_lower=number("truePositiveRateLower"),
        true_positive_rate_upper=float(point.get("truePositiveRateUpper", 1.0)))


def _call(method: str, request: Json) -> Json:
    try:
        from epsledger_accounting import call
    except ImportError as error:
        raise ImportError("the compiled mathematics is not installed: pip install 'epsledger[fast]', or "
                          "client/python/accounting of the source (%s)" % error) from None
    answer: Json = json.loads(call(method.encode(), json.dumps(plain_json(request, "")).encode()))
    return answer
