"""The CIFAR-10 halves of the paper's tables of FSDP, on lossy copies of CIFAR-10."""
from fsdp_tables import Setting, figure_of, parts_of, ranks_of

# 243 maps of 8 x 8 for an image are 15,552 features. Averages of 2 x 2 neighbors are a fixed function of one image as
# well, and leave 3,888 of them, as many as MNIST has: a step costs the same and a run a minute or two.
POOLED = ("--model", "average_pool(2) fully_connected(64) tanh", "--input-scale", "32", "--learning-rate", "1",
          "--average", "0.97")
DP_SGD = POOLED + ("--clip-residual", "1")
FSDP = POOLED + ("--clip-embedding", "1", "--clip-residual", "0.5", "--subspace", "history", "--rank", "10")
# A subset of epochs: the tables are 78 runs.
SCHEDULE = {1: (4096, 4), 2: (4096, 6), 4: (4096, 8), 8: (4096, 10)}
# Printed in the paper, for CIFAR-10: its Tables 5 and 3.
PAPER = {"DP-SGD": {2: 63.63, 4: 68.98, 8: 73.55}, "FSDP": {2: 72.15, 4: 74.83, 8: 76.88},
         "FSDP-M": {2: 67.24, 4: 71.32, 8: 74.68}, "FSDP-S": {2: 68.74, 4: 72.49, 8: 75.54},
         "FSDP-R": {2: 71.29, 4: 74.25, 8: 76.54}, "FSDP-C": {2: 67.89, 4: 71.91, 8: 75.21}}
PAPER_RANKS = {10: (71.59, 73.95, 75.77), 50: (72.15, 74.83, 76.88), 200: (72.16, 74.87, 76.89),
               500: (72.32, 74.93, 76.96), 1000: (71.26, 74.05, 76.14)}
# The best of 1, 0.1 and 0.02 in one run each of FSDP-C at epsilon 4; with 1, as in the other rows, the loss diverges.
ADAPTIVE_LEARNING_RATE = "0.1"
CIFAR = Setting("cifar10-jpeg75", DP_SGD, FSDP, SCHEDULE, PAPER, PAPER_RANKS, ADAPTIVE_LEARNING_RATE)
EPSILONS = (1, 2, 4, 8)
RANKS = (1, 10, 63)
CAPTION = """
The records are cifar10-jpeg75, lossy copies of CIFAR-10: these are not results on CIFAR-10. Scattering features of each
image, averaged over 2 x 2 positions, go to MLP(64), with the same sound FSDP and DP-SGD as on MNIST; the paper trains
two convolutions and two layers of 1000. A SUBSET OF EPOCHS: 4, 6, 8 and 10 at epsilon 1, 2, 4 and 8. Nothing was tuned
to reach the paper's numbers, which at epsilon 2 and 4 are above what is known to be reachable without public data
(README of fsdp).
"""
OF_ADAPTIVE_ROWS = """The rows FSDP-C and FSDP have learning rate 0.1 in place of 1: adaptive clipping raises the clip
norm, and a step with it, and with 1 they reach 16 to 22 %.
"""


def figure2_cifar(bench):
    """Figure 2 on cifar10-jpeg75, not on CIFAR-10: accuracy of sound FSDP and DP-SGD, scattering to MLP(64)"""
    return figure_of(bench, CIFAR, EPSILONS, "figure2-cifar10-jpeg75.svg",
                     "cifar10-jpeg75 at delta 1e-5: accuracy against epsilon") + CAPTION


def table3_cifar(bench):
    """Table 3 on cifar10-jpeg75, not on CIFAR-10: accuracy against the rank k of the subspace, of 64 outputs"""
    return ranks_of(bench, CIFAR, RANKS) + CAPTION


def table5_cifar(bench):
    """Table 5 on cifar10-jpeg75, not on CIFAR-10: the parts of FSDP, added one after the other"""
    return parts_of(bench, CIFAR) + CAPTION + OF_ADAPTIVE_ROWS


TABLES = {"figure2-cifar": figure2_cifar, "table3-cifar": table3_cifar, "table5-cifar": table5_cifar}
