"""Events of dp_accounting, both ways: from_dp_event(to_dp_event(x)) == x for every event that both know.

An event that only one side knows, or that would lose something on the way, is refused by name. Only to_dp_event imports
dp_accounting. from_dp_event reads classes by their names and fields and imports nothing. It takes DpEvent objects, the
named tuples of DpEvent.to_named_tuple(), and dicts with their fields ("class_name" and, optionally, "module_name" among
them), for example from files.
"""
from __future__ import annotations

import math
import reprlib
from typing import Any, Callable, Dict, Mapping, Tuple, Type

from . import events
from .domain import Interval, Range, as_list, refuse
from .events import MAX_DEPTH, Composed, CountedEvent, MechanismEvent, SelfComposed

# Pairs that differ only in names: ours, theirs, and (our field, their field).
_Fields = Tuple[Tuple[str, str], ...]
_SAME: Mapping[Type[MechanismEvent], Tuple[str, _Fields]] = {
    events.Gaussian: ("GaussianDpEvent", (("noise_multiplier", "noise_multiplier"),)),
    events.Laplace: ("LaplaceDpEvent", (("noise_multiplier", "noise_multiplier"),)),
    events.DiscreteLaplace: ("DiscreteLaplaceDpEvent", (("noise_parameter", "noise_parameter"),
                                                        ("sensitivity", "sensitivity"))),
    events.RandomizedResponse: ("RandomizedResponseDpEvent", (("noise_parameter", "noise_parameter"),
                                                              ("num_buckets", "num_buckets"))),
    events.ExponentialMechanism: ("ExponentialMechanismDpEvent", (("epsilon", "epsilon"),)),
    events.PermuteAndFlip: ("PermuteAndFlipDpEvent", (("epsilon", "epsilon"),)),
    events.ApproximateDp: ("EpsilonDeltaDpEvent", (("epsilon", "epsilon"), ("delta", "delta"))),
    events.Zcdp: ("ZCDpEvent", (("rho", "rho"), ("xi", "xi"))),
    events.MixtureOfGaussians: ("MixtureOfGaussiansDpEvent", (("noise_multiplier", "standard_deviation"),
                                                              ("sensitivities", "sensitivities"),
                                                              ("probabilities", "sampling_probs"))),
    events.PoissonSampled: ("PoissonSampledDpEvent", (("sampling_probability", "sampling_probability"),
                                                      ("event", "event"))),
    events.SampledWithoutReplacement: ("SampledWithoutReplacementDpEvent", (
        ("dataset_size", "source_dataset_size"), ("sample_size", "sample_size"), ("event", "event"))),
    events.SampledWithReplacement: ("SampledWithReplacementDpEvent", (
        ("dataset_size", "source_dataset_size"), ("sample_size", "sample_size"), ("event", "event"))),
    events.SelfComposed: ("SelfComposedDpEvent", (("event", "event"), ("count", "count"))),
    events.TreeAggregation: ("SingleEpochTreeAggregationDpEvent", (("noise_multiplier", "noise_multiplier"),
                                                                   ("step_count", "step_counts"))),
    events.RepeatAndSelect: ("RepeatAndSelectDpEvent", (("event", "event"), ("mean", "mean"),
                                                        ("shape", "shape"))),
}
_OURS = {theirs: (cls, fields) for cls, (theirs, fields) in _SAME.items()}


def to_dp_event(event: MechanismEvent) -> Any:
    """Returns the dp_accounting.DpEvent with the same meaning. Imports dp_accounting.

    PureDp is EpsilonDeltaDpEvent with delta 0, and with epsilon 0 NoOpDpEvent. Raises ValueError if dp_accounting, or
    the installed version of it, has no such event, and ImportError if it is not installed.
    """
    from dp_accounting import dp_event  # the only import of it here

    def their(name: str) -> Callable[..., Any]:
        try:
            return getattr(dp_event, name)  # type: ignore[no-any-return]
        except AttributeError:
            refuse("event", repr(event), "a version of dp_accounting that has %s" % name)

    def convert(event: MechanismEvent) -> Any:
        if type(event) in _SAME:
            name, fields = _SAME[type(event)]
            values = ((theirs, getattr(event, ours)) for ours, theirs in fields)
            return their(name)(**{name: convert(value) if isinstance(value, MechanismEvent)
                                  else list(value) if isinstance(value, tuple) else value
                                  for name, value in values})
        if isinstance(event, Composed):
            return their("ComposedDpEvent")([part(counted) for counted in event.events])
        if isinstance(event, events.TruncatedPoissonSampled) and isinstance(event.event, events.Gaussian):
            return their("TruncatedSubsampledGaussianDpEvent")(
                dataset_size=event.dataset_size, sampling_probability=event.sampling_probability,
                truncated_batch_size=event.max_batch_size, noise_multiplier=event.event.noise_multiplier)
        if isinstance(event, events.DiscreteGaussian):
            return their("DiscreteGaussianDpEvent")(sigma=event.sigma, sensitivity=float(event.sensitivity), dimension=1)
        if event == events.NonPrivate():
            return their("NonPrivateDpEvent")()
        if isinstance(event, events.PureDp):
            return their("EpsilonDeltaDpEvent")(event.epsilon, 0.0) if event.epsilon else their("NoOpDpEvent")()
        refuse("event", repr(event), "an event that dp_accounting can say in full")

    def part(counted: CountedEvent) -> Any:
        # A part that is itself a SelfComposed keeps its count of 1, so that it reads back as a SelfComposed.
        if counted.count == 1 and not isinstance(counted.event, SelfComposed):
            return convert(counted.event)
        return their("SelfComposedDpEvent")(convert(counted.event), counted.count)

    return convert(event)


def from_dp_event(event: object, *, path: str = "event") -> MechanismEvent:
    """Returns the event that a DpEvent, its named tuple, or a dict of its fields describes.

    NoOpDpEvent is PureDp(epsilon=0), and EpsilonDeltaDpEvent with delta 0 is PureDp. DiscreteGaussianDpEvent is known in
    one dimension. A record is in at most one of the trees of SingleEpochTreeAggregationDpEvent, so
    they cost as much as the largest. Noise of 0 is no privacy, a sampling probability of 0 and an empty composition
    release nothing, as there; noise of 0 inside a sampling with probability 0 is no privacy here and nothing there. Raises ValueError, naming the class under `path`, for events and fields that are
    unknown here, and for numbers out of their domain.
    """
    return _read(event, path, 0)


def _read(event: object, path: str, depth: int) -> MechanismEvent:
    if depth >= MAX_DEPTH:
        refuse(path, "%d events inside each other" % (depth + 1), "at most %d" % MAX_DEPTH)
    name, fields = _parts(event, path)

    def take(wanted: Tuple[str, ...]) -> Tuple[object, ...]:
        if set(fields) != set(wanted):
            refuse("%s (%s)" % (path, name), "the fields " + (", ".join(sorted(fields)) or "(none)"),
                   ", ".join(wanted) or "none")
        return tuple(fields[field] for field in wanted)

    if name in _OURS:
        cls, names = _OURS[name]
        values: Dict[str, Any] = dict(zip((ours for ours, _ in names), take(tuple(t for _, t in names))))
        if "event" in values:
            values["event"] = _read(values["event"], path + ".event", depth + 1)
        if "step_count" in values and isinstance(values["step_count"], (list, tuple)):
            at = "%s (%s).step_counts" % (path, name)
            values["step_count"] = max((Range(1).keep(at, count) for count in values["step_count"]), default=0)
        made: MechanismEvent = cls(**values)
        if isinstance(made, events.ApproximateDp) and made.delta == 0:
            return events.PureDp(epsilon=made.epsilon)
        return made
    if name == "DiscreteGaussianDpEvent":
        return _discrete_gaussian(path, *take(("sigma", "sensitivity", "dimension")))
    if name == "ComposedDpEvent":
        (parts,) = take(("events",))
        return Composed(events=[_counted(part, "%s.events[%d]" % (path, i), depth + 1)
                                for i, part in enumerate(as_list(path + ".events", parts))])
    if name == "TruncatedSubsampledGaussianDpEvent":
        values = dict(zip(("dataset_size", "sampling_probability", "max_batch_size", "noise_multiplier"), take(
            ("dataset_size", "sampling_probability", "truncated_batch_size", "noise_multiplier"))))
        gaussian = events.Gaussian(noise_multiplier=values.pop("noise_multiplier"))
        return events.TruncatedPoissonSampled(event=gaussian, **values)
    if name == "NonPrivateDpEvent":
        take(())
        return events.NonPrivate()
    if name == "NoOpDpEvent":
        take(())
        return events.PureDp(epsilon=0)
    refuse(path, name, "one of " + ", ".join(sorted([*_OURS, "ComposedDpEvent", "DiscreteGaussianDpEvent", "NoOpDpEvent",
                                                     "NonPrivateDpEvent", "TruncatedSubsampledGaussianDpEvent"])))


def _discrete_gaussian(path: str, sigma: object, sensitivity: object, dimension: object) -> MechanismEvent:
    """More dimensions are not dominated by one, and their zCDP depends on the relation under which the sensitivity is
    meant, which the event does not say."""
    at = path + " (DiscreteGaussianDpEvent)."
    deviation = Interval("[0, inf)").keep(at + "sigma", sigma)
    change = Interval("(0, inf)").keep(at + "sensitivity", sensitivity)
    if dimension is None or Range(1).keep(at + "dimension", dimension) != 1:
        refuse(at + "dimension", repr(dimension),
               "1; for more, ZCDpEvent(sensitivity**2 / (2 * sigma**2)), the sensitivity under the neighboring relation")
    if change != math.floor(change):
        refuse(at + "sensitivity", repr(change), "an integer, as the query of one dimension is one of integers")
    return events.DiscreteGaussian(sigma=deviation, sensitivity=int(change))


def _counted(part: object, path: str, depth: int) -> CountedEvent:
    event = _read(part, path, depth)
    if isinstance(event, SelfComposed):
        return CountedEvent(event=event.event, count=event.count)
    return CountedEvent(event=event)


def _parts(event: object, path: str) -> Tuple[str, Dict[str, object]]:
    """Returns the class name and the fields of a DpEvent in any of its forms."""
    attributes = getattr(type(event), "__attrs_attrs__", None)
    if attributes is not None:
        fields: Dict[str, object] = {a.name: getattr(event, a.name) for a in attributes}
        name: object = type(event).__name__
        module: object = type(event).__module__
    elif isinstance(event, tuple) and hasattr(event, "_fields") or isinstance(event, Mapping):
        fields = dict(event) if isinstance(event, Mapping) else dict(zip(getattr(event, "_fields"), event))
        name, module = fields.pop("class_name", None), fields.pop("module_name", "dp_accounting.dp_event")
    else:
        refuse(path, reprlib.repr(event), "a DpEvent of dp_accounting, its named tuple, or a dict with class_name")
    if isinstance(name, bytes):
        name = name.decode(errors="replace")
    if isinstance(module, bytes):
        module = module.decode(errors="replace")
    if not isinstance(name, str):
        refuse(path + ".class_name", reprlib.repr(name), "the name of a DpEvent class")
    if module != "dp_accounting.dp_event":
        refuse(path, "%s of module %s" % (name, module), "a class of dp_accounting.dp_event")
    return name, fields
