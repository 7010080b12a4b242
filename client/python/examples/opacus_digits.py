"""PyTorch and Opacus: a small network on the digits, stopped by the ledger.

    python opacus_digits.py [EPSILON]

Needs torch and opacus. The server is that of EPSLEDGER_HTTP, else http://127.0.0.1:8080.
"""
import sys

import opacus
import torch
from digits import load_digits
from torch.utils.data import DataLoader, TensorDataset

import epsledger
from epsledger.adapters.opacus import step_event

EPSILON = float(sys.argv[1]) if len(sys.argv) > 1 else 3.0
NOISE_MULTIPLIER = 2.0
data, others = (TensorDataset(torch.from_numpy(features).float(), torch.from_numpy(labels).long())
                for features, labels in load_digits())
loader = DataLoader(data, batch_size=135)
network = torch.nn.Sequential(torch.nn.Linear(65, 32), torch.nn.Tanh(), torch.nn.Linear(32, 10))

with epsledger.connect() as client:
    client.create_budget(name="digits-opacus", privacy_unit="image",
                         cap=epsledger.Cap.approximate_dp(epsilon=EPSILON, delta=1e-5))
    provenance = epsledger.Provenance(sampler="POISSON", clip_norm=1.0, library="opacus",
                                      library_version=opacus.__version__)
    with client.open(session="network", budget="digits-opacus", delta=1e-5, provenance=provenance,
                     expects=step_event(loader, noise_multiplier=NOISE_MULTIPLIER)) as session:
        engine = opacus.PrivacyEngine()
        engine.accountant = session.opacus()  # the one line that is not Opacus's own
        network, optimizer, loader = engine.make_private(
            module=network, optimizer=torch.optim.SGD(network.parameters(), lr=1.0),
            data_loader=loader, noise_multiplier=NOISE_MULTIPLIER, max_grad_norm=1.0)
        steps = 0
        with engine.accountant.until_exhausted():
            while True:
                for x, y in loader:
                    optimizer.zero_grad()
                    torch.nn.functional.cross_entropy(network(x), y).backward()
                    optimizer.step()  # charges, then updates
                    steps += 1
        print(f"{steps} steps, then {session.exhausted}")
        print(f"{session.spent()}; Opacus says {engine.get_epsilon(1e-5):.4f}")
        with torch.no_grad():
            accuracy = (network(others.tensors[0]).argmax(1) == others.tensors[1]).float().mean()
        print(f"accuracy on other images {accuracy:.3f}")
