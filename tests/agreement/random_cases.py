"""Random mechanisms: one or two events, and output laws on two neighbors that the events allow.

A case is exact if no mechanism of its events is easier to attack in the worse of both directions; otherwise its laws are
one example, and bound what is true from below."""
import math
import random

import analytic_parts as analytic
import exact_laws as laws
import noise_parts as noise
import promise_parts as promise
from parts import Setting

MOST_OUTCOMES = 600
# Parts that know what a noise multiplier that is stated for replacement means; the others have none.
STATED = (noise.one_release, noise.mixture_of_gaussians, noise.poisson_sampled, noise.truncated_poisson_sampled,
          noise.sampled_without_replacement, noise.sampled_with_replacement, noise.tree_aggregation,
          noise.sampled_composition, analytic.noisy_max, analytic.above_threshold, promise.approximate,
          promise.trade_off_curve, promise.sampled_promise)
ONE_UNIT = (noise.truncated_poisson_sampled, noise.sampled_without_replacement, noise.sampled_with_replacement,
            noise.banded, noise.sampled_composition, noise.allocated, promise.allocation, promise.selection,
            promise.sampled_pair, promise.sampled_black_box, promise.pair_of_laws, promise.response,
            promise.sampled_sequence, analytic.shuffled)
PARTS = STATED + (noise.without_noise, noise.nothing, noise.banded, noise.allocated, promise.pure, promise.gaussian_dp,
                  promise.zcdp, promise.renyi_curve, promise.response, promise.discrete_laplace, promise.pair_of_laws,
                  promise.sampled_pair, promise.sampled_black_box, promise.selection, promise.allocation,
                  promise.nested, promise.sampled_sequence, analytic.bounded_range, analytic.permute_and_flip,
                  analytic.partition, analytic.truncated_geometric, analytic.shuffled, analytic.matrix_mechanism)
RARE = (noise.without_noise, noise.nothing)
# For these one direction or relation is all there is.
ALONE = {noise.banded: "ADD_OR_REMOVE_ONE", noise.allocated: "ADD_OR_REMOVE_ONE"}


def _part(draw, setting):
    while True:
        chosen = draw.choice(STATED if setting.stated_for_replacement else PARTS)
        if chosen in RARE and draw.random() < 0.5 or setting.group > 1 and chosen in ONE_UNIT:
            continue
        if setting.relation == "REPLACE_ONE" and chosen in ALONE:
            continue
        return chosen(draw, setting)


def kinds_of(event):
    """The kinds of an event and of all that is inside it."""
    kind, fields = next(iter(event.items()))
    yield kind
    inner = [fields["event"]] if "event" in fields else [part["event"] for part in fields.get("events", [])]
    for part in inner:
        yield from kinds_of(part)


class Case:
    """One or two events in sequence, each once or twice, with random numbers of their own."""

    def __init__(self, seed):
        draw = random.Random(seed)
        self.seed, self.setting = seed, Setting(draw)
        parts, counts, outcomes = [], [], 1
        for _ in range(draw.choice([1, 1, 1, 1, 1, 2])):
            part, count = _part(draw, self.setting), draw.choice([1, 1, 2])
            if len(part.pair)**count * outcomes > MOST_OUTCOMES:
                count = 1
            outcomes *= len(part.pair)**count
            if parts and outcomes > MOST_OUTCOMES:
                break
            parts.append(part)
            counts.append(count)
        self.events = [{"event": part.event, "count": str(count)} for part, count in zip(parts, counts)]
        pair = laws.product(*(part.pair for part, count in zip(parts, counts) for _ in range(count)))
        self.pair = pair
        self.directions = {"REMOVE": (pair,), "ADD": (laws.reverse(pair),)}.get(
            self.setting.adjacency, (pair, laws.reverse(pair)))
        self.exact = all(part.exact for part in parts)
        laws3 = parts[0].laws3 if len(parts) == 1 and counts == [1] else None
        # Two values of one record, and what is without it where that is a neighbor of both.
        self.values = pair if self.setting.replaced else laws3 and [(a, b) for a, b, _ in laws3]
        self.epsilon = self.setting.epsilon
        self.delta = math.exp(draw.uniform(math.log(1e-10), math.log(0.5)))
        self.alpha = draw.choice([draw.uniform(0, 1), math.exp(draw.uniform(math.log(1e-6), 0))])
        self.order = draw.choice([2, 3, 8, 32])
        self.prior, self.baseline = draw.uniform(0.02, 0.98), draw.uniform(0.5, 0.99)
        self.draw = random.Random(draw.random())

    @property
    def relation(self):
        return self.setting.relation

    def kinds(self):
        return {kind for part in self.events for kind in kinds_of(part["event"])}
