"""Real mechanisms of DPSynth. Needs dpsynth, from its repository; skipped by name without."""
import contextlib
import io
import os
import sys
import unittest
from unittest import mock

HERE = os.path.dirname(os.path.abspath(__file__))
sys.path[:0] = [HERE, os.path.dirname(HERE)]

import epsledger
from epsledger import events as e
from killable_ledger import BUILD
from ledger_case import LedgerCase

try:
    import dpsynth
    import pandas
    from dpsynth.discrete_mechanisms.independent import IndependentConfig

    from epsledger.adapters.dpsynth import mechanism_event, released
except ImportError as missing:
    MISSING = str(missing)
else:
    MISSING = "" if BUILD else "EPSLEDGER_BUILD names no build folder with server/epsledgerd"


@unittest.skipIf(MISSING, MISSING)
class Synthetic(LedgerCase):
    def setUp(self):
        super().setUp()
        quiet = contextlib.redirect_stdout(io.StringIO())  # the progress of fitting
        quiet.__enter__()
        self.addCleanup(quiet.__exit__, None, None, None)
        self.data = pandas.DataFrame({"answer": [0, 1, 1, 2] * 50, "age": [0, 1] * 100, "town": list("abca") * 50})
        self.domains = {"answer": dpsynth.CategoricalAttribute(possible_values=[0, 1, 2]),
                        "age": dpsynth.CategoricalAttribute(possible_values=[0, 1]),
                        "town": dpsynth.OpenSetCategoricalAttribute()}

    def mechanism(self, columns=("answer", "age"), rho=3, delta=0):
        return dpsynth.TabularConfig(
            domains={name: self.domains[name] for name in columns},
            discrete_mechanism=IndependentConfig()).configure(zcdp_rho=rho, delta=delta)

    def session(self, cap=epsledger.Cap.zcdp(rho=0.5), relation="ADD_OR_REMOVE_ONE", **options):
        name = "budget-%d" % next(self._numbers)
        self.client.create_budget(name=name, cap=cap, privacy_unit="person", neighboring_relation=relation)
        return self.client.open(session="run", budget=name, delta=1e-5, neighboring_relation=relation, **options)

    def test_a_table_is_charged_as_a_whole_before_the_data_are_read(self):
        mechanism = self.mechanism()
        session = self.session(expects=mechanism_event(mechanism))
        table = released(session, mechanism, self.data).synthetic_data
        self.assertEqual(list(table.columns), ["answer", "age"])
        self.assertEqual([tuple(counted) for counted in session.history()], [(mechanism_event(mechanism), 1)])
        self.assertGreater(session.spent().epsilon, 1)
        with mock.patch.object(type(mechanism), "__call__", side_effect=AssertionError("the data were read")):
            with self.assertRaises(epsledger.BudgetExhausted):
                released(session, mechanism, self.data)

    def test_a_domain_from_the_data_costs_its_delta(self):
        mechanism = self.mechanism(("answer", "town"), delta=1e-7)
        session = self.session(epsledger.Cap.approximate_dp(epsilon=20, delta=1e-5, filter="BASIC"))
        with self.assertRaisesRegex(epsledger.Refused, "EVENT_NOT_CHARGEABLE"):
            released(session, mechanism, self.data)
        with self.assertRaisesRegex(ValueError, "delta: got 1e-08, want a delta at which an epsilon"):
            released(session, mechanism, self.data, delta=1e-8)  # the domain alone costs more
        self.assertEqual(session.history(), [])
        released(session, mechanism, self.data, delta=1e-6)
        ((event, count),) = [tuple(counted) for counted in session.history()]
        self.assertEqual((event.delta, count), (1e-6, 1))
        self.assertTrue(2 < event.epsilon < 10, event)  # the tenth of rho 3 that measures columns

    def test_the_generator_is_new(self):
        mechanism, drawn = self.mechanism(rho=0.1), []
        session = self.session()
        with mock.patch.object(type(mechanism), "__call__", lambda _, rng, data: drawn.append(rng.random())):
            for _ in range(2):
                released(session, mechanism, self.data)
        self.assertNotEqual(*drawn)

    def test_what_has_no_guarantee_here_is_refused_by_name(self):
        session = self.session()
        for mechanism, refusal in (
                (dpsynth.TabularConfig(domains=self.domains), "mechanism: got TabularConfig, want what configure"),
                (IndependentConfig().configure(zcdp_rho=1), "mechanism.dp_event: got NoOpDpEvent, want the event of")):
            with self.subTest(refusal), self.assertRaisesRegex(ValueError, refusal):
                released(session, mechanism, self.data)
        self.assertEqual(session.history(), [])
        replaced = self.session(relation="REPLACE_ONE")
        with self.assertRaisesRegex(ValueError, "session.neighboring_relation: got REPLACE_ONE, want ADD_OR_REMOVE_ONE"):
            released(replaced, self.mechanism(), self.data)
        self.assertEqual(replaced.history(), [])


if __name__ == "__main__":
    unittest.main()
