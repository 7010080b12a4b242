"""A real Lightning Trainer under the ledger. Needs lightning and torch; skipped by name without."""
import json
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

try:
    from opacus.optimizers import AdaClipDPOptimizer
    from opacus.utils.uniform_sampler import UniformWithReplacementSampler
except ImportError as missing:
    NO_OPACUS = str(missing)
else:
    NO_OPACUS = ""

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

    def test_a_module_that_optimizes_by_itself_is_charged_for_each_step(self):
        for wrapped in (True, False):
            class Manual(Module):
                automatic_optimization = False

                def training_step(self, batch, index):
                    optimizer = self.optimizers(use_pl_optimizer=wrapped)
                    optimizer.zero_grad()
                    self.manual_backward(self.linear(batch).square().mean())
                    optimizer.step()

            session = self.new_session()
            trainer = self.fit(session, Manual())
            self.assertEqual(self.accepted_uses(session), STEPS_THAT_FIT)
            if wrapped:
                self.assertEqual(trainer.global_step, STEPS_THAT_FIT)

    def test_accumulated_batches_are_one_step(self):
        session = self.new_session()
        trainer = self.fit(session, Module(), accumulate_grad_batches=3, max_steps=2)
        self.assertEqual(trainer.global_step, 2)
        self.assertEqual(self.accepted_uses(session), 2)

    def loaders(self):
        """Of torch's samplers those that draw no Poisson batches."""
        data = torch.ones(24, 3)
        for options in ({}, {"shuffle": True}, {"shuffle": True, "drop_last": True},
                        {"sampler": torch.utils.data.WeightedRandomSampler([1.0] * 24, 24)},
                        {"sampler": torch.utils.data.RandomSampler(data, replacement=True)}):
            yield torch.utils.data.DataLoader(data, batch_size=2, **options)

    def test_an_event_for_poisson_batches_is_refused_where_others_are_drawn(self):
        for loader in self.loaders():
            session = self.new_session()
            with self.assertRaisesRegex(ValueError, "event: got .*the event without sampling, or a loader that draws"):
                self.fit(session, Module(), POISSON, loader)
            self.assertEqual(self.accepted_uses(session), 0)

    def test_other_events_are_charged_whatever_is_drawn(self):
        session = self.new_session(budget=self.new_budget(epsledger.Cap.zcdp(rho=10)))
        for done, loader in enumerate(self.loaders()):
            self.fit(session, Module(), STEP, loader, max_steps=2)
            self.assertEqual(self.accepted_uses(session), 2 * (done + 1))

    @unittest.skipIf(NO_OPACUS, NO_OPACUS)
    def test_poisson_batches_are_charged_as_the_event_says(self):
        session = self.new_session(budget=self.new_budget(epsledger.Cap.renyi(order=8, divergence=1e3)))
        drawn = UniformWithReplacementSampler(num_samples=24, sample_rate=0.5)
        self.fit(session, Module(), POISSON, torch.utils.data.DataLoader(torch.ones(24, 3), batch_sampler=drawn),
                 max_steps=2)
        self.assertEqual([(counted.event, counted.count) for counted in session.history()], [(POISSON, 2)])

    def test_how_the_module_clips_is_not_seen(self):
        class ByLayer(Module):
            def configure_gradient_clipping(self, *arguments, **named):
                super().configure_gradient_clipping(*arguments, **named)
                for parameter in self.parameters():  # per layer, and with a bound that adapts
                    torch.nn.utils.clip_grad_norm_([parameter], 1 / len(self.clipped_after))

        session, module = self.new_session(), ByLayer()
        self.fit(session, module, max_steps=3)
        self.assertEqual(module.clipped_after, [1, 2, 3])
        self.assertEqual([(counted.event, counted.count) for counted in session.history()], [(STEP, 3)])

    @unittest.skipIf(NO_OPACUS, NO_OPACUS)
    def test_adaptive_clipping_by_opacus_is_refused(self):
        class Adaptive(Module):
            def configure_optimizers(self):
                return AdaClipDPOptimizer(
                    super().configure_optimizers(), noise_multiplier=1.0, target_unclipped_quantile=0.5,
                    clipbound_learning_rate=0.1, max_clipbound=10, min_clipbound=0.1, unclipped_num_std=5.0,
                    max_grad_norm=1.0, expected_batch_size=2)

        session = self.new_session()
        with self.assertRaisesRegex(ValueError, "optimizer: got AdaClipDPOptimizer, want one that keeps"):
            self.fit(session, Adaptive())
        self.assertEqual(self.accepted_uses(session), 0)

    def test_the_divisor_is_not_declared(self):
        session = self.new_session()
        self.fit(session, Module(), max_steps=1)
        self.assertEqual(json.loads(session.statement().json)["sampling"]["normalizers"], [""])

    def test_mixed_precision_is_warned_of(self):
        session = self.new_session()
        with warnings.catch_warnings(record=True) as said:
            warnings.simplefilter("always")
            self.fit(session, Module(), precision="bf16-mixed", max_steps=1)
        text = " | ".join(str(warning.message) for warning in said)
        self.assertIn("Trainer(precision='bf16-mixed')", text)
        self.assertNotIn("parameters are", text)  # they keep 32 bits
        self.assertEqual(self.accepted_uses(session), 1)

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
