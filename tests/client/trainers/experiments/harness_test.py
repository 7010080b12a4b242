"""The experiments' harness: what it writes where, and a real run against a real server."""
import dataclasses
import math
import pathlib
import subprocess
import sys
import tempfile
import types
import unittest

ROOT = pathlib.Path(__file__).resolve().parents[4]
sys.path.insert(0, str(ROOT / "client/trainers/experiments"))

import audit_tables  # noqa: E402
import ledger  # noqa: E402
import markdown  # noqa: E402
import runs  # noqa: E402

BUILD = pathlib.Path(sys.argv.pop(1)) if len(sys.argv) > 1 else None


class Markdown(unittest.TestCase):
    def test_replaces_what_stands_between_its_markers_and_nothing_else(self):
        page = markdown.put(markdown.put("# Title\n", "a", "one\n"), "b", "two\n")
        self.assertEqual(markdown.put(page, "a", "three"), page.replace("one", "three"))
        self.assertEqual(markdown.put(page, "b", "two"), page)

    def test_refuses_a_marker_without_its_end(self):
        with self.assertRaises(SystemExit):
            markdown.put("<!-- experiment a -->\n", "a", "one")

    def test_makes_a_table(self):
        self.assertEqual(markdown.table(["a", "b"], [[1, "x"]]), "| a | b |\n|---|---|\n| 1 | x |\n")

    def test_fills_paragraphs_and_leaves_tables_and_pictures(self):
        table = markdown.table(["a" * 60, "b" * 60], [[1, 2]])
        picture = "![%s](a.svg)" % ("word " * 30)
        text = markdown.wrapped("word " * 30 + "\n\n" + table + "\nshort\nlines\n\n" + picture + "\n")
        self.assertIn(table, text)
        self.assertIn(picture, text)
        self.assertIn("\nshort lines\n", text)
        prose = [line for line in text.splitlines() if line[:1] not in ("|", "!")]
        self.assertLessEqual(max(map(len, prose)), markdown.COLUMNS)


class Summary(unittest.TestCase):
    def test_is_the_mean_and_the_sample_standard_deviation(self):
        summary = runs.summary([1, 2, 3])
        self.assertEqual((summary.mean, summary.spread, summary.count), (2, 1, 3))
        self.assertEqual(summary.text(1), "2.0 ± 1.0")
        self.assertEqual(runs.summary([0.5]).text(2), "0.50 (1 run)")

    def test_reads_numbers_that_json_has_no_word_for(self):
        self.assertEqual(runs.number("Infinity"), float("inf"))


class OwnSeed(unittest.TestCase):
    def test_each_run_has_its_own_first_parameters_and_keeps_its_own_result(self):
        with tempfile.TemporaryDirectory() as folder:
            program = pathlib.Path(folder) / "program"
            program.write_text("""#!/bin/sh
log=$(echo "$*" | sed 's/.*--log-json \\([^ ]*\\).*/\\1/')
seed=$(echo "$*" | sed 's/.*--seed \\([^ ]*\\).*/\\1/')
printf '{"record":"run"}\\n{"record":"result","seed":"%s"}\\n' "$seed" > "$log"
""")
            program.chmod(0o755)
            server = types.SimpleNamespace(folder=pathlib.Path(folder), address="nowhere",
                                           program=lambda name: str(program),
                                           create_budget=lambda cap, relation: "budgets/one")
            kept = pathlib.Path(folder) / "kept"
            seeded = runs.Trainer("program", {}, (), own_seed=True)
            for _ in range(2):  # the second time from the file
                done = runs.Runner(server, say=lambda _: None, kept=kept).runs(seeded, 3)
                self.assertEqual([run.result["seed"] for run in done], ["1", "2", "3"])
            self.assertEqual(len(kept.read_text().splitlines()), 3)
            # A run with the program's own seed is another run.
            done = runs.Runner(server, say=lambda _: None, kept=kept).runs(dataclasses.replace(seeded, own_seed=False), 1)
            self.assertNotEqual(done[0].result["seed"], "1")


@unittest.skipIf(BUILD is None, "no build folder given")
class RealServer(unittest.TestCase):
    def test_runs_a_trainer_and_reads_its_result(self):
        trainer = runs.Trainer("client/trainers/istdp/epsledger-istdp", {"mu": 0.268},
                               ("--data", "synthetic:1", "--steps", "3", "--max-steps", "3"), wants_model=True)
        with ledger.Ledger(BUILD) as server:
            done = runs.Runner(server, say=lambda _: None).runs(trainer, 2)
            self.assertEqual([run.result["releases"] for run in done], [3, 3])
            self.assertEqual({run.result["label"] for run in done}, {"proven"})
            self.assertNotEqual(done[0].told["session"], done[1].told["session"])
            for run in done:
                self.assertTrue(run.model.exists())
                self.assertAlmostEqual(run.result["epsilon"], 1.0, delta=0.01)

    def test_does_not_run_again_what_was_kept(self):
        trainer = runs.Trainer("client/trainers/istdp/epsledger-istdp", {"mu": 0.268},
                               ("--data", "synthetic:1", "--steps", "3", "--max-steps", "3"))
        with tempfile.TemporaryDirectory() as folder, ledger.Ledger(BUILD) as server:
            file = pathlib.Path(folder) / "kept.jsonl"
            first = runs.Runner(server, say=lambda _: None, kept=file).runs(trainer, 2)
            again = runs.Runner(server, say=lambda _: None, kept=file).runs(trainer, 3)
            sessions = [run.told["session"] for run in again]
            self.assertEqual(sessions[:2], [run.told["session"] for run in first])
            self.assertEqual([run.result for run in again[:2]], [run.result for run in first])
            self.assertEqual(len(set(sessions)), 3)
            # Another configuration is another run.
            other = dataclasses.replace(trainer, cap={"mu": 0.3})
            self.assertNotIn(runs.Runner(server, say=lambda _: None, kept=file).runs(other, 1)[0].told["session"],
                             sessions)

    def test_says_what_a_failed_run_said(self):
        trainer = runs.Trainer("client/trainers/istdp/epsledger-istdp", {"mu": 0.268}, ("--data", "/no/such/file"))
        with ledger.Ledger(BUILD) as server:
            with self.assertRaisesRegex(SystemExit, "/no/such/file"):
                runs.Runner(server, say=lambda _: None).runs(trainer, 1)

    def test_the_auditor_tells_published_trainers_from_sound_ones(self):
        with ledger.Ledger(BUILD) as server:
            bench = types.SimpleNamespace(ledger=server)
            for attack, _, claims, _ in audit_tables.ATTACKS:
                for claim in claims:
                    answer = audit_tables.audit(bench, "two-arm-threshold", attack, claim, 6000 if attack[0] == "A" else 500,
                                                "--claimed-epsilon", repr(float(claim)))
                    self.assertTrue(answer["contradictsClaim"], (attack, claim))
                    self.assertGreater(audit_tables.lower_bound(answer), claim)
            for attack, steps in (("istdp", 30), ("fsdp", 4)):
                answer = audit_tables.audit(bench, "two-arm-gdp", attack, 1, 2000, "--noise-multiplier",
                                            repr(math.sqrt(steps) / audit_tables.MU[1]))
                self.assertFalse(answer["contradictsClaim"], attack)
                self.assertLessEqual(audit_tables.lower_bound(answer), 1)

    def test_an_attack_repeats_its_scores_and_names_what_it_does_not_know(self):
        program = str(BUILD / "client/trainers/experiments/epsledger-trainer-attack")
        first, again, other = (
            subprocess.run([program, "A2", "--trials", "20", "--seed", seed], capture_output=True, text=True, check=True)
            for seed in ("1", "1", "2"))
        self.assertEqual(first.stdout, again.stdout)
        self.assertNotEqual(first.stdout, other.stdout)
        self.assertEqual([line.split(",")[0] for line in first.stdout.splitlines()], ["member"] * 20 + ["non-member"] * 20)
        unknown = subprocess.run([program, "A3"], capture_output=True, text=True)
        self.assertNotEqual(unknown.returncode, 0)
        self.assertIn("A3", unknown.stderr)


if __name__ == "__main__":
    unittest.main()
