"""Random events that add noise to a sum, sampled or not: what they release, binned into cells.

The other records contribute whatever is worst among a few choices. A record contributes `contribution`, the one in its
place the opposite."""
import math
from fractions import Fraction

import exact_laws as laws
import noise_laws
from parts import Part, any_probability, binomial, joint, log_uniform, part_of, positive_numbers

CELLS = 9


def _continuous(draw):
    scale = log_uniform(draw, 0.7, 8)
    if draw.random() < 0.6:
        return {"gaussian": {"noiseMultiplier": scale}}, noise_laws.Gaussian(), 1 / Fraction(scale)
    return {"laplace": {"noiseMultiplier": scale}}, noise_laws.Laplace(), 1 / Fraction(scale)


def _integer(draw):
    sensitivity = draw.randint(1, 2)
    if draw.random() < 0.5:
        sigma = draw.uniform(0.4, 1.3)
        event = {"discreteGaussian": {"sigma": sigma, "sensitivity": str(sensitivity)}}
        return event, noise_laws.DiscreteGaussian(sigma), Fraction(sensitivity)
    rate = draw.uniform(0.3, 2)
    event = {"discreteLaplace": {"noiseParameter": rate, "sensitivity": str(sensitivity)}}
    return event, noise_laws.DiscreteLaplace(rate), Fraction(sensitivity)


def _noise(draw, setting):
    """An event, its noise, and one contribution in units of the noise."""
    if setting.stated_for_replacement or draw.random() < 0.7:
        event, noise, unit = _continuous(draw)
        return event, noise, unit * setting.contribution
    return _integer(draw)


def _released(draw, setting, event, noise, with_one, with_other, without, cells=CELLS, exact=False):
    mixtures = [with_one, with_other if setting.replaced else without, without]
    cuts = noise_laws.cuts_of(draw, noise, mixtures, setting.epsilon, cells)
    laws3 = noise_laws.binned(noise, [with_one, with_other, without], cuts)
    return part_of(event, laws3, setting, exact)


def direct(draw, setting, cells=CELLS):
    event, noise, unit = _noise(draw, setting)
    place = setting.group * unit
    return _released(draw, setting, event, noise, [(1, place)], [(1, -place)], [(1, Fraction(0))], cells,
                     isinstance(noise, noise_laws.DiscreteGaussian))


def one_release(draw, setting):
    return direct(draw, setting)


def without_noise(draw, setting):
    event = draw.choice([{"nonPrivate": {}}, {"nonPrivate": {}}, {"gaussian": {"noiseMultiplier": 0}}, {"laplace": {"noiseMultiplier": 0}},
                         {"discreteGaussian": {"sigma": 0, "sensitivity": "1"}}])
    return Part(event, [(Fraction(1), Fraction(0)), (Fraction(0), Fraction(1))], True)


def nothing(draw, setting):
    event = draw.choice([{"composed": {"events": []}},
                         {"poissonSampled": {"samplingProbability": 0, "event": _continuous(draw)[0]}}])
    return Part(event, [(Fraction(1), Fraction(1))], True)


def mixture_of_gaussians(draw, setting):
    scale, count = log_uniform(draw, 0.9, 8), draw.randint(1, 3)
    shifts = [draw.choice([0.0, 1.0, draw.uniform(0, 1.5)]) for _ in range(count)]
    weights = positive_numbers(draw, count, 64) if count > 1 else [Fraction(1)]
    event = {"mixtureOfGaussians": {"noiseMultiplier": scale, "sensitivities": shifts,
                                    "probabilities": list(map(float, weights))}}
    moved = [(Fraction(1), Fraction(0))]
    for _ in range(setting.group):
        moved = [(w * v, place + Fraction(s) * setting.contribution / Fraction(scale))
                 for w, place in moved for v, s in zip(weights, shifts)]
    return _released(draw, setting, event, noise_laws.Gaussian(), moved, [(w, -place) for w, place in moved],
                     [(1, Fraction(0))])


def poisson_sampled(draw, setting):
    event, noise, unit = _noise(draw, setting)
    q = any_probability(draw)
    moved = [(w, j * unit) for j, w in enumerate(binomial(setting.group, Fraction(q)))]
    event = {"poissonSampled": {"samplingProbability": q, "event": event}}
    if draw.random() < 0.2:  # a sample of a sample
        event, moved = {"poissonSampled": {"samplingProbability": 0.5, "event": event}}, [
            (w, j * unit) for j, w in enumerate(binomial(setting.group, Fraction(q) / 2))]
    exact = noise.integer and not setting.replaced and setting.group == 1
    return _released(draw, setting, event, noise, moved, [(w, -place) for w, place in moved], [(1, Fraction(0))],
                     exact=exact)


def truncated_poisson_sampled(draw, setting):
    """`others` records contribute the same each; how many of them are in the batch is not told."""
    event, noise, unit = _noise(draw, setting)
    q, others, limit, each = draw.uniform(0.05, 1), draw.randint(1, 4), draw.randint(1, 4), draw.choice([-1, 0, 1])
    with_one, with_other, without = [], [], []
    # Zeroed out, a record keeps its place.
    replacement = -1 if setting.replaced else 0
    keeps_place = setting.relation != "ADD_OR_REMOVE_ONE"
    for k, w in enumerate(binomial(others, Fraction(q))):
        kept = Fraction(q) * min(Fraction(1), Fraction(limit, k + 1))
        batch = min(k + 1, limit) - 1
        out = min(k, limit) * each
        with_one += [((1 - kept) * w, out * unit), (kept * w, (1 + batch * each) * unit)]
        with_other += [((1 - kept) * w, out * unit), (kept * w, (replacement + batch * each) * unit)]
        without.append((w, out * unit))
    size = others + (1 if keeps_place else draw.choice([0, 1]))
    event = {"truncatedPoissonSampled": {"samplingProbability": q, "maxBatchSize": str(limit),
                                         "datasetSize": str(size), "event": event}}
    return _released(draw, setting, event, noise, with_one, with_other, with_other if keeps_place else without)


def sampled_without_replacement(draw, setting):
    event, noise, unit = _noise(draw, setting)
    n, each = draw.randint(2, 12), draw.choice([-1, -1, 0, 1])
    m = draw.randint(1, n - 1)
    q, out = Fraction(m, n), m * each * unit
    # Zeroed out, a record keeps its place.
    keeps_place = setting.relation == "REPLACE_SPECIAL"
    with_one = [(1 - q, out), (q, (1 + (m - 1) * each) * unit)]
    with_other = [(1 - q, out), (q, ((-1 if setting.replaced else 0) + (m - 1) * each) * unit)]
    event = {"sampledWithoutReplacement": {"datasetSize": str(n), "sampleSize": str(m), "event": event}}
    return _released(draw, setting, event, noise, with_one, with_other, with_other if keeps_place else [(1, out)])


def sampled_with_replacement(draw, setting):
    event, noise, unit = _noise(draw, setting)
    n, m, each = draw.randint(2, 12), draw.randint(1, 4), draw.choice([-1, -1, 0, 1])
    keeps_place = setting.relation == "REPLACE_SPECIAL"
    drawn = list(enumerate(binomial(m, Fraction(1, n))))
    other = -1 if setting.replaced else 0
    with_one = [(w, (j + (m - j) * each) * unit) for j, w in drawn]
    with_other = [(w, (other * j + (m - j) * each) * unit) for j, w in drawn]
    event = {"sampledWithReplacement": {"datasetSize": str(n), "sampleSize": str(m), "event": event}}
    return _released(draw, setting, event, noise, with_one, with_other,
                     with_other if keeps_place else [(1, m * each * unit)])


def gaussian_at(draw, setting, event, distance):
    """Gaussian noise around two places, `distance` deviations apart for one record that is added."""
    place = Fraction(distance) * setting.contribution * setting.group
    return _released(draw, setting, event, noise_laws.Gaussian(), [(1, place)], [(1, -place)], [(1, Fraction(0))])


def tree_aggregation(draw, setting):
    """The first leaf is in the blocks of every length up to the number of leaves."""
    steps, scale = draw.randint(1, 70), log_uniform(draw, 2, 20)
    event = {"treeAggregation": {"noiseMultiplier": scale, "stepCount": str(steps)}}
    return gaussian_at(draw, setting, event, math.sqrt(steps.bit_length()) / scale * (1 - 1e-15))


def banded(draw, setting):
    """Of the matrices with that many bands the identity, so that every round is a Poisson sample of one part."""
    bands, rounds, scale = draw.randint(1, 4), draw.randint(1, 2), log_uniform(draw, 0.7, 8)
    iterations = bands * (rounds - 1) + draw.randint(1, bands)
    q = draw.choice([1 / 4, 1 / 8, 1 / 64])
    event = {"bandedMatrixFactorization": {"noiseMultiplier": scale, "bands": str(bands), "iterations": str(iterations),
                                           "samplingProbability": q}}
    place = setting.contribution / Fraction(scale)
    moved = [(1 - bands * Fraction(q), Fraction(0)), (bands * Fraction(q), place)]
    one = _released(draw, setting, event, noise_laws.Gaussian(), moved, [(w, -x) for w, x in moved],
                    [(1, Fraction(0))], cells=7)
    return part_of(event, joint(*[one.laws3] * rounds), setting)


def sampled_composition(draw, setting):
    """Two releases of one sample."""
    parts = [direct(draw, setting, cells=5) for _ in range(2)]
    q = any_probability(draw)
    inner = {"composed": {"events": [{"event": part.event, "count": "1"} for part in parts]}}
    laws3 = [(Fraction(q) * a + (1 - Fraction(q)) * w, Fraction(q) * b + (1 - Fraction(q)) * w, w)
             for a, b, w in joint(*[part.laws3 for part in parts])]
    return part_of({"poissonSampled": {"samplingProbability": q, "event": inner}}, laws3, setting)


def allocated(draw, setting):
    """A record takes part in some of the rounds. Noise, or a mechanism with few outcomes."""
    one = direct(draw, setting, cells=3)
    rounds = draw.randint(1, 2)
    selected = draw.randint(1, rounds)
    event = {"randomAllocation": {"rounds": str(rounds), "selected": str(selected), "event": one.event}}
    coarse = [(a, w) for a, _, w in one.laws3]
    while len(coarse) > 12:
        coarse = [tuple(map(sum, zip(*coarse[i:i + 2]))) for i in range(0, len(coarse), 2)]
    return Part(event, laws.allocated(coarse, rounds, selected), False)
