"""Several charges in one commit: all of them are accepted or none, or each that fits."""
import asyncio
import json
import unittest

import epsledger
import epsledger.aio
from epsledger.events import Gaussian, Laplace
from interposer import Interposer
from ledger_case import STEP, STEPS_THAT_FIT, LedgerCase

SMALL = Gaussian(noise_multiplier=20)


class Batches(LedgerCase):
    def test_all_are_accepted_and_each_is_good_for_its_uses(self):
        session = self.new_session()
        first, second = session.charge_all([(STEP, 2), (SMALL.to_json(), 3)])
        self.assertEqual([(permit.charge, permit.count) for permit in (first, second)], [
            (session.attempt + "/charges/step-1", 2), (session.attempt + "/charges/step-2", 3)])
        for permit in (first, second):
            for _ in range(permit.count):
                with permit:
                    pass
            with self.assertRaises(epsledger.UsedUp):
                permit.__enter__()
        self.assertEqual(self.charges(session), [("attempts/1/charges/step-1", 2, "ACCEPTED"),
                                                 ("attempts/1/charges/step-2", 3, "ACCEPTED")])
        self.assertIn("5 steps charged", repr(session))
        self.assertEqual(session.step(SMALL).charge, session.attempt + "/charges/step-3")

    def test_none_is_charged_where_one_does_not_fit(self):
        session = self.new_session()
        with self.assertRaises(epsledger.BudgetExhausted) as refused:
            session.charge_all([(SMALL, 1), (STEP, STEPS_THAT_FIT + 1), (SMALL, 1)])
        self.assertEqual(refused.exception.refusal.charge, session.attempt + "/charges/step-2")
        self.assertIs(session.exhausted, refused.exception)
        self.assertEqual((self.accepted_uses(session), session.unknown_charges), (0, ()))
        self.assertEqual(session.remaining(STEP), STEPS_THAT_FIT)

    def test_a_newer_attempt_refuses_all(self):
        session = self.new_session()
        self.new_session(budget=session.name.split("/")[1])
        with self.assertRaises(epsledger.AttemptFenced):
            session.charge_all([(SMALL, 1), (SMALL, 1)])
        self.assertEqual((self.accepted_uses(session), session.unknown_charges), (0, ()))

    def test_what_is_no_batch_is_refused_before_it_is_sent(self):
        session = self.new_session()
        for uses, message in (([], "uses: got 0, want 1 to 1,000 of them"), ([(STEP, 1)] * 1001, "uses: got 1001"),
                              ([(STEP, 1), (None, 1)], r"uses\[1\].event: got None"),
                              ([(STEP, 0)], r"uses\[0\].count: got 0"),
                              ([({"gaussian": {"noiseMultiplier": -1}}, 1)],
                               r"uses\[0\].event.gaussian.noiseMultiplier: got -1")):
            with self.subTest(message), self.assertRaisesRegex(epsledger.InvalidArgument, message):
                session.charge_all(uses)
        self.assertEqual((self.charges(session), session.unknown_charges), ([], ()))
        self.assertEqual(len(session.charge_all([(Laplace(noise_multiplier=1e4), 1)] * 1000)), 1000)

    def test_what_is_no_pair_is_named(self):
        session = self.new_session()
        for uses in ({"event": 1}, [STEP], [(STEP, 1), (STEP,)], [(STEP, 1, 1)], [None]):
            with self.assertRaisesRegex(epsledger.InvalidArgument, r"uses\[[01]\]: got .*, want a pair"):
                session.charge_all(uses)
        self.assertEqual(self.charges(session), [])

    def test_asyncio_does_the_same(self):
        budget = self.new_budget()

        async def train():
            async with epsledger.aio.connect(address=self.server.address) as client:
                session = await client.open(session="run", budget=budget, delta=1e-5)
                return [permit.count for permit in await session.charge_all([(STEP, 1), (SMALL, 2)])]

        self.assertEqual(asyncio.run(train()), [1, 2])


class EachAlone(LedgerCase):
    def test_each_is_decided_after_the_ones_before_it(self):
        session = self.new_session()
        permits = session.charge_each([(STEP, 3), (STEP, 2), (STEP, 1), (SMALL, 3), (STEP, 1)])
        self.assertEqual([type(one) for one in permits], [
            epsledger.Permit, epsledger.BudgetExhausted, epsledger.Permit, epsledger.Permit, epsledger.BudgetExhausted])
        for permit, number, count in ((permits[0], 1, 3), (permits[2], 3, 1), (permits[3], 4, 3)):
            self.assertEqual((permit.charge, permit.count), ("%s/charges/step-%d" % (session.attempt, number), count))
            for _ in range(count):
                with permit:
                    pass
            with self.assertRaises(epsledger.UsedUp):
                permit.__enter__()
        self.assertEqual(permits[1].refusal.charge, session.attempt + "/charges/step-2")
        self.assertIs(session.exhausted, permits[4])
        self.assertEqual(self.charges(session), [
            ("attempts/1/charges/step-1", 3, "ACCEPTED"), ("attempts/1/charges/step-2", 2, "REFUSED"),
            ("attempts/1/charges/step-3", 1, "ACCEPTED"), ("attempts/1/charges/step-4", 3, "ACCEPTED"),
            ("attempts/1/charges/step-5", 1, "REFUSED")])
        self.assertIn("7 steps charged", repr(session))
        self.assertEqual(session.unknown_charges, ())

    def test_a_refusal_lets_no_block_run(self):
        session = self.new_session()
        (refusal,) = session.charge_each([(STEP, STEPS_THAT_FIT + 1)])
        with self.assertRaises((AttributeError, TypeError)), refusal:
            self.fail("the block of a refused charge")
        self.assertEqual(self.accepted_uses(session), 0)

    def test_a_newer_attempt_refuses_each(self):
        session = self.new_session()
        self.new_session(budget=session.name.split("/")[1])
        self.assertEqual([type(one) for one in session.charge_each([(SMALL, 1), (SMALL, 1)])],
                         [epsledger.AttemptFenced] * 2)
        self.assertIsNone(session.exhausted)
        self.assertEqual((self.accepted_uses(session), session.unknown_charges), (0, ()))

    def test_what_is_no_batch_is_refused_before_it_is_sent(self):
        session = self.new_session()
        for uses, message in (([], "uses: got 0, want 1 to 1,000 of them"),
                              ([(STEP, 1), (None, 1)], r"uses\[1\].event: got None"),
                              ([(STEP, 0)], r"uses\[0\].count: got 0"), ([STEP], r"uses\[0\]: got .*, want a pair"),
                              ([({"gaussian": {"noiseMultiplier": -1}}, 1)],
                               r"uses\[0\].event.gaussian.noiseMultiplier: got -1")):
            with self.subTest(message), self.assertRaisesRegex(epsledger.InvalidArgument, message):
                session.charge_each(uses)
        session.close()
        with self.assertRaises(epsledger.Ended):
            session.charge_each([(SMALL, 1)])
        self.assertEqual((self.charges(session), session.unknown_charges), ([], ()))

    def test_asyncio_does_the_same(self):
        budget = self.new_budget()

        async def train():
            async with epsledger.aio.connect(address=self.server.address) as client:
                session = await client.open(session="run", budget=budget, delta=1e-5)
                return [type(one) for one in await session.charge_each([(STEP, STEPS_THAT_FIT), (STEP, 1)])]

        self.assertEqual(asyncio.run(train()), [epsledger.Permit, epsledger.BudgetExhausted])


class LostAnswers(LedgerCase):
    def setUp(self):
        super().setUp()
        self.between = Interposer(self.server.http, method="ChargeService/BatchCharge")
        self.between.__enter__()
        self.addCleanup(self.between.__exit__)

    def interposed_session(self, max_tries):
        client = epsledger.connect(address=self.between.address,
                                   retry=epsledger.Retry(initial_backoff=0, max_backoff=0.01, max_tries=max_tries))
        self.addCleanup(client.close)
        return self.new_session(client=client, budget=self.new_budget())

    def test_a_batch_whose_answer_is_lost_is_asked_for_again_and_counted_once(self):
        session = self.interposed_session(max_tries=0)
        self.between.faults = ["lose answer", "lose request"]
        session.charge_all([(STEP, 1), (SMALL, 1)])
        self.assertEqual(len(self.between.seen), 3)
        self.assertEqual((self.accepted_uses(session), session.unknown_charges), (2, ()))

    def test_a_batch_of_unknown_outcome_counts_in_full_and_each_is_asked_for_alone(self):
        for fault, committed in (("lose answer", 2), ("lose request", 0)):
            session = self.interposed_session(max_tries=1)
            self.between.faults = [fault]
            with self.assertRaises(epsledger.OutcomeUnknown) as unknown:
                session.charge_all([(STEP, 1), (SMALL, 1)])
            self.assertEqual((unknown.exception.charge_id, session.unknown_charges), ("step-1", ("step-1", "step-2")))
            self.assertEqual(self.accepted_uses(session), committed)
            for charge_id in session.unknown_charges:
                session.retry_charge(charge_id)
            self.assertEqual((self.accepted_uses(session), session.unknown_charges), (2, ()))

    def test_each_of_a_batch_whose_answer_is_lost_is_counted_once(self):
        session = self.interposed_session(max_tries=0)
        self.between.faults = ["lose answer", "lose request"]
        one, other = session.charge_each([(STEP, STEPS_THAT_FIT), (STEP, 1)])
        self.assertEqual(len(self.between.seen), 3)
        self.assertEqual((one.count, other.reason), (STEPS_THAT_FIT, "BUDGET_EXHAUSTED"))
        self.assertEqual((self.accepted_uses(session), session.unknown_charges), (STEPS_THAT_FIT, ()))

    def test_each_of_a_batch_of_unknown_outcome_is_asked_for_alone(self):
        for fault, committed in (("lose answer", STEPS_THAT_FIT), ("lose request", 0)):
            session = self.interposed_session(max_tries=1)
            self.between.faults = [fault]
            with self.assertRaises(epsledger.OutcomeUnknown) as unknown:
                session.charge_each([(STEP, STEPS_THAT_FIT), (STEP, 1)])
            self.assertEqual((unknown.exception.charge_id, session.unknown_charges), ("step-1", ("step-1", "step-2")))
            self.assertEqual(self.accepted_uses(session), committed)
            self.assertEqual(session.retry_charge("step-1").count, STEPS_THAT_FIT)
            with self.assertRaises(epsledger.BudgetExhausted):
                session.retry_charge("step-2")
            self.assertEqual((self.accepted_uses(session), session.unknown_charges), (STEPS_THAT_FIT, ()))

    def test_an_answer_to_something_else_is_no_permit_for_any(self):
        def fault(change):
            def faulty(status, answer):
                change(answer["results"])
                return status, json.dumps(answer).encode()
            return faulty

        for change in (lambda found: found.pop(), lambda found: found.reverse(), lambda found: found.append(found[0]),
                       lambda found: found[1].clear(), lambda found: found[1].update(error={}),
                       lambda found: found.__setitem__(1, {"error": {"code": 3}}),
                       lambda found: found[0]["accepted"].update(count="2"),
                       lambda found: found[0]["accepted"].update(decision="REFUSED"),
                       lambda found: found[0].update(refused=found[0].pop("accepted")),
                       lambda found: found[1].update(accepted=found[1].pop("refused")),
                       lambda found: found[1]["refused"].update(decision="ACCEPTED"),
                       lambda found: found[1]["refused"].update(name=found[0]["accepted"]["name"]),
                       lambda found: found[1].update(refused=7), lambda found: found[1]["refused"].pop("refusal")):
            session = self.interposed_session(max_tries=1)
            self.between.faults = [fault(change)]
            with self.assertRaises(epsledger.OutcomeUnknown):
                session.charge_each([(STEP, STEPS_THAT_FIT), (STEP, 1)])
            self.assertEqual(session.unknown_charges, ("step-1", "step-2"))
            self.assertIn("0 steps charged", repr(session))

    def test_an_answer_to_something_else_is_no_permit(self):
        def results(change):
            def fault(status, answer):
                change(answer["results"])
                return status, json.dumps(answer).encode()
            return fault

        for change in (lambda found: found.pop(), lambda found: found.reverse(), lambda found: found.append(found[0]),
                       lambda found: found[1].update(refused=found[1].pop("accepted")), lambda found: found[1].clear(),
                       lambda found: found[1].update(error={}), lambda found: found[1]["accepted"].update(count="2"),
                       lambda found: found[1]["accepted"].update(decision="REFUSED"),
                       lambda found: found[1].update(accepted=None),
                       lambda found: [one.update(refused=one.pop("accepted")) for one in found]):
            session = self.interposed_session(max_tries=1)
            self.between.faults = [results(change)]
            with self.assertRaises(epsledger.OutcomeUnknown):
                session.charge_all([(STEP, 1), (SMALL, 1)])
            self.assertEqual(session.unknown_charges, ("step-1", "step-2"))
        for body in (b"{}", b'{"results": 7}', b'{"results": [1, 2]}'):
            session = self.interposed_session(max_tries=1)
            self.between.faults = [lambda status, answer: (200, body)]
            with self.assertRaisesRegex(epsledger.OutcomeUnknown, "results: got others"):
                session.charge_all([(STEP, 1), (SMALL, 1)])


if __name__ == "__main__":
    unittest.main()
