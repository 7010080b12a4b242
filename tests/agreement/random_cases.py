"""Random mechanisms: an event, and output laws on two neighbors that the event allows.

A case is exact if no mechanism of its event is easier to attack in the worse of both directions; otherwise its laws are
one example, and bound what is true from below."""
import math
import random
from fractions import Fraction

import exact_laws as laws

MOST_OUTCOMES = 1000
RELATIONS = ("ADD_OR_REMOVE_ONE", "REPLACE_ONE", "REPLACE_SPECIAL")


class Part:
    """One event in a case: its JSON, its pair, and if this pair is the worst."""

    def __init__(self, event, pair, exact):
        self.event, self.pair, self.exact = event, pair, exact


def _whole_numbers(draw, count, total):
    """`count` numbers of `total` as probabilities: fractions with a power of two below, so that doubles hold them."""
    cuts = sorted(draw.choices(range(total + 1), k=count - 1))
    return [Fraction(b - a, total) for a, b in zip([0, *cuts], [*cuts, total])]


def _epsilon(draw):
    return draw.choice([0.0, math.exp(draw.uniform(math.log(1e-3), math.log(4)))])


def _delta(draw):
    return draw.choice([0.0, math.exp(draw.uniform(math.log(1e-9), math.log(0.1)))])


def pure(draw, relation):
    epsilon = _epsilon(draw)
    return Part({"pureDp": {"epsilon": epsilon}}, laws.approximate(epsilon, 0), True)


def approximate(draw, relation):
    epsilon, delta = _epsilon(draw), _delta(draw)
    kind = draw.choice(["approximateDp", "unverifiedClaim"])
    return Part({kind: {"epsilon": epsilon, "delta": delta}}, laws.approximate(epsilon, delta), True)


def response(draw, relation):
    if relation == "ADD_OR_REMOVE_ONE":
        return pure(draw, relation)
    flip, buckets = draw.uniform(0.01, 0.99), draw.randint(2, 6)
    return Part({"randomizedResponse": {"noiseParameter": flip, "numBuckets": str(buckets)}},
                laws.randomized_response(flip, buckets, relation == "REPLACE_SPECIAL"), True)


def discrete_laplace(draw, relation):
    rate, sensitivity = draw.uniform(0.05, 2), draw.randint(1, 3)
    shift = 2 * sensitivity if relation == "REPLACE_ONE" else sensitivity
    return Part({"discreteLaplace": {"noiseParameter": rate, "sensitivity": str(sensitivity)}},
                laws.discrete_laplace(rate, shift), True)


def _two_laws(draw):
    outcomes, total = draw.randint(2, 4), 2**draw.randint(3, 10)
    return _whole_numbers(draw, outcomes, total), _whole_numbers(draw, outcomes, total)


def _pair_event(first, second):
    return {"dominatingPair": {"firstProbabilities": list(map(float, first)),
                               "secondProbabilities": list(map(float, second))}}


def pair_of_laws(draw, relation):
    first, second = _two_laws(draw)
    # Under replace-one each use may be met in either order; this is one.
    return Part(_pair_event(first, second), laws.merged(zip(first, second)), relation != "REPLACE_ONE")


def sampled_pair(draw, relation):
    if relation == "REPLACE_ONE":
        return sampled_black_box(draw, relation)
    first, second = _two_laws(draw)
    q = draw.choice([0.0, 1.0, draw.uniform(0, 1), math.exp(draw.uniform(math.log(1e-4), 0))])
    event = {"poissonSampled": {"samplingProbability": q, "event": _pair_event(first, second)}}
    if relation == "REPLACE_SPECIAL":
        return Part(event, told(Fraction(q), zip(first, second)), True)
    return Part(event, laws.merged(zip(laws.mixture(Fraction(q), first, second), second)), True)


def told(q, pair):
    """A mechanism that also says if the sample held the record's place, which against nothing is allowed."""
    return laws.merged([(q * p, q * r) for p, r in pair] + [(1 - q, 1 - q)])


def sampled_black_box(draw, relation):
    """An (epsilon, delta)-DP mechanism on a sample. Replaced: with the same law on samples without the record.
    Against nothing: one that also says if the sample held the record's place."""
    inner = approximate(draw, relation)
    if draw.random() < 0.5:
        q = Fraction(draw.uniform(0, 1))
        event = {"poissonSampled": {"samplingProbability": float(q), "event": inner.event}}
    else:
        size, dataset = draw.randint(1, 9), 10
        q = Fraction(size, dataset)
        event = {"sampledWithoutReplacement": {"datasetSize": str(dataset), "sampleSize": str(size),
                                               "event": inner.event}}
    if relation == "REPLACE_SPECIAL" and "poissonSampled" in event:
        return Part(event, told(q, inner.pair), False)
    without = [r for _, r in inner.pair]
    first = laws.mixture(q, [p for p, _ in inner.pair], without)
    return Part(event, laws.merged(zip(first, without)), False)


def bounded_range(draw, relation):
    epsilon = _epsilon(draw)
    base = [x for x in _whole_numbers(draw, draw.randint(2, 5), 64) if x]
    pair = laws.bounded_range(base, [draw.choice([Fraction(0), Fraction(1), Fraction(1, 3)]) for _ in base], epsilon)
    return Part({"exponentialMechanism": {"epsilon": epsilon}}, laws.merged(pair), False)


def permute_and_flip(draw, relation):
    """Of two candidates: one-sided exponential noise of scale 2 / epsilon. Each score moves by at most 1."""
    epsilon = _epsilon(draw) + 0.01
    gap, move = Fraction(draw.randint(-6, 6)), draw.choice([-2, -1, 1, 2])
    pair = zip(*(laws.noisy_max_of_two("EXPONENTIAL", at, 2 / Fraction(epsilon)) for at in (gap, gap + move)))
    return Part({"permuteAndFlip": {"epsilon": epsilon}}, laws.merged(pair), False)


def noisy_max(draw, relation):
    noise, scale = draw.choice(["LAPLACE", "EXPONENTIAL", "GUMBEL"]), draw.uniform(0.5, 10)
    monotonic = draw.random() < 0.5
    # One record moves each of the two scores by at most 1, in one direction where they are monotonic; a record that is
    # replaced is one removed and one added.
    most = (1 if monotonic else 2) * (2 if relation == "REPLACE_ONE" else 1)
    gap, move = Fraction(draw.randint(-24, 24), 4), draw.choice([-most, most])
    pair = zip(*(laws.noisy_max_of_two(noise, at, scale) for at in (gap, gap + move)))
    return Part({"reportNoisyMax": {"noise": noise, "noiseMultiplier": scale, "monotonic": monotonic}},
                laws.merged(pair), False)


def partition(draw, relation):
    if relation == "REPLACE_ONE":
        return pure(draw, relation)
    epsilon, delta = _epsilon(draw), _delta(draw) + 1e-6
    return Part({"truncatedGeometricSelection": {"epsilon": epsilon, "delta": delta}},
                laws.merged(laws.truncated_geometric(epsilon, delta, draw.randint(1, 12))), False)


def selection(draw, relation):
    base = draw.choice([pure, approximate, response])(draw, relation)
    mean, shape = draw.choice([1.0, draw.uniform(1, 20)]), draw.choice([1.0, math.inf])
    outcomes = list(base.pair)
    draw.shuffle(outcomes)
    return Part({"repeatAndSelect": {"event": base.event, "mean": mean,
                                     "shape": "Infinity" if shape == math.inf else shape}},
                laws.merged(laws.best_of(outcomes, mean, shape)), False)


def allocation(draw, relation):
    if relation != "ADD_OR_REMOVE_ONE":
        return pure(draw, relation)
    first, second = _two_laws(draw)
    rounds = draw.randint(1, 4)
    selected = draw.randint(1, rounds)
    return Part({"randomAllocation": {"rounds": str(rounds), "selected": str(selected),
                                      "event": _pair_event(first, second)}},
                laws.allocated(laws.merged(zip(first, second)), rounds, selected), False)


def shuffled(draw, relation):
    if relation != "REPLACE_ONE":
        return pure(draw, relation)
    flip, reports = draw.uniform(0.05, 0.95), draw.randint(1, 12)
    event = {"randomizedResponse": {"noiseParameter": flip, "numBuckets": "2"}}
    return Part({"shuffled": {"reports": str(reports), "event": event}},
                laws.merged(laws.shuffled_response(flip, reports)), False)


PARTS = (pure, approximate, response, discrete_laplace, pair_of_laws, sampled_pair, sampled_black_box, bounded_range,
         permute_and_flip, noisy_max, partition, selection, allocation, shuffled)


class Case:
    """One or two events in sequence, each once or twice, with random numbers of their own."""

    def __init__(self, seed):
        draw = random.Random(seed)
        self.seed, self.relation = seed, draw.choice(RELATIONS)
        parts, counts, outcomes = [], [], 1
        for _ in range(draw.choice([1, 1, 1, 1, 1, 2])):
            part, count = draw.choice(PARTS)(draw, self.relation), draw.choice([1, 1, 2])
            outcomes *= len(part.pair)**count
            if parts and outcomes > MOST_OUTCOMES:
                break
            parts.append(part)
            counts.append(count)
        self.events = [{"event": part.event, "count": str(count)} for part, count in zip(parts, counts)]
        pair = laws.product(*(part.pair for part, count in zip(parts, counts) for _ in range(count)))
        self.directions = (pair, laws.reverse(pair))
        self.exact = all(part.exact for part in parts)
        self.epsilon = draw.choice([0.0, draw.uniform(0, 2), draw.uniform(0, 8)])
        self.delta = math.exp(draw.uniform(math.log(1e-10), math.log(0.5)))
        self.alpha = draw.choice([draw.uniform(0, 1), math.exp(draw.uniform(math.log(1e-6), 0))])
        self.order = draw.choice([2, 3, 8, 32])
