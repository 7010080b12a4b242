"""Real pipelines of PipelineDP, charged as a whole. Needs pipeline_dp; skipped by name without."""
import enum
import logging
import os
import pickle
import sys
import unittest

HERE = os.path.dirname(os.path.abspath(__file__))
sys.path[:0] = [HERE, os.path.dirname(HERE)]

import epsledger
from epsledger import events as e
from killable_ledger import BUILD
from ledger_case import LedgerCase

try:
    import pipeline_dp

    from epsledger.adapters.pipeline_dp import LedgerBudgetAccountant
except ImportError as missing:
    MISSING = str(missing)
else:
    MISSING = "" if BUILD else "EPSLEDGER_BUILD names no build folder with server/epsledgerd"

ROWS = [(person, partition) for person in range(300) for partition in ("a", "b")]


class Other(enum.Enum):
    STAIRCASE = "Staircase"


@unittest.skipIf(MISSING, MISSING)
class Pipeline(LedgerCase):
    def setUp(self):
        super().setUp()
        logging.getLogger().setLevel(logging.ERROR)

    def session(self, epsilon=3, relation="ADD_OR_REMOVE_ONE"):
        name = "budget-%d" % next(self._numbers)
        self.client.create_budget(
            name=name, cap=epsledger.Cap.approximate_dp(epsilon=epsilon, delta=1e-5, filter="BASIC"),
            privacy_unit="person", neighboring_relation=relation)
        return self.client.open(session="run", budget=name, delta=1e-5, neighboring_relation=relation)

    def counted(self, accountant, noise="GAUSSIAN", public_partitions=None, **options):
        """The lazy collection of counts for each partition."""
        metrics = pipeline_dp.Metrics
        params = pipeline_dp.AggregateParams(
            noise_kind=pipeline_dp.NoiseKind[noise], metrics=[metrics.COUNT, metrics.PRIVACY_ID_COUNT],
            max_partitions_contributed=2, max_contributions_per_partition=1, **options)
        extractors = pipeline_dp.DataExtractors(privacy_id_extractor=lambda row: row[0],
                                                partition_extractor=lambda row: row[1],
                                                value_extractor=lambda row: 0)
        engine = pipeline_dp.DPEngine(accountant, pipeline_dp.LocalBackend())
        return engine.aggregate(ROWS, params, extractors, public_partitions)

    def charged(self, session):
        return [tuple(counted) for counted in session.history()]

    def test_is_charged_once_before_it_runs(self):
        session = self.session()
        accountant = LedgerBudgetAccountant(session, total_epsilon=3, total_delta=9e-6)
        counts = self.counted(accountant)
        self.assertEqual(self.charged(session), [])
        accountant.compute_budgets()
        # Two metrics and the selection of partitions.
        self.assertEqual(self.charged(session), [(e.ApproximateDp(epsilon=1.0, delta=3e-6), 3)])
        self.assertEqual(sorted(dict(counts)), ["a", "b"])
        self.assertEqual(len(self.charges(session)), 1)
        with self.assertRaisesRegex(Exception, "can not be called twice"):
            accountant.compute_budgets()
        self.assertEqual(len(self.charges(session)), 1)

    def test_splits_as_pipeline_dp_does(self):
        session = self.session()
        accountants = (LedgerBudgetAccountant(session, 2, 1e-6), pipeline_dp.NaiveBudgetAccountant(2, 1e-6))
        specs = []
        for accountant in accountants:
            with accountant.scope(weight=3):
                self.counted(accountant, "LAPLACE")
            self.counted(accountant, "GAUSSIAN", ["a"], budget_weight=2)
            accountant.request_budget(pipeline_dp.aggregate_params.MechanismType.GENERIC, count=4)
            accountant.compute_budgets()
            specs.append(accountant.mechanism_specs)
        self.assertEqual(*specs)
        expected = {}
        for spec in specs[1]:
            event = (e.ApproximateDp(epsilon=spec.eps, delta=spec.delta) if spec.delta else e.PureDp(epsilon=spec.eps))
            expected[event] = expected.get(event, 0) + spec.count
        self.assertEqual(dict(self.charged(session)), expected)
        self.assertAlmostEqual(sum(event.epsilon * count for event, count in self.charged(session)), 2)
        self.assertLessEqual({spec.mechanism_type.name for spec in specs[0]},
                             {"LAPLACE", "GAUSSIAN", "TRUNCATED_GEOMETRIC", "GENERIC"})

    def test_a_refused_pipeline_is_not_charged_and_never_runs(self):
        session = self.session(epsilon=1)
        accountant = LedgerBudgetAccountant(session, total_epsilon=1.5, total_delta=1e-6)
        counts = self.counted(accountant)
        with self.assertRaises(epsledger.BudgetExhausted):
            accountant.compute_budgets()
        self.assertEqual(self.charged(session), [])
        for spec in accountant.mechanism_specs:
            with self.assertRaisesRegex(AssertionError, "not calculated yet"):
                spec.eps
        with self.assertRaisesRegex(AssertionError, "not calculated yet"):
            list(counts)

    def test_without_an_accepted_answer_no_mechanism_has_a_budget(self):
        session = self.session()
        accountant = LedgerBudgetAccountant(session, total_epsilon=1, total_delta=1e-6)
        counts = self.counted(accountant)
        session.close()
        with self.assertRaises(epsledger.EpsledgerError):
            accountant.compute_budgets()
        with self.assertRaisesRegex(AssertionError, "not calculated yet"):
            list(counts)

    def test_a_mechanism_that_is_not_known_is_refused(self):
        accountant = LedgerBudgetAccountant(self.session(), total_epsilon=1, total_delta=1e-6)
        with self.assertRaisesRegex(ValueError, "mechanism_type: got STAIRCASE, want one of LAPLACE, GAUSSIAN, "):
            accountant.request_budget(Other.STAIRCASE)
        for kind in pipeline_dp.aggregate_params.MechanismType:
            accountant.request_budget(kind)

    def test_other_neighboring_relations_are_refused(self):
        for relation in ("REPLACE_ONE", "REPLACE_SPECIAL"):
            with self.assertRaisesRegex(ValueError, "session.neighboring_relation: got %s, want ADD_OR_" % relation):
                LedgerBudgetAccountant(self.session(relation=relation), total_epsilon=1, total_delta=1e-6)

    def test_a_pipeline_without_mechanisms_costs_nothing(self):
        session = self.session()
        LedgerBudgetAccountant(session, total_epsilon=1, total_delta=0).compute_budgets()
        self.assertEqual(self.charged(session), [])

    def test_a_copy_in_a_worker_charges_nothing(self):
        session = self.session()
        accountant = LedgerBudgetAccountant(session, total_epsilon=1, total_delta=1e-6)
        accountant.request_budget(pipeline_dp.aggregate_params.MechanismType.LAPLACE)
        with self.assertRaisesRegex(ValueError, "session: got None, want the session"):
            pickle.loads(pickle.dumps(accountant)).compute_budgets()
        self.assertEqual(self.charged(session), [])


if __name__ == "__main__":
    unittest.main()
