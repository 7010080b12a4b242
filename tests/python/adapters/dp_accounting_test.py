"""A real dp_accounting accountant beside the remote one."""
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
    from dp_accounting.pld import PLDAccountant

    from epsledger.adapters.dp_accounting import RemotePrivacyAccountant
except ImportError as missing:
    MISSING = str(missing)
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
        with self.assertRaisesRegex(dp_accounting.UnsupportedEventError, "got UnsupportedDpEvent, want one of"):
            remote.compose(dp_accounting.SelfComposedDpEvent(dp_accounting.UnsupportedDpEvent(), 2))
        self.assertEqual(self.session.history(), [])


if __name__ == "__main__":
    unittest.main()
