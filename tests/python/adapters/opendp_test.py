"""Real measurements of OpenDP, charged by their privacy maps. Needs opendp; skipped by name without."""
import contextlib
import io
import os
import re
import sys
import unittest

HERE = os.path.dirname(os.path.abspath(__file__))
sys.path[:0] = [HERE, os.path.dirname(HERE)]

import epsledger
from epsledger import events as e
from killable_ledger import BUILD
from ledger_case import LedgerCase

try:
    import opendp.prelude as dp

    from epsledger.adapters.opendp import (LedgerCompositor, charge_measurement, ledger_context, measurement_event,
                                           released)
    dp.enable_features("contrib", "honest-but-curious")
except ImportError as missing:
    MISSING = str(missing)
else:
    MISSING = "" if BUILD else "EPSLEDGER_BUILD names no build folder with server/epsledgerd"

README = os.path.join(HERE, "..", "..", "..", "client", "python", "epsledger", "adapters", "README.md")
DATA = list(range(100))
BASIC = epsledger.Cap.approximate_dp(epsilon=3, delta=1e-5, filter="BASIC")


@unittest.skipIf(MISSING, MISSING)
class OpenDp(LedgerCase):
    def setUp(self):
        super().setUp()
        self.rows = dp.vector_domain(dp.atom_domain(T=int)), dp.symmetric_distance()
        self.changes = dp.vector_domain(dp.atom_domain(T=int), size=len(DATA)), dp.change_one_distance()
        self.calls = 0

    def count(self, noise):
        return self.rows >> dp.t.then_count() >> noise

    def stated(self, measure, loss, metric=None):
        """A measurement that has this loss at every distance by its own word, and counts how often it is invoked."""
        def invoked(data):
            self.calls += 1
            return len(data)
        return dp.m.make_user_measurement(self.rows[0], metric or self.rows[1], measure, invoked, lambda d_in: loss,
                                          TO=int)

    def session(self, cap=BASIC, relation="ADD_OR_REMOVE_ONE"):
        name = "budget-%d" % next(self._numbers)
        self.client.create_budget(name=name, cap=cap, privacy_unit="person", neighboring_relation=relation)
        return self.client.open(session="run", budget=name, delta=1e-6, neighboring_relation=relation)

    def charged(self, session):
        return [tuple(counted) for counted in session.history()]

    def test_each_measure_has_its_event(self):
        laplace, gaussian = self.count(dp.m.then_laplace(2.0)), self.count(dp.m.then_gaussian(2.0))
        curve = dp.c.make_zCDP_to_approxDP(gaussian)
        epsilon = curve.map(1).epsilon(1e-6)
        both = self.stated(dp.approximate(dp.zero_concentrated_divergence()), (0.125, 1e-7))
        for measurement, options, event in (
                (laplace, {}, e.PureDp(epsilon=0.5)),
                (laplace, {"d_in": 3}, e.PureDp(epsilon=1.5)),
                (dp.c.make_approximate(laplace), {}, e.PureDp(epsilon=0.5)),
                (gaussian, {}, e.Zcdp(rho=0.125)),
                (dp.c.make_approximate(gaussian), {}, e.Zcdp(rho=0.125)),
                (dp.c.make_fix_delta(curve, 1e-6), {}, e.ApproximateDp(epsilon=epsilon, delta=1e-6)),
                (curve, {"delta": 1e-6}, e.ApproximateDp(epsilon=epsilon, delta=1e-6)),
                (both, {}, e.Composed(events=[e.CountedEvent(event=e.Zcdp(rho=0.125)), e.CountedEvent(
                    event=e.ApproximateDp(epsilon=0, delta=1e-7))]))):
            with self.subTest(str(measurement.output_measure), **options):
                self.assertEqual(measurement_event(measurement, **options), event)

    def test_is_charged_before_it_is_invoked(self):
        session, measurement = self.session(), self.stated(dp.max_divergence(), 1.25)
        permit = charge_measurement(session, measurement, count=1)
        self.assertEqual((permit.uses_left, self.calls), (1, 0))
        self.assertEqual(released(session, measurement, DATA), 100)
        self.assertEqual(self.charged(session), [(e.PureDp(epsilon=1.25), 2)])
        with self.assertRaises(epsledger.BudgetExhausted):
            released(session, measurement, DATA)
        self.assertEqual(self.calls, 1)

    def test_what_is_no_bound_here_is_refused_by_name(self):
        session, pure = self.session(), dp.max_divergence()
        curve = dp.c.make_zCDP_to_approxDP(self.count(dp.m.then_gaussian(2.0)))
        odometer = dp.c.make_fully_adaptive_composition(*self.rows, output_measure=pure)
        sums = dp.m.make_gaussian(dp.vector_domain(dp.atom_domain(T=float, nan=False)), dp.l2_distance(T=float), 2.0)
        for measurement, options, refusal in (
                (curve, {}, "delta: got None, want a delta in"),
                (curve, {"delta": 1.0}, r"delta: got 1.0, want in \(0, 1\)"),
                (self.stated(pure, 1.0), {"delta": 1e-6}, "delta: got 1e-06, want None: the output measure is MaxDiv"),
                (self.stated(pure, float("inf")), {}, "epsilon: got inf, want in"),
                (self.stated(pure, 1.0), {"d_in": 0}, "d_in: got 0, want a whole number in"),
                (self.stated(pure, 1.0), {"d_in": 1.5}, "d_in: got 1.5, want a whole number in"),
                (self.stated(dp.renyi_divergence(), 1.0), {}, "measurement.output_measure: got RenyiDivergence, want"),
                (self.stated(dp.user_divergence("MaxDivergence"), 1.0), {},
                 "measurement.output_measure: got ExtrinsicDivergence, want one of MaxDivergence, "),
                (self.stated(pure, 1.0, dp.user_distance("SymmetricDistance")), {},
                 "measurement.input_metric: got ExtrinsicDistance, want SymmetricDistance, "),
                (sums, {}, r"measurement.input_metric: got L2Distance<f64>, want SymmetricDistance, "),
                (odometer, {}, "measurement: got Odometer, want a Measurement"),
                (dp.t.make_count(*self.rows), {}, "measurement: got Transformation, want a Measurement")):
            with self.subTest(refusal), self.assertRaisesRegex(ValueError, refusal):
                released(session, measurement, DATA, **options)
        self.assertEqual((self.charged(session), self.calls), ([], 0))

    def test_the_metric_and_the_distance_fit_the_relation_of_the_session(self):
        added, changed, local = (self.stated(dp.max_divergence(), 0.1, metric) for metric in (
            dp.symmetric_distance(), dp.change_one_distance(), dp.discrete_distance()))
        for relation, measurement, d_in, refusal in (
                ("ADD_OR_REMOVE_ONE", added, 1, None), ("ADD_OR_REMOVE_ONE", local, 1, None),
                ("ADD_OR_REMOVE_ONE", changed, 1, "measurement.input_metric: got ChangeOneDistance, want Symmetric.*"
                                                  " because the session is for ADD_OR_REMOVE_ONE"),
                ("REPLACE_ONE", changed, 1, None), ("REPLACE_ONE", added, 2, None), ("REPLACE_ONE", local, 1, None),
                ("REPLACE_ONE", added, 1, "d_in: got 1, want 2 or more: the session is for REPLACE_ONE"),
                ("REPLACE_SPECIAL", changed, 1, None),
                ("REPLACE_SPECIAL", added, 1, "d_in: got 1, want 2 or more: the session is for REPLACE_SPECIAL")):
            with self.subTest(relation=relation, metric=str(measurement.input_metric), d_in=d_in):
                session = self.session(relation=relation)
                if refusal is None:
                    charge_measurement(session, measurement, d_in=d_in)
                    self.assertEqual(self.charged(session), [(e.PureDp(epsilon=0.1), 1)])
                    continue
                with self.assertRaisesRegex(ValueError, refusal):
                    charge_measurement(session, measurement, d_in=d_in)
                self.assertEqual(self.charged(session), [])

    def test_a_compositor_of_several_measures_is_charged_query_by_query(self):
        session = self.session(epsledger.Cap.approximate_dp(epsilon=3, delta=1e-5, filter="RENYI_ORDERS"))
        compositor = LedgerCompositor(session, DATA)
        compositor(self.count(dp.m.then_laplace(10.0)))
        compositor(self.count(dp.m.then_gaussian(10.0)))
        self.assertEqual(self.charged(session), [(e.PureDp(epsilon=0.1), 1), (e.Zcdp(rho=0.005), 1)])

    def test_a_compositor_of_opendp_is_charged_as_a_whole(self):
        session = self.session()
        composition = dp.c.make_adaptive_composition(*self.rows, output_measure=dp.max_divergence(), d_in=1,
                                                     d_mids=[0.5, 0.25])
        queryable = released(session, composition, DATA)
        queryable(self.count(dp.m.then_laplace(2.0)))
        self.assertEqual(self.charged(session), [(e.PureDp(epsilon=0.75), 1)])

    def test_a_context_charges_its_queries_until_the_budget_is_used_up(self):
        session = self.session()
        context = ledger_context(session, DATA, privacy_unit=dp.unit_of(contributions=1),
                                 privacy_measure=dp.max_divergence(), domain=self.rows[0])
        self.assertIsInstance(context.query(epsilon=1.0).count().laplace().release(), int)
        (spent,) = context.current_privacy_loss()
        self.assertEqual(self.charged(session), [(e.PureDp(epsilon=spent), 1)])
        self.assertLessEqual(spent, 1)
        inner = context.query(epsilon=1.5).compositor(split_evenly_over=2).release()
        for _ in range(2):
            inner.query().count().laplace().release()
        self.assertAlmostEqual(session.spent(delta=1e-12).epsilon, 2.5, delta=1e-6)
        with self.assertRaises(epsledger.BudgetExhausted):
            context.query(epsilon=1.0).count().laplace().release()
        self.assertEqual(len(context.current_privacy_loss()), 2)

    def test_the_readme_of_the_adapters_is_true(self):
        with open(README, encoding="utf-8") as stream:
            (block,) = re.findall(r"^```python opendp\n(.*?)^```$", stream.read(), re.MULTILINE | re.DOTALL)
        names = {"client": self.client, "ages": DATA}
        with contextlib.redirect_stdout(io.StringIO()) as printed:
            exec(compile(block, "README.md", "exec"), names)
        self.assertRegex(printed.getvalue(), r"^-?\d+$")
        ((event, count),) = self.charged(names["session"])
        self.assertAlmostEqual(event.epsilon, 0.5)
        self.assertEqual(count, 1)

    def test_a_context_for_another_relation_is_refused(self):
        with self.assertRaisesRegex(ValueError, r"privacy_unit\[0\]: got ChangeOneDistance, want SymmetricDistance"):
            ledger_context(self.session(), DATA, privacy_unit=dp.unit_of(changes=1),
                           privacy_measure=dp.max_divergence())
        with self.assertRaisesRegex(ValueError, r"privacy_unit\[1\]: got 1, want 2 or more"):
            ledger_context(self.session(relation="REPLACE_ONE"), DATA, privacy_unit=dp.unit_of(contributions=1),
                           privacy_measure=dp.max_divergence())

    def test_a_table_of_polars_whose_units_have_several_rows(self):
        try:
            import polars
        except ImportError as missing:
            self.skipTest(str(missing))
        session = self.session(epsledger.Cap.zcdp(rho=0.15))
        table = polars.LazyFrame({"person": [1, 1, 2, 3], "height": [1.6, 1.7, 1.8, 1.9]})
        context = ledger_context(session, table, privacy_unit=dp.unit_of(contributions=1, identifier="person"),
                                 privacy_measure=dp.zero_concentrated_divergence())
        query = context.query(rho=0.1).truncate_per_group(1).select(dp.len())
        self.assertEqual(query.release().collect().shape, (1, 1))
        ((event, count),) = self.charged(session)
        self.assertAlmostEqual(event.rho, 0.1)
        self.assertEqual(count, 1)
        with self.assertRaises(epsledger.BudgetExhausted):
            context.query(rho=0.1).truncate_per_group(1).select(dp.len()).release()


if __name__ == "__main__":
    unittest.main()
