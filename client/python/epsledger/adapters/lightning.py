"""Lightning: a callback that charges before each optimizer step.

    trainer = Trainer(..., callbacks=[LedgerCallback(session, event)])

Tested against Lightning 2.2 on PyTorch 1.13, and Lightning 2.6 on PyTorch 2.15, there with two ranks too.

`event` is what one optimizer step of your module releases. Lightning itself adds no noise: your code clips the
gradients and adds it, in configure_gradient_clipping() or in the optimizer. Do not draw it earlier, because the charge
is made after backward() and before these. With an Opacus optimizer, use adapters.opacus instead, which knows each
step's noise.

With gradient accumulation one step is charged for all of its batches; with several optimizers each of their steps. When
no further step fits, the Trainer is told to stop after the last one: fit() returns as at its end, unless min_steps or
min_epochs want more: then fit() raises BudgetExhausted. Errors end fit() before the step runs. A module with
automatic_optimization = False is charged for each step() of its optimizers, also of those of
self.optimizers(use_pl_optimizer=False). Under torch.distributed rank 0 has the session and charges, the others have None, and all ranks
continue or stop together.

An event that is proved for Poisson batches is refused if the loader draws others, when training begins and before any
step, and so is the AdaClip of Opacus. Low precision and split parameters get a warning.
"""
from __future__ import annotations

import warnings
from typing import Any, List, Optional

from lightning.pytorch import Callback

from ..event_json import EventLike
from ..session import Session
from .loaders import check_event, refuse_adaptive_clipping, warn_of_low_precision, warn_of_split_parameters
from .ranks import on_rank_0
from .steps import ChargedSteps


class LedgerCallback(Callback):
    """Charges `session` one `event` before each optimizer step of a Trainer."""

    def __init__(self, session: Optional[Session], event: EventLike) -> None:
        self._steps = ChargedSteps(session, event)
        self._event = event
        # Of the optimizers of a module that calls step() itself.
        self._hooks: List[Any] = []

    def on_train_start(self, trainer: Any, pl_module: Any) -> None:
        check_event(self._event, trainer.train_dataloader)
        warn_of_low_precision(pl_module.parameters())
        warn_of_split_parameters(pl_module.parameters())
        for optimizer in trainer.optimizers:
            refuse_adaptive_clipping(optimizer)
        if not pl_module.automatic_optimization:
            self._charge_in_steps(trainer.optimizers)
        if str(trainer.precision) not in ("32-true", "64-true", "32", "64"):
            warnings.warn("Trainer(precision=%r): that your clipping is right with it cannot be seen from here"
                          % trainer.precision, stacklevel=2)
        kinds = [kind.__name__ for kind in type(trainer.strategy).__mro__]
        if any(word in name for name in kinds for word in ("FSDP", "DeepSpeed", "ModelParallel")):
            warnings.warn("%s: that your noise is right with split parameters cannot be seen from here" % kinds[0],
                          stacklevel=2)

    def _charge_in_steps(self, optimizers: Any) -> None:
        """A module that optimizes by itself may call the optimizer past Lightning, which then tells nobody."""
        for optimizer in optimizers:
            if not hasattr(optimizer, "register_step_pre_hook"):
                warnings.warn("automatic_optimization = False: steps of self.optimizers(use_pl_optimizer=False) are not "
                              "seen, and not charged, with this PyTorch", stacklevel=3)
                return
        self._hooks = [optimizer.register_step_pre_hook(lambda *step: on_rank_0(self._steps.charge))
                       for optimizer in optimizers]

    def on_train_end(self, trainer: Any, pl_module: Any) -> None:
        for hook in self._hooks:
            hook.remove()
        self._hooks = []

    def on_before_optimizer_step(self, trainer: Any, pl_module: Any, optimizer: Any) -> None:
        refuse_adaptive_clipping(optimizer)  # it may show after the first backward() only
        if not self._hooks:
            on_rank_0(self._steps.charge)

    def on_train_batch_end(self, trainer: Any, pl_module: Any, outputs: Any, batch: Any, batch_idx: int) -> None:
        if not on_rank_0(self._steps.has_room):
            trainer.should_stop = True
