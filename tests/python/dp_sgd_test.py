"""epsledger.dp_sgd: the event of a step in the words of a training script, never cheaper than what it says."""
import numbers
import random
import sys
import unittest
from fractions import Fraction

import epsledger
from epsledger.events import Gaussian, PoissonSampled


class Extended:
    """A float with a longer mantissa, as NumPy's longdouble: it converts to the nearest double."""

    def __init__(self, exact):
        self._exact = Fraction(exact)

    def __float__(self):
        return float(self._exact)

    def as_integer_ratio(self):
        return self._exact.numerator, self._exact.denominator


numbers.Real.register(Extended)


def exact_of(number):
    return Fraction(*number.as_integer_ratio())


class DpSgd(unittest.TestCase):
    def test_is_the_sampled_gaussian(self):
        self.assertEqual(epsledger.dp_sgd(noise_multiplier=1.1, batch_size=256, dataset_size=1024),
                         PoissonSampled(sampling_probability=0.25, event=Gaussian(noise_multiplier=1.1)))
        self.assertEqual(epsledger.dp_sgd(noise_multiplier=1, batch_size=10, dataset_size=10).sampling_probability, 1)

    def test_rounds_the_probability_up(self):
        source = random.Random(1)
        for _ in range(2000):
            size = source.randrange(1, 10**7)
            batch = source.choice([source.randrange(1, size + 1), source.uniform(1e-3, size)])
            q = epsledger.dp_sgd(noise_multiplier=1, batch_size=batch, dataset_size=size).sampling_probability
            exact = Fraction(batch) / size
            self.assertGreaterEqual(Fraction(q), exact)
            self.assertLessEqual(Fraction(q), exact * (1 + Fraction(1, 2**52)))

    def test_charges_no_less_than_the_exact_numbers_of_every_type(self):
        for noise, batch, size in (
                (Fraction(11, 10), Fraction(1, 3), 1), (1, Fraction(2, 3), 1), (2**53 + 1, 2**53 + 1, 2**54),
                (2**53 + 3, 10**400, 10**400 + 1), (Extended(Fraction(11, 10)), Extended(Fraction(1, 3)), 1),
                (1, Fraction(1, 10**400), 1), (Fraction(1, 10**300), 1, 3 * 10**300)):
            with self.subTest(noise=noise, batch=batch):
                step = epsledger.dp_sgd(noise_multiplier=noise, batch_size=batch, dataset_size=size)
                exact = {"noise": exact_of(noise), "q": exact_of(batch) / size}
                above = Fraction(step.sampling_probability) - exact["q"]
                self.assertTrue(0 <= above <= exact["q"] / 2**52 or step.sampling_probability == 2.0**-1074, above)
                below = exact["noise"] - Fraction(step.event.noise_multiplier)
                self.assertTrue(0 <= below <= exact["noise"] / 2**52, below)

    def test_takes_what_numpy_counts_in(self):
        try:
            import numpy
        except ImportError:
            self.skipTest("numpy is not installed")
        third = numpy.longdouble(1) / 3
        extended = epsledger.dp_sgd(noise_multiplier=third, batch_size=third, dataset_size=numpy.int64(1))
        exact = Fraction(*map(int, third.as_integer_ratio()))
        self.assertGreaterEqual(Fraction(extended.sampling_probability), exact)
        self.assertLessEqual(Fraction(extended.event.noise_multiplier), exact)
        # Products of these leave 64 bits.
        large = epsledger.dp_sgd(noise_multiplier=numpy.float32(1.5), batch_size=numpy.int64(2**62 + 1),
                                 dataset_size=numpy.int64(2**63 - 1))
        self.assertGreaterEqual(Fraction(large.sampling_probability), Fraction(2**62 + 1, 2**63 - 1))
        self.assertEqual(large.event.noise_multiplier, 1.5)

    def test_refuses_what_no_double_can_hold_by_its_argument(self):
        for field, value in (("noise_multiplier", 10**400), ("noise_multiplier", Fraction(10**400, 3)),
                             ("noise_multiplier", Fraction(1, 10**400)), ("noise_multiplier", Extended(2**1024)),
                             ("batch_size", 10**400)):
            with self.subTest(field=field), self.assertRaisesRegex(ValueError, field + ": got") as refused:
                epsledger.dp_sgd(**{"noise_multiplier": 1, "batch_size": 10, "dataset_size": 100, field: value})
            self.assertLess(len(str(refused.exception)), 200)
        most = epsledger.dp_sgd(noise_multiplier=int(sys.float_info.max), batch_size=1, dataset_size=1)
        self.assertEqual(most.event.noise_multiplier, sys.float_info.max)

    def test_refuses_what_is_no_step_by_the_argument_that_is_wrong(self):
        good = {"noise_multiplier": 1, "batch_size": 10, "dataset_size": 100}
        for field, values in (("noise_multiplier", (0, -1, float("nan"), float("inf"), "1", True)),
                              ("batch_size", (0, -1, 101, float("nan"), float("inf"), "10", True)),
                              ("dataset_size", (0, -1, 100.0, "100", True))):
            for value in values:
                with self.subTest(field=field, value=value), self.assertRaisesRegex(ValueError, "^" + field + ": got"):
                    epsledger.dp_sgd(**{**good, field: value})


if __name__ == "__main__":
    unittest.main()
