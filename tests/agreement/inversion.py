"""Many releases of noise against the inversion of a Laplace transform.

M(z) = E_P[e^(z L)] is the transform of the privacy loss L = log p/q under P. With T releases and any c > 0

    delta(epsilon) = 1 / (2 pi i) * integral over Re z = c of M_1(z) ... M_T(z) e^(-z epsilon) / (z (z + 1)) dz,

an integrand that falls like a Gaussian for losses with a smooth density, so that the trapezoidal rule converges
geometrically. M is a trapezoidal sum over the outcomes of one release, which are real numbers. Twice as many points must
give the same number, else the case asks nothing."""
import cmath
import math
import random

from parts import binomial

RELATIVE, ABSOLUTE = 1e-5, 1e-13


class Release:
    """N(., 1) around random places with one record, and around others without it."""

    def __init__(self, event, first, second):
        self.event, self.first, self.second = event, first, second

    def losses(self, removed, step):
        """[(log of the loss's weight, loss)] at equal steps."""
        first, second = (self.first, self.second) if removed else (self.second, self.first)
        places = [place for _, place in first + second]
        low, high = min(places) - 40, max(places) + 40
        points = []
        for i in range(int((high - low) / step) + 1):
            x = low + i * step
            p, q = _log_density(first, x), _log_density(second, x)
            if p > -700:
                points.append((p + math.log(step), p - q))
        return points


def _log_density(mixture, x):
    logs = [math.log(w) - (x - place)**2 / 2 - math.log(2 * math.pi) / 2 for w, place in mixture if w > 0]
    top = max(logs)
    return top + math.log(math.fsum(math.exp(v - top) for v in logs))


def _cumulant(points, z):
    """log M(z) of one release, z complex with any real part."""
    exponents = [(w + z.real * loss, z.imag * loss) for w, loss in points]
    top = max(real for real, _ in exponents)
    total = sum(cmath.rect(math.exp(real - top), angle) for real, angle in exponents if real > top - 45)
    return top + cmath.log(total)


def _saddle(losses, epsilon):
    """The real c > 0 at which the integrand is smallest: where K'(c) - epsilon = 1/c + 1/(c + 1)."""

    def slope(c):
        total = 0.0
        for points, count in losses:
            top = max(w + c * loss for w, loss in points)
            weights = [(math.exp(w + c * loss - top), loss) for w, loss in points if w + c * loss > top - 45]
            total += count * math.fsum(w * loss for w, loss in weights) / math.fsum(w for w, _ in weights)
        return total - epsilon - 1 / c - 1 / (c + 1)

    low, high = 1e-3, 1e-3
    while slope(high) < 0 and high < 60:
        high *= 2
    for _ in range(30):
        middle = math.sqrt(low * high)
        low, high = (middle, high) if slope(middle) < 0 else (low, middle)
    return high


def delta_by_inversion(losses, epsilon, steps):
    """delta of releases [(points, count)], by about `steps` steps over the width of the integrand."""
    c = _saddle(losses, epsilon)

    def log_value(y):
        z = complex(c, y)
        total = sum(count * _cumulant(points, z) for points, count in losses) - z * epsilon
        return total - cmath.log(z) - cmath.log(z + 1)

    top = log_value(0.0).real
    # The width: where the integrand has fallen by e^-1, then on to e^-36.
    width = 1e-3
    while log_value(width).real > top - 1:
        width *= 2
        if width > 1e4:
            return None
    step, total, y, small = width / steps, 0.5, 0.0, 0
    while small < 3:
        y += step
        if y > 60 * width:
            return None
        value = log_value(y)
        total += math.exp(value.real - top) * math.cos(value.imag)
        small = small + 1 if value.real < top - 36 else 0
    return math.exp(top) * total * step / math.pi


class InvertedCase:
    """One or two kinds of Gaussian releases, up to thousands of times."""
    truth = "inversion of the Laplace transform"

    def __init__(self, seed):
        draw = random.Random(seed)
        self.seed, self.relation = seed, draw.choice(["ADD_OR_REMOVE_ONE", "REPLACE_SPECIAL", "REPLACE_ONE"])
        self.adjacency = draw.choice(["", "REMOVE", "ADD"]) if self.relation == "ADD_OR_REMOVE_ONE" else ""
        self.group = draw.choice([1, 1, 1, 2]) if self.relation == "ADD_OR_REMOVE_ONE" else 1
        self.releases, self.counts = [], []
        for _ in range(draw.choice([1, 1, 2])):
            release, spend = self._release(draw)
            self.releases.append(release)
            # In all about as much as mu in [0.3, 3].
            self.counts.append(max(1, min(10000, round((draw.uniform(0.3, 2) / spend)**2))))
        self.epsilon = draw.uniform(0.05, 4)
        self._truth = None

    def _release(self, draw):
        scale, q = draw.uniform(0.8, 6), draw.choice([1.0, draw.uniform(0.02, 0.9), draw.uniform(0.001, 0.1)])
        kind = draw.choice(["poissonSampled", "mixture", "banded"]) if self.group == 1 else "poissonSampled"
        if self.relation == "REPLACE_ONE":
            kind = "poissonSampled"
        inner = {"gaussian": {"noiseMultiplier": scale}}
        if kind == "mixture":
            shifts = [draw.choice([0.0, 1.0]), draw.uniform(0.2, 1.5)]
            event = {"mixtureOfGaussians": {"noiseMultiplier": scale, "sensitivities": shifts,
                                            "probabilities": [1 - q, q]}}
            first = [(1 - q, shifts[0] / scale), (q, shifts[1] / scale)]
            return Release(event, first, [(1, 0.0)]), max(shifts[0], shifts[1] * math.sqrt(q)) / scale + 1e-3
        first = [(w, j / scale) for j, w in enumerate(binomial(self.group, q))]
        second = [(w, -place) for w, place in first] if self.relation == "REPLACE_ONE" else [(1, 0.0)]
        event = inner if q == 1 else {"poissonSampled": {"samplingProbability": q, "event": inner}}
        rounds = 1
        if kind == "banded" and q < 1 and self.relation == "ADD_OR_REMOVE_ONE":
            bands, rounds = draw.randint(1, 4), draw.randint(1, 20)
            event = {"bandedMatrixFactorization": {
                "noiseMultiplier": scale, "bands": str(bands), "samplingProbability": q / bands,
                "iterations": str(bands * (rounds - 1) + draw.randint(1, bands))}}
        # For a loss of q (e^{1/scale^2} - 1)^(1/2) and a round or more of it.
        spend = q * self.group * math.sqrt(math.expm1(min(1 / scale**2, 3)) * rounds)
        release = Release(event, first, second)
        release.rounds = rounds
        return release, spend * (2 if self.relation == "REPLACE_ONE" else 1)

    def kinds(self):
        return {kind for release in self.releases for kind in _kinds(release.event)}

    def truth_of(self):
        """delta of the worse direction, or None where the inversion does not settle."""
        if self._truth is None:
            directions = {"REMOVE": (True,), "ADD": (False,)}.get(self.adjacency, (True, False))
            self._truth = [self._delta(removed) for removed in directions]
        return None if None in self._truth else max(self._truth)

    def _delta(self, removed):
        values = []
        for step, steps in ((0.1, 6), (0.07, 9)):
            losses = [(release.losses(removed, step), count * getattr(release, "rounds", 1))
                      for release, count in zip(self.releases, self.counts)]
            values.append(delta_by_inversion(losses, self.epsilon, steps))
        if None in values or abs(values[0] - values[1]) > RELATIVE / 10 * values[1] + ABSOLUTE / 10:
            return None
        return values[1]

    def asked(self):
        fields = {"neighboringRelation": self.relation}
        if self.adjacency:
            fields["adjacency"] = self.adjacency
        if self.group > 1:
            fields["groupSize"] = str(self.group)
        events = [{"event": release.event, "count": str(count)} for release, count in zip(self.releases, self.counts)]
        return [("delta", {"accountant": accountant, **fields, "events": events,
                           "query": {"deltaAtEpsilon": self.epsilon}}) for accountant in ("RENYI", "ZCDP", "PLD")]

    def problem(self, name, answer):
        truth = self.truth_of()
        if truth is None:
            return None
        slack = RELATIVE * truth + ABSOLUTE
        if float(answer["upper"]) < truth - slack:
            return "it is %.12g" % truth
        if self.is_tight() and "lower" in answer and float(answer["lower"]) > truth + slack:
            return "it is %.12g" % truth
        return None

    def is_tight(self):
        """Under replace-one a mixture's mirror image is the worst known pair."""
        return self.truth_of() is not None


def _kinds(event):
    kind, fields = next(iter(event.items()))
    return {kind} | (_kinds(fields["event"]) if "event" in fields else set())
