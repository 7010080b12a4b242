"""A real Lightning Trainer under the ledger. Needs lightning and torch; skipped by name without."""
import logging
import os
import sys
import unittest
import unittest.mock
import warnings

HERE = os.path.dirname(os.path.abspath(__file__))
sys.path[:0] = [HERE, os.path.dirname(HERE)]

import epsledger
import two_ranks
from killable_ledger import BUILD
from ledger_case import STEP, STEPS_THAT_FIT, LedgerCase

try:
    import torch
    import lightning.pytorch as pl

    from epsledger.adapters.lightning import LedgerCallback

    class Module(pl.LightningModule):
        def __init__(self):
            # PyTorch 1.13 cannot import its sharded tensors on Python 3.11, which Lightning would do here.
            with unittest.mock.patch("torch.distributed.is_available", return_value=False):
                super().__init__()
            self.linear = torch.nn.Linear(3, 1)
            self.clipped_after = []  # how much was charged when the gradients were clipped

        def training_step(self, batch, index):
            return self.linear(batch).square().mean()

        def configure_optimizers(self):
            return torch.optim.SGD(self.parameters(), lr=0.1)

        def configure_gradient_clipping(self, *arguments, **named):
            self.clipped_after.append(self.charged())
except ImportError as missing:
    MISSING = str(missing)
else:
    MISSING = "" if BUILD else "EPSLEDGER_BUILD names no build folder with server/epsledgerd"

POISSON = epsledger.events.PoissonSampled(sampling_probability=0.1, event=STEP)


@unittest.skipIf(MISSING, MISSING)
class Trainer(LedgerCase):
    def setUp(self):
        super().setUp()
        logging.getLogger("lightning.pytorch").setLevel(logging.ERROR)
        self.enterContext(warnings.catch_warnings())
        warnings.simplefilter("ignore")

    def fit(self, session, module, event=STEP, loader=None, **options):
        trainer = pl.Trainer(max_epochs=2, accelerator="cpu", logger=False, enable_checkpointing=False,
                             enable_progress_bar=False, enable_model_summary=False,
                             callbacks=[LedgerCallback(session, event)], **options)
        module.charged = lambda: self.accepted_uses(session)
        trainer.fit(module, loader or torch.utils.data.DataLoader(torch.ones(24, 3), batch_size=2))
        return trainer

    def test_stops_after_the_last_step_that_fits(self):
        session, module = self.new_session(), Module()
        trainer = self.fit(session, module)
        self.assertEqual(trainer.global_step, STEPS_THAT_FIT)
        self.assertEqual(self.accepted_uses(session), STEPS_THAT_FIT)
        # Each step was charged before its gradients were clipped.
        self.assertEqual(module.clipped_after, list(range(1, STEPS_THAT_FIT + 1)))

    def test_accumulated_batches_are_one_step(self):
        session = self.new_session()
        trainer = self.fit(session, Module(), accumulate_grad_batches=3, max_steps=2)
        self.assertEqual(trainer.global_step, 2)
        self.assertEqual(self.accepted_uses(session), 2)

    def test_an_event_for_poisson_batches_is_refused_where_others_are_drawn(self):
        data = torch.ones(24, 3)
        weighted = torch.utils.data.WeightedRandomSampler([1.0] * 24, 24)
        for options in ({"shuffle": True}, {"shuffle": True, "drop_last": True}, {"sampler": weighted}, {}):
            session = self.new_session()
            with self.assertRaisesRegex(ValueError, "event: got .*the event without sampling, or a loader that draws"):
                self.fit(session, Module(), POISSON, torch.utils.data.DataLoader(data, batch_size=2, **options))
            self.assertEqual(self.accepted_uses(session), 0)

    def test_low_precision_is_warned_of(self):
        with warnings.catch_warnings(record=True) as said:
            warnings.simplefilter("always")
            self.fit(self.new_session(), Module(), precision="bf16-true", max_steps=1)
        text = " | ".join(str(warning.message) for warning in said)
        self.assertIn("parameters are torch.bfloat16", text)
        self.assertIn("Trainer(precision='bf16-true')", text)

    def test_a_refused_step_is_not_run(self):
        session, module = self.new_session(), Module()
        session.charge(STEP, count=STEPS_THAT_FIT)
        before = module.linear.weight.detach().clone()
        with self.assertRaises(epsledger.BudgetExhausted):
            self.fit(session, module)
        self.assertTrue(torch.equal(module.linear.weight.detach(), before))


@unittest.skipIf(MISSING, MISSING)
class Ranks(two_ranks.TwoRanks):
    TRAINER = os.path.join(HERE, "lightning_trainer.py")


if __name__ == "__main__":
    unittest.main()
