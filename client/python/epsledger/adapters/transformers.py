"""Hugging Face Trainer: a callback that charges before each step.

    trainer = Trainer(..., callbacks=[LedgerCallback(session, event)])

Tested against transformers 4.40 on PyTorch 1.13, and transformers 5.24 on PyTorch 2.15, there with two ranks too.

`event` is what one optimizer step of your model releases. The Trainer itself adds no noise: your code clips the
gradients and adds it, in the model, the optimizer or a subclass of Trainer. With an Opacus optimizer, use
adapters.opacus instead, which knows each step's noise.

A step is charged when it begins, before its first forward pass, so that its noise is charged wherever it is drawn in
the step. With gradient accumulation that is once for all of its batches. When no further step fits, the loop is told to
stop after the last one: train() returns as at its end, and the model can be saved. Errors end train() before the step
runs. Under torch.distributed rank 0 has the session and charges, the others have None, and all ranks continue or stop
together.

An event that is proved for Poisson batches is refused if the loader draws others, when training begins and before any
step, and so is the AdaClip of Opacus. Low precision and split parameters get a warning.
"""
from __future__ import annotations

import warnings
from typing import Any, Optional

from transformers import TrainerCallback

from ..event_json import EventLike
from ..session import Session
from .loaders import check_event, refuse_adaptive_clipping, warn_of_low_precision, warn_of_split_parameters
from .ranks import on_rank_0
from .steps import ChargedSteps


class LedgerCallback(TrainerCallback):
    """Charges `session` one `event` before each optimizer step of a Trainer."""

    def __init__(self, session: Optional[Session], event: EventLike) -> None:
        self._steps = ChargedSteps(session, event)
        self._event = event

    def on_train_begin(self, args: Any, state: Any, control: Any, **others: Any) -> None:
        check_event(self._event, others.get("train_dataloader"))
        if others.get("model") is not None:
            warn_of_low_precision(others["model"].parameters())
            warn_of_split_parameters(others["model"].parameters())
        refuse_adaptive_clipping(others.get("optimizer"))
        for option in ("fp16", "bf16", "fsdp", "deepspeed"):
            if getattr(args, option, None):
                warnings.warn("TrainingArguments.%s: that your noise and clipping are right with it cannot be seen "
                              "from here" % option, stacklevel=2)

    def on_step_begin(self, args: Any, state: Any, control: Any, **others: Any) -> None:
        refuse_adaptive_clipping(others.get("optimizer"))
        on_rank_0(self._steps.charge)

    def on_pre_optimizer_step(self, args: Any, state: Any, control: Any, **others: Any) -> None:
        # Opacus's other adaptive clipping shows in the optimizer after the first backward().
        refuse_adaptive_clipping(others.get("optimizer"))

    def on_step_end(self, args: Any, state: Any, control: Any, **others: Any) -> None:
        if not on_rank_0(self._steps.has_room):
            control.should_training_stop = True
