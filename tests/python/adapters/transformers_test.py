"""A real Hugging Face Trainer under the ledger. Needs transformers and torch; skipped by name without."""
import contextlib
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

POISSON = epsledger.events.PoissonSampled(sampling_probability=0.1, event=STEP)
DATA = [{"features": [float(i), 1.0, -float(i)], "labels": i % 2} for i in range(24)]


@unittest.skipIf(MISSING, MISSING)
class Trainer(LedgerCase):
    def trainer(self, session, event=STEP, **options):
        folder = self.enterContext(tempfile.TemporaryDirectory())
        arguments = transformers.TrainingArguments(
            output_dir=folder, per_device_train_batch_size=2, num_train_epochs=2, report_to=[], use_cpu=True,
            disable_tqdm=True, logging_strategy="no", save_strategy="no", **options)
        return transformers.Trainer(model=Model(), args=arguments, train_dataset=DATA,
                                    callbacks=[LedgerCallback(session, event)])

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

    def test_a_weighted_sampler_is_no_poisson_sampler(self):
        session = self.new_session()
        trainer = self.trainer(session, event=POISSON)
        trainer.get_train_dataloader = lambda: torch.utils.data.DataLoader(
            DATA, batch_size=2, collate_fn=trainer.data_collator,
            sampler=torch.utils.data.WeightedRandomSampler([1.0] * len(DATA), len(DATA)))
        with self.assertRaisesRegex(ValueError, "event: got"):
            trainer.train()
        self.assertEqual(self.accepted_uses(session), 0)

    def test_low_precision_is_warned_of(self):
        trainer = self.trainer(self.new_session(), max_steps=1, bf16=True)
        trainer.model.to(torch.bfloat16)
        with warnings.catch_warnings(record=True) as said, contextlib.suppress(RuntimeError):
            warnings.simplefilter("always")
            trainer.train()
        text = " | ".join(str(warning.message) for warning in said)
        self.assertIn("parameters are torch.bfloat16", text)
        self.assertIn("TrainingArguments.bf16", text)

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
