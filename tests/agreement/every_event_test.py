"""Which accountants bound which kinds of events: every_event_test.py [--write] BUILD_DIR

Asks `epsctl compute` for epsilon of an example of every kind, under every relation and accountant. A finite bound is
missing only where EXCEPTIONS says why. The table of accounting/README.md is what was answered; `--write` writes it."""
import json
import math
import os
import subprocess
import sys
import unittest

import markdown_section

ROOT = os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "..")
sys.path.insert(0, os.path.join(ROOT, "client", "python"))

from epsledger import events as e  # pylint: disable=wrong-import-position

PAGE = os.path.join(ROOT, "accounting", "README.md")
RELATIONS = {"ADD_OR_REMOVE_ONE": "add or remove one", "REPLACE_ONE": "replace one",
             "REPLACE_SPECIAL": "replace special"}
# All that prove bounds; BEST answers where one of them does.
ACCOUNTANTS = ("BASIC", "ADVANCED", "OPTIMAL", "RENYI", "MOMENTS", "MOMENTS_HOLDER", "ZCDP", "GAUSSIAN", "PLD",
               "TRADE_OFF")
COUNT, DELTA = 3, 1e-5

GAUSSIAN = e.Gaussian(noise_multiplier=2)
SAMPLED = e.PoissonSampled(sampling_probability=0.1, event=GAUSSIAN)
RESPONSE = e.RandomizedResponse(noise_parameter=0.5, num_buckets=3)
EXAMPLES = (
    GAUSSIAN,
    e.Laplace(noise_multiplier=3),
    e.DiscreteGaussian(sigma=4, sensitivity=1),
    e.DiscreteLaplace(noise_parameter=0.4, sensitivity=1),
    RESPONSE,
    e.ExponentialMechanism(epsilon=0.4),
    e.PermuteAndFlip(epsilon=0.4),
    e.PureDp(epsilon=0.3),
    e.ApproximateDp(epsilon=0.3, delta=1e-9),
    e.Zcdp(rho=0.05),
    e.GaussianDp(mu=0.5),
    e.RenyiCurve(orders=[2, 8, 32], divergences=[0.1, 0.4, 1.6]),
    e.TradeOffCurve(type_one=[0, 0.1, 1], type_two=[1, 0.8, 0]),
    e.MixtureOfGaussians(noise_multiplier=2, sensitivities=[0, 1], probabilities=[0.9, 0.1]),
    SAMPLED,
    e.TruncatedPoissonSampled(sampling_probability=0.1, max_batch_size=20, dataset_size=100, event=GAUSSIAN),
    e.SampledWithoutReplacement(dataset_size=100, sample_size=10, event=GAUSSIAN),
    e.SampledWithReplacement(dataset_size=100, sample_size=10, event=GAUSSIAN),
    e.RandomAllocation(rounds=10, selected=1, event=GAUSSIAN),
    e.Composed(events=[e.CountedEvent(event=GAUSSIAN, count=2), e.CountedEvent(event=SAMPLED)]),
    e.SelfComposed(event=GAUSSIAN, count=3),
    e.TreeAggregation(noise_multiplier=4, step_count=30),
    e.BandedMatrixFactorization(noise_multiplier=4, bands=2, iterations=20, sampling_probability=0.1),
    e.RepeatAndSelect(event=GAUSSIAN, mean=5, shape=1),
    e.UnverifiedClaim(epsilon=0.3, delta=1e-9),
    e.NonPrivate(),
    e.DominatingPair(first_probabilities=[0.5, 0.3, 0.2], second_probabilities=[0.4, 0.3, 0.3]),
    e.ReportNoisyMax(noise="LAPLACE", noise_multiplier=4),
    e.AboveThreshold(threshold_noise_multiplier=8, query_noise_multiplier=16, cutoff=1),
    e.PartitionSelection(noise="GAUSSIAN", noise_multiplier=2, threshold=20),
    e.TruncatedGeometricSelection(epsilon=0.3, delta=1e-8),
    e.Shuffled(reports=1000, event=RESPONSE),
    e.MatrixMechanism(noise_multiplier=4, strategy="SQUARE_ROOT", steps=20, max_participations=3, min_separation=2,
                      bands=20),
)

# Where no accountant has a finite bound, and why.
LOCAL = "a local randomizer is defined for one record that is replaced ([FMT21])"
REPORTS = "one report more or less changes their number; proved for one record replaced ([FMT21])"
PARTITIONS = "the unit leaves one partition and enters another; proved for one unit added or removed ([DVGM22])"
REVEALED = "everything is released, by definition"
EXCEPTIONS = {
    ("randomizedResponse", "ADD_OR_REMOVE_ONE"): LOCAL,
    ("shuffled", "ADD_OR_REMOVE_ONE"): REPORTS,
    ("shuffled", "REPLACE_SPECIAL"): REPORTS,
    ("randomAllocation", "REPLACE_ONE"): "proved for one record added or removed ([FS25])",
    ("bandedMatrixFactorization", "REPLACE_ONE"): "proved for one record added or removed ([CGMMRTX23])",
    ("partitionSelection", "REPLACE_ONE"): PARTITIONS,
    ("truncatedGeometricSelection", "REPLACE_ONE"): PARTITIONS,
    ("nonPrivate", "ADD_OR_REMOVE_ONE"): REVEALED,
    ("nonPrivate", "REPLACE_ONE"): REVEALED,
    ("nonPrivate", "REPLACE_SPECIAL"): REVEALED,
}


def kind_of(event):
    return next(iter(event.to_json()))


def ask(epsctl):
    """{(kind, relation, accountant): the answer}, BEST included."""
    asked = [(event, relation, accountant) for event in EXAMPLES for relation in RELATIONS
             for accountant in (*ACCOUNTANTS, "BEST")]
    lines = "".join(json.dumps({
        "accountant": accountant, "neighboringRelation": relation, "query": {"epsilonAtDelta": DELTA},
        "events": [e.CountedEvent(event=event, count=COUNT).to_json()]}) + "\n"
                    for event, relation, accountant in asked)
    said = subprocess.run([epsctl, "compute"], input=lines, capture_output=True, text=True, check=False)
    answers = [json.loads(line) for line in said.stdout.splitlines()]
    if len(answers) != len(asked):
        raise ValueError("got %d answers, want %d: %s" % (len(answers), len(asked), said.stderr))
    return {(kind_of(event), relation, accountant): answer
            for (event, relation, accountant), answer in zip(asked, answers)}


def is_finite(answer):
    return "error" not in answer and math.isfinite(float(answer["upper"]))


def table(answers):
    lines = ["| event | " + " | ".join(RELATIONS.values()) + " |", "|---|" + "---|" * len(RELATIONS)]
    for kind in e.KINDS:
        cells = []
        for relation in RELATIONS:
            known = [accountant for accountant in ACCOUNTANTS if is_finite(answers[kind, relation, accountant])]
            cells.append(", ".join(known) or "none: " + EXCEPTIONS.get((kind, relation), "?"))
        same = ["as " + list(RELATIONS.values())[cells.index(cell)] if cell in cells[:i] else cell
                for i, cell in enumerate(cells)]
        lines.append("| %s | %s |" % (kind, " | ".join(same)))
    return "\n".join(lines)


class EveryEvent(unittest.TestCase):
    epsctl = None
    answers = None

    @classmethod
    def setUpClass(cls):
        cls.answers = ask(cls.epsctl)

    def test_every_kind_has_an_example(self):
        self.assertEqual([kind_of(event) for event in EXAMPLES], list(e.KINDS))

    def test_errors_are_those_of_missing_proofs(self):
        for asked, answer in self.answers.items():
            with self.subTest(asked):
                self.assertIn(answer.get("error", {}).get("code"), (None, "UNIMPLEMENTED"), answer)

    def test_every_kind_has_a_finite_bound_under_every_relation_or_a_reason(self):
        for kind in e.KINDS:
            for relation in RELATIONS:
                with self.subTest(kind, relation=relation):
                    known = any(is_finite(self.answers[kind, relation, accountant]) for accountant in ACCOUNTANTS)
                    self.assertEqual(known, (kind, relation) not in EXCEPTIONS)
                    self.assertEqual(known, is_finite(self.answers[kind, relation, "BEST"]))

    def test_the_smallest_bound_is_the_best(self):
        for kind in e.KINDS:
            for relation in RELATIONS:
                bounds = [float(self.answers[kind, relation, accountant]["upper"]) for accountant in ACCOUNTANTS
                          if is_finite(self.answers[kind, relation, accountant])]
                best = self.answers[kind, relation, "BEST"]
                if bounds:
                    with self.subTest(kind, relation=relation):
                        # BEST ends at an answer that is within its width, a thousandth, of the truth.
                        self.assertLessEqual(float(best["upper"]), min(bounds) * (1 + 1e-3))

    def test_reasons_cite_works_of_the_bibliography(self):
        with open(PAGE, encoding="utf-8") as stream:
            text = stream.read()
        for reason in EXCEPTIONS.values():
            for key in (part.split("]")[0] for part in reason.split("[")[1:]):
                self.assertIn("\n| %s |" % key, text)

    def test_the_page_has_what_was_answered(self):
        with open(PAGE, encoding="utf-8") as stream:
            text = stream.read()
        begin, end = "<!-- events:begin -->\n", "\n<!-- events:end -->"
        self.assertEqual(text[text.index(begin) + len(begin):text.index(end)], table(self.answers),
                         "run tests/agreement/every_event_test.py --write BUILD_DIR")


if __name__ == "__main__":
    arguments = [argument for argument in sys.argv[1:] if argument != "--write"]
    EveryEvent.epsctl = os.path.join(arguments[0], "client", "cli", "epsctl")
    if "--write" in sys.argv[1:]:
        markdown_section.replace(PAGE, "events", table(ask(EveryEvent.epsctl)))
        sys.exit(0)
    unittest.main(argv=sys.argv[:1])
