"""Flower: a strategy that charges before each round of training.

    strategy = LedgerStrategy(DifferentialPrivacyServerSideFixedClipping(FedAvg(...), ...), session, event)
    strategy.start(grid=grid, initial_arrays=arrays, num_rounds=100)

Tested against the strategies and messages of Flower 1.41, on a grid in the test's own process.

`event` is what one round releases about one user, for example Gaussian(noise_multiplier=...). The wrapped strategy
(or the clients' mods) clips and adds the noise; FedAvg alone adds none. Evaluation results are not covered. Where the
same number of clients takes part in every round, one that joins takes the place of another: under ADD_OR_REMOVE_ONE the
sum then changes by up to twice the clipping norm, so divide the noise multiplier by 2.

A round is charged before any client is asked to train. When a cap has no room for it, no more clients are asked:
start() returns the arrays of the last completed round, and `exhausted` holds the refusal. start() raises other errors.
"""
from __future__ import annotations

from typing import Any, Iterable, Optional, Tuple

from flwr.serverapp.strategy import Strategy

from ..errors import BudgetExhausted
from ..event_json import EventLike
from ..session import Session


class LedgerStrategy(Strategy):
    """Charges `session` one `event` before each round of training of another strategy."""

    def __init__(self, strategy: Strategy, session: Session, event: EventLike) -> None:
        self._strategy = strategy
        self._session = session
        self._event = event
        #: The refusal that ended training; None if there was none.
        self.exhausted: Optional[BudgetExhausted] = None

    def configure_train(self, server_round: int, arrays: Any, config: Any, grid: Any) -> Iterable[Any]:
        if self.exhausted is None:
            try:
                self._session.charge(self._event)
            except BudgetExhausted as refusal:
                self.exhausted = refusal
        if self.exhausted is not None:
            return []
        messages: Iterable[Any] = self._strategy.configure_train(server_round, arrays, config, grid)
        return messages

    def aggregate_train(self, server_round: int, replies: Iterable[Any]) -> Tuple[Any, Any]:
        if self.exhausted is not None:
            return None, None
        aggregated: Tuple[Any, Any] = self._strategy.aggregate_train(server_round, replies)
        return aggregated

    def configure_evaluate(self, server_round: int, arrays: Any, config: Any, grid: Any) -> Iterable[Any]:
        messages: Iterable[Any] = self._strategy.configure_evaluate(server_round, arrays, config, grid)
        return messages

    def aggregate_evaluate(self, server_round: int, replies: Iterable[Any]) -> Any:
        return self._strategy.aggregate_evaluate(server_round, replies)

    def summary(self) -> None:
        self._strategy.summary()
