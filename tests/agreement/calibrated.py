"""Calibrations: at the value that is answered the history must meet its target, by laws of that value."""
import math
import random
from fractions import Fraction
from statistics import NormalDist

import exact_laws as laws
import noise_laws
from parts import binomial, log_uniform

# TRADE_OFF and BEST search the same losses as PLD, which takes seconds.
ACCOUNTANTS = ("BASIC", "OPTIMAL", "RENYI", "MOMENTS", "ZCDP", "GAUSSIAN")
CELLS = 40
NORMAL = NormalDist()


class CalibratedCase:
    """One event with a parameter left open, and a target. Its laws at a value bound from below what is true there."""
    truth = "laws at the answered value"
    # Some targets are out of reach.
    may_refuse = True

    def __init__(self, seed):
        draw = random.Random(seed)
        self.seed, self.draw = seed, random.Random(draw.random())
        self.relation = draw.choice(["ADD_OR_REMOVE_ONE", "REPLACE_SPECIAL", "REPLACE_ONE"])
        self.kind = draw.choice(["gaussian", "laplace", "discreteGaussian", "discreteLaplace", "pureDp"])
        self.group = draw.choice([1, 1, 1, 2])
        self.q = draw.choice([None, draw.uniform(0.01, 0.9)])
        if self.kind == "pureDp" or self.relation == "REPLACE_ONE":
            self.q = None
        if self.kind == "pureDp":
            self.group = 1
        self.fields = {"gaussian": {"noiseMultiplier": draw.uniform(0.7, 4)},
                       "laplace": {"noiseMultiplier": draw.uniform(0.7, 4)},
                       "discreteGaussian": {"sigma": draw.uniform(0.7, 1.5), "sensitivity": "1"},
                       "discreteLaplace": {"noiseParameter": draw.uniform(0.2, 1.5), "sensitivity": "1"},
                       "pureDp": {"epsilon": draw.uniform(0.01, 0.5)}}[self.kind]
        variables = ["COUNT"] if self.kind == "pureDp" else ["NOISE_MULTIPLIER"]
        if self.q is not None:
            variables.append("SAMPLING_PROBABILITY")
        if self.kind == "gaussian" and self.q is None:
            variables.append("COUNT")
        self.variable = draw.choice(variables)
        self.epsilon, self.delta = draw.uniform(0.05, 4), log_uniform(draw, 1e-9, 0.1)
        self.rate = log_uniform(draw, 1e-3, 0.5)
        self.power = draw.uniform(self.rate, 1)
        self.mu = draw.uniform(0.1, 3)
        targets = ["approximate", "point"] + ["mu"] * (self.kind == "gaussian" and self.q is None)
        self.target = draw.choice(targets)

    def kinds(self):
        return {self.kind} | ({"poissonSampled"} if self.q is not None else set())

    def asked(self):
        query = {"variable": self.variable, **{
            "approximate": {"epsilon": self.epsilon, "delta": self.delta}, "mu": {"mu": self.mu},
            "point": {"operatingPoint": {"falsePositiveRate": self.rate, "truePositiveRate": self.power}}}[self.target]}
        event = {self.kind: self.fields}
        if self.q is not None:
            event = {"poissonSampled": {"samplingProbability": self.q, "event": event}}
        fields = {"neighboringRelation": self.relation}
        if self.group > 1:
            fields["groupSize"] = str(self.group)
        accountants = self.draw.sample(ACCOUNTANTS, 3) + ["PLD"] * (self.draw.random() < 0.2)
        return [(self.target, {"accountant": accountant, **fields, "events": [{"event": event, "count": "1"}],
                               "query": {"calibrate": query}}) for accountant in accountants]

    def _pair(self, value):
        """The laws of the history with the value in its place."""
        fields, q, count = dict(self.fields), 1.0 if self.q is None else self.q, 1
        if self.variable == "SAMPLING_PROBABILITY":
            q = value
        elif self.variable == "COUNT":
            count = round(value)
        else:
            fields[next(iter(fields))] = value
        if self.kind == "pureDp":
            likely = laws.exp(fields["epsilon"]) / (1 + laws.exp(fields["epsilon"]))
            # By how many of the uses had the likelier outcome.
            law = binomial(count, likely) if count <= 400 else [Fraction(1)]
            return laws.merged(zip(law, reversed(law)))
        scale = Fraction(fields[next(iter(fields))])
        noise, unit = {"gaussian": lambda: (noise_laws.Gaussian(), Fraction(math.sqrt(count)) / scale),
                       "laplace": lambda: (noise_laws.Laplace(), 1 / scale),
                       "discreteGaussian": lambda: (noise_laws.DiscreteGaussian(float(scale)), Fraction(1)),
                       "discreteLaplace": lambda: (noise_laws.DiscreteLaplace(float(scale)), Fraction(1))}[self.kind]()
        first = [(w, j * unit) for j, w in enumerate(binomial(self.group, Fraction(q))) if w]
        second = [(w, -x) for w, x in first] if self.relation == "REPLACE_ONE" else [(1, Fraction(0))]
        if max(x for _, x in first) > 8:
            return [(Fraction(1), Fraction(1))]  # too far apart to be counted in cells
        cuts = noise_laws.cuts_of(random.Random(self.seed), noise, [first, second], self.epsilon, CELLS)
        return laws.merged(noise_laws.binned(noise, [first, second], cuts))

    def problem(self, name, answer):
        if "value" not in answer:
            return "there is no value"
        value = float(answer["value"])
        if not math.isfinite(value) or value == 0 or self.kind == "discreteGaussian" and value > 40:
            return None  # the end that costs nothing
        pair = self._pair(value)
        directions = (pair, laws.reverse(pair))
        if name == "approximate":
            delta = max(laws.delta_at(each, self.epsilon) for each in directions)
            # Of many uses the square root is a double.
            if delta > Fraction(self.delta) * (1 + Fraction(1, 10**13)):
                return "delta there is %.17g" % delta
        elif name == "point":
            error = laws.type_two_error_at(directions, self.rate)
            if error < 1 - Fraction(self.power) - Fraction(1, 10**13):
                return "a test reaches the rate %.17g" % (1 - error)
        else:
            for each in directions:
                for rate, error in laws.corners(each):
                    if 1e-9 < rate < 1 and float(error) < NORMAL.cdf(NORMAL.inv_cdf(float(1 - rate)) - self.mu) - 1e-9:
                        return "a test has the errors %.17g and %.17g" % (rate, error)
        return None

    def is_tight(self):
        return False
