"""Flower's own private strategies with an accountant of the ledger. Needs flwr 1.42; skipped by name without."""
import json
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
    import numpy
    from flwr.app import ArrayRecord, ConfigRecord
    from flwr.serverapp.exception import PrivacyBudgetExhausted
    from flwr.serverapp.strategy import DifferentialPrivacyServerSideFixedClipping, FedAvg
    from flwr.supercore.privacy_accounting import GaussianPrivacyEvent

    from epsledger.adapters.flower_accountant import LedgerPrivacyAccountant
    from flower_test import Clients, in_a_server_app
except ImportError as missing:
    MISSING = str(missing)
else:
    MISSING = "" if BUILD else "EPSLEDGER_BUILD names no build folder with server/epsledgerd"

# Under ADD_OR_REMOVE_ONE a round with noise multiplier 4 costs rho 1 / (2 * 2^2) = 0.125.
CAP = epsledger.Cap.zcdp(rho=0.3)
ROUNDS_THAT_FIT = 2


@unittest.skipIf(MISSING, MISSING)
class Accountant(LedgerCase):
    def setUp(self):
        super().setUp()
        in_a_server_app(self)

    def accountant(self, relation="ADD_OR_REMOVE_ONE", cap=CAP, **options):
        name = "budget-%d" % next(self._numbers)
        self.client.create_budget(name=name, cap=cap, privacy_unit="client", neighboring_relation=relation)
        self.session = self.client.open(session="run", budget=name, delta=1e-5, neighboring_relation=relation)
        return LedgerPrivacyAccountant(self.session, population_size=3, **options)

    def strategy(self, accountant, clients):
        return DifferentialPrivacyServerSideFixedClipping(
            FedAvg(fraction_evaluate=0.0), noise_multiplier=4, clipping_norm=1, num_sampled_clients=3,
            accountant=accountant)

    def start(self, accountant, count):
        self.clients = Clients()
        return self.strategy(accountant, self.clients).start(
            grid=self.clients, initial_arrays=ArrayRecord([numpy.zeros(4)]), num_rounds=count)

    def history(self):
        return [tuple(counted) for counted in self.session.history()]

    def test_each_round_of_flowers_strategy_is_charged(self):
        accountant = self.accountant()
        result = self.start(accountant, 2)
        self.assertTrue(numpy.isfinite(result.arrays.to_numpy_ndarrays()[0]).all())
        self.assertEqual(self.history(), [(e.Gaussian(noise_multiplier=2), 2)])
        spent = accountant.get_privacy_spent()
        self.assertEqual((spent.epsilon, spent.num_releases), (self.session.spent().epsilon, 2))
        self.assertAlmostEqual(accountant.get_delta(spent.epsilon) / 1e-5, 1, delta=0.01)

    def test_no_client_is_asked_when_a_cap_has_no_room(self):
        accountant = self.accountant()
        with self.assertRaises(PrivacyBudgetExhausted):
            self.start(accountant, 10)
        self.assertEqual((self.clients.rounds, accountant.num_releases), (ROUNDS_THAT_FIT, ROUNDS_THAT_FIT))
        self.assertEqual(accountant.refusal.reason, "BUDGET_EXHAUSTED")

    def test_the_limit_of_the_caller_counts_too(self):
        accountant = self.accountant(cap=epsledger.Cap.zcdp(rho=100), max_epsilon=3)
        with self.assertRaises(PrivacyBudgetExhausted):
            self.start(accountant, 10)
        self.assertGreater(accountant.num_releases, 0)
        self.assertLessEqual(accountant.get_epsilon(1e-5), 3)
        event = GaussianPrivacyEvent(noise_multiplier=4, sample_size=3, population_size=3)
        self.assertTrue(accountant.would_exceed(event))
        self.assertFalse(accountant.would_exceed(event, max_epsilon=20))

    def test_a_charge_that_fails_releases_no_arrays(self):
        accountant = self.accountant()
        clients = Clients()
        strategy = self.strategy(accountant, clients)
        arrays = ArrayRecord([numpy.zeros(4)])
        messages = list(strategy.strategy.configure_train(1, arrays, ConfigRecord(), clients))
        strategy.current_arrays = arrays
        strategy._pending_events[1] = GaussianPrivacyEvent(noise_multiplier=4, sample_size=3, population_size=3)
        replies = clients.send_and_receive(messages)
        self.client.open(session="run", budget=self.session.name.split("/")[1])  # a newer attempt: this one is fenced
        with self.assertRaises(epsledger.AttemptFenced):
            strategy.aggregate_train(1, replies)

    def test_what_a_client_can_change_under_each_relation(self):
        # A fixed number of clients is drawn: one that joins takes the place of another.
        event = GaussianPrivacyEvent(noise_multiplier=4, sample_size=3, population_size=3)
        epsilons = {}
        for relation, charged in (("ADD_OR_REMOVE_ONE", 2), ("REPLACE_SPECIAL", 4), ("REPLACE_ONE", 4)):
            accountant = self.accountant(relation, cap=epsledger.Cap.zcdp(rho=10))
            accountant.compose(event, 3)
            self.assertEqual(self.history(), [(e.Gaussian(noise_multiplier=charged), 3)])
            epsilons[relation] = accountant.get_epsilon(1e-5)
        self.assertAlmostEqual(epsilons["ADD_OR_REMOVE_ONE"], epsilons["REPLACE_ONE"], delta=1e-3)
        self.assertLess(epsilons["REPLACE_SPECIAL"], epsilons["REPLACE_ONE"] / 1.5)

    def test_another_population_is_refused_by_name(self):
        accountant = self.accountant()
        with self.assertRaisesRegex(ValueError, "event.population_size: got 5, want 3"):
            accountant.compose(GaussianPrivacyEvent(noise_multiplier=4, sample_size=3, population_size=5))
        self.assertEqual(self.history(), [])

    def test_a_checkpoint_adds_nothing_and_takes_nothing_away(self):
        accountant = self.accountant()
        event = GaussianPrivacyEvent(noise_multiplier=4, sample_size=3, population_size=3)
        accountant.compose(event)
        state = json.loads(json.dumps(accountant.state_dict()))
        accountant.compose(event)
        accountant.load_state_dict(state)
        self.assertEqual(accountant.num_releases, 2)
        for change, refusal in (({"num_releases": 3}, "num_releases: got 3, want at most the 2"),
                                ({"session": "budgets/other/sessions/run"}, "session: got 'budgets/other"),
                                ({"state": "rdp"}, "state: got 'rdp'")):
            with self.subTest(refusal), self.assertRaisesRegex(ValueError, refusal):
                accountant.load_state_dict({**state, **change})


if __name__ == "__main__":
    unittest.main()
