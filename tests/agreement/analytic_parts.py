"""Random analytics: noisy maxima, thresholds, partitions, shuffled reports, matrix mechanisms."""
import itertools
import math
from fractions import Fraction

import exact_laws as laws
import noise_laws
from parts import Part, any_delta, any_epsilon, binomial, log_uniform, whole_numbers
from noise_parts import gaussian_at
from promise_parts import approximate, pure


def bounded_range(draw, setting):
    """A loss in an interval of length epsilon for every unit of the group."""
    epsilon = any_epsilon(draw)
    base = [x for x in whole_numbers(draw, draw.randint(2, 5), 64) if x]
    steps = [draw.choice([Fraction(0), Fraction(1), Fraction(1, 3)]) for _ in base]
    pair = laws.bounded_range(base, steps, Fraction(epsilon) * setting.group)
    return Part({"exponentialMechanism": {"epsilon": epsilon}}, laws.merged(pair), False)


def permute_and_flip(draw, setting):
    """One-sided exponential noise of scale 2 / epsilon. Each score moves by at most 1 for every unit."""
    epsilon = any_epsilon(draw) + 0.01
    count = draw.randint(2, 4)
    scores = [Fraction(draw.randint(-6, 6)) for _ in range(count)]
    moved = [x + draw.choice([-1, 0, 1, 1]) * setting.group for x in scores]
    pair = zip(*(permuted_and_flipped(at, Fraction(epsilon) / 2) for at in (scores, moved)))
    return Part({"permuteAndFlip": {"epsilon": epsilon}}, laws.merged(pair), False)


def permuted_and_flipped(scores, rate):
    """The first index, in random order, whose coin with probability e^(rate (score - largest)) shows heads."""
    largest = max(scores)
    heads = [laws.exp(rate * (x - largest)) for x in scores]
    law = [Fraction(0)] * len(scores)
    orders = list(itertools.permutations(range(len(scores))))
    for order in orders:
        left = Fraction(1, len(orders))
        for i in order:
            law[i] += left * heads[i]
            left *= 1 - heads[i]
    return law


def _softmax(scores, rate):
    weights = [laws.exp(rate * (x - max(scores))) for x in scores]
    return [w / sum(weights) for w in weights]


def noisy_max(draw, setting):
    """One record moves each score by at most 1, in one direction where scores are monotonic; a record that is replaced
    is one removed and one added, and moves it by at most 1 altogether where the noise is stated for that."""
    noise, scale = draw.choice(["LAPLACE", "EXPONENTIAL", "GUMBEL"]), log_uniform(draw, 0.5, 10)
    monotonic = draw.random() < 0.5
    count = 2 if noise == "LAPLACE" else draw.randint(2, 4)
    scores = [Fraction(draw.randint(-24, 24), 4) for _ in range(count)]
    moved = [x + change for x, change in zip(scores, _changes(draw, setting, monotonic, count))]
    rate = 1 / Fraction(scale)
    law = {"LAPLACE": lambda at: laws.noisy_max_of_two("LAPLACE", at[0] - at[1], scale),
           "EXPONENTIAL": lambda at: permuted_and_flipped(at, rate), "GUMBEL": lambda at: _softmax(at, rate)}[noise]
    event = {"reportNoisyMax": {"noise": noise, "noiseMultiplier": scale, "monotonic": monotonic}}
    return Part(event, laws.merged(zip(law(moved), law(scores))), False)


def _changes(draw, setting, monotonic, count):
    """How the group changes `count` scores or queries. Each record adds between 0 and `contribution` to all, or takes
    that away, and where they are not monotonic, does either."""
    size = setting.group * setting.contribution
    sign = draw.choice([-1, 1])
    adds = [draw.choice([0, 1]) if monotonic else draw.choice([-1, 1]) for _ in range(count)]
    if not setting.replaced:
        return [sign * size * x for x in adds]
    if setting.stated_for_replacement:
        # Records whose replacement moves a score by at most 1.
        return [2 * size * draw.choice([-1, 1]) for _ in range(count)]
    takes = [draw.choice([0, 1]) if monotonic else draw.choice([-1, 1]) for _ in range(count)]
    return [sign * size * (x - y) for x, y in zip(adds, takes)]


def partition(draw, setting):
    """The noisy size of a partition, or nothing; key or size. `group` units of it are there or not."""
    if setting.replaced:
        return pure(draw, setting)
    kind, scale, threshold = draw.choice(["LAPLACE", "GAUSSIAN"]), log_uniform(draw, 0.7, 4), draw.uniform(0.5, 12)
    noise = noise_laws.Laplace() if kind == "LAPLACE" else noise_laws.Gaussian()
    before = draw.choice([0, 0, 1, 2, 5])
    places = [[(1, size / Fraction(scale))] for size in (before + setting.group, before)]
    first = Fraction(threshold) / Fraction(scale)
    cuts = [first] + [first + Fraction(draw.uniform(0, 8)) for _ in range(7)]
    cuts += [x for x in noise_laws.cuts_of(draw, noise, places, setting.epsilon, 0) if first < x]
    pair = noise_laws.binned(noise, places, sorted(set(cuts)))
    if before == 0:
        pair = [(p, Fraction(int(i == 0))) for i, (p, _) in enumerate(pair)]
    return Part({"partitionSelection": {"noise": kind, "noiseMultiplier": scale, "threshold": threshold}},
                laws.merged(pair), False)


def truncated_geometric(draw, setting):
    if setting.replaced:
        return pure(draw, setting)
    epsilon, delta = any_epsilon(draw), any_delta(draw) + 1e-6
    factor, probability, at = laws.exp(epsilon), Fraction(0), [Fraction(0)]
    for _ in range(draw.randint(0, 9) + setting.group):
        probability = min(factor * probability + Fraction(delta), 1 - (1 - probability - Fraction(delta)) / factor,
                          Fraction(1))
        at.append(probability)
    after, before = at[-1], at[-1 - setting.group]
    pair = [outcome for outcome in ((after, before), (1 - after, 1 - before)) if outcome != (0, 0)]
    return Part({"truncatedGeometricSelection": {"epsilon": epsilon, "delta": delta}}, laws.merged(pair), False)


def shuffled(draw, setting):
    """Reports 0 or 1. The others hold what they like; the record what makes 1 least and most likely."""
    if not setting.replaced or setting.group > 1:
        return approximate(draw, setting)
    reports = draw.randint(1, 12)
    if draw.random() < 0.5:
        flip = draw.uniform(0.05, 0.95)
        event = {"randomizedResponse": {"noiseParameter": flip, "numBuckets": "2"}}
        low = Fraction(flip) / 2
    else:
        epsilon = any_epsilon(draw)
        event, low = {"pureDp": {"epsilon": epsilon}}, 1 / (1 + laws.exp(epsilon))
    ones = draw.choice([0, draw.randint(0, reports - 1)])  # of the others
    others = [sum(a * b for a, b in ((x, y) for i, x in enumerate(binomial(ones, 1 - low))
                                     for j, y in enumerate(binomial(reports - 1 - ones, low)) if i + j == k))
              for k in range(reports)]

    def with_one(one):
        return [(others[k] * (1 - one) if k < reports else 0) + (others[k - 1] * one if k else 0)
                for k in range(reports + 1)]

    return Part({"shuffled": {"reports": str(reports), "event": event}},
                laws.merged(zip(with_one(1 - low), with_one(low))), False)


# --- The sparse vector technique. -----------------------------------------------------------------------


def law_of_answers(threshold, query, cutoff, answers):
    """{answers: probability} of queries with true answers relative to the threshold; both scales are fractions.

    Given the noise x of the threshold the answers are independent. Between the places where an exponent changes its sign
    their probability is a sum of c e^(a x), which is integrated as it stands."""
    places = sorted({Fraction(0), *answers})
    pieces = list(zip([None, *places], [*places, None]))
    found = {}

    def side(low, high, place):
        return high is not None and high <= place  # x is below `place`

    def factors(low, high):
        down = side(low, high, Fraction(0))
        density = {(1 if down else -1) / threshold: 1 / (2 * threshold)}
        for at in answers:
            # P[at + nu >= x], nu of scale `query`.
            if side(low, high, at):
                above = {Fraction(0): Fraction(1), 1 / query: -laws.exp(-at / query) / 2}
            else:
                above = {-1 / query: laws.exp(at / query) / 2}
            yield above
        yield density

    def walk(said, terms, rest, low, high, last):
        if not rest or said.count(1) == cutoff:
            total = sum((_integral(c, a, low, high) for a, c in _times(terms, last).items()), Fraction(0))
            found[said] = found.get(said, Fraction(0)) + total
            return
        below = {a: -c for a, c in rest[0].items()}
        below[Fraction(0)] = below.get(Fraction(0), Fraction(0)) + 1
        walk(said + (1,), _times(terms, rest[0]), rest[1:], low, high, last)
        walk(said + (0,), _times(terms, below), rest[1:], low, high, last)

    for low, high in pieces:
        *above, density = factors(low, high)
        walk((), {Fraction(0): Fraction(1)}, above, low, high, density)
    return found


def _times(first, second):
    terms = {}
    for a, c in first.items():
        for b, d in second.items():
            terms[a + b] = laws_rounded(terms.get(a + b, Fraction(0)) + c * d)
    return terms


def laws_rounded(x):
    return laws.rounded(x) if x >= 0 else -laws.rounded(-x)


def _integral(coefficient, exponent, low, high):
    if coefficient == 0:
        return Fraction(0)
    if exponent == 0:
        return coefficient * (high - low)
    at_high = Fraction(0) if high is None else laws.exp(exponent * high)
    at_low = Fraction(0) if low is None else laws.exp(exponent * low)
    return coefficient * (at_high - at_low) / exponent


def above_threshold(draw, setting):
    threshold, query = (Fraction(round(log_uniform(draw, 0.6, 6) * 64), 64) for _ in range(2))
    cutoff, monotonic, count = draw.randint(1, 2), draw.random() < 0.5, draw.randint(1, 4)
    answers = [Fraction(draw.randint(-12, 8), 2) for _ in range(count)]
    if draw.random() < 0.5:
        answers = [answers[0]] * (count - 1) + [answers[-1]]
    moved = [x + change for x, change in zip(answers, _changes(draw, setting, monotonic, count))]
    laws_of = [law_of_answers(threshold, query, cutoff, at) for at in (moved, answers)]
    pair = laws.merged((max(laws_of[0][said], 0), max(laws_of[1][said], 0)) for said in laws_of[1])
    event = {"aboveThreshold": {"thresholdNoiseMultiplier": float(threshold), "queryNoiseMultiplier": float(query),
                                "cutoff": str(cutoff), "monotonic": monotonic}}
    return Part(event, pair, False)


# --- Matrices. ------------------------------------------------------------------------------------------


def _strategy(draw, steps):
    """A strategy's fields, and its columns."""
    kind = draw.choice(["MATRIX", "TOEPLITZ", "BUFFERED_TOEPLITZ", "SQUARE_ROOT", "BINARY_TREE", "IDENTITY"])
    if kind == "MATRIX":
        rows = draw.randint(1, steps + 1)
        entries = [[draw.choice([0.0, 1.0, -1.0, draw.uniform(-2, 2)]) for _ in range(steps)] for _ in range(rows)]
        return {"strategy": kind, "entries": sum(entries, [])}, [list(column) for column in zip(*entries)]
    if kind == "BINARY_TREE":
        blocks = [(j << level, (j + 1) << level) for level in range(steps.bit_length()) for j in range(steps >> level)]
        return {"strategy": kind}, [[float(a <= s < b) for a, b in blocks] for s in range(steps)]
    fields = {"strategy": kind}
    if kind == "TOEPLITZ":
        first = [draw.choice([1.0, 0.5, -0.5, draw.uniform(-1, 1)]) for _ in range(draw.randint(1, steps))]
        fields["coefficients"] = first
    elif kind == "BUFFERED_TOEPLITZ":
        scales, decays = [[draw.uniform(0, 1) for _ in range(2)] for _ in range(2)]
        fields.update({"outputScales": scales, "decays": decays})
        first = [1.0] + [sum(w * d**(t - 1) for w, d in zip(scales, decays)) for t in range(1, steps)]
    elif kind == "SQUARE_ROOT":
        fields["bands"] = str(draw.randint(1, steps))
        first = [math.comb(2 * t, t) / 4**t for t in range(int(fields["bands"]))]
    else:
        first = [1.0]
    first = first + [0.0] * (steps - len(first))
    return fields, [[0.0] * s + first[:steps - s] for s in range(steps)]


def _sensitivity(draw, columns, most, separation):
    """The largest norm of C U that a search finds: all sets of steps, contributions in three dimensions that are turned
    to the sum of all others, one after another."""
    steps, best = len(columns), 0.0
    gram = [[math.fsum(x * y for x, y in zip(a, b)) for b in columns] for a in columns]
    for size in range(1, most + 1):
        for chosen in itertools.combinations(range(steps), size):
            if any(b - a < separation for a, b in zip(chosen, chosen[1:])):
                continue
            units = [_on_sphere([draw.gauss(0, 1) for _ in range(3)]) for _ in chosen]
            for _ in range(30 if size > 2 else 2):
                for i, s in enumerate(chosen):
                    pull = [math.fsum(gram[s][t] * unit[axis] for t, unit in zip(chosen, units) if t != s)
                            for axis in range(3)]
                    units[i] = _on_sphere(pull) if any(pull) else units[i]
            square = math.fsum(gram[s][t] * sum(x * y for x, y in zip(u, v))
                               for s, u in zip(chosen, units) for t, v in zip(chosen, units))
            best = max(best, square)
    return math.sqrt(best) * (1 - 1e-12)


def _on_sphere(vector):
    norm = math.hypot(*vector)
    return [x / norm for x in vector] if norm else [1.0, 0.0, 0.0]


def matrix_mechanism(draw, setting):
    steps = draw.randint(1, 6)
    most, separation = draw.randint(1, steps), draw.randint(1, steps)
    fields, columns = _strategy(draw, steps)
    sensitivity = _sensitivity(draw, columns, most, separation)
    scale = log_uniform(draw, 0.5, 3) * max(sensitivity, 0.1)
    event = {"matrixMechanism": {"noiseMultiplier": scale, "steps": str(steps), "maxParticipations": str(most),
                                 "minSeparation": str(separation), **fields}}
    return gaussian_at(draw, setting, event, sensitivity / scale)
