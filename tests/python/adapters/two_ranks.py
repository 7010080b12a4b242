"""Two ranks of torch.distributed over gloo on the CPU, each a process that runs the same script:

    SCRIPT RANK FOLDER ADDRESS BUDGET

A script calls join() before it trains, says "step" for each update, and then what ended it and its weights."""
import hashlib
import os
import subprocess
import sys
import tempfile
import unittest

import epsledger
from ledger_case import STEP, STEPS_THAT_FIT, LedgerCase

SECONDS = 240


class TwoRanks(LedgerCase):
    """What every callback promises under torch.distributed. Subclasses have TRAINER, the script."""

    TRAINER = None

    @classmethod
    def setUpClass(cls):
        if cls.TRAINER is None:
            raise unittest.SkipTest("a base class")
        super().setUpClass()

    def lines_of_both(self, session):
        """The lines that each rank said, once both have ended well. It trains in a new attempt of `session`."""
        _, budget, _, name = session.name.split("/")
        return run_both(self.TRAINER, self.server.address, budget, run_id=name)

    def test_two_ranks_charge_once_a_step_and_stop_together(self):
        session = self.new_session()
        first, second = self.lines_of_both(session)
        self.assertEqual(first[:-1], ["step"] * STEPS_THAT_FIT + ["ended 2 %d" % STEPS_THAT_FIT])
        self.assertEqual(first, second)  # the last line has the weights
        self.assertEqual({(count, decision) for _, count, decision in self.charges(session)}, {(1, "ACCEPTED")})
        self.assertEqual(self.accepted_uses(session), STEPS_THAT_FIT)

    def test_a_refused_step_is_made_by_no_rank(self):
        session = self.new_session()
        session.charge(STEP, count=STEPS_THAT_FIT - 1)
        first, second = self.lines_of_both(session)
        self.assertEqual((first[:-1], first), (["step", "ended 2 1"], second))
        again, other = self.lines_of_both(session)
        self.assertEqual((again[:-1], again), (["refused 0"], other))
        self.assertNotEqual(first[-1], again[-1])
        self.assertEqual(self.accepted_uses(session), STEPS_THAT_FIT)


def run_both(script, *arguments, run_id="run", seconds=SECONDS):
    """Runs SCRIPT RANK FOLDER ARGUMENTS... as two ranks. Returns the lines that each said, once both ended well."""
    # What a launcher such as torchrun tells a framework.
    environment = {**os.environ, "WORLD_SIZE": "2", "LOCAL_WORLD_SIZE": "2", "GROUP_RANK": "0", "OMP_NUM_THREADS": "1",
                   "MASTER_ADDR": "127.0.0.1", "MASTER_PORT": "1", "TORCHELASTIC_RUN_ID": run_id}
    with tempfile.TemporaryDirectory() as folder:
        processes = [subprocess.Popen(
            [sys.executable, script, str(rank), folder, *arguments], stdin=subprocess.DEVNULL,
            env={**environment, "RANK": str(rank), "LOCAL_RANK": str(rank)}) for rank in (0, 1)]
        try:
            ends = [process.wait(seconds) for process in processes]
        finally:
            for process in processes:
                process.kill()
                process.wait()
        if any(ends):
            raise AssertionError("the ranks ended with %s" % ends)
        said = []
        for rank in (0, 1):
            with open(os.path.join(folder, "lines.%d" % rank), encoding="utf-8") as lines:
                said.append(lines.read().splitlines())
        return said


def join(rank, folder):
    """Makes the process group, through a file: no port is taken that another program may have."""
    import torch

    torch.set_num_threads(1)
    torch.distributed.init_process_group("gloo", init_method="file://" + os.path.join(folder, "rendezvous"), rank=rank,
                                         world_size=2)


def opened(rank, address, budget):
    """The session on rank 0, None on the other."""
    return epsledger.connect(address=address).open(session="run", budget=budget, delta=1e-5) if rank == 0 else None


def say(rank, folder, *words):
    with open(os.path.join(folder, "lines.%d" % rank), "a", encoding="utf-8") as lines:
        print(*words, file=lines, flush=True)


def weights(model):
    return hashlib.sha256(b"".join(p.detach().numpy().tobytes() for p in model.parameters())).hexdigest()
