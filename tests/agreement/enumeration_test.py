"""Every accountant against sums over all outcomes in exact fractions: enumeration_test.py BUILD_DIR

Random cases of random_cases.py, under every relation: no upper bound is below what the laws of the case prove, and no
lower bound above it where the case is exact. EPSLEDGER_EXACT_CASES sets the number of cases (the long form has 10,000),
EPSLEDGER_EXACT_SEED the first seed."""
import collections
import decimal
import json
import os
import subprocess
import sys
import unittest
from fractions import Fraction

import exact_laws as laws
from random_cases import PARTS, Case

ACCOUNTANTS = ("BASIC", "ADVANCED", "OPTIMAL", "RENYI", "MOMENTS", "ZCDP", "GAUSSIAN", "PLD", "TRADE_OFF", "BEST")
CASES = int(os.environ.get("EPSLEDGER_EXACT_CASES", 120))
SEED = int(os.environ.get("EPSLEDGER_EXACT_SEED", 1))
ROUNDING = decimal.Decimal("1e-40")


def queries_of(case):
    queries = {"delta": {"deltaAtEpsilon": case.epsilon}, "epsilon": {"epsilonAtDelta": case.delta},
               "renyi": {"renyiDivergenceAtOrder": case.order}}
    if [event["count"] for event in case.events] == ["1"]:
        # Of several events these take seconds.
        queries.update({"error": {"typeTwoErrorAt": case.alpha}, "advantage": {"advantage": {}}})
    return queries


def accountants_of(case):
    """TRADE_OFF and BEST answer for several events as PLD does, in seconds."""
    return ACCOUNTANTS if len(case.events) == 1 else ACCOUNTANTS[:-2]


def bound_of(answer, side):
    """A bound as a fraction, or None where there is none or it is infinite."""
    value = answer.get(side)
    return None if value is None or value == "Infinity" else Fraction(float(value))


def problem_of(case, name, answer):
    """What is wrong with an answer, or None."""
    upper, lower = bound_of(answer, "upper"), bound_of(answer, "lower")
    if name == "error":
        truth = laws.type_two_error_at(case.directions, case.alpha)
        if lower is not None and lower > truth + laws.SLACK:
            return "a test has type II error %.17g" % truth
        if case.exact and upper is not None and upper < truth - laws.SLACK:
            return "no test has a type II error below %.17g" % truth
        return None
    if name == "epsilon":
        if upper is not None and all_deltas(case, upper) > Fraction(case.delta) + laws.SLACK:
            return "delta there is %.17g" % all_deltas(case, upper)
        if case.exact and lower and all_deltas(case, lower) < Fraction(case.delta) - laws.SLACK:
            return "delta is %.17g already at the lower bound" % all_deltas(case, lower)
        if answer.get("lower") == "Infinity" and case.exact and all_deltas(case, 50) < Fraction(case.delta):
            return "delta is %.17g at epsilon 50" % all_deltas(case, 50)
        return None
    if name == "renyi":
        true = max(laws.renyi_at(pair, case.order) for pair in case.directions)
        if upper is not None and laws.to_decimal(upper) < true - ROUNDING:
            return "it is %s" % true
        if case.exact and lower is not None and laws.to_decimal(lower) > true + ROUNDING:
            return "it is %s" % true
        return None
    truth = all_deltas(case, case.epsilon if name == "delta" else 0)
    if upper is not None and upper < truth - laws.SLACK:
        return "it is %.17g" % truth
    if case.exact and lower is not None and lower > truth + laws.SLACK:
        return "it is %.17g" % truth
    return None


def all_deltas(case, epsilon):
    return max(laws.delta_at(pair, epsilon) for pair in case.directions)


class Enumeration(unittest.TestCase):
    epsctl = None

    def test_laws_are_laws(self):
        for seed in range(SEED, SEED + CASES):
            case = Case(seed)
            for total in (sum(p for p, _ in case.directions[0]), sum(q for _, q in case.directions[0])):
                self.assertLess(abs(total - 1), laws.SLACK, "seed %d" % seed)

    @unittest.skipIf(CASES < 100, "few cases")
    def test_every_kind_of_case_is_drawn(self):
        kinds = collections.Counter(next(iter(event["event"])) for seed in range(SEED, SEED + CASES)
                                    for event in Case(seed).events)
        self.assertGreaterEqual(len(kinds), len(PARTS))

    def test_a_bound_that_is_wrong_is_noticed(self):
        noticed = 0
        for case in map(Case, range(SEED, SEED + 20)):
            truth = float(all_deltas(case, case.epsilon))
            if truth < 1e-9:
                continue
            for answer in ({"upper": truth * (1 - 1e-9)}, {"lower": truth * (1 + 1e-9), "upper": 1}):
                if case.exact or "lower" not in answer:
                    self.assertIsNotNone(problem_of(case, "delta", answer), case.seed)
                    noticed += 1
            self.assertIsNone(problem_of(case, "delta", {"lower": truth * (1 - 1e-9), "upper": truth * (1 + 1e-9)}))
        self.assertGreater(noticed, 5)

    def test_no_bound_contradicts_the_sum_over_all_outcomes(self):
        cases = [Case(seed) for seed in range(SEED, SEED + CASES)]
        asked = [(case, name, accountant, {"accountant": accountant, "neighboringRelation": case.relation,
                                           "events": case.events, "query": query})
                 for case in cases for name, query in queries_of(case).items() for accountant in accountants_of(case)]
        said = subprocess.run([self.epsctl, "compute"], input="".join(json.dumps(line[-1]) + "\n" for line in asked),
                              capture_output=True, text=True, check=False)
        answers = [json.loads(line) for line in said.stdout.splitlines()]
        self.assertEqual(len(answers), len(asked), said.stderr)
        bounds, exact = 0, 0
        for (case, name, accountant, request), answer in zip(asked, answers):
            if "error" in answer:
                self.assertEqual(answer["error"]["code"], "UNIMPLEMENTED", "%s: %s" % (json.dumps(request), answer))
                continue
            bounds += 1
            exact += case.exact
            problem = problem_of(case, name, answer)
            if problem is not None:
                with self.subTest(seed=case.seed, query=name, accountant=accountant):
                    self.fail("%s -> upper %s, lower %s: %s" % (
                        json.dumps(request), answer.get("upper"), answer.get("lower"), problem))
        self.assertGreater(bounds, 10 * CASES)
        self.assertGreater(exact, 2 * CASES)


if __name__ == "__main__":
    Enumeration.epsctl = os.path.join(sys.argv[1], "client", "cli", "epsctl")
    unittest.main(argv=sys.argv[:1])
