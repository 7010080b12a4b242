"""What a random case is made of: its setting, and events with laws that they allow."""
import itertools
import math
import random
from fractions import Fraction

import exact_laws as laws

RELATIONS = ("ADD_OR_REMOVE_ONE", "REPLACE_ONE", "REPLACE_SPECIAL")


class Setting:
    """Who is protected, against which direction, and the epsilon that will be asked about."""

    def __init__(self, draw):
        self.relation = draw.choice(RELATIONS)
        self.group = draw.choice([1] * 10 + [2, 3])
        self.adjacency = draw.choice(["", "", "REMOVE", "ADD"]) if self.relation == RELATIONS[0] else ""
        # Noise multipliers refer to the change by a replacement.
        self.stated_for_replacement = self.relation == "REPLACE_ONE" and draw.random() < 0.25
        self.epsilon = draw.choice([0.0, draw.uniform(0, 2), draw.uniform(0, 8)])

    @property
    def replaced(self):
        return self.relation == "REPLACE_ONE"

    @property
    def contribution(self):
        """The largest norm of what one record adds, in the units of noise multipliers."""
        return Fraction(1, 2) if self.stated_for_replacement else Fraction(1)

    def fields(self):
        fields = {"neighboringRelation": self.relation}
        if self.adjacency:
            fields["adjacency"] = self.adjacency
        if self.group > 1:
            fields["groupSize"] = str(self.group)
        if self.stated_for_replacement:
            fields["sensitivityRelation"] = "REPLACE_ONE"
        return fields


class Part:
    """One event in a case: its JSON, its pair, and if this pair is the worst in the worse of both directions.

    `laws3` has, outcome by outcome, the laws with one record, with another one in its place, and without it, where the
    event is noise on a sum, so that one can sample around it."""

    def __init__(self, event, pair, exact, laws3=None):
        self.event, self.pair, self.exact, self.laws3 = event, pair, exact, laws3


def part_of(event, laws3, setting, exact=False):
    pair = laws.merged((a, b if setting.replaced else w) for a, b, w in laws3)
    return Part(event, pair, exact, laws3)


def joint(*lists):
    """Independent releases, law by law."""
    return [tuple(map(math.prod, zip(*outcomes))) for outcomes in itertools.product(*lists)]


def whole_numbers(draw, count, total):
    """`count` numbers of `total` as probabilities: fractions with a power of two below, so that doubles hold them."""
    cuts = sorted(draw.choices(range(total + 1), k=count - 1))
    return [Fraction(b - a, total) for a, b in zip([0, *cuts], [*cuts, total])]


def positive_numbers(draw, count, total):
    cuts = sorted(random.Random(draw.random()).sample(range(1, total), count - 1))
    return [Fraction(b - a, total) for a, b in zip([0, *cuts], [*cuts, total])]


def log_uniform(draw, low, high):
    return math.exp(draw.uniform(math.log(low), math.log(high)))


def any_epsilon(draw):
    return draw.choice([0.0, log_uniform(draw, 1e-3, 4)])


def any_delta(draw):
    return draw.choice([0.0, log_uniform(draw, 1e-9, 0.1)])


def any_probability(draw):
    return draw.choice([1.0, draw.uniform(0.01, 1), log_uniform(draw, 1e-4, 1)])


def binomial(n, q):
    return [math.comb(n, j) * q**j * (1 - q)**(n - j) for j in range(n + 1)]


def two_laws(draw):
    outcomes, total = draw.randint(2, 4), 2**draw.randint(3, 10)
    return whole_numbers(draw, outcomes, total), whole_numbers(draw, outcomes, total)


def pair_event(first, second):
    return {"dominatingPair": {"firstProbabilities": list(map(float, first)),
                               "secondProbabilities": list(map(float, second))}}
