"""Events of dp_accounting, both ways: the same or refused by name."""
import collections
import contextlib
import re
import subprocess
import sys
import unittest

from epsledger import events as e
from epsledger.dp_event import from_dp_event, to_dp_event
from valid_events import GAUSSIAN, STEP, VALID_EVENTS

try:
    from dp_accounting import dp_event
except ImportError:
    dp_event = None

# What dp_accounting has no class for, or would keep only a part of.
OURS_ALONE = (e.GaussianDp, e.RenyiCurve, e.TradeOffCurve, e.RandomAllocation, e.BandedMatrixFactorization, e.MatrixMechanism, e.UnverifiedClaim,
              e.ReportNoisyMax,
              e.AboveThreshold, e.PartitionSelection, e.TruncatedGeometricSelection, e.Shuffled,
              e.DominatingPair)
COUNTED = [
    e.Composed(events=[e.CountedEvent(event=STEP, count=1), e.CountedEvent(event=STEP, count=5)]),
    e.Composed(events=[e.CountedEvent(event=e.SelfComposed(event=STEP, count=5), count=1)]),
    e.Composed(events=[e.CountedEvent(event=e.SelfComposed(event=STEP, count=5), count=2)]),
    e.Composed(events=[e.CountedEvent(event=e.SelfComposed(event=STEP, count=1), count=1)]),
    e.SelfComposed(event=e.SelfComposed(event=STEP, count=1), count=1),
]


def is_shared(event):
    return not (isinstance(event, OURS_ALONE) or event == e.NonPrivate(reason="a test")
                or isinstance(event, e.ApproximateDp) and event.delta == 0)  # reads back as PureDp


class FromData(unittest.TestCase):
    """Needs no dp_accounting."""

    def test_reads_dicts(self):
        gaussian = {"class_name": "GaussianDpEvent", "noise_multiplier": 1.1}
        self.assertEqual(from_dp_event(gaussian), GAUSSIAN)
        sampled = {"module_name": "dp_accounting.dp_event", "class_name": "PoissonSampledDpEvent",
                   "sampling_probability": 0.01, "event": gaussian}
        self.assertEqual(from_dp_event(sampled), STEP)
        self.assertEqual(from_dp_event({"class_name": "ComposedDpEvent", "events": [
            sampled, {"class_name": "SelfComposedDpEvent", "event": sampled, "count": 9}]}),
            e.Composed(events=[e.CountedEvent(event=STEP), e.CountedEvent(event=STEP, count=9)]))

    def test_trees_cost_as_their_largest(self):
        trees = {"class_name": "SingleEpochTreeAggregationDpEvent", "noise_multiplier": 4, "step_counts": [3, 16, 5]}
        self.assertEqual(from_dp_event(trees), e.TreeAggregation(noise_multiplier=4, step_count=16))

    def test_an_event_without_a_delta_is_pure(self):
        for epsilon in (0, 1):
            self.assertEqual(from_dp_event({"class_name": "EpsilonDeltaDpEvent", "epsilon": epsilon, "delta": 0}),
                             e.PureDp(epsilon=epsilon))

    def test_a_discrete_gaussian_is_known_in_one_dimension(self):
        def discrete(**fields):
            return from_dp_event({"class_name": "DiscreteGaussianDpEvent", **fields})
        self.assertEqual(discrete(sigma=2.5, sensitivity=3.0, dimension=1), e.DiscreteGaussian(sigma=2.5, sensitivity=3))
        # Under REPLACE_ONE a contribution counts twice: rho from it alone would be four times too small.
        for fields, message in ((dict(sigma=2, sensitivity=1, dimension=None), r"\.dimension: got None, want 1; for more, ZCDp"),
                                (dict(sigma=2, sensitivity=1, dimension=2), r"\.dimension: got 2, want 1; for more, ZCDpEvent"),
                                (dict(sigma=2, sensitivity=1.5, dimension=1), r"\.sensitivity: got 1.5, want an integer"),
                                (dict(sigma=2, sensitivity=0, dimension=1), r"\.sensitivity: got 0.0, want in \(0, inf\)"),
                                (dict(sigma=-1, sensitivity=1, dimension=1), r"\.sigma: got -1.0, want in \[0, inf\)"),
                                (dict(sigma=2, sensitivity=1, dimension=0), r"\.dimension: got 0, want")):
            with self.assertRaisesRegex(ValueError, message):
                discrete(**fields)

    def test_reads_named_tuples_and_imports_nothing_by_name(self):
        made = collections.namedtuple("Wrapper", "module_name class_name noise_multiplier")
        self.assertEqual(from_dp_event(made(b"dp_accounting.dp_event", b"GaussianDpEvent", 1.1)), GAUSSIAN)
        with self.assertRaisesRegex(ValueError, "got system of module os, want a class of dp_accounting.dp_event"):
            from_dp_event(made("os", "system", 1.1))
        run = ("import sys; from epsledger.dp_event import from_dp_event\n"
               "from_dp_event({'class_name': 'GaussianDpEvent', 'noise_multiplier': 1})\n"
               "sys.exit('dp_accounting' in sys.modules)")
        self.assertEqual(subprocess.run([sys.executable, "-c", run], timeout=60).returncode, 0)

    def test_refuses_by_name(self):
        gaussian = {"class_name": "GaussianDpEvent", "noise_multiplier": 1.1}
        deep = gaussian
        for _ in range(10_000):
            deep = {"class_name": "SelfComposedDpEvent", "event": deep, "count": 1}
        table = [
            ({"class_name": "UnsupportedDpEvent"}, "^event: got UnsupportedDpEvent, want one of ComposedDpEvent"),
            ({"class_name": "ComposedDpEvent", "events": [gaussian, {"class_name": "MagicDpEvent"}]},
             r"^event.events\[1\]: got MagicDpEvent, want one of"),
            ({"class_name": "PoissonSampledDpEvent", "sampling_probability": 1, "event": {"class_name": "X"}},
             "^event.event: got X, want one of"),
            ({"class_name": "ComposedDpEvent", "events": gaussian}, "^event.events: got .*, want a list"),
            ({"class_name": "GaussianDpEvent"},
             r"^event \(GaussianDpEvent\): got the fields \(none\), want noise_multiplier"),
            ({**gaussian, "bias": 1},
             r"^event \(GaussianDpEvent\): got the fields bias, noise_multiplier, want noise_mult"),
            ({"class_name": "GaussianDpEvent", "noise_multiplier": -1},
             r"noise_multiplier: got -1.0, want in \[0, inf\)"),
            ({"class_name": "RepeatAndSelectDpEvent", "event": gaussian, "mean": 2, "shape": -1},
             r"shape: got -1.0, want in \(-1, inf\]"),
            ({"class_name": 7}, "^event.class_name: got 7, want the name"),
            ({"noise_multiplier": 7}, "^event.class_name: got None, want the name"),
            ("GaussianDpEvent", "^event: got 'GaussianDpEvent', want a DpEvent"),
            (deep, "got 17 events inside each other, want at most 16"),
        ]
        for value, message in table:
            with self.subTest(message=message), self.assertRaisesRegex(ValueError, message):
                from_dp_event(value)


@unittest.skipUnless(dp_event, "dp_accounting is not installed")
class Both(unittest.TestCase):
    def test_every_shared_event_reads_back_the_same(self):
        shared = [event for event in VALID_EVENTS + COUNTED if is_shared(event)]
        self.assertEqual({type(event) for event in shared}, set(e.KINDS.values()) - set(OURS_ALONE))
        for event in shared:
            with self.subTest(event=event):
                try:
                    theirs = to_dp_event(event)
                except ValueError as error:
                    absent = re.search(r"want a version of dp_accounting that has (\w+)$", str(error))
                    self.assertFalse(hasattr(dp_event, absent[1]))
                    continue
                self.assertIsInstance(theirs, dp_event.DpEvent)
                self.assertEqual(from_dp_event(theirs), event)
                if hasattr(theirs, "to_named_tuple"):  # not in old versions
                    self.assertEqual(from_dp_event(theirs.to_named_tuple()), event)

    def test_every_class_of_dp_accounting_is_shared_or_refused_by_name(self):
        shared = set()
        for event in VALID_EVENTS:
            with contextlib.suppress(ValueError):
                shared.add(type(to_dp_event(event)).__name__)
        theirs = {cls.__name__ for cls in dp_event.DpEvent.__subclasses__()}
        self.assertEqual(theirs - shared, {"UnsupportedDpEvent"})
        with self.assertRaisesRegex(ValueError, "^event: got UnsupportedDpEvent, want one of"):
            from_dp_event(dp_event.UnsupportedDpEvent())

    def test_refuses_what_dp_accounting_cannot_say(self):
        for event in VALID_EVENTS:
            if not is_shared(event):
                with self.subTest(event=event), self.assertRaisesRegex(ValueError, "got %s" % type(event).__name__):
                    to_dp_event(event)
        truncated = e.TruncatedPoissonSampled(sampling_probability=0.1, max_batch_size=5, dataset_size=10,
                                              event=e.Laplace(noise_multiplier=1))
        with self.assertRaisesRegex(ValueError, "got TruncatedPoissonSampled"):
            to_dp_event(e.SelfComposed(event=truncated, count=2))

    def test_a_class_of_the_same_name_elsewhere_is_refused(self):
        import attr
        impostor = attr.make_class("GaussianDpEvent", ["noise_multiplier"])(1.1)
        with self.assertRaisesRegex(ValueError, "got GaussianDpEvent of module .*, want a class of dp_accounting"):
            from_dp_event(impostor)


if __name__ == "__main__":
    unittest.main()
