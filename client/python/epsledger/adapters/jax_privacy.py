"""JAX Privacy: charges an execution plan as a whole before it runs.

    plan = BandMFConfig(...).make()
    with charge_plan(session, plan):
        ...  # all iterations of the plan

Tested against JAX Privacy 2.0, whose plans are made by BandMFExecutionPlanConfig(...).plan(), and its head of August 2026.
For models of its keras_api use adapters.keras.

The noise of one iteration of a plan may be correlated with that of others. So the plan releases one event,
plan.dp_event, and not a sum over its iterations.
"""
from __future__ import annotations

from jax_privacy.batch_selection import CyclicPoissonSampling, PartitionType

try:
    from jax_privacy.execution_plan import DPExecutionPlan
except ImportError:  # 2.0 and 2.1
    from jax_privacy.experimental.execution_plan import DPExecutionPlan

from ..domain import refuse
from ..dp_event import from_dp_event
from ..permit import Permit
from ..session import Session
from .relations import relation_of


def charge_plan(session: Session, plan: DPExecutionPlan) -> Permit:
    """Charges all that `plan` releases, and returns the permit for running it once. ValueError, naming the event, for a
    plan whose event has no counterpart here, for a plan that was made for another neighboring relation, and for a plan
    that draws batches in a way that its event does not describe under the session's; otherwise the errors of Session.charge."""
    sampling = plan.batch_selection_strategy
    if not isinstance(sampling, CyclicPoissonSampling):
        refuse("plan.batch_selection_strategy", type(sampling).__name__, "CyclicPoissonSampling")
    independent = sampling.partition_type is PartitionType.INDEPENDENT and sampling.truncated_batch_size is None
    relation = relation_of(session)
    made_for = getattr(plan, "neighboring_relation", None)  # not in 2.0
    if made_for is not None and made_for.name != relation:
        refuse("plan.neighboring_relation", made_for.name, "%s, the session's" % relation)
    if relation == "ADD_OR_REMOVE_ONE" and not independent:
        # The rule of execution_plan._validate_adjacency_relation in 2.0, where a plan does not say which relation it was
        # made for.
        refuse("plan.batch_selection_strategy", repr(sampling),
               "INDEPENDENT partitions without truncation, because the session is for ADD_OR_REMOVE_ONE")
    return session.charge(from_dp_event(plan.dp_event))
