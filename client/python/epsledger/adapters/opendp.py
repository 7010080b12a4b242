"""OpenDP: charges what a measurement's privacy map says, before the measurement is invoked.

    context = ledger_context(session, data, privacy_unit=dp.unit_of(contributions=1),
                             privacy_measure=dp.max_divergence())
    context.query(epsilon=0.5).count().laplace().release()      # charges PureDp(epsilon=0.5), then draws the noise

    count = released(session, measurement, data, d_in=1)        # the same for a measurement of your own

Tested against OpenDP 0.16.

What is charged follows from the output measure of the measurement: MaxDivergence is PureDp, Approximate<MaxDivergence>
ApproximateDp, ZeroConcentratedDivergence Zcdp, Approximate<ZeroConcentratedDivergence> Zcdp and a delta.
SmoothedMaxDivergence is a curve: give `delta`, and the ApproximateDp at that delta is charged. Other measures are
refused. A compositor of OpenDP is one measurement, and is charged as a whole before its first query. An odometer has no
bound of its own and is refused: LedgerCompositor and ledger_context charge each query instead, and make_privacy_filter
gives an odometer a bound.

`d_in` is the largest distance between two data sets that are neighbors under the session's relation, in the input
metric of the measurement. A distance that cannot be such is refused. So is a metric that says nothing of records, such
as L2Distance: chain the measurement to the transformation that makes its input from the data set.

An (epsilon, delta) budget for such guarantees is best made with Cap.approximate_dp(..., filter="BASIC"), which sums
them. The default filter counts units of one repeated step, and a guarantee with a delta seldom fits it.
"""
from __future__ import annotations

from typing import Any, Callable, Dict, NoReturn, Optional, Tuple

from opendp.combinators import make_fully_adaptive_composition
from opendp.context import Context, domain_of
from opendp.mod import Measurement

from ..domain import Interval, Range, refuse
from ..events import ApproximateDp, Composed, CountedEvent, MechanismEvent, PureDp, Zcdp
from ..permit import Permit
from ..session import Session
from .relations import relation_of

_ADD_OR_REMOVE = ("SymmetricDistance", "InsertDeleteDistance", "SymmetricIdDistance")
_CHANGE = ("ChangeOneDistance", "HammingDistance", "ChangeOneIdDistance")
_ANY_TWO = "DiscreteDistance"  # all data sets are neighbors: local privacy


def measurement_event(measurement: Measurement, *, d_in: int = 1, delta: Optional[float] = None) -> MechanismEvent:
    """Returns the event that charge_measurement charges, for `expects` and for previews. Asks no server, and so does
    not check the metric. ValueError, naming the field, for a measure that is not known here and for an infinite
    loss."""
    _check_measurement(measurement)
    measure = str(measurement.output_measure.type)  # a measure of the user's can print as any name
    if measure != "SmoothedMaxDivergence" and delta is not None:
        refuse("delta", delta, "None: the output measure is %s, which has no curve to evaluate" % measure)
    if measure not in _EVENTS:
        refuse("measurement.output_measure", measure, "one of " + ", ".join(_EVENTS))
    return _EVENTS[measure](measurement.map(Range(1).keep("d_in", d_in)), delta)


def charge_measurement(session: Session, measurement: Measurement, *, d_in: int = 1, count: int = 1,
                       delta: Optional[float] = None) -> Permit:
    """Charges `count` invocations of `measurement`, and returns the permit for them. ValueError, naming the field, for
    a measurement that cannot be charged to this session; otherwise the errors of Session.charge, such as
    BudgetExhausted."""
    event = measurement_event(measurement, d_in=d_in, delta=delta)
    _check_metric(measurement.input_metric, d_in, relation_of(session))
    return session.charge(event, count=count)


def released(session: Session, measurement: Measurement, data: Any, *, d_in: int = 1,
             delta: Optional[float] = None) -> Any:
    """Charges one invocation of `measurement`, then returns measurement(data). Errors are those of charge_measurement,
    and then the measurement is not invoked. If the measurement itself fails, the charge stays."""
    with charge_measurement(session, measurement, d_in=d_in, delta=delta):
        return measurement(data)


class LedgerCompositor:
    """Answers measurements of one data set, each charged before it is invoked.

        compositor = LedgerCompositor(session, data, d_in=1)
        first, second = compositor(measurement), compositor(other)

    The measurements may be of different measures, and each may depend on earlier answers."""

    def __init__(self, session: Session, data: Any, *, d_in: int = 1, delta: Optional[float] = None) -> None:
        self._session = session
        self._data = data
        self._d_in = d_in
        self._delta = delta

    def __call__(self, measurement: Measurement) -> Any:
        return released(self._session, measurement, self._data, d_in=self._d_in, delta=self._delta)


def ledger_context(session: Session, data: Any, *, privacy_unit: Tuple[Any, int], privacy_measure: Any,
                   domain: Any = None) -> Context:
    """Returns an OpenDP Context without a budget of its own: every query says its loss, context.query(epsilon=0.5), and
    release() charges the session before it draws the noise.

    privacy_unit     dp.unit_of(contributions=1) for ADD_OR_REMOVE_ONE, dp.unit_of(changes=1) for the other relations.
    privacy_measure  the measure of all queries: dp.max_divergence(), dp.zero_concentrated_divergence(), or
                     dp.approximate() of one of them.
    domain           as of Context.compositor; without it OpenDP infers it from the data."""
    metric, d_in = privacy_unit
    _check_metric(metric, Range(1).keep("privacy_unit[1]", d_in), relation_of(session), "privacy_unit[0]",
                  "privacy_unit[1]")
    spawns = make_fully_adaptive_composition(
        domain_of(data, infer=True) if domain is None else domain, metric, privacy_measure)
    # The odometer only tells queries their domain, metric and measure: it is never given the data.
    return Context(accountant=spawns, queryable=LedgerCompositor(session, data, d_in=d_in), d_in=d_in)


def _check_measurement(measurement: Any) -> None:
    if not isinstance(measurement, Measurement):
        refuse("measurement", type(measurement).__name__, "a Measurement, whose privacy map bounds what it releases")


def _check_metric(metric: Any, d_in: int, relation: str, field: str = "measurement.input_metric",
                  distance_field: str = "d_in") -> None:
    """Refuses a metric in which neighbors under `relation` are not at a distance of at most `d_in`."""
    name = str(metric.type)
    if name == _ANY_TWO:
        return
    if relation == "ADD_OR_REMOVE_ONE":
        if name not in _ADD_OR_REMOVE:
            _refuse_metric(field, name, relation, _ADD_OR_REMOVE)
    elif name not in _ADD_OR_REMOVE + _CHANGE:
        _refuse_metric(field, name, relation, _CHANGE + _ADD_OR_REMOVE)
    elif name in _ADD_OR_REMOVE and d_in < 2:
        refuse(distance_field, d_in, "2 or more: the session is for %s, and in %s a replaced record is one removed and "
               "one added" % (relation, name))


def _refuse_metric(field: str, metric: str, relation: str, known: Tuple[str, ...]) -> NoReturn:
    refuse(field, metric, "%s or %s, because the session is for %s" % (", ".join(known), _ANY_TWO, relation))


def _no_delta(make: Callable[[Any], MechanismEvent]) -> Callable[[Any, Optional[float]], MechanismEvent]:
    return lambda loss, _: make(loss)


def _approximate(loss: Tuple[float, float]) -> MechanismEvent:
    epsilon, delta = loss
    return ApproximateDp(epsilon=epsilon, delta=delta) if delta else PureDp(epsilon=epsilon)


def _approximate_zcdp(loss: Tuple[float, float]) -> MechanismEvent:
    """delta-approximate zCDP [BS16, Definition 8.1]: dominated by zCDP composed with a release of everything that
    happens with probability delta."""
    rho, delta = loss
    if not delta:
        return Zcdp(rho=rho)
    return Composed(events=[CountedEvent(event=Zcdp(rho=rho)),
                            CountedEvent(event=ApproximateDp(epsilon=0, delta=delta))])


def _at_delta(profile: Any, delta: Optional[float]) -> MechanismEvent:
    if delta is None:
        refuse("delta", None, "a delta in (0, 1), at which to charge the curve of SmoothedMaxDivergence")
    at = Interval("(0, 1)").keep("delta", delta)
    return ApproximateDp(epsilon=profile.epsilon(at), delta=at)


_EVENTS: Dict[str, Callable[[Any, Optional[float]], MechanismEvent]] = {
    "MaxDivergence": _no_delta(lambda epsilon: PureDp(epsilon=epsilon)),
    "Approximate<MaxDivergence>": _no_delta(_approximate),
    "ZeroConcentratedDivergence": _no_delta(lambda rho: Zcdp(rho=rho)),
    "Approximate<ZeroConcentratedDivergence>": _no_delta(_approximate_zcdp),
    "SmoothedMaxDivergence": _at_delta,
}
