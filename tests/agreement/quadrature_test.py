"""Two noisy releases against quadrature over their joint law (joint_laws.py): quadrature_test.py BUILD_DIR

EPSLEDGER_EXACT_CASES sets the number of cases, EPSLEDGER_EXACT_SEED the first seed."""
import json
import math
import os
import sys
import unittest

from epsctl_answers import answers_of
from joint_laws import ABSOLUTE, LARGEST_STEP, RELATIVE, JointCase, joint_delta

CASES = int(os.environ.get("EPSLEDGER_EXACT_CASES", 40))
SEED = int(os.environ.get("EPSLEDGER_EXACT_SEED", 1))


class Quadrature(unittest.TestCase):
    epsctl = None

    def test_one_release_by_quadrature_is_its_closed_form(self):
        for seed in range(SEED, SEED + 10):
            for release in JointCase(seed).releases:
                for removed in (True, False):
                    points, step = release.grid(LARGEST_STEP)
                    laws = [release.laws(x) if removed else release.laws(x)[::-1] for x in points]
                    for epsilon in (-0.3, 0.0, 0.2):
                        summed = step * sum(max(p - math.exp(epsilon) * q, 0) for p, q in laws)
                        self.assertAlmostEqual(release.delta(epsilon, removed), summed, delta=1e-5)

    def test_the_order_of_the_releases_does_not_matter(self):
        for seed in range(SEED, SEED + 5):
            case = JointCase(seed)
            first, second = case.releases
            for removed in (True, False):
                one = joint_delta(first, second, case.epsilon, removed)
                self.assertAlmostEqual(one, joint_delta(second, first, case.epsilon, removed),
                                       delta=RELATIVE * one + ABSOLUTE)

    def test_no_bound_contradicts_the_joint_law(self):
        cases = [JointCase(seed) for seed in range(SEED, SEED + CASES)]
        asked = [(case, *line) for case in cases for line in case.asked()]
        answers = answers_of(self.epsctl, [request for _, _, request in asked])
        for (case, name, request), answer in zip(asked, answers):
            with self.subTest(json.dumps(request)):
                self.assertNotIn("error", answer)
                self.assertIsNone(case.problem(name, answer), answer)


if __name__ == "__main__":
    Quadrature.epsctl = os.path.join(sys.argv[1], "client", "cli", "epsctl")
    unittest.main(argv=sys.argv[:1])
