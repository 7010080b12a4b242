"""What the laws of a random case say about an answer: sums over all outcomes in exact fractions."""
import decimal
import math
from fractions import Fraction
from statistics import NormalDist

import exact_laws as laws
from random_cases import Case

ACCOUNTANTS = ("BASIC", "ADVANCED", "OPTIMAL", "RENYI", "MOMENTS", "ZCDP", "GAUSSIAN", "PLD", "TRADE_OFF", "BEST")
ROUNDING = decimal.Decimal("1e-40")
FLOATS = 1e-9  # of comparisons with the normal law, in doubles
ALPHA_MIN = 0.01
NORMAL = NormalDist()


def queries_of(case):
    """All that can be asked, by name."""
    queries = {"delta": {"deltaAtEpsilon": case.epsilon}, "epsilon": {"epsilonAtDelta": case.delta},
               "logarithm": {"epsilonAtLogDelta": math.log(case.delta)},
               "renyi": {"renyiDivergenceAtOrder": case.order}, "advantage": {"advantage": {}}}
    if not case.setting.adjacency:
        queries.update({"error": {"typeTwoErrorAt": case.alpha}, "inverse": {"inverseTypeTwoErrorAt": case.alpha},
                        "rate": {"truePositiveRateAt": case.alpha}, "bayes": {"bayesSuccessAt": case.prior},
                        "mu": {"gaussianDpMu": {"alphaMin": ALPHA_MIN}}})
        if case.values and case.setting.group == 1:
            queries["reconstruction"] = {"reconstructionSuccessAt": case.baseline}
    return queries


def asked(case, every=False):
    """[(name, request)]: every query of every accountant, or some of them."""
    queries, draw = queries_of(case), case.draw
    single = [event["count"] for event in case.events] == ["1"]
    names = list(queries) if every else [draw.choice(["delta", "epsilon"]), *draw.sample(sorted(queries), 2)]
    lines = []
    for name in dict.fromkeys(names):
        accountants = ACCOUNTANTS if every else draw.sample(ACCOUNTANTS[:8], 4)
        if name in ("error", "inverse", "rate", "bayes", "reconstruction", "mu") and not every:
            # Of several events this takes a PLD long, and the others know it only as their epsilons.
            accountants = draw.sample(ACCOUNTANTS if single else ACCOUNTANTS[:7], 2)
        elif not every and single and draw.random() < 0.3:
            accountants = accountants + [draw.choice(ACCOUNTANTS[8:])]
        lines += [(name, {"accountant": accountant, **case.setting.fields(), "events": case.events,
                          "query": queries[name]}) for accountant in accountants]
    return lines


def bound_of(answer, side):
    """A bound as a fraction, or None where there is none or it is infinite."""
    value = answer.get(side)
    return None if value is None or value == "Infinity" else Fraction(float(value))


def all_deltas(case, epsilon):
    return max(laws.delta_at(pair, epsilon) for pair in case.directions)


def problem_of(case, name, answer):
    """What is wrong with an answer, or None."""
    upper, lower = bound_of(answer, "upper"), bound_of(answer, "lower")
    if name in ("epsilon", "logarithm"):
        delta = Fraction(case.delta) if name == "epsilon" else laws.exp(math.log(case.delta))
        return _epsilon_problem(case, delta, upper, lower, answer)
    if name in ("error", "inverse", "rate"):
        return _error_problem(case, name, upper, lower)
    if name == "renyi":
        true = max(laws.renyi_at(pair, case.order) for pair in case.directions)
        if upper is not None and laws.to_decimal(upper) < true - ROUNDING:
            return "it is %s" % true
        if case.exact and lower is not None and laws.to_decimal(lower) > true + ROUNDING:
            return "it is %s" % true
        return None
    if name == "mu":
        return _mu_problem(case, upper, answer)
    truth, most = _number(case, name)
    if upper is not None and upper < truth - laws.SLACK:
        return "it is %.17g" % truth
    if case.exact and most is not None and lower is not None and lower > most + laws.SLACK:
        return "it is %.17g" % most
    return None


def _number(case, name):
    """What the laws reach, and what nothing exceeds if they are exact."""
    if name == "bayes":
        prior = Fraction(case.prior)
        both = [sum(max(prior * p, (1 - prior) * q) for p, q in pair) for pair in case.directions]
        # The laws of a record and of another one are met in either order.
        return (max(both) if case.setting.replaced else both[0]), max(both)
    if name == "reconstruction":  # two values, the more likely one with the baseline
        share = Fraction(case.baseline)
        return sum(max(share * p, (1 - share) * q) for p, q in case.values), None
    truth = all_deltas(case, case.epsilon if name == "delta" else 0)
    return truth, truth


def _epsilon_problem(case, delta, upper, lower, answer):
    if upper is not None and all_deltas(case, upper) > delta + laws.SLACK:
        return "delta there is %.17g" % all_deltas(case, upper)
    if case.exact and lower and all_deltas(case, lower) < delta - laws.SLACK:
        return "delta is %.17g already at the lower bound" % all_deltas(case, lower)
    if answer.get("lower") == "Infinity" and case.exact and all_deltas(case, 50) < delta:
        return "delta is %.17g at epsilon 50" % all_deltas(case, 50)
    return None


def _error_problem(case, name, upper, lower):
    error = laws.type_two_error_at(case.directions, case.alpha)
    if name == "rate":
        upper, lower = (None if bound is None else 1 - bound for bound in (lower, upper))
    if lower is not None and lower > error + laws.SLACK:
        return "a test has type II error %.17g" % error
    if case.exact and upper is not None and upper < error - laws.SLACK:
        return "no test has a type II error below %.17g" % error
    return None


def _gaussian_curve(mu, alpha):
    return NORMAL.cdf(-NORMAL.inv_cdf(alpha) - mu) if 0 < alpha < 1 else 1 - alpha


def _mu_problem(case, upper, answer):
    """No test beats G_mu in the range; and where the curve is known, the regret covers what is between."""
    if upper is None:
        return None
    mu, regret = float(upper), float(answer.get("regret", "Infinity"))
    curve = laws.TradeOff(case.directions)
    alphas = [ALPHA_MIN, 1 - ALPHA_MIN] + [float(x) for pair in case.directions for x, _ in laws.corners(pair)]
    for alpha in alphas:
        if ALPHA_MIN <= alpha <= 1 - ALPHA_MIN:
            error = float(curve.error_at(alpha))
            if error < _gaussian_curve(mu, alpha) - FLOATS:
                return "a test has type II error %.17g at %.17g" % (error, alpha)
    if case.exact and "lower" in answer and math.isfinite(regret):
        for alpha in alphas + [i / 64 for i in range(65)]:
            if alpha + regret <= 1:
                error = float(curve.error_at(max(alpha + regret, 1e-300)))
                if error - regret > _gaussian_curve(mu, alpha) + FLOATS:
                    return "the regret is too small at %.17g, where the error is %.17g" % (alpha + regret, error)
    return None


class EnumeratedCase(Case):
    """A case of random_cases.py with the questions about it."""
    truth = "sums over all outcomes, in fractions"

    def asked(self):
        return asked(self)

    def problem(self, name, answer):
        return problem_of(self, name, answer)

    def is_tight(self):
        return self.exact
