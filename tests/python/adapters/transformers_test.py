"""A real Hugging Face Trainer under the ledger. Needs transformers and torch; skipped by name without."""
import contextlib
import json
import os
import sys
import tempfile
import unittest
import warnings

HERE = os.path.dirname(os.path.abspath(__file__))
sys.path[:0] = [HERE, os.path.dirname(HERE)]

import epsledger
import two_ranks
from killable_ledger import BUILD
from ledger_case import STEP, STEPS_THAT_FIT, LedgerCase

try:
    import torch
    import transformers

    from epsledger.adapters.transformers import LedgerCallback

    class Model(torch.nn.Module):
        def __init__(self):
            super().__init__()
            self.linear = torch.nn.Linear(3, 2)

        def forward(self, features, labels):
            logits = self.linear(features)
            return {"loss": torch.nn.functional.cross_entropy(logits, labels), "logits": logits}
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
DATA = [{"features": [float(i), 1.0, -float(i)], "labels": i % 2} for i in range(24)]


@unittest.skipIf(MISSING, MISSING)
class Trainer(LedgerCase):
    def trainer(self, session, event=STEP, optimizer=None, model=None, **options):
        folder = self.enterContext(tempfile.TemporaryDirectory())
        arguments = transformers.TrainingArguments(
            output_dir=folder, per_device_train_batch_size=2, num_train_epochs=2, report_to=[], use_cpu=True,
            disable_tqdm=True, logging_strategy="no", save_strategy="no", **options)
        return transformers.Trainer(model=model or Model(), args=arguments, train_dataset=DATA,
                                    optimizers=(optimizer, None), callbacks=[LedgerCallback(session, event)])

    def said_in_training(self, trainer):
        """The warnings of a training, which may end at a kernel that this machine has not."""
        with warnings.catch_warnings(record=True) as said, contextlib.suppress(RuntimeError):
            warnings.simplefilter("always")
            trainer.train()
        return " | ".join(str(warning.message) for warning in said)

    def test_stops_after_the_last_step_that_fits(self):
        session = self.new_session()
        trainer = self.trainer(session)
        trainer.train()
        self.assertEqual(trainer.state.global_step, STEPS_THAT_FIT)
        self.assertEqual(self.accepted_uses(session), STEPS_THAT_FIT)

    def test_accumulated_batches_are_one_step(self):
        session = self.new_session()
        trainer = self.trainer(session, gradient_accumulation_steps=3, max_steps=2)
        trainer.train()
        self.assertEqual(trainer.state.global_step, 2)
        self.assertEqual(self.accepted_uses(session), 2)

    def test_an_event_for_poisson_batches_is_refused_where_the_trainer_shuffles(self):
        for options in ({}, {"dataloader_drop_last": True}, {"gradient_accumulation_steps": 3}):
            session = self.new_session()
            trainer = self.trainer(session, event=POISSON, **options)
            with self.assertRaisesRegex(ValueError, "event: got .*the event without sampling, or a loader that draws"):
                trainer.train()
            self.assertEqual(self.accepted_uses(session), 0)

    def test_samplers_that_repeat_records_draw_no_poisson_batches(self):
        for sampler in (torch.utils.data.WeightedRandomSampler([1.0] * len(DATA), len(DATA)),
                        torch.utils.data.RandomSampler(DATA, replacement=True)):
            for event, taken in ((POISSON, 0), (STEP, 1)):
                session = self.new_session()
                trainer = self.trainer(session, event=event, max_steps=1)
                trainer.get_train_dataloader = lambda: torch.utils.data.DataLoader(
                    DATA, batch_size=2, collate_fn=trainer.data_collator, sampler=sampler)
                refusal = contextlib.nullcontext() if taken else self.assertRaisesRegex(ValueError, "event: got")
                with refusal:
                    trainer.train()
                self.assertEqual(self.accepted_uses(session), taken)

    def test_other_events_are_charged_with_and_without_the_last_batch(self):
        for drop_last in (False, True):
            session = self.new_session()
            trainer = self.trainer(session, max_steps=2, dataloader_drop_last=drop_last)
            trainer.train()
            self.assertEqual(self.accepted_uses(session), 2)

    @unittest.skipIf(NO_OPACUS, NO_OPACUS)
    def test_poisson_batches_are_charged_as_the_event_says(self):
        session = self.new_session(budget=self.new_budget(epsledger.Cap.renyi(order=8, divergence=1e3)))
        trainer = self.trainer(session, event=POISSON, max_steps=2)
        drawn = UniformWithReplacementSampler(num_samples=len(DATA), sample_rate=0.5)
        trainer.get_train_dataloader = lambda: torch.utils.data.DataLoader(
            DATA, collate_fn=trainer.data_collator, batch_sampler=drawn)
        trainer.train()
        self.assertEqual([(counted.event, counted.count) for counted in session.history()], [(POISSON, 2)])

    def test_how_the_optimizer_clips_is_not_seen(self):
        model, clipped = Model(), []
        optimizer = torch.optim.SGD(model.parameters(), lr=0.1)

        @optimizer.register_step_pre_hook
        def by_layer(*arguments):
            clipped.append(1 / (len(clipped) + 1))  # per layer, and with a bound that adapts
            for parameter in model.parameters():
                torch.nn.utils.clip_grad_norm_([parameter], clipped[-1])

        session = self.new_session()
        self.trainer(session, optimizer=optimizer, model=model, max_steps=3).train()
        self.assertEqual(len(clipped), 3)
        self.assertEqual([(counted.event, counted.count) for counted in session.history()], [(STEP, 3)])

    @unittest.skipIf(NO_OPACUS, NO_OPACUS)
    def test_adaptive_clipping_by_opacus_is_refused(self):
        model = Model()
        optimizer = AdaClipDPOptimizer(
            torch.optim.SGD(model.parameters(), lr=0.1), noise_multiplier=1.0, target_unclipped_quantile=0.5,
            clipbound_learning_rate=0.1, max_clipbound=10, min_clipbound=0.1, unclipped_num_std=5.0, max_grad_norm=1.0,
            expected_batch_size=2)
        session = self.new_session()
        with self.assertRaisesRegex(ValueError, "optimizer: got AdaClipDPOptimizer, want one that keeps"):
            self.trainer(session, optimizer=optimizer, model=model).train()
        self.assertEqual(self.accepted_uses(session), 0)

    def test_adaptive_clipping_that_shows_in_the_first_backward_makes_no_update(self):
        model = Model()

        class Adaptive(torch.optim.SGD):
            updates = 0

            def step(self, closure=None):
                self.updates += 1
                return super().step(closure)

        optimizer = Adaptive(model.parameters(), lr=0.1)
        next(model.parameters()).register_hook(lambda gradient: setattr(optimizer, "_adjusted_noise_multiplier", 1.05))
        with self.assertRaisesRegex(ValueError, "want one that keeps its clipping bound"):
            self.trainer(self.new_session(), optimizer=optimizer, model=model).train()
        self.assertEqual(optimizer.updates, 0)

    def test_the_divisor_is_not_declared(self):
        session = self.new_session()
        self.trainer(session, max_steps=1).train()
        self.assertEqual(json.loads(session.statement().json)["sampling"]["normalizers"], [""])

    def test_low_precision_is_warned_of(self):
        trainer = self.trainer(self.new_session(), max_steps=1, bf16=True)
        trainer.model.to(torch.bfloat16)
        text = self.said_in_training(trainer)
        self.assertIn("parameters are torch.bfloat16", text)
        self.assertIn("TrainingArguments.bf16", text)

    def test_mixed_precision_is_warned_of(self):
        for option in ("bf16", "fp16"):
            text = self.said_in_training(self.trainer(self.new_session(), max_steps=1, **{option: True}))
            self.assertIn("TrainingArguments.%s" % option, text)
            self.assertNotIn("parameters are", text)  # they keep 32 bits

    def test_a_refused_step_is_not_run(self):
        session = self.new_session()
        session.charge(STEP, count=STEPS_THAT_FIT)
        trainer = self.trainer(session)
        before = trainer.model.linear.weight.detach().clone()
        with self.assertRaises(epsledger.BudgetExhausted):
            trainer.train()
        self.assertTrue(torch.equal(trainer.model.linear.weight.detach(), before))


@unittest.skipIf(MISSING, MISSING)
class Ranks(two_ranks.TwoRanks):
    TRAINER = os.path.join(HERE, "transformers_trainer.py")


if __name__ == "__main__":
    unittest.main()
