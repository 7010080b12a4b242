"""What accounting/published says of public deployments: published_test.py [--write] BUILD_DIR

Asks `epsctl compute` every request of deployments.jsonl again, holds the answers and the verdicts against what is
written there, and the table of the README against the file. `--write` makes the table anew and needs no BUILD_DIR."""
import collections
import json
import math
import os
import subprocess
import sys
import unittest

import markdown_section

FOLDER = os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "..", "accounting", "published")
ROWS = os.path.join(FOLDER, "deployments.jsonl")
PAGE = os.path.join(FOLDER, "README.md")
VERDICTS = ("confirmed", "needs an assumption", "too small", "parameters missing")
FIELDS = {"id", "organisation", "name", "year", "unit", "relation", "mechanism", "published", "source", "where", "seen",
          "assumption", "request", "answer", "verdict", "remark"}
SIXTH_DIGIT = 1e-5  # Answers are written to six digits, lower bounds down and upper bounds up.


def load():
    with open(ROWS, encoding="utf-8") as stream:
        return [json.loads(line) for line in stream]


def published_number(row):
    """What the answer is compared with: epsilon, or rho where no epsilon is published."""
    published = row["published"]
    return published["rho"] if published["epsilon"] is None else published["epsilon"]


def verdict(row):
    """By the numbers alone. A printed number stands for all that round to it."""
    if row["request"] is None:
        return "parameters missing"
    largest = published_number(row) + row["published"]["rounding"]
    lower, upper = row["answer"]["lower"], row["answer"]["upper"]
    if lower is not None and lower > largest:
        return "too small"
    if upper > largest * (1 + SIXTH_DIGIT):
        return "undecided"
    return "needs an assumption" if row["assumption"] else "confirmed"


def ours(row):
    if row["answer"] is None:
        return ""
    lower, upper = row["answer"]["lower"], row["answer"]["upper"]
    return "at most %.6g" % upper if lower is None else "[%.6g, %.6g]" % (lower, upper)


def judgement(row):
    """The verdict, and how much less a valid bound could be."""
    if row["verdict"] in ("confirmed", "needs an assumption"):
        saved = 100 * (1 - row["answer"]["upper"] / published_number(row))
        if saved >= 1:
            return "%s; could be %d%% less" % (row["verdict"], saved)
    return row["verdict"]


def remark(row):
    words = [row["assumption"], row["remark"]] if row["assumption"] else [row["remark"]]
    return "%s ([source](%s): %s)" % (" ".join(words), row["source"], row["where"])


def table(rows):
    counts = collections.Counter(row["verdict"] for row in rows)
    lines = ["%d rows: %s." % (len(rows), ", ".join("%d %s" % (counts[word], word) for word in VERDICTS)), "",
             "| deployment | published | ours | verdict | remark |", "|---|---|---|---|---|"]
    for row in rows:
        deployment = "%s, %s, %d" % (row["organisation"], row["name"], row["year"])
        cells = [deployment, row["published"]["text"], ours(row), judgement(row), remark(row)]
        lines.append("| %s |" % " | ".join(cells))
    return "\n".join(lines)


class Published(unittest.TestCase):
    epsctl = None

    def setUp(self):
        self.rows = load()

    def test_rows_are_whole(self):
        ids = [row["id"] for row in self.rows]
        self.assertEqual(len(ids), len(set(ids)))
        self.assertGreaterEqual(len(ids), 30)
        for row in self.rows:
            with self.subTest(row["id"]):
                self.assertEqual(set(row), FIELDS)
                self.assertEqual(set(row["published"]), {"epsilon", "delta", "rho", "rounding", "text"})
                self.assertTrue(row["source"].startswith("https://"), row["source"])
                self.assertRegex(row["seen"], r"^\d{4}-\d\d-\d\d$")
                self.assertEqual(row["request"] is None, row["answer"] is None)
                if row["request"] is not None:
                    self.assertEqual(row["request"]["id"], row["id"])
                    self.assertIsNotNone(published_number(row))
                    if row["published"]["epsilon"] is not None:
                        self.assertEqual(row["request"]["query"], {"epsilonAtDelta": row["published"]["delta"]})
                for field in ("organisation", "name", "remark", "where", "source"):
                    self.assertNotIn("|", row[field], field)

    def test_answers(self):
        asked = [row for row in self.rows if row["request"] is not None]
        lines = "".join(json.dumps(row["request"]) + "\n" for row in asked)
        said = subprocess.run([self.epsctl, "compute"], input=lines, capture_output=True, text=True, check=False)
        answers = [json.loads(line) for line in said.stdout.splitlines()]
        self.assertEqual(len(answers), len(asked), said.stderr)
        for row, answer in zip(asked, answers):
            with self.subTest(row["id"]):
                self.assertNotIn("error", answer)
                # The divergence of rho-zCDP at order 2 is 2 rho.
                scale = 0.5 if row["published"]["epsilon"] is None else 1
                for side in ("lower", "upper"):
                    got, written = scale * float(answer.get(side, 0)), row["answer"][side] or 0
                    self.assertTrue(math.isclose(got, written, rel_tol=1e-4, abs_tol=1e-12),
                                    "%s: got %.9g, written %.9g" % (side, got, written))

    def test_verdicts_follow_from_the_numbers(self):
        for row in self.rows:
            with self.subTest(row["id"]):
                self.assertIn(row["verdict"], VERDICTS)
                self.assertEqual(verdict(row), row["verdict"])

    def test_the_page_is_made_from_the_rows(self):
        with open(PAGE, encoding="utf-8") as stream:
            text = stream.read()
        begin, end = "<!-- published:begin -->\n", "\n<!-- published:end -->"
        self.assertEqual(text[text.index(begin) + len(begin):text.index(end)], table(self.rows),
                         "run tests/agreement/published_test.py --write")


if __name__ == "__main__":
    if "--write" in sys.argv[1:]:
        markdown_section.replace(PAGE, "published", table(load()))
        sys.exit(0)
    Published.epsctl = os.path.join(sys.argv[1], "client", "cli", "epsctl")
    unittest.main(argv=sys.argv[:1])
