"""One rank of a small training with a Hugging Face Trainer: see two_ranks."""
import os
import sys
import warnings

warnings.filterwarnings("ignore")

import torch
import transformers

import epsledger
import two_ranks
from epsledger.adapters.transformers import LedgerCallback
from ledger_case import STEP
from transformers_test import DATA, Model


def main(rank, folder, address, budget):
    rank = int(rank)
    two_ranks.join(rank, folder)

    class Told(transformers.TrainerCallback):
        def on_step_end(self, *arguments, **named):
            two_ranks.say(rank, folder, "step")

    torch.manual_seed(0)
    charges = LedgerCallback(two_ranks.opened(rank, address, budget), STEP)
    trainer = transformers.Trainer(
        model=Model(), train_dataset=DATA, callbacks=[charges, Told()],
        args=transformers.TrainingArguments(
            output_dir=os.path.join(folder, "out"), per_device_train_batch_size=2, num_train_epochs=2, report_to=[],
            use_cpu=True, ddp_backend="gloo", disable_tqdm=True, logging_strategy="no", save_strategy="no"))
    try:
        trainer.train()
        two_ranks.say(rank, folder, "ended", trainer.args.world_size, trainer.state.global_step)
    except epsledger.BudgetExhausted as refusal:
        two_ranks.say(rank, folder, "refused", refusal.steps_that_fit)
    two_ranks.say(rank, folder, two_ranks.weights(trainer.model))
    torch.distributed.barrier()  # who leaves first ends the connection of the other
    torch.distributed.destroy_process_group()


if __name__ == "__main__":
    main(*sys.argv[1:])
