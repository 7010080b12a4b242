"""DPSynth: charges what a calibrated mechanism says of itself, before it reads the data.

    mechanism = dpsynth.TabularConfig(domains=domains).calibrate(epsilon=1, delta=1e-6)
    session = client.open(session="table", budget="survey", delta=1e-6, expects=mechanism_event(mechanism))
    table = released(session, mechanism, frame).synthetic_data

Tested against DPSynth 0.3.0 from its repository (August 2026); no package index has it.

What is charged is mechanism.dp_event, all its parts in one commit, and one charge is for one call. The random generator
is made here, from the operating system: a mechanism whose generator was seeded has no guarantee.

What is refused. Sessions that are not for ADD_OR_REMOVE_ONE, which is what DPSynth's zCDP is for. A mechanism that
releases nothing by its own word, such as IndependentConfig's: it takes measurements that somebody else made. Events that
are unknown here. The pipelines of dpsynth.data_generation make a budget accountant of their own, which nothing can
replace: they are not covered.

What cannot be seen. max_records_per_user is a promise of the caller. Measurements that are handed to a discrete
mechanism (initial_measurements) must have been charged when they were made.

The parts of a table are of many kinds, so a budget is best made with a cap of zCDP. A column whose domain is derived
from the data costs a delta, which no cap of zCDP counts: then give `delta`, at which the whole table is charged as
ApproximateDp, and make the budget with Cap.approximate_dp(..., filter="BASIC").
"""
from __future__ import annotations

import math
from typing import Any, Optional

import numpy
from dpsynth.api import CalibratedMechanism

from ..domain import Interval, refuse
from ..dp_event import from_dp_event
from ..events import ApproximateDp, Composed, CountedEvent, MechanismEvent, PureDp, Zcdp
from ..session import Session
from .bounds import upper_bound
from .relations import relation_of


def mechanism_event(mechanism: Any) -> MechanismEvent:
    """Returns the event that released() charges, for `expects` and for previews. ValueError, naming the field, for a
    mechanism that was not calibrated and for an event that is not known here."""
    if not isinstance(mechanism, CalibratedMechanism):
        refuse("mechanism", type(mechanism).__name__, "what configure() or calibrate() returns")
    event = from_dp_event(mechanism.dp_event, path="mechanism.dp_event")
    if _is_nothing(event):
        refuse("mechanism.dp_event", type(mechanism.dp_event).__name__, "the event of a mechanism that draws noise")
    return event


def _is_nothing(event: Any) -> bool:
    if isinstance(event, Composed):
        return all(_is_nothing(counted.event) for counted in event.events)
    if hasattr(event, "event"):  # repeated or sampled
        return _is_nothing(event.event)
    return event in (PureDp(epsilon=0), Zcdp(rho=0))


def released(session: Session, mechanism: Any, data: Any, *, delta: Optional[float] = None, **options: Any) -> Any:
    """Charges one call, then returns mechanism(a new random generator, data, **options). Errors are those of
    Session.charge, such as BudgetExhausted, and then the mechanism is not called. If the mechanism itself fails, the
    charge stays. With `delta`, in (0, 1), the charge is the smallest ApproximateDp at that delta that is known."""
    event = mechanism_event(mechanism)
    relation = relation_of(session)
    if relation != "ADD_OR_REMOVE_ONE":
        refuse("session.neighboring_relation", relation, "ADD_OR_REMOVE_ONE, the relation of DPSynth's mechanisms")
    with session.charge(event if delta is None else _at_delta(session, event, delta)):
        return mechanism(numpy.random.default_rng(), data, **options)


def _at_delta(session: Session, event: MechanismEvent, delta: float) -> ApproximateDp:
    at = Interval("(0, 1)").keep("delta", delta)
    epsilon = upper_bound(session, [CountedEvent(event=event)], {"epsilonAtDelta": at}, math.inf)
    if math.isinf(epsilon):
        refuse("delta", delta, "a delta at which an epsilon of the mechanism is known")
    return ApproximateDp(epsilon=epsilon, delta=at)
