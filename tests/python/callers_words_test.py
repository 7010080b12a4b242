"""What the server says of a field is said of the argument that the caller gave."""
import unittest

import epsledger
from epsledger.callers_words import OF_CREATE_BUDGET, OF_OPEN, in_callers_words
from epsledger.events import Gaussian, PoissonSampled
from ledger_case import CAP, STEP, LedgerCase

BAD = {"poissonSampled": {"samplingProbability": 2, "event": {"gaussian": {"noiseMultiplier": 1}}}}


class BadEvent:
    """An event of somebody's own, which describes itself and checks nothing."""

    def to_json(self):
        return BAD


class Words(unittest.TestCase):
    def test_a_field_is_said_as_the_argument_that_holds_it(self):
        for names, said, wanted in (
                ({}, "pointCount: got 1, want in [2, 500]", "point_count: got 1, want in [2, 500]"),
                (OF_CREATE_BUDGET, "budget.cap.approximateDp.epsilon: got -3", "cap.epsilon: got -3"),
                (OF_CREATE_BUDGET, "budget.cap: got nothing", "cap: got nothing"),
                (OF_CREATE_BUDGET, "budget.privacyUnit: got 0 bytes", "privacy_unit: got 0 bytes"),
                (OF_CREATE_BUDGET, 'budgetId: got "A"', 'name: got "A"'),
                (OF_OPEN, "session.planDelta: got 2", "delta: got 2"),
                (OF_OPEN, 'session.labels["a"]: got 999 bytes', 'labels["a"]: got 999 bytes'),
                (OF_OPEN, "session.plan.events[3].event.selfComposed.event.gaussian.noiseMultiplier: got -1",
                 "plan[3].event.SelfComposed.event.Gaussian.noise_multiplier: got -1"),
                (OF_OPEN, "budgets/a/sessions/b exists with another ownCap", "budgets/a/sessions/b exists with another own_cap"),
                (OF_OPEN, "budgets/nowhere: there is no such budget", "budgets/nowhere: there is no such budget"),
                (OF_OPEN, "the disk isFull: nothing can be written", "the disk isFull: nothing can be written")):
            with self.subTest(said):
                self.assertEqual(in_callers_words(said, names), wanted)

    def test_json_of_the_caller_keeps_its_names(self):
        said = "session.plan.events[0].event.poissonSampled.samplingProbability: got 2"
        self.assertEqual(in_callers_words(said, OF_OPEN, keeps_events=True),
                         "plan[0].event.poissonSampled.samplingProbability: got 2")


class Refused(LedgerCase):
    def assert_says(self, message, call):
        with self.subTest(message), self.assertRaisesRegex(epsledger.InvalidArgument, "^INVALID_ARGUMENT: " + message):
            call()

    def test_budgets(self):
        make, cap = self.client.create_budget, epsledger.Cap
        for message, options in (
                (r"cap\.rho: got -1, want in", {"cap": cap.zcdp(rho=-1)}),
                (r"cap\.epsilon: got -3", {"cap": cap.approximate_dp(epsilon=-3, delta=1e-5)}),
                (r"cap\.delta: got 2", {"cap": cap.approximate_dp(epsilon=3, delta=2)}),
                (r"cap\.mu: got 0", {"cap": cap.gaussian_dp(mu=0)}),
                (r"cap\.epsilon: got 0", {"cap": cap.pure_epsilon(epsilon=0)}),
                (r"cap\.order: got 1", {"cap": cap.renyi(order=1, divergence=1)}),
                (r"cap\.count: got -1", {"cap": cap.units(count=-1, delta=1e-5, reference=STEP)}),
                ("privacy_unit: got 0 bytes", {"privacy_unit": ""}),
                ("display_name: got 999 bytes", {"display_name": "x" * 999}),
                ("name: got 'A B', want .a-z0-9.", {"name": "A B"}), ("name: got '', want", {"name": ""}),
                ("parent: got 'A B', want", {"parent": "budgets/A B"})):
            self.assert_says(message, lambda: make(**{"name": "new", "cap": CAP, "privacy_unit": "person", **options}))
        self.assert_says("name: got 7, want", lambda: self.client.budget(7))
        make(name="there", cap=CAP, privacy_unit="person")
        with self.assertRaisesRegex(epsledger.AlreadyExists, "another privacy_unit"):
            make(name="there", cap=CAP, privacy_unit="household")

    def test_sessions(self):
        budget = self.new_budget()
        for message, options in (
                ("session: got 'A B', want", {"session": "A B"}), ("budget: got 'A B', want", {"budget": "A B"}),
                (r"own_cap\.rho: got -1", {"own_cap": epsledger.Cap.zcdp(rho=-1)}),
                ("delta: got 2", {"plan": [(STEP, 2)], "delta": 2}), ("plan: got 0 events", {"plan": []}),
                (r"plan\[0\]\.event\.poissonSampled\.samplingProbability: got 2", {"plan": [(BAD, 1)]}),
                (r"plan\[1\]\.event\.PoissonSampled\.sampling_probability: got 2", {"plan": [(STEP, 1), (BadEvent(), 1)]}),
                (r"expects\.PoissonSampled\.sampling_probability: got 2", {"expects": BadEvent()}),
                ("group: got ", {"group": "x" * 99}), (r"labels\[\"a\"\]: got 999 bytes", {"labels": {"a": "x" * 999}}),
                (r"provenance\.clip_norm: got -1", {"provenance": epsledger.Provenance(clip_norm=-1)}),
                ("client_description: got 999 bytes", {"client_description": "x" * 999})):
            self.assert_says(message, lambda: self.client.open(
                **{"session": "run", "budget": budget, "delta": 1e-5, **options}))

    def test_charges_and_readings(self):
        session = self.new_session()
        for event, message in ((BadEvent(), r"event\.PoissonSampled\.sampling_probability: got 2, want in \[0, 1\]"),
                               (BAD, r"event\.poissonSampled\.samplingProbability: got 2, want in")):
            for call in (session.charge, session.preview, lambda one: session.lease(one, count=2),
                         lambda one: self.client.preview(budget=session.name.split("/")[1], event=one)):
                self.assert_says(message, lambda: call(event))
        self.assert_says("point_count: got 1", lambda: session.series(point_count=1))
        self.assertEqual(self.charges(session), [])
        with self.assertRaisesRegex(ValueError, "^PoissonSampled.sampling_probability: got 2"):
            PoissonSampled(sampling_probability=2, event=Gaussian(noise_multiplier=1))


if __name__ == "__main__":
    unittest.main()
