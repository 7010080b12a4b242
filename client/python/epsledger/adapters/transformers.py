"""Hugging Face Trainer: a callback that charges before each step.

    trainer = Trainer(..., callbacks=[LedgerCallback(session, event)])

Tested against transformers 4.40 on PyTorch 1.13 and transformers 5.23 on PyTorch 2.15.

`event` is what one optimizer step of your model releases. The Trainer itself adds no noise: your code clips the
gradients and adds it, in the model, the optimizer or a subclass of Trainer. With an Opacus optimizer, use
adapters.opacus instead, which knows each step's noise.

A step is charged when it begins, before its first forward pass, so that its noise is charged wherever it is drawn in
the step. With gradient accumulation that is once for all of its batches. When no further step fits, the loop is told to
stop after the last one: train() returns as at its end, and the model can be saved. Errors end train() before the step
runs. Under torch.distributed rank 0 has the session and charges, the others have None, and all ranks continue or stop
together.
"""
from __future__ import annotations

from typing import Any, Optional

from transformers import TrainerCallback

from ..event_json import EventLike
from ..session import Session
from .ranks import on_rank_0
from .steps import ChargedSteps


class LedgerCallback(TrainerCallback):
    """Charges `session` one `event` before each optimizer step of a Trainer."""

    def __init__(self, session: Optional[Session], event: EventLike) -> None:
        self._steps = ChargedSteps(session, event)

    def on_step_begin(self, args: Any, state: Any, control: Any, **others: Any) -> None:
        on_rank_0(self._steps.charge)

    def on_step_end(self, args: Any, state: Any, control: Any, **others: Any) -> None:
        if not on_rank_0(self._steps.has_room):
            control.should_training_stop = True
