"""Real execution plans of JAX Privacy, charged as a whole. Needs jax_privacy; skipped by name without."""
import os
import sys
import unittest

HERE = os.path.dirname(os.path.abspath(__file__))
sys.path[:0] = [HERE, os.path.dirname(HERE)]

import epsledger
from epsledger import events as e
from killable_ledger import BUILD
from ledger_case import LedgerCase

try:
    import dp_accounting
    import numpy
    from jax_privacy.batch_selection import PartitionType
    try:
        from jax_privacy.execution_plan import BandMFConfig
    except ImportError:  # 2.0 and 2.1
        BandMFConfig = None
        from jax_privacy.experimental.execution_plan import BandMFExecutionPlanConfig

    from epsledger.adapters.jax_privacy import charge_plan
except ImportError as missing:
    MISSING = str(missing)
else:
    MISSING = "" if BUILD else "EPSLEDGER_BUILD names no build folder with server/epsledgerd"


@unittest.skipIf(MISSING, MISSING)
class Plan(LedgerCase):
    def plan(self, partition, strategy=(1.0,)):
        if BandMFConfig is not None:
            return BandMFConfig(
                strategy=numpy.array(strategy), iterations=20, noise_multiplier=2.0, expected_participations=2.0,
                num_examples=None if partition is PartitionType.INDEPENDENT else 1000).make()
        relation = dp_accounting.NeighboringRelation
        return BandMFExecutionPlanConfig(
            strategy=numpy.array(strategy), iterations=20, epsilon=None, delta=None, noise_multiplier=2.0,
            sampling_prob=0.1, partition_type=partition, accountant=dp_accounting.pld.PLDAccountant(
                relation.ADD_OR_REMOVE_ONE if partition is PartitionType.INDEPENDENT else relation.REPLACE_SPECIAL)).plan

    def test_is_charged_as_a_whole(self):
        session = self.new_session(budget=self.new_budget(epsledger.Cap.renyi(order=8, divergence=1.0)))
        permit = charge_plan(session, self.plan(PartitionType.INDEPENDENT))
        self.assertEqual(permit.uses_left, 1)
        step = e.PoissonSampled(sampling_probability=0.1, event=e.Gaussian(noise_multiplier=2))
        (charged,) = session.history()
        self.assertIn(charged.event, (e.SelfComposed(event=step, count=20),
                                      e.Composed(events=[e.CountedEvent(event=step, count=20)])))

    def test_partitions_of_equal_size_are_not_for_add_or_remove_one(self):
        session = self.new_session(budget=self.new_budget(epsledger.Cap.renyi(order=8, divergence=1.0)))
        refusal = ("batch_selection_strategy: got .*EQUAL_SPLIT.*, want INDEPENDENT" if BandMFConfig is None else
                   "plan.neighboring_relation: got REPLACE_SPECIAL, want ADD_OR_REMOVE_ONE, the session's")
        with self.assertRaisesRegex(ValueError, refusal):
            charge_plan(session, self.plan(PartitionType.EQUAL_SPLIT, strategy=(1.0, 0.5)))
        self.assertEqual(session.history(), [])

    def test_is_refused_as_a_whole(self):
        session = self.new_session(budget=self.new_budget(epsledger.Cap.renyi(order=8, divergence=1e-3)))
        with self.assertRaises(epsledger.BudgetExhausted):
            charge_plan(session, self.plan(PartitionType.INDEPENDENT))


if __name__ == "__main__":
    unittest.main()
