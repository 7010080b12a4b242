"""The event of one step of DP-SGD, in the words of a training script."""
from __future__ import annotations

import fractions
import math
import numbers
import reprlib
import sys
from typing import Any

from .domain import refuse
from .events import Gaussian, MechanismEvent, PoissonSampled


def dp_sgd(*, noise_multiplier: float, batch_size: float, dataset_size: int) -> MechanismEvent:
    """Returns the event of one step of DP-SGD with Poisson batches: PoissonSampled(sampling_probability=q,
    event=Gaussian(noise_multiplier=z)) with q >= batch_size / dataset_size and z <= noise_multiplier, each
    within one double of the exact number.

    noise_multiplier  standard deviation of the noise on the summed gradients / clip norm. In (0, inf).
    batch_size        the expected number of records in a batch: every record takes part in a step with probability
                      batch_size / dataset_size, independently of the others. In (0, dataset_size].
    dataset_size      the number of records, >= 1.

    It holds for batches that are drawn so (Opacus with poisson_sampling=True). A loader that shuffles and cuts is
    another mechanism. Under ADD_OR_REMOVE_ONE the number of records is itself protected: use a public lower bound of
    it, which makes q larger.

    ValueError names the argument."""
    if isinstance(dataset_size, bool) or not isinstance(dataset_size, numbers.Integral) or dataset_size < 1:
        refuse("dataset_size", reprlib.repr(dataset_size), "a whole number, 1 or more")
    batch = _exact("batch_size", batch_size, "in (0, dataset_size]")
    if not 0 < batch <= int(dataset_size):
        refuse("batch_size", reprlib.repr(batch_size), "in (0, dataset_size]")
    noise = _exact("noise_multiplier", noise_multiplier, "in (0, inf)")
    if not 0 < noise <= sys.float_info.max or not _rounded(noise, 0.0) > 0:
        refuse("noise_multiplier", reprlib.repr(noise_multiplier), "in (0, inf)")
    probability = min(1.0, _rounded(batch / int(dataset_size), math.inf))
    return PoissonSampled(sampling_probability=probability, event=Gaussian(noise_multiplier=_rounded(noise, 0.0)))


def _exact(argument: str, value: object, want: str) -> fractions.Fraction:
    """Returns the number itself, whatever its type: nothing is rounded before the result is."""
    if isinstance(value, bool) or not isinstance(value, numbers.Real):
        refuse(argument, reprlib.repr(value), want)
    if isinstance(value, numbers.Rational):
        return fractions.Fraction(int(value.numerator), int(value.denominator))
    # NumPy's extended floats hold more than a double does.
    exact: Any = value if hasattr(value, "as_integer_ratio") else float(value)
    try:
        numerator, denominator = exact.as_integer_ratio()
    except (OverflowError, ValueError):  # infinite, or NaN
        refuse(argument, reprlib.repr(value), want)
    return fractions.Fraction(int(numerator), int(denominator))


def _rounded(exact: fractions.Fraction, towards: float) -> float:
    """Returns the double nearest to a positive number, on the side of `towards`."""
    number = float(exact)
    if (fractions.Fraction(number) < exact) if towards > number else (fractions.Fraction(number) > exact):
        number = math.nextafter(number, towards)
    return number
