"""The ledger under a real Opacus PrivacyEngine. Needs torch and opacus; skipped by name without."""
import hashlib
import os
import subprocess
import sys
import tempfile
import unittest

HERE = os.path.dirname(os.path.abspath(__file__))
sys.path[:0] = [HERE, os.path.dirname(HERE)]

import epsledger
from epsledger import events as e
from killable_ledger import BUILD, KillableLedger, wait_until

try:
    import opacus
    import torch
    from opacus.accountants import PRVAccountant
    from opacus.optimizers import AdaClipDPOptimizer
    from opacus.utils.batch_memory_manager import BatchMemoryManager

    import opacus_trainer
    from epsledger.adapters.opacus import LedgerAccountant
    from epsledger.history import charged_history
    from opacus_trainer import BATCH, NOISE_MULTIPLIER, RECORDS, private_run, step

    SAMPLE_RATE = BATCH / RECORDS
except ImportError as missing:
    MISSING = str(missing)
else:
    MISSING = "" if BUILD else "EPSLEDGER_BUILD names no build folder with server/epsledgerd"

DELTA = 1e-5
TRAINER = os.path.join(HERE, "opacus_trainer.py")


def trainer(*arguments):
    return subprocess.Popen([sys.executable, TRAINER, *map(str, arguments)], stdin=subprocess.DEVNULL)


def lines_of(file):
    if not os.path.exists(file):
        return []
    with open(file, encoding="utf-8") as stream:
        return stream.read().splitlines()


@unittest.skipIf(MISSING, MISSING)
class Opacus(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        torch.set_num_threads(1)
        cls.server = cls.enterClassContext(KillableLedger())
        cls.client = cls.enterClassContext(epsledger.connect(address=cls.server.address))
        cls.event = e.PoissonSampled(sampling_probability=SAMPLE_RATE,
                                     event=e.Gaussian(noise_multiplier=NOISE_MULTIPLIER))

    def open(self, *, divergence=1.0, budget=None):
        budget = budget or self.id().rsplit(".")[-1].replace("_", "-")[:60]
        self.client.create_budget(name=budget, cap=epsledger.Cap.renyi(order=8, divergence=divergence),
                                  privacy_unit="person")
        return self.client.open(session="run", budget=budget, delta=DELTA)

    def charged(self, session):
        return [(counted.event, counted.count) for counted in charged_history(session)]

    def weights(self, model):
        return hashlib.sha256(b"".join(p.detach().numpy().tobytes() for p in model.parameters())).hexdigest()

    def train_until_refused(self, session):
        """The updates that were made; the refused one is not among them."""
        accountant = LedgerAccountant(session)
        _, model, optimizer, loader = private_run(accountant)
        made = 0
        while True:
            for batch in loader:
                before = self.weights(model)
                try:
                    step(model, optimizer, batch)
                except epsledger.BudgetExhausted:
                    self.assertEqual(self.weights(model), before)
                    for parameter in model.parameters():
                        self.assertIsNone(parameter.grad)
                        self.assertIsNone(parameter.summed_grad)
                    optimizer.original_optimizer.step()  # even this has nothing noisy to apply
                    self.assertEqual(self.weights(model), before)
                    return made, accountant
                self.assertNotEqual(self.weights(model), before)
                made += 1

    def test_is_stopped_at_the_right_step_and_agrees_with_opacus(self):
        session = self.open(divergence=1.0)
        fit = session.preview(self.event).steps_that_fit
        self.assertGreater(fit, 5)
        made, accountant = self.train_until_refused(session)
        self.assertEqual(made, fit)
        self.assertEqual(self.charged(session), [(self.event, fit)])

        alone = PRVAccountant()
        alone.history = [(NOISE_MULTIPLIER, SAMPLE_RATE, fit)]
        self.assertEqual(accountant.history, alone.history)
        self.assertEqual(accountant.get_epsilon(DELTA), alone.get_epsilon(DELTA))
        error, delta_error = 0.01, DELTA / 1000
        lower, _, upper = alone._get_dprv(eps_error=error, delta_error=delta_error).compute_epsilon(
            DELTA, delta_error, error)
        best = session.guarantees(delta=DELTA).readings[-1]
        # The truth is in both intervals.
        self.assertLessEqual(lower, best.upper)
        self.assertLessEqual(best.lower, upper)
        self.assertLessEqual(abs(best.upper - alone.get_epsilon(DELTA)), upper - lower + best.upper - best.lower)

    def test_calibration_stays_local(self):
        session = self.open()
        engine = opacus.PrivacyEngine()
        engine.accountant = session.opacus()
        model = torch.nn.Linear(5, 2)
        data = torch.utils.data.TensorDataset(torch.randn(RECORDS, 5), torch.zeros(RECORDS, dtype=torch.long))
        _, optimizer, _ = engine.make_private_with_epsilon(
            module=model, optimizer=torch.optim.SGD(model.parameters(), lr=0.1), epochs=1, target_epsilon=4,
            target_delta=DELTA, data_loader=torch.utils.data.DataLoader(data, batch_size=BATCH), max_grad_norm=1.0)
        self.assertGreater(optimizer.noise_multiplier, 0.3)
        self.assertEqual(self.charged(session), [])

    def test_physical_batches_that_are_skipped_are_not_charged(self):
        session = self.open(divergence=100)
        _, model, optimizer, loader = private_run(LedgerAccountant(session))
        updates, physical = 0, 0
        with BatchMemoryManager(data_loader=loader, max_physical_batch_size=3, optimizer=optimizer) as small:
            for batch in small:
                before = self.weights(model)
                step(model, optimizer, batch)
                updates += self.weights(model) != before
                physical += 1
        self.assertGreater(physical, updates)
        self.assertEqual(self.charged(session), [(self.event, updates)])

    def test_charges_the_noise_of_the_very_step(self):
        session = self.open(divergence=100)
        _, model, optimizer, loader = private_run(LedgerAccountant(session))
        for batch in loader:
            step(model, optimizer, batch)
            optimizer.noise_multiplier *= 2
        self.assertEqual([event.event.noise_multiplier for event, _ in self.charged(session)],
                         [NOISE_MULTIPLIER * 2**i for i in range(len(loader))])

    def test_refuses_accumulated_batches(self):
        session = self.open()
        _, model, optimizer, loader = private_run(LedgerAccountant(session), poisson_sampling=False)
        before = self.weights(model)
        batches = iter(loader)
        for _ in range(2):
            features, labels = next(batches)
            torch.nn.functional.cross_entropy(model(features), labels).backward()
        with self.assertRaisesRegex(ValueError, "optimizer.accumulated_iterations: got 2, want 1"):
            optimizer.step()
        self.assertEqual(self.weights(model), before)
        self.assertEqual(self.charged(session), [])

    def test_epsilon_covers_what_else_was_charged_or_says_that_it_cannot(self):
        session = self.open(divergence=100)
        session.charge(e.Gaussian(noise_multiplier=5))
        with self.assertRaisesRegex(ValueError, "history: got Gaussian.*session.spent"):
            LedgerAccountant(session).get_epsilon(DELTA)

    def test_refuses_adaptive_clipping(self):
        session = self.open()
        _, model, optimizer, loader = private_run(LedgerAccountant(session))
        adaptive = AdaClipDPOptimizer(
            optimizer.original_optimizer, noise_multiplier=1.0, target_unclipped_quantile=0.5, clipbound_learning_rate=0.1,
            max_clipbound=10, min_clipbound=0.1, unclipped_num_std=5.0, max_grad_norm=1.0, expected_batch_size=BATCH)
        adaptive.attach_step_hook(LedgerAccountant(session).get_optimizer_hook_fn(SAMPLE_RATE))
        with self.assertRaisesRegex(ValueError, "optimizer: got AdaClipDPOptimizer, want one that keeps"):
            step(model, adaptive, next(iter(loader)))
        self.assertEqual(self.charged(session), [])

    def test_an_error_that_is_no_refusal_stops_the_update_too(self):
        session = self.open()
        _, model, optimizer, loader = private_run(LedgerAccountant(session))
        before = self.weights(model)
        session.close()
        with self.assertRaises(epsledger.Ended):
            step(model, optimizer, next(iter(loader)))
        self.assertEqual(self.weights(model), before)

    def test_a_resumed_run_goes_on_from_the_ledger(self):
        session = self.open(divergence=100)
        engine, model, optimizer, loader = private_run(LedgerAccountant(session))
        batches = iter(loader)
        step(model, optimizer, next(batches))
        with tempfile.TemporaryDirectory() as folder:
            checkpoint = os.path.join(folder, "checkpoint")
            engine.save_checkpoint(path=checkpoint, module=model, optimizer=optimizer)
            step(model, optimizer, next(batches))  # after the checkpoint, and charged

            again = self.open(divergence=100)
            resumed, model, optimizer, loader = private_run(LedgerAccountant(again))
            resumed.load_checkpoint(path=checkpoint, module=model, optimizer=optimizer)
            self.assertEqual(len(resumed.accountant), 1)
            step(model, optimizer, next(iter(loader)))
            self.assertEqual(resumed.accountant.history, [(NOISE_MULTIPLIER, SAMPLE_RATE, 3)])
            self.assertEqual(self.charged(again), [(self.event, 3)])
            with self.assertRaises(epsledger.AttemptFenced):
                session.charge(self.event)

            stranger = LedgerAccountant(self.open(budget="stranger"))
            with self.assertRaisesRegex(ValueError, "history: got 1 steps of .* want at most the 0"):
                stranger.load_state_dict(engine.accountant.state_dict() | {
                    "history": [(NOISE_MULTIPLIER, SAMPLE_RATE, 1)]})

    def test_forked_workers_neither_hang_nor_charge(self):
        session = self.open(divergence=100)

        class Charging(torch.utils.data.Dataset):
            """Records whose loading tries to charge."""

            def __len__(self):
                return RECORDS

            def __getitem__(self, index):
                try:
                    session.charge(opacus_event)
                except epsledger.WrongProcess:
                    return torch.zeros(5), 1
                return torch.zeros(5), 0

        opacus_event = self.event
        _, model, optimizer, loader = private_run(LedgerAccountant(session), workers=2)
        for batch in loader:
            step(model, optimizer, batch)
        refused = torch.utils.data.DataLoader(Charging(), batch_size=BATCH, num_workers=2,
                                              multiprocessing_context="fork")
        for _, was_refused in refused:
            self.assertTrue(was_refused.all())
        self.assertEqual(self.charged(session), [(self.event, len(loader))])


@unittest.skipIf(MISSING, MISSING)
class Processes(unittest.TestCase):
    """Trainers as processes of their own. One budget "people" each."""

    def setUp(self):
        self.server = self.enterContext(KillableLedger())
        self.client = self.enterContext(epsledger.connect(address=self.server.address))
        self.folder = self.enterContext(tempfile.TemporaryDirectory())
        self.event = e.PoissonSampled(sampling_probability=SAMPLE_RATE,
                                      event=e.Gaussian(noise_multiplier=NOISE_MULTIPLIER))

    def steps_that_fit(self, *, divergence):
        self.client.create_budget(name="people", cap=epsledger.Cap.renyi(order=8, divergence=divergence),
                                  privacy_unit="person")
        return self.client.open(session="probe", budget="people").preview(self.event).steps_that_fit

    def charged(self, session):
        return sum(counted.count for counted in charged_history(session))

    def run_to_its_end(self, processes):
        self.addCleanup(lambda: [process.kill() for process in processes if process.poll() is None])
        self.assertEqual([process.wait(240) for process in processes], [0] * len(processes))

    def test_after_kill_9_of_trainer_and_server_nothing_is_lost_or_counted_twice(self):
        fit = self.steps_that_fit(divergence=30)  # many: each kill is in the middle
        file = os.path.join(self.folder, "lines")
        killed = trainer(self.server.address, "run", file)
        self.addCleanup(killed.kill)
        wait_until(lambda: len(lines_of(file)) >= 5 or killed.poll() is not None, "five updates")
        killed.kill()
        killed.wait()
        self.server.kill()
        made = lines_of(file)
        self.assertEqual(set(made), {"step"}, "it was killed in the middle")
        self.server.start_again()
        reader = self.client.open(session="run", budget="people", delta=DELTA)
        charged = self.charged(reader)
        # A charge without its update, at most the one of the step it was killed in, and never the other way round.
        self.assertIn(charged - len(made), (0, 1))

        killed = trainer(self.server.address, "run", file)
        self.addCleanup(killed.kill)
        wait_until(lambda: len(lines_of(file)) >= len(made) + 5 or killed.poll() is not None, "five more")
        self.server.kill()  # under the trainer: it asks again with the same key
        self.server.start_again()
        self.assertEqual(killed.wait(240), 0)
        lines = lines_of(file)
        self.assertTrue(lines[-1].startswith("exhausted 0 "), lines[-1])
        self.assertEqual(self.charged(reader), fit)
        self.assertEqual(len(lines) - 1, fit - (charged - len(made)))

    def test_two_ranks_charge_once_a_step_and_stop_together(self):
        fit = self.steps_that_fit(divergence=2)
        file, rendezvous = os.path.join(self.folder, "lines"), os.path.join(self.folder, "rendezvous")
        self.run_to_its_end([trainer(self.server.address, "run", file, rank, 2, rendezvous) for rank in (0, 1)])
        first, second = (lines_of("%s.%d" % (file, rank)) for rank in (0, 1))
        self.assertEqual(first[:-1], ["step"] * fit)
        self.assertEqual(first, second)  # the last line has the weights
        self.assertTrue(first[-1].startswith("exhausted 0 "), first[-1])
        self.assertEqual(self.charged(self.client.open(session="run", budget="people", delta=DELTA)), fit)


if __name__ == "__main__":
    unittest.main()
