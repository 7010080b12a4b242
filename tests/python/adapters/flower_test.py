"""Real Flower strategies under the ledger, with clients in this process. Needs flwr; skipped by name without."""
import logging
import os
import sys
import unittest

HERE = os.path.dirname(os.path.abspath(__file__))
sys.path[:0] = [HERE, os.path.dirname(HERE)]

import epsledger
from killable_ledger import BUILD
from ledger_case import STEP, STEPS_THAT_FIT, LedgerCase

try:
    import numpy
    from flwr.app import ArrayRecord, Message, MetricRecord, RecordDict
    from flwr.serverapp import Grid
    from flwr.supercore.task_identity import TaskIdentity
    from flwr.serverapp.strategy import DifferentialPrivacyServerSideFixedClipping, FedAvg

    from epsledger.adapters.flower import LedgerStrategy

    class Clients(Grid):
        """Three clients that answer at once: each adds one to what it was sent."""

        def __init__(self):
            self.rounds = 0

        def set_run(self, run):
            raise NotImplementedError

        def run(self):
            raise NotImplementedError

        def create_message(self, *arguments, **named):
            raise NotImplementedError

        def push_messages(self, messages):
            raise NotImplementedError

        def pull_messages(self, message_ids):
            raise NotImplementedError

        def get_node_ids(self):
            return [1, 2, 3]

        def send_and_receive(self, messages, *, timeout=None):
            messages = list(messages)
            self.rounds += bool(messages)
            return [Message(content=RecordDict({
                "arrays": ArrayRecord([array + 1 for array in message.content["arrays"].to_numpy_ndarrays()]),
                "metrics": MetricRecord({"num-examples": 1})}), reply_to=message) for message in messages]
except ImportError as missing:
    MISSING = str(missing)
else:
    MISSING = "" if BUILD else "EPSLEDGER_BUILD names no build folder with server/epsledgerd"


def in_a_server_app(test):
    """What the process of a ServerApp knows of itself, and no talk."""
    TaskIdentity.task_id = TaskIdentity.run_id = TaskIdentity.node_id = 1
    logger = logging.getLogger("flwr")
    level = logger.level
    logger.setLevel(logging.ERROR)
    test.addCleanup(logger.setLevel, level)


@unittest.skipIf(MISSING, MISSING)
class Rounds(LedgerCase):
    def setUp(self):
        super().setUp()
        in_a_server_app(self)

    def run_rounds(self, session, wrap=lambda strategy: strategy, count=10):
        clients = Clients()
        strategy = LedgerStrategy(wrap(FedAvg(fraction_evaluate=0.0)), session, STEP)
        result = strategy.start(grid=clients, initial_arrays=ArrayRecord([numpy.zeros(4)]), num_rounds=count)
        return clients.rounds, result.arrays.to_numpy_ndarrays()[0] if result.arrays else None, strategy.exhausted

    def test_ends_with_the_last_round_that_fits(self):
        session = self.new_session()
        rounds, arrays, exhausted = self.run_rounds(session)
        self.assertEqual(rounds, STEPS_THAT_FIT)
        numpy.testing.assert_array_equal(arrays, numpy.full(4, STEPS_THAT_FIT))
        self.assertIsInstance(exhausted, epsledger.BudgetExhausted)
        self.assertEqual(self.accepted_uses(session), STEPS_THAT_FIT)

    def test_ends_with_its_own_private_strategy_inside(self):
        session = self.new_session()
        rounds, arrays, _ = self.run_rounds(session, lambda strategy: DifferentialPrivacyServerSideFixedClipping(
            strategy, noise_multiplier=2, clipping_norm=1, num_sampled_clients=3))
        self.assertEqual(rounds, STEPS_THAT_FIT)
        self.assertTrue(numpy.isfinite(arrays).all())

    def test_charges_no_more_rounds_than_are_run(self):
        session = self.new_session()
        self.assertEqual(self.run_rounds(session, count=2)[0], 2)
        self.assertEqual(self.accepted_uses(session), 2)

    def test_other_errors_are_raised_before_a_client_is_asked(self):
        session = self.new_session()
        session.close()
        with self.assertRaises(epsledger.Ended):
            self.run_rounds(session)


if __name__ == "__main__":
    unittest.main()
