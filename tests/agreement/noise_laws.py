"""Laws of additive noise, binned into cells, to 50 digits.

A law is a mixture of one noise at several places: a list of (weight, place). What falls into a cell is a difference of
tails. Telling only the cell is a post-processing, so the bins of two laws prove no more than is true of the laws.
Numbers are fractions; nothing here is shared with the accountants."""
import decimal
import functools
import math
from fractions import Fraction

import exact_laws as laws

PI = decimal.Decimal("3.14159265358979323846264338327950288419716939937510582097494")
# Tails are right to 40 digits up to this many deviations.
FARTHEST = 22


@functools.lru_cache(maxsize=20000)
def normal_tail(x):
    """P[N(0, 1) > x] of a fraction x with |x| <= FARTHEST."""
    if x < 0:
        return 1 - normal_tail(-x)
    at = laws.to_decimal(x)
    density = (-at * at / 2).exp() / (2 * PI).sqrt()
    if x < 6:  # Phi(x) - 1/2 = phi(x) (x + x^3/3 + x^5/(3 5) + ...)
        term, total, odd = at, at, 1
        while term > total * decimal.Decimal("1e-60"):
            odd += 2
            term *= at * at / odd
            total += term
        return laws.rounded(Fraction(decimal.Decimal("0.5") - density * total))
    fraction = at  # Mills' ratio is 1 / (x + 1 / (x + 2 / (x + ...)))
    for n in range(150, 0, -1):
        fraction = at + n / fraction
    return laws.rounded(Fraction(density / fraction))


class Gaussian:
    reach, integer = 6, False

    def tail(self, x):
        return normal_tail(x)

    def density(self, x):
        return math.exp(-x * x / 2)


class Laplace:
    reach, integer = 14, False

    def tail(self, x):
        return laws.exp(-x) / 2 if x >= 0 else 1 - laws.exp(x) / 2

    def density(self, x):
        return math.exp(-abs(x))


class DiscreteLaplace:
    """P[k] proportional to e^(-rate |k|)."""
    integer = True

    def __init__(self, rate):
        self.ratio = laws.exp(-Fraction(rate))
        self.reach = math.ceil(14 / rate)

    def tail(self, x):
        """Between whole numbers: of P[Z > k] with k = floor(x)."""
        k = math.floor(x)
        return self.ratio**(k + 1) / (1 + self.ratio) if k >= 0 else 1 - self.tail(-k - 1)


class DiscreteGaussian:
    """P[k] proportional to e^(-k^2 / (2 sigma^2)); what is beyond `reach` has less than 1e-45 in all."""
    integer = True

    def __init__(self, sigma):
        self.reach = math.ceil(14.6 * sigma)
        variance = Fraction(sigma)**2
        weights = [laws.exp(-Fraction(k * k) / (2 * variance)) for k in range(self.reach + 1)]
        total = weights[0] + 2 * sum(weights[1:])
        self.above = [Fraction(0)]  # above[i] = P[Z > reach - i]
        for k in range(self.reach, -self.reach - 1, -1):
            self.above.append(self.above[-1] + weights[abs(k)] / total)

    def tail(self, x):
        return self.above[min(max(self.reach - math.floor(x), 0), len(self.above) - 1)]


def binned(noise, mixtures, cuts):
    """[(mass of the first law, of the second, ...)] of the cells between the cuts."""
    columns = []
    for mixture in mixtures:
        above = [sum(weight * noise.tail(cut - place) for weight, place in mixture) for cut in cuts]
        above = [Fraction(1), *above, Fraction(0)]
        columns.append([laws.rounded(a - b) for a, b in zip(above, above[1:])])
    return [cell for cell in zip(*columns) if any(cell)]


def _log_ratio(noise, first, second, x):
    p, q = (sum(float(w) * noise.density(x - float(place)) for w, place in law) for law in (first, second))
    return math.log(p / q) if p > 0 and q > 0 else math.copysign(math.inf, p - q)


def _crossings(noise, first, second, level, low, high):
    """Where the loss of two mixtures passes the level, to a millionth."""
    found, points = [], [low + (high - low) * i / 40 for i in range(41)]
    for a, b in zip(points, points[1:]):
        above = _log_ratio(noise, first, second, a) > level
        if above == (_log_ratio(noise, first, second, b) > level):
            continue
        while b - a > 1e-6:
            middle = (a + b) / 2
            if (_log_ratio(noise, first, second, middle) > level) == above:
                a = middle
            else:
                b = middle
        found.append((a + b) / 2)
    return found


def cuts_of(draw, noise, mixtures, epsilon, cells):
    """Where to cut: for noise on integers between all of them within reach, if they are few. Otherwise where the loss is
    +-epsilon, so that one release has its own delta there, where the laws have their centers, and at random."""
    places = [place for mixture in mixtures for _, place in mixture]
    low, high = min(places) - noise.reach, max(places) + noise.reach
    if noise.integer:
        # What is so far out that a law has nothing left there is one cell with what is before.
        low, high = max(low, max(places) - noise.reach), min(high, min(places) + noise.reach)
        return [Fraction(2 * k + 1, 2) for k in range(math.floor(low), math.ceil(high))]
    points = [draw.uniform(float(low), float(high)) for _ in range(cells)]
    for level in (epsilon, -epsilon):
        points += _crossings(noise, mixtures[0], mixtures[1], level, float(low), float(high))
    points = [Fraction(round(x * 2**24), 2**24) for x in points]
    if isinstance(noise, Laplace) and len(places) <= 4:
        points += places
    return sorted(set(points))
