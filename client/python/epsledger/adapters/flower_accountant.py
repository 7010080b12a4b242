"""Flower: a PrivacyAccountant whose state is a session of the ledger, for Flower's own private strategies.

    accountant = LedgerPrivacyAccountant(session, population_size=1000)
    strategy = DifferentialPrivacyServerSideFixedClipping(FedAvg(...), noise_multiplier=2, clipping_norm=1,
                                                          num_sampled_clients=100, accountant=accountant)

Tested against Flower 1.42, the first release that has the interface.

When a round is charged. Flower asks would_exceed() before it asks any client, and compose() after it drew the noise and
before it returns the arrays. compose() charges. If the charge fails for whatever reason, its error ends
aggregate_train(), and the noisy arrays are thrown away with it: nothing is released without an accepted charge. Where a
cap has no room, would_exceed() is true and Flower raises PrivacyBudgetExhausted, so no client trains in vain.
LedgerStrategy instead ends start() with the arrays of the last round; use one of the two, because both charge.

What is charged. Flower draws noise of noise_multiplier times the clipping norm on the sum, and takes the same number of
clients in every round. A client that joins or leaves then takes or gives the place of another one, which changes the
sum by up to twice the norm. So ADD_OR_REMOVE_ONE is charged Gaussian(noise_multiplier / 2), where Flower's own
accountant composes Gaussian(noise_multiplier). Under REPLACE_SPECIAL (the client's update becomes zero) and REPLACE_ONE
it is Gaussian(noise_multiplier), which each relation reads with its own largest change. Metrics are not covered, and
neither is whether a round took place. Flower's clipping leaves an update with a NaN in it as it is: let clients send no
such update.
"""
from __future__ import annotations

import math
import sys
from typing import Any, Dict, Optional

from flwr.serverapp import PrivacyAccountant
from flwr.supercore.privacy_accounting import NeighboringRelation, PrivacyConfig, PrivacySpent, SamplingMethod

from ..domain import Range, refuse
from ..events import CountedEvent, Gaussian
from ..refusal import Refusal
from ..session import Session
from .bounds import upper_bound
from .relations import relation_of

_STATE = "epsledger-1"


class LedgerPrivacyAccountant(PrivacyAccountant):
    """Composes by charging `session`. Every number is an upper bound about the charges of all attempts.

    population_size  of which Flower samples; Flower compares it with its events, and it changes no charge.
    target_delta     at which epsilon is reported, in (0, 1).
    max_epsilon      a limit of your own beside the caps of the ledger; none if it is None.

    `config` says ADD_OR_REMOVE_ONE without amplification, the only one that Flower's strategies take. The relation
    that counts is the session's."""

    def __init__(self, session: Session, *, population_size: int, target_delta: float = 1e-5,
                 max_epsilon: Optional[float] = None) -> None:
        self._session = session
        self._relation = relation_of(session)
        # Flower asks would_exceed() only where there is a limit.
        self._config = PrivacyConfig(
            target_delta=target_delta, population_size=population_size,
            neighboring_relation=NeighboringRelation.ADD_OR_REMOVE_ONE, sampling_method=SamplingMethod.NO_AMPLIFICATION,
            max_epsilon=sys.float_info.max if max_epsilon is None else max_epsilon)
        #: The newest refusal that would_exceed() foresaw; None if there was none.
        self.refusal: Optional[Refusal] = None

    @property
    def config(self) -> Any:
        return self._config

    @property
    def num_releases(self) -> int:
        return sum(counted.count for counted in self._session.history())

    def compose(self, event: Any, count: int = 1) -> None:
        """Charges `count` rounds. ValueError, naming the field, for an event of another population; otherwise the
        errors of Session.charge, such as BudgetExhausted."""
        self._session.charge(self._event_of(event), count=count)

    def would_exceed(self, event: Any, max_epsilon: Optional[float] = None, count: int = 1) -> bool:
        """Whether a cap of the ledger has no room for `count` rounds, or epsilon would be above the limit. Charges
        nothing; others may charge in between."""
        ours = self._event_of(event)
        preview = self._session.preview(ours, count=count)
        if not preview.accepted:
            self.refusal = preview.refusal
            return True
        limit = self._config.max_epsilon if max_epsilon is None else max_epsilon
        if limit == sys.float_info.max:
            return False
        events = [*self._session.history(), CountedEvent(event=ours, count=count)]
        return upper_bound(self._session, events, {"epsilonAtDelta": self._config.target_delta}, math.inf) > limit

    def get_epsilon(self, delta: float) -> float:
        return self._session.spent(delta=delta).epsilon

    def get_delta(self, epsilon: float) -> float:
        """Returns delta >= the true delta at epsilon, in [0, inf); 1 if no accountant knows a bound."""
        return upper_bound(self._session, self._session.history(), {"deltaAtEpsilon": epsilon}, 1.0)

    def get_privacy_spent(self, delta: Optional[float] = None) -> Any:
        at = self._config.target_delta if delta is None else delta
        spent = self._session.spent(delta=at)
        return PrivacySpent(epsilon=spent.epsilon, delta=at, num_releases=self.num_releases,
                            accounting_method="epsledger " + spent.accountant)

    def state_dict(self) -> Dict[str, object]:
        return {"state": _STATE, "session": self._session.name, "num_releases": self.num_releases}

    def load_state_dict(self, state: Dict[str, object]) -> None:
        """Checks that the ledger has at least the rounds of the checkpoint, and keeps the ledger's: charges after the
        checkpoint stay charged. ValueError for another session, or for rounds that were not charged here."""
        if state.get("state") != _STATE:
            refuse("state", repr(state.get("state")), repr(_STATE))
        if state.get("session") != self._session.name:
            refuse("session", repr(state.get("session")), "%r, whose charges this accountant shows" % self._session.name)
        charged = self.num_releases
        if Range(0).keep("num_releases", state.get("num_releases")) > charged:
            refuse("num_releases", state.get("num_releases"), "at most the %d that were charged" % charged)

    def _event_of(self, event: Any) -> Gaussian:
        if event.population_size != self._config.population_size:
            refuse("event.population_size", event.population_size, str(self._config.population_size))
        unit = 2 if self._relation == "ADD_OR_REMOVE_ONE" else 1
        return Gaussian(noise_multiplier=event.noise_multiplier / unit)
