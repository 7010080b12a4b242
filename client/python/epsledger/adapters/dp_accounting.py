"""dp_accounting: a PrivacyAccountant whose state is a session of the ledger.

Tested against dp_accounting 0.6 and its head of August 2026.
"""
from __future__ import annotations

import math
import sys
from typing import Any, Dict, Iterator, Optional, Tuple

import dp_accounting
import numpy

from ..dp_event import from_dp_event, to_dp_event
from ..events import Composed
from ..session import Session
from .bounds import upper_bound
from .relations import relation_of


class RemotePrivacyAccountant(dp_accounting.PrivacyAccountant):
    """Composes by charging: after compose() returns, the charge is durable in the ledger. Every number is an upper bound
    about the charges of all attempts of the session.

    The neighboring relation is the session's. Under REPLACE_ONE a noise multiplier is the noise divided by the largest
    contribution of one record, as for dp_accounting's PLDAccountant. Its RdpAccountant divides by the largest change that
    a replacement makes, which can be twice as large. A multiplier that was stated so is smaller, so the charge is too
    large and never too small."""

    def __init__(self, session: Session) -> None:
        super().__init__(dp_accounting.NeighboringRelation[relation_of(session)])
        self._session = session

    def compose(self, event: Any, count: int = 1) -> "RemotePrivacyAccountant":
        """Charges `count` uses of `event`. dp_accounting.UnsupportedEventError if epsledger has no such event; TypeError
        if it is no DpEvent; otherwise the errors of Session.charge, such as BudgetExhausted."""
        super().compose(event, count)
        return self

    @property
    def ledger(self) -> Any:
        """The charges of all attempts. ValueError for events that dp_accounting does not have."""
        history = self._session.history()
        return to_dp_event(Composed(events=history)) if history else dp_accounting.NoOpDpEvent()

    def get_epsilon(self, target_delta: float) -> float:
        """Returns epsilon >= the true epsilon at target_delta, in [0, 1]. At 1 it is 0, but infinite after a release
        without privacy, as in dp_accounting."""
        if 0 < target_delta < 1:
            return self._session.spent(delta=target_delta).epsilon
        if target_delta == 1:
            return math.inf if self.get_delta(math.inf) == 1 else 0.0
        return self._compute({"epsilonAtDelta": target_delta}, math.inf)

    def get_delta(self, target_epsilon: float) -> float:
        """Returns delta >= the true delta at target_epsilon, in [0, inf]; 1 if no accountant knows a bound."""
        return self._compute({"deltaAtEpsilon": min(target_epsilon, sys.float_info.max)}, 1.0)

    def get_true_positive_rates(self, false_positive_rates: Any) -> Any:
        """Returns at least the largest true positive rate of a membership test at each false positive rate, in [0, 1]: a
        float for a number, an array for an array."""
        def rate(at: float) -> float:
            return self._compute({"truePositiveRateAt": float(at)}, 1.0)
        rates = numpy.asarray(false_positive_rates, dtype=float)
        return rate(float(rates)) if rates.ndim == 0 else numpy.array([rate(at) for at in rates.ravel()]).reshape(rates.shape)

    def get_gdp_parameter_estimate(self, false_positive_rates: Any = (1e-12,)) -> float:
        """Returns a mu of which the Gaussian trade-off curve lies below that of the charges for false positive rates in
        [a, 1 - a], with a the smallest of `false_positive_rates`, in (0, 1/2). It is a bound and no estimate."""
        # An answer about a part of the curve is never called an upper bound of the whole.
        return self._compute({"gaussianDpMu": {"alphaMin": float(numpy.min(false_positive_rates))}}, math.inf,
                             kinds=("UPPER_BOUND", "APPROXIMATION"))

    def _compute(self, query: Dict[str, Any], unknown: float, kinds: Tuple[str, ...] = ("UPPER_BOUND",)) -> float:
        return upper_bound(self._session, self._session.history(), query, unknown, kinds=kinds)

    def _maybe_compose(self, event: Any, count: int, do_compose: bool) -> Optional[Any]:
        try:
            ours = from_dp_event(event)
        except ValueError as error:
            return self._refused(event, error)
        if do_compose:
            self._session.charge(ours, count=count)
        return None

    def _refused(self, event: Any, error: ValueError) -> Any:
        """Names the innermost event that is refused by itself."""
        for part in _parts_of(event):
            try:
                from_dp_event(part)
            except ValueError as inner:
                return self._refused(part, inner)
        return self.CompositionErrorDetails(invalid_event=event, error_message=str(error))


def _parts_of(event: Any) -> Iterator[Any]:
    for field in getattr(type(event), "__attrs_attrs__", ()):
        value = getattr(event, field.name)
        for part in value if isinstance(value, (list, tuple)) else (value,):
            if isinstance(part, dp_accounting.DpEvent):
                yield part
