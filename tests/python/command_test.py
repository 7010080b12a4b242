"""python -m epsledger: a look at a ledger that charges nothing and fences nobody."""
import os
import re
import subprocess
import sys
import unittest

import epsledger
from ledger_case import STEP, STEPS_THAT_FIT, LedgerCase


class Command(LedgerCase):
    def run_command(self, *arguments, exit_code=0, address=None):
        run = subprocess.run([sys.executable, "-B", "-m", "epsledger", *arguments], text=True, capture_output=True,
                             timeout=120, env={**os.environ, "EPSLEDGER_HTTP": address or self.server.address})
        self.assertEqual(run.returncode, exit_code, run.stderr)
        self.assertNotIn("Traceback", run.stderr)
        return run.stdout or run.stderr

    def test_it_says_its_version(self):
        self.assertEqual(self.run_command("version", address="http://127.0.0.1:1"),
                         "epsledger %s\n" % epsledger.__version__)

    def test_budgets_are_a_table(self):
        session = self.new_session()
        budget = session.name.split("/")[1]
        for _ in session.guard(range(9), STEP):
            pass
        lines = self.run_command("budgets").splitlines()
        self.assertEqual(lines[0].split(), ["BUDGET", "STATE", "SPENT", "ACCEPTED", "REFUSED"])
        row = next(line for line in lines if line.startswith(budget + " ")).split()
        # 4 * 0.125 of 0.55 is 90.909... %, rounded up.
        self.assertEqual(row, [budget, "ACTIVE", "91", "%", str(STEPS_THAT_FIT), "1"])

    def test_a_session_is_read_without_an_attempt(self):
        session = self.new_session()
        session.step(STEP)
        budget = session.name.split("/")[1]
        for name in (session.name, budget + "/run"):
            lines = self.run_command("session", name, "--delta", "1e-6").splitlines()
            self.assertEqual(lines[:2], [session.name + ", ADAPTIVE, ACTIVE", "1 charges accepted, 0 refused, 1 steps"])
            self.assertEqual(lines[2], str(session.spent(delta=1e-6)))
            self.assertEqual(lines[3], "%d more single steps of the last event fit now" % (STEPS_THAT_FIT - 1))
        session.step(STEP)  # nobody fenced it

    def test_a_watch_goes_on_until_it_is_ended(self):
        session = self.new_session()
        budget = session.name.split("/")[1]
        with subprocess.Popen([sys.executable, "-B", "-m", "epsledger", "watch", budget + "/run"], text=True,
                              stdout=subprocess.PIPE, env={**os.environ, "EPSLEDGER_HTTP": self.server.address}) as run:
            self.assertRegex(run.stdout.readline(), r"^\d+: session %s$" % re.escape(session.name))
            self.assertRegex(run.stdout.readline(), r"^\d+: attempt %s$" % re.escape(session.attempt))
            charge = session.step(STEP).charge
            self.assertRegex(run.stdout.readline(), r"^\d+: charge %s, ACCEPTED$" % re.escape(charge))
            run.terminate()

    def test_errors_are_sentences(self):
        for arguments, exit_code, message in (
                (("session", "nowhere/run"), 1, "^epsledger: NOT_FOUND: "),
                (("session", "A B"), 1, "^epsledger: INVALID_ARGUMENT: name: got 'A B'"),
                (("watch", "nowhere"), 1, "^epsledger: NOT_FOUND: "),
                (("bugdets",), 2, "invalid choice: 'bugdets'"), ((), 2, "COMMAND")):
            with self.subTest(arguments):
                self.assertRegex(self.run_command(*arguments, exit_code=exit_code), message)
        self.assertRegex(self.run_command("budgets", exit_code=1, address="nowhere"), "address: got 'nowhere'")


if __name__ == "__main__":
    unittest.main()
