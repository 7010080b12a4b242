"""The peer harness, shown peers that lie, raise, hang, die and are not there."""
import math
import os
import tempfile
import textwrap
import unittest

import markdown_section
import peer_page
from peer_process import PeerProcess
from verdicts import judge, short

# Stands in for prv_accountant: the noise multiplier says what it does.
FAKE = """
    import os, time
    class PoissonSubsampledGaussianMechanism:
        def __init__(self, sampling_probability, noise_multiplier):
            self.noise_multiplier = noise_multiplier
    class PRVAccountant:
        def __init__(self, prvs, max_self_compositions, eps_error, delta_error):
            self.noise_multiplier = prvs[0].noise_multiplier
        def compute_epsilon(self, delta, counts):
            if self.noise_multiplier == 2: raise ValueError("too hard")
            if self.noise_multiplier == 3: time.sleep(60)
            if self.noise_multiplier == 4: os._exit(9)
            print("chatter that is no answer")
            return 1.0, 1.5, float(sum(counts))
"""


class PeersTest(unittest.TestCase):
    def setUp(self):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        for path, text in (("prv_accountant/__init__.py", textwrap.dedent(FAKE)),
                           ("prv_accountant/dpsgd.py", ""),
                           ("prv_accountant-7.0.dist-info/METADATA", "Name: prv-accountant\nVersion: 7.0\n"),
                           ("dp_accounting/__init__.py", "raise ImportError('half installed')\n")):
            path = os.path.join(folder.name, path)
            os.makedirs(os.path.dirname(path), exist_ok=True)
            with open(path, "w", encoding="utf-8") as stream:
                stream.write(text)
        before = os.environ.get("PYTHONPATH")
        os.environ["PYTHONPATH"] = folder.name
        self.addCleanup(lambda: os.environ.pop("PYTHONPATH") if before is None
                        else os.environ.update(PYTHONPATH=before))

    def start(self, name):
        peer = PeerProcess(name, timeout=10)
        self.addCleanup(peer.close)
        return peer

    def test_an_answer_comes_with_its_version_and_time(self):
        peer = self.start("prv_accountant")
        self.assertEqual(peer.version, "prv-accountant 7.0")
        answer = peer.ask("epsilon", [(0.01, 1, 8)], delta=1e-5)
        self.assertEqual((answer["lower"], answer["upper"]), (1, 8))
        self.assertGreater(answer["seconds"], 0)

    def test_a_peer_that_raises_hangs_or_dies_answers_the_next_question(self):
        peer = self.start("prv_accountant")
        self.assertEqual(peer.ask("epsilon", [(0.01, 2, 8)], delta=1e-5), {"error": "ValueError: too hard"})
        self.assertEqual(peer.ask("epsilon", [(0.01, 1, 8)], delta=1e-5)["upper"], 8)
        peer._timeout = 1
        self.assertEqual(peer.ask("epsilon", [(0.01, 3, 8)], delta=1e-5), {"timeout": 1})
        peer._timeout = 10
        self.assertEqual(peer.ask("epsilon", [(0.01, 1, 8)], delta=1e-5)["upper"], 8)
        self.assertIn("died", peer.ask("epsilon", [(0.01, 4, 8)], delta=1e-5)["error"])
        self.assertEqual(peer.ask("epsilon", [(0.01, 1, 8)], delta=1e-5)["upper"], 8)

    def test_an_absent_peer_says_why(self):
        peer = self.start("dp_accounting PLD")
        self.assertEqual(peer.absent, "half installed")
        self.assertEqual(short(judge(peer.ask("epsilon", [(0.01, 1, 8)], delta=1e-5), 1)), "absent")

    def test_a_question_without_a_function_is_not_an_error(self):
        self.assertIn("unsupported", self.start("prv_accountant").ask("advantage", [(0.01, 1, 8)]))


class VerdictsTest(unittest.TestCase):
    def test_every_kind_of_answer_has_its_word(self):
        for answer, word in (({"upper": 2.0}, "upper bound"), ({"upper": 1.0}, "upper bound"),
                             ({"upper": math.nextafter(1, 0)}, "unsound"), ({"upper": -1.0}, "unsound"),
                             ({"upper": math.inf}, "infinite"), ({"upper": math.nan}, "not a number"),
                             ({"error": "E: text"}, "raised"), ({"timeout": 3}, "too slow"),
                             ({"unsupported": ""}, "none"), ({"absent": "no"}, "absent")):
            self.assertEqual(judge(answer, 1.0).word, word, answer)

    def test_a_certified_zero_contradicts_nobody(self):
        self.assertEqual(judge({"upper": -0.1}, 0).word, "upper bound")

    def test_a_finite_answer_to_an_infinite_truth_is_unsound(self):
        self.assertEqual(judge({"upper": 713.0}, math.inf).word, "unsound")
        self.assertEqual(judge({"upper": math.inf}, math.inf).word, "infinite")


class PageTest(unittest.TestCase):
    def test_bounds_are_rounded_outwards(self):
        self.assertEqual(peer_page.rounded(6.18770123, up=False), "6.1877")
        self.assertEqual(peer_page.rounded(6.18770123, up=True), "6.18771")
        self.assertEqual(peer_page.rounded(0, up=True), "0")
        self.assertEqual(peer_page.rounded(math.inf, up=True), "inf")

    def test_only_what_is_between_the_markers_is_replaced(self):
        with tempfile.NamedTemporaryFile("w+", suffix=".md") as page:
            page.write("a\n<!-- x:begin -->\nold\n<!-- x:end -->\nb\n")
            page.flush()
            for _ in range(2):
                markdown_section.replace(page.name, "x", "new\n")
                with open(page.name, encoding="utf-8") as stream:
                    self.assertEqual(stream.read(), "a\n<!-- x:begin -->\nnew\n<!-- x:end -->\nb\n")
            with self.assertRaises(ValueError):
                markdown_section.replace(page.name, "y", "new\n")


if __name__ == "__main__":
    unittest.main()
