"""Keras 3: a callback that charges before each optimizer update.

    model.fit(..., callbacks=[LedgerCallback(session, event)])

Tested against Keras 3.15 on JAX, alone and with the models of JAX Privacy's keras_api.

`event` is what one optimizer update of your model releases. Keras itself adds no noise: your code clips the gradients
and adds it, in train_step() or in the optimizer.

An update is charged before the first of its batches is computed. With gradient accumulation that is once for all of its
batches; with steps_per_execution for all steps of the execution, also if the last one of an epoch is shorter. When no
further update fits, fit() is told to stop after the last one, and returns as at its end. Errors end fit() before the
batch runs. For training in one process.
"""
from __future__ import annotations

from typing import Any, Optional

import keras

from ..domain import refuse
from ..event_json import EventLike
from ..session import Session
from .steps import ChargedSteps


class LedgerCallback(keras.callbacks.Callback):
    """Charges `session` one `event` before each optimizer update of Model.fit."""

    def __init__(self, session: Session, event: EventLike) -> None:
        super().__init__()
        self._steps = ChargedSteps(session, event)
        self._batches = 0

    def on_train_begin(self, logs: Optional[Any] = None) -> None:
        self._accumulated = getattr(self.model.optimizer, "gradient_accumulation_steps", None) or 1
        self._executed = self.model.steps_per_execution
        if not isinstance(self._executed, int) or self._executed > 1 < self._accumulated:
            refuse("steps_per_execution", repr(self._executed),
                   "1" if self._accumulated > 1 else "a number: which of the steps ran could not be told")
        self._batches = 0

    def on_train_batch_begin(self, batch: int, logs: Optional[Any] = None) -> None:
        if self._batches % self._accumulated == 0:
            self._steps.charge(self._executed)
        self._batches += 1

    def on_train_batch_end(self, batch: int, logs: Optional[Any] = None) -> None:
        if self._batches % self._accumulated == 0 and not self._steps.has_room(self._executed):
            self.model.stop_training = True
