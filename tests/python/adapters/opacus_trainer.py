"""A small private training run: a process of its own for the tests of kill -9 and of several ranks.

    opacus_trainer.py ADDRESS SESSION FILE [RANK WORLD_SIZE RENDEZVOUS]

Appends one line to FILE (FILE.RANK) for each update that was made, and a last one with what ended it; of several ranks
a first one too, with the noise that the cap takes."""
import hashlib
import sys
import warnings

warnings.filterwarnings("ignore")

import opacus
import torch
from torch.utils.data import DataLoader, TensorDataset

import epsledger
from epsledger.adapters.opacus import LedgerAccountant

NOISE_MULTIPLIER = 2.0
RECORDS, BATCH = 64, 16


def private_run(accountant, *, seed=0, workers=0, world_size=1, **options):
    """(model, optimizer, loader) of a linear model on random data."""
    torch.manual_seed(seed)
    data = TensorDataset(torch.randn(RECORDS, 5), torch.randint(0, 2, (RECORDS,)))
    model = torch.nn.Linear(5, 2)
    if world_size > 1:
        from opacus.distributed import DifferentiallyPrivateDistributedDataParallel as Distributed
        model = Distributed(model)
    engine = opacus.PrivacyEngine()
    engine.accountant = accountant
    made = engine.make_private(
        module=model, optimizer=torch.optim.SGD(model.parameters(), lr=0.1), noise_multiplier=NOISE_MULTIPLIER,
        data_loader=DataLoader(data, batch_size=BATCH, num_workers=workers), max_grad_norm=1.0, **options)
    return (engine, *made)


def step(model, optimizer, batch):
    features, labels = batch
    optimizer.zero_grad()
    torch.nn.functional.cross_entropy(model(features), labels).backward()
    optimizer.step()


def main(address, session, file, rank="0", world_size="1", rendezvous=None):
    rank, world_size = int(rank), int(world_size)
    torch.set_num_threads(1)
    if rendezvous:
        torch.distributed.init_process_group("gloo", init_method="file://" + rendezvous, rank=rank,
                                             world_size=world_size)
    opened = None
    if rank == 0:
        opened = epsledger.connect(address=address).open(session=session, budget="people", delta=1e-5)
    accountant = LedgerAccountant(opened)
    _, model, optimizer, loader = private_run(accountant, world_size=world_size)
    with open(file if world_size == 1 else "%s.%d" % (file, rank), "a", encoding="utf-8") as lines:
        def say(*words):
            print(*words, file=lines, flush=True)
        if world_size > 1:
            say("noise", accountant.calibrate(sample_rate=BATCH / RECORDS, epochs=2))
        with accountant.until_exhausted():
            while True:
                for batch in loader:
                    step(model, optimizer, batch)
                    say("step")
        weights = b"".join(p.detach().numpy().tobytes() for p in model.parameters())
        say("exhausted", accountant.exhausted.steps_that_fit, hashlib.sha256(weights).hexdigest())
    if rendezvous:
        torch.distributed.destroy_process_group()  # its threads may abort a process that ends with them


if __name__ == "__main__":
    main(*sys.argv[1:])
