"""One rank of small trainings whose parameters are split over two ranks: see split_test.

    split_trainer.py RANK FOLDER ADDRESS [CASE ...]

Each case trains under the session "run" of the budget of its name, and says "CASE: what came of it"."""
import logging
import os
import sys
import warnings

warnings.filterwarnings("ignore")

import lightning.pytorch as pl
import torch
import transformers
from torch.distributed.device_mesh import init_device_mesh
from torch.distributed.fsdp import FullyShardedDataParallel, MixedPrecisionPolicy, fully_shard
from torch.distributed.tensor import Replicate
from torch.distributed.tensor.parallel import ColwiseParallel, parallelize_module
from torch.utils.data import DataLoader, TensorDataset
from transformers.distributed import DistributedConfig

import two_ranks
from epsledger.adapters import lightning as ledger_lightning
from epsledger.adapters import transformers as ledger_transformers
from epsledger.adapters.opacus_engine import LedgerEngine
from ledger_case import STEP

CASES = ("opacus_fsdp", "opacus_mixed_precision", "opacus_refuses", "transformers_option", "transformers_fsdp",
         "transformers_tensor_parallel", "lightning_fsdp", "lightning_fully_shard", "lightning_tensor_parallel")
RECORDS, BATCH, NOISE, STEPS = 60, 6, 1.5, 2
WIDTH = 4000  # of the layer whose noise is measured


def warnings_of(act):
    """What `act` returns, and what it warned its user of."""
    with warnings.catch_warnings(record=True) as said:
        warnings.simplefilter("always")
        result = act()
    return result, " | ".join(" ".join(str(warning.message).split()) for warning in said
                              if warning.category is UserWarning)


class Split:
    """The cases, one method each."""

    def __init__(self, rank, folder, address):
        self.rank, self.folder, self.address = rank, folder, address
        self.mesh = init_device_mesh("cpu", (2,))

    def session(self, case):
        return two_ranks.opened(self.rank, self.address, case)

    def say(self, case, *words):
        two_ranks.say(self.rank, self.folder, case + ":", *words)

    # ---- Opacus

    def make_private(self, case, module, **options):
        data = TensorDataset(torch.ones(RECORDS, 1), torch.zeros(RECORDS, dtype=torch.long))
        return LedgerEngine(self.session(case), public_batch_size=BATCH).make_private(
            module=module, optimizer=torch.optim.SGD(module.parameters(), lr=1.0), noise_multiplier=NOISE,
            data_loader=DataLoader(data, batch_size=BATCH), max_grad_norm=1.0, **options)

    def opacus_fsdp(self, case):
        """STEPS with gradients of 0, which leave the noise over the divisor, and one with two equal records on each
        rank, which are clipped."""
        torch.manual_seed(self.rank)
        module = fully_shard(torch.nn.Linear(1, WIDTH, bias=False), mesh=self.mesh)
        (model, optimizer, criterion, _), said = warnings_of(
            lambda: self.make_private(case, module, grad_sample_mode="ghost_fsdp"))
        (parameter,), spreads = optimizer.params, []
        for scale in [0] * STEPS + [100]:
            optimizer.zero_grad()
            criterion(model(torch.ones(2, 1)) * scale, torch.zeros(2, dtype=torch.long)).backward()
            optimizer.step()
            shard = parameter.grad.to_local()
            spreads.append(shard.std().item())
        shards, average = parameter.grad.full_tensor(), optimizer.grad_state[parameter]["summed_grad"].full_tensor()
        self.say(case, len(shard), *spreads[:STEPS])
        self.say(case, torch.corrcoef(shards.reshape(2, -1))[0, 1].item())
        self.say(case, 2 * average.norm().item())  # of the ranks
        self.say(case, said)

    def opacus_mixed_precision(self, case):
        module = fully_shard(torch.nn.Linear(1, 4), mesh=self.mesh,
                             mp_policy=MixedPrecisionPolicy(param_dtype=torch.bfloat16))
        model, optimizer, criterion, _ = self.make_private(case, module, grad_sample_mode="ghost_fsdp")
        for _ in range(STEPS):
            optimizer.zero_grad()
            criterion(model(torch.ones(2, 1)), torch.zeros(2, dtype=torch.long)).backward()
            self.say(case, warnings_of(optimizer.step)[1])

    def opacus_refuses(self, case):
        def linear():
            return torch.nn.Linear(2, 4)

        whole_bias, two_dimensions = linear(), init_device_mesh("cpu", (2, 1), mesh_dim_names=("copies", "shards"))
        ghost = {"grad_sample_mode": "ghost_fsdp"}
        for module, options in (
                (fully_shard(linear(), mesh=self.mesh), {}),
                (fully_shard(linear(), mesh=self.mesh), {"grad_sample_mode": "ghost"}),
                (fully_shard(whole_bias, mesh=self.mesh, ignored_params={whole_bias.bias}), ghost),
                (fully_shard(linear(), mesh=two_dimensions), ghost),
                (FullyShardedDataParallel(linear(), device_id=torch.device("cpu")), {}),
                (parallelize_module(linear(), self.mesh, ColwiseParallel()), {}),
                (parallelize_module(torch.nn.Sequential(linear()), self.mesh, {"0": ColwiseParallel()}), ghost)):
            try:
                self.make_private(case, module, **options)
                self.say(case, "taken")
            except Exception as refusal:  # if it is another, the test says which
                self.say(case, refusal)

    # ---- Transformers

    def train(self, case, model, **options):
        trainer = transformers.Trainer(
            model=model, train_dataset=[{"input_ids": [i % 16, 1], "labels": [1, i % 16]} for i in range(24)],
            callbacks=[ledger_transformers.LedgerCallback(self.session(case), STEP)],
            args=transformers.TrainingArguments(
                output_dir=os.path.join(self.folder, "out"), per_device_train_batch_size=2, max_steps=STEPS,
                report_to=[], use_cpu=True, ddp_backend="gloo", disable_tqdm=True, logging_strategy="no",
                save_strategy="no", **options))
        _, said = warnings_of(trainer.train)
        self.say(case, "steps", trainer.state.global_step)
        self.say(case, said)

    def language_model(self):
        return transformers.LlamaForCausalLM(transformers.LlamaConfig(
            hidden_size=8, intermediate_size=8, num_hidden_layers=1, vocab_size=16, num_attention_heads=2,
            num_key_value_heads=2))

    def split_language_model(self, case, **sizes):
        model, saved = self.language_model(), os.path.join(self.folder, case)
        model.save_pretrained(saved)  # by rank 0
        torch.distributed.barrier()
        return type(model).from_pretrained(saved, distributed_config=DistributedConfig(**sizes))

    def transformers_option(self, case):
        """Without a GPU the Trainer takes the option, and splits nothing."""
        self.train(case, self.language_model(), fsdp=True)

    def transformers_fsdp(self, case):
        self.train(case, self.split_language_model(case, fsdp_size=2))

    def transformers_tensor_parallel(self, case):
        model = self.split_language_model(case, tp_size=2)
        model._tp_size = None  # or Accelerate, which the Trainer tells of it, wants GPUs
        self.train(case, model)

    # ---- Lightning

    def fit(self, case, module, strategy):
        trainer = pl.Trainer(
            max_steps=STEPS, accelerator="cpu", devices=2, strategy=strategy, logger=False, enable_checkpointing=False,
            enable_progress_bar=False, enable_model_summary=False,
            callbacks=[ledger_lightning.LedgerCallback(self.session(case), STEP)])
        _, said = warnings_of(lambda: trainer.fit(module, DataLoader(torch.ones(24, 2), batch_size=2)))
        self.say(case, "steps", trainer.global_step)
        self.say(case, said)

    def lightning_fsdp(self, case):
        class OnTheCpu(pl.strategies.FSDPStrategy):
            """The Trainer takes FSDPStrategy itself on GPUs alone."""

        def split(module):
            module.linear = FullyShardedDataParallel(module.linear, device_id=torch.device("cpu"), use_orig_params=True)

        self.fit(case, Module(split), OnTheCpu(process_group_backend="gloo"))

    def lightning_fully_shard(self, case):
        self.fit(case, Module(lambda module: fully_shard(module.linear, mesh=module.device_mesh["data_parallel"])),
                 pl.strategies.ModelParallelStrategy(data_parallel_size=2, tensor_parallel_size=1,
                                                     process_group_backend="gloo"))

    def lightning_tensor_parallel(self, case):
        self.fit(case, Module(lambda module: parallelize_module(
            module.linear, module.device_mesh["tensor_parallel"], ColwiseParallel(output_layouts=Replicate()))),
                 pl.strategies.ModelParallelStrategy(data_parallel_size=1, tensor_parallel_size=2,
                                                     process_group_backend="gloo"))


class Module(pl.LightningModule):
    def __init__(self, split):
        super().__init__()
        self.linear, self.split = torch.nn.Linear(2, 4), split

    def configure_model(self):
        self.split(self)

    def training_step(self, batch, index):
        return self.linear(batch).square().mean()

    def configure_optimizers(self):
        return torch.optim.SGD(self.parameters(), lr=0.1)


def main(rank, folder, address, *cases):
    logging.getLogger("lightning.pytorch").setLevel(logging.ERROR)
    two_ranks.join(int(rank), folder)
    split = Split(int(rank), folder, address)
    for case in cases or CASES:
        getattr(split, case)(case)
    torch.distributed.destroy_process_group()


if __name__ == "__main__":
    main(*sys.argv[1:])
