"""Events: what exists is valid, reads back the same, and is taken by the calculator; the rest is refused by name."""
import copy
import json
import math
import os
import pickle
import re
import subprocess
import unittest

from epsledger import events as e
from valid_events import GAUSSIAN, STEP, VALID_EVENTS

BUILD = os.environ.get("EPSLEDGER_BUILD", "")
MECHANISM_PROTO = os.path.join(os.path.dirname(__file__), "../../proto/epsledger/v1/mechanism.proto")


def nested(depth):
    event = GAUSSIAN
    for _ in range(depth - 1):
        event = e.SelfComposed(event=event, count=1)
    return event


def compute(lines):
    """What `epsctl compute` answers to each request."""
    run = subprocess.run([os.path.join(BUILD, "client/cli/epsctl"), "compute"], text=True, capture_output=True,
                         input="".join(json.dumps(line) + "\n" for line in lines), timeout=120)
    return [json.loads(line) for line in run.stdout.splitlines()]


class Event(unittest.TestCase):
    def test_every_kind_of_the_proto_is_here_with_its_fields(self):
        with open(MECHANISM_PROTO, encoding="utf-8") as stream:
            text = re.sub(r"//.*", "", stream.read())
        kinds = dict(re.findall(r"  (\w+) (\w+) = \d+;", re.search(r"oneof kind \{(.*?)\n  \}", text, re.S)[1]))
        self.assertEqual(list(kinds), [cls.__name__ for cls in e.KINDS.values()])
        for message in kinds:
            body = re.search(r"\nmessage %s \{(.*?)\n\}" % message, text, re.S)[1]
            fields = re.findall(r"^  (?:repeated |optional )?[\w.]+ (\w+) = \d+;", body, re.M)
            self.assertEqual(fields, list(getattr(e, message).__dataclass_fields__), message)

    def test_every_kind_is_tried(self):
        self.assertEqual({type(event) for event in VALID_EVENTS}, set(e.KINDS.values()))

    def test_reads_back_the_same(self):
        for event in VALID_EVENTS:
            with self.subTest(event=event):
                text = json.dumps(event.to_json(), allow_nan=False)
                self.assertEqual(e.MechanismEvent.from_json(json.loads(text)), event)
                self.assertEqual(pickle.loads(pickle.dumps(event)), event)
                self.assertEqual(copy.deepcopy(event), event)
                self.assertEqual(hash(copy.deepcopy(event)), hash(event))
                if not any(len(v) > 8 for v in vars(event).values() if isinstance(v, tuple)):
                    self.assertEqual(eval(repr(event), {**vars(e), "inf": math.inf}), event)

    def test_reads_what_proto3_json_may_leave_out_or_spell_otherwise(self):
        read = e.MechanismEvent.from_json
        self.assertEqual(read({"composed": {}}), e.Composed(events=()))
        self.assertEqual(read({"gaussian": {"noiseMultiplier": "1.5e0"}}), e.Gaussian(noise_multiplier=1.5))
        self.assertEqual(read({"selfComposed": {"count": 3, "event": {"pureDp": {"epsilon": 0}}}}),
                         read({"selfComposed": {"count": "3", "event": {"pureDp": {"epsilon": 0}}}}))
        self.assertEqual(e.CountedEvent.from_json({"event": GAUSSIAN.to_json(), "count": "7"}),
                         e.CountedEvent(event=GAUSSIAN, count=7))

    def test_is_never_changed(self):
        with self.assertRaises(AttributeError):
            GAUSSIAN.noise_multiplier = 100

    def test_takes_fields_by_name_only(self):
        with self.assertRaisesRegex(TypeError, r"by name: Gaussian\(noise_multiplier=\.\.\.\)"):
            e.Gaussian(1.1)

    def test_refuses_what_is_out_of_its_domain(self):
        half = [0, 0.5, 1]
        nan = float("nan")
        table = [
            (lambda: e.Gaussian(noise_multiplier=-1), r"^Gaussian.noise_multiplier: got -1.0, want in \[0, inf\)$"),
            (lambda: e.Gaussian(noise_multiplier=nan), r"noise_multiplier: got nan, want"),
            (lambda: e.Gaussian(noise_multiplier=float("inf")), r"got inf, want"),
            (lambda: e.Gaussian(noise_multiplier=10**400), r"got inf, want"),
            (lambda: e.Gaussian(noise_multiplier="1"), r"got '1', want a number"),
            (lambda: e.Gaussian(noise_multiplier=True), r"got True, want a number"),
            (lambda: e.Gaussian(noise_multiplier=None), r"got None, want a number"),
            (lambda: e.PureDp(epsilon=-1), r"PureDp.epsilon: got -1.0, want in \[0, inf\)"),
            (lambda: e.ApproximateDp(epsilon=1, delta=1.5), r"delta: got 1.5, want in \[0, 1\]"),
            (lambda: e.RandomizedResponse(noise_parameter=1, num_buckets=2),
             r"noise_parameter: got 1.0, want in \[0, 1\)"),
            (lambda: e.RandomizedResponse(noise_parameter=0.5, num_buckets=1),
             r"num_buckets: got 1, want .*\[2, 2\^53\]"),
            (lambda: e.SelfComposed(event=GAUSSIAN, count=0), r"count: got 0, want a whole number in \[1, 2\^53\]"),
            (lambda: e.SelfComposed(event=GAUSSIAN, count=2.0), r"count: got 2.0, want a whole number"),
            (lambda: e.SelfComposed(event=GAUSSIAN, count=2**53 + 1), r"count: got 9007199254740993, want"),
            (lambda: e.SelfComposed(event={"gaussian": {}}, count=1), r"event: got .*, want a mechanism event"),
            (lambda: e.PoissonSampled(sampling_probability=1.5, event=GAUSSIAN),
             r"sampling_probability: got 1.5, want in \[0, 1\]"),
            (lambda: e.DiscreteLaplace(noise_parameter=0, sensitivity=1),
             r"noise_parameter: got 0.0, want in \(0, inf\)"),
            (lambda: e.RenyiCurve(orders=[2, 2], divergences=[0, 0]), r"orders\[1\]: got 2.0, want more than 2.0"),
            (lambda: e.RenyiCurve(orders=[2], divergences=[0, 0]),
             r"divergences: got 2 points, want 1, one for each"),
            (lambda: e.RenyiCurve(orders=[1], divergences=[0]), r"orders\[0\]: got 1.0, want in \(1, inf\)"),
            (lambda: e.RenyiCurve(orders=[], divergences=[]), r"orders: got 0 points, want 1 to 10000"),
            (lambda: e.RenyiCurve(orders=3, divergences=[]), r"orders: got 3, want a sequence"),
            (lambda: e.TradeOffCurve(type_one=[0, 0.5], type_two=[1, 0]), r"type_one\[1\]: got 0.5, want 1"),
            (lambda: e.TradeOffCurve(type_one=[0.1, 1], type_two=[0.5, 0]), r"type_one\[0\]: got 0.1, want 0"),
            (lambda: e.TradeOffCurve(type_one=half, type_two=[1, 0.75, 0]),
             r"type_two\[1\]: got 0.75, want at most 0.5"),
            (lambda: e.TradeOffCurve(type_one=half, type_two=[0.25, 0.5, 0]),
             r"type_two\[1\]: got 0.5, want at most 0.25"),
            (lambda: e.MixtureOfGaussians(noise_multiplier=1, sensitivities=[1], probabilities=[0.5]),
             r"probabilities: got a sum of 0.5, want a sum of 1"),
            (lambda: e.SampledWithoutReplacement(dataset_size=5, sample_size=6, event=GAUSSIAN),
             r"sample_size: got 6, want in \[1, 5\]"),
            (lambda: e.RandomAllocation(rounds=5, selected=6, event=GAUSSIAN), r"selected: got 6, want in \[1, 5\]"),
            (lambda: e.Composed(events=[GAUSSIAN]), r"events\[0\]: got .*, want a CountedEvent"),
            (lambda: e.RepeatAndSelect(event=GAUSSIAN, mean=0.5, shape=0), r"mean: got 0.5, want in \[1, inf\)"),
            (lambda: e.RepeatAndSelect(event=GAUSSIAN, mean=1, shape=-1), r"shape: got -1.0, want in \(-1, inf\]"),
            (lambda: e.UnverifiedClaim(epsilon=1, delta=0, citation="é" * 513),
             r"citation: got 1026 bytes, want at most 1024"),
            (lambda: e.NonPrivate(reason=b"x"), r"reason: got b'x', want a text"),
            (lambda: e.DominatingPair(first_probabilities=[1], second_probabilities=[0.5, 0.5]),
             r"second_probabilities: got 2 points, want 1, one for each"),
            (lambda: e.DominatingPair(first_probabilities=[0.5, 0.5], second_probabilities=[0.5, 0.4]),
             r"second_probabilities: got a sum of 0.9, want a sum in \[1 - 1e-9, 1 \+ 2\^-40\]"),
            (lambda: e.DominatingPair(first_probabilities=[0.5, 0.5 + 1e-12], second_probabilities=[0.5, 0.5]),
             r"first_probabilities: got a sum of 1.000000000001"),
            (lambda: e.ReportNoisyMax(noise="GAUSSIAN", noise_multiplier=1),
             r"noise: got GAUSSIAN, want one of LAPLACE, EXPONENTIAL, GUMBEL"),
            (lambda: e.ReportNoisyMax(noise="LAPLACE", noise_multiplier=1, monotonic=1),
             r"monotonic: got 1, want True or False"),
            (lambda: e.PartitionSelection(noise="GUMBEL", noise_multiplier=1, threshold=3),
             r"noise: got GUMBEL, want one of LAPLACE, GAUSSIAN"),
            (lambda: e.AboveThreshold(threshold_noise_multiplier=1, query_noise_multiplier=1, cutoff=0),
             r"cutoff: got 0, want"),
            (lambda: e.TruncatedGeometricSelection(epsilon=1, delta=0), r"delta: got 0.0, want in \(0, 1\]"),
            (lambda: e.MatrixMechanism(noise_multiplier=1, strategy="IDENTITY", steps=3, max_participations=4,
                                       min_separation=1), r"max_participations: got 4, want in \[1, 3\]"),
            (lambda: e.MatrixMechanism(noise_multiplier=1, strategy="TOEPLITZ", steps=3, max_participations=1,
                                       min_separation=1), r"coefficients: got 0 points, want 1 to 3"),
            (lambda: e.MatrixMechanism(noise_multiplier=1, strategy="MATRIX", steps=2, max_participations=1,
                                       min_separation=1, entries=[1, 2, 3]), r"entries: got 3 points, want rows of 2"),
            (lambda: e.MatrixMechanism(noise_multiplier=1, strategy="IDENTITY", steps=3, max_participations=1,
                                       min_separation=1, bands=1), r"bands: got 1, want in \[0, 0\]"),
            (lambda: nested(17), r"got 17 events inside each other, want at most 16"),
            (lambda: e.Composed(events=[e.CountedEvent(event=GAUSSIAN)] * 10_000),
             r"got 10001 events in one, want at most 10000"),
        ]
        for make, message in table:
            with self.subTest(message=message), self.assertRaisesRegex(ValueError, message):
                make()
        self.assertEqual(nested(16), nested(16))

    def test_refuses_json_under_its_path(self):
        table = [
            ({}, r"^event: got nothing, want one of gaussian, laplace"),
            (None, r"^event: got None, want an object"),
            ({"gaussian": {}, "laplace": {}}, r"^event: got gaussian, laplace, want one of"),
            ({"magic": {}}, r"^event.magic: got an unknown event, want one of"),
            ({"gaussian": {}}, r"^event.gaussian.noiseMultiplier: got nothing, want a number in \[0, inf\)"),
            ({"laplace": {"noiseMultiplier": None}}, r"^event.laplace.noiseMultiplier: got nothing, want a number in"),
            ({"poissonSampled": {"event": GAUSSIAN.to_json()}},
             r"^event.poissonSampled.samplingProbability: got nothing, want a number in \[0, 1\]"),
            ({"randomizedResponse": {"numBuckets": "2"}},
             r"^event.randomizedResponse.noiseParameter: got nothing, want a number in \[0, 1\)"),
            ({"pureDp": {}}, r"^event.pureDp.epsilon: got nothing, want a number in \[0, inf\)"),
            ({"approximateDp": {"epsilon": 1}}, r"^event.approximateDp.delta: got nothing, want a number in \[0, 1\]"),
            ({"discreteLaplace": {}}, r"^event.discreteLaplace.noiseParameter: got 0.0, want in \(0, inf\)"),
            ({"gaussian": {"sigma": 1}}, r"^event.gaussian.sigma: got an unknown field, want one of noiseMultiplier"),
            ({"gaussian": {"noiseMultiplier": "one"}}, r"^event.gaussian.noiseMultiplier: got 'one', want a number"),
            ({"gaussian": {"noiseMultiplier": "Infinity"}}, r"^event.gaussian.noiseMultiplier: got inf, want"),
            ({"poissonSampled": {"samplingProbability": 1.5, "event": GAUSSIAN.to_json()}},
             r"^event.poissonSampled.samplingProbability: got 1.5, want in \[0, 1\]"),
            ({"composed": {"events": [{"count": 1}]}},
             r"^event.composed.events\[0\].event: got nothing, want one of"),
            ({"reportNoisyMax": {"noiseMultiplier": 1}},
             r"^event.reportNoisyMax.noise: got KIND_UNSPECIFIED, want one of LAPLACE, EXPONENTIAL, GUMBEL"),
            ({"composed": {"events": 3}}, r"^event.composed.events: got 3, want a list"),
            ({"renyiCurve": {"orders": [2, "x"], "divergences": [0, 0]}}, r"^event.renyiCurve.orders\[1\]: got 'x'"),
        ]
        for value, message in table:
            with self.subTest(value=value), self.assertRaisesRegex(ValueError, message):
                e.MechanismEvent.from_json(value)

    def test_deep_json_is_refused_before_it_uses_the_stack(self):
        value = GAUSSIAN.to_json()
        for _ in range(100_000):
            value = {"selfComposed": {"count": 1, "event": value}}
        with self.assertRaisesRegex(ValueError, "got 17 events inside each other, want at most 16"):
            e.MechanismEvent.from_json(value)
        while value is not None:  # taken apart by hand: freeing it would recurse
            value = value.pop("selfComposed", {}).pop("event", None)

    def test_takes_numpy_numbers(self):
        try:
            import numpy
        except ImportError:
            self.skipTest("NumPy is not installed")
        self.assertEqual(e.SelfComposed(event=e.Gaussian(noise_multiplier=numpy.float64(1.1)), count=numpy.int32(3)),
                         e.SelfComposed(event=GAUSSIAN, count=3))
        self.assertEqual(e.RenyiCurve(orders=numpy.array([2.0, 3.0]), divergences=numpy.zeros(2)),
                         e.RenyiCurve(orders=(2, 3), divergences=(0, 0)))


@unittest.skipUnless(BUILD, "EPSLEDGER_BUILD names no build folder with client/cli/epsctl")
class Calculator(unittest.TestCase):
    def test_takes_every_event(self):
        answers = compute({"accountant": "BEST", "events": [e.CountedEvent(event=event).to_json()],
                           "query": {"epsilonAtDelta": 1e-5}} for event in VALID_EVENTS)
        self.assertEqual(len(answers), len(VALID_EVENTS))
        for event, answer in zip(VALID_EVENTS, answers):
            with self.subTest(event=event):
                # What has no proof yet is UNIMPLEMENTED; what is not an event is INVALID_ARGUMENT.
                self.assertIn(answer.get("error", {}).get("code"), (None, "UNIMPLEMENTED"), answer)

    def test_refuses_what_is_refused_here(self):
        """Without the checks here, the same mistakes meet the same ends there."""
        mistakes = [
            {"gaussian": {}},
            {"gaussian": {"noiseMultiplier": None}},
            {"gaussian": {"noiseMultiplier": -1}},
            {"poissonSampled": {"event": GAUSSIAN.to_json()}},
            {"selfComposed": {"event": GAUSSIAN.to_json(), "count": "0"}},
            {"renyiCurve": {"orders": [2], "divergences": ["Infinity"]}},
            {"renyiCurve": {"orders": [2, 2], "divergences": [0, 0]}},
            {"tradeOffCurve": {"typeOne": [0, 0.5, 1], "typeTwo": [1, 0.75, 0]}},
            {"tradeOffCurve": {"typeOne": [0, 0.5, 1], "typeTwo": [0.25, 0.5, 0]}},
            {"sampledWithoutReplacement": {"datasetSize": 5, "sampleSize": 6, "event": STEP.to_json()}},
            {"repeatAndSelect": {"event": STEP.to_json(), "mean": 0.5, "shape": 0}},
            {"gaussian": {"sigma": 1}},
            {"reportNoisyMax": {"noiseMultiplier": 1}},
            {"reportNoisyMax": {"noise": "GAUSSIAN", "noiseMultiplier": 1}},
            {"partitionSelection": {"noise": "GUMBEL", "noiseMultiplier": 1, "threshold": 1}},
            {"aboveThreshold": {"thresholdNoiseMultiplier": 1, "queryNoiseMultiplier": 1, "cutoff": 0}},
            {"matrixMechanism": {"noiseMultiplier": 1, "strategy": "IDENTITY", "steps": 3, "maxParticipations": 4,
                                 "minSeparation": 1}},
            {"matrixMechanism": {"noiseMultiplier": 1, "strategy": "SQUARE_ROOT", "steps": 3, "maxParticipations": 1,
                                 "minSeparation": 1}},
            {"matrixMechanism": {"noiseMultiplier": 1, "strategy": "SQUARE_ROOT", "steps": 32769,
                                 "maxParticipations": 1, "minSeparation": 1, "bands": 1}},
            {"matrixMechanism": {"noiseMultiplier": 1, "strategy": "BUFFERED_TOEPLITZ", "steps": 3,
                                 "maxParticipations": 1, "minSeparation": 1, "outputScales": [1], "decays": [1.5]}},
        ]
        answers = compute({"accountant": "BEST", "events": [{"event": mistake, "count": 1}],
                           "query": {"epsilonAtDelta": 1e-5}} for mistake in mistakes)
        for mistake, answer in zip(mistakes, answers):
            with self.subTest(mistake=mistake):
                self.assertEqual(answer["error"]["code"], "INVALID_ARGUMENT")
                with self.assertRaises(ValueError):
                    e.MechanismEvent.from_json(mistake)


if __name__ == "__main__":
    unittest.main()
