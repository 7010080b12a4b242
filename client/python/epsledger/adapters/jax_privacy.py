"""JAX Privacy: an execution plan, charged as a whole before it is run.

    plan = BandMFExecutionPlanConfig(...).plan()
    with charge_plan(session, plan):
        ...  # all iterations of the plan

Tested against JAX Privacy 2.0. For models of its keras_api use adapters.keras.

The noise of one iteration of a plan may be correlated with that of others, so that what the plan
releases is one event, plan.dp_event, and not a sum over its iterations.
"""
from __future__ import annotations

from jax_privacy.experimental.execution_plan import DPExecutionPlan

from ..dp_event import from_dp_event
from ..permit import Permit
from ..session import Session


def charge_plan(session: Session, plan: DPExecutionPlan) -> Permit:
    """Charges all that `plan` releases, and returns the permit for running it once. ValueError, naming the event,
    for a plan whose event has no counterpart here; otherwise the errors of Session.charge."""
    return session.charge(from_dp_event(plan.dp_event))
