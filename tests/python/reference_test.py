"""What an (epsilon, delta) cap counts units of: said with the budget, by a session that expects it, or by nobody."""
import asyncio
import unittest

import epsledger
import epsledger.aio
from epsledger.event_json import is_same_event
from epsledger.events import Gaussian, PoissonSampled
from epsledger.transport import RpcError
from killable_ledger import BUILD
from ledger_case import LedgerCase

EVENT = PoissonSampled(sampling_probability=0.01, event=Gaussian(noise_multiplier=1.1))
EVENT_JSON = {"poissonSampled": {"samplingProbability": 0.01, "event": {"gaussian": {"noiseMultiplier": 1.1}}}}
OTHER = PoissonSampled(sampling_probability=0.005, event=Gaussian(noise_multiplier=1.5))  # costs less than EVENT


def approximate_dp(**fields):
    return epsledger.Cap.approximate_dp(epsilon=3, delta=1e-5, **fields)


class Recorded:
    """A transport to a server that has the budgets, and those sessions alone that are named."""

    address = "nowhere"

    def __init__(self, *sessions):
        self.sessions = sessions
        self.asked = []  # (method, request) of each call

    def call(self, method, request, timeout):
        self.asked.append((method, request))
        if method == "SessionService/GetSession":
            if request["name"] not in self.sessions:
                raise RpcError("NOT_FOUND", request["name"])
            return {"name": request["name"], "neighboringRelation": "ADD_OR_REMOVE_ONE"}
        if method == "SessionService/OpenAttempt":
            return {"name": request["session"] + "/attempts/1", "number": "1"}
        return {"name": "budgets/people", "cap": request.get("budget", {}).get("cap", {})}

    def close(self):
        pass

    def requests(self, method):
        return [request for asked, request in self.asked if asked == method]


class Sent(unittest.TestCase):
    def setUp(self):
        self.transport = Recorded()
        self.client = epsledger.Client(self.transport, epsledger.Retry(max_tries=1))

    def created(self, **options):
        self.client.open(session="run", budget="people", delta=1e-5, **options)
        return self.transport.requests("SessionService/CreateSession")

    def test_a_cap_names_a_filter_and_a_reference_only_if_it_is_told_one(self):
        self.assertEqual(approximate_dp().message, {"approximateDp": {"epsilon": 3, "delta": 1e-5}})
        for filter in ("RESIDUE", "PORTFOLIO"):
            for reference in (EVENT, EVENT_JSON):
                self.assertEqual(approximate_dp(filter=filter, reference=reference).message, {"approximateDp": {
                    "epsilon": 3, "delta": 1e-5, "filter": filter, "reference": EVENT_JSON}})
        self.assertEqual(approximate_dp(filter="RENYI_ONE_ORDER", order=8).message, {"approximateDp": {
            "epsilon": 3, "delta": 1e-5, "filter": "RENYI_ONE_ORDER", "order": 8}})

    def test_a_cap_says_what_it_counts_units_of(self):
        self.assertEqual(approximate_dp(reference=EVENT).reference, EVENT_JSON)
        for cap in (approximate_dp(), epsledger.Cap.zcdp(rho=1), epsledger.Cap({})):
            self.assertIsNone(cap.reference)

    def test_a_cap_in_units_names_its_reference_and_shows_its_curve(self):
        cap = epsledger.Cap.units(count=3000, delta=1e-5, reference=EVENT)
        self.assertEqual(cap.message, {"units": {"count": "3000", "delta": 1e-5, "reference": EVENT_JSON}})
        self.assertEqual(cap.reference, EVENT_JSON)
        self.assertEqual(cap.guarantee, ())
        self.assertEqual(epsledger.Cap.units(count=7, delta=0.5).message, {"units": {"count": "7", "delta": 0.5}})
        shown = epsledger.Cap({"units": {**cap.message["units"], "guarantee": [
            {"epsilon": 0, "delta": 0.1}, {"delta": 0.01}, {"epsilon": "2.5", "delta": 1e-5}]}})
        self.assertEqual(shown.guarantee, ((0, 0.1), (0, 0.01), (2.5, 1e-5)))
        self.assertEqual(approximate_dp().guarantee, ())

    def test_what_is_no_event_is_refused_by_name(self):
        for value in (3, "gaussian", {}, [EVENT]):
            with self.subTest(value=value):
                with self.assertRaisesRegex(epsledger.InvalidArgument, "reference: got .*, want an event"):
                    approximate_dp(reference=value)
                with self.assertRaisesRegex(epsledger.InvalidArgument, "expects: got .*, want an event"):
                    self.created(expects=value)
        with self.assertRaisesRegex(epsledger.InvalidArgument, "expects.gaussian.noiseMultiplier: got <object"):
            self.created(expects={"gaussian": {"noiseMultiplier": object()}})
        self.assertEqual(self.transport.asked, [])

    def test_a_budget_is_created_with_its_reference(self):
        budget = self.client.create_budget(name="people", cap=approximate_dp(reference=EVENT), privacy_unit="person")
        (request,) = self.transport.requests("BudgetService/CreateBudget")
        self.assertEqual(request["budget"]["cap"], approximate_dp(reference=EVENT).message)
        self.assertEqual(budget.cap.reference, EVENT_JSON)

    def test_a_session_says_what_it_expects_beside_what_it_is(self):
        session = {"mode": "ADAPTIVE", "neighboringRelation": "ADD_OR_REMOVE_ONE", "noOwnCap": True}
        for expects in (EVENT, EVENT_JSON):
            self.assertEqual(self.created(expects=expects)[-1], {
                "parent": "budgets/people", "sessionId": "run", "session": session, "expects": EVENT_JSON})
        self.assertEqual(self.created()[-1], {"parent": "budgets/people", "sessionId": "run", "session": session})
        planned = self.created(plan=[(OTHER, 2)], expects=EVENT)[-1]
        self.assertEqual((planned["session"]["mode"], planned["expects"]), ("DECLARED", EVENT_JSON))

    def test_a_session_that_is_there_is_taken_as_it_is_whatever_is_expected(self):
        self.transport.sessions = ("budgets/people/sessions/run",)
        self.assertEqual(self.created(expects=EVENT), [])
        self.assertEqual(len(self.created(expects=EVENT, group="search")), 1)  # its content is compared

    def test_asyncio_says_the_same(self):
        async def run():
            async with epsledger.aio.AsyncClient(self.client) as client:
                await client.open(session="run", budget="people", expects=EVENT)

        asyncio.run(run())
        (request,) = self.transport.requests("SessionService/CreateSession")
        self.assertEqual(request["expects"], EVENT_JSON)

    def test_cells_of_units_are_read_and_shown(self):
        cells = tuple(map(epsledger.CellBalance.from_json, (
            {"quantity": "UNITS", "cap": 3613, "spent": 12, "remaining": 3601}, {"quantity": "RESERVE", "cap": 0.25})))
        self.assertEqual([cell.quantity for cell in cells], ["UNITS", "RESERVE"])
        self.assertEqual(list(map(str, cells)), ["UNITS: 12 of 3613 is spent", "RESERVE: 0 of 0.25 is spent"])


@unittest.skipUnless(BUILD, "EPSLEDGER_BUILD names no build folder with server/epsledgerd")
class Kept(LedgerCase):
    def reference(self, budget):
        return self.client.budget(budget).cap.reference

    def assert_counts_units_of(self, event, budget):
        self.assertTrue(is_same_event(event.to_json(), self.reference(budget)), self.reference(budget))

    def units(self, budget):
        """(spent, cap) of the cell of units."""
        (cell,) = (cell for cell in self.client.budget(budget).cells if cell.quantity == "UNITS")
        return cell.spent, cell.cap

    def test_the_first_session_that_expects_something_says_what_is_counted(self):
        for filter in (None, "RESIDUE", "PORTFOLIO"):
            with self.subTest(filter=filter):
                budget = self.new_budget(cap=approximate_dp(filter=filter))
                self.assertEqual((self.reference(budget), self.units(budget)), (None, (0, 0)))
                session = self.new_session(budget=budget, expects=EVENT)
                self.assert_counts_units_of(EVENT, budget)
                self.client.open(session="another", budget=budget, expects=OTHER)
                self.assert_counts_units_of(EVENT, budget)
                session.charge(EVENT, count=7)
                spent, cap = self.units(budget)
                self.assertEqual((spent, session.preview(EVENT).steps_that_fit), (7, cap - 7))

    def test_a_reference_of_the_budget_is_kept(self):
        cap = approximate_dp(reference=EVENT)
        budget = self.new_budget(cap=cap)
        self.assert_counts_units_of(EVENT, budget)
        self.new_session(budget=budget, expects=OTHER)
        self.assert_counts_units_of(EVENT, budget)
        for same in (cap, approximate_dp()):
            self.client.create_budget(name=budget, cap=same, privacy_unit="person")
        with self.assertRaisesRegex(epsledger.AlreadyExists, "another cap.approximateDp.reference"):
            self.client.create_budget(name=budget, cap=approximate_dp(reference=OTHER), privacy_unit="person")
        with self.assertRaisesRegex(epsledger.InvalidArgument, "^INVALID_ARGUMENT: cap.reference: got an event, want none"):
            self.new_budget(cap=approximate_dp(filter="BASIC", reference=EVENT))

    def test_a_cap_in_units_is_charged_to_its_last(self):
        cap = epsledger.Cap.units(count=300, delta=1e-5, reference=EVENT)
        budget = self.new_budget(cap=cap)
        self.client.create_budget(name=budget, cap=cap, privacy_unit="person")  # the same again
        shown = self.client.budget(budget).cap
        self.assertEqual([delta for _, delta in shown.guarantee], [0.1, 0.01, 1e-3, 1e-4, 1e-5])
        session = self.new_session(budget=budget, expects=OTHER)
        self.assert_counts_units_of(EVENT, budget)
        session.charge(EVENT, count=300)
        self.assertEqual(self.units(budget), (300, 300))
        with self.assertRaises(epsledger.BudgetExhausted):
            session.charge(EVENT)
        with self.assertRaisesRegex(epsledger.InvalidArgument, "guarantee: got a value, want unset"):
            self.new_budget(cap=shown)

    def test_where_nobody_says_it_the_first_charge_decides(self):
        budget = self.new_budget(cap=approximate_dp())
        session = self.new_session(budget=budget)
        self.assertIsNone(self.reference(budget))
        session.charge(EVENT)
        self.assert_counts_units_of(EVENT, budget)

    def test_more_steps_fit_than_in_orders(self):
        by_orders, by_units = (
            self.new_session(budget=self.new_budget(cap=approximate_dp(filter=filter)), expects=EVENT)
            .preview(EVENT).steps_that_fit for filter in ("RENYI_ORDERS", None))
        self.assertGreater(by_units, 1.3 * by_orders)

    def test_a_cap_of_its_own_counts_what_the_session_expects(self):
        budget = self.new_budget(cap=epsledger.Cap.renyi(order=8, divergence=100))
        cap = epsledger.Cap.approximate_dp(epsilon=1, delta=1e-5)
        session = self.new_session(budget=budget, own_cap=cap, expects=EVENT)
        cells = self.client.call("SessionService/GetSession", {"name": session.name})["cells"]
        (units,) = (cell for cell in cells if cell["quantity"] == "UNITS")
        self.assertEqual(units["cap"], session.preview(EVENT).steps_that_fit)
        with self.assertRaisesRegex(epsledger.InvalidArgument, "own_cap.reference: got an event"):
            self.client.open(session="other", budget=budget, own_cap=approximate_dp(reference=EVENT))


if __name__ == "__main__":
    unittest.main()
