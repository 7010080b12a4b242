"""Numbers for people that never look better than they are."""
from __future__ import annotations

import decimal
import math

_USUAL_DIGITS = 6
_MOST_DIGITS = 17  # enough to distinguish any two doubles


def rounded_up(value: float, digits: int = _USUAL_DIGITS) -> str:
    """Returns `value` with at most `digits` digits, read back >= value. Infinities and NaN are "inf" and "nan"."""
    return _rounded(value, decimal.ROUND_CEILING, digits)


def rounded_down(value: float, digits: int = _USUAL_DIGITS) -> str:
    """Returns `value` with at most `digits` digits, read back <= value. Infinities and NaN are "inf" and "nan"."""
    return _rounded(value, decimal.ROUND_FLOOR, digits)


def digits_for_spent(spent: float, cap: float) -> int:
    """Returns the fewest digits, 6 to 17, with which `spent` rounded up is not above `cap` rounded down."""
    for digits in range(_USUAL_DIGITS, _MOST_DIGITS):
        if not spent <= cap or float(rounded_up(spent, digits)) <= float(rounded_down(cap, digits)):
            return _USUAL_DIGITS if not spent <= cap else digits
    return _MOST_DIGITS


def _rounded(value: float, rounding: str, digits: int) -> str:
    if not math.isfinite(value) or value == 0:
        return "0" if value == 0 else str(value)
    exact = decimal.Decimal(value)
    rounded = decimal.Context(prec=digits, rounding=rounding).plus(exact)
    # The double nearest to the decimal may lie on the other side of it, by half a unit in the 17th digit.
    return "%.*g" % (digits, rounded)
