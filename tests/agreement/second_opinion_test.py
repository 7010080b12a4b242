"""The short form of second_opinion.py, and what it rests on: second_opinion_test.py BUILD_DIR

The long form is `./dev agreement`."""
import collections
import json
import math
import os
import random
import sys
import unittest
from fractions import Fraction

import exact_laws as laws
import noise_laws
from analytic_parts import law_of_answers, permuted_and_flipped
from enumerated import EnumeratedCase, all_deltas, asked, problem_of
from epsctl_answers import answers_of
from inversion import Release, delta_by_inversion
from random_cases import PARTS, kinds_of
from second_opinion import Tally, family_of, run

ROOT = os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "..")
sys.path.insert(0, os.path.join(ROOT, "client", "python"))

from epsledger import events  # pylint: disable=wrong-import-position

SEEDS = range(1, 301)
# Every accountant is asked everything about these.
THOROUGH = range(100001, 100021)


class Truth(unittest.TestCase):
    """The oracles against what is known in closed form."""

    def test_laws_are_laws(self):
        for seed in SEEDS:
            case = EnumeratedCase(seed)
            for law in zip(*case.pair):
                self.assertLess(abs(sum(law) - 1), laws.SLACK, "seed %d" % seed)

    def test_every_part_and_every_kind_of_event_is_drawn(self):
        kinds = collections.Counter(kind for seed in range(1, 601) for event in EnumeratedCase(seed).events
                                    for kind in kinds_of(event["event"]))
        self.assertEqual(set(events.KINDS) - set(kinds), set())
        self.assertGreaterEqual(len(PARTS), 36)

    def test_normal_tails_are_those_of_the_table(self):
        for x, tail in ((0, "0.5"), (1, "0.158655253931457051414767454367962077522087033273395"),
                        (6, "9.86587645037698140700864132398305e-10"), (10, "7.61985302416052606597334325e-24"),
                        (-1, "0.841344746068542948585232545632037922477912966726604")):
            known = Fraction(tail)
            self.assertLess(abs(noise_laws.normal_tail(Fraction(x)) / known - 1), Fraction(1, 10**24), x)

    def test_tails_of_noise_on_integers_are_sums(self):
        for noise, weight in ((noise_laws.DiscreteLaplace(0.7), lambda k: math.exp(-0.7 * abs(k))),
                              (noise_laws.DiscreteGaussian(1.2), lambda k: math.exp(-k * k / (2 * 1.2**2)))):
            weights = {k: weight(k) for k in range(-60, 61)}
            for cut in (-3.5, -0.5, 0.5, 4.5):
                share = sum(w for k, w in weights.items() if k > cut) / sum(weights.values())
                self.assertAlmostEqual(float(noise.tail(Fraction(cut))), share, places=14)

    def test_bins_at_the_loss_have_the_closed_form_of_gaussian_noise(self):
        for mu, epsilon in ((Fraction(1, 2), 0.25), (Fraction(1), 1.0), (Fraction(2), 0.5)):
            mixtures = [(1, mu)], [(1, Fraction(0))]
            cuts = noise_laws.cuts_of(random.Random(1), noise_laws.Gaussian(), mixtures, epsilon, 3)
            binned = laws.merged(noise_laws.binned(noise_laws.Gaussian(), mixtures, cuts))
            tail = lambda x: math.erfc(x / math.sqrt(2)) / 2
            exact = tail(epsilon / mu - mu / 2) - math.exp(epsilon) * tail(epsilon / mu + mu / 2)
            self.assertAlmostEqual(float(laws.delta_at(binned, epsilon)), float(exact), places=10)

    def test_the_sparse_vector_technique_by_simulation(self):
        answers, scales, cutoff, runs = [Fraction(-1), Fraction(1, 2), Fraction(0)], (1.5, 2.0), 2, 40000
        law = law_of_answers(*map(Fraction, scales), cutoff, answers)
        self.assertLess(abs(sum(law.values()) - 1), laws.SLACK)
        draw, seen = random.Random(7), collections.Counter()
        laplace = lambda scale: scale * draw.choice([-1, 1]) * draw.expovariate(1)
        for _ in range(runs):
            threshold, said = laplace(scales[0]), ()
            for answer in answers:
                said += (int(answer + laplace(scales[1]) >= threshold),)
                if said.count(1) == cutoff:
                    break
            seen[said] += 1
        self.assertEqual(set(seen) - set(law), set())
        for said, probability in law.items():
            expected = runs * float(probability)
            self.assertLess(abs(seen[said] - expected), 6 * math.sqrt(expected) + 1, said)

    def test_permute_and_flip_of_two_is_a_noisy_maximum(self):
        for gap in (0, 1, -3):
            law = permuted_and_flipped([Fraction(gap), Fraction(0)], Fraction(1, 2))
            known = laws.noisy_max_of_two("EXPONENTIAL", gap, 2)
            self.assertLess(abs(law[1] - known[0]), laws.SLACK)

    def test_inversion_of_gaussian_noise_is_its_closed_form(self):
        release = Release(None, [(1, 0.5)], [(1, 0.0)])
        for count, epsilon in ((1, 0.2), (4, 1.0), (9, 3.0)):
            mu = 0.5 * math.sqrt(count)
            tail = lambda x: math.erfc(x / math.sqrt(2)) / 2
            exact = tail(epsilon / mu - mu / 2) - math.exp(epsilon) * tail(epsilon / mu + mu / 2)
            found = delta_by_inversion([(release.losses(True, 0.1), count)], epsilon, 6)
            self.assertAlmostEqual(found / exact, 1, places=8)

    def test_a_bound_that_is_wrong_is_noticed(self):
        noticed = 0
        for case in map(EnumeratedCase, range(1, 61)):
            truth = float(all_deltas(case, case.epsilon))
            if truth < 1e-9:
                continue
            for answer in ({"upper": truth * (1 - 1e-9)}, {"lower": truth * (1 + 1e-9), "upper": 1}):
                if case.exact or "lower" not in answer:
                    self.assertIsNotNone(problem_of(case, "delta", answer), case.seed)
                    noticed += 1
            self.assertIsNone(problem_of(case, "delta", {"lower": truth * (1 - 1e-9), "upper": truth * (1 + 1e-9)}))
        self.assertGreater(noticed, 20)


class SecondOpinion(unittest.TestCase):
    epsctl = None

    def test_no_answer_contradicts_an_independent_truth(self):
        tally = Tally()
        run(self.epsctl, tally, SEEDS)
        self.assertEqual([json.dumps(wrong) for wrong in tally.wrong], [])
        self.assertEqual(tally.cases, len(SEEDS))
        for name in {family_of(seed)[0] for seed in SEEDS}:
            self.assertGreaterEqual(tally.rows["truth", name]["bounds"], 10, name)
        self.assertGreater(tally.rows["truth", "enumeration"]["bounds"], 3 * len(SEEDS))
        self.assertGreater(tally.rows["truth", "enumeration"]["two-sided"], len(SEEDS))

    def test_no_accountant_contradicts_the_laws_of_a_case(self):
        cases = [case for case in map(EnumeratedCase, THOROUGH) if [e["count"] for e in case.events] == ["1"]]
        lines = [(case, *line) for case in cases for line in asked(case, every=True)]
        answers = answers_of(self.epsctl, [request for _, _, request in lines])
        for (case, name, request), answer in zip(lines, answers):
            with self.subTest(json.dumps(request)):
                if "error" in answer:
                    self.assertEqual(answer["error"]["code"], "UNIMPLEMENTED")
                else:
                    self.assertIsNone(problem_of(case, name, answer), answer)


if __name__ == "__main__":
    SecondOpinion.epsctl = os.path.join(sys.argv[1], "client", "cli", "epsctl")
    unittest.main(argv=sys.argv[:1])
