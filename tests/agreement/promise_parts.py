"""Random events that promise something of an unknown mechanism, and mechanisms that keep the promise.

For a group a promise is used up one unit after another: a mechanism that answers "yes" with probability p_i on data with
i units of the group, where p_{i+1} is the largest that p_i allows."""
import math
from fractions import Fraction

import exact_laws as laws
import noise_laws
from noise_parts import direct
from parts import (Part, any_delta, any_epsilon, any_probability, binomial, joint, log_uniform, pair_event, part_of,
                   positive_numbers, two_laws)

HEADROOM = 1 + 1e-12  # of numbers that are computed in doubles


def yes_or_no(before, after):
    return [outcome for outcome in ((after, before), (1 - after, 1 - before)) if outcome != (0, 0)]


def _climb(start, step, group):
    at = start
    for _ in range(group):
        at = step(at)
    return yes_or_no(start, at)


def _allowed(epsilon, delta):
    """The largest probability of an event that (epsilon, delta) allows beside p, and of its complement."""
    factor, delta = laws.exp(epsilon), Fraction(delta)
    return lambda p: min(factor * p + delta, 1 - max(Fraction(0), (1 - p - delta) / factor), Fraction(1))


def _start(draw):
    return draw.choice([Fraction(0), Fraction(draw.randint(0, 64), 64), Fraction(log_uniform(draw, 1e-6, 1))])


def pure(draw, setting):
    epsilon = any_epsilon(draw)
    event = {"pureDp": {"epsilon": epsilon}}
    if setting.group > 1:
        return Part(event, laws.merged(_climb(_start(draw), _allowed(epsilon, 0), setting.group)), False)
    return Part(event, laws.approximate(epsilon, 0), True)


def approximate(draw, setting):
    epsilon, delta = any_epsilon(draw), any_delta(draw)
    event = {draw.choice(["approximateDp", "unverifiedClaim"]): {"epsilon": epsilon, "delta": delta}}
    if setting.group > 1:
        return Part(event, laws.merged(_climb(_start(draw), _allowed(epsilon, delta), setting.group)), False)
    return Part(event, laws.approximate(epsilon, delta), True)


def gaussian_dp(draw, setting):
    mu = log_uniform(draw, 0.05, 1.5)
    places = [(1, Fraction(mu) * setting.group)], [(1, Fraction(0))]
    noise = noise_laws.Gaussian()
    cuts = noise_laws.cuts_of(draw, noise, places, setting.epsilon, 9)
    return Part({"gaussianDp": {"mu": mu}}, laws.merged(noise_laws.binned(noise, places, cuts)), False)


def _divergence(pair, order):
    """Of both directions, in doubles, rounded up. Probabilities above 0."""
    largest = 0.0
    for p, q in (zip(*pair), zip(*laws.reverse(pair))):
        logs = [order * math.log(a) - (order - 1) * math.log(b) for a, b in zip(p, q)]
        top = max(logs)
        largest = max(largest, (top + math.log(math.fsum(math.exp(x - top) for x in logs))) / (order - 1))
    return largest * HEADROOM + 1e-14


def _any_pair(draw):
    count = draw.randint(2, 3)
    return list(zip(positive_numbers(draw, count, 256), positive_numbers(draw, count, 256)))


def zcdp(draw, setting):
    """Gaussian noise, which needs rho = mu^2/2; or a few outcomes, and the smallest rho or xi that they keep."""
    if setting.group > 1 or draw.random() < 0.3:
        part = gaussian_dp(draw, setting)
        mu = part.event["gaussianDp"]["mu"]
        return Part({"zcdp": {"rho": mu * mu / 2 * HEADROOM, "xi": 0}}, part.pair, False)
    pair = _any_pair(draw)
    orders = [1.02 * 1.05**i for i in range(200)]
    # The divergence does not fall with the order, so that between two orders that of the larger one holds.
    divergences = [_divergence(pair, order) for order in orders]
    last = max(abs(math.log(p / q)) for p, q in pair)
    bounds = list(zip([1.0] + orders, divergences + [last]))
    rho = max(d / order for order, d in bounds) * draw.choice([1, draw.uniform(0.1, 1)])
    xi = max(0.0, max(d - rho * order for order, d in bounds)) * HEADROOM
    return Part({"zcdp": {"rho": rho * HEADROOM, "xi": xi}}, pair, False)


def renyi_curve(draw, setting):
    orders = sorted({1 + log_uniform(draw, 0.1, 60) for _ in range(draw.randint(1, 4))})
    if setting.group > 1:
        part = gaussian_dp(draw, setting)
        mu = part.event["gaussianDp"]["mu"]
        pair, divergences = part.pair, [order * mu * mu / 2 * HEADROOM for order in orders]
    else:
        pair = _any_pair(draw)
        divergences = [_divergence(pair, order) for order in orders]
    for i in range(1, len(orders)):
        divergences[i] = max(divergences[i], divergences[i - 1])
    return Part({"renyiCurve": {"orders": orders, "divergences": divergences}}, pair, False)


def _interpolated(points, x):
    for (a, f), (b, g) in zip(points, points[1:]):
        if a <= x <= b:
            return f + (g - f) * (x - a) / (b - a)
    raise ValueError("%s is not between %s and %s" % (x, points[0][0], points[-1][0]))


def _random_curve(draw):
    """An event, the largest probability of "yes" that it allows, and the type I errors of the curve's corners. The curve
    holds for both orders of two neighbors, so that the larger of it and its inverse does."""
    pair = list(zip(*two_laws(draw)))
    lowest, inverse = {}, {Fraction(1): Fraction(0)}
    for x, y in laws.corners(pair):
        lowest[x] = min(y, lowest.get(x, y))
    points = sorted(lowest.items())
    for x, y in points:
        inverse[y] = min(x, inverse.get(y, x))
    inverse = sorted(inverse.items())
    event = {"tradeOffCurve": {"typeOne": [float(x) for x, _ in points], "typeTwo": [float(y) for _, y in points]}}
    return event, lambda p: 1 - max(_interpolated(points, p), _interpolated(inverse, p)), [x for x, _ in points]


def trade_off_curve(draw, setting):
    event, step, corners = _random_curve(draw)
    start = draw.choice([Fraction(draw.randint(0, 64), 64), draw.choice(corners)])
    return Part(event, laws.merged(_climb(start, step, setting.group)), False)


def response(draw, setting):
    if setting.relation == "ADD_OR_REMOVE_ONE" or setting.group > 1:
        return pure(draw, setting)
    flip, buckets = draw.uniform(0.01, 0.99), draw.randint(2, 6)
    return Part({"randomizedResponse": {"noiseParameter": flip, "numBuckets": str(buckets)}},
                laws.randomized_response(flip, buckets, setting.relation == "REPLACE_SPECIAL"), True)


def discrete_laplace(draw, setting):
    rate, sensitivity = draw.uniform(0.05, 2), draw.randint(1, 3)
    shift = (2 if setting.replaced else 1) * sensitivity * setting.group
    return Part({"discreteLaplace": {"noiseParameter": rate, "sensitivity": str(sensitivity)}},
                laws.discrete_laplace(rate, shift), True)


def pair_of_laws(draw, setting):
    if setting.group > 1:
        return approximate(draw, setting)
    first, second = two_laws(draw)
    event, pair = pair_event(first, second), list(zip(first, second))
    if draw.random() < 0.2:
        # A sum that is too small leaves mass missing: outcomes that the other law never has.
        less, other = 1 - Fraction(draw.randint(1, 15), 2**34), 1 - Fraction(draw.randint(0, 15), 2**34)
        pair = [(p * less, q * other) for p, q in pair]
        event = pair_event(*zip(*pair))
        pair += [(1 - less, Fraction(0)), (Fraction(0), 1 - other)]
    # Under replace-one each use may be met in either order; this is one.
    return Part(event, laws.merged(pair), not setting.replaced)


def sampled_pair(draw, setting):
    if setting.replaced or setting.group > 1:
        return sampled_black_box(draw, setting)
    first, second = two_laws(draw)
    q = draw.choice([0.0, any_probability(draw)])
    event = {"poissonSampled": {"samplingProbability": q, "event": pair_event(first, second)}}
    if setting.relation == "REPLACE_SPECIAL":
        return Part(event, _told(Fraction(q), zip(first, second)), True)
    return Part(event, laws.merged(zip(laws.mixture(Fraction(q), first, second), second)), True)


def _told(q, pair):
    """A mechanism that also says if the sample held the record's place, which against nothing is allowed."""
    return laws.merged([(q * p, q * r) for p, r in pair] + [(1 - q, 1 - q)])


def sampled_black_box(draw, setting):
    """An (epsilon, delta)-DP mechanism on a sample. Replaced: with the same law on samples without the record.
    Against nothing: one that also says if the sample held the record's place."""
    if setting.group > 1:
        return approximate(draw, setting)
    inner = draw.choice([approximate, zcdp, renyi_curve, trade_off_curve, gaussian_dp])(draw, setting)
    if draw.random() < 0.5:
        q = Fraction(any_probability(draw))
        event = {"poissonSampled": {"samplingProbability": float(q), "event": inner.event}}
    else:
        size, dataset = draw.randint(1, 9), 10
        q = Fraction(size, dataset)
        event = {"sampledWithoutReplacement": {"datasetSize": str(dataset), "sampleSize": str(size),
                                               "event": inner.event}}
    if setting.relation == "REPLACE_SPECIAL" and "poissonSampled" in event:
        return Part(event, _told(q, inner.pair), False)
    without = [r for _, r in inner.pair]
    first = laws.mixture(q, [p for p, _ in inner.pair], without)
    return Part(event, laws.merged(zip(first, without)), False)


def _promise(draw):
    """An event, and the largest probability of "yes" that it allows beside a given one."""
    epsilon, delta = any_epsilon(draw), any_delta(draw)
    kind = draw.choice(["pureDp", "approximateDp", "tradeOffCurve"])
    if kind == "tradeOffCurve":
        return _random_curve(draw)[:2]
    fields = {"epsilon": epsilon} if kind == "pureDp" else {"epsilon": epsilon, "delta": delta}
    return {kind: fields}, _allowed(epsilon, 0 if kind == "pureDp" else delta)


def sampled_promise(draw, setting):
    """A mechanism on a sample that says "yes" the more often, the further its sample is from that without the record:
    one step for a record that is there or not, or that is replaced, two where another record would fill its place."""
    event, step = _promise(draw)
    start = draw.choice([Fraction(0), Fraction(draw.randint(0, 64), 64), Fraction(log_uniform(draw, 1e-4, 1))])
    filled = 1 if setting.relation != "ADD_OR_REMOVE_ONE" else 2
    kind = draw.choice(["poisson", "truncated", "fixed", "drawn"]) if setting.group == 1 else "poisson"
    if kind == "poisson":
        q = any_probability(draw)
        distances = list(enumerate(binomial(setting.group, Fraction(q))))
        event = {"poissonSampled": {"samplingProbability": q, "event": event}}
    elif kind == "truncated":
        q, others, limit = draw.uniform(0.05, 1), draw.randint(1, 4), draw.randint(1, 4)
        distances = [(0, Fraction(1))]
        for k, w in enumerate(binomial(others, Fraction(q))):
            kept = w * Fraction(q) * min(Fraction(1), Fraction(limit, k + 1))
            distances += [(filled if k >= limit else 1, kept), (0, -kept)]
        size = others + (1 if filled == 1 else draw.choice([0, 1]))
        event = {"truncatedPoissonSampled": {"samplingProbability": q, "maxBatchSize": str(limit),
                                             "datasetSize": str(size), "event": event}}
    else:
        n = draw.randint(2, 12)
        m = draw.randint(1, n - 1) if kind == "fixed" else draw.randint(1, 4)
        name = "sampledWithoutReplacement" if kind == "fixed" else "sampledWithReplacement"
        drawn = [1 - Fraction(m, n), Fraction(m, n)] if kind == "fixed" else binomial(m, Fraction(1, n))
        distances = [(filled * j, w) for j, w in enumerate(drawn)]
        event = {name: {"datasetSize": str(n), "sampleSize": str(m), "event": event}}
    ladder = [start]
    for _ in range(max(distance for distance, _ in distances)):
        ladder.append(step(ladder[-1]))
    pair = yes_or_no(start, sum(w * ladder[distance] for distance, w in distances))
    return Part(event, laws.merged(pair), False)


def selection(draw, setting):
    """The best run of a random number of them. The order of the outcomes is the order of their scores."""
    if setting.group > 1:
        return approximate(draw, setting)
    base = draw.choice([pure, approximate, response, lambda d, s: direct(d, s, cells=4)])(draw, setting)
    mean, shape = draw.choice([1.0, draw.uniform(1, 20)]), draw.choice([1.0, math.inf])
    outcomes = list(base.pair)
    draw.shuffle(outcomes)
    return Part({"repeatAndSelect": {"event": base.event, "mean": mean,
                                     "shape": "Infinity" if shape == math.inf else shape}},
                laws.merged(laws.best_of(outcomes, mean, shape)), False)


def allocation(draw, setting):
    if setting.relation != "ADD_OR_REMOVE_ONE" or setting.group > 1:
        return pure(draw, setting)
    first, second = two_laws(draw)
    rounds = draw.randint(1, 4)
    selected = draw.randint(1, rounds)
    return Part({"randomAllocation": {"rounds": str(rounds), "selected": str(selected),
                                      "event": pair_event(first, second)}},
                laws.allocated(laws.merged(zip(first, second)), rounds, selected), False)


def nested(draw, setting):
    """A sequence in one event, and that event several times."""
    first, second = (draw.choice([pure, approximate, response, discrete_laplace, pair_of_laws, trade_off_curve,
                                  zcdp])(draw, setting) for _ in range(2))
    both = {"composed": {"events": [{"event": first.event, "count": "1"}, {"event": second.event, "count": "1"}]}}
    exact, pair = first.exact and second.exact, laws.product(first.pair, second.pair)
    if len(pair) <= 12 and draw.random() < 0.5:
        return Part({"selfComposed": {"event": both, "count": "2"}}, laws.product(pair, pair), exact)
    return Part(both, pair, exact)


def sampled_sequence(draw, setting):
    """A sequence on one sample of fixed size: a replaced record, the same law without it."""
    if setting.group > 1 or not setting.replaced:
        return approximate(draw, setting)
    first, second = (draw.choice([pure, approximate, trade_off_curve])(draw, setting) for _ in range(2))
    n = draw.randint(2, 10)
    m = draw.randint(1, n)
    q = Fraction(m, n)
    inner = {"composed": {"events": [{"event": part.event, "count": "1"} for part in (first, second)]}}
    event = {"sampledWithoutReplacement": {"datasetSize": str(n), "sampleSize": str(m), "event": inner}}
    laws3 = [(q * a + (1 - q) * w, w, w) for a, w in joint(first.pair, second.pair)]
    return part_of(event, laws3, setting)
