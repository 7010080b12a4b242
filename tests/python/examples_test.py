"""Every example is run, against a real server and with small settings."""
import os
import re
import subprocess
import sys
import unittest

import epsledger
from killable_ledger import BUILD
from ledger_case import LedgerCase

EXAMPLES = os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "..", "client", "python", "examples")
# A module of each that may be absent, and the small settings.
RUNS = {"numpy_dp_sgd.py": ("numpy", ["1"]), "sweep.py": ("numpy", ["5"]), "federated_averaging.py": ("numpy", ["4"]),
        "opacus_digits.py": ("opacus", ["1"])}


def installed(module):
    return subprocess.run([sys.executable, "-c", "import " + module], stderr=subprocess.DEVNULL, timeout=300).returncode == 0


@unittest.skipUnless(BUILD, "EPSLEDGER_BUILD names no build folder with server/epsledgerd")
class Examples(LedgerCase):
    def run_example(self, name, exit_code=0):
        module, settings = RUNS[name]
        for needed in (module, *([] if os.environ.get("DIGITS") else ["sklearn"])):
            if not installed(needed):
                self.skipTest("%s is not installed" % needed)
        run = subprocess.run(
            [sys.executable, "-W", "ignore", os.path.join(EXAMPLES, name), *settings], text=True, capture_output=True,
            timeout=300, env={**os.environ, "EPSLEDGER_HTTP": self.server.address, "OMP_NUM_THREADS": "1"})
        self.assertEqual(run.returncode, exit_code, run.stderr)
        self.assertNotIn("Traceback", run.stderr)
        return run.stdout

    def session(self, budget, name):
        return self.client.call("SessionService/GetSession", {"name": "budgets/%s/sessions/%s" % (budget, name)})

    def assert_ended_with_the_budget(self, printed, steps_word, budget, session, epsilon):
        steps = int(re.match(r"(\d+) %s, then refused, BUDGET_EXHAUSTED" % steps_word, printed)[1])
        self.assertGreater(steps, 0)
        found = self.session(budget, session)
        self.assertEqual(int(found["acceptedChargeCount"]), steps)
        self.assertEqual(int(found["refusedChargeCount"]), 1)
        self.assertLessEqual(float(re.search(r"epsilon ([\d.]+) at delta", printed)[1]), epsilon)

    def test_every_example_is_here(self):
        self.assertEqual({name for name in os.listdir(EXAMPLES) if name.endswith(".py")} - {"digits.py"}, set(RUNS))

    def assert_ends_with_the_budget_twice(self, name, steps_word, budget, session, epsilon):
        self.assert_ended_with_the_budget(self.run_example(name), steps_word, budget, session, epsilon)
        spent = self.session(budget, session)["acceptedChargeCount"]
        # The budget is empty now: the same command says so, and charges nothing.
        self.assertRegex(self.run_example(name), r"^0 %s, then refused, BUDGET_EXHAUSTED" % steps_word)
        self.assertEqual(self.session(budget, session)["acceptedChargeCount"], spent)

    def test_numpy(self):
        self.assert_ends_with_the_budget_twice("numpy_dp_sgd.py", "steps", "digits", "numpy", 1)

    def test_opacus(self):
        self.assert_ends_with_the_budget_twice("opacus_digits.py", "steps", "digits-opacus", "network", 1)

    def test_federated_averaging(self):
        self.assert_ends_with_the_budget_twice("federated_averaging.py", "rounds", "digits-users", "federated", 4)

    def test_sweep(self):
        printed = self.run_example("sweep.py")
        alone = float(re.search(r"its own epsilon ([\d.]+) is NOT", printed)[1])
        search = float(re.search(r"search as a whole has epsilon ([\d.]+)", printed)[1])
        self.assertGreater(search, alone)
        for rate in ("0.1", "0.3", "1", "3", "10"):
            self.assertEqual(self.session("digits-search", "rate-" + rate)["group"], "learning-rates")
        # Once more it costs more, and in the end nothing fits.
        self.assertGreater(float(re.search(r"search as a whole has epsilon ([\d.]+)", self.run_example("sweep.py"))[1]),
                           search)
        with self.client.open(session="rate-1", budget="digits-search", group="learning-rates") as rest:
            event = rest.history()[0].event
            rest.charge(event, count=rest.remaining(event))
        self.assertRegex(self.run_example("sweep.py", exit_code=1), "^learning rate   0.1: refused, BUDGET_EXHAUSTED")


if __name__ == "__main__":
    unittest.main()
