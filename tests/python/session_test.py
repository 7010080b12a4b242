"""Charging before the block: what is accepted runs, what is refused does not, and the ledger holds exactly that."""
import pickle
import threading
import unittest

import epsledger
from epsledger import events
from ledger_case import CAP, STEP, STEPS_THAT_FIT, LedgerCase


class Charging(LedgerCase):
    def test_the_step_that_does_not_fit_is_refused_before_its_block(self):
        session = self.new_session()
        ran = 0
        with self.assertRaises(epsledger.BudgetExhausted) as refused:
            for _ in range(STEPS_THAT_FIT + 1):
                with session.step(STEP):
                    ran += 1
        self.assertEqual(ran, STEPS_THAT_FIT)
        self.assertIs(session.exhausted, refused.exception)
        error = refused.exception
        self.assertEqual((error.reason, error.limiting_resource, error.refusal.quantity, error.steps_that_fit),
                         ("BUDGET_EXHAUSTED", session.name.split("/sessions")[0], "RHO", 0))
        self.assertLessEqual(error.cap, 0.55)
        self.assertAlmostEqual(error.spent, 0.5)
        self.assertAlmostEqual(error.requested, 0.125)
        self.assertGreater(error.spent + error.requested, error.cap)
        self.assertIn("no step of this size fits any more", str(error))
        self.assertEqual(self.charges(session), [
            ("attempts/1/charges/step-%d" % number, 1, "ACCEPTED" if number <= STEPS_THAT_FIT else "REFUSED")
            for number in range(1, STEPS_THAT_FIT + 2)])

    def test_a_step_that_is_larger_than_the_cap_is_told_apart_from_a_cap_that_is_spent(self):
        session = self.new_session()
        with self.assertRaises(epsledger.BudgetExhausted) as refused:
            session.charge(events.Gaussian(noise_multiplier=0.5))  # rho 2
        self.assertIn("it is larger than the whole cap", str(refused.exception))
        self.assertEqual(self.accepted_uses(session), 0)

    def test_a_charge_is_made_at_the_call_and_stays_when_the_block_fails(self):
        session = self.new_session()
        session.step(STEP)
        with self.assertRaises(ZeroDivisionError):
            with session.step(STEP):
                1 / 0
        self.assertEqual(self.accepted_uses(session), 2)

    def test_a_permit_is_good_for_as_many_blocks_as_were_charged(self):
        permit = self.new_session().charge(STEP, count=2)
        for left in (1, 0):
            with permit:
                self.assertEqual(permit.uses_left, left)
        with self.assertRaises(epsledger.UsedUp):
            with permit:
                self.fail("a third block of two uses")

    def test_too_many_at_once_are_refused_with_how_many_would_fit(self):
        session = self.new_session()
        with self.assertRaises(epsledger.BudgetExhausted) as refused:
            session.charge(STEP, count=STEPS_THAT_FIT + 1)
        self.assertEqual(refused.exception.steps_that_fit, STEPS_THAT_FIT)
        self.assertIn("ask for at most 4 of it", str(refused.exception))
        session.charge(STEP, count=STEPS_THAT_FIT)

    def test_guard_ends_the_loop_before_the_batch_that_is_refused(self):
        session = self.new_session()
        loader = iter(range(100))
        self.assertIsNone(session.exhausted)
        self.assertEqual(list(session.guard(loader, STEP)), list(range(STEPS_THAT_FIT)))
        self.assertEqual(session.exhausted.reason, "BUDGET_EXHAUSTED")
        self.assertEqual(list(session.guard(loader, STEP)), [])

    def test_guard_charges_nothing_beyond_the_data(self):
        session = self.new_session()
        self.assertEqual(list(session.guard("ab", STEP)), ["a", "b"])
        self.assertIsNone(session.exhausted)
        self.assertEqual(self.accepted_uses(session), 2)

    def test_guard_charges_for_a_batch_only_when_it_is_asked_for(self):
        session = self.new_session()
        batches = session.guard("abc", STEP)
        self.assertEqual(self.accepted_uses(session), 0)
        self.assertEqual(next(batches), "a")
        batches.close()
        self.assertEqual(self.accepted_uses(session), 1)

    def test_guard_raises_a_refusal_that_is_not_the_end_of_the_budget(self):
        budget = self.new_budget()
        session = self.new_session(budget=budget)
        self.client.call("BudgetService/FreezeBudget", {"name": "budgets/" + budget, "reason": "a test"})
        with self.assertRaisesRegex(epsledger.Refused, "BUDGET_FROZEN .*wait until it is thawed"):
            list(session.guard("ab", STEP))
        self.assertIsNone(session.exhausted)

    def test_a_charged_function_is_called_after_its_charge_only(self):
        session = self.new_session()
        calls = []

        @session.charged(STEP)
        def release(value, *, scale=1):
            """Adds noise."""
            calls.append(value)
            return value * scale

        self.assertEqual([release(number, scale=2) for number in range(STEPS_THAT_FIT)], [0, 2, 4, 6])
        with self.assertRaises(epsledger.BudgetExhausted):
            release(9)
        self.assertEqual(calls, [0, 1, 2, 3])
        self.assertEqual((release.__name__, release.__doc__), ("release", "Adds noise."))

        async def later():
            """Is charged when it is called, and runs whenever it is awaited."""

        with self.assertRaisesRegex(TypeError, "epsledger.aio"):
            session.charged(STEP)(later)

    def test_a_preview_charges_nothing(self):
        session = self.new_session()
        self.assertTrue(session.preview(STEP, count=STEPS_THAT_FIT))
        too_many = session.preview(STEP, count=STEPS_THAT_FIT + 1)
        self.assertFalse(too_many)
        self.assertEqual((too_many.refusal.reason, too_many.steps_that_fit), ("BUDGET_EXHAUSTED", STEPS_THAT_FIT))
        self.assertIn("4 single steps fit now", str(too_many))
        self.assertEqual(self.charges(session), [])

    def test_spent_is_an_upper_bound_with_its_theorem(self):
        session = self.new_session()
        self.assertEqual(float(session.spent()), 0)
        session.charge(STEP, count=2)
        guarantees = session.guarantees()
        spent = session.spent()
        self.assertEqual(spent, guarantees.spent)
        # Two releases with multiplier 2 are one with sqrt(2); its epsilon at 1e-5 by [BW18] Thm 8:
        self.assertGreaterEqual(spent.epsilon, exact_gaussian_epsilon(mu=2**0.5 / 2, delta=1e-5))
        self.assertLess(spent.epsilon, 1.01 * exact_gaussian_epsilon(mu=2**0.5 / 2, delta=1e-5))
        self.assertTrue(spent.accountant and spent.theorem)
        self.assertLess(session.spent(delta=1e-3).epsilon, spent.epsilon)
        self.assertEqual(guarantees.readings[-1].accountant, "BEST")
        self.assertEqual(guarantees.steps_that_fit, STEPS_THAT_FIT - 2)

    def test_epsilon_is_infinite_where_nothing_is_proven(self):
        session = self.new_session(budget=self.new_budget(cap=epsledger.Cap.no_guarantee()))
        session.charge(events.NonPrivate(reason="a test"))
        self.assertEqual(session.spent().epsilon, float("inf"))

    def test_a_statement_is_signed_and_says_what_was_charged(self):
        session = self.new_session()
        session.step(STEP)
        statement = session.statement()
        self.assertIn(session.name, str(statement))
        self.assertEqual((len(statement.signature), len(statement.public_key)), (64, 32))
        self.assertIn('"', statement.json)

    def test_threads_of_one_session_charge_once_each_and_never_too_much(self):
        session = self.new_session(budget=self.new_budget(cap=epsledger.Cap.zcdp(rho=0.125 * 40.5)))
        accepted, refused = [], []

        def train():
            for _ in range(12):
                try:
                    accepted.append(session.step(STEP).charge)
                except epsledger.BudgetExhausted as error:
                    refused.append(error.refusal.charge)

        threads = [threading.Thread(target=train) for _ in range(4)]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
        self.assertEqual((len(set(accepted)), len(set(refused))), (40, 8))
        self.assertEqual(self.accepted_uses(session), 40)

    def test_reprs_read_like_a_sentence(self):
        session = self.new_session()
        self.assertRegex(repr(self.client), r"^<client of the epsledger server at http://127.0.0.1:\d+>$")
        permit = session.step(STEP)
        self.assertEqual(repr(session), "<%s, 1 steps charged>" % session.attempt)
        self.assertEqual(repr(permit), "<permit for 1 of 1 uses of %s/charges/step-1, entry %d of the ledger>"
                         % (session.attempt, permit.sequence))
        self.assertRegex(repr(session.spent()), r"^<epsilon [\d.]+ at delta 1e-05 was spent, by ")
        self.assertEqual(repr(session.preview(STEP)), "<it would be accepted; 3 single steps fit now>")
        budget = self.client.budget(session.name.split("/")[1])
        self.assertRegex(repr(budget), r"^<budgets/budget-\d+ over every person, ACTIVE: 22.8 % of its cap is spent>$")
        self.assertRegex(repr(session.statement()), "^<signed privacy statement at entry")


class Leases(LedgerCase):
    def test_a_lease_hands_out_what_was_charged_and_settles_what_was_used(self):
        session = self.new_session()
        ran = 0
        with session.lease(STEP, count=3) as lease:
            self.assertEqual(self.accepted_uses(session), 3)
            for _ in range(2):
                with lease.step():
                    ran += 1
            self.assertEqual((lease.used_count, lease.steps_left), (2, 1))
            self.assertRegex(repr(lease), "^<lease of 3 steps, 2 used, 1 left: budgets/")
        self.assertEqual((ran, lease.steps_left), (2, 0))
        self.assertEqual(self.accepted_uses(session), 3)  # nothing returns
        self.assertEqual(session.preview(STEP).steps_that_fit, STEPS_THAT_FIT - 3)
        self.assertEqual(self.open_leases(session), [])
        lease.settle()
        with self.assertRaises(epsledger.Ended):
            lease.step()

    def test_a_lease_hands_out_no_step_more_from_however_many_threads(self):
        lease = self.new_session().lease(STEP, count=4)
        taken, refused = [], []

        def take():
            for _ in range(3):
                try:
                    taken.append(lease.step())
                except epsledger.UsedUp as error:
                    refused.append(error)

        threads = [threading.Thread(target=take) for _ in range(4)]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
        self.assertEqual((len(taken), len(refused)), (4, 8))
        self.assertIn("acquire another lease", str(refused[0]))

    def test_a_lease_that_does_not_fit_is_refused_and_can_be_asked_for_smaller(self):
        session = self.new_session()
        with self.assertRaises(epsledger.BudgetExhausted) as refused:
            session.lease(STEP, count=5)
        self.assertIs(session.exhausted, refused.exception)
        self.assertEqual(session.lease(STEP, count=refused.exception.steps_that_fit).granted_count, 4)

    def test_a_lease_that_is_lost_is_spent_in_full(self):
        session = self.new_session()
        session.lease(STEP, count=2)
        again = self.new_session(budget=session.name.split("/")[1])
        self.assertEqual(again.preview(STEP).steps_that_fit, STEPS_THAT_FIT - 2)
        self.assertEqual(len(self.open_leases(session)), 1)

    def test_an_error_in_the_block_settles_and_is_not_hidden(self):
        session = self.new_session()
        with self.assertRaises(ZeroDivisionError):
            with session.lease(STEP, count=2) as lease:
                lease.step()
                1 / 0
        self.assertEqual(self.open_leases(session), [])

    def open_leases(self, session):
        return self.client.call("SessionService/GetSession", {"name": session.name}).get("openLeases", [])


class Opening(LedgerCase):
    def test_opening_again_is_a_new_attempt_that_fences_the_one_before(self):
        budget = self.new_budget()
        first = self.new_session(budget=budget)
        first.step(STEP)
        second = self.new_session(budget=budget)
        self.assertEqual((first.attempt, second.attempt), (first.name + "/attempts/1", first.name + "/attempts/2"))
        with self.assertRaisesRegex(epsledger.AttemptFenced, "a newer attempt of this session is running"):
            first.step(STEP)
        with second.step(STEP):
            pass
        self.assertEqual(self.accepted_uses(second), 2)

    def test_a_session_that_an_operator_made_is_taken_as_it_is(self):
        budget = self.new_budget()
        self.server.ctl("session", "create", budget + "/run", "--relation", "add-or-remove-one", "--rho", "0.3",
                        "--group", "search")
        session = self.new_session(budget=budget)
        self.assertEqual(session.preview(STEP).steps_that_fit, 2)
        with self.assertRaisesRegex(epsledger.AlreadyExists, "exists with another"):
            self.new_session(budget=budget, group="search")

    def test_a_session_of_another_relation_is_refused(self):
        budget = self.new_budget()
        with self.assertRaisesRegex(epsledger.CallFailed, "neighboring_relation: got replace-one"):
            self.new_session(budget=budget, neighboring_relation="REPLACE_ONE")
        self.new_session(budget=budget)
        with self.assertRaisesRegex(epsledger.InvalidArgument, "neighboring_relation: got 'REPLACE_ONE', want ADD_OR"):
            self.new_session(budget=budget, neighboring_relation="REPLACE_ONE")

    def test_a_plan_is_charged_at_once_and_nothing_else_is_taken(self):
        budget = self.new_budget()
        session = self.new_session(budget=budget, plan=[(STEP, 2)])
        sibling = self.client.open(session="sibling", budget=budget)
        self.assertEqual(sibling.preview(STEP).steps_that_fit, STEPS_THAT_FIT - 2)
        with session.step(STEP):
            pass
        session = self.new_session(budget=budget, plan=[(STEP, 2)])
        self.assertTrue(session.attempt.endswith("/attempts/2"))
        with session.step(STEP):
            pass
        for event in (STEP, events.Gaussian(noise_multiplier=3)):
            with self.assertRaises(epsledger.Refused) as refused:
                session.step(event)
            self.assertEqual(refused.exception.reason, "NOT_IN_PLAN")
        with self.assertRaises(epsledger.BudgetExhausted) as refused:
            self.new_session(plan=[(STEP, 5)])
        self.assertEqual(refused.exception.reason, "BUDGET_EXHAUSTED")
        with self.assertRaisesRegex(epsledger.InvalidArgument, "delta: got None"):
            self.client.open(session="run", budget=self.new_budget(), plan=[(STEP, 1)])

    def test_a_cap_of_its_own_limits_a_session(self):
        session = self.new_session(own_cap=epsledger.Cap.zcdp(rho=0.13), labels={"team": "vision"})
        session.step(STEP)
        with self.assertRaises(epsledger.BudgetExhausted) as refused:
            session.step(STEP)
        self.assertEqual(refused.exception.limiting_resource, session.name)

    def test_a_policy_is_met_by_provenance(self):
        budget = self.new_budget()
        name = budget + "-strict"
        self.client.call("BudgetService/CreateBudget", {"budgetId": name, "budget": {
            "cap": CAP.message, "neighboringRelation": "ADD_OR_REMOVE_ONE", "privacyUnit": "person",
            "policy": {"provenanceRequired": True}}})
        with self.assertRaisesRegex(epsledger.CallFailed, "provenance.sampler: got SAMPLER_UNSPECIFIED"):
            self.new_session(budget=name)
        self.new_session(budget=name, provenance=epsledger.Provenance(
            sampler="FULL_BATCH", clip_norm=1, library="a test", library_version="1")).step(STEP)

    def test_what_is_closed_takes_no_charge(self):
        with self.new_session() as session:
            session.step(STEP)
        with self.assertRaisesRegex(epsledger.Ended, "a new attempt"):
            session.step(STEP)
        with self.connect() as client:
            session = self.new_session(client=client)
        for call in (session.preview, session.step, session.charge):
            with self.assertRaisesRegex(epsledger.Ended, "connect again"):
                call(STEP)
        with self.assertRaisesRegex(epsledger.Ended, "connect again"):
            self.new_session(client=client, budget=self.new_budget())
        self.assertEqual((repr(client)[-9:], session.unknown_charges), (", closed>", ()))

    def test_what_is_not_there_is_not_found(self):
        with self.assertRaisesRegex(epsledger.NotFound, "budgets/nowhere"):
            self.new_session(budget="nowhere")
        with self.assertRaisesRegex(epsledger.NotFound, "budgets/nowhere"):
            self.client.budget("budgets/nowhere")

    def test_a_budget_is_created_once(self):
        budget = self.client.create_budget(name="once", cap=CAP, privacy_unit="person")
        self.assertEqual(self.client.create_budget(name="once", cap=CAP, privacy_unit="person"), budget)
        self.assertEqual(str(budget.cells[0]), "RHO: 0 of 0.55 is spent")
        with self.assertRaisesRegex(epsledger.AlreadyExists, "another"):
            self.client.create_budget(name="once", cap=CAP, privacy_unit="device")


class BadInput(LedgerCase):
    def test_events_and_counts_are_refused_by_name_and_nothing_is_charged(self):
        session = self.new_session()
        for event, message in (
                ({"gaussian": {"noiseMultiplier": -1}}, "event.gaussian.noiseMultiplier: got -1, want in"),
                ({"gaussian": {"noiseMultiplier": float("nan")}}, "event.gaussian.noiseMultiplier: got NaN"),
                ({"gaussian": {"noiseMultiplier": object()}}, "event.gaussian.noiseMultiplier: got <object .*want a"),
                ({"gaussain": {"noiseMultiplier": 1}}, "gaussain"),
                ({}, "event: got {}, want an event of epsledger.events"),
                (1.1, "event: got 1.1, want an event of epsledger.events"),
                (None, "event: got None, want an event of epsledger.events")):
            with self.subTest(event=event), self.assertRaisesRegex(epsledger.InvalidArgument, message):
                session.step(event)
        for count in (0, -1, 2**53 + 1, 1.0, True, "1", None):
            with self.subTest(count=count), self.assertRaisesRegex(ValueError, "count: got .*, want an integer in"):
                session.charge(STEP, count=count)
            with self.subTest(count=count), self.assertRaisesRegex(ValueError, "count: got .*, want an integer in"):
                session.lease(STEP, count=count)
        for seconds in (0, -1, 366 * 86400 + 1, 1.5, True, float("nan")):
            with self.subTest(seconds=seconds), self.assertRaisesRegex(ValueError, "time_to_live: got"):
                session.lease(STEP, count=1, time_to_live=seconds)
        for delta in (0, 1, -0.1, float("inf"), float("nan")):
            with self.subTest(delta=delta), self.assertRaisesRegex(epsledger.InvalidArgument, "delta: got"):
                session.spent(delta=delta)
        with self.assertRaisesRegex(ValueError, "charge_id: got 'step-1', want one of unknown_charges"):
            session.retry_charge("step-1")
        self.assertEqual(self.charges(session), [])
        self.assertEqual(session.unknown_charges, ())

    def test_a_delta_is_asked_for_where_there_is_none(self):
        session = self.client.open(session="run", budget=self.new_budget())
        with self.assertRaisesRegex(epsledger.InvalidArgument, "delta: got None"):
            session.spent()

    def test_an_error_can_be_pickled(self):
        session = self.new_session()
        with self.assertRaises(epsledger.BudgetExhausted) as refused:
            session.charge(STEP, count=9)
        copy = pickle.loads(pickle.dumps(refused.exception))
        self.assertEqual((type(copy), str(copy)), (epsledger.BudgetExhausted, str(refused.exception)))


def exact_gaussian_epsilon(*, mu, delta):
    """[BW18] Thm 8: the epsilon at which Phi(mu/2 - epsilon/mu) - exp(epsilon) Phi(-mu/2 - epsilon/mu) is delta."""
    from math import erfc, exp, sqrt

    def phi(z):
        return erfc(-z / sqrt(2)) / 2

    low, high = 0.0, 100.0
    for _ in range(200):
        middle = (low + high) / 2
        at = phi(mu / 2 - middle / mu) - exp(middle) * phi(-mu / 2 - middle / mu)
        low, high = (middle, high) if at > delta else (low, middle)
    return low


if __name__ == "__main__":
    unittest.main()
