"""Output laws of mechanisms on two neighbors, outcome by outcome in exact fractions, and what they prove.

A pair is a list of (p, q): the probabilities of one outcome on the one and on the other of two neighbors.
Probabilities are fractions, rounded to multiples of 2^-400, and powers of e have 60 digits, so that probabilities are
exact to some 50 digits. Nothing here is shared with the accountants."""
import bisect
import decimal
import functools
import itertools
import math
from fractions import Fraction

decimal.getcontext().prec = 60
SLACK = Fraction(1, 10**40)
QUANTUM = 2**400


def _nearest(x):
    """x >= 0 in multiples of 2^-400, never 0 if x is not."""
    multiple = (2 * x.numerator * QUANTUM + x.denominator) // (2 * x.denominator)
    return multiple if multiple or not x else 1


def rounded(x):
    """x >= 0 to a multiple of 2^-400, never to 0: sums of such numbers do not grow denominators."""
    return Fraction(_nearest(x), QUANTUM)


def to_decimal(x):
    return decimal.Decimal(x.numerator) / decimal.Decimal(x.denominator)


@functools.lru_cache(maxsize=1000)
def exp(x):
    """e^x as a fraction of 60 digits. x: a fraction or a float, at most 300."""
    return rounded(Fraction(to_decimal(Fraction(x)).exp()))


def reverse(pair):
    return [(q, p) for p, q in pair]


def product(*pairs):
    """The pair of independent mechanisms on the same neighbors."""
    laws = [(Fraction(1), Fraction(1))]
    for pair in pairs:
        laws = merged((p * a, q * b) for p, q in laws for a, b in pair)
    return laws


def merged(outcomes):
    """The same pair, rounded, with outcomes of one likelihood ratio put together, which no test tells apart."""
    by_ratio = {}
    for p, q in outcomes:
        p, q = _nearest(p), _nearest(q)
        if p or q:
            divisor = math.gcd(p, q)
            a, b = by_ratio.get((p // divisor, q // divisor), (0, 0))
            by_ratio[p // divisor, q // divisor] = (a + p, b + q)
    return [(Fraction(p, QUANTUM), Fraction(q, QUANTUM)) for p, q in by_ratio.values()]


def mixture(share, first, second):
    """`first` with probability `share`, otherwise `second`: laws of the same outcomes."""
    return [share * a + (1 - share) * b for a, b in zip(first, second)]


def _whole(x):
    """x, a multiple of 2^-400, as a multiple."""
    return x.numerator * (QUANTUM // x.denominator)


def delta_at(pair, epsilon):
    """The smallest delta at which the pair is (epsilon, delta)-indistinguishable in this direction; a merged pair."""
    if epsilon > 300:  # ratios of probabilities are at most 2^400 = e^277, or infinite
        return sum((p for p, q in pair if q == 0), Fraction(0))
    factor = _whole(exp(epsilon))
    return Fraction(sum(max(_whole(p) * QUANTUM - factor * _whole(q), 0) for p, q in pair), QUANTUM**2)


def corners(pair):
    """The corners (type I error, type II error) of the best tests of Q (the null) against P, by Neyman and Pearson."""
    return [(Fraction(x, QUANTUM), Fraction(y, QUANTUM)) for x, y in _corners(pair)]


def _corners(pair):
    """In multiples of 2^-400. Likelihood ratios are compared to 2^-800."""
    whole = [(_whole(p), _whole(q)) for p, q in pair]
    points = [(0, QUANTUM)]
    for p, q in sorted(whole, key=lambda outcome: (outcome[1] != 0, outcome[1] and -(outcome[0] << 800) // outcome[1])):
        points.append((points[-1][0] + q, points[-1][1] - p))
    return points


class TradeOff:
    """The largest convex function below the best type II errors of all pairs, which are merged."""

    def __init__(self, pairs):
        self.hull = []
        for x, y in sorted(point for pair in pairs for point in _corners(pair)):
            hull = self.hull
            if hull and hull[-1][0] == x:
                continue  # the one before is lower
            while len(hull) > 1 and ((hull[-1][1] - hull[-2][1]) * (x - hull[-2][0]) >=
                                     (y - hull[-2][1]) * (hull[-1][0] - hull[-2][0])):
                hull.pop()
            hull.append((x, y))
        self.places = [x for x, _ in self.hull]

    def error_at(self, alpha):
        """At type I error alpha in (0, 1]."""
        alpha = Fraction(alpha) * QUANTUM
        after = min(bisect.bisect_left(self.places, alpha), len(self.hull) - 1)
        (x, y), (x_after, y_after) = self.hull[max(after - 1, 0)], self.hull[after]
        if x == x_after:
            return Fraction(y_after, QUANTUM)
        return (y + (y_after - y) * (alpha - x) / (x_after - x)) / QUANTUM


def type_two_error_at(pairs, alpha):
    return TradeOff(pairs).error_at(alpha)


def renyi_at(pair, order):
    """The Renyi divergence of a whole order of at least 2, as a Decimal; infinite where Q is 0 and P is not."""
    if any(q == 0 < p for p, q in pair):
        return decimal.Decimal("Infinity")
    moment = sum((to_decimal(p)**order / to_decimal(q)**(order - 1) for p, q in pair if q), decimal.Decimal(0))
    return moment.ln() / (order - 1)


# --- Mechanisms. ----------------------------------------------------------------------------------------


def randomized_response(flip, buckets, against_nothing):
    """The true value, otherwise uniform: one value and another, or one value and nothing (uniform)."""
    flip = Fraction(flip)
    if against_nothing:
        return [(1 - flip + flip / buckets, Fraction(1, buckets)),
                (flip * (buckets - 1) / buckets, Fraction(buckets - 1, buckets))]
    hit, miss = 1 - flip + flip / buckets, flip / buckets
    return [(hit, miss), (miss, hit)] + [((buckets - 2) * miss,) * 2] * (buckets > 2)


def approximate(epsilon, delta):
    """The pair that dominates all (epsilon, delta)-DP mechanisms."""
    likely = exp(epsilon) / (1 + exp(epsilon))
    delta = Fraction(delta)
    return merged([(delta, Fraction(0)), (Fraction(0), delta), ((1 - delta) * likely, (1 - delta) * (1 - likely)),
                   ((1 - delta) * (1 - likely), (1 - delta) * likely)])


def discrete_laplace(rate, shift):
    """Noise with P[k] proportional to e^(-rate |k|), around 0 and around `shift` > 0: each tail is one loss."""
    t = exp(-Fraction(rate))
    scale = (1 - t) / (1 + t)
    tail = scale / (1 - t)  # P[k <= 0] of the noise around 0
    moved = t**shift
    return merged([(tail, tail * moved), (tail * moved, tail)] +
                  [(scale * t**k, scale * t**(shift - k)) for k in range(1, shift)])


def bounded_range(base, steps, epsilon):
    """A mechanism with losses in an interval of length epsilon: `base` is Q, `steps` in [0, 1] place the losses."""
    weights = [q * exp(Fraction(epsilon) * step) for q, step in zip(base, steps)]
    return [(weight / sum(weights), q) for weight, q in zip(weights, base)]


def noisy_max_of_two(noise, gap, scale):
    """[P(the second score wins), P(the first wins)] of the noisy maximum of two scores; gap = first - second."""
    if gap < 0:
        return noisy_max_of_two(noise, -gap, scale)[::-1]
    x = Fraction(gap) / Fraction(scale)
    if noise == "GUMBEL":
        second = exp(-x) / (1 + exp(-x))
    elif noise == "EXPONENTIAL":
        second = exp(-x) / 2
    else:
        second = exp(-x) * (1 + x / 2) / 2
    return [second, 1 - second]


def best_of(pair, mean, shape):
    """The best outcome (the last one of the list is the best) of a random number of runs: geometric with the mean for
    shape 1, Poisson for shape inf, where no run is an outcome of its own."""
    mean = Fraction(mean)

    def law(probabilities):
        if shape == 1:
            stop = 1 / mean
            value = lambda x: stop * x / (1 - (1 - stop) * x)
        else:
            value = lambda x: exp(mean * (x - 1))
        at = [value(total) for total in itertools.accumulate(probabilities, initial=Fraction(0))]
        return [at[0]] + [after - before for before, after in zip(at, at[1:])]

    return [outcome for outcome in zip(law([p for p, _ in pair]), law([q for _, q in pair])) if outcome != (0, 0)]


def allocated(pair, rounds, selected):
    """One record in `selected` of the rounds, uniformly; P with it, Q in the other rounds and without it."""
    places = list(itertools.combinations(range(rounds), selected))
    outcomes = []
    for seen in itertools.product(pair, repeat=rounds):
        without = math.prod(q for _, q in seen)
        with_it = sum((math.prod(p if i in place else q for i, (p, q) in enumerate(seen)) for place in places),
                      Fraction(0)) / len(places)
        outcomes.append((with_it, without))
    return merged(outcomes)


def shuffled_response(flip, reports):
    """The number of ones among the reports of binary randomized response. All others hold 0, the record 0 or 1."""
    flip = Fraction(flip)
    others = [math.comb(reports - 1, k) * (flip / 2)**k * (1 - flip / 2)**(reports - 1 - k) for k in range(reports)]

    def with_one(one):
        return [(others[k] * (1 - one) if k < reports else 0) + (others[k - 1] * one if k else 0)
                for k in range(reports + 1)]

    return list(zip(with_one(flip / 2), with_one(1 - flip / 2)))


def truncated_geometric(epsilon, delta, units):
    """Whether the key of a partition of `units` units, or of one unit less, is released."""
    factor, delta, probability, before = exp(epsilon), Fraction(delta), Fraction(0), Fraction(0)
    for _ in range(units):
        before = probability
        probability = min(factor * before + delta, 1 - (1 - before - delta) / factor, Fraction(1))
    return [outcome for outcome in ((probability, before), (1 - probability, 1 - before)) if outcome != (0, 0)]
