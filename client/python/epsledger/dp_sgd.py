"""The event of one step of DP-SGD, in the words of a training script."""
from __future__ import annotations

import fractions
import math
import numbers

from .domain import refuse
from .events import Gaussian, MechanismEvent, PoissonSampled


def dp_sgd(*, noise_multiplier: float, batch_size: float, dataset_size: int) -> MechanismEvent:
    """Returns the event of one step of DP-SGD with Poisson batches: PoissonSampled(sampling_probability=q,
    event=Gaussian(noise_multiplier=noise_multiplier)) with q >= batch_size / dataset_size, rounded up by at most one
    double.

    noise_multiplier  standard deviation of the noise on the summed gradients / clip norm. In (0, inf).
    batch_size        the expected number of records in a batch: every record takes part in a step with probability
                      batch_size / dataset_size, independently of the others. In (0, dataset_size].
    dataset_size      the number of records, >= 1.

    It holds for batches that are drawn so (Opacus with poisson_sampling=True). A loader that shuffles and cuts is
    another mechanism. Under ADD_OR_REMOVE_ONE the number of records is itself protected: use a public lower bound of
    it, which makes q larger.

    ValueError names the argument."""
    if isinstance(dataset_size, bool) or not isinstance(dataset_size, numbers.Integral) or dataset_size < 1:
        refuse("dataset_size", repr(dataset_size), "a whole number, 1 or more")
    if isinstance(batch_size, bool) or not isinstance(batch_size, numbers.Real) or \
            not 0 < float(batch_size) <= int(dataset_size):
        refuse("batch_size", repr(batch_size), "in (0, %d], at most dataset_size" % int(dataset_size))
    if isinstance(noise_multiplier, bool) or not isinstance(noise_multiplier, numbers.Real) or \
            not 0 < float(noise_multiplier) < math.inf:
        refuse("noise_multiplier", repr(noise_multiplier), "in (0, inf)")
    exact = fractions.Fraction(float(batch_size)) / int(dataset_size)
    probability = float(exact)
    if fractions.Fraction(probability) < exact:
        probability = math.nextafter(probability, math.inf)
    return PoissonSampled(sampling_probability=min(probability, 1.0), event=Gaussian(noise_multiplier=noise_multiplier))
