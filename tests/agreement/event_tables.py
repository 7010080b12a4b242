"""The truth of small histories of the newer events: event_tables.py writes event_tables.jsonl.

Every row has a ComputeRequest without its accountant and two numbers, "first" and "second", that do not come from
epsledger. They are computed in two ways that share no formula beyond the definition of the mechanism: as a rule
"first" enumerates all outcomes in fractions, or sums over a fine grid, and "second" is a closed form, counts the
outcomes of each kind, or integrates between the points where the likelihood ratio crosses e^epsilon. "attained" says
that the number is the answer itself; otherwise it is that of one pair of neighbors, so the answer is at least as large.

Needs the standard library only."""
import itertools
import json
import math
import os
from decimal import Decimal, getcontext
from fractions import Fraction

getcontext().prec = 50
PAGE = os.path.join(os.path.dirname(os.path.abspath(__file__)), "event_tables.jsonl")
ONE_ADDED = "ADD_OR_REMOVE_ONE"


# Sums.


def positive_part(p, q, epsilon):
    """sum (p - e^epsilon q)_+ in 50 digits, of fractions or decimals."""

    def decimal(x):
        return Decimal(x.numerator) / Decimal(x.denominator) if isinstance(x, Fraction) else Decimal(x)

    x = Decimal(epsilon).exp()
    return float(sum(max(Decimal(0), decimal(a) - x * decimal(b)) for a, b in zip(p, q)))


def sequences(law, count):
    return [math.prod(outcomes) for outcomes in itertools.product(law, repeat=count)]


def ordered_sums(count, kinds):
    """All ways to write count as an ordered sum of `kinds` numbers."""
    if kinds == 1:
        yield (count,)
        return
    for first in range(count + 1):
        for rest in ordered_sums(count - first, kinds - 1):
            yield (first, *rest)


def by_counts(p, q, count, epsilon):
    """The delta of `count` uses by how often each outcome came, in doubles."""
    terms = []
    for counts in ordered_sums(count, len(p)):
        ways = math.factorial(count) / math.prod(math.factorial(c) for c in counts)
        with_record = math.prod(float(a)**c for a, c in zip(p, counts))
        without = math.prod(float(b)**c for b, c in zip(q, counts))
        terms.append(max(0.0, ways * with_record - math.exp(epsilon) * ways * without))
    return math.fsum(terms)


def binomial(n, p):
    return [math.comb(n, j) * p**j * (1 - p)**(n - j) for j in range(n + 1)]


def normal_tail(x):
    return 0.5 * math.erfc(x / math.sqrt(2))


def normal_density(x):
    return math.exp(-0.5 * x * x) / math.sqrt(2 * math.pi)


class NormalMixture:
    """A mixture of normal laws of deviation 1, given as (weight, mean)."""

    def __init__(self, parts):
        self.parts = parts

    def density(self, t):
        return math.fsum(w * normal_density(t - m) for w, m in self.parts)

    def tail(self, t):
        return math.fsum(w * normal_tail(t - m) for w, m in self.parts)


def on_grid(p, q, epsilon, low, high):
    """The integral of (p - e^epsilon q)_+ by the midpoint rule."""
    x, step = math.exp(epsilon), 2e-3
    middles = (low + (i + 0.5) * step for i in range(int(round((high - low) / step))))
    return step * math.fsum(max(0.0, p.density(t) - x * q.density(t)) for t in middles)


def between_crossings(p, q, epsilon, low, high):
    """The same from the tails at the points where p - e^epsilon q changes its sign."""
    x = math.exp(epsilon)

    def excess(t):
        return p.density(t) - x * q.density(t)

    ends = [low]
    points = [low + (high - low) * i / 1000 for i in range(1001)]
    signs = [excess(t) > 0 for t in points]
    for i in range(1000):
        a, b = points[i], points[i + 1]
        if signs[i] == signs[i + 1]:
            continue
        for _ in range(60):
            middle = 0.5 * (a + b)
            if (excess(middle) > 0) == signs[i]:
                a = middle
            else:
                b = middle
        ends.append(0.5 * (a + b))
    ends.append(high)
    total = []
    for a, b in zip(ends, ends[1:]):
        if excess(0.5 * (a + b)) > 0:
            total += [p.tail(a) - p.tail(b), -x * (q.tail(a) - q.tail(b))]
    return math.fsum(total)


def larger_order(p, q, epsilon):
    """delta of two mixtures of normal laws in both ways, of the worse direction."""
    means = [m for _, m in p + q]
    low, high = min(means) - 9, max(means) + 9
    p, q = NormalMixture(p), NormalMixture(q)
    return tuple(max(way(p, q, epsilon, low, high), way(q, p, epsilon, low, high))
                 for way in (on_grid, between_crossings))


# Rows.


def row(event, query, numbers, attained, relation=ONE_ADDED, count=1):
    first, second = numbers
    request = {"neighboringRelation": relation, "events": [{"count": count, "event": event}], "query": query}
    return {"request": request, "first": first, "second": second, "attained": attained}


def delta_at(epsilon):
    return {"deltaAtEpsilon": epsilon}


def dominating_pairs():
    for p, q, count in (((8, 4, 4), (4, 4, 8), 4), ((12, 3, 1), (1, 3, 12), 3), ((8, 8, 0), (8, 4, 4), 2)):
        p, q = [Fraction(x, 16) for x in p], [Fraction(x, 16) for x in q]
        event = {"dominatingPair": {"firstProbabilities": [float(x) for x in p],
                                    "secondProbabilities": [float(x) for x in q]}}
        for epsilon in (0, 0.75, 1.5):
            sums = [positive_part(sequences(a, count), sequences(b, count), epsilon) for a, b in ((p, q), (q, p))]
            counts = [by_counts(a, b, count, epsilon) for a, b in ((p, q), (q, p))]
            yield row(event, delta_at(epsilon), (max(sums), max(counts)), True, count=count)


def responses():
    """Randomized response against nothing, which is answered by a uniform value."""
    for noise, buckets, count in ((Fraction(1, 2), 3, 4), (Fraction(1, 4), 2, 6), (Fraction(7, 8), 4, 5)):
        truth = [noise / buckets] * buckets
        truth[0] += 1 - noise
        uniform = [Fraction(1, buckets)] * buckets
        kinds = [truth[0], 1 - truth[0]], [uniform[0], 1 - uniform[0]]
        event = {"randomizedResponse": {"noiseParameter": float(noise), "numBuckets": buckets}}
        for epsilon in (0.1, 1):
            sums = [positive_part(sequences(a, count), sequences(b, count), epsilon)
                    for a, b in ((truth, uniform), (uniform, truth))]
            counts = [by_counts(a, b, count, epsilon) for a, b in (kinds, kinds[::-1])]
            yield row(event, delta_at(epsilon), (max(sums), max(counts)), True, "REPLACE_SPECIAL", count)


def two_integers(law, shift, epsilon):
    """delta of two uses of integer noise, over all pairs of outputs."""
    x = math.exp(epsilon)
    return math.fsum(max(0.0, a * b - x * law.get(j - shift, 0.0) * law.get(k - shift, 0.0))
                     for j, a in law.items() for k, b in law.items())


def discrete_laplace():
    for parameter, sensitivity in ((0.5, 2), (0.75, 3), (1, 1)):
        weights = {k: math.exp(-parameter * abs(k)) for k in range(-80, 81)}
        total = math.fsum(weights.values())
        law = {k: w / total for k, w in weights.items()}
        # All outputs on one side of both centers have one ratio, and those between have one each.
        r = math.exp(-parameter)
        p = [1 / (1 + r)] + [(1 - r) / (1 + r) * r**k for k in range(1, sensitivity)] + [r**sensitivity / (1 + r)]
        event = {"discreteLaplace": {"noiseParameter": parameter, "sensitivity": sensitivity}}
        for epsilon in (0, 0.6):
            yield row(event, delta_at(epsilon),
                      (two_integers(law, sensitivity, epsilon), by_counts(p, p[::-1], 2, epsilon)), True, count=2)


def discrete_gaussians():
    for sigma, sensitivity in ((1.5, 1), (2, 2), (0.7, 1)):
        weights = {k: math.exp(-k * k / (2 * sigma**2)) for k in range(-24, 25)}
        total = math.fsum(weights.values())
        law = {k: w / total for k, w in weights.items()}
        sums = {}
        for j, a in law.items():
            for k, b in law.items():
                sums[j + k] = sums.get(j + k, 0.0) + a * b
        event = {"discreteGaussian": {"sigma": sigma, "sensitivity": sensitivity}}
        for epsilon in (0, 1):
            # The loss of two outputs is s (s - sum) / sigma^2: a test of their sum.
            last = math.floor(sensitivity - epsilon * sigma**2 / sensitivity)
            tests = math.fsum(m for t, m in sums.items() if t <= last) - math.exp(epsilon) * math.fsum(
                m for t, m in sums.items() if t + 2 * sensitivity <= last)
            yield row(event, delta_at(epsilon), (two_integers(law, sensitivity, epsilon), tests), True, count=2)


def batches():
    """All other records contribute the opposite of the one in question."""
    for n, m, noise in ((4, 2, 1), (10, 1, 0.5), (50, 5, 2)):
        q, shift = m / n, 2 / noise
        event = {"sampledWithoutReplacement": {"datasetSize": n, "sampleSize": m,
                                               "event": {"gaussian": {"noiseMultiplier": noise}}}}
        for epsilon in (0.1, 0.7):
            yield row(event, delta_at(epsilon), larger_order([(1 - q, 0), (q, shift)], [(1, 0)], epsilon), True)
    for n, m, noise in ((4, 2, 1), (10, 3, 1.5), (30, 6, 4)):
        event = {"sampledWithReplacement": {"datasetSize": n, "sampleSize": m,
                                            "event": {"gaussian": {"noiseMultiplier": noise}}}}
        mixture = [(w, 2 * j / noise) for j, w in enumerate(binomial(m, 1 / n))]
        for epsilon in (0.1, 0.7):
            yield row(event, delta_at(epsilon), larger_order(mixture, [(1, 0)], epsilon), True)


def truncated_batches():
    """n records contribute -1 and one more contributes 1. How many are in the batch is not told."""
    for n, q, limit, noise in ((3, 0.5, 2, 1), (4, 0.25, 1, 0.7), (6, 0.3, 3, 2)):
        without, with_record = [], []
        for k, w in enumerate(binomial(n, q)):
            left_out = (w, -min(k, limit) / noise)
            kept = min(1.0, limit / (k + 1))
            without.append(left_out)
            with_record.append(((1 - q * kept) * w, left_out[1]))
            with_record.append((q * kept * w, (2 - min(k + 1, limit)) / noise))
        event = {"truncatedPoissonSampled": {"samplingProbability": q, "maxBatchSize": limit, "datasetSize": n,
                                             "event": {"gaussian": {"noiseMultiplier": noise}}}}
        for epsilon in (0.1, 0.7):
            yield row(event, delta_at(epsilon), larger_order(with_record, without, epsilon), False)


def allocations_of_pairs():
    for p, q, rounds in ((12, 4, 2), (14, 2, 3), (10, 5, 4)):
        p, q = Fraction(p, 16), Fraction(q, 16)
        one = {"dominatingPair": {"firstProbabilities": [float(p), float(1 - p)],
                                  "secondProbabilities": [float(q), float(1 - q)]}}
        event = {"randomAllocation": {"rounds": rounds, "selected": 1, "event": one}}
        with_record, without = [], []
        for bits in itertools.product((0, 1), repeat=rounds):
            base = [q if b else 1 - q for b in bits]
            moved = [p if b else 1 - p for b in bits]
            without.append(math.prod(base))
            with_record.append(sum(math.prod(base[:i]) * moved[i] * math.prod(base[i + 1:])
                                   for i in range(rounds)) / rounds)
        # By how many rounds have the first outcome.
        base = binomial(rounds, float(q))
        up, down = float(p / q), float((1 - p) / (1 - q))
        ratios = [(k * up + (rounds - k) * down) / rounds for k in range(rounds + 1)]
        for epsilon in (0.05, 0.4):
            x = math.exp(epsilon)
            first = max(positive_part(with_record, without, epsilon), positive_part(without, with_record, epsilon))
            second = max(math.fsum(b * max(0.0, r - x) for b, r in zip(base, ratios)),
                         math.fsum(b * max(0.0, 1 - x * r) for b, r in zip(base, ratios)))
            yield row(event, delta_at(epsilon), (first, second), True)


def allocations_of_gaussians():
    """(N((mu, 0)) + N((0, mu))) / 2 against N(0): on a grid of the plane, and by thresholds of one coordinate."""
    for noise, epsilon in ((1, 0.1), (1, 0.7), (2, 0.1), (2, 0.7)):
        mu, x = 1 / noise, math.exp(epsilon)

        def points(step):
            for i in range(int(round((16 + mu) / step))):
                t = -8 + step * (i + 0.5)
                yield normal_density(t), math.exp(mu * t - 0.5 * mu * mu)

        def crossing(ratio):
            return -math.inf if ratio <= 0 else (math.log(ratio) + 0.5 * mu * mu) / mu

        coarse = list(points(0.04))
        plane = 0.04**2 * max(
            math.fsum(d * e * max(0.0, 0.5 * (r + s) - x) for d, r in coarse for e, s in coarse),
            math.fsum(d * e * max(0.0, 1 - x * 0.5 * (r + s)) for d, r in coarse for e, s in coarse))
        remove, add = [], []
        for d, r in points(0.002):
            at = crossing(2 * x - r)  # the other ratio is above
            remove.append(d * (0.5 * normal_tail(at - mu) - (x - 0.5 * r) * normal_tail(at)))
            at = crossing(2 / x - r)  # the other ratio is below
            add.append(d * ((1 - 0.5 * x * r) * normal_tail(-at) - 0.5 * x * normal_tail(mu - at)))
        event = {"randomAllocation": {"rounds": 2, "selected": 1, "event": {"gaussian": {"noiseMultiplier": noise}}}}
        yield row(event, delta_at(epsilon), (plane, 0.002 * max(math.fsum(remove), math.fsum(add))), True)


def mixtures():
    for noise, shifts, weights in ((1, (0, 1, 2), (0.5, 0.25, 0.25)), (2, (1, 3), (0.75, 0.25)),
                                   (0.8, (0, 1), (0.9, 0.1))):
        event = {"mixtureOfGaussians": {"noiseMultiplier": noise, "sensitivities": shifts, "probabilities": weights}}
        parts = [(w, s / noise) for s, w in zip(shifts, weights)]
        mirror = [(w, -m) for w, m in parts]
        for epsilon in (0.2, 1):
            yield row(event, delta_at(epsilon), larger_order(parts, [(1, 0)], epsilon), True)
            yield row(event, delta_at(epsilon), larger_order(parts, mirror, epsilon), True, "REPLACE_ONE")
        for order in (2, 3):
            # E prod e^{m_i t - m_i^2/2} over `order` independent choices of a part, t standard normal.
            moment = math.fsum(
                math.prod(w for w, _ in chosen) *
                math.exp(sum(a[1] * b[1] for a, b in itertools.combinations(chosen, 2)))
                for chosen in itertools.product(parts, repeat=order))
            grid = 1e-2 * math.fsum(
                normal_density(t) * math.fsum(w * math.exp(m * t - 0.5 * m * m) for w, m in parts)**order
                for t in (-12 + 1e-2 * i for i in range(3600)))
            yield row(event, {"renyiDivergenceAtOrder": order},
                      (math.log(grid) / (order - 1), math.log(moment) / (order - 1)), False)


def selections():
    """The better of two outcomes of a Poisson number of runs, or that there was none."""
    for p, q, mean in ((0.75, 0.25, 2), (0.6, 0.4, 5), (0.9, 0.5, 1)):
        one = {"dominatingPair": {"firstProbabilities": [p, 1 - p], "secondProbabilities": [q, 1 - q]}}
        event = {"repeatAndSelect": {"event": one, "mean": mean, "shape": "Infinity"}}

        def by_series(good):
            weight = (-Decimal(mean)).exp()
            none, best, worst = weight, Decimal(0), Decimal(0)
            for k in range(1, 90):
                weight = weight * mean / k
                missed = (1 - Decimal(good))**k
                best += weight * (1 - missed)
                worst += weight * missed
            return [none, best, worst]

        def by_thinning(good):
            """The number of good runs is Poisson itself."""
            none = math.exp(-mean)
            return [none, -math.expm1(-mean * good), math.exp(-mean * good) - none]

        for epsilon in (0.2, 0.8):
            series, thinned = (by_series(p), by_series(q)), (by_thinning(p), by_thinning(q))
            first = max(positive_part(a, b, epsilon) for a, b in (series, series[::-1]))
            second = max(math.fsum(max(0.0, a - math.exp(epsilon) * b) for a, b in zip(*pair))
                         for pair in (thinned, thinned[::-1]))
            yield row(event, delta_at(epsilon), (first, second), False)


def wins(noise, lead):
    """P[lead + Z > Z'] in closed form, in scales."""
    if noise == "GUMBEL":
        return 1 / (1 + math.exp(-lead))
    tail = 0.5 * math.exp(-abs(lead))
    if noise == "LAPLACE":
        tail *= 0.5 * (2 + abs(lead))
    return 1 - tail if lead > 0 else tail


def wins_on_grid(noise, lead):
    """The same by Simpson's rule between the kinks, over Z."""

    def integrand(z):
        t = z + lead
        if noise == "GUMBEL":
            return math.exp(-z - math.exp(-z)) * math.exp(-math.exp(-t))
        if noise == "LAPLACE":
            return 0.5 * math.exp(-abs(z)) * (0.5 * math.exp(t) if t < 0 else 1 - 0.5 * math.exp(-t))
        return math.exp(-z) * -math.expm1(-max(0.0, t))

    ends = {"GUMBEL": [-5, 45], "EXPONENTIAL": sorted({0, max(0, -lead), 45})}.get(noise) or sorted({-45, 0, -lead, 45})
    return math.fsum(simpson(integrand, a, b) for a, b in zip(ends, ends[1:]))


def simpson(integrand, low, high, pieces=8000):
    h = (high - low) / pieces
    weights = (1 if i in (0, pieces) else 4 if i % 2 else 2 for i in range(pieces + 1))
    return h / 3 * math.fsum(w * integrand(low + h * i) for i, w in enumerate(weights))


def noisy_maxima():
    """Two scores. One trails, and leads after it was moved up and the other one down by a contribution."""
    for name, scale in (("EXPONENTIAL", 1.5), ("EXPONENTIAL", 4), ("LAPLACE", 1.5), ("LAPLACE", 4), ("GUMBEL", 2)):
        event = {"reportNoisyMax": {"noise": name, "noiseMultiplier": scale}}
        apart = 2 / scale
        for epsilon in (0, 0.5 * apart):
            lead = 0.5 * (apart - epsilon)
            numbers = [way(name, lead) - math.exp(epsilon) * way(name, lead - apart) for way in (wins_on_grid, wins)]
            yield row(event, delta_at(epsilon), numbers, False)


def thresholds():
    """One query: above with probability P[nu - rho >= gap]. A record moves the gap by 1."""
    for b, c in ((2, 4), (1, 3), (5, 2)):
        event = {"aboveThreshold": {"thresholdNoiseMultiplier": b, "queryNoiseMultiplier": c, "cutoff": 1}}

        def closed(gap):
            """The tail of a difference of Laplace variables of scales b and c, by partial fractions."""
            return (c * c * math.exp(-gap / c) - b * b * math.exp(-gap / b)) / (2 * (c * c - b * b))

        def grid(gap):

            def integrand(rho):
                t = (gap + rho) / c
                above = 0.5 * math.exp(-t) if t > 0 else 1 - 0.5 * math.exp(t)
                return 0.5 / b * math.exp(-abs(rho) / b) * above

            ends = sorted({-150, -gap, 0, 150})
            return math.fsum(simpson(integrand, low, high) for low, high in zip(ends, ends[1:]))

        for epsilon in (0, 0.1):
            yield row(event, delta_at(epsilon), [way(0) - math.exp(epsilon) * way(1) for way in (grid, closed)], False)


def partitions():
    """A unit alone in its partition, which is never there without it."""
    for noise, scale, threshold in (("LAPLACE", 1, 6), ("LAPLACE", 2, 4), ("GAUSSIAN", 1, 4), ("GAUSSIAN", 2, 5)):
        event = {"partitionSelection": {"noise": noise, "noiseMultiplier": scale, "threshold": threshold}}
        gap = (threshold - 1) / scale
        density = (lambda t: 0.5 * math.exp(-t)) if noise == "LAPLACE" else normal_density
        grid = simpson(density, gap, gap + 45)
        kept = 0.5 * math.exp(-gap) if noise == "LAPLACE" else normal_tail(gap)
        for epsilon in (1.5, 3):
            yield row(event, delta_at(epsilon), (grid, kept), False)


def geometric_selections():
    """What n and n + 1 units are released with, by the recursion, and in closed form while it is small."""
    for epsilon0, delta0 in ((0.5, 0.01), (1, 0.001), (0.25, 0.05)):
        event = {"truncatedGeometricSelection": {"epsilon": epsilon0, "delta": delta0}}
        growth, step = Decimal(epsilon0).exp(), Decimal(delta0)
        for n, epsilon in ((1, 0), (2, 0.1), (1, 0.2)):
            kept = [Decimal(0)]
            for _ in range(n + 1):
                kept.append(min(growth * kept[-1] + step, 1 - (1 - kept[-1] - step) / growth, Decimal(1)))
            few, more = (delta0 * math.expm1(epsilon0 * k) / math.expm1(epsilon0) for k in (n, n + 1))
            yield row(event, delta_at(epsilon),
                      (positive_part([kept[n + 1]], [kept[n]], epsilon), more - math.exp(epsilon) * few), False)


def shuffled_reports():
    """n bits, all 0 but for one that is 0 or 1, each told wrongly with probability 1/(e^epsilon0 + 1)."""
    for n, wrong in ((3, Fraction(1, 4)), (5, Fraction(1, 3)), (8, Fraction(1, 5))):
        one_report = {"pureDp": {"epsilon": math.log((1 - wrong) / wrong) * (1 + 1e-12)}}
        event = {"shuffled": {"reports": n, "event": one_report}}
        zeros, one = [Fraction(0)] * (n + 1), [Fraction(0)] * (n + 1)
        for bits in itertools.product((0, 1), repeat=n):
            others = math.prod(wrong if b else 1 - wrong for b in bits[1:])
            zeros[sum(bits)] += others * (wrong if bits[0] else 1 - wrong)
            one[sum(bits)] += others * (1 - wrong if bits[0] else wrong)
        w = float(wrong)
        rest = binomial(n - 1, w) + [0.0]
        more = [0.0] + rest[:-1]
        for epsilon in (0.2, 0.5):
            x = math.exp(epsilon)
            counts = math.fsum(max(0.0, (1 - w) * b + w * a - x * (w * b + (1 - w) * a)) for a, b in zip(rest, more))
            yield row(event, delta_at(epsilon), (positive_part(one, zeros, epsilon), counts), False, "REPLACE_ONE")


def rows():
    return list(itertools.chain(
        dominating_pairs(), responses(), discrete_laplace(), discrete_gaussians(), batches(), truncated_batches(),
        allocations_of_pairs(), allocations_of_gaussians(), mixtures(), selections(), noisy_maxima(), thresholds(),
        partitions(), geometric_selections(), shuffled_reports()))


if __name__ == "__main__":
    with open(PAGE, "w", encoding="utf-8") as page:
        for entry in rows():
            page.write(json.dumps(entry) + "\n")
