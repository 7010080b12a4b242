"""A real dp_accounting accountant beside the remote one."""
import math
import os
import statistics
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
    from dp_accounting.pld import PLDAccountant
    from dp_accounting.privacy_accountant_test import PrivacyAccountantTest

    from epsledger.adapters.dp_accounting import RemotePrivacyAccountant
except ImportError as missing:
    MISSING = str(missing)
    PrivacyAccountantTest = object
else:
    MISSING = "" if BUILD else "EPSLEDGER_BUILD names no build folder with server/epsledgerd"


@unittest.skipIf(MISSING, MISSING)
class Remote(LedgerCase):
    def setUp(self):
        super().setUp()
        self.step = dp_accounting.PoissonSampledDpEvent(0.01, dp_accounting.GaussianDpEvent(1.1))
        self.session = self.new_session(budget=self.new_budget(epsledger.Cap.renyi(order=8, divergence=0.5)))

    def test_composes_by_charging_and_agrees_with_dp_accounting(self):
        remote, local = RemotePrivacyAccountant(self.session), PLDAccountant()
        self.assertEqual(remote.ledger, local.ledger)
        for accountant in (remote, local):
            accountant.compose(self.step, 100).compose(dp_accounting.GaussianDpEvent(10))
        self.assertEqual([tuple(counted) for counted in self.session.history()],
                         [(e.PoissonSampled(sampling_probability=0.01, event=e.Gaussian(noise_multiplier=1.1)), 100),
                          (e.Gaussian(noise_multiplier=10), 1)])
        self.assertEqual(remote.ledger, local.ledger)
        self.assertEqual(remote.neighboring_relation, local.neighboring_relation)
        # Both are upper bounds; dp_accounting's is coarser.
        self.assertAlmostEqual(remote.get_epsilon(1e-5), local.get_epsilon(1e-5), delta=0.01)
        self.assertAlmostEqual(remote.get_delta(0.5) / local.get_delta(0.5), 1, delta=0.05)
        again = RemotePrivacyAccountant(self.client.open(session="run", budget=self.session.name.split("/")[1]))
        self.assertEqual(again.get_epsilon(1e-5), remote.get_epsilon(1e-5))

    def test_a_refused_event_is_in_no_ledger(self):
        remote = RemotePrivacyAccountant(self.session)
        with self.assertRaises(epsledger.BudgetExhausted):
            remote.compose(self.step, 10**9)
        self.assertEqual(remote.ledger, dp_accounting.NoOpDpEvent())
        self.assertEqual(remote.get_epsilon(1e-5), 0)

    def test_unsupported_events_are_refused_by_name(self):
        remote = RemotePrivacyAccountant(self.session)
        self.assertTrue(remote.supports(self.step))
        self.assertFalse(remote.supports(dp_accounting.UnsupportedDpEvent()))
        with self.assertRaisesRegex(dp_accounting.UnsupportedEventError,
                                    "got UnsupportedDpEvent, want one of .* caused by subevent UnsupportedDpEvent"):
            remote.compose(dp_accounting.SelfComposedDpEvent(dp_accounting.UnsupportedDpEvent(), 2))
        self.assertEqual(self.session.history(), [])

    def test_what_dp_accounting_reads_of_a_loss_distribution(self):
        remote, local = RemotePrivacyAccountant(self.session), PLDAccountant()
        for accountant in (remote, local):
            accountant.compose(self.step, 100)
        if hasattr(local, "get_true_positive_rates"):  # not in 0.6
            theirs = local.get_true_positive_rates(0.1, [10 ** (-i / 5) for i in range(1, 30)])
            self.assertAlmostEqual(remote.get_true_positive_rates(0.1), theirs, delta=0.01)
        rates = remote.get_true_positive_rates([[0.1], [0.5]])
        self.assertEqual(rates.shape, (2, 1))
        self.assertTrue(0.1 < rates[0, 0] < rates[1, 0] < 1, rates)
        mu = remote.get_gdp_parameter_estimate([0.4, 1e-3])
        # The curve of mu lies above every rate.
        for at, rate in ((0.1, rates[0, 0]), (0.5, rates[1, 0])):
            normal = statistics.NormalDist()
            self.assertLessEqual(rate, normal.cdf(mu + normal.inv_cdf(at)) + 1e-3)
        self.assertLess(mu, 1)
        self.assertGreater(remote.get_delta(0.5), 0)
        self.assertLessEqual(remote.get_delta(math.inf), remote.get_delta(5))
        self.assertEqual(remote.get_epsilon(0), math.inf)  # Gaussian noise has no pure epsilon
        self.assertEqual(remote.get_epsilon(1), 0)


@unittest.skipIf(MISSING, MISSING)
class Contract(LedgerCase, PrivacyAccountantTest):
    """dp_accounting's own test of every accountant."""

    def _make_test_accountants(self):
        accountants = []
        for relation in ("ADD_OR_REMOVE_ONE", "REPLACE_ONE", "REPLACE_SPECIAL"):
            name = "budget-%d" % next(self._numbers)
            self.client.create_budget(name=name, cap=epsledger.Cap.no_guarantee(), privacy_unit="person",
                                      neighboring_relation=relation)
            session = self.client.open(session="run", budget=name, delta=1e-5, neighboring_relation=relation)
            accountants.append(RemotePrivacyAccountant(session))
        return accountants


PrivacyAccountantTest = None  # it is no test by itself

if __name__ == "__main__":
    unittest.main()
