"""epsledger.dp_sgd: the event of a step in the words of a training script, never cheaper than what it says."""
import fractions
import random
import unittest

import epsledger
from epsledger.events import Gaussian, PoissonSampled


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
            exact = fractions.Fraction(batch) / size
            self.assertGreaterEqual(fractions.Fraction(q), exact)
            self.assertLessEqual(fractions.Fraction(q), exact * (1 + fractions.Fraction(1, 2**52)))

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
