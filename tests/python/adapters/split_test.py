"""Parameters that are split over two ranks, by FSDP or tensor parallelism: two rows of the table in the README of the
adapters.

Needs torch with fully_shard, opacus, transformers and lightning; skipped by name without. The two ranks run all cases
in one go, because starting them takes most of the time."""
import os
import sys
import unittest

HERE = os.path.dirname(os.path.abspath(__file__))
sys.path[:0] = [HERE, os.path.dirname(HERE)]

import epsledger
import two_ranks
from killable_ledger import BUILD
from ledger_case import STEP, LedgerCase

try:
    import split_trainer
    from split_trainer import BATCH, CASES, NOISE, STEPS, WIDTH
except ImportError as missing:
    MISSING = str(missing)
else:
    MISSING = "" if BUILD else "EPSLEDGER_BUILD names no build folder with server/epsledgerd"

SECONDS = 2 * two_ranks.SECONDS  # for all cases
DTENSOR = "parameters are split over ranks (DTensor)"


@unittest.skipIf(MISSING, MISSING)
class Split(LedgerCase):
    @classmethod
    def setUpClass(cls):
        super().setUpClass()
        with epsledger.connect(address=cls.server.address) as client:
            for case in CASES:
                client.create_budget(name=case, privacy_unit="person",
                                     cap=epsledger.Cap.renyi(order=8, divergence=1e3))
        cls.said = two_ranks.run_both(split_trainer.__file__, cls.server.address, seconds=SECONDS)

    def lines(self, case, rank):
        start = case + ": "
        return [line[len(start):] for line in self.said[rank] if line.startswith(start)]

    def charged(self, case):
        session = self.client.open(session="run", budget=case, delta=1e-5)
        return [(counted.event, counted.count) for counted in session.history()]

    def assert_trained_and_warned(self, case, *warned):
        for rank in (0, 1):
            steps, said = self.lines(case, rank)
            self.assertEqual(steps, "steps %d" % STEPS)
            for words in warned:
                self.assertIn(words, said)
        self.assertEqual(self.charged(case), [(STEP, STEPS)])

    def test_opacus_on_fully_sharded_parameters_charges_once_the_noise_that_is_drawn(self):
        """With gradients of 0, the gradient of each shard is the noise over the public divisor."""
        for rank in (0, 1):
            shard, alike, clipped, warned = self.lines("opacus_fsdp", rank)
            size, *spreads = map(float, shard.split())
            self.assertEqual((size, len(spreads)), (WIDTH / 2, STEPS))
            for spread in spreads:  # six standard errors
                self.assertLess(abs(spread * BATCH - NOISE), 6 * NOISE / (2 * size) ** 0.5)
            self.assertLess(abs(float(alike)), 6 / size ** 0.5)  # the shards have noise of their own
            self.assertAlmostEqual(float(clipped), 4, places=2)  # four records of norm 1 in one direction
            self.assertIn("FSDP: what set_gradient_divide_factor and its like change", warned)
        ((event, count),) = self.charged("opacus_fsdp")
        self.assertEqual((event.event.noise_multiplier, event.sampling_probability, count), (NOISE, 0.1, STEPS + 1))

    def test_opacus_on_fully_sharded_parameters_warns_of_mixed_precision_once(self):
        for rank in (0, 1):
            first, *later = self.lines("opacus_mixed_precision", rank)
            self.assertIn("gradients of records are torch.bfloat16", first)
            self.assertEqual(["torch.bfloat16" in said for said in later], [False] * (STEPS - 1))

    def test_opacus_refuses_other_ways_to_split(self):
        wanted = ("grad_sample_mode: got hooks, want \"ghost_fsdp\"", "grad_sample_mode: got ghost, want",
                  "module: got one with a parameter that is not sharded", "over a mesh of (2, 1), want",
                  "module: got one in FullyShardedDataParallel",
                  "module: got one with parameters that are split over ranks (tensor parallelism)",
                  "module: got one with parameters that are split over ranks (tensor parallelism)")
        for rank in (0, 1):
            said = self.lines("opacus_refuses", rank)
            self.assertEqual(len(said), len(wanted))
            for refusal, words in zip(said, wanted):
                self.assertIn(words, refusal)
        self.assertEqual(self.charged("opacus_refuses"), [])

    def test_transformers_warns_of_fsdp_and_charges_once_a_step(self):
        self.assert_trained_and_warned("transformers_option", "TrainingArguments.fsdp")
        self.assert_trained_and_warned("transformers_fsdp", DTENSOR)

    def test_transformers_warns_of_tensor_parallelism_and_charges_once_a_step(self):
        self.assert_trained_and_warned("transformers_tensor_parallel", DTENSOR)

    def test_lightning_warns_of_fsdp_and_charges_once_a_step(self):
        self.assert_trained_and_warned("lightning_fsdp", "OnTheCpu: that your noise is right with split")
        self.assert_trained_and_warned("lightning_fully_shard", DTENSOR, "ModelParallelStrategy")

    def test_lightning_warns_of_tensor_parallelism_and_charges_once_a_step(self):
        self.assert_trained_and_warned("lightning_tensor_parallel", DTENSOR, "ModelParallelStrategy")


if __name__ == "__main__":
    unittest.main()
