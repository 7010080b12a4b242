"""Two noisy releases, their joint law by quadrature.

delta(epsilon) of releases 1 and 2 is the integral of p1(x) delta2(epsilon - log(p1(x) / q1(x))) over the outcomes x of
the first: the law of the first is integrated, the profile of the second has a closed form. Gaussian and Laplace noise,
of Poisson samples or of all records."""
import math
import random

# Of the rule: its error is about a twelfth of the square of the step, and the profile bends where a loss ends. Where
# delta is small, that is large beside it: the difference to half the step says how large.
LARGEST_STEP, RELATIVE, ABSOLUTE = 1 / 200, 1e-4, 1e-7
ACCOUNTANTS = ("RENYI", "PLD")  # TRADE_OFF and BEST read the same loss


def normal_cdf(x):
    return 0.5 * math.erfc(-x / math.sqrt(2))


class Noise:
    """Noise of scale 1 around 0 (without the record) and around `shift` (with it), on a sample with probability q."""

    def __init__(self, kind, multiplier, q, shift):
        self.kind, self.multiplier, self.q, self.shift = kind, multiplier, q, shift / multiplier

    def event(self):
        event = {self.kind: {"noiseMultiplier": self.multiplier}}
        return event if self.q == 1 else {"poissonSampled": {"samplingProbability": self.q, "event": event}}

    def density(self, x):
        return 0.5 * math.exp(-abs(x)) if self.kind == "laplace" else math.exp(-x * x / 2) / math.sqrt(2 * math.pi)

    def grid(self, largest_step):
        """Points at equal steps, both means among them, and far enough out to both sides."""
        step = self.shift / math.ceil(self.shift / largest_step)
        reach = math.ceil((45 if self.kind == "laplace" else 10) / step)
        most = round(self.shift / step) + reach
        return [i * step for i in range(-reach, most + 1)], step

    def laws(self, x):
        """The densities with and without the record."""
        without = self.density(x)
        return (1 - self.q) * without + self.q * self.density(x - self.shift), without

    def _full(self, epsilon):
        """delta of all records in the sample; the same in both directions."""
        s = self.shift
        if self.kind == "gaussian":
            return normal_cdf(s / 2 - epsilon / s) - math.exp(epsilon) * normal_cdf(-s / 2 - epsilon / s)
        if epsilon >= s:
            return 0.0
        return -math.expm1(epsilon) if epsilon <= -s else -math.expm1((epsilon - s) / 2)

    def delta(self, epsilon, removed):
        """The mixture is cut where its ratio to one law is e^epsilon, which is where that of the full sample is another
        power of e."""
        factor, q = math.exp(epsilon), self.q
        if removed:  # (1 - q) Q + q P against Q
            return q * self._full(math.log((factor - 1 + q) / q)) if factor > 1 - q else 1 - factor
        rest = 1 - factor * (1 - q)  # Q against the mixture
        return rest * self._full(math.log(factor * q / rest)) if rest > 0 else 0.0


def joint_delta(first, second, epsilon, removed, largest_step=LARGEST_STEP):
    points, step = first.grid(largest_step)
    total = 0.0
    for x in points:
        p, q = first.laws(x) if removed else first.laws(x)[::-1]
        if p > 0:
            total += p * second.delta(epsilon - math.log(p / q), removed)
    return total * step


class JointCase:
    """Two releases, and the epsilon that is asked about."""
    truth = "quadrature over the joint law"

    def __init__(self, seed):
        draw = random.Random(seed)
        self.seed = seed
        self.relation = draw.choice(["ADD_OR_REMOVE_ONE", "REPLACE_SPECIAL", "REPLACE_ONE"])
        full = self.relation == "REPLACE_ONE"  # of samples the worst pair is another one there
        self.releases = [Noise(draw.choice(["gaussian", "laplace"]), draw.uniform(0.7, 4),
                               1 if full or draw.random() < 0.3 else draw.uniform(0.05, 0.9), 2 if full else 1)
                         for _ in range(2)]
        self.epsilon = draw.choice([0.0, draw.uniform(0, 1.5)])

        self._delta = None

    def delta(self):
        """(delta, how far it may be from the truth)."""
        if self._delta is None:
            coarse, fine = (max(joint_delta(*self.releases, self.epsilon, removed, step) for removed in (True, False))
                            for step in (LARGEST_STEP, LARGEST_STEP / 2))
            self._delta = fine, RELATIVE * fine + ABSOLUTE + 2 * abs(fine - coarse)
        return self._delta

    def kinds(self):
        kinds = {release.kind for release in self.releases}
        return kinds | {"poissonSampled" for release in self.releases if release.q < 1}

    def asked(self):
        return [("delta", {"accountant": accountant, "neighboringRelation": self.relation,
                           "events": [{"event": release.event(), "count": "1"} for release in self.releases],
                           "query": {"deltaAtEpsilon": self.epsilon}}) for accountant in ACCOUNTANTS]

    def problem(self, name, answer):
        del name
        truth, slack = self.delta()
        upper = float(answer["upper"])
        if upper < truth - slack or "lower" in answer and (
                float(answer["lower"]) > truth + slack or upper > truth * 1.01 + slack):
            return "it is %.9g" % truth
        return None

    def is_tight(self):
        return True
