"""The tables of the experiments, on runs that are made up: what they ask for, and what they print."""
import json
import pathlib
import re
import sys
import types
import unittest

ROOT = pathlib.Path(__file__).resolve().parents[4]
sys.path.insert(0, str(ROOT / "client/trainers/experiments"))

import experiments  # noqa: E402
import fsdp_loss_tables  # noqa: E402
import fsdp_tables  # noqa: E402
import runs  # noqa: E402

BUILD = pathlib.Path(sys.argv.pop(1)) if len(sys.argv) > 1 else None


class FakeBench:
    """Answers every question for runs with results that are made up, and remembers the question."""

    def __init__(self):
        self.ledger = types.SimpleNamespace(folder=pathlib.Path("/nowhere"), program=lambda path: str(BUILD / path))
        self.asked = []
        self.pictures = {}

    def runs(self, trainer, count, name=""):
        self.asked.append((trainer, count))
        epsilon = float(flag(trainer, "--epsilon") or "1e13")
        accuracy = 0.9 + epsilon / 100 if epsilon < 10 else 0.99
        return [runs.Run({}, {"epsilon": epsilon, "held_out_accuracy": accuracy + number / 1000, "steps": 7,
                              "wall_seconds": 60.0,
                              "training_seconds": 7}, None) for number in range(count)]

    def picture(self, file, svg):
        self.pictures[file] = svg


def flag(trainer, name):
    flags = list(trainer.flags)
    return flags[flags.index(name) + 1] if name in flags else None


class Families(unittest.TestCase):
    def test_are_the_parts_of_their_names(self):
        found = experiments.families()
        self.assertEqual(set(found), {"audit", "fsdp", "istdp"})
        self.assertIn("fsdp_loss_tables", found["fsdp"])
        self.assertEqual(found["istdp"], ["istdp_tables"])

    def test_have_every_table_once_with_a_title(self):
        for family in experiments.families():
            for name, table in experiments.tables_of(family).items():
                self.assertTrue(table.__doc__.strip(), name)
        self.assertIn("table4-fsdp", experiments.tables_of("fsdp"))


class Figure2(unittest.TestCase):
    def setUp(self):
        self.bench = FakeBench()
        self.text = experiments.tables_of("fsdp")["figure2"](self.bench)

    def test_runs_each_epsilon_at_least_three_times_from_parameters_of_their_own(self):
        self.assertEqual(sorted({flag(trainer, "--epsilon") for trainer, _ in self.bench.asked}), list("12345678"))
        self.assertEqual(len(self.bench.asked), 16)
        for trainer, count in self.bench.asked:
            self.assertGreaterEqual(count, 3)
            self.assertTrue(trainer.own_seed)

    def test_prints_means_with_spreads_beside_the_papers_numbers(self):
        # Accuracies 92.0, 92.1, 92.2: mean 92.1, sample deviation 0.1.
        self.assertIn("| 2 | 92.10 ± 0.10 | 96.37 | 92.10 ± 0.10 | 94.52 |", self.text)
        self.assertIn("| 3 | 93.10 ± 0.10 |  | 93.10 ± 0.10 |  |", self.text)

    def test_draws_what_it_prints_and_links_it(self):
        self.assertEqual(list(self.bench.pictures), ["figure2.svg"])
        self.assertIn("](figure2.svg)", self.text)
        svg = self.bench.pictures["figure2.svg"]
        # Two measured lines of eight points, two printed ones of three, and a mark each in the legend.
        self.assertEqual(len(re.findall("<circle ", svg)), 2 * 8 + 2 * 3 + 4)


class Inputs(unittest.TestCase):
    def test_asks_for_every_preprocessing_at_the_epsilons_of_the_goals(self):
        bench = FakeBench()
        text = experiments.tables_of("fsdp")["inputs"](bench)
        self.assertEqual(len(bench.asked), 7 * 3)
        for name in ("--center-noise", "--public-basis", "--augmentation-multiplicity"):
            self.assertTrue(any(flag(trainer, name) for trainer, _ in bench.asked), name)
        for trainer, count in bench.asked:
            self.assertGreaterEqual(count, 3)
            self.assertTrue(trainer.own_seed)
            self.assertIn("--deskew", trainer.flags)
        self.assertIn("| 2 views | 92.10 ± 0.10 | 94.10 ± 0.10 | 98.10 ± 0.10 | 7 ± 0 |", text)


class Cifar(unittest.TestCase):
    def test_trains_on_the_lossy_copies_and_says_so(self):
        tables = experiments.tables_of("fsdp")
        for name in ("figure2-cifar", "table3-cifar", "table5-cifar"):
            bench = FakeBench()
            text = tables[name](bench)
            self.assertIn("not results on CIFAR-10", text)
            self.assertIn("not on CIFAR-10", tables[name].__doc__)
            for trainer, count in bench.asked:
                self.assertEqual(flag(trainer, "--data"), "cifar10-jpeg75")
                self.assertGreaterEqual(count, 3)
                self.assertTrue(trainer.own_seed)

    def test_tables_share_their_cells(self):
        tables = experiments.tables_of("fsdp")
        asked = {}
        for name in ("figure2-cifar", "table3-cifar", "table5-cifar"):
            bench = FakeBench()
            tables[name](bench)
            asked[name] = {repr(trainer) for trainer, _ in bench.asked}
        # So --keep runs them once: k = 10 at three epsilons is FSDP of the figure and FSDP-M of table 5.
        self.assertEqual(len(asked["figure2-cifar"] & asked["table3-cifar"]), 3)
        self.assertEqual(len(asked["figure2-cifar"] & asked["table5-cifar"]), 6)

    def test_has_the_papers_numbers_for_cifar_10(self):
        text = experiments.tables_of("fsdp")["table5-cifar"](FakeBench())
        self.assertIn("| FSDP-R | 92.10 ± 0.10 | 71.29 | 94.10 ± 0.10 | 74.25 | 98.10 ± 0.10 | 76.54 |", text)
        text = experiments.tables_of("fsdp")["table3-cifar"](FakeBench())
        self.assertIn("| 500 of 1000 | 72.32 | 74.93 | 76.96 |", text)


class PaperNetwork(unittest.TestCase):
    def test_has_a_row_without_privacy_that_promises_nothing_and_is_marked_as_a_part(self):
        bench = FakeBench()
        text = experiments.tables_of("fsdp")["paper-network"](bench)
        self.assertIn("| no privacy | none | 3 | 99.10 ± 0.10 | 99.30 | 7 | 60 ± 0 |", text)
        self.assertIn("| DP-SGD | 2 | 3 | 92.10 ± 0.10 | 94.52 |", text)
        self.assertIn("SUBSET OF EPOCHS: 2", text)
        without = [trainer for trainer, _ in bench.asked if flag(trainer, "--epsilon") is None]
        self.assertEqual([trainer.cap for trainer in without], [{"no-guarantee": True}])
        for trainer, count in bench.asked:
            self.assertEqual(flag(trainer, "--model"), "paper")
            self.assertEqual(flag(trainer, "--epochs"), "2")
            self.assertGreaterEqual(count, 3)


@unittest.skipIf(BUILD is None, "no build folder given")
class Table4OfFsdp(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        text = experiments.tables_of("fsdp")["table4-fsdp"](FakeBench())
        cls.rows = [[cell.strip() for cell in line.strip("|").split("|")] for line in text.splitlines()
                    if line.startswith(("| MNIST", "| CIFAR"))]

    def test_has_a_row_for_every_printed_loss(self):
        self.assertEqual(len(self.rows), 8)
        self.assertEqual(self.rows[0][:7], ["MNIST", "4.4", "25", "1.93", "2.11", "1.88", "1.96"])

    def test_v_alone_is_the_papers_dp_sgd_and_both_cost_more(self):
        self.assertEqual([row[7] for row in self.rows[:2]], ["1.93", "2.71"])
        for row in self.rows:
            alone, own, joint, _, pld = map(float, row[7:])
            # Moments of queries that share a batch are at least those of independent ones.
            self.assertLess(alone, own)
            self.assertLessEqual(own, joint)
            self.assertLess(pld, joint)

    def test_both_are_one_gaussian_of_the_noise_over_root_two(self):
        bench = FakeBench()
        noise = fsdp_loss_tables.noise_multiplier(4.4)
        self.assertAlmostEqual(noise, 1.1011, delta=1e-4)
        both = fsdp_tables.compute(bench, "PLD", fsdp_loss_tables.one_batch(250 / 60000, noise, 6000))
        one = fsdp_tables.compute(bench, "PLD", fsdp_loss_tables.one_release(250 / 60000, noise / 2 ** 0.5, 6000))
        self.assertAlmostEqual(both, one, delta=1e-3 * one)

    def test_asks_in_the_form_of_the_api(self):
        events = fsdp_loss_tables.one_batch(0.5, 2, 7)
        self.assertEqual(json.loads(json.dumps(events))[0]["count"], 7)


if __name__ == "__main__":
    unittest.main()
