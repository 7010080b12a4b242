"""dp_accounting: a PrivacyAccountant whose state is a session of the ledger.

Tested against dp_accounting 0.6.
"""
from __future__ import annotations

import math
from typing import Any, Optional

import dp_accounting

from ..dp_event import from_dp_event, to_dp_event
from ..events import Composed
from ..session import Session


class RemotePrivacyAccountant(dp_accounting.PrivacyAccountant):
    """Composes by charging: after compose() returns, the charge is durable in the ledger. Every number is about the
    charges of all attempts of the session.

    The neighboring relation is the session's."""

    def __init__(self, session: Session) -> None:
        described = session._connection.call("SessionService/GetSession", {"name": session.name})
        super().__init__(dp_accounting.NeighboringRelation[described["neighboringRelation"]])
        self._session = session

    def compose(self, event: Any, count: int = 1) -> "RemotePrivacyAccountant":
        """Charges `count` uses of `event`. dp_accounting.UnsupportedEventError if epsledger has no such event;
        otherwise the errors of Session.charge, such as BudgetExhausted."""
        unsupported = self._maybe_compose(event, count, False)
        if unsupported is not None:
            raise dp_accounting.UnsupportedEventError(unsupported.error_message)
        self._maybe_compose(event, count, True)
        return self

    @property
    def ledger(self) -> Any:
        """The charges of all attempts. ValueError for events that dp_accounting does not have."""
        history = self._session.history()
        return to_dp_event(Composed(events=history)) if history else dp_accounting.NoOpDpEvent()

    def get_epsilon(self, target_delta: float) -> float:
        """Returns epsilon >= the true epsilon at target_delta, in (0, 1)."""
        return self._session.spent(delta=target_delta).epsilon

    def get_delta(self, target_epsilon: float) -> float:
        """Returns delta >= the true delta at target_epsilon, in [0, inf); 1 if no accountant knows a bound."""
        answer = self._session._connection.call("SessionService/GetSessionPrivacyProfile", {
            "name": self._session.name, "epsilons": [target_epsilon]})
        (point,) = answer["points"]
        delta = point.get("delta", {})
        upper = float(delta.get("upper", math.nan))
        return upper if delta.get("kind") == "UPPER_BOUND" and 0 <= upper <= 1 else 1.0

    def _maybe_compose(self, event: Any, count: int, do_compose: bool) -> Optional[Any]:
        try:
            ours = from_dp_event(event)
        except ValueError as error:
            return self.CompositionErrorDetails(invalid_event=event, error_message=str(error))
        if do_compose:
            self._session.charge(ours, count=count)
        return None
