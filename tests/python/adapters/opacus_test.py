"""The ledger under a real Opacus PrivacyEngine. Needs torch and opacus; skipped by name without."""
import contextlib
import hashlib
import io
import json
import os
import re
import subprocess
import sys
import tempfile
import unittest

HERE = os.path.dirname(os.path.abspath(__file__))
sys.path[:0] = [HERE, os.path.dirname(HERE)]

import epsledger
from calibration_test import LEAST_SHARE, OPACUS_NOISE, SAMPLE_RATE as RECIPE_RATE, STEPS
from epsledger import events as e
from epsledger.event_json import is_same_event
from killable_ledger import BUILD, KillableLedger, wait_until

try:
    import opacus
    import torch
    from opacus.accountants import PRVAccountant
    from opacus.optimizers import AdaClipDPOptimizer
    from opacus.utils.batch_memory_manager import BatchMemoryManager

    import opacus_trainer
    from epsledger.adapters.opacus import LedgerAccountant, step_event
    from opacus_trainer import BATCH, NOISE_MULTIPLIER, RECORDS, private_run, step

    SAMPLE_RATE = BATCH / RECORDS
except ImportError as missing:
    MISSING = str(missing)
else:
    MISSING = "" if BUILD else "EPSLEDGER_BUILD names no build folder with server/epsledgerd"

DELTA = 1e-5
TRAINER = os.path.join(HERE, "opacus_trainer.py")
README = os.path.join(HERE, "..", "..", "..", "client", "python", "epsledger", "adapters", "README.md")


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
        return [(counted.event, counted.count) for counted in session.history()]

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


    def test_a_step_is_charged_as_step_event_says_for_any_number_of_batches(self):
        session = self.open(divergence=100)
        for batches, made in ((4, 4), (93, 92)):
            given = torch.utils.data.DataLoader(
                torch.utils.data.TensorDataset(torch.randn(batches, 5), torch.zeros(batches, dtype=torch.long)))
            engine, model = opacus.PrivacyEngine(), torch.nn.Linear(5, 2)
            engine.accountant = session.opacus()
            model, optimizer, loader = engine.make_private(
                module=model, optimizer=torch.optim.SGD(model.parameters(), lr=0.1), data_loader=given,
                noise_multiplier=1.5, max_grad_norm=1.0)
            step(model, optimizer, (torch.randn(2, 5), torch.zeros(2, dtype=torch.long)))
            event = e.PoissonSampled(sampling_probability=1 / made, event=e.Gaussian(noise_multiplier=1.5))
            self.assertEqual(self.charged(session)[-1], (event, 1))
            for data_loader in (given, loader):
                self.assertEqual(step_event(data_loader, noise_multiplier=1.5), event)

    def test_until_exhausted_ends_with_its_own_refusal_alone(self):
        session = self.open()
        accountant = session.opacus()
        with self.assertRaisesRegex(ZeroDivisionError, ""), accountant.until_exhausted():
            1 / 0
        with self.assertRaises(epsledger.BudgetExhausted), accountant.until_exhausted():
            session.charge(self.event, count=10**6)  # not by this accountant
        self.assertIsNone(accountant.exhausted)

    def test_calibration_wants_steps_or_epochs(self):
        accountant = self.open().opacus()
        for wrong, message in (({}, "got neither, want one of the two"),
                               ({"steps": 3, "epochs": 3}, "got both, want one of the two"),
                               ({"epochs": 0}, r"epochs: got 0, want in \(0, inf\)"),
                               ({"epochs": float("nan")}, "epochs: got nan"),
                               ({"steps": 0}, "count: got 0"),
                               ({"steps": 3, "sample_rate": 1.5}, "sampling_probability: got 1.5"),
                               ({"epochs": 3, "sample_rate": 1.5}, "sampling_probability: got 1.5")):
            with self.subTest(wrong=wrong), self.assertRaisesRegex(ValueError, message):
                accountant.calibrate(**{"sample_rate": SAMPLE_RATE, **wrong})
        for batches in (1, 49, 93, 100):
            self.assertEqual(accountant.calibrate(sample_rate=1 / batches, epochs=10),
                             accountant.calibrate(sample_rate=1 / batches, steps=10 * batches))
        with self.assertRaisesRegex(ValueError, "session: got None"):
            LedgerAccountant(None).calibrate(sample_rate=0.1, steps=1)


@unittest.skipIf(MISSING, MISSING)
class Recipe(unittest.TestCase):
    """Opacus's usual recipe, for (2, 1e-5) and 5 epochs, under a budget of (2, 1e-5)."""

    EPOCHS, BATCHES = 5, 100

    @classmethod
    def setUpClass(cls):
        torch.set_num_threads(1)
        cls.server = cls.enterClassContext(KillableLedger())
        cls.client = cls.enterClassContext(epsledger.connect(address=cls.server.address))

    def setUp(self):
        self.assertEqual((RECIPE_RATE, STEPS), (1 / self.BATCHES, self.EPOCHS * self.BATCHES))
        torch.manual_seed(0)
        records = 8 * self.BATCHES
        data = torch.utils.data.TensorDataset(torch.randn(records, 5), torch.randint(0, 2, (records,)))
        self.loader = torch.utils.data.DataLoader(data, batch_size=8)
        self.budget = "people" if "readme" in self.id() else self.id().rsplit(".")[-1].replace("_", "-")[:60]
        self.client.create_budget(name=self.budget, cap=epsledger.Cap.approximate_dp(epsilon=2, delta=DELTA),
                                  privacy_unit="person")

    def open(self, **options):
        return self.client.open(session="run", budget=self.budget, delta=DELTA, **options)

    def engine(self, session):
        engine = opacus.PrivacyEngine()
        engine.accountant = session.opacus()
        return engine

    def trained(self, engine, make_private, passes=EPOCHS, **options):
        """(optimizer, the updates that were made) of a whole training, as the adapter's documentation has it."""
        model = torch.nn.Linear(5, 2)
        model, optimizer, loader = make_private(
            module=model, optimizer=torch.optim.SGD(model.parameters(), lr=0.1), data_loader=self.loader,
            max_grad_norm=1.0, **options)
        made = 0
        with engine.accountant.until_exhausted():
            for _ in range(passes):
                for batch in loader:
                    step(model, optimizer, batch)
                    made += 1
        return optimizer, made

    def assert_charged(self, session, event, count):
        """Charged as one unit each, of which the budget counts."""
        self.assertEqual([(counted.event, counted.count) for counted in session.history()],
                         [(event, count)])
        budget = self.client.budget(self.budget)
        self.assertTrue(is_same_event(event.to_json(), budget.cap.reference), budget.cap.reference)
        self.assertEqual([cell.spent for cell in budget.cells if cell.quantity == "UNITS"], [count])

    def test_all_steps_run_with_the_noise_that_the_cap_takes(self):
        noise = self.client.calibrate(
            budget=self.budget, event=lambda z: step_event(self.loader, noise_multiplier=z), count=STEPS)
        event = step_event(self.loader, noise_multiplier=noise)
        session = self.open(expects=event)
        engine = self.engine(session)
        _, made = self.trained(engine, engine.make_private, noise_multiplier=noise)
        self.assertEqual((made, engine.accountant.exhausted), (STEPS, None))
        self.assert_charged(session, event, STEPS)
        self.assertLess(noise, 1.02 * OPACUS_NOISE)

    def test_the_readme_of_the_adapters_is_true(self):
        with open(README, encoding="utf-8") as stream:
            (block,) = re.findall(r"^```python\n(.*?)^```$", stream.read(), re.MULTILINE | re.DOTALL)
        model = torch.nn.Linear(5, 2)
        names = {"client": self.client, "opacus": opacus, "loader": self.loader, "model": model,
                 "optimizer": torch.optim.SGD(model.parameters(), lr=0.1), "loss": torch.nn.functional.cross_entropy}
        with contextlib.redirect_stdout(io.StringIO()) as printed:
            exec(compile(block, "README.md", "exec"), names)
        self.assertRegex(printed.getvalue(), r"^all steps were made epsilon 1\.[\d]+ at delta 1e-05 was spent")
        self.assert_charged(names["session"], names["step"](names["noise"]), STEPS)

    def test_all_steps_run_with_the_noise_that_the_accountant_of_an_open_session_says(self):
        session = self.open()
        engine = self.engine(session)
        noise = engine.accountant.calibrate(sample_rate=1 / len(self.loader), epochs=self.EPOCHS)
        _, made = self.trained(engine, engine.make_private, noise_multiplier=noise)
        self.assertEqual((made, engine.accountant.exhausted), (STEPS, None))
        self.assert_charged(session, step_event(self.loader, noise_multiplier=noise), STEPS)

    def test_the_noise_that_opacus_chooses_runs_nearly_as_far_as_privacy_loss_says_and_ends_well(self):
        session = self.open()
        engine = self.engine(session)
        optimizer, made = self.trained(
            engine, engine.make_private_with_epsilon, passes=2 * self.EPOCHS,  # as far as the budget goes
            target_epsilon=2, target_delta=DELTA, epochs=self.EPOCHS)
        self.assertAlmostEqual(optimizer.noise_multiplier, OPACUS_NOISE, delta=0.02)
        admitted = json.loads(self.server.ctl(
            "calibrate", "--count", "--gaussian", repr(optimizer.noise_multiplier), "--sampling-probability",
            repr(RECIPE_RATE), "--epsilon", "2", "--delta", repr(DELTA), "-o", "json"))["value"]
        self.assertGreaterEqual(made, LEAST_SHARE * admitted)
        self.assertLessEqual(made, admitted)
        self.assertIs(engine.accountant.exhausted, session.exhausted)
        self.assertEqual(session.exhausted.steps_that_fit, 0)
        self.assert_charged(session, step_event(self.loader, noise_multiplier=optimizer.noise_multiplier), made)
        self.assertLessEqual(session.spent(delta=DELTA).epsilon, 2)


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
        return sum(counted.count for counted in session.history())

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
        self.assertRegex(first[0], r"^noise [\d.]+$")
        self.assertEqual(first[1:-1], ["step"] * fit)
        self.assertEqual(first, second)  # the last line has the weights
        self.assertTrue(first[-1].startswith("exhausted 0 "), first[-1])
        self.assertEqual(self.charged(self.client.open(session="run", budget="people", delta=DELTA)), fit)


if __name__ == "__main__":
    unittest.main()
