"""PipelineDP: a budget accountant that charges a session for the whole pipeline before any of it runs.

    accountant = LedgerBudgetAccountant(session, total_epsilon=1, total_delta=1e-6)
    engine = pipeline_dp.DPEngine(accountant, backend)
    counts = engine.aggregate(rows, params, extractors)
    accountant.compute_budgets()        # charges, then tells the mechanisms their budgets
    ...                                 # evaluate `counts`, once

Tested against PipelineDP 0.3 on its local backend.

What is charged. compute_budgets() splits the totals as NaiveBudgetAccountant does, and charges each mechanism's part
as PureDp(epsilon), or ApproximateDp(epsilon, delta) where it has a delta, all of them in one commit or none. Until
that is accepted no mechanism has a budget, and PipelineDP draws no noise without one. After a refusal none ever gets
one: make a new accountant and pipeline, with smaller totals or another session.

One charge is for one evaluation. A Beam pipeline that is run twice and a Spark RDD that is evaluated twice draw fresh
noise each time, which nothing here sees: cache the result, or build the pipeline again.

What is refused. Sessions that are not for ADD_OR_REMOVE_ONE: PipelineDP adds or removes all records of a privacy id.
Mechanisms that are not known here. What cannot be seen: calculate_private_contribution_bounds() spends its
calculation_eps without an accountant; charge PureDp(epsilon=calculation_eps) before it.

The budget is best made with Cap.approximate_dp(..., filter="BASIC"), which sums guarantees as PipelineDP does. The
default filter counts units of one repeated step, and a guarantee with a delta seldom fits it.
"""
from __future__ import annotations

import copy
from typing import Any, Dict, List, Optional

import pipeline_dp

from ..domain import refuse
from ..events import ApproximateDp, MechanismEvent, PureDp
from ..session import Session
from .relations import relation_of

# Each of them is (epsilon, delta)-DP with what it is given, for all partitions together.
_KNOWN = ("LAPLACE", "GAUSSIAN", "LAPLACE_THRESHOLDING", "GAUSSIAN_THRESHOLDING", "TRUNCATED_GEOMETRIC", "GENERIC")


class LedgerBudgetAccountant(pipeline_dp.NaiveBudgetAccountant):
    """Splits total_epsilon and total_delta over the mechanisms of a pipeline, and charges `session` for all of them.

    1. No mechanism has a budget before an ACCEPTED charge for it.
    2. A pickled copy, in a worker, has no session and computes no budgets."""

    def __init__(self, session: Session, total_epsilon: float, total_delta: float,
                 num_aggregations: Optional[int] = None, aggregation_weights: Optional[List[float]] = None) -> None:
        relation = relation_of(session)
        if relation != "ADD_OR_REMOVE_ONE":
            refuse("session.neighboring_relation", relation,
                   "ADD_OR_REMOVE_ONE: PipelineDP adds or removes all records of a privacy id")
        super().__init__(total_epsilon, total_delta, num_aggregations, aggregation_weights)
        self._session: Optional[Session] = session

    def request_budget(self, mechanism_type: Any, *arguments: Any, **named: Any) -> Any:
        """As of PipelineDP. ValueError for a mechanism that is not known here."""
        name = getattr(mechanism_type, "name", repr(mechanism_type))
        if name not in _KNOWN:
            refuse("mechanism_type", name, "one of " + ", ".join(_KNOWN))
        return super().request_budget(mechanism_type, *arguments, **named)

    def compute_budgets(self) -> None:
        """Charges all mechanisms that were asked for, then tells them their budgets. Can be called once. Errors are
        those of Session.charge_all, such as BudgetExhausted; then no mechanism has a budget."""
        if self._session is None:
            refuse("session", None, "the session: budgets are computed where the accountant was made")
        asked = [mechanism.mechanism_spec for mechanism in self._mechanisms]
        split = self._split()
        uses: Dict[MechanismEvent, int] = {}
        for spec in split:
            event = _event(spec.eps, spec.delta)
            uses[event] = uses.get(event, 0) + spec.count
        if uses:
            self._session.charge_all(uses.items())
        for spec, computed in zip(asked, split):
            spec.set_eps_delta(computed.eps, computed.delta)

    def _split(self) -> List[Any]:
        """Returns copies of the specifications, with budgets. The pipeline has the originals."""
        originals = [mechanism.mechanism_spec for mechanism in self._mechanisms]
        try:
            for mechanism in self._mechanisms:
                mechanism.mechanism_spec = copy.copy(mechanism.mechanism_spec)
            super().compute_budgets()
            return [mechanism.mechanism_spec for mechanism in self._mechanisms]
        finally:
            for mechanism, original in zip(self._mechanisms, originals):
                mechanism.mechanism_spec = original

    def __getstate__(self) -> Dict[str, Any]:
        return {**self.__dict__, "_session": None}


def _event(epsilon: float, delta: Optional[float]) -> MechanismEvent:
    return ApproximateDp(epsilon=epsilon, delta=delta) if delta else PureDp(epsilon=epsilon)
