"""Every accountant against event_tables.jsonl: event_tables_test.py BUILD_DIR

Makes the table again, holds its two numbers against each other, and asks `epsctl compute` every request under every
accountant: an upper bound is never below the truth, a lower one never above, and where the truth is attained the best
answer is that number."""
import json
import os
import subprocess
import sys
import unittest

import event_tables

ACCOUNTANTS = ("BEST", "PLD", "TRADE_OFF", "RENYI", "MOMENTS", "ZCDP", "BASIC", "OPTIMAL", "ADVANCED")
# Sums of doubles; the grids are to 2e-5.
ROUNDING = 1e-9
GRID = 2e-5
# The default width, and its margin.
WIDTH = 1.2e-3


def load():
    with open(event_tables.PAGE, encoding="utf-8") as stream:
        return [json.loads(line) for line in stream]


def name(row):
    event = row["request"]["events"][0]["event"]
    return "%s %s %s" % (row["request"]["neighboringRelation"], json.dumps(event), row["request"]["query"])


class EventTables(unittest.TestCase):
    epsctl = None

    def setUp(self):
        self.rows = load()

    def test_numbers_are_what_the_script_computes(self):
        made = json.loads(json.dumps(event_tables.rows()))
        self.assertEqual(len(made), len(self.rows))
        for row, again in zip(self.rows, made):
            with self.subTest(name(row)):
                self.assertEqual((row["request"], row["attained"]), (again["request"], again["attained"]))
                for number in ("first", "second"):
                    self.assertAlmostEqual(row[number], again[number], delta=1e-12 + ROUNDING * row[number])

    def test_both_ways_agree(self):
        for row in self.rows:
            with self.subTest(name(row)):
                self.assertGreater(row["second"], 0)
                self.assertAlmostEqual(row["first"], row["second"], delta=GRID * row["second"])

    def test_every_newer_event_has_rows(self):
        kinds = [next(iter(row["request"]["events"][0]["event"])) for row in self.rows]
        for kind in set(kinds):
            self.assertGreaterEqual(kinds.count(kind), 5, kind)
        self.assertGreaterEqual(len(set(kinds)), 15)

    def test_answers(self):
        lines = [json.dumps(dict(row["request"], accountant=accountant))
                 for row in self.rows for accountant in ACCOUNTANTS]
        said = subprocess.run([self.epsctl, "compute"], input="\n".join(lines) + "\n", capture_output=True, text=True,
                              check=False)
        answers = iter([json.loads(line) for line in said.stdout.splitlines()])
        asked = 0
        for row in self.rows:
            truth, best = row["second"], float("inf")
            for accountant in ACCOUNTANTS:
                with self.subTest(accountant + " " + name(row)):
                    answer = next(answers)
                    if "error" in answer:
                        self.assertEqual(answer["error"]["code"], "UNIMPLEMENTED", answer)
                        continue
                    asked += 1
                    self.assertEqual(answer["kind"], "UPPER_BOUND")
                    self.assertGreaterEqual(float(answer["upper"]), truth * (1 - ROUNDING))
                    self.assertLessEqual(float(answer.get("lower", 0)), truth * (1 + ROUNDING))
                    best = min(best, float(answer["upper"]))
            with self.subTest("best of " + name(row)):
                self.assertLess(best, float("inf"))
                if row["attained"]:
                    self.assertLessEqual(best, truth * (1 + WIDTH))
        self.assertIsNone(next(answers, None))
        self.assertGreater(asked, 3 * len(self.rows))


if __name__ == "__main__":
    EventTables.epsctl = os.path.join(sys.argv[1], "client", "cli", "epsctl")
    unittest.main(argv=sys.argv[:1])
