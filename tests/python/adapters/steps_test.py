"""What the callbacks share: a charge before each step, and an end of the loop after the last one that fits; and the
README's list of the tests of each cell."""
import os
import re
import unittest

import epsledger
from epsledger.adapters.steps import ChargedSteps
from ledger_case import CAP, STEP, STEPS_THAT_FIT, LedgerCase

HERE = os.path.dirname(os.path.abspath(__file__))
README = os.path.join(HERE, "..", "..", "..", "client", "python", "epsledger", "adapters", "README.md")


class Cells(unittest.TestCase):
    def names_in(self, file):
        with open(os.path.join(HERE, file + ".py"), encoding="utf-8") as source:
            return set(re.findall(r"^    def test_(\w+)\(self", source.read(), re.MULTILINE))

    def test_the_tests_that_the_readme_names_for_each_cell_are_there(self):
        with open(README, encoding="utf-8") as stream:
            (rows,) = re.findall(r"^\| setup \| Opacus: `.*\n\|[-|]+\n((?:\|.*\n)+)", stream.read(), re.MULTILINE)
        names = 0
        for row in rows.splitlines():
            setup, *cells = row.strip("|").split("|")
            self.assertEqual(len(cells), 3, row)
            for file, cell in zip(("opacus_engine_test", "transformers_test", "lightning_test"), cells):
                own, _, split = (cell if "split_test" not in setup else "`split_test`" + cell).partition("`split_test`")
                for text, tests in ((own, self.names_in(file)), (split, self.names_in("split_test"))):
                    named = re.findall(r"`(\w+)`", text)
                    self.assertLessEqual(set(named), tests)
                    names += len(named)
                self.assertTrue("`" in own + split or "as shuffled batches" in cell, row)
        self.assertGreater(names, 30)


class Steps(LedgerCase):
    def test_the_loop_ends_after_the_last_step_and_the_session_says_why(self):
        session = self.new_session()
        steps, ran = ChargedSteps(session, STEP), 0
        while True:
            steps.charge()
            ran += 1
            if not steps.has_room():
                break
            self.assertIsNone(session.exhausted)
        self.assertEqual((ran, self.accepted_uses(session)), (STEPS_THAT_FIT, STEPS_THAT_FIT))
        self.assertEqual(session.exhausted.reason, "BUDGET_EXHAUSTED")
        self.assertEqual(session.exhausted.steps_that_fit, 0)
        # No refused charge was needed for it.
        self.assertEqual({decision for _, _, decision in self.charges(session)}, {"ACCEPTED"})

    def test_a_budget_that_is_frozen_ends_the_loop_and_is_not_called_exhausted(self):
        budget = self.new_budget()
        session = self.new_session(budget=budget)
        steps = ChargedSteps(session, STEP)
        steps.charge()
        self.client.call("BudgetService/FreezeBudget", {"name": "budgets/" + budget, "reason": "a test"})
        self.assertFalse(steps.has_room())
        self.assertIsNone(session.exhausted)
        with self.assertRaises(epsledger.Refused):
            steps.charge()

    def test_room_that_another_session_takes_is_an_error_and_no_step(self):
        budget = self.client.create_budget(name="shared-steps", cap=CAP, privacy_unit="person").name
        session, other = (self.client.open(session=name, budget=budget, delta=1e-5) for name in ("one", "other"))
        steps = ChargedSteps(session, STEP)
        steps.charge()
        self.assertTrue(steps.has_room())
        other.charge(STEP, count=STEPS_THAT_FIT - 1)
        with self.assertRaises(epsledger.BudgetExhausted):
            steps.charge()


if __name__ == "__main__":
    unittest.main()
