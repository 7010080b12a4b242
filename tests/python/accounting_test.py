"""The calculator in this process: bounds of what is known in closed form, and the answers of `epsctl compute`."""
import importlib.util
import json
import math
import os
import shutil
import statistics
import subprocess
import sys
import tempfile
import threading
import unittest
import zipfile

from epsledger import accounting
from epsledger.events import CountedEvent, Gaussian, Laplace, NonPrivate, PureDp, RandomizedResponse, UnverifiedClaim
from package_folder import PACKAGE, run
from valid_events import STEP, VALID_EVENTS

BUILD = os.environ.get("EPSLEDGER_BUILD", "")
MODULE = os.path.join(BUILD, "client/python/accounting")
NORMAL = statistics.NormalDist()


def gaussian_delta(mu, epsilon):
    """The delta of a mu-GDP mechanism (Balle and Wang 2018, theorem 8)."""
    def phi(x):
        return math.erfc(-x / math.sqrt(2)) / 2
    return phi(mu / 2 - epsilon / mu) - math.exp(epsilon) * phi(-mu / 2 - epsilon / mu)


@unittest.skipUnless(os.path.isdir(MODULE), "epsledger-accounting is not built: the headers of Python are missing")
class Accounting(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        sys.path.insert(0, MODULE)
        cls.addClassCleanup(sys.path.remove, MODULE)

    def test_a_gaussian_costs_what_its_closed_form_says(self):
        for noise, count in ((1.0, 1), (2.5, 7), (20.0, 1000)):
            mu = math.sqrt(count) / noise
            for epsilon in (0.1, 1.0, 3.0):
                truth = gaussian_delta(mu, epsilon)
                bound = accounting.delta(Gaussian(noise_multiplier=noise), count=count, epsilon=epsilon)
                self.assertGreaterEqual(bound, truth * (1 - 1e-9))
                self.assertLess(bound, truth * 1.001 + 1e-12)
                self.assertEqual(bound.kind, "UPPER_BOUND")
                back = accounting.epsilon(Gaussian(noise_multiplier=noise), count=count, delta=float(bound))
                self.assertAlmostEqual(back, epsilon, delta=2e-3 * max(1, epsilon))

    def test_pure_events_add_up(self):
        history = [(Laplace(noise_multiplier=4), 2), CountedEvent(event=PureDp(epsilon=0.125), count=4)]
        bound = accounting.epsilon(history, delta=0, accountant="BASIC")
        self.assertGreaterEqual(bound, 1.0)
        self.assertLess(bound, 1 + 1e-14)
        self.assertEqual((bound.accountant, bound.lower is None or bound.lower <= bound), ("BASIC", True))
        self.assertEqual(accounting.epsilon([], delta=1e-6), 0)
        self.assertEqual(accounting.epsilon(CountedEvent(event=PureDp(epsilon=0.5), count=3), delta=0,
                                            accountant="BASIC"), 1.5)

    def test_every_event_costs_what_the_program_says(self):
        requests = [{"id": str(at), "accountant": "BEST", "query": {"epsilonAtDelta": 1e-6},
                     "events": [{"event": event.to_json(), "count": "2"}]} for at, event in enumerate(VALID_EVENTS)]
        run = subprocess.run([os.path.join(BUILD, "client/cli/epsctl"), "compute"], capture_output=True, text=True,
                             timeout=200, input="".join(json.dumps(request) + "\n" for request in requests))
        answers = [json.loads(line) for line in run.stdout.splitlines()]
        self.assertEqual(len(answers), len(VALID_EVENTS))
        answered = 0
        for event, answer in zip(VALID_EVENTS, answers):
            with self.subTest(event):
                if "error" in answer:
                    with self.assertRaises((ValueError, NotImplementedError)) as caught:
                        accounting.epsilon(event, count=2, delta=1e-6)
                    self.assertEqual(str(caught.exception), answer["error"]["message"])
                    continue
                answered += 1
                bound = accounting.epsilon(event, count=2, delta=1e-6)
                self.assertEqual(bound, float(answer["upper"]))
                self.assertEqual((bound.kind, bound.accountant, bound.theorem),
                                 (answer["kind"], answer["accountant"], answer["theorem"]))
        self.assertGreater(answered, 20)

    def test_a_trade_off_curve_is_that_of_two_normals(self):
        errors = [0, 0.001, 0.01, 0.1, 0.5, 1]
        curve = accounting.trade_off_curve(Gaussian(noise_multiplier=2), count=4, type_one_errors=errors)
        self.assertEqual([point.type_one_error for point in curve], errors)
        for point in curve[1:-1]:
            truth = NORMAL.cdf(NORMAL.inv_cdf(1 - point.type_one_error) - 1)
            self.assertLessEqual(point.type_two_error_lower, truth + 1e-12)
            self.assertAlmostEqual(point.type_two_error_lower, truth, delta=1e-3)
            self.assertGreaterEqual(point.true_positive_rate_upper, 1 - truth - 1e-12)
            self.assertEqual(point.kind, "UPPER_BOUND")
        self.assertEqual((curve[0].true_positive_rate_upper, curve[-1].type_two_error_lower), (0, 0))

    def test_attacks_on_a_gaussian_are_those_of_its_closed_form(self):
        event = Gaussian(noise_multiplier=2)  # four of them are mu = 1
        for answer, truth in (
                (accounting.advantage(event, count=4), 2 * NORMAL.cdf(0.5) - 1),
                (accounting.true_positive_rate(event, count=4, false_positive_rate=0.5), NORMAL.cdf(1)),
                (accounting.bayes_success(event, count=4, prior=0.5), NORMAL.cdf(0.5)),
                (accounting.reconstruction_success(event, count=4, baseline=0.1),
                 NORMAL.cdf(1 - NORMAL.inv_cdf(0.9))),
                (accounting.gaussian_summary(event, count=4, alpha_min=1e-6).mu, 1)):
            self.assertGreaterEqual(answer, truth - 1e-12)
            self.assertAlmostEqual(answer, truth, delta=1e-6)
            self.assertEqual(answer.kind, "UPPER_BOUND")
        sampled = accounting.gaussian_summary(STEP, count=1000, alpha_min=1e-4)
        self.assertEqual(sampled.mu.kind, "APPROXIMATION")
        self.assertLessEqual(sampled.mu.lower, sampled.mu)
        self.assertTrue(0 <= sampled.regret < 0.1)
        # Without the output an attacker is right with the larger prior.
        self.assertAlmostEqual(accounting.bayes_success([], prior=0.8), 0.8, delta=1e-12)
        with self.assertRaisesRegex(ValueError, "query.bayesSuccessAt: got 1"):
            accounting.bayes_success(event, prior=1)

    def test_a_profile_falls(self):
        profile = accounting.privacy_profile(STEP, count=1000, epsilons=[0, 0.5, 1, 2])
        self.assertEqual([epsilon for epsilon, _ in profile], [0, 0.5, 1, 2])
        deltas = [delta for _, delta in profile]
        self.assertEqual(deltas, sorted(deltas, reverse=True))
        # Both are bounds, to one part in a thousand.
        self.assertAlmostEqual(deltas[2] / accounting.delta(STEP, count=1000, epsilon=1), 1, delta=1e-3)

    def test_a_calibration_meets_its_target_and_less_noise_does_not(self):
        found = accounting.calibrate(STEP, count=1000, epsilon=2, delta=1e-5)
        self.assertLessEqual(found.epsilon, 2)
        event = type(STEP)(sampling_probability=0.01, event=Gaussian(noise_multiplier=found.value))
        self.assertLessEqual(accounting.epsilon(event, count=1000, delta=1e-5), 2)
        event = type(STEP)(sampling_probability=0.01, event=Gaussian(noise_multiplier=0.98 * found.value))
        self.assertGreater(accounting.epsilon(event, count=1000, delta=1e-5).lower, 2)
        steps = accounting.calibrate(STEP, epsilon=2, delta=1e-5, variable="COUNT").value
        self.assertLessEqual(accounting.epsilon(STEP, count=int(steps), delta=1e-5), 2)
        self.assertGreater(accounting.epsilon(STEP, count=int(steps * 1.01) + 1, delta=1e-5), 2)

    def test_comparing_ends_with_the_best_and_labels_what_bounds_nothing(self):
        readings = accounting.compare(STEP, count=1000, delta=1e-5)
        self.assertEqual(readings[-1].accountant, "BEST")
        self.assertEqual({r.accountant for r in readings if r.kind == "APPROXIMATION"}, 
                         {"CLT", "MOMENTS_AS_PUBLISHED"})
        bounds = [r.upper for r in readings if r.kind == "UPPER_BOUND"]
        self.assertGreater(len(bounds), 4)
        self.assertLessEqual(readings[-1].upper, 1.001 * min(bounds))
        about = accounting.epsilon(STEP, count=1000, delta=1e-5, accountant="CLT")
        self.assertEqual((about.kind, repr(about)[:7]), ("APPROXIMATION", "<about "))

    def test_what_is_promised_to_a_group_and_under_replacement_costs_more(self):
        one = accounting.epsilon(Gaussian(noise_multiplier=4), delta=1e-6)
        two = accounting.epsilon(Gaussian(noise_multiplier=4), delta=1e-6, group_size=2)
        self.assertAlmostEqual(two, accounting.epsilon(Gaussian(noise_multiplier=2), delta=1e-6), delta=2e-3)
        self.assertGreater(two, one)
        self.assertGreaterEqual(accounting.epsilon(STEP, count=100, delta=1e-6, relation="REPLACE_ONE"),
                                accounting.epsilon(STEP, count=100, delta=1e-6))

    def test_nothing_is_promised_without_a_proof(self):
        self.assertEqual(accounting.epsilon(NonPrivate(reason="released"), delta=1e-5), math.inf)
        claim = accounting.epsilon(UnverifiedClaim(epsilon=1, delta=0, citation="x"), delta=1e-5)
        self.assertTrue(claim.contains_unverified_claim)
        self.assertIn("unverified claim", repr(claim))
        with self.assertRaisesRegex(NotImplementedError, "GAUSSIAN"):
            accounting.epsilon(RandomizedResponse(noise_parameter=0.5, num_buckets=2), delta=1e-5, accountant="GAUSSIAN")

    def test_what_is_wrong_is_named(self):
        for call, said in (
                (lambda: accounting.epsilon(STEP, delta=1.5), "query.epsilonAtDelta: got 1.5, want in [0, 1]"),
                (lambda: accounting.epsilon({"gaussian": {"noiseMultiplier": -1}}, delta=0.5),
                 "events[0].event.gaussian.noiseMultiplier: got -1"),
                (lambda: accounting.epsilon({"gausian": {}}, delta=0.5), "events[0].event.gausian: unknown field"),
                (lambda: accounting.epsilon(STEP, delta=1e-5, accountant="BEAST"), "accountant: got \"BEAST\""),
                (lambda: accounting.epsilon(STEP, delta=1e-5, count=0), "count: got 0"),
                (lambda: accounting.epsilon([(STEP, 2)], count=3, delta=1e-5), "count: got 3 beside a history"),
                (lambda: accounting.trade_off_curve(STEP, type_one_errors=[2]), "typeOneErrors[0]: got 2"),
                (lambda: accounting.calibrate(STEP, epsilon=2, delta=1e-5, variable="MOOD"), "MOOD")):
            with self.subTest(said), self.assertRaises(ValueError) as caught:
                call()
            self.assertIn(said, str(caught.exception))
        with self.assertRaises(TypeError):
            accounting.epsilon(STEP, delta=1e-5, mood=1)
        from epsledger_accounting import call
        for method, request, said in ((b"Guess", b"{}", 'method: got "Guess"'), (b"Compute", b"", "not JSON"),
                                      (b"Compute", b'{"a": "\xff"}', "not JSON"), (b"Compute", b"{}\0", "not JSON")):
            with self.assertRaisesRegex(ValueError, said):
                call(method, request)
        with self.assertRaises(TypeError):
            call("Compute", "{}")

    @unittest.skipUnless(importlib.util.find_spec("setuptools") and importlib.util.find_spec("wheel"),
                         "no setuptools or wheel (python3-setuptools, python3-wheel)")
    def test_a_wheel_is_one_for_all_versions_and_computes(self):
        with tempfile.TemporaryDirectory() as folder:
            source = os.path.join(folder, "accounting")
            shutil.copytree(os.path.join(PACKAGE, "accounting"), source)
            run(sys.executable, "setup.py", "--quiet", "bdist_wheel", "--dist-dir", folder, cwd=source,
                env=dict(os.environ, EPSLEDGER_BUILD_DIR=BUILD), timeout=100)
            wheel, = (name for name in os.listdir(folder) if name.endswith(".whl"))
            self.assertRegex(wheel, "^epsledger_accounting-.*-cp39-abi3-linux_")
            with zipfile.ZipFile(os.path.join(folder, wheel)) as content:
                content.extractall(os.path.join(folder, "site"))
            lines = ("from epsledger import accounting, events; "
                     "print(float(accounting.epsilon(events.PureDp(epsilon=0.5), delta=0, accountant='BASIC')))")
            printed = run(sys.executable, "-S", "-c", lines, timeout=100, env=dict(
                os.environ, PYTHONPATH=os.pathsep.join((os.path.join(folder, "site"), PACKAGE))))
            self.assertEqual(float(printed), 0.5)

    def test_other_threads_run_while_it_computes(self):
        stopped = threading.Event()
        calls = []

        def compute():
            while not stopped.is_set() and len(calls) < 1000:
                calls.append(accounting.epsilon(STEP, count=1000, delta=1e-5))

        switching = sys.getswitchinterval()
        sys.setswitchinterval(1000)  # only who lets go of the interpreter is interrupted
        try:
            worker = threading.Thread(target=compute)
            worker.start()
            stopped.set()
            worker.join()
        finally:
            sys.setswitchinterval(switching)
        self.assertLess(len(calls), 1000)


class WithoutTheModule(unittest.TestCase):
    def test_it_says_what_to_install(self):
        sys.modules["epsledger_accounting"] = None  # as if it were not there
        self.addCleanup(sys.modules.pop, "epsledger_accounting")
        with self.assertRaisesRegex(ImportError, r"pip install 'epsledger\[fast\]'"):
            accounting.epsilon(STEP, delta=1e-5)


if __name__ == "__main__":
    unittest.main()
