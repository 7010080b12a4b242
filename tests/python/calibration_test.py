"""How much noise the caps take: the search by previews, what is asked, and runs whose every step then fits."""
import asyncio
import json
import math
import unittest

import epsledger
import epsledger.aio
from epsledger.calibration import smallest_noise
from epsledger.events import Gaussian, PoissonSampled
from killable_ledger import BUILD
from ledger_case import STEP, STEPS_THAT_FIT, LedgerCase

WIDTH = 1 + 5e-4

# The recipe of adapters/opacus_test.py, without Opacus: PrivacyEngine.make_private_with_epsilon(target_epsilon=2,
# target_delta=1e-5, epochs=5) with a loader of 100 batches.
SAMPLE_RATE, STEPS = 0.01, 500
# What Opacus 1.6 makes of it: get_noise_multiplier(..., accountant="prv").
OPACUS_NOISE = 0.8544921875
# The share of what privacy loss distributions admit; the rest is slack, and the delta of a portfolio's other filters.
LEAST_SHARE = 0.93


def step_of(noise_multiplier):
    return PoissonSampled(sampling_probability=SAMPLE_RATE, event=Gaussian(noise_multiplier=noise_multiplier))


def step_json(noise_multiplier):
    return step_of(noise_multiplier).to_json()


def noise_of(event):
    return event["poissonSampled"]["event"]["gaussian"]["noiseMultiplier"]


class Previews:
    """Previews of a cap under which so many steps fit, by their noise. Keeps what it was asked."""

    def __init__(self, steps_that_fit):
        self.steps_that_fit = steps_that_fit
        self.asked = []

    def __call__(self, event):
        self.asked.append(noise_of(event))
        return epsledger.Preview(True, None, self.steps_that_fit(noise_of(event)))


def no(reason="BUDGET_EXHAUSTED", **fields):
    refusal = epsledger.Refusal(reason=reason, **fields)
    return lambda event: epsledger.Preview(False, refusal, refusal.steps_that_fit)


class Searched(unittest.TestCase):
    def assert_found(self, steps_that_fit, count, most_previews):
        previews = Previews(steps_that_fit)
        noise = smallest_noise(previews, step_of, count)
        self.assertIn(noise, previews.asked)  # by the server's own word
        self.assertGreaterEqual(steps_that_fit(noise), count)
        self.assertLess(steps_that_fit(noise / WIDTH), count)
        self.assertLessEqual(len(previews.asked), most_previews)
        self.assertEqual(len(set(previews.asked)), len(previews.asked))
        return noise

    def test_finds_the_edge_of_a_smooth_curve_in_few_previews(self):
        # About what a cap of (2, 1e-5) takes of Poisson-sampled steps: steep below a noise of 1, quadratic above.
        def sampled(scale, factor):
            return lambda z: int(factor * 2600 * (z / scale) ** 2 * math.exp(-0.8 / (z / scale) ** 2))

        for scale in (0.7, 1, 3, 11):
            for factor in (0.2, 1, 37):
                for count in (500, 20_000):
                    with self.subTest(scale=scale, factor=factor, count=count):
                        self.assert_found(sampled(scale, factor), count, 16)

    def test_finds_the_edge_wherever_it_is(self):
        for edge in (2.0**-10 * 1.01, 0.01, 1.0, 1.0001, 0.9999, 4096.5, 2.0**20 / 1.01):
            for count in (1, 7, 2**53):
                with self.subTest(edge=edge, count=count):
                    # All or nothing, which is the hardest.
                    noise = self.assert_found(lambda z: count if z >= edge else 0, count, 40)
                    self.assertAlmostEqual(noise / edge, 1, delta=5e-4)

    def test_finds_the_edge_of_a_staircase(self):
        """A step beside the reference costs whole units."""
        for count in (1, 40, 500, 501, 900):
            with self.subTest(count=count):
                self.assert_found(lambda z: 1000 // math.ceil(max(1.0, (2.3 / z) ** 2 * 1.2)), count, 30)
        noise = self.assert_found(lambda z: 1000 // math.ceil(max(1.0, (2.3 / z) ** 2 * 1.2)), 1000, 30)
        self.assertLess(noise, 2.3 * math.sqrt(1.2) * WIDTH)

    def test_where_everything_fits_the_answer_is_the_least(self):
        previews = Previews(lambda z: 10)
        self.assertEqual(smallest_noise(previews, step_of, 10), 2.0**-10)
        self.assertLess(len(previews.asked), 8)

    def test_where_no_noise_is_enough_the_refusal_is_that_of_the_most_noise(self):
        asked = []

        def refusing(event):
            asked.append(noise_of(event))
            return no(limiting_resource="budgets/people", quantity="UNITS", cap=9, spent=9, requested=4)(event)

        with self.assertRaisesRegex(epsledger.BudgetExhausted, r"by budgets/people \(UNITS: cap 9, spent 9"):
            smallest_noise(refusing, step_of, 4)
        self.assertEqual(max(asked), 2.0**20)
        self.assertLess(len(asked), 8)
        with self.assertRaisesRegex(epsledger.Refused, "EVENT_NOT_CHARGEABLE"):
            smallest_noise(no("EVENT_NOT_CHARGEABLE"), step_of, 4)
        # Paid together they would fit; one by one they do not.
        with self.assertRaises(epsledger.BudgetExhausted) as together:
            smallest_noise(Previews(lambda z: 3), step_of, 4)
        self.assertEqual(together.exception.steps_that_fit, 3)
        self.assertRegex(str(together.exception), "BUDGET_EXHAUSTED: no noise makes 4 single steps fit.* 3 fit")

    def test_a_refusal_that_no_noise_would_change_is_raised_at_once(self):
        for reason in ("BUDGET_FROZEN", "CLOSED", "NOT_IN_PLAN", "POLICY_VIOLATION", "BUDGET_SUPERSEDED", "A_NEW_ONE"):
            with self.subTest(reason=reason):
                asked = []
                with self.assertRaisesRegex(epsledger.Refused, reason):
                    smallest_noise(lambda event: (asked.append(event), no(reason)(event))[1], step_of, 4)
                self.assertEqual(len(asked), 1)

    def test_what_is_no_count_is_refused_before_anything_is_asked(self):
        for count in (0, -1, 2**53 + 1, 1.5, "7", None, True):
            with self.subTest(count=count):
                with self.assertRaisesRegex(epsledger.InvalidArgument, r"count: got .*, want an integer in \[1,"):
                    smallest_noise(lambda event: self.fail("asked"), step_of, count)

    def test_what_is_no_event_of_its_noise_is_refused_by_name(self):
        with self.assertRaisesRegex(epsledger.InvalidArgument, "event: got .*, want a function"):
            smallest_noise(Previews(lambda z: 1), step_of(1.0), 4)
        for value in (None, 3, {}, [step_of(1.0)]):
            with self.subTest(value=value):
                with self.assertRaisesRegex(epsledger.InvalidArgument, r"event\(1\.0\): got .*, want an event"):
                    smallest_noise(Previews(lambda z: 1), lambda z: value, 4)
        with self.assertRaisesRegex(epsledger.InvalidArgument, r"event\(2\.0\): .* another event than event\(1\.0\)"):
            smallest_noise(Previews(lambda z: 1), lambda z: step_of(1.5), 4)
        with self.assertRaises(ZeroDivisionError):
            smallest_noise(Previews(lambda z: 1), lambda z: 1 / 0, 4)


class Recorded:
    """A transport to a server whose caps take 100 steps at a noise of 1, more with its square."""

    address = "nowhere"

    def __init__(self):
        self.asked = []  # (method, request) of each call

    def call(self, method, request, timeout):
        self.asked.append((method, request))
        if method == "SessionService/GetSession":
            return {"name": request["name"], "neighboringRelation": "ADD_OR_REMOVE_ONE"}
        if method == "SessionService/OpenAttempt":
            return {"name": request["session"] + "/attempts/1", "number": "1"}
        fit = int(100 * noise_of(request["event"]) ** 2)
        if fit >= int(request["count"]):
            return {"decision": "ACCEPTED", "stepsThatFit": str(fit)}
        return {"decision": "REFUSED", "stepsThatFit": str(fit), "refusal": {"reason": "BUDGET_EXHAUSTED"}}

    def close(self):
        pass


class Sent(unittest.TestCase):
    def setUp(self):
        self.transport = Recorded()
        self.client = epsledger.Client(self.transport, epsledger.Retry(max_tries=1))

    def previewed(self):
        """The requests, each without its event."""
        return [{field: value for field, value in request.items() if field != "event"}
                for method, request in self.transport.asked if method == "ChargeService/PreviewCharge"]

    def test_a_budget_is_asked_as_by_a_new_session_that_expects_the_event(self):
        for name in ("people", "budgets/people"):
            self.transport.asked.clear()
            noise = self.client.calibrate(budget=name, event=step_of, count=400)
            self.assertAlmostEqual(noise, 2, delta=2 * 5e-4)
            for request in self.previewed():
                self.assertEqual(request, {"budget": "budgets/people", "expectsEvent": True, "count": "400"})

    def test_a_session_is_asked_as_it_is(self):
        session = self.client.open(session="run", budget="people")
        self.assertAlmostEqual(session.calibrate(event=step_json, count=400), 2, delta=2 * 5e-4)
        for request in self.previewed():
            self.assertEqual(request, {"session": "budgets/people/sessions/run", "count": "400"})
        self.assertIsNone(session.exhausted)  # some previews were refusals

    def test_a_preview_of_a_budget(self):
        preview = self.client.preview(budget="people", event=step_of(1.0), count=7)
        self.assertTrue(preview)
        self.assertEqual((preview.steps_that_fit, preview.refusal), (100, None))
        refused = self.client.preview(budget="people", event=step_json(1.0), count=101, expects=False)
        self.assertEqual((refused.refusal.reason, refused.steps_that_fit), ("BUDGET_EXHAUSTED", 100))
        self.assertEqual(self.previewed(), [{"budget": "budgets/people", "expectsEvent": expects, "count": count}
                                            for expects, count in ((True, "7"), (False, "101"))])
        for wrong in ({"event": 3}, {"event": step_of(1.0), "count": 0}):
            with self.assertRaises(epsledger.InvalidArgument):
                self.client.preview(budget="people", **wrong)

    def test_asyncio_asks_the_same(self):
        async def run():
            async with epsledger.aio.AsyncClient(self.client) as client:
                session = await client.open(session="run", budget="people")
                return (await client.calibrate(budget="people", event=step_of, count=400),
                        await session.calibrate(event=step_of, count=400),
                        await client.preview(budget="people", event=step_of(1.0), expects=False))

        of_budget, of_session, preview = asyncio.run(run())
        self.assertEqual(of_budget, of_session)
        self.assertEqual(preview.steps_that_fit, 100)
        budgets = [request for request in self.previewed() if "budget" in request]
        self.assertEqual(budgets[-1], {"budget": "budgets/people", "expectsEvent": False, "count": "1"})


@unittest.skipUnless(BUILD, "EPSLEDGER_BUILD names no build folder with server/epsledgerd")
class Runs(LedgerCase):
    def approximate(self, **fields):
        return self.new_budget(cap=epsledger.Cap.approximate_dp(epsilon=2, delta=1e-5, **fields))

    def by_privacy_loss(self, *options):
        """What privacy loss distributions prove to be the end of (2, 1e-5), as one number."""
        return json.loads(self.server.ctl(
            "calibrate", "--sampling-probability", repr(SAMPLE_RATE), "--epsilon", "2", "--delta", "1e-5",
            "-o", "json", *options))["value"]

    def units_spent(self, budget):
        (units,) = (cell for cell in self.client.budget(budget).cells if cell.quantity == "UNITS")
        return units.spent

    def test_all_steps_of_a_calibrated_run_fit_and_each_costs_one_unit(self):
        budget = self.approximate()
        noise = self.client.calibrate(budget=budget, event=step_of, count=STEPS)
        self.assertIsNone(self.client.budget(budget).cap.reference)  # nothing was charged, nothing fixed
        least = self.by_privacy_loss("--noise-multiplier", "--gaussian", "1", "--count", str(STEPS))
        self.assertGreaterEqual(noise, least / WIDTH)
        self.assertLess(noise, 1.02 * least)
        self.assertLess(self.client.preview(budget=budget, event=step_of(noise / WIDTH)).steps_that_fit, STEPS)

        session = self.new_session(budget=budget, expects=step_of(noise))
        self.assertGreaterEqual(session.preview(step_of(noise), count=STEPS).steps_that_fit, STEPS)
        made = sum(1 for _ in session.guard(range(STEPS), step_of(noise)))
        self.assertEqual((made, session.exhausted), (STEPS, None))
        self.assertEqual((self.accepted_uses(session), self.units_spent(budget)), (STEPS, STEPS))
        self.assertLessEqual(session.spent(delta=1e-5).epsilon, 2)

    def test_the_noise_that_opacus_chooses_runs_nearly_as_far_as_privacy_loss_says_and_ends_well(self):
        step = step_of(OPACUS_NOISE)
        admitted = self.by_privacy_loss("--count", "--gaussian", repr(OPACUS_NOISE))
        self.assertGreaterEqual(admitted, STEPS)
        for expects in (step, None):  # said in open(), and decided by the first charge
            with self.subTest(expects=expects):
                budget = self.approximate()
                fit = self.client.preview(budget=budget, event=step, count=admitted,
                                          expects=expects is not None).steps_that_fit
                session = self.new_session(budget=budget, expects=expects)
                made = sum(1 for _ in session.guard(range(10 * STEPS), step))
                self.assertEqual(made, fit)
                self.assertGreaterEqual(made, LEAST_SHARE * admitted)
                self.assertLessEqual(made, admitted)
                self.assertEqual(session.exhausted.steps_that_fit, 0)
                self.assertEqual((self.accepted_uses(session), self.units_spent(budget)), (made, made))

    def test_what_is_left_of_the_caps_is_what_counts(self):
        budget = self.approximate()
        noise = self.client.calibrate(budget=budget, event=step_of, count=STEPS)
        session = self.new_session(budget=budget, expects=step_of(noise))
        session.charge(step_of(noise), count=STEPS // 2)
        for calibrate in (lambda count: session.calibrate(event=step_of, count=count),
                          lambda count: self.client.calibrate(budget=budget, event=step_of, count=count)):
            rest = calibrate(STEPS - STEPS // 2)
            self.assertLessEqual(noise / WIDTH, rest)
            self.assertLessEqual(rest, noise * WIDTH)
            # No step that is charged alone costs less than one unit.
            with self.assertRaisesRegex(epsledger.BudgetExhausted, r"no noise makes 500 .* the most noise 25\d fit"):
                calibrate(STEPS)
            # With less noise it costs several.
            self.assertLess(calibrate(STEPS // 10), 0.99 * rest)
        left = session.preview(step_of(noise)).steps_that_fit
        session.charge(step_of(noise), count=left)
        with self.assertRaisesRegex(epsledger.BudgetExhausted, "by budgets/" + budget):
            session.calibrate(event=step_of, count=1)
        self.assertIsNone(session.exhausted)  # that is of charges

    def test_an_opened_session_that_expects_nothing_is_asked_as_by_its_first_charge(self):
        budget = self.approximate()
        session = self.new_session(budget=budget)
        noise = session.calibrate(event=step_of, count=50)
        self.assertEqual(noise, self.client.calibrate(budget=budget, event=step_of, count=50))
        self.assertEqual(sum(1 for _ in session.guard(range(50), step_of(noise))), 50)
        self.assertEqual(self.units_spent(budget), 50)

    def test_every_budget_on_the_way_up_is_asked(self):
        above = self.new_budget()  # of rho 0.55
        below = "below-" + above
        self.client.create_budget(name=below, parent=above, cap=epsledger.Cap.zcdp(rho=100), privacy_unit="person")
        for count in (1, 4, 1000):
            with self.subTest(count=count):
                noise = self.client.calibrate(budget=below, event=lambda z: Gaussian(noise_multiplier=z), count=count)
                exact = math.sqrt(count / (2 * 0.55))
                self.assertTrue(exact <= noise * (1 + 1e-12) <= exact * WIDTH, (exact, noise))

    def test_quantities_without_units_are_asked_in_the_same_way(self):
        session = self.new_session()
        noise = session.calibrate(event=lambda z: Gaussian(noise_multiplier=z), count=STEPS_THAT_FIT)
        self.assertLessEqual(noise, STEP.noise_multiplier)
        self.assertEqual(len(list(session.guard(range(9), Gaussian(noise_multiplier=noise)))), STEPS_THAT_FIT)
        with self.assertRaisesRegex(epsledger.Refused, "EVENT_NOT_CHARGEABLE|BUDGET_EXHAUSTED"):
            self.new_session().calibrate(event=lambda z: {"nonPrivate": {"reason": "noise %r" % z}}, count=1)

    def test_errors_are_those_of_the_ledger(self):
        with self.assertRaises(epsledger.NotFound):
            self.client.calibrate(budget="nobodys", event=step_of, count=1)
        with self.assertRaisesRegex(epsledger.InvalidArgument, "noiseMultiplier"):
            self.new_session().calibrate(event=lambda z: {"gaussian": {"noiseMultiplier": -z}}, count=1)
        frozen = self.new_budget()
        self.client.call("BudgetService/FreezeBudget", {"name": "budgets/" + frozen, "reason": "a test"})
        with self.assertRaisesRegex(epsledger.Refused, "BUDGET_FROZEN"):
            self.client.calibrate(budget=frozen, event=step_of, count=1)


if __name__ == "__main__":
    unittest.main()
