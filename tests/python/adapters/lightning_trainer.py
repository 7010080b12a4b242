"""One rank of a small training with a Lightning Trainer: see two_ranks."""
import logging
import sys
import warnings

warnings.filterwarnings("ignore")

import lightning.pytorch as pl
import torch

import epsledger
import two_ranks
from epsledger.adapters.lightning import LedgerCallback
from ledger_case import STEP
from lightning_test import Module


def main(rank, folder, address, budget):
    rank = int(rank)
    logging.getLogger("lightning.pytorch").setLevel(logging.ERROR)
    two_ranks.join(rank, folder)

    class Told(Module):
        def optimizer_step(self, *arguments, **named):
            super().optimizer_step(*arguments, **named)
            two_ranks.say(rank, folder, "step")

        def charged(self):
            """Not asked for here."""

    torch.manual_seed(0)
    module = Told()
    trainer = pl.Trainer(
        max_epochs=2, accelerator="cpu", devices=2, strategy=pl.strategies.DDPStrategy(process_group_backend="gloo"),
        logger=False, enable_checkpointing=False, enable_progress_bar=False, enable_model_summary=False,
        callbacks=[LedgerCallback(two_ranks.opened(rank, address, budget), STEP)])
    try:
        trainer.fit(module, torch.utils.data.DataLoader(torch.ones(24, 3), batch_size=2))
        two_ranks.say(rank, folder, "ended", trainer.world_size, trainer.global_step)
    except epsledger.BudgetExhausted as refusal:
        two_ranks.say(rank, folder, "refused", refusal.steps_that_fit)
    two_ranks.say(rank, folder, two_ranks.weights(module))
    torch.distributed.barrier()  # who leaves first ends the connection of the other
    torch.distributed.destroy_process_group()


if __name__ == "__main__":
    main(*sys.argv[1:])
