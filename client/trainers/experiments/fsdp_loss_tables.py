"""The paper's loss of privacy of FSDP: what its two releases of a step cost at the noise that the text gives."""
import math

import markdown
from fsdp_tables import DELTA, compute, gaussian, sampled_steps

BATCH = 250
# Printed in the paper's Table 4: (data, records, nominal epsilon of a step): losses at 25 and at 50 epochs of DP-SGD,
# PDP-SGD, P3SGD and FSDP.
PAPER_LOSSES = {
    ("MNIST", 60000, 4.4): {25: (1.93, 2.11, 1.88, 1.96), 50: (2.71, 2.87, 2.65, 2.82)},
    ("MNIST", 60000, 1.3): {25: (0.76, 0.79, 0.71, 0.79), 50: (1.09, 1.11, 1.04, 1.11)},
    ("CIFAR-10", 50000, 4.4): {25: (0.72, 0.89, 0.63, 0.79), 50: (0.81, 0.93, 0.76, 0.88)},
    ("CIFAR-10", 50000, 1.3): {25: (0.25, 0.28, 0.21, 0.28), 50: (0.31, 0.39, 0.30, 0.35)},
}


def noise_multiplier(nominal):
    """Returns the noise of V and of Phi over their sensitivities: the paper's (8) at the nominal epsilon."""
    return math.sqrt(2 * math.log(1.25 / DELTA)) / nominal


def one_release(probability, noise, steps):
    """V alone."""
    return sampled_steps(probability, gaussian(noise), steps)


def own_batches(probability, noise, steps):
    """V and Phi as if each had a batch of its own: what adding their moments claims (Theorem 1 (i))."""
    return 2 * one_release(probability, noise, steps)


def one_batch(probability, noise, steps):
    """V and Phi of one batch: what a step is. Two Gaussians of sigma on one record are one of sigma / sqrt(2)."""
    both = {"composed": {"events": [{"count": 1, "event": gaussian(noise)}, {"count": 1, "event": gaussian(noise)}]}}
    return sampled_steps(probability, both, steps)


def table4_fsdp(bench):
    """Table 4: the paper's loss of privacy of FSDP, and the cost of its two releases a step at the noise of the text"""
    rows = []
    for (data, records, nominal), losses in PAPER_LOSSES.items():
        probability, noise = BATCH / records, noise_multiplier(nominal)
        for epochs, printed in losses.items():
            steps = epochs * records // BATCH
            row = [data, nominal, epochs] + ["%.2f" % loss for loss in printed]
            for accountant, events in (("MOMENTS", one_release), ("MOMENTS", own_batches), ("MOMENTS", one_batch),
                                       ("RENYI", one_batch), ("PLD", one_batch)):
                row.append("%.2f" % compute(bench, accountant, events(probability, noise, steps)))
            rows.append(row)
    columns = ["data", "nominal epsilon of a step", "epochs", "paper, DP-SGD", "paper, PDP-SGD", "paper, P3SGD",
               "paper, FSDP", "V alone, MOMENTS", "V and Phi with a batch each (unsound), MOMENTS",
               "V and Phi of one batch, MOMENTS", "RENYI", "PLD"]
    return markdown.table(columns, rows) + """
A step of FSDP releases V and Phi of the same batch, each with the noise of the text, sqrt(2 ln(1.25/delta)) over the
nominal epsilon; batches have 250 records. Both together are one sampled event with the noise divided by sqrt(2). The
paper's numbers for FSDP at 4.4 on MNIST are at most 0.12 above the cost of V alone: they leave no room for a second
release. The last five columns are the costs of Gaussian releases of bounded sensitivity. The published releases are not
of this kind (README of fsdp_published), so no column is a guarantee of the published algorithm. PDP-SGD and P3SGD are
algorithms of other papers; only the numbers that this paper prints for them are shown.
"""


TABLES = {"table4-fsdp": table4_fsdp}
