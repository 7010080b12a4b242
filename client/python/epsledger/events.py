"""Mechanism events: immutable values, each of which fully defines the mathematics of one release.

An event is valid once it exists: every number is in its domain, at every depth. Otherwise its constructor raised
ValueError with the field, what it got and what it wants. An event that is valid here is valid for the server and for
`epsctl compute`, and the other way round.

    step = PoissonSampled(sampling_probability=0.01, event=Gaussian(noise_multiplier=1.1))
    step.to_json()      # {"poissonSampled": {"samplingProbability": 0.01, "event": {"gaussian": ...}}}

Intervals: "(" open end, "[" closed end; a NaN is in none. Counts go up to 2**53, where a double is still exact. Numbers
may be of any numeric type (NumPy's too) and are kept as float or int; sequences are kept as tuples. Arguments are given
by name only.
"""
from __future__ import annotations

import dataclasses
import math
import reprlib
import typing
from typing import (Annotated, Any, Callable, ClassVar, Dict, Iterator, List, Mapping, Sequence, Tuple,
                    Type, TypeVar)

from .domain import Choice, Flag, Interval, Range, Table, Text, as_list, refuse

__all__ = [
    "AboveThreshold", "ApproximateDp", "BandedMatrixFactorization", "Composed", "CountedEvent", "DiscreteGaussian",
    "DiscreteLaplace", "DominatingPair", "ExponentialMechanism", "Gaussian", "GaussianDp", "Laplace",
    "MatrixMechanism", "MechanismEvent", "MixtureOfGaussians", "NonPrivate", "PartitionSelection", "PermuteAndFlip",
    "PoissonSampled", "PureDp", "RandomAllocation", "RandomizedResponse", "RenyiCurve", "RepeatAndSelect",
    "ReportNoisyMax", "SampledWithReplacement", "SampledWithoutReplacement", "SelfComposed", "Shuffled",
    "TradeOffCurve", "TreeAggregation", "TruncatedGeometricSelection", "TruncatedPoissonSampled", "UnverifiedClaim",
    "Zcdp",
]

JsonObject = Dict[str, Any]

# The server's bounds on what one event may hold (accounting/event/validation.h).
MAX_DEPTH = 16  # events inside events
MAX_NODES = 10_000  # events in one event, all depths together
# A sum of probabilities counts as 1 within this tolerance.
PROBABILITY_SUM_TOLERANCE = 1e-9
# A law of a DominatingPair is divided by a sum above 1 by no more than this.
LARGEST_EXCESS = 2.0**-40


# --- Fields that hold events. ---------------------------------------------------------------------------


class _Event:
    """One event inside another."""

    absent: ClassVar[JsonObject] = {}

    def keep(self, field: str, value: object) -> MechanismEvent:
        if not isinstance(value, MechanismEvent):
            refuse(field, reprlib.repr(value), "a mechanism event")
        return value

    def write(self, value: MechanismEvent) -> JsonObject:
        return value.to_json()

    def read(self, path: str, value: object, depth: int) -> MechanismEvent:
        return _read_event(path, value, depth)


class _Parts:
    """The counted events of a sequence; none release nothing."""

    absent: ClassVar[Tuple[CountedEvent, ...]] = ()

    def keep(self, field: str, value: object) -> Tuple[CountedEvent, ...]:
        try:
            parts = tuple(typing.cast(Sequence[object], value))
        except TypeError:
            refuse(field, reprlib.repr(value), "a sequence of CountedEvent")
        for i, part in enumerate(parts):
            if not isinstance(part, CountedEvent):
                refuse("%s[%d]" % (field, i), reprlib.repr(part), "a CountedEvent")
        return typing.cast(Tuple["CountedEvent", ...], parts)

    def write(self, value: Tuple[CountedEvent, ...]) -> List[JsonObject]:
        return [part.to_json() for part in value]

    def read(self, path: str, value: object, depth: int) -> Tuple[CountedEvent, ...]:
        return tuple(_read_fields(CountedEvent, "%s[%d]" % (path, i), part, depth)
                     for i, part in enumerate(as_list(path, value)))


Positive = Annotated[float, Interval("(0, inf)")]
NonNegative = Annotated[float, Interval("[0, inf)")]
Probability = Annotated[float, Interval("[0, 1]")]
PositiveProbability = Annotated[float, Interval("(0, 1]")]
# Where 0 means that nothing or everything is released, JSON must say it.
Noise = Annotated[float, Interval("[0, inf)", given=True)]
NoiseShare = Annotated[float, Interval("[0, 1)", given=True)]
GivenProbability = Annotated[float, Interval("[0, 1]", given=True)]
Guarantee = Annotated[float, Interval("[0, inf)", given=True)]
Count = Annotated[int, Range(1)]
Words = Annotated[str, Text()]
Nested = Annotated["MechanismEvent", _Event()]


# --- Reading and writing, once over all kinds. ----------------------------------------------------------


_domains: Dict[type, Dict[str, Any]] = {}


def _domains_of(cls: type) -> Dict[str, Any]:
    """The domain of each field of an event, in the order of the proto."""
    if cls not in _domains:
        hints = typing.get_type_hints(cls, include_extras=True)
        _domains[cls] = {field.name: hints[field.name].__metadata__[0]
                         for field in dataclasses.fields(cls)}
    return _domains[cls]


def _json_name(snake_case: str) -> str:
    first, *others = snake_case.split("_")
    return first + "".join(word.capitalize() for word in others)


def _object(path: str, value: object) -> Mapping[str, object]:
    if not isinstance(value, Mapping):
        refuse(path, reprlib.repr(value), "an object")
    return value


_Fields = TypeVar("_Fields", bound="_Checked")


def _read_fields(cls: Type[_Fields], path: str, value: object, depth: int) -> _Fields:
    """Absent fields have proto3's defaults, which the domains mostly refuse, or must be there."""
    members = _object(path, value)
    domains = _domains_of(cls)
    names = {_json_name(name): name for name in domains}
    for unknown in members.keys() - names.keys():
        refuse("%s.%s" % (path, unknown), "an unknown field", "one of " + ", ".join(names))
    fields = {}
    for json_name, name in names.items():
        at, domain = "%s.%s" % (path, json_name), domains[name]
        got = members.get(json_name, domain.absent)
        if isinstance(domain, (_Event, _Parts)):
            fields[name] = domain.keep(at, domain.read(at, got, depth))
        else:
            fields[name] = domain.keep(at, domain.read(at, got))
    return cls._made(path, fields)


def _read_event(path: str, value: object, depth: int) -> MechanismEvent:
    if depth >= MAX_DEPTH:
        refuse(path, "%d events inside each other" % (depth + 1), "at most %d" % MAX_DEPTH)
    members = _object(path, value)
    if len(members) != 1:
        refuse(path, ", ".join(map(str, members)) or "nothing", "one of " + ", ".join(KINDS))
    kind, fields = next(iter(members.items()))
    if kind not in KINDS:
        refuse("%s.%s" % (path, kind), "an unknown event", "one of " + ", ".join(KINDS))
    return _read_fields(KINDS[kind], "%s.%s" % (path, kind), fields, depth + 1)


class _Checked:
    """Has fields with domains, which are given by name, checked, and then never changed."""

    def __new__(cls, *args: object, **fields: object) -> Any:
        if args:
            names = ", ".join(name + "=..." for name in _domains_of(cls))
            raise TypeError("%s takes its fields by name: %s(%s)" % (cls.__name__, cls.__name__, names))
        return super().__new__(cls)

    def __post_init__(self) -> None:
        self._check(type(self).__name__, str)

    @classmethod
    def _made(cls: Type[_Fields], path: str, fields: Mapping[str, object]) -> _Fields:
        """Returns an instance whose errors name its fields as JSON under `path`."""
        made: _Fields = cls.__new__(cls)
        for name, value in fields.items():
            object.__setattr__(made, name, value)
        made._check(path, _json_name)
        return made

    def _check(self, path: str, spelling: Callable[[str], str]) -> None:
        depth, nodes = 0, 0
        for name, domain in _domains_of(type(self)).items():
            value = domain.keep("%s.%s" % (path, spelling(name)), getattr(self, name))
            object.__setattr__(self, name, value)
            for inner in value if isinstance(domain, _Parts) else [value]:
                if isinstance(inner, _Checked):
                    depth, nodes = max(depth, inner._depth), nodes + inner._nodes
        self._check_together(lambda name: "%s.%s" % (path, spelling(name)))
        if isinstance(self, MechanismEvent):
            depth, nodes = depth + 1, nodes + 1
        if depth > MAX_DEPTH:
            refuse(path, "%d events inside each other" % depth, "at most %d" % MAX_DEPTH)
        if nodes > MAX_NODES:
            refuse(path, "%d events in one" % nodes, "at most %d" % MAX_NODES)
        object.__setattr__(self, "_depth", depth)
        object.__setattr__(self, "_nodes", nodes)

    def _check_together(self, at: Callable[[str], str]) -> None:
        """Checks several fields against each other; at(name) is how errors name a field."""

    def __repr__(self) -> str:
        fields = ("%s=%s" % (name, _shown(getattr(self, name))) for name in _domains_of(type(self)))
        return "%s(%s)" % (type(self).__name__, ", ".join(fields))

    if typing.TYPE_CHECKING:
        _depth: int  # events inside each other, this one included
        _nodes: int  # events in this one, all depths together


def _shown(value: object) -> str:
    if isinstance(value, tuple) and len(value) > 8:
        return "(%s, ... %d in all)" % (", ".join(repr(x) for x in value[:4]), len(value))
    if value == math.inf:
        return 'float("inf")'  # as Python reads it
    return repr(value)


class MechanismEvent(_Checked):
    """One release. Its kinds are the classes below; KINDS has them by their name in JSON."""

    def to_json(self) -> JsonObject:
        """The proto3 JSON of the message MechanismEvent: a dict with one key, the kind."""
        fields = {_json_name(name): domain.write(getattr(self, name))
                  for name, domain in _domains_of(type(self)).items()}
        return {_kind_of(type(self)): fields}

    @staticmethod
    def from_json(value: object, *, path: str = "event") -> MechanismEvent:
        """Returns the event that proto3 JSON (as parsed by `json`) describes: from_json(x.to_json()) == x.

        Raises ValueError, naming the field under `path`, for unknown events and fields, for numbers out of their
        domain, and for a missing event.
        """
        return _read_event(path, value, 0)


@dataclasses.dataclass(frozen=True, repr=False)
class CountedEvent(_Checked):
    """`count` uses of `event` in sequence, parameters fixed. count in [1, 2^53]."""

    event: Nested
    count: Count = 1

    def __iter__(self) -> Iterator[Any]:
        """Unpacks as (event, count)."""
        return iter((self.event, self.count))

    def to_json(self) -> JsonObject:
        """The proto3 JSON of the message CountedEvent."""
        return {"event": self.event.to_json(), "count": str(self.count)}

    @staticmethod
    def from_json(value: object, *, path: str = "events[]") -> CountedEvent:
        """As MechanismEvent.from_json."""
        return _read_fields(CountedEvent, path, value, 0)



# --- The kinds, in the order of proto/epsledger/v1/mechanism.proto. -------------------------------------


@dataclasses.dataclass(frozen=True, repr=False)
class Gaussian(MechanismEvent):
    """Adds N(0, (noise_multiplier * contribution)^2) to a sum whose records contribute norm <=
    contribution. noise_multiplier: noise standard deviation / the largest contribution of ONE
    record, in [0, inf). 0, here and below, is no privacy: every epsilon is infinite."""

    noise_multiplier: Noise


@dataclasses.dataclass(frozen=True, repr=False)
class Laplace(MechanismEvent):
    """Laplace noise of scale noise_multiplier * contribution (L1). In [0, inf)."""

    noise_multiplier: Noise


@dataclasses.dataclass(frozen=True, repr=False)
class DiscreteGaussian(MechanismEvent):
    """Discrete Gaussian with parameter sigma in [0, inf) on an integer query of integer sensitivity
    >= 1."""

    sigma: Noise
    sensitivity: Count


@dataclasses.dataclass(frozen=True, repr=False)
class DiscreteLaplace(MechanismEvent):
    """Discrete Laplace: P[k] proportional to exp(-noise_parameter |k|), on an integer query.
    noise_parameter in (0, inf), sensitivity >= 1."""

    noise_parameter: Positive
    sensitivity: Count


@dataclasses.dataclass(frozen=True, repr=False)
class RandomizedResponse(MechanismEvent):
    """With probability noise_parameter in [0, 1) one of num_buckets >= 2 values, uniformly, otherwise the true
    value."""

    noise_parameter: NoiseShare
    num_buckets: Annotated[int, Range(2)]


@dataclasses.dataclass(frozen=True, repr=False)
class ExponentialMechanism(MechanismEvent):
    """The exponential mechanism as an epsilon-bounded-range mechanism. epsilon in [0, inf)."""

    epsilon: Guarantee


@dataclasses.dataclass(frozen=True, repr=False)
class PermuteAndFlip(MechanismEvent):
    """Permute-and-flip, epsilon-DP. epsilon in [0, inf)."""

    epsilon: Guarantee


@dataclasses.dataclass(frozen=True, repr=False)
class PureDp(MechanismEvent):
    """Any (epsilon, 0)-DP mechanism. epsilon in [0, inf)."""

    epsilon: Guarantee


@dataclasses.dataclass(frozen=True, repr=False)
class ApproximateDp(MechanismEvent):
    """Any (epsilon, delta)-DP mechanism. epsilon in [0, inf), delta in [0, 1]."""

    epsilon: Guarantee
    delta: GivenProbability


@dataclasses.dataclass(frozen=True, repr=False)
class Zcdp(MechanismEvent):
    """Any (xi, rho)-zCDP mechanism: D_a <= xi + rho a for every a > 1. Both in [0, inf)."""

    rho: Guarantee
    xi: NonNegative = 0.0


@dataclasses.dataclass(frozen=True, repr=False)
class GaussianDp(MechanismEvent):
    """Any mu-GDP mechanism. mu in [0, inf)."""

    mu: Guarantee


@dataclasses.dataclass(frozen=True, repr=False)
class RenyiCurve(MechanismEvent):
    """Any mechanism with D_{orders[i]} <= divergences[i]. Orders in (1, inf), strictly increasing;
    divergences in [0, inf), as many. 1 to 10,000 of them."""

    orders: Annotated[Sequence[float], Table("(1, inf)")]
    divergences: Annotated[Sequence[float], Table("[0, inf)")]

    def _check_together(self, at: Callable[[str], str]) -> None:
        _check_columns(at("orders"), self.orders, at("divergences"), self.divergences)
        _check_increasing(at("orders"), self.orders)


@dataclasses.dataclass(frozen=True, repr=False)
class TradeOffCurve(MechanismEvent):
    """Any mechanism whose trade-off function is at least the linear interpolation of the points.
    type_one strictly increasing from 0 to 1; type_two[i] in [0, 1 - type_one[i]], non-increasing, as
    many. 2 to 10,000 of them."""

    type_one: Annotated[Sequence[float], Table("[0, 1]", least=2)]
    type_two: Annotated[Sequence[float], Table("[0, 1]", least=2)]

    def _check_together(self, at: Callable[[str], str]) -> None:
        one, two = at("type_one"), at("type_two")
        _check_columns(one, self.type_one, two, self.type_two)
        _check_increasing(one, self.type_one)
        for i, end in ((0, 0), (len(self.type_one) - 1, 1)):
            if self.type_one[i] != end:
                refuse("%s[%d]" % (one, i), self.type_one[i], str(end))
        for i, y in enumerate(self.type_two):
            most = min(1 - self.type_one[i], self.type_two[max(i - 1, 0)])
            if y > most:
                refuse("%s[%d]" % (two, i), y,
                       "at most %s: no more than 1 - typeOne and than the one before" % most)


@dataclasses.dataclass(frozen=True, repr=False)
class MixtureOfGaussians(MechanismEvent):
    """A Gaussian release in which one record moves the mean by sensitivities[i] (in contributions)
    with probability probabilities[i]. noise_multiplier in [0, inf); sensitivities in [0, inf);
    probabilities sum to 1 within 1e-9, as many. 1 to 10,000 of them."""

    noise_multiplier: Noise
    sensitivities: Annotated[Sequence[float], Table("[0, inf)")]
    probabilities: Annotated[Sequence[float], Table("[0, 1]")]

    def _check_together(self, at: Callable[[str], str]) -> None:
        _check_columns(at("sensitivities"), self.sensitivities, at("probabilities"), self.probabilities)
        total = sum(self.probabilities)
        if abs(total - 1) > PROBABILITY_SUM_TOLERANCE:
            refuse(at("probabilities"), "a sum of %s" % total, "a sum of 1")


@dataclasses.dataclass(frozen=True, repr=False)
class PoissonSampled(MechanismEvent):
    """`event` on a sample that holds each record independently with sampling_probability in [0, 1]. 0:
    nothing is released."""

    sampling_probability: GivenProbability
    event: Nested


@dataclasses.dataclass(frozen=True, repr=False)
class TruncatedPoissonSampled(MechanismEvent):
    """Poisson sampling; of a larger batch a uniformly random max_batch_size records are kept."""

    sampling_probability: GivenProbability
    max_batch_size: Count
    dataset_size: Count
    event: Nested


@dataclasses.dataclass(frozen=True, repr=False)
class SampledWithoutReplacement(MechanismEvent):
    """`event` on a uniform subset of sample_size of dataset_size records."""

    dataset_size: Count
    sample_size: Count
    event: Nested

    def _check_together(self, at: Callable[[str], str]) -> None:
        _check_at_most(at("sample_size"), self.sample_size, self.dataset_size, "datasetSize")


@dataclasses.dataclass(frozen=True, repr=False)
class SampledWithReplacement(MechanismEvent):
    """`event` on sample_size independent uniform draws of dataset_size records."""

    dataset_size: Count
    sample_size: Count
    event: Nested


@dataclasses.dataclass(frozen=True, repr=False)
class RandomAllocation(MechanismEvent):
    """Each record takes part in `selected` uniformly random ones of `rounds` uses of `event`."""

    rounds: Count
    selected: Count
    event: Nested

    def _check_together(self, at: Callable[[str], str]) -> None:
        _check_at_most(at("selected"), self.selected, self.rounds, "rounds")


@dataclasses.dataclass(frozen=True, repr=False)
class Composed(MechanismEvent):
    """The sequence of its parts, up to 10,000 of all depths together. None release nothing."""

    events: Annotated[Sequence[CountedEvent], _Parts()]


@dataclasses.dataclass(frozen=True, repr=False)
class SelfComposed(MechanismEvent):
    """`count` uses of `event`. count in [1, 2^53]."""

    event: Nested
    count: Count


@dataclasses.dataclass(frozen=True, repr=False)
class TreeAggregation(MechanismEvent):
    """Gaussian tree aggregation over step_count leaves, each record in at most one leaf."""

    noise_multiplier: Noise
    step_count: Count


@dataclasses.dataclass(frozen=True, repr=False)
class BandedMatrixFactorization(MechanismEvent):
    """Banded matrix factorisation with unit column norms under b-cyclic Poisson sampling.
    sampling_probability: the overall one, in [0, 1]; an accountant wants bands *
    sampling_probability <= 1."""

    noise_multiplier: Noise
    bands: Count
    iterations: Count
    sampling_probability: GivenProbability


@dataclasses.dataclass(frozen=True, repr=False)
class RepeatAndSelect(MechanismEvent):
    """Private selection of the best of a random number of runs of `event`. mean: expected number of
    runs, in [1, inf). shape of the truncated negative binomial (0: logarithmic, 1: geometric; at least one run), in
    (-1, inf]. inf: a Poisson number of runs, which may be none; then what is released must not depend on the data."""

    event: Nested
    mean: Annotated[float, Interval("[1, inf)")]
    shape: Annotated[float, Interval("(-1, inf]")]


@dataclasses.dataclass(frozen=True, repr=False)
class UnverifiedClaim(MechanismEvent):
    """An (epsilon, delta) that somebody claims. Composes as ApproximateDp, and every guarantee that contains one says
    so. citation: where the claim comes from, up to 1,024 bytes."""

    epsilon: Guarantee
    delta: GivenProbability
    citation: Words = ""


@dataclasses.dataclass(frozen=True, repr=False)
class NonPrivate(MechanismEvent):
    """A release without privacy: every epsilon is infinite from then on. reason: up to 1,024 bytes."""

    reason: Words = ""


@dataclasses.dataclass(frozen=True, repr=False)
class DominatingPair(MechanismEvent):
    """Any mechanism that is dominated by a pair of output laws on finitely many outcomes, given outcome by outcome: P
    (first, with the privacy unit) and Q (second, without it). Under replace-one each use counts in its worse order.
    1 to 10,000 probabilities in [0, 1], as many, each law with a sum in [1 - 1e-9, 1 + 2**-40]. A law is
    divided by a sum of 1 - 2**-48 or more; the mass that a smaller sum leaves out counts as revealed, so round down
    probabilities that are known to fewer digits."""

    first_probabilities: Annotated[Sequence[float], Table("[0, 1]")]
    second_probabilities: Annotated[Sequence[float], Table("[0, 1]")]

    def _check_together(self, at: Callable[[str], str]) -> None:
        first, second = at("first_probabilities"), at("second_probabilities")
        _check_columns(first, self.first_probabilities, second, self.second_probabilities)
        for field, law in ((first, self.first_probabilities), (second, self.second_probabilities)):
            missing = -math.fsum((*law, -1.0))
            if missing > PROBABILITY_SUM_TOLERANCE or missing < -LARGEST_EXCESS:
                refuse(field, "a sum of %s" % (1 - missing),
                       "a sum in [1 - 1e-9, 1 + 2^-40], with probabilities rounded down")


@dataclasses.dataclass(frozen=True, repr=False)
class ReportNoisyMax(MechanismEvent):
    """The index of the largest of several scores, each with independent noise, and nothing else. noise: "LAPLACE",
    "EXPONENTIAL" (permute-and-flip) or "GUMBEL" (the exponential mechanism). noise_multiplier: noise scale / the
    largest change of one score when one record is added, in (0, inf). monotonic: adding a record never lowers a score,
    or for all records never raises one."""

    noise: Annotated[str, Choice("LAPLACE", "EXPONENTIAL", "GUMBEL")]
    noise_multiplier: Positive
    monotonic: Annotated[bool, Flag()] = False


@dataclasses.dataclass(frozen=True, repr=False)
class AboveThreshold(MechanismEvent):
    """The sparse vector technique with Laplace noise: says of each query whether it is above a noisy threshold, until
    `cutoff` of them are. Noise multipliers: noise scale / the largest change of one query when one record is added, in
    (0, inf). The threshold's noise is drawn once. monotonic: adding a record never lowers an answer, or for all records
    never raises one."""

    threshold_noise_multiplier: Positive
    query_noise_multiplier: Positive
    cutoff: Count
    monotonic: Annotated[bool, Flag()] = False


@dataclasses.dataclass(frozen=True, repr=False)
class PartitionSelection(MechanismEvent):
    """Releases one partition, its key and if wanted its noisy size, if its size plus noise is at least `threshold`. A
    unit contributes at most one contribution to it; count one use for each partition of a unit. noise: "LAPLACE" or
    "GAUSSIAN"; noise_multiplier and threshold in contributions, in (0, inf)."""

    noise: Annotated[str, Choice("LAPLACE", "GAUSSIAN")]
    noise_multiplier: Positive
    threshold: Positive


@dataclasses.dataclass(frozen=True, repr=False)
class TruncatedGeometricSelection(MechanismEvent):
    """Releases the key of one partition with the largest probabilities that (epsilon, delta)-DP allows. epsilon in
    [0, inf), delta in (0, 1]; count one use for each partition of a unit."""

    epsilon: Guarantee
    delta: PositiveProbability


@dataclasses.dataclass(frozen=True, repr=False)
class Shuffled(MechanismEvent):
    """`reports` reports in random order, each of one record by the same local randomizer `event`, which is
    epsilon-DP."""

    reports: Count
    event: Nested


@dataclasses.dataclass(frozen=True, repr=False)
class MatrixMechanism(MechanismEvent):
    """A matrix mechanism over a whole run: C G + Z, where row s of G is the sum of the contributions to step s and the
    entries of Z are independent Gaussian noise; or correlated noise C^-1 Z on the rows of G. A unit takes part in at
    most max_participations of `steps` steps, any two at least min_separation apart; both in [1, steps].
    noise_multiplier: standard deviation of an entry of Z / the largest contribution of ONE record to one step.

    strategy, and the fields that are C, which the others must leave empty:
      "MATRIX"            entries: C row by row, in [-1e30, 1e30], a multiple of `steps`, up to 10,000; steps <= 100
      "TOEPLITZ"          coefficients: the first column of the lower triangular C, 1 to min(steps, 10,000)
      "BUFFERED_TOEPLITZ" output_scales in [0, 1e30] and as many decays in [0, 1], 1 to 16: the coefficients 1, then
                          sum_i output_scales[i] * decays[i]**(t - 1)
      "SQUARE_ROOT"       bands in [1, steps]: that many coefficients of (1 - x)**(-1/2)
      "BINARY_TREE"       every dyadic block of steps that is complete; steps <= 2**53
      "IDENTITY"          independent noise; steps <= 2**53
    steps <= 32,768 of the Toeplitz ones."""

    noise_multiplier: Positive
    strategy: Annotated[str, Choice("MATRIX", "TOEPLITZ", "BUFFERED_TOEPLITZ", "SQUARE_ROOT", "BINARY_TREE",
                                    "IDENTITY")]
    steps: Count
    max_participations: Count
    min_separation: Count
    entries: Annotated[Sequence[float], Table("[-1e30, 1e30]", least=0)] = ()
    coefficients: Annotated[Sequence[float], Table("[-1e30, 1e30]", least=0)] = ()
    output_scales: Annotated[Sequence[float], Table("[0, 1e30]", least=0)] = ()
    decays: Annotated[Sequence[float], Table("[0, 1]", least=0)] = ()
    bands: Annotated[int, Range(0)] = 0

    def _check_together(self, at: Callable[[str], str]) -> None:
        most_steps = {"MATRIX": 100, "BINARY_TREE": 1 << 53, "IDENTITY": 1 << 53}.get(self.strategy, 32_768)
        if self.steps > most_steps:
            refuse(at("steps"), self.steps, "in [1, %d]" % most_steps)
        for name in ("max_participations", "min_separation"):
            _check_at_most(at(name), getattr(self, name), self.steps, "steps")
        buffers = 16 if self.strategy == "BUFFERED_TOEPLITZ" else 0
        for name, most in (("entries", 10_000 if self.strategy == "MATRIX" else 0),
                           ("coefficients", min(self.steps, 10_000) if self.strategy == "TOEPLITZ" else 0),
                           ("output_scales", buffers), ("decays", buffers)):
            size = len(getattr(self, name))
            if size > most or most > 0 and size == 0:
                refuse(at(name), "%d points" % size, "1 to %d" % most if most else "none with this strategy")
        if len(self.entries) % self.steps:
            refuse(at("entries"), "%d points" % len(self.entries),
                   "rows of %d each, one for each step" % self.steps)
        _check_columns(at("output_scales"), self.output_scales, at("decays"), self.decays)
        wanted = (1, self.steps) if self.strategy == "SQUARE_ROOT" else (0, 0)
        if not wanted[0] <= self.bands <= wanted[1]:
            refuse(at("bands"), self.bands, "in [%d, %d]" % wanted)


def _check_columns(first: str, one: Sequence[float], second: str, two: Sequence[float]) -> None:
    if len(one) != len(two):
        refuse(second, "%d points" % len(two), "%d, one for each of %s" % (len(one), first))


def _check_increasing(field: str, values: Sequence[float]) -> None:
    for i in range(1, len(values)):
        if not values[i] > values[i - 1]:
            refuse("%s[%d]" % (field, i), values[i], "more than %s, the one before" % values[i - 1])


def _check_at_most(field: str, value: int, most: int, name: str) -> None:
    if value > most:
        refuse(field, value, "in [1, %d], at most %s" % (most, name))


def _kind_of(cls: type) -> str:
    return cls.__name__[0].lower() + cls.__name__[1:]


# The kinds by their name in JSON, in the order of the proto.
KINDS: Mapping[str, Type[MechanismEvent]] = {_kind_of(cls): cls for cls in MechanismEvent.__subclasses__()}
