"""Real filters and filter chains of NVFlare. Needs nvflare; skipped by name without."""
import logging
import os
import sys
import unittest
from unittest import mock

HERE = os.path.dirname(os.path.abspath(__file__))
sys.path[:0] = [HERE, os.path.dirname(HERE)]

import epsledger
from epsledger import events as e
from killable_ledger import BUILD
from ledger_case import STEP, STEPS_THAT_FIT, LedgerCase

try:
    import numpy
    from nvflare.apis.dxo import DXO, DataKind, from_shareable
    from nvflare.apis.filter import ContentBlockedException
    from nvflare.apis.fl_constant import FilterKey, ReturnCode
    from nvflare.apis.fl_context import FLContext
    from nvflare.apis.shareable import Shareable, make_reply
    from nvflare.apis.utils.task_utils import apply_filters
    from nvflare.app_common.filters.svt_privacy import SVTPrivacy
    from nvflare.private.privacy_manager import Scope

    from epsledger.adapters import nvflare as adapter
    from epsledger.adapters.nvflare import LedgerFilter, LedgerSvtPrivacy
except ImportError as missing:
    MISSING = str(missing)
else:
    MISSING = "" if BUILD else "EPSLEDGER_BUILD names no build folder with server/epsledgerd"


class FilterCase(LedgerCase):
    def setUp(self):
        super().setUp()
        logging.disable(logging.INFO)
        self.addCleanup(logging.disable, logging.NOTSET)

    def result(self, kind="WEIGHT_DIFF", data=None, meta=None):
        return DXO(DataKind(kind), data=data or {"layer": numpy.full(20, 0.5, numpy.float32)}, meta=meta).to_shareable()

    def sent(self, filter_, shareable):
        """What NVFlare sends of a task's result, as its client runner does."""
        return apply_filters(Scope.TASK_RESULT_FILTERS_NAME, shareable, FLContext(),
                             {"train" + FilterKey.DELIMITER + FilterKey.OUT: [filter_]}, "train", FilterKey.OUT)

    def assert_blocked(self, filter_, session, shareable, why):
        with self.assertRaisesRegex(ContentBlockedException, why):
            self.sent(filter_, shareable)
        self.assertEqual(session.history(), [])


@unittest.skipIf(MISSING, MISSING)
class Filter(FilterCase):
    def test_each_result_is_charged_before_it_is_sent(self):
        session = self.new_session()
        filter_ = LedgerFilter(session, STEP)
        for i in range(STEPS_THAT_FIT):
            result = self.result()
            self.assertIs(self.sent(filter_, result), result)
            self.assertEqual(self.accepted_uses(session), i + 1)
        with self.assertRaises(epsledger.BudgetExhausted):
            self.sent(filter_, self.result())

    def test_a_collection_is_one_result(self):
        session = self.new_session()
        parts = {name: DXO(DataKind.WEIGHTS, data={"layer": numpy.zeros(2)}) for name in "ab"}
        self.sent(LedgerFilter(session, STEP), DXO(DataKind.COLLECTION, data=parts).to_shareable())
        self.assertEqual(self.accepted_uses(session), 1)

    def test_what_the_event_does_not_cover_is_blocked_without_a_charge(self):
        session = self.new_session()
        filter_ = LedgerFilter(session, STEP)
        metrics = DXO(DataKind.METRICS, data={"loss": 0.1})
        weights = DXO(DataKind.WEIGHTS, data={"layer": numpy.zeros(2)})
        failed = self.result()
        failed.set_return_code(ReturnCode.EXECUTION_EXCEPTION)
        for shareable, why in (
                (metrics.to_shareable(), "the result has METRICS, and the charge is for WEIGHTS, WEIGHT_DIFF"),
                (DXO(DataKind.COLLECTION, data={"w": weights, "m": metrics}).to_shareable(), "the result has METRICS"),
                (Shareable({"anything": 1}), "the result is no DXO"),
                (failed, "a reply that is not OK has more than headers"),
                (self.failed({"weights": numpy.ones(2)}), "a reply that is not OK has more than headers"),
                (self.failed({"DXO": {"data": {}, "meta": {"initial_metrics": {"auc": 0.9}}}}), "more than headers")):
            with self.subTest(why):
                self.assert_blocked(filter_, session, shareable, why)
        self.sent(LedgerFilter(session, STEP, kinds=["METRICS"]), metrics.to_shareable())
        self.assertEqual(self.accepted_uses(session), 1)

    def failed(self, content):
        shareable = Shareable(content)
        shareable.set_return_code(ReturnCode.EXECUTION_EXCEPTION)
        return shareable

    def test_a_failure_of_the_task_tells_nothing_of_the_data(self):
        reply = make_reply(ReturnCode.EXECUTION_EXCEPTION, headers={"loss": 0.1, "__error__": "singular at 0.1"})
        sent = self.sent(LedgerFilter(self.new_session(), STEP), reply)
        self.assertEqual(set(sent["__headers__"]) & {"loss", "__error__"}, set())
        self.assertEqual(sent.get_return_code(), ReturnCode.EXECUTION_EXCEPTION)

    def test_a_failure_of_the_task_is_reported_and_costs_nothing(self):
        session = self.new_session()
        reply = make_reply(ReturnCode.EXECUTION_EXCEPTION)
        self.assertIs(self.sent(LedgerFilter(session, STEP), reply), reply)
        self.assertEqual(session.history(), [])


@unittest.skipIf(MISSING, MISSING)
class Svt(FilterCase):
    def setUp(self):
        super().setUp()
        self.session = self.new_session(budget=self.new_budget(epsledger.Cap.approximate_dp(
            epsilon=40, delta=1e-5, filter="BASIC")))

    def filter(self, **options):
        return LedgerSvtPrivacy(self.session, **{"fraction": 0.1, "epsilon": 1, "gamma": 1, "tau": 0,
                                                 "epsilon_release": 2, **options})

    def test_headers_of_the_executor_stay_at_the_site(self):
        result = self.result(meta={"current_round": "round of 0.1"})
        result.set_header("train_loss", 0.1)
        sent = self.sent(self.filter(), result)
        self.assertIsNone(sent.get_header("train_loss"))
        self.assertNotIn("current_round", from_shareable(sent).meta)

    def test_is_charged_what_is_proven_of_it(self):
        filter_ = self.filter(epsilon_threshold=0.25, epsilon_query=0.75)
        sent = from_shareable(self.sent(filter_, self.result(meta={"current_round": 3})))
        # 20 parameters, 2 of them uploaded: each of 20 answers may be above the threshold.
        ((event, count),) = [tuple(counted) for counted in self.session.history()]
        self.assertAlmostEqual(event.epsilon, 0.25 + 0.75 * 20 / 2 + 2, delta=1e-9)
        self.assertGreaterEqual(event.epsilon, 0.25 + 0.75 * 20 / 2 + 2)
        self.assertEqual(count, 1)
        self.assertEqual(event, filter_.result_event(20))
        self.assertLess(filter_.get_privacy_spent(), event.epsilon)  # what NVFlare states
        self.assertLessEqual(numpy.count_nonzero(sent.data["layer"]), 2)
        self.assertEqual(sent.meta["current_round"], 3)

    def test_more_answers_than_the_uploaded_ones_are_above_the_threshold(self):
        # Why the charge has a term for each parameter: NVFlare's loop does not stop at n_upload.
        seen = []
        partition = adapter.svt_privacy._sample_partition_counts
        with mock.patch.object(adapter.svt_privacy, "_sample_partition_counts",
                               lambda counts, *more: seen.append(sum(counts)) or partition(counts, *more)):
            self.sent(self.filter(tau=-1e9), self.result())
        self.assertEqual(seen, [20])

    def test_nothing_is_drawn_without_a_charge(self):
        self.sent(self.filter(), self.result())
        self.sent(self.filter(), self.result())
        with mock.patch.object(SVTPrivacy, "process_dxo", side_effect=AssertionError("it was drawn")):
            with self.assertRaises(epsledger.BudgetExhausted):
                self.sent(self.filter(epsilon=50), self.result())

    def test_the_seed_of_the_training_is_not_that_of_the_noise(self):
        outputs = []
        for _ in range(2):
            numpy.random.seed(1)
            outputs.append(from_shareable(self.sent(self.filter(), self.result())).data["layer"])
        self.assertFalse(numpy.array_equal(*outputs))

    def test_what_it_does_not_protect_is_blocked_or_left_out(self):
        ones = numpy.ones(20)
        collection = DXO(DataKind.COLLECTION, data={"a": DXO(DataKind.WEIGHTS, data={"layer": ones})})
        with_more = self.result()
        with_more["records"] = 1000
        for shareable, why in (
                (self.result(data={"layer": ones, "scale": numpy.float64(3)}), "scale is a scalar"),
                (self.result(data={"layer": ones, "counts": numpy.ones(3, int)}), "counts is of int64"),
                (self.result(data={"layer": numpy.ones(0)}), "no parameters"),
                (self.result("METRICS", {"loss": 0.1}), "the result has METRICS"),
                (collection.to_shareable(), "the result has COLLECTION"),
                (with_more, r"more than a DXO: \['records'\]"),
                (self.result(meta={"NUM_STEPS_CURRENT_ROUND": 7}), "of 7 steps, and the filter of 1")):
            with self.subTest(why):
                self.assert_blocked(self.filter(), self.session, shareable, why)
        sent = from_shareable(self.sent(self.filter(steps=7), self.result(
            meta={"NUM_STEPS_CURRENT_ROUND": 7, "initial_metrics": {"loss": 0.1}})))
        self.assertNotIn("initial_metrics", sent.meta)

    def test_a_value_that_is_no_number_does_not_hold_the_filter_up(self):
        sent = from_shareable(self.sent(self.filter(), self.result(data={"layer": numpy.full(20, numpy.nan)})))
        self.assertTrue(numpy.isfinite(sent.data["layer"]).all())

    def test_a_release_that_was_not_read_and_options_without_a_bound_are_refused(self):
        with mock.patch.object(adapter.nvflare, "__version__", "2.10.0"):
            with self.assertRaisesRegex(ValueError, "nvflare: got 2.10.0, want a release of 2.9"):
                self.filter()
        for options, refusal in (({"fraction": 0}, "fraction: got 0, want in"), ({"gamma": 0}, "gamma: got 0, want in")):
            with self.subTest(refusal), self.assertRaisesRegex(ValueError, refusal):
                self.filter(**options)


if __name__ == "__main__":
    unittest.main()
