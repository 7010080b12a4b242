"""What LedgerEngine detects, charges, warns of and refuses: the column of Opacus in the adapters' README.

Needs torch and opacus; skipped by name without."""
import json
import os
import sys
import unittest
import unittest.mock
import warnings

HERE = os.path.dirname(os.path.abspath(__file__))
sys.path[:0] = [HERE, os.path.dirname(HERE)]

import epsledger
from epsledger import events as e
from killable_ledger import BUILD
from ledger_case import LedgerCase

try:
    import opacus
    import torch
    from opacus.utils.batch_memory_manager import BatchMemoryManager
    from torch.utils.data import DataLoader, RandomSampler, TensorDataset, WeightedRandomSampler

    from epsledger.adapters.loaders import drawing_of
    from epsledger.adapters.opacus_engine import LedgerEngine, normalizer_of, provenance
except ImportError as missing:
    MISSING = str(missing)
else:
    MISSING = "" if BUILD else "EPSLEDGER_BUILD names no build folder with server/epsledgerd"

RECORDS, BATCH, NOISE = 60, 7, 1.5
GAUSSIAN = e.Gaussian(noise_multiplier=NOISE)
README = os.path.join(HERE, "..", "..", "..", "client", "python", "epsledger", "adapters", "README.md")
DIVISOR = "The number that noisy sums were divided by: "
LEFT_OUT = "neighboring data sets can have different divisors, which the epsilon leaves out."


@unittest.skipIf(MISSING, MISSING)
class Engine(LedgerCase):
    @classmethod
    def setUpClass(cls):
        torch.set_num_threads(1)
        super().setUpClass()

    def setUp(self):
        super().setUp()
        torch.manual_seed(3)  # no empty batch, on which a loss would be no number

    def open(self, relation="ADD_OR_REMOVE_ONE", **options):
        name = "budget-%d" % next(self._numbers)
        self.client.create_budget(name=name, cap=epsledger.Cap.renyi(order=8, divergence=1e3), privacy_unit="person",
                                  neighboring_relation=relation)
        return self.client.open(session="run", budget=name, delta=1e-5, neighboring_relation=relation, **options)

    def loader(self, **options):
        data = TensorDataset(torch.randn(RECORDS, 5), torch.zeros(RECORDS, dtype=torch.long))
        return DataLoader(data, batch_size=BATCH, **options)

    def make(self, session, loader=None, *, model=None, public_batch_size=None, **options):
        """(model, optimizer, loader) and what was warned of."""
        model = model or torch.nn.Linear(5, 2)
        engine = LedgerEngine(session, public_batch_size=public_batch_size)
        with warnings.catch_warnings(record=True) as said:
            warnings.simplefilter("always")
            made = engine.make_private(module=model, optimizer=torch.optim.SGD(model.parameters(), lr=0.1),
                                       data_loader=loader or self.loader(shuffle=True), noise_multiplier=NOISE,
                                       **{"max_grad_norm": 1.0, **options})
        return made, " | ".join(str(warning.message) for warning in said)

    def train(self, made, steps=3):
        model, optimizer, loader = made
        done = 0
        while done < steps:
            for features, labels in loader:
                optimizer.zero_grad()
                torch.nn.functional.cross_entropy(model(features), labels).backward()
                optimizer.step()
                done += 1
                if done == steps:
                    break

    def charged(self, session):
        return [(counted.event, counted.count) for counted in session.history()]

    def test_poisson_batches_are_charged_as_what_is_drawn(self):
        session = self.open()
        made, _ = self.make(session)
        self.train(made)
        rate = 1 / len(made[2])
        self.assertEqual(drawing_of(made[2]).sampler, "POISSON")
        self.assertEqual(self.charged(session), [(e.PoissonSampled(sampling_probability=rate, event=GAUSSIAN), 3)])

    def test_shuffled_batches_are_charged_without_sampling_where_one_record_is_replaced(self):
        for relation in ("REPLACE_ONE", "REPLACE_SPECIAL"):
            session = self.open(relation)
            made, _ = self.make(session, poisson_sampling=False)
            self.train(made)
            self.assertEqual(self.charged(session), [(GAUSSIAN, 3)])

    def test_shuffled_batches_are_refused_where_one_record_is_added_or_removed(self):
        with self.assertRaisesRegex(ValueError, "poisson_sampling: got False, want True, or a session for REPLACE_ONE"):
            self.make(self.open(), poisson_sampling=False)

    def test_weights_are_dropped_with_a_warning_and_the_rate_is_what_is_drawn(self):
        session = self.open()
        weighted = self.loader(sampler=WeightedRandomSampler([1.0] * (RECORDS - 1) + [9.0], num_samples=2 * RECORDS))
        made, said = self.make(session, weighted)
        self.assertIn("its weights and repetitions have no effect", said)
        self.train(made)
        rate = 1 / len(made[2])
        self.assertEqual(made[2].batch_sampler.sample_rate, rate)
        self.assertEqual(made[2].batch_sampler.num_samples, RECORDS)
        self.assertEqual(self.charged(session), [(e.PoissonSampled(sampling_probability=rate, event=GAUSSIAN), 3)])

    def test_samplers_that_repeat_records_are_refused_without_poisson_batches(self):
        for sampler in (WeightedRandomSampler([1.0] * RECORDS, num_samples=RECORDS),
                        RandomSampler(range(RECORDS), replacement=True),
                        RandomSampler(range(RECORDS), num_samples=2 * RECORDS)):
            with self.assertRaisesRegex(ValueError, "data_loader: got .*RandomSampler.*at most once in a pass"):
                self.make(self.open("REPLACE_ONE"), self.loader(sampler=sampler), poisson_sampling=False)

    def test_drop_last_is_said_to_have_no_effect(self):
        _, said = self.make(self.open(), self.loader(shuffle=True, drop_last=True))
        self.assertIn("Opacus ignores drop_last", said)
        session = self.open("REPLACE_ONE")
        made, _ = self.make(session, self.loader(shuffle=True, drop_last=True), poisson_sampling=False)
        self.train(made)
        self.assertEqual(self.charged(session), [(GAUSSIAN, 3)])

    def test_accumulated_gradients_are_refused_and_physical_batches_are_one(self):
        session = self.open("REPLACE_ONE")
        (model, optimizer, loader), _ = self.make(session, poisson_sampling=False)
        with self.assertRaisesRegex(ValueError, "accumulated_iterations: got 2"):
            for batch, (features, labels) in enumerate(loader):
                torch.nn.functional.cross_entropy(model(features), labels).backward()
                if batch == 1:
                    optimizer.step()
        self.assertEqual(self.charged(session), [])
        session = self.open()
        (model, optimizer, loader), _ = self.make(session)
        with BatchMemoryManager(data_loader=loader, max_physical_batch_size=2, optimizer=optimizer) as small:
            for features, labels in small:
                optimizer.zero_grad()
                torch.nn.functional.cross_entropy(model(features), labels).backward()
                optimizer.step()
        self.assertEqual(sum(count for _, count in self.charged(session)), len(loader))

    def ghost_step(self, made, batches):
        """The gradients that a step sees after backward() of each of the batches."""
        model, optimizer, criterion, _ = made
        for features, labels in batches:
            criterion(model(features), labels).backward()
        optimizer.accumulate()
        sums = [p.summed_grad.clone() for p in optimizer.params]
        for p in optimizer.params:
            p.summed_grad = None
        optimizer.step()
        return sums

    def test_batches_that_your_code_joins_are_refused(self):
        """BatchMemoryManager tells the optimizer in the same way that a batch is not the last of its step."""
        session = self.open()
        made, _ = self.make(session)
        with self.assertRaisesRegex(ValueError, "signal_skip_step: got True, want BatchMemoryManager"):
            made[1].signal_skip_step()
        made[1].signal_skip_step(False)
        self.train(made, steps=1)
        self.assertEqual(sum(count for _, count in self.charged(session)), 1)

    def test_with_ghost_clipping_only_the_last_of_accumulated_batches_is_in_the_step(self):
        session = self.open("REPLACE_ONE")
        made, _ = self.make(session, poisson_sampling=False, grad_sample_mode="ghost")
        batches = list(made[-1])[:2]
        start = {name: value.clone() for name, value in made[0].state_dict().items()}
        both = self.ghost_step(made, batches)
        made[0].load_state_dict(start)
        last = self.ghost_step(made, batches[1:])
        self.assertTrue(all(map(torch.equal, both, last)))
        self.assertEqual(self.charged(session), [(GAUSSIAN, 2)])

    def test_parts_of_a_batch_that_a_loop_left_are_in_no_other_step(self):
        from opacus.utils.batch_memory_manager import BatchMemoryManager

        for managed in (True, False):
            session = self.open()
            data = TensorDataset(torch.ones(16, 5), torch.zeros(16, 1))
            made, _ = self.make(session, DataLoader(data, batch_size=16), model=torch.nn.Linear(5, 1, bias=False))
            model, optimizer, loader = made

            def step(features, labels):
                optimizer.zero_grad()
                torch.nn.functional.mse_loss(100 * model(features), 1000 + labels).backward()
                optimizer.step()

            with BatchMemoryManager(data_loader=loader, max_physical_batch_size=4, optimizer=optimizer) as parts:
                for features, labels in parts:
                    step(features, labels)
                    break
                if managed:
                    for features, labels in parts:
                        step(features, labels)
            if not managed:
                for features, labels in loader:
                    step(features, labels)
            # 16 records of norm at most 1 in one step.
            self.assertLessEqual(optimizer.params[0].summed_grad.norm().item(), 16 * (1 + 1e-5))
            self.assertEqual(sum(count for _, count in self.charged(session)), 1)

    def test_the_hook_that_charges_is_the_only_one(self):
        made, _ = self.make(self.open())
        with self.assertRaisesRegex(ValueError, "attach_step_hook: got count, want nothing beside the hook that charges"):
            def count(optimizer):
                pass
            made[1].attach_step_hook(count)

    def test_noise_of_shards_wants_shards(self):
        with self.assertRaisesRegex(ValueError, "grad_sample_mode: got ghost_fsdp, want one for whole parameters"):
            self.make(self.open(), grad_sample_mode="ghost_fsdp")

    def test_with_ghost_clipping_noise_is_for_the_bound_at_which_the_module_clips(self):
        from opacus.grad_sample import GradSampleModuleFastGradientClipping
        from opacus.schedulers import ExponentialGradClip

        for other in ("module", "optimizer"):
            session = self.open()
            model = torch.nn.Linear(5, 2)
            if other == "module":
                model = GradSampleModuleFastGradientClipping(model, max_grad_norm=100.0)
            made, _ = self.make(session, model=model, grad_sample_mode="ghost")
            if other == "optimizer":
                ExponentialGradClip(made[1], gamma=0.01).step()
            with self.assertRaisesRegex(ValueError, "optimizer.max_grad_norm: got .*at which the module clips"):
                for features, labels in made[-1]:
                    made[2](made[0](features), labels).backward()
                    made[1].step()
            self.assertEqual(self.charged(session), [])

    def test_an_engine_keeps_apart_what_it_made(self):
        session = self.open("REPLACE_ONE")
        engine = LedgerEngine(session)
        shuffled, sampled = [
            engine.make_private(module=model, optimizer=torch.optim.SGD(model.parameters(), lr=0.1),
                                data_loader=self.loader(), noise_multiplier=GAUSSIAN.noise_multiplier,
                                max_grad_norm=1.0, poisson_sampling=poisson)
            for model, poisson in ((torch.nn.Linear(5, 2), False), (torch.nn.Linear(5, 2), True))]
        for made in (shuffled, sampled):
            self.train(made, steps=1)
        self.assertEqual([type(event).__name__ for event, _ in self.charged(session)], ["Gaussian", "PoissonSampled"])

    def test_per_layer_clipping_is_charged_for_the_norm_of_all_bounds(self):
        session = self.open()
        made, _ = self.make(session, clipping="per_layer", max_grad_norm=[3.0, 4.0])
        self.assertEqual(made[1].max_grad_norm, 5.0)  # what the noise is scaled by
        self.assertEqual(provenance(self.loader(), max_grad_norm=[3.0, 4.0]).clip_norm, 5.0)
        self.train(made)
        self.assertEqual([event.event for event, _ in self.charged(session)], [GAUSSIAN])

    def test_per_layer_bounds_that_grew_past_the_bound_of_the_noise_are_refused(self):
        session = self.open()
        made, _ = self.make(session, clipping="per_layer", max_grad_norm=[3.0, 4.0])
        made[1].max_grad_norm = 0.05  # as a scheduler of clipping norms leaves it
        with self.assertRaisesRegex(ValueError, "optimizer.max_grad_norm: got 0.05, want the norm of max_grad_norms"):
            self.train(made, steps=1)
        self.assertEqual(self.charged(session), [])

    def test_a_subset_is_said_to_have_no_effect(self):
        data = TensorDataset(torch.randn(RECORDS, 5), torch.zeros(RECORDS, dtype=torch.long))
        sampler = torch.utils.data.SubsetRandomSampler(range(4))
        _, said = self.make(self.open(), DataLoader(data, batch_size=2, sampler=sampler))
        self.assertIn("from all records of the data set", said)

    def test_adaptive_clipping_is_refused(self):
        with self.assertRaisesRegex(ValueError, "clipping: got adaptive"):
            self.make(self.open(), clipping="adaptive", target_unclipped_quantile=0.5, clipbound_learning_rate=0.2,
                      max_clipbound=2.0, min_clipbound=0.1, unclipped_num_std=3.0)

    def test_low_precision_is_warned_of(self):
        _, said = self.make(self.open(), model=torch.nn.Linear(5, 2).to(torch.bfloat16))
        self.assertIn("parameters are torch.bfloat16", said)
        _, said = self.make(self.open())
        self.assertNotIn("parameters are", said)

    def test_mixed_precision_is_warned_of_once_when_records_are_clipped_in_it(self):
        for mode in ("hooks", "ghost"):
            session = self.open()
            made, said = self.make(session, grad_sample_mode=mode)
            self.assertNotIn("torch.bfloat16", said)  # the parameters have 32 bits
            model, optimizer, criterion = made[0], made[1], made[2] if mode == "ghost" else None
            with warnings.catch_warnings(record=True) as caught:
                warnings.simplefilter("always")
                for features, labels in list(made[-1])[:2]:
                    optimizer.zero_grad()
                    with torch.autocast("cpu", dtype=torch.bfloat16):
                        outputs = model(features)
                        loss = (criterion or torch.nn.functional.cross_entropy)(outputs, labels)
                    loss.backward()
                    optimizer.step()
            warned = [str(w.message) for w in caught if "gradients of records are torch.bfloat16" in str(w.message)]
            self.assertEqual(len(warned), 1, mode)
            self.assertEqual(sum(count for _, count in self.charged(session)), 2)

    def test_full_precision_is_not_warned_of(self):
        made, _ = self.make(self.open())
        with warnings.catch_warnings(record=True) as caught:
            warnings.simplefilter("always")
            self.train(made, steps=1)
        self.assertFalse([w for w in caught if "of that precision" in str(w.message)])

    def test_the_divisor_is_the_one_that_is_said(self):
        made, _ = self.make(self.open())
        # Opacus computes it from the number of records: this is what is called private.
        self.assertEqual(made[1].expected_batch_size, int(RECORDS / len(made[2])))
        self.assertEqual(normalizer_of("mean"), "EXPECTED_FROM_PRIVATE_COUNT")
        self.assertEqual(normalizer_of("sum"), "PUBLIC_CONSTANT")
        with unittest.mock.patch.object(opacus, "__version__", "1.7.0"):  # whose code was not read
            self.assertEqual(normalizer_of("mean"), "NORMALIZER_UNSPECIFIED")
        made, _ = self.make(self.open(), public_batch_size=8)
        self.assertEqual(made[1].expected_batch_size, 8)
        claims = provenance(self.loader(), max_grad_norm=1.0, public_batch_size=8)
        self.assertEqual(claims.normalizer, "PUBLIC_CONSTANT")
        for wrong in (0, -1, float("inf"), float("nan")):
            with self.assertRaisesRegex(ValueError, "public_batch_size"):
                LedgerEngine(None, public_batch_size=wrong)

    def test_the_noisy_sum_is_divided_by_the_public_number(self):
        """With gradients of 0 what is left is the noise over the divisor: its size tells the divisor."""
        model = torch.nn.Linear(1, 1000, bias=False)
        made, _ = self.make(self.open(), DataLoader(TensorDataset(torch.zeros(RECORDS, 1)), batch_size=BATCH),
                            model=model, public_batch_size=500, max_grad_norm=1.0)
        model, optimizer, loader = made
        for features, in loader:
            (model(features) * 0).sum().backward()
            optimizer.step()
            break
        spread = optimizer.params[0].grad.std().item() * 500
        self.assertLess(abs(spread - NOISE), 6 * NOISE / (2 * 1000) ** 0.5)  # six standard errors

    def stated(self, session):
        """What `epsctl statement get` says of the divisor under "not covered", its name in the signed form, and the
        beginning of that part of the text."""
        _, budget, _, name = session.name.split("/")
        text = self.server.ctl("statement", "get", budget + "/" + name, "--delta", "1e-5", "-o", "text")
        start, line = text.index("Not covered\n"), text.index("Evaluation on private data")
        part = " ".join(text[start:text.index("\n", line)].split())
        told = json.loads(session.statement(delta=1e-5).json)
        about = [sentence for sentence in told["notCovered"] if sentence.startswith(DIVISOR)]
        for sentence in about:
            self.assertIn(sentence, part)
        self.assertEqual(DIVISOR in " ".join(text.split()), bool(about))
        return about, told["sampling"]["normalizers"], part

    def test_a_statement_names_a_divisor_that_depends_on_the_data_and_no_other(self):
        """The same training before and after it was given a public divisor; the README of the adapters shows both."""
        with open(README, encoding="utf-8") as stream:
            readme = " ".join(stream.read().split())
        for declared, divisor, about in (
                (True, None, "an expected batch size, computed from the number of records in the data set. Two "),
                (True, 8, None),
                (False, None, "clients did not say what it is. If it depends on the data, two ")):
            claims = provenance(self.loader(), max_grad_norm=1.0, public_batch_size=divisor)
            session = self.open(**({"provenance": claims} if declared else {}))
            made, _ = self.make(session, public_batch_size=divisor)
            self.train(made, steps=1)
            sentences, names, part = self.stated(session)
            self.assertEqual(sentences, [] if about is None else [DIVISOR + about + LEFT_OUT])
            self.assertEqual(names, [claims.normalizer] if declared else [""])
            if declared:
                self.assertIn(part, readme)

    def test_what_was_declared_must_be_what_is_done(self):
        claims = provenance(self.loader(), max_grad_norm=1.0, public_batch_size=8)
        self.assertEqual((claims.sampler, claims.library, claims.library_version),
                         ("POISSON", "opacus", opacus.__version__))
        with self.assertRaisesRegex(ValueError, "provenance.normalizer: got PUBLIC_CONSTANT"):
            self.make(self.open(provenance=claims))
        self.make(self.open(provenance=claims), public_batch_size=8)
        shuffled = epsledger.Provenance(sampler="SHUFFLED")
        with self.assertRaisesRegex(ValueError, "provenance.sampler: got SHUFFLED, want POISSON"):
            self.make(self.open(provenance=shuffled))


if __name__ == "__main__":
    unittest.main()
