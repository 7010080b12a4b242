"""A real server for the tests of one class, and sessions under budgets of their own."""
import itertools
import unittest

import epsledger
from epsledger.events import Gaussian
from killable_ledger import KillableLedger

# One step costs rho 0.125; under a cap of 0.55 four of them fit.
STEP = Gaussian(noise_multiplier=2)
STEPS_THAT_FIT = 4
CAP = epsledger.Cap.zcdp(rho=0.55)


class LedgerCase(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        cls.server = KillableLedger()
        cls.server.__enter__()
        cls.addClassCleanup(cls.server.__exit__)
        cls._numbers = itertools.count(1)

    def setUp(self):
        self.client = self.connect()

    def connect(self, **options):
        """A client of the server that is closed after the test."""
        client = epsledger.connect(address=self.server.address, **options)
        self.addCleanup(client.close)
        return client

    def new_budget(self, cap=CAP):
        """The name of a budget in which STEPS_THAT_FIT times STEP fits."""
        name = "budget-%d" % next(self._numbers)
        self.client.create_budget(name=name, cap=cap, privacy_unit="person")
        return name

    def new_session(self, client=None, budget=None, **options):
        return (client or self.client).open(session="run", budget=budget or self.new_budget(), delta=1e-5, **options)

    def charges(self, session):
        """[(attempt and id, count, decision), ...] of what the ledger holds of a session."""
        answer = self.client.call("ChargeService/ListCharges", {"parent": session.name, "pageSize": 1000})
        return [(charge["name"][len(session.name) + 1:], int(charge["count"]), charge["decision"])
                for charge in answer.get("charges", [])]

    def accepted_uses(self, session):
        return sum(count for _, count, decision in self.charges(session) if decision == "ACCEPTED")
